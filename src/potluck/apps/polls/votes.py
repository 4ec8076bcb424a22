"""Votes: one per voter, enforced by the write; each is counted in its own transaction.

A vote adds to the count of its ranking and to a shard, and touches no row that all voters share (`shards.py`). The
counts and the votes' version change together with the vote, or not at all.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace as with_fields

from potluck.apps.polls.access import POLL, VoteHolder, Voter, WrongKey
from potluck.apps.polls.candidates import Numbers
from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import Code, Poll, Vote
from potluck.apps.polls.fields import CodeText, Rankings, VoterKey
from potluck.apps.polls.keys import VoterKeys, new_edit_key, new_voter_key
from potluck.apps.polls.shards import PollClosed, PollFull, in_shard
from potluck.people import hash_of
from potluck.table import Condition, absent, check, delete, present, put, the, update
from potluck.web import (
    Actions,
    Input,
    Outcome,
    ProblemError,
    RateLimit,
    View,
    Writes,
    computed,
    or_raise,
    or_retry,
)


class AlreadyVoted(
    ProblemError,
    slug="already-voted",
    title="You’ve already voted",
    remedy="Change or withdraw your first vote, with its edit key.",
    field="code",
    detail="You have already voted in this poll",
):
    """Each voter has one vote in a poll, and you’ve already cast yours. This one wasn’t counted."""


class CodeNeeded(
    ProblemError,
    slug="code-needed",
    status=403,
    title="Code needed",
    remedy="Send your code. Case, spaces and dashes make no difference.",
    field="code",
    detail="This poll requires one of its codes",
):
    """The poll's creator has handed out codes, each good for one vote. The request had none of them."""


class WrongCode(CodeNeeded):
    """The code is not one of this poll's."""

    guessed = True


class AccountNeeded(ProblemError, slug="not-signed-in", detail="Sign in to vote in this poll"):
    """The poll is for people who are signed in."""


class VoteCast(Struct, rename="camel", frozen=True, kw_only=True):
    """A vote that was counted, and the key with which its voter can change it."""

    id: UUID
    edit_key: str


class VoteView(View[Vote]):
    """A vote as its voter sees it."""

    rankings: list[str]
    voted_at: datetime

    @computed
    def id(vote: Vote) -> UUID:
        return vote.vote_id


class NewVote(Input):
    """Candidates by name, first choice first; not all of them have to be ranked."""

    rankings: Rankings
    voter_key: VoterKey | None = None
    """Identifies the voter in a poll with the policy `open`; without it, the caller is a new voter."""
    code: CodeText | None = None


class VoteChange(Input):
    rankings: Rankings


# --- what is written, for every app that has polls --------------------------------------------------------------------


def cast(
    poll: Poll,
    by: VoterKeys,
    rankings: Sequence[str],
    now: datetime,
    context: PollsContext,
    *,
    admitted_by: int | None = None,
) -> Writes[VoteCast]:
    """A new vote, refused if the voter has one; under the policy `open`, a caller without a key is a new voter.

    `admitted_by` is the version of the shareable that admitted the caller, if the poll belongs to one.
    """
    if not poll.is_open(now):
        raise PollClosed
    by = _require_credentials(by, poll, context)
    ranking = Numbers(poll).ranking(rankings)
    vote_id = context.voters.vote_id(poll, by)
    assert vote_id is not None
    answer = VoteCast(id=vote_id, edit_key=new_edit_key(vote_id, context.random))
    vote = Vote(
        vote_id=vote_id,
        poll_id=poll.poll_id,
        rankings=poll.names(ranking),
        voted_at=now,
        edit_key_hash=hash_of(answer.edit_key),
    )
    checks: list[Outcome] = []
    if poll.voter_policy == "codes" and by.code is not None:
        code = Code.one(poll.poll_id, context.voters.code_hash(poll.poll_id, by.code))
        checks.append(or_raise(check(code, when=present), WrongCode))
    return Writes(
        answer,
        # First, so that a poll that was closed says so, whatever else is wrong.
        *in_shard(poll, 1, context.store, context.crowded, now, admitted_by),
        *checks,
        or_raise(put(vote, when=absent), AlreadyVoted),
        context.crowded.add_to_count(poll.poll_id, ranking, 1),
        # Not the vote's id: the answer stored for repeated requests would link it to its voter for a day.
        made=poll.poll_id,
    )


