"""The page that lists a person's polls: those they made, and those they voted in with this browser."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from potluck.apps.polls.access import HOME, PollMaker, ResultsHidden, ToPoll
from potluck.apps.polls.count_records import stored_record, version_of, votes_of
from potluck.apps.polls.entities import Poll, Results
from potluck.apps.polls.pages.cookies import voted_in
from potluck.apps.polls.pages.frame import ballots, frame
from potluck.apps.polls.polls import PollView, own_polls_of, polls, view_of
from potluck.apps.polls.results import current_record
from potluck.store import all_done
from potluck.web import PageQuery, PageRequest, Show


class Listed(NamedTuple):
    """A poll in a list, and its result as far as this person may see it."""

    poll: PollView
    votes: int | None
    """None if they may not see the results."""
    winners: list[str]
    """Who has won or leads; empty if that is not known without counting an open poll."""
    voted: bool


@polls.page("", "polls/polls.html")
async def own_polls(at: PollMaker, wanted: PageQuery, show: Show) -> Mapping[str, Any]:
    rows, caller = at.store, at.principal
    made: list[Poll] = []
    more = ""
    if caller is not None:
        page = PageRequest.read(show.path, show.query, at.visitor, wanted, at.core.cursors)
        references = own_polls_of(rows, caller.user_id)
        part = await rows.page(references.query, page.limit, page.after)
        made = list(await references.get(part.items))
        cursor = page.cursor(part.next)
        more = "" if cursor is None else f"{HOME}?cursor={cursor}"
    own = {poll.poll_id for poll in made}
    voted_ids = voted_in(at.visitor)
    others = await rows.get_many([Poll.one(poll_id) for poll_id in voted_ids if poll_id not in own])
    voted = [
        poll
        for poll in others
        if poll is not None
        and poll.short_id is None
        # A poll of one's own that is on another page of the list.
        and (caller is None or poll.creator_id != caller.user_id)
    ]
    listed = await all_done([_listed(at, poll, poll.poll_id in voted_ids) for poll in (*made, *voted)])
    return {
        "polls": listed[: len(made)],
        "voted": [] if show.query.get("cursor") else listed[len(made) :],
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
    found = await at.store.gather(Results.of(poll.poll_id))
    if found is None:
        return Listed(view, None, [], voted)
    if poll.is_open(at.now):
        # What others have had counted; a list is no reason to count an open poll again.
        known = stored_record(found.records, poll.method)
        current = known is not None and known.votes_version == version_of(found.shards)
        winners = known.record.winners if known is not None and current else ()
    else:
        winners = (await current_record(at.polls, poll.poll_id, found=found)).known.record.winners
    return Listed(view, votes_of(found.shards), poll.names(winners), voted)
