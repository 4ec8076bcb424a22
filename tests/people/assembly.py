"""People as the suite assembles them, on any engine, with a clock that is moved and passwords that cost little."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from argon2 import PasswordHasher

from potluck.engines import Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from potluck.engines.recording import Recording
from potluck.engines.throttling import Throttling
from potluck.people.authentication import Authenticator, Principal
from potluck.people.entities import Account, Administration, Invitation, InvitationOfPlace, SecretCheck
from potluck.people.entities import accounts as accounts_table
from potluck.people.errors import InvitationInvalid, NoSuchInvitation
from potluck.people.idempotency import IdempotencyKey, StoredAnswers
from potluck.people.invitations import InvitationRows, MadeInvitation, withdrawing
from potluck.people.passwords import Passwords
from potluck.people.throttling import Throttles
from potluck.settings import Registration, Settings
from potluck.store import Store
from potluck.suite import core_on
from potluck.table import AlreadyExists, NotFound, Operation, WriteRefused, absent, present
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import Refusal
from potluck.web.access import Visitor
from potluck.web.app import App, Core
from potluck.web.declarations import Action
from potluck.web.direct_calls import Direct
from potluck.web.errors import ProblemError
from potluck.web.inputs import Input
from potluck.web.people import PeopleApp
from potluck.web.people.account import AccountData
from potluck.web.people.accounts import (
    AccountMade,
    Confirmation,
    EmailChange,
    MeChange,
    NewAccount,
    PasswordChange,
    change_email,
    change_me,
    change_password,
    leave,
    register,
)
from potluck.web.people.administration import Decision, decide
from potluck.web.people.password_resets import PasswordChoice, choose_password
from potluck.web.people.sessions import Credentials, SessionMade, end_others, sessions, sign_in, sign_out
from potluck.web.people.tokens import NewToken, TokenMade, make_token, revoke_token
from potluck.web.runner import Runner, Sent
from tests.people import operator_calls
from tests.stores import NOW, recorded_store, rows_in
from tests.web.made_apps import app_with

PASSWORD = "correct horse"
WRITERS = 50

WRAPPERS: dict[str, Callable[[Engine], Engine] | None] = {
    "plain": None,
    "conflicting": lambda engine: Conflicting(engine, seed=7, conflicts=0.2, single_writes=0.1, lost_answers=0.05),
    "lagging": lambda engine: Lagging(engine, writes=20, eventual=True, seed=7),
    "throttling": lambda engine: Throttling(engine, seed=7, refused=0.2),
}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


class CountingHasher:
    """Argon2 at its cheapest, and how often it was computed."""

    def __init__(self, passes: int = 1) -> None:
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=8, parallelism=1)
        self.computed: list[str] = []

    def hash(self, password: bytes) -> str:
        self.computed.append("hash")
        return self._argon2.hash(password)

    def verify(self, hash: str, password: bytes) -> Literal[True]:
        self.computed.append("verify")
        return self._argon2.verify(hash, password)

    def check_needs_rehash(self, hash: str) -> bool:
        return self._argon2.check_needs_rehash(hash)


@dataclass
class People:
    core: Core
    recording: Recording
    clock: Clock
    hasher: CountingHasher
    app: App

    @property
    def store(self) -> Store:
        return self.core.store

    @property
    def passwords(self) -> Passwords:
        return self.core.people.passwords

    @property
    def throttles(self) -> Throttles:
        return self.core.people.throttles

    @property
    def invitations(self) -> InvitationRows:
        return self.core.people.invitations

    @property
    def answers(self) -> StoredAnswers:
        return self.core.people.answers

    @property
    def authenticator(self) -> Authenticator:
        return self.core.people.authenticator

    @property
    def account_data(self) -> AccountData:
        data: AccountData = self.app.context.account_data
        return data

    def settle(self, registration: Registration) -> None:
        """Who may register, from now on."""
        object.__setattr__(self.core, "settings", replace(self.core.settings, registration=registration))

    async def do(
        self,
        rule: Callable[..., Any],
        by: Principal | None = None,
        sent: tuple[type[Input], dict[str, Any]] | None = None,
        *,
        client: str | None = None,
        key: IdempotencyKey | None = None,
        version: int | None = None,
        **ids: Any,
    ) -> Any:
        """What the rule answers this caller; an anonymous one without an address is not counted."""
        (action,) = [
            each
            for subject in PeopleApp.subjects
            for each in subject.declared
            if isinstance(each, Action) and each.rule is rule and each.form is None
        ]
        visitor = Visitor(principal=by, client=client or "unknown", limited=by is not None or client is not None)
        runner = Runner(self.core, self.app.context)

        def decode() -> Sent:
            return Sent(None if sent is None else decode_tree(*sent), version)

        return (await runner.perform(action, visitor, ids, decode, key)).answer

    # --- what people do -----------------------------------------------------------------------------------------------

    async def register(
        self, email: str, password: str, name: str, *, invitation: str | None = None, **options: Any
    ) -> AccountMade:
        given = {} if invitation is None else {"invitation": invitation}
        sent = {"email": email, "password": password, "name": name, **given}
        made: AccountMade = await self.do(register, None, (NewAccount, sent), **options)
        return made

    async def registered(self, email: str = "ada@example.org", name: str = "Ada") -> Principal:
        """Someone who has just registered, as the caller they are from then on."""
        made = await self.register(email, PASSWORD, name)
        assert made.token is not None
        return await self.known(made.token)

    async def sign_in(self, email: str, password: str, client: str | None = None, **options: Any) -> SessionMade:
        # Not decoded: whatever was typed, it is refused alike.
        sent = Credentials(email=email, password=password)
        (action,) = [each for each in sessions.declared if each.rule is sign_in]
        assert isinstance(action, Action)
        visitor = Visitor(client=client or "unknown", limited=client is not None)
        done = await Runner(self.core, self.app.context).perform(action, visitor, {}, lambda: Sent(sent), **options)
        made: SessionMade = done.answer
        return made

    async def signed_in(self, email: str = "ada@example.org", password: str = PASSWORD) -> str:
        return (await self.sign_in(email, password)).token

    async def known(self, secret: str) -> Principal:
        caller = await self.authenticator.authenticate(secret)
        assert caller is not None
        return caller

    async def account(self, user_id: UUID) -> Account:
        return await self.store.one(Account.by_id(user_id))

    async def rename(self, by: Principal, name: str, version: int, **options: Any) -> Any:
        return await self.do(change_me, by, (MeChange, {"name": name}), version=version, **options)

    async def change_email(self, by: Principal, email: str, password: str, **options: Any) -> Any:
        return await self.do(change_email, by, (EmailChange, {"email": email, "password": password}), **options)

    async def change_password(
        self, by: Principal, current: str, new: str, *, end_tokens: bool = True, **options: Any
    ) -> int:
        sent = {"current": current, "new": new, "endTokens": end_tokens}
        changed = await self.do(change_password, by, (PasswordChange, sent), **options)
        return changed.tokens_left if changed is not None else 0

    async def delete(self, by: Principal, password: str) -> None:
        await self.do(leave, by, (Confirmation, {"password": password}))

    async def sign_out(self, by: Principal, **options: Any) -> None:
        await self.do(sign_out, by, **options)

    async def end_others(self, by: Principal, **options: Any) -> None:
        await self.do(end_others, by, **options)

    async def make_token(self, by: Principal, name: str, **options: Any) -> TokenMade:
        made: TokenMade = await self.do(make_token, by, (NewToken, {"name": name}), **options)
        return made

    async def revoke_token(self, by: Principal, token_id: UUID, **options: Any) -> None:
        await self.do(revoke_token, by, token_id=token_id, **options)

    async def listed(self, rule: Callable[..., Any], by: Principal) -> list[Any]:
        """A list of theirs, as they are shown it."""
        return await Direct(self.core, PeopleApp.subjects, self.app.context).list(rule, by)

    async def issue_reset(self, email: str) -> str:
        return await operator_calls.issue_reset(self.core, email)

    async def decide(self, decided: str, email: str) -> None:
        """What the operator decides about an account."""
        await Direct(self.core, PeopleApp.subjects, self.app.context).do(
            decide, None, decode_tree(Decision, {"email": email, "decided": decided})
        )

    async def redeem(self, secret: str, new: str, **options: Any) -> None:
        await self.do(choose_password, None, (PasswordChoice, {"token": secret, "new": new}), **options)

    async def invite_newcomer(self) -> str:
        return await operator_calls.invite_newcomer(self.core)

    async def invite(self, app: str, place: str, role: str, by: UUID, email: str | None = None) -> MadeInvitation:
        return await operator_calls.invite(self.core, app, place, role, by, email)

    async def accept(self, secret: str, user_id: UUID, *entering: Operation) -> Invitation:
        """Join by an invitation, as an app lets people join."""
        opened = await self.invitations.open(secret, user_id)
        try:
            await self.store.transact(*opened.operations, *entering)
        except WriteRefused as refusal:
            if opened.refused(refusal):
                raise InvitationInvalid from refusal
            raise
        return opened.invitation

    async def withdraw(self, app: str, place: str, invitation_id: UUID) -> None:
        """Withdraw an invitation, as an app does."""
        found = await self.store.get(InvitationOfPlace.by_id(app, place, invitation_id))
        if found is None:
            raise NoSuchInvitation
        try:
            await self.store.transact(*withdrawing(found, when=present))
        except NotFound as refusal:
            raise NoSuchInvitation from refusal

    async def exported(self, user_id: UUID) -> dict[str, list[Any]]:
        """The tables of their export."""
        tables: dict[str, list[Any]] = {}
        async for table, row in self.account_data.export(user_id):
            tables.setdefault(table, []).append(row)
        return tables

    async def rows(self) -> list[dict[str, Any]]:
        """Everything that is in the table, expired or not, but for the number of admins."""
        rows = await rows_in(self.recording, accounts_table.name)
        return [row for row in rows if row["entityType"]["S"] != Administration.__name__]

    async def kinds(self) -> list[str]:
        """What the rows in the table are, in order."""
        return sorted(row["entityType"]["S"] for row in await self.rows())


async def looked_after(store: Store) -> None:
    """Say that the store has an admin, so that nobody in a test becomes one by being the first."""
    with contextlib.suppress(AlreadyExists):
        await store.put(Administration(admins=1), when=absent)


async def outcomes(*attempts: Awaitable[Any]) -> dict[Any, int]:
    """How many attempts ended how; what is no refusal of this domain is raised."""
    ended: dict[Any, int] = {}
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        refused = isinstance(outcome, Refusal | ProblemError)
        if isinstance(outcome, BaseException) and not refused:
            raise outcome
        kind = type(outcome) if refused else "done"
        ended[kind] = ended.get(kind, 0) + 1
    return ended


@contextlib.asynccontextmanager
async def assembled(
    engine: str,
    folder: Path,
    *,
    wrap: Callable[[Engine], Engine] | None = None,
    registration: Registration = "open",
    still_needed: Callable[[UUID], Awaitable[list[str]]] | None = None,
    forget: Callable[[UUID], Awaitable[None]] | None = None,
    first: bool = False,
) -> AsyncIterator[People]:
    """`first`: nobody was ever here, so that the first account is an admin's."""
    hooks: dict[str, Any] = {"still_needed": still_needed, "forget": forget}
    given = {name: hook for name, hook in hooks.items() if hook is not None}
    async with recorded_store(engine, folder, accounts_table, wrap=wrap) as (wrapped, recording):
        clock, hasher = Clock(), CountingHasher()
        settings = Settings(data=folder, registration=registration)
        core = core_on(wrapped.engine, settings, b"a secret of tests", clock, Passwords(hasher))
        hasher.computed.clear()
        try:
            app = PeopleApp(core, [app_with("hooks", **given)(core)])
            unwrapped = Store(recording, lambda: NOW)
            if first:
                await unwrapped.put(SecretCheck(check="c" * 64, has_admins=True))
            else:
                await looked_after(unwrapped)
                recording.calls.clear()
                recording.totals.clear()
            yield People(core, recording, clock, hasher, app)
        finally:
            core.people.close()
