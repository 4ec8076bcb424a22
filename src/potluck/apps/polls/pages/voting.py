"""Voting pages: the ballot that a poll's link opens, the thank-you page, and the link to one's own vote."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import EDIT_COOKIE, POLL, VOTER_COOKIE, OwnVote, ToPoll, Voter, WrongTypedKey
from potluck.apps.polls.keys import EDIT_KEY, VoterKeys
from potluck.apps.polls.pages.ballot_pages import BallotPages
from potluck.apps.polls.pages.cookies import FRESH_COOKIE, VOTED_COOKIE, voted
from potluck.apps.polls.pages.frame import address, link_to, poll_frame
from potluck.apps.polls.votes import cast_vote, votes
from potluck.web import Input, Line, Show, Writes


class KeyForm(Input):
    key: Line
    """The fragment of a link."""


class PollBallot(BallotPages):
    voter, own = Voter, OwnVote
    address = POLL
    template = "polls/ballot.html"
    then = f"{POLL}/thanks"
    voter_key, edit_key = VOTER_COOKIE, EDIT_COOKIE
    sets = {FRESH_COOKIE: "edit_key", VOTED_COOKIE: voted(True)}  # noqa: RUF012 - declared in BallotPages
    withdrawal_sets = {VOTED_COOKIE: voted(False)}  # noqa: RUF012 - declared in BallotPages

    async def layout_context(self, at: Voter) -> Mapping[str, Any]:
        return poll_frame(at, "vote")

    async def voted(self, at: Voter, show: Show) -> Mapping[str, Any] | Response:
        if show.refusal is not None:
            # Submitted twice, or from another window: the first vote counts, and the poll's page says so.
            return show.redirect(address(at))
        context = {"results": await at.sees_results(), **poll_frame(at, "vote")}
        return show.template("polls/voted.html", context)


ballot = PollBallot(votes, cast_vote)


@votes.page("/thanks", "polls/thanks.html", secret=True)
async def thanks(at: ToPoll, show: Show) -> Mapping[str, Any] | Response:
    own = await at.own_vote()
    if own is None:
        return show.redirect(address(at))
    fresh = FRESH_COOKIE.value(at.visitor)
    if fresh:
        show.drop(FRESH_COOKIE)
    return {
        "own": own,
        "edit_link": link_to(at, f"/mine#{fresh}") if fresh.startswith(EDIT_KEY) else "",
        "results": await at.sees_results(),
        **poll_frame(at, "vote"),
    }


@votes.page("/mine", "polls/mine.html")
async def mine(at: ToPoll, show: Show) -> Mapping[str, Any]:
    return {"form": show.form(KeyForm), **poll_frame(at, "vote")}


@votes.form("/mine", on=mine, then=POLL, sets={EDIT_COOKIE: "key", VOTED_COOKIE: voted(True)}, frees_room=True)
async def take_edit_key(at: ToPoll, sent: KeyForm) -> Writes[KeyForm]:
    key = sent.key.strip()
    if await at.own_vote(VoterKeys(edit_key=key)) is None:
        raise WrongTypedKey.of_vote()
    return Writes(KeyForm(key=key))
