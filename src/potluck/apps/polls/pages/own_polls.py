"""The page that lists a person's polls: those they created, and those they voted in with this browser."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from potluck.apps.polls.access import HOME, PollMaker, ResultsHidden, ToPoll
from potluck.apps.polls.count_records import stored_record, version_of, votes_of
from potluck.apps.polls.entities import Poll, Results
from potluck.apps.polls.pages.cookies import voted_in
from potluck.apps.polls.pages.frame import ballots, frame
from potluck.apps.polls.polls import PollView, own_polls_of, polls, served_polls, view_of
from potluck.apps.polls.results import current_record
from potluck.store import all_done
from potluck.web import Show

ON_ONE_PAGE = 50


class Listed(NamedTuple):
    """A poll in a list, with its result if this person may see it."""

    poll: PollView
    votes: int | None
    """None if they may not see the results."""
    winners: list[str]
    """Who has won or leads; empty if finding out would mean counting an open poll."""
    voted: bool


@polls.page("", "polls/polls.html", offline=True)
async def own_polls(at: PollMaker, show: Show) -> Mapping[str, Any]:
    store, caller = at.store, at.principal
    own: list[Poll] = []
    more, after = "", None
    if caller is not None:
        sealed_for = f"{caller.user_id} polls"
        after = at.core.cursors.unseal_or_start(show.query.get("cursor", ""), sealed_for)
        references = own_polls_of(store, caller.user_id)
        rows = await store.page(references.query, ON_ONE_PAGE, after)
        own = list(await references.get(rows.items))
        more = "" if rows.next is None else f"{HOME}?cursor={at.core.cursors.seal(rows.next, sealed_for)}"
    own_ids = {poll.poll_id for poll in own}
    voted_ids = voted_in(at)
    others = await served_polls(store, [poll_id for poll_id in voted_ids if poll_id not in own_ids])
    # Some of the caller's own polls may be on another page of the list.
    voted = [poll for poll in others if caller is None or poll.creator_id != caller.user_id]
    listed = await all_done([_listed(at, poll, poll.poll_id in voted_ids) for poll in (*own, *voted)])
    return {
        "polls": listed[: len(own)],
        "voted": listed[len(own) :] if after is None else [],
        "more": more,
        "ballots": ballots,
        **frame(),
    }


async def _listed(caller: PollMaker, poll: Poll, voted: bool) -> Listed:
    at = ToPoll(caller.core, caller.context, caller.visitor, {"poll_id": poll.poll_id})
    view = view_of(poll, at.now)
    await at.admit(poll)
    try:
        await at.must_see_results()
    except ResultsHidden:
        return Listed(view, None, [], voted)
    rows = await at.store.gather(Results.of(poll.poll_id))
    if rows is None:
        return Listed(view, None, [], voted)
    if poll.is_open(at.now):
        # Only a stored count: a list is no reason to count an open poll again.
        known = stored_record(rows.records, poll.method)
        current = known is not None and known.votes_version == version_of(rows.shards)
        winners = known.record.winners if known is not None and current else ()
    else:
        winners = (await current_record(at.polls, poll.poll_id, rows=rows)).known.record.winners
    return Listed(view, votes_of(rows.shards), poll.names(winners), voted)
