"""The pages of the poll in a shareable: its ballot and its results, with parts of the Polls app's pages."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.pages.ballot_pages import BallotPages
from potluck.apps.polls.pages.frame import METHOD_NAMES
from potluck.apps.polls.pages.frame import ballots as in_ballots
from potluck.apps.polls.pages.results import outcome_shown
from potluck.apps.polls.polls import view_of
from potluck.apps.shareables.access import ONE, Expired, PasscodeNeeded
from potluck.apps.shareables.ballots import (
    VOTE_COOKIE,
    VOTER_COOKIE,
    InPoll,
    SharedOwnVote,
    SharedVoter,
    ballots,
    cast_vote,
    poll_ballots,
    results,
    results_table,
)
from potluck.apps.shareables.pages.frame import address_of, layout_context, vote_sections
from potluck.web import Show, _


class ShareableBallot(BallotPages):
    voter, own = SharedVoter, SharedOwnVote
    address = ONE
    path = None
    template = "shareables/poll.html"
    then = f"{ONE}/results"
    voter_key, edit_key = VOTER_COOKIE, VOTE_COOKIE
    flash = _("Thanks, your vote has been counted.")

    async def layout_context(self, at: SharedVoter) -> Mapping[str, Any]:
        return {**await _poll(at), "sections": vote_sections(at, "vote")}

    async def voted(self, at: SharedVoter, show: Show) -> Response:
        # Submitted twice, or from another window: the first vote counts.
        flash = _("You’ve already voted on this device. Your first vote counts.")
        return show.redirect(f"{address_of(at.short_id)}/results", flash)


ballot = ShareableBallot(ballots, cast_vote).ballot


# The shareable's own page explains why it is not shown.
@results.page("/results", "shareables/results.html", instead={PasscodeNeeded: ONE, Expired: ONE})
async def results_page(at: InPoll, show: Show) -> Mapping[str, Any]:
    return {
        **await _poll(at),
        **await outcome_shown(at.polls, at.poll.poll_id, show.query),
        "sections": vote_sections(at, "results") if at.poll.is_open(at.now) else [],
    }


results.page("/results.csv")(results_table)
results.page("/ballots")(poll_ballots)


async def _poll(at: InPoll) -> dict[str, Any]:
    return {
        **layout_context(at),
        "poll": view_of(at.poll, at.now),
        "methods": METHOD_NAMES,
        "ballots": in_ballots,
        "position": at.live_position,
        "people": await at.services.presence.people(at.short_id),
    }
