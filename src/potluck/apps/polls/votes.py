"""Voting: one vote each, decided by the write; what a vote says is counted in the vote's own transaction.

A vote checks the poll's row and does not write it, so voters meet only where they say the same, or share one of ten
shards. What is counted and the version that tells of it change together with the vote, or not at all.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.polls.admission import Admission, holds_key, still_open
from potluck.apps.polls.candidates import Numbers, is_text, names_of
from potluck.apps.polls.entities import SHARDS, Code, Count, Poll, Shard, Vote
from potluck.apps.polls.errors import (
    AccountNeeded,
    AlreadyVoted,
    CodeNeeded,
    NoSuchPoll,
    PollClosed,
    WrongKey,
)
from potluck.apps.polls.keys import Credentials, VoterIds, new_edit_key, new_voter_key, vote_of
from potluck.apps.polls.views import VoteCast, VoteShown, is_open, vote_shown
from potluck.people.authentication import Alongside, nothing_else
from potluck.people.entities import Account
from potluck.people.errors import AccountGone, InvalidFields, WrongField
from potluck.people.secrets import Random, hash_of
from potluck.store import Clock, Store
from potluck.table import (
    Condition,
    Ref,
    Unavailable,
    WriteRefused,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
    upsert,
)
from potluck.table.operations import Check, Operation

__all__ = ["LONGEST_VOTER_KEY", "Votes"]

LONGEST_VOTER_KEY = 200
LONGEST_CODE = 100
# Each refusal means that the poll, or the voter's own vote, was changed meanwhile.
ATTEMPTS = 50


class Votes:
    """Casting, changing and withdrawing a vote."""

    def __init__(self, store: Store, clock: Clock, random: Random, admission: Admission, voters: VoterIds) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._admission = admission
        self._voters = voters

    async def cast(
        self,
        by: Credentials,
        poll_id: UUID,
        rankings: Sequence[str],
        alongside: Alongside[VoteCast] = nothing_else,
    ) -> VoteCast:
        """Count this vote, if it is the voter's first here. For someone signed in, the write checks the account.

        A voter of an open poll who shows no key is a new one.
        """
        poll = await self._admission.poll(poll_id)
        _refuse_unusable(by)
        for _ in range(ATTEMPTS):
            now = self._now()
            if not is_open(poll, now):
                raise PollClosed
            voter = self._admitted(by, poll)
            ranking = Numbers(poll).ranking(rankings)
            vote_id = self._voters.vote_id(poll, voter)
            assert vote_id is not None
            cast = VoteCast(id=vote_id, edit_key=new_edit_key(vote_id, self._random))
            vote = Vote(
                vote_id=vote_id,
                poll_id=poll_id,
                rankings=names_of(poll, ranking),
                voted_at=now,
                edit_key_hash=hash_of(cast.edit_key),
            )
            # The ranking was read by this version's candidates: none of them may have become another.
            asking = check(Poll.one(poll_id), when=the(Poll.version).still(poll.version) & still_open(now))
            entitled = self._entitled(voter, poll)
            voting = put(vote, when=absent)
            counting = (
                upsert(Count.one(poll_id, ranking), the(Count.count).add(1)),
                upsert(_shard(vote), the(Shard.votes_version).add(1), the(Shard.votes).add(1)),
            )
            try:
                await self._store.transact(asking, *entitled, voting, *counting, *alongside(cast))
                return cast
            except WriteRefused as refusal:
                if refusal.operation is voting:
                    raise AlreadyVoted from refusal
                for each in entitled:
                    if refusal.operation is each:
                        raise (CodeNeeded() if each.plan.cls is Code else AccountGone()) from refusal
                if refusal.operation is not asking:
                    raise
                if refusal.current is None:
                    raise NoSuchPoll from refusal
                poll = refusal.current
        raise Unavailable("voting: the poll was changed again and again")

    async def own(self, by: Credentials, poll_id: UUID) -> VoteShown:
        """The vote that the caller's edit key is of."""
        vote_id = vote_of(by.edit_key)
        if vote_id is None:
            raise WrongKey.of_vote()
        _, vote = await self._held(by, poll_id, vote_id)
        return vote_shown(vote)

    async def change(
        self,
        by: Credentials,
        poll_id: UUID,
        vote_id: UUID,
        rankings: Sequence[str],
        alongside: Alongside[VoteShown] = nothing_else,
    ) -> VoteShown:
        """Say something else, until the poll is closed; the counts of both rankings change with it."""
        for _ in range(ATTEMPTS):
            poll, vote = await self._held(by, poll_id, vote_id)
            now = self._now()
            if not is_open(poll, now):
                raise PollClosed
            numbers = Numbers(poll)
            ranking, before = numbers.ranking(rankings), numbers.ranking(vote.rankings)
            if ranking == before:
                return vote_shown(vote)
            said = names_of(poll, ranking)
            answer = vote_shown(replace(vote, rankings=said))
            asking = check(Poll.one(poll_id), when=still_open(now))
            changing = update(Vote.one(poll_id, vote_id), the(Vote.rankings).becomes(said), when=_as_read(vote))
            counting = (
                update(Count.one(poll_id, before), the(Count.count).add(-1)),
                upsert(Count.one(poll_id, ranking), the(Count.count).add(1)),
                upsert(_shard(vote), the(Shard.votes_version).add(1)),
            )
            if await self._done(asking, changing, *counting, *alongside(answer)):
                return answer
        raise Unavailable("changing a vote: it was changed again and again")

    async def withdraw(
        self, by: Credentials, poll_id: UUID, vote_id: UUID, alongside: Alongside[None] = nothing_else
    ) -> None:
        """Take the vote back, until the poll is closed; its voter may vote again."""
        for _ in range(ATTEMPTS):
            poll, vote = await self._held(by, poll_id, vote_id)
            now = self._now()
            if not is_open(poll, now):
                raise PollClosed
            asking = check(Poll.one(poll_id), when=still_open(now))
            withdrawing = delete(Vote.one(poll_id, vote_id), when=_as_read(vote))
            counting = (
                update(Count.one(poll_id, Numbers(poll).ranking(vote.rankings)), the(Count.count).add(-1)),
                upsert(_shard(vote), the(Shard.votes_version).add(1), the(Shard.votes).add(-1)),
            )
            if await self._done(asking, withdrawing, *counting, *alongside(None)):
                return
        raise Unavailable("withdrawing a vote: it was changed again and again")

    # --- what these share ---------------------------------------------------------------------------------------

    def _admitted(self, by: Credentials, poll: Poll) -> Credentials:
        """Whoever asks, if the poll lets them vote; in an open poll, a stranger gets a key of their own."""
        if poll.voter_policy == "accounts" and by.caller is None:
            raise AccountNeeded
        if poll.voter_policy == "codes" and by.code is None:
            raise CodeNeeded
        if poll.voter_policy == "open" and by.voter_key is None:
            return Credentials(caller=by.caller, voter_key=new_voter_key(self._random))
        return by

    def _entitled(self, by: Credentials, poll: Poll) -> list[Check]:
        """That what lets them vote is there, for the write that decides."""
        checks: list[Check] = []
        if by.user_id is not None:
            checks.append(check(Account.by_id(by.user_id), when=present))
        if poll.voter_policy == "codes" and by.code is not None:
            code = Code.one(poll.poll_id, self._voters.code_hash(poll.poll_id, by.code))
            checks.append(check(code, when=present))
        return checks

    async def _held(self, by: Credentials, poll_id: UUID, vote_id: UUID) -> tuple[Poll, Vote]:
        """The poll and the vote in it, for whoever holds the vote's key."""
        poll, vote = await self._store.get_together(Poll.one(poll_id), Vote.one(poll_id, vote_id))
        poll = self._admission.served(poll)
        if vote is None or not holds_key(by, vote):
            # Told alike: whether somebody has voted, or has taken it back, is nobody else's business.
            raise WrongKey.of_vote()
        return poll, vote

    async def _done(self, asking: Operation, own: Operation, *others: Operation) -> bool:
        """Whether it was written; not if the poll or the vote is no longer as it was read, and must be read again."""
        try:
            await self._store.transact(asking, own, *others)
        except WriteRefused as refusal:
            if refusal.operation is not asking and refusal.operation is not own:
                raise
            return False
        return True

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def _shard(vote: Vote) -> Ref[Shard]:
    """Where everything about this vote is counted, so that each shard's own sum is right."""
    return Shard.one(vote.poll_id, vote.vote_id.int % SHARDS)


def _as_read(vote: Vote) -> Condition:
    return (the(Vote.rankings) == vote.rankings) & (the(Vote.edit_key_hash) == vote.edit_key_hash)


def _refuse_unusable(by: Credentials) -> None:
    wrong = [
        WrongField(field, f"{field} must have 1 to {longest} characters, all of them printable")
        for field, given, longest in (("voterKey", by.voter_key, LONGEST_VOTER_KEY), ("code", by.code, LONGEST_CODE))
        if given is not None and (not 1 <= len(given) <= longest or not is_text(given))
    ]
    if wrong:
        raise InvalidFields(*wrong)
