"""Fences: after access to a shareable has changed, nothing is written for those who were admitted before.

A tick or a vote does not check the shareable's own row: at a party that would be one row for everyone. It says which
version of the shareable admitted the caller, and the row that it writes anyway refuses those at or below its fence. So
a change of access first writes the shareable's row, which decides for everyone who comes from then on, and then raises
the fences, before it is answered. Other rules check the shareable's row in their transaction.
"""

from contextlib import suppress

from potluck.apps.polls.entities import Poll
from potluck.apps.polls.shards import refuse_admitted_before
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.store import Store, all_done
from potluck.table import WriteRefused, the, update
from potluck.web import Outcome, or_retry


def poll_fence(poll: Poll, shareable: Shareable) -> Outcome:
    """Has the poll refuse votes of those that the shareable admitted up to now, for the change of access itself."""
    # Its version is raised too, so that no vote that read it before adds a shard without this fence.
    return or_retry(update(poll, the(Poll.access_fence).becomes(shareable.version)))


async def raise_fences(store: Store, after: Shareable) -> None:
    """Refuse ticks and votes of those who were admitted by an earlier version than this one."""
    if after.poll_id is not None:
        poll = await store.get(Poll.one(after.poll_id))
        if poll is not None:
            await refuse_admitted_before(store, poll)
        return
    version = after.version - 1
    async for _ in store.attempts("raising the fences of a checklist"):
        lower = [item for item in await store.all(ChecklistItem.of(after.short_id)) if item.fence < version]
        if all(await all_done([_raised(store, item, version) for item in lower])):
            return


async def _raised(store: Store, item: ChecklistItem, version: int) -> bool:
    """Whether it surely was; if not, it may have been raised further, or the item is gone."""
    row, fence = ChecklistItem.one(item.short_id, item.checklist_item_id), the(ChecklistItem.fence)
    with suppress(WriteRefused):
        await store.update(row, fence.becomes(version), when=fence <= version, keep_version=True)
        return True
    return False