def changed(
    poll: Poll,
    vote: Vote,
    rankings: Sequence[str],
    now: datetime,
    context: PollsContext,
    *,
    admitted_by: int | None = None,
) -> Writes[Vote]:
    """The vote with another ranking, and the counts of both rankings adjusted."""
    if not poll.is_open(now):
        raise PollClosed
    numbers = Numbers(poll)
    ranking, before = numbers.ranking(rankings), numbers.ranking(vote.rankings)
    if ranking == before:
        return Writes(vote)
    names = poll.names(ranking)
    return Writes(
        with_fields(vote, rankings=names),
        *in_shard(poll, 0, context.store, context.crowded, now, admitted_by),
        or_retry(update(Vote.one(vote.poll_id, vote.vote_id), the(Vote.rankings).becomes(names), when=_as_read(vote))),
        context.crowded.add_to_count(poll.poll_id, before, -1),
        context.crowded.add_to_count(poll.poll_id, ranking, 1),
    )


def withdrawn(
    poll: Poll, vote: Vote, now: datetime, context: PollsContext, *, admitted_by: int | None = None
) -> Writes[None]:
    """The vote's withdrawal; its voter may vote again."""
    if not poll.is_open(now):
        raise PollClosed
    return Writes(
        None,
        *in_shard(poll, -1, context.store, context.crowded, now, admitted_by),
        or_retry(delete(Vote.one(vote.poll_id, vote.vote_id), when=_as_read(vote))),
        context.crowded.add_to_count(poll.poll_id, Numbers(poll).ranking(vote.rankings), -1),
    )


def _require_credentials(by: VoterKeys, poll: Poll, context: PollsContext) -> VoterKeys:
    """The caller's credentials, if they meet the poll's policy; under `open`, with a new key if there is none."""
    if poll.voter_policy == "accounts" and by.principal is None:
        raise AccountNeeded
    if poll.voter_policy == "codes" and by.code is None:
        raise CodeNeeded
    if poll.voter_policy == "open" and by.voter_key is None:
        return replace(by, voter_key=new_voter_key(context.random))
    return by


def _as_read(vote: Vote) -> Condition:
    return (the(Vote.rankings) == vote.rankings) & (the(Vote.edit_key_hash) == vote.edit_key_hash)


# --- the actions ------------------------------------------------------------------------------------------------------

# A hall full of people may share one IP address. A ballot with a hundred names takes as much space as ten others.
VOTES = RateLimit("votes", 3_000, weight=lambda vote: 1 + len(vote.rankings) // 10)

votes = Actions(VoteHolder, Vote.one, VoteView, api="/polls/{poll_id}/votes", page=POLL, tag="Polls")


@votes.create(AlreadyVoted, PollClosed, PollFull, CodeNeeded, AccountNeeded, secret=True, rate_limit=VOTES)
async def cast_vote(at: Voter, new: NewVote) -> Writes[VoteCast]:
    """Cast a vote. The vote's `editKey`, needed to change or withdraw it, is returned only this once."""
    by = replace(at.keys, voter_key=new.voter_key or at.keys.voter_key, code=new.code)
    return cast(at.poll, by, new.rankings, at.now, at.polls)


@votes.action("PUT", "", WrongKey, PollClosed, rate_limit=VOTES)
async def change_vote(at: VoteHolder, vote: Vote, change: VoteChange) -> Writes[Vote]:
    """Change a vote while the poll is open."""
    return changed(at.poll, vote, change.rankings, at.now, at.polls)


@votes.delete("", WrongKey, PollClosed)
async def withdraw_vote(at: VoteHolder, vote: Vote) -> Writes[None]:
    """Withdraw a vote while the poll is open. The voter may vote again."""
    return withdrawn(at.poll, vote, at.now, at.polls)
