"""The page of a shareable: the list or the poll, live; or what is left of an expired one."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from potluck.apps.polls.entities import Shard
from potluck.apps.shareables.access import ONE, Expired, PasscodeNeeded, Reader, ToShareable
from potluck.apps.shareables.entities import DeletedItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS, ItemId
from potluck.apps.shareables.items import ChecklistItemView
from potluck.apps.shareables.live import LiveShareable, Looking
from potluck.apps.shareables.pages.admin import to_clone
from potluck.apps.shareables.pages.device import listed_first
from potluck.apps.shareables.pages.frame import address_of, layout_context
from potluck.apps.shareables.pages.opening import home
from potluck.apps.shareables.pages.voting import ballot
from potluck.apps.shareables.shareables import ShareableView, shareables
from potluck.validation import ValidationError
from potluck.web import Input, NotFound, Show


class Restorable(Input):
    item_id: ItemId


@shareables.page(None, "shareables/over.html")
async def over(at: ToShareable) -> Mapping[str, Any]:
    return layout_context(at)


@shareables.page(
    "",
    "shareables/list.html",
    instead={NotFound: home, PasscodeNeeded: f"{ONE}/unlock", Expired: over},
    offline=True,
)
async def look(at: Reader, shareable: Shareable, show: Show) -> Any:
    if show.path != address_of(at.short_id):
        # The address has another spelling of the id.
        return show.redirect(address_of(at.short_id))
    if at.principal is None or at.principal.user_id != shareable.creator_id:
        cookie, listed = listed_first(at, at.short_id, at.token_hash if at.session else None)
        if listed is not None:
            show.set(cookie, listed)
    expired = shareable.expired(at.now)
    ends = [shareable.expires_at]
    if at.session is not None:
        ends.append(datetime.fromtimestamp(at.session.ttl, UTC))
    show.offline_until(min(ends))
    if shareable.poll_id is not None and not expired:
        return show.page(ballot)
    position = await LiveShareable(at).position()
    people = await at.services.presence.people(at.short_id)
    context = {**layout_context(at), "position": position, "people": people, **await _contents(at)}
    if expired:
        return show.template("shareables/expired.html", {**context, **to_clone(show)})
    return {**context, "deleted": await _deleted(at, show.query.get("deleted", ""))}


async def _deleted(at: Reader, text: str) -> DeletedItem | None:
    """The item that this admin just deleted, if they can still restore it."""
    with suppress(ValidationError):
        if at.role == "admin":
            return await at.store.get(DeletedItem.one(at.short_id, Restorable.decode({"itemId": text}).item_id))
    return None


async def _contents(at: Reader) -> dict[str, Any]:
    (shown,) = await at.show(ShareableView, [at.shareable])
    items = shown.items or []
    return {
        "items": items,
        "done": sum(item.done for item in items),
        "last": max((item.done_at for item in items if item.done_at is not None), default=None),
        "may_tick": _may_tick(at),
        "full": len(items) >= MOST_ITEMS,
    }


def _may_tick(at: Reader) -> bool:
    return not at.shareable.expired(at.now) and (at.role == "admin" or at.shareable.viewers_can_tick)


@shareables.live_page("/events")
class LivePage(LiveShareable):
    """The same for a page: items as it shows them. On any other change it gets a `reset`, and reads itself again."""

    def see(self, row: Any) -> Any:
        # It shows results, so a changed vote counts as a change too.
        return row.votes_version if isinstance(row, Shard) else super().see(row)

    async def event(self, name: str, item: Any) -> tuple[str, Any]:
        at = self.at
        match item:
            case None:
                # It has expired while an admin was viewing; viewers have been refused by now.
                return "over", {}
            case Looking():
                return await super().event(name, item)
            case ChecklistItemView():
                assert self.show is not None
                context = {"item": item, "may_tick": _may_tick(at), **layout_context(at)}
                return name, self.show.render("shareables/item.html", context)
        return "reset", {}

    def end(self) -> datetime | None:
        return self.at.shareable.expires_at
