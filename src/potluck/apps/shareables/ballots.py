"""The poll in a shareable: votes and results by the rules of polls, behind the shareable's passcodes and expiry."""

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import EDIT_KEY, AtBallot, WrongKey
from potluck.apps.polls.counting import CountResults
from potluck.apps.polls.entities import Poll, Vote
from potluck.apps.polls.fields import VoteId
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.results import (
    CSV,
    ByMethod,
    InFormat,
    ballot_file,
    current_record,
    results_file,
)
from potluck.apps.polls.shards import PollClosed, PollFull
from potluck.apps.polls.votes import (
    VOTES,
    AlreadyVoted,
    NewVote,
    VoteCast,
    VoteChange,
    VoteView,
    cast,
    changed,
    withdrawn,
)
from potluck.apps.shareables.access import ONE, TOKEN, Participant, Reader
from potluck.apps.shareables.live import LiveShareable
from potluck.web import Actions, NotFound, SealedCookie, Writes

# Scoped to the pages of one shareable, like the session cookie.
VOTER_COOKIE = SealedCookie("potluck-share-voter", path=ONE)
VOTE_COOKIE = SealedCookie("potluck-share-vote", path=ONE)


class InPoll(AtBallot, Reader):
    """Anyone who may view the poll; they may also see its results."""

    kinds = frozenset({"poll"})

    def credentials(self) -> VoterKeys:
        visitor = self.visitor
        voter_key = edit_key = None
        if visitor.by_page:
            voter_key, edit_key = (cookie.value(visitor) or None for cookie in (VOTER_COOKIE, VOTE_COOKIE))
        elif "X-Edit-Key" in self.headers:
            edit_key = visitor.headers.get("X-Edit-Key")
        return VoterKeys(principal=visitor.principal, voter_key=voter_key, edit_key=edit_key)

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        self.polls = self.services.polls
        assert self.shareable.poll_id is not None
        if self.visitor.by_page:
            # Before the poll is read, because the page follows it from this position.
            self.live_position = await LiveShareable(self).position()
        poll = await self.store.get(Poll.one(self.shareable.poll_id))
        if poll is None:
            raise NotFound
        self.poll = poll


class SharedVoter(Participant, InPoll):
    """Anyone who may view the poll, until it expires."""

    headers = {**TOKEN, **EDIT_KEY}  # noqa: RUF012 - declared in Access
    fenced = True

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        self.admitted_by = self.shareable.version
        if self.visitor.by_page:
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
    """The voter who cast the vote, by its edit key."""

    vote_id: VoteId

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        vote = await self.store.get(Vote.one(self.poll.poll_id, self.vote_id))
        if vote is None or not self.keys.holds(vote):
            # The same error for both, so that it does not reveal whether a vote exists or was withdrawn.
            raise WrongKey.of_vote()
        self.vote = vote


ballots = Actions(SharedVoter, view=VoteView, api=f"{ONE}/votes", page=ONE, tag="Shareables")
results: Actions[Poll] = Actions(InPoll, api=ONE, page=ONE, tag="Shareables")


@ballots.action("POST", "", AlreadyVoted, PollClosed, PollFull, status=201, secret=True, rate_limit=VOTES)
async def cast_vote(at: SharedVoter, new: NewVote) -> Writes[VoteCast]:
    """Cast a vote. The vote's `editKey`, needed to change or withdraw it, is returned only this once."""
    by = replace(at.keys, voter_key=new.voter_key or at.keys.voter_key, code=new.code)
    return cast(at.poll, by, new.rankings, at.now, at.polls, admitted_by=at.admitted_by)


@ballots.action("PUT", "/{vote_id}", WrongKey, PollClosed, rate_limit=VOTES)
async def change_vote(at: SharedVoteHolder, change: VoteChange) -> Writes[Vote]:
    """Change a vote while the poll is open."""
    return changed(at.poll, at.vote, change.rankings, at.now, at.polls, admitted_by=at.admitted_by)


@ballots.action("DELETE", "/{vote_id}", WrongKey, PollClosed, frees_room=True)
async def withdraw_vote(at: SharedVoteHolder) -> Writes[None]:
    """Withdraw a vote while the poll is open. The voter may vote again."""
    return withdrawn(at.poll, at.vote, at.now, at.polls, admitted_by=at.admitted_by)


@results.read("/results")
async def poll_results(at: InPoll, query: ByMethod) -> CountResults:
    """Get every round of the count by this method, or by the poll's own, with a sentence each."""
    return (await current_record(at.polls, at.poll.poll_id, query.method)).results


@results.read("/results.csv", media_type=CSV)
async def results_table(at: InPoll, query: ByMethod) -> Response:
    """Get the results as a table: per round, a line for each candidate, cause of exhaustion and transfer."""
    return results_file(await current_record(at.polls, at.poll.poll_id, query.method), at.shareable.name)


@results.read("/ballots")
async def poll_ballots(at: InPoll, query: InFormat) -> Response:
    """Download the ballots: every ranking and its number of votes, without voters, for `potluck count` and others."""
    return await ballot_file(at.polls, at.poll, query.format, at.shareable.name)
