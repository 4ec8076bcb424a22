"""The rules of polls as functions of who asks and what they say: run as requests run them, without HTTP."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from potluck.apps.polls import polls as rules
from potluck.apps.polls.access import PollAdmin, ReadsRecord, SeesResults, ToPoll, VoteHolder, WrongKey
from potluck.apps.polls.account import PollsData
from potluck.apps.polls.consumers import consumers_of
from potluck.apps.polls.context import PollsContext, polls_context
from potluck.apps.polls.deletion import Deletions
from potluck.apps.polls.entities import Vote
from potluck.apps.polls.home_card import home_card
from potluck.apps.polls.keys import VoterKeys, vote_of
from potluck.apps.polls.polls import CodesMade, NewCodes, NewPoll, PollChange, PollMade, PollView, Reopening, polls
from potluck.apps.polls.results import (
    Audit,
    ByMethod,
    InFormat,
    Turnout,
    poll_audit,
    poll_ballots,
    poll_results,
    results_table,
    turnout_of,
)
from potluck.apps.polls.votes import (
    NewVote,
    VoteCast,
    VoteChange,
    VoteView,
    cast_vote,
    change_vote,
    votes,
    withdraw_vote,
)
from potluck.people.authentication import Principal
from potluck.people.idempotency import IdempotencyKey
from potluck.store import Clock, QueryPage, Store
from potluck.streams import RecordConsumer
from potluck.validation import decode_query
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.access import Visitor, read_together
from potluck.web.actions import Actions
from potluck.web.app import HomeCard
from potluck.web.inputs import UNSET, Input
from potluck.web.requests import camel
from potluck.web.runner import Runner, Sent
from tests.web.cores import core_on

__all__ = ["PollSettings", "Polls", "open_polls"]

A = TypeVar("A", bound=ToPoll)
In = TypeVar("In", bound=Input)


class PollSettings:
    """What is said of a poll, by the names of its fields."""

    def __init__(self, **said: Any) -> None:
        self.said = said

    def as_input(self, kind: type[In]) -> In:
        """The same as a program would send it."""
        said = {name: list(value) if isinstance(value, tuple) else value for name, value in self.said.items()}
        tree = {camel(name): msgspec.to_builtins(value) for name, value in said.items()}
        try:
            return decode_tree(kind, tree)
        except ValidationError as refusal:
            # Of what is said of candidates, which of them it is does not matter here.
            raise ValidationError(
                *(FieldError(each.field.partition(".")[0], each.message) for each in refusal.errors)
            ) from refusal


class Polls:
    """Every rule there is, by what it is about."""

    def __init__(self, context: PollsContext) -> None:
        self.context = context
        self.core = core_on(context.store, context.clock)
        self.runner = Runner(self.core, context)
        self.authoring = Authoring(self)
        self.votes = Votes(self)
        self.results = PollResults(self)
        self.account_data = PollsData(context)
        self.deletions = Deletions(context.store)

    def consumers(self) -> list[RecordConsumer]:
        return [each.bind(self.core.store) for each in consumers_of(self.core)]

    async def home_card(self, principal: Principal) -> HomeCard:
        return await home_card(self.context, principal)

    async def done(
        self,
        subject: Actions[Any],
        rule: Any,
        by: VoterKeys,
        sent: Any = Sent,
        key: IdempotencyKey | None = None,
        **ids: UUID,
    ) -> Any:
        """What a rule answers, as the caller is shown it."""
        keys = {"X-Admin-Key": by.admin_key, "X-Edit-Key": by.edit_key}
        headers = {name: key for name, key in keys.items() if key is not None}
        visitor = Visitor(principal=by.principal, headers=headers)
        return (await self.runner.perform(subject.declared_by(rule), visitor, ids, sent, key)).view

    async def admitted(self, access: type[A], by: VoterKeys, poll_id: UUID, **ids: UUID) -> A:
        at = access(self.core, self.context, Visitor(principal=by.principal), {"poll_id": poll_id, **ids})
        at.keys = by
        await at.admit(*await read_together(self.context.store, at.reads()))
        return at


class Authoring:
    def __init__(self, of: Polls) -> None:
        self._of = of

    async def create(
        self,
        by: VoterKeys,
        said: PollSettings,
        *,
        key: IdempotencyKey | None = None,
        short_id: str | None = None,
    ) -> PollMade:
        if short_id is not None:
            # As the app that shares it does, in a transaction of its own.
            context = self._of.context
            new = rules.settings_in(said.as_input(NewPoll))
            now = context.clock().replace(microsecond=0)
            writes = rules.created(new, by.user_id, now, context.random, short_id=short_id)
            await context.store.transact(*writes.operations)
            return writes.answer
        made: PollMade = await self._of.done(polls, rules.create_poll, by, lambda: Sent(said.as_input(NewPoll)), key)
        return made

    async def duplicate(self, by: VoterKeys, poll_id: UUID) -> PollMade:
        made: PollMade = await self._of.done(polls, rules.duplicate_poll, by, poll_id=poll_id)
        return made

    async def one(self, poll_id: UUID) -> PollView:
        at = await self._of.admitted(ToPoll, VoterKeys(), poll_id)
        return rules.view_of(await rules.one_poll(at, at.poll), at.now)

    async def own(
        self, principal: Principal, limit: int, after: Mapping[str, Any] | None = None
    ) -> QueryPage[PollView]:
        context = self._of.context
        references = rules.own_polls_of(context.store, principal.user_id)
        page = await context.store.page(references.query, limit, after)
        found = await references.get(page.items)
        return QueryPage([rules.view_of(each, context.clock()) for each in found], page.next)

    async def edit(self, by: VoterKeys, poll_id: UUID, version: int, said: PollSettings) -> PollView:
        shown: PollView = await self._of.done(
            polls, rules.change_poll, by, lambda: Sent(said.as_input(PollChange), version), poll_id=poll_id
        )
        return shown

    async def close(self, by: VoterKeys, poll_id: UUID) -> PollView:
        shown: PollView = await self._of.done(polls, rules.close_poll, by, poll_id=poll_id)
        return shown

    async def reopen(self, by: VoterKeys, poll_id: UUID, expires_at: datetime | Any = UNSET) -> PollView:
        shown: PollView = await self._of.done(
            polls, rules.reopen_poll, by, lambda: Sent(Reopening(expires_at=expires_at)), poll_id=poll_id
        )
        return shown

    async def delete(self, by: VoterKeys, poll_id: UUID, version: int | None = None) -> None:
        await self._of.done(polls, rules.delete_poll, by, lambda: Sent(None, version), poll_id=poll_id)

    async def make_codes(self, by: VoterKeys, poll_id: UUID, count: int) -> CodesMade:
        made: CodesMade = await self._of.done(
            polls, rules.make_codes, by, lambda: Sent(decode_tree(NewCodes, {"count": count})), poll_id=poll_id
        )
        return made


class Votes:
    def __init__(self, of: Polls) -> None:
        self._of = of

    async def cast(
        self, by: VoterKeys, poll_id: UUID, rankings: Sequence[str], *, key: IdempotencyKey | None = None
    ) -> VoteCast:
        sent = Sent(NewVote(rankings=list(rankings), voter_key=by.voter_key, code=by.code))
        shown: VoteCast = await self._of.done(votes, cast_vote, by, lambda: sent, key, poll_id=poll_id)
        return shown

    async def own(self, by: VoterKeys, poll_id: UUID) -> VoteView:
        vote_id = vote_of(by.edit_key)
        if vote_id is None:
            raise WrongKey.of_vote()
        at = await self._of.admitted(VoteHolder, by, poll_id, vote_id=vote_id)
        (shown,) = await at.show(VoteView, [await at.store.one(Vote.one(poll_id, vote_id))])
        return shown

    async def change(self, by: VoterKeys, poll_id: UUID, vote_id: UUID, rankings: Sequence[str]) -> VoteView:
        sent = Sent(VoteChange(rankings=list(rankings)))
        shown: VoteView = await self._of.done(votes, change_vote, by, lambda: sent, poll_id=poll_id, vote_id=vote_id)
        return shown

    async def withdraw(self, by: VoterKeys, poll_id: UUID, vote_id: UUID) -> None:
        await self._of.done(votes, withdraw_vote, by, poll_id=poll_id, vote_id=vote_id)


class PollResults:
    def __init__(self, of: Polls) -> None:
        self._of = of
        self._records = of.context.records

    async def read(self, by: VoterKeys, poll_id: UUID, method: Any = None) -> Any:
        return await poll_results(await self._of.admitted(ReadsRecord, by, poll_id), _by(method))

    async def csv(self, by: VoterKeys, poll_id: UUID, method: Any = None) -> str:
        found = await results_table(await self._of.admitted(ReadsRecord, by, poll_id), _by(method))
        return bytes(found.body).decode()

    async def turnout(self, by: VoterKeys, poll_id: UUID) -> Turnout:
        at = await self._of.admitted(SeesResults, by, poll_id)
        return await turnout_of(at.store, poll_id)

    async def ballots(self, by: VoterKeys, poll_id: UUID, format: str = "json") -> str:
        wanted = decode_query(InFormat, [("format", format)], strict=True)
        return bytes((await poll_ballots(await self._of.admitted(SeesResults, by, poll_id), wanted)).body).decode()

    async def audit(self, by: VoterKeys, poll_id: UUID, method: Any = None) -> Audit:
        return await poll_audit(await self._of.admitted(PollAdmin, by, poll_id), _by(method))


def _by(method: Any) -> ByMethod:
    return ByMethod(method=UNSET if method is None else method)


def open_polls(store: Store, clock: Clock, key: bytes, **options: Any) -> Polls:
    """The rules on this store; `options` are those of their context."""
    return Polls(polls_context(store, clock, key, **options))
