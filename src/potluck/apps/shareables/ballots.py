"""The poll in a shareable: votes and results by the rules of polls, behind the shareable's passcodes and expiry."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import EDIT_KEY, AtBallot, WrongKey
from potluck.apps.polls.counting import CountResults
from potluck.apps.polls.counting.tables import as_csv
from potluck.apps.polls.entities import Poll, Vote
from potluck.apps.polls.fields import VoteId
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.results import (
    BALLOT_MEDIA_TYPES,
    CSV,
    ByMethod,
    InFormat,
    as_file,
    ballot_file,
    current_record,
)
from potluck.apps.polls.votes import (
    VOTES,
    AlreadyVoted,
    NewVote,
    PollClosed,
    PollFull,
    VoteCast,
    VoteChange,
    VoteView,
    cast,
    changed,
    withdrawn,
)
from potluck.apps.shareables.access import ONE, TOKEN, Participant, Reader
from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.live import LiveShareable
from potluck.web import Actions, NotFound, SealedCookie, Visitor, Writes

# Scoped to the pages of one shareable, like the session cookie.
VOTER_COOKIE = SealedCookie("potluck-share-voter", path=ONE)
VOTE_COOKIE = SealedCookie("potluck-share-vote", path=ONE)


class InPoll(AtBallot, Reader):
    """Whoever may view the poll: all of them may see its results."""

    kinds = frozenset({"poll"})

    def __init__(self, core: Any, context: ShareablesContext, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        super().__init__(core, context, visitor, ids)
        self.polls = context.polls
        voter_key = edit_key = None
        if visitor.by_page:
            voter_key, edit_key = (each.value(visitor) or None for each in (VOTER_COOKIE, VOTE_COOKIE))
        elif "X-Edit-Key" in self.headers:
            edit_key = visitor.headers.get("X-Edit-Key")
        self.keys = VoterKeys(principal=visitor.principal, voter_key=voter_key, edit_key=edit_key)

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        assert self.shareable.poll_id is not None
        if self.visitor.by_page:
            # Before the poll is read, because its page follows it from there.
            self.live_position = await self.position(*LiveShareable(self).lists)
        poll = await self.store.get(Poll.one(self.shareable.poll_id))
        if poll is None:
            raise NotFound
        self.poll = poll


class SharedVoter(Participant, InPoll):
    """Whoever may view the poll may vote, until it expires."""

    headers = {**TOKEN, **EDIT_KEY}  # noqa: RUF012 - declared in Access

    def __init__(self, core: Any, context: ShareablesContext, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        super().__init__(core, context, visitor, ids)
        self.give_voter_key()


class SharedOwnVote(SharedVoter):
    """The voter whose edit key this browser has."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        vote = await self.own_vote()
        if vote is None:
            raise WrongKey.of_vote()
        self.vote = vote


class SharedVoteHolder(SharedVoter):
    """Whoever cast the vote, proven by its edit key."""

    vote_id: VoteId

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        vote = await self.store.get(Vote.one(self.poll.poll_id, self.vote_id))
        if vote is None or not self.keys.holds(vote):
            # The same error for both, so that it reveals neither whether somebody voted nor that they withdrew it.
            raise WrongKey.of_vote()
        self.vote = vote


ballots = Actions(SharedVoter, view=VoteView, api=f"{ONE}/votes", page=ONE, tag="Shareables")
results: Actions[Poll] = Actions(InPoll, api=ONE, page=ONE, tag="Shareables")


@ballots.action("POST", "", AlreadyVoted, PollClosed, PollFull, status=201, secret=True, rate_limit=VOTES)
async def cast_vote(at: SharedVoter, new: NewVote) -> Writes[VoteCast]:
    """Vote, once. The vote's `editKey` is told only now; whoever holds it can change the vote or withdraw it."""
    by = replace(at.keys, voter_key=new.voter_key or at.keys.voter_key, code=new.code)
    return cast(at.poll, by, new.rankings, at.now, at.polls)


@ballots.action("PUT", "/{vote_id}", WrongKey, PollClosed, rate_limit=VOTES)
async def change_vote(at: SharedVoteHolder, change: VoteChange) -> Writes[Vote]:
    """Say something else, until the poll has expired."""
    return changed(at.poll, at.vote, change.rankings, at.now)


@ballots.action("DELETE", "/{vote_id}", WrongKey, PollClosed, frees_room=True)
async def withdraw_vote(at: SharedVoteHolder) -> Writes[None]:
    """Take the vote back, until the poll has expired. Its voter may vote again."""
    return withdrawn(at.poll, at.vote, at.now)


@results.read("/results")
async def poll_results(at: InPoll, wanted: ByMethod) -> CountResults:
    """Every round of the count by this method, or by the poll's own, with a sentence each."""
    return (await current_record(at.polls, at.poll.poll_id, wanted.method)).results


@results.read("/results.csv", media_type=CSV)
async def results_table(at: InPoll, wanted: ByMethod) -> Response:
    """The results as a table: a line for each candidate, cause of exhaustion and transfer of each round."""
    found = await current_record(at.polls, at.poll.poll_id, wanted.method)
    return as_file(as_csv(found.results), CSV, "results.csv")


@results.read("/ballots")
async def poll_ballots(at: InPoll, wanted: InFormat) -> Response:
    """Every ranking and how many gave it, as a file that `potluck count` and others can count. It names no voter."""
    text = await ballot_file(at.polls, at.poll, wanted.format)
    return as_file(text, BALLOT_MEDIA_TYPES[wanted.format], f"ballots.{wanted.format}")
