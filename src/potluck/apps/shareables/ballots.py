"""The poll in a shareable: votes and results by the rules of polls, behind the shareable's passcodes and expiry."""

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import EDIT_KEY, WrongKey
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
from potluck.apps.shareables.access import TOKEN, Participant, Reader
from potluck.web import Actions, NotFound, Writes

# Scoped to the pages of one shareable, like the session cookie.
VOTER_COOKIE = "potluck-share-voter"
VOTE_COOKIE = "potluck-share-vote"


class InPoll(Reader):
    """Whoever may view the poll: all of them may see its results."""

    kinds = frozenset({"poll"})

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        assert self.shareable.poll_id is not None
        poll = await self.store.get(Poll.one(self.shareable.poll_id))
        if poll is None:
            raise NotFound
        self.poll = poll


class Voter(Participant, InPoll):
    """Whoever may view the poll may vote, until it expires."""

    headers = {**TOKEN, **EDIT_KEY}  # noqa: RUF012 - declared in Access

    @property
    def keys(self) -> VoterKeys:
        if self.visitor.by_page:
            voter_key, edit_key = (self.visitor.cookie(name) or None for name in (VOTER_COOKIE, VOTE_COOKIE))
            return VoterKeys(principal=self.principal, voter_key=voter_key, edit_key=edit_key)
        return VoterKeys(principal=self.principal, edit_key=self.visitor.headers.get("X-Edit-Key"))


class VoteHolder(Voter):
    """Whoever cast the vote, proven by its edit key."""

    vote_id: VoteId

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        vote = await self.store.get(Vote.one(self.poll.poll_id, self.vote_id))
        if vote is None or not self.keys.holds(vote):
            # The same error for both, so that it reveals neither whether somebody voted nor that they withdrew it.
            raise WrongKey.of_vote()
        self.vote = vote


ballots = Actions(Voter, view=VoteView, api="/shareables/{short_id}/votes", tag="Shareables")
results: Actions[Poll] = Actions(InPoll, api="/shareables/{short_id}", tag="Shareables")


@ballots.action("POST", "", AlreadyVoted, PollClosed, PollFull, status=201, secret=True, rate_limit=VOTES)
async def cast_vote(at: Voter, new: NewVote) -> Writes[VoteCast]:
    """Vote, once. The vote's `editKey` is told only now; whoever holds it can change the vote or withdraw it."""
    by = replace(at.keys, voter_key=new.voter_key or at.keys.voter_key, code=new.code)
    return cast(at.poll, by, new.rankings, at.now, at.services.polls)


@ballots.action("PUT", "/{vote_id}", WrongKey, PollClosed, rate_limit=VOTES)
async def change_vote(at: VoteHolder, change: VoteChange) -> Writes[Vote]:
    """Say something else, until the poll has expired."""
    return changed(at.poll, at.vote, change.rankings, at.now)


@ballots.action("DELETE", "/{vote_id}", WrongKey, PollClosed, frees_room=True)
async def withdraw_vote(at: VoteHolder) -> Writes[None]:
    """Take the vote back, until the poll has expired. Its voter may vote again."""
    return withdrawn(at.poll, at.vote, at.now)


@results.read("/results")
async def poll_results(at: InPoll, wanted: ByMethod) -> CountResults:
    """Every round of the count by this method, or by the poll's own, with a sentence each."""
    return (await current_record(at.services.polls, at.poll.poll_id, wanted.method)).results


@results.read("/results.csv", media_type=CSV)
async def results_table(at: InPoll, wanted: ByMethod) -> Response:
    """The results as a table: a line for each candidate, cause of exhaustion and transfer of each round."""
    found = await current_record(at.services.polls, at.poll.poll_id, wanted.method)
    return as_file(as_csv(found.results), CSV, "results.csv")


@results.read("/ballots")
async def poll_ballots(at: InPoll, wanted: InFormat) -> Response:
    """Every ranking and how many gave it, as a file that `potluck count` and others can count. It names no voter."""
    text = await ballot_file(at.services.polls, at.poll, wanted.format)
    return as_file(text, BALLOT_MEDIA_TYPES[wanted.format], f"ballots.{wanted.format}")
