"""Making a poll and looking after it: its key, its lots, changes until the first vote, closing, codes, an end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from potluck.apps.polls.admission import Admission
from potluck.apps.polls.candidates import drawn
from potluck.apps.polls.deletions import Deletions
from potluck.apps.polls.entities import SHARDS, Code, CreatedPoll, Deletion, Poll, Shard
from potluck.apps.polls.errors import NoCodesAsked, NoSuchPoll, VotesBegun
from potluck.apps.polls.keys import Credentials, VoterIds, new_admin_key, new_code
from potluck.apps.polls.settings import PollSettings, as_poll_fields, checked_expiry, settings_of
from potluck.apps.polls.views import CodesMade, PollMade, PollShown, is_open, poll_made, poll_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.entities import Account
from potluck.people.errors import AccountGone, InvalidFields, Stale, WrongField
from potluck.people.secrets import Random, hash_of, new_id
from potluck.store import Clock, Page, Store
from potluck.table import (
    AlreadyExists,
    NotFound,
    Unavailable,
    VersionConflict,
    WriteRefused,
    absent,
    check,
    present,
    put,
    the,
    update,
)
from potluck.table.operations import Operation

__all__ = ["MOST_CODES", "Authoring"]

MOST_CODES = 1_000
# A transaction takes 100 actions. Beside the codes there are the poll, and up to three that keep an idempotent answer.
CODES_AT_ONCE = 90
# Each refusal means that the poll was changed meanwhile, which few do.
ATTEMPTS = 20


class Authoring:
    """What is done with a poll by whoever made it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        random: Random,
        admission: Admission,
        voters: VoterIds,
        deletions: Deletions,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._admission = admission
        self._voters = voters
        self._deletions = deletions

    # --- making -------------------------------------------------------------------------------------------------

    async def create(
        self,
        by: Credentials,
        said: PollSettings,
        alongside: Alongside[PollMade] = nothing_else,
        *,
        short_id: str | None = None,
    ) -> PollMade:
        """A new poll, its lots drawn. For someone signed in, the write checks that the account is there."""
        now = self._now()
        fields = as_poll_fields(said, now)
        admin_key = new_admin_key(self._random)
        poll = Poll(
            poll_id=new_id(self._random),
            created_at=now,
            lot_order=drawn(len(fields["candidates"]), self._random),
            admin_key_hash=hash_of(admin_key),
            creator_id=by.user_id,
            short_id=short_id,
            **fields,
        )
        made = poll_made(poll, now, admin_key)
        owned: list[Operation] = []
        if by.user_id is not None:
            listed = CreatedPoll(creator_id=by.user_id, created_at=now, poll_id=poll.poll_id)
            # Nothing is begun for somebody whose account is going.
            owned = [check(Account.by_id(by.user_id), when=present), put(listed, when=absent)]
        try:
            await self._store.transact(*owned, put(poll, when=absent), *alongside(made))
        except NotFound as refusal:
            if owned and refusal.operation is owned[0]:
                raise AccountGone from refusal
            raise
        return made

    async def duplicate(
        self,
        by: Credentials,
        poll_id: UUID,
        alongside: Alongside[PollMade] = nothing_else,
        *,
        short_id: str | None = None,
    ) -> PollMade:
        """Another poll like it, open, without its votes and codes, with lots and a key of its own."""
        poll = await self._admission.administered(by, poll_id)
        said = settings_of(poll)
        if poll.expires_at is not None and poll.expires_at <= self._now():
            said = replace(said, expires_at=None)
        return await self.create(by, said, alongside, short_id=short_id)

    # --- looking ------------------------------------------------------------------------------------------------

    async def one(self, poll_id: UUID) -> PollShown:
        """The poll, for anyone who has its link."""
        return poll_shown(await self._admission.poll(poll_id), self._clock())

    async def own(self, caller: Principal, limit: int, after: Mapping[str, Any] | None = None) -> Page[PollShown]:
        """The polls that this person made, newest first."""
        page = await self._store.page(CreatedPoll.of_creator(caller.user_id), limit, after)
        polls = await self._store.get_many([Poll.one(each.poll_id) for each in page.items])
        now = self._clock()
        # One that is deleted just now has gone from both, but the list was read first.
        return Page([poll_shown(each, now) for each in polls if each is not None and each.short_id is None], page.next)

    # --- changing -----------------------------------------------------------------------------------------------

    async def edit(
        self,
        by: Credentials,
        poll_id: UUID,
        version: int,
        said: PollSettings,
        alongside: Alongside[PollShown] = nothing_else,
    ) -> PollShown:
        """Change what is said of it, until somebody has voted: the write decides. New candidates draw new lots."""
        poll = await self._admission.administered(by, poll_id)
        now = self._now()
        if poll.version != version:
            raise Stale(poll_shown(poll, now))
        fields = as_poll_fields(said, now, poll)
        if fields["candidates"] != poll.candidates:
            fields["lot_order"] = drawn(len(fields["candidates"]), self._random)
        changes = {name: value for name, value in fields.items() if value != getattr(poll, name)}
        if not changes:
            return poll_shown(poll, now)
        answer = poll_shown(replace(poll, **changes, version=version + 1), now)
        changing = update(poll, *(the(getattr(Poll, name)).becomes(value) for name, value in changes.items()))
        # A vote raises one of these in the transaction that checks the poll's version: one of the two comes first.
        no_votes = [check(Shard.one(poll_id, shard), when=absent) for shard in range(SHARDS)]
        try:
            await self._store.transact(changing, *no_votes, *alongside(answer))
        except (VersionConflict, NotFound, AlreadyExists) as refusal:
            if any(refusal.operation is each for each in no_votes):
                raise VotesBegun from refusal
            if refusal.operation is not changing:
                raise
            if refusal.current is None:
                raise NoSuchPoll from refusal
            raise Stale(poll_shown(refusal.current, now)) from refusal
        return answer

    async def close(self, by: Credentials, poll_id: UUID, alongside: Alongside[PollShown] = nothing_else) -> PollShown:
        """Take no more votes, and change none. What is closed stays as it is."""

        def closing(poll: Poll, now: datetime) -> dict[str, Any]:
            return {"closed_at": now} if is_open(poll, now) else {}

        return await self._turned(by, poll_id, closing, alongside)

    async def reopen(
        self,
        by: Credentials,
        poll_id: UUID,
        expires_at: datetime | UnsetType | None = UNSET,
        alongside: Alongside[PollShown] = nothing_else,
    ) -> PollShown:
        """Take votes until the time given. Where none is, what is open stays so, and an end that has passed is none."""

        def reopening(poll: Poll, now: datetime) -> dict[str, Any]:
            until = poll.expires_at
            if expires_at is not UNSET:
                until = checked_expiry(expires_at, now)
            elif until is not None and until <= now:
                until = None
            wanted = {"closed_at": None, "expires_at": until}
            return {name: value for name, value in wanted.items() if value != getattr(poll, name)}

        return await self._turned(by, poll_id, reopening, alongside)

    async def delete(
        self, by: Credentials, poll_id: UUID, version: int | None = None, alongside: Alongside[None] = nothing_else
    ) -> None:
        """The poll is gone for everybody at once, with every vote in it; many of those go behind the call."""
        for _ in range(ATTEMPTS):
            poll = await self._admission.administered(by, poll_id)
            now = self._now()
            if version is not None and poll.version != version:
                raise Stale(poll_shown(poll, now))
            ending = self._deletions.ending(poll, now)
            try:
                await self._store.transact(*ending, *alongside(None))
            except WriteRefused as refusal:
                if not any(refusal.operation is each for each in ending):
                    raise
                # Closed, reopened or deleted by another meanwhile: it is looked at again.
                continue
            await self._deletions.carry(Deletion(poll_id=poll_id, deleted_at=now), promptly=True)
            return
        raise Unavailable("deleting a poll: it was changed again and again")

    # --- codes --------------------------------------------------------------------------------------------------

    async def make_codes(
        self, by: Credentials, poll_id: UUID, count: int, alongside: Alongside[CodesMade] = nothing_else
    ) -> CodesMade:
        """So many codes, each for one vote; only what they hash to is kept."""
        if not 1 <= count <= MOST_CODES:
            raise InvalidFields(WrongField("count", f"Count must be 1 to {MOST_CODES:,}"))
        poll = await self._admission.administered(by, poll_id)
        if poll.voter_policy != "codes":
            raise NoCodesAsked
        made = CodesMade(codes=[new_code(self._random) for _ in range(count)])
        now = self._now()
        rows = [
            Code(poll_id=poll_id, hash=self._voters.code_hash(poll_id, each), created_at=now) for each in made.codes
        ]
        for start in range(0, count, CODES_AT_ONCE):
            some = rows[start : start + CODES_AT_ONCE]
            last = start + CODES_AT_ONCE >= count
            there = check(Poll.one(poll_id), when=the(Poll.voter_policy) == "codes")
            try:
                await self._store.transact(
                    there, *(put(each, when=absent) for each in some), *(alongside(made) if last else ())
                )
            except WriteRefused as refusal:
                if refusal.operation is not there:
                    raise
                raise (NoSuchPoll() if refusal.current is None else NoCodesAsked()) from refusal
        return made

    # --- what these share ---------------------------------------------------------------------------------------

    async def _turned(self, by: Credentials, poll_id: UUID, turn: Any, alongside: Alongside[PollShown]) -> PollShown:
        """The poll with what `turn` changes of it, however often others change it meanwhile."""
        for _ in range(ATTEMPTS):
            poll = await self._admission.administered(by, poll_id)
            now = self._now()
            changes = turn(poll, now)
            if not changes:
                return poll_shown(poll, now)
            answer = poll_shown(replace(poll, **changes, version=poll.version + 1), now)
            changing = update(poll, *(the(getattr(Poll, name)).becomes(value) for name, value in changes.items()))
            try:
                await self._store.transact(changing, *alongside(answer))
            except (VersionConflict, NotFound) as refusal:
                if refusal.operation is not changing:
                    raise
                continue
            return answer
        raise Unavailable("closing or reopening a poll: it was changed again and again")

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)
