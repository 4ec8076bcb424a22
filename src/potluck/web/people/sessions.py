"""Sessions: signing in and out, and where one is signed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from potluck.people.email_addresses import move_address
from potluck.people.entities import Account, SessionOfUser
from potluck.people.errors import AccountDisabled, AccountWaiting, PasswordsOff, Throttled, WrongCredentials
from potluck.people.fields import AnyEmail, AnyPassword
from potluck.people.sessions import dropping, next_epoch, opening, tidy_sessions, valid_sessions
from potluck.table import Change, the, update
from potluck.table.operations import Operation
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.people.access import AccountOwner, Newcomer
from potluck.web.people.accounts import PEOPLE, forget_cookie
from potluck.web.translation import _
from potluck.web.views import View, computed
from potluck.web.writes import Writes, or_retry


class Credentials(Input):
    email: AnyEmail
    password: AnyPassword


class SessionMade(Struct, rename="camel", frozen=True, kw_only=True):
    token: str
    """Shown once."""
    expires_at: datetime


def device_name(program: str | None, system: str | None) -> str:
    """A device as people call it: "Chrome on Android", or "curl" for a program."""
    if program and system:
        return _("%(program)s on %(system)s", program=program, system=system)
    return program or system or _("Unknown device")


class CallersSession:
    """By which session the list is asked for."""

    def __init__(self, hash: str) -> None:
        self.hash = hash

    @classmethod
    async def load(cls, at: SignedIn, items: Sequence[SessionOfUser]) -> CallersSession:
        return cls(at.principal.hash)


class SessionView(View[SessionOfUser]):
    created_at: datetime

    @computed
    def device(session: SessionOfUser) -> str:
        """The browser or program that signed in, and its system."""
        return device_name(session.program, session.system)

    @computed
    def expires_at(session: SessionOfUser) -> datetime:
        return datetime.fromtimestamp(session.ttl, UTC)

    @computed
    def current(session: SessionOfUser, callers: CallersSession) -> bool:
        """Whether it is the one that asks."""
        return session.hash == callers.hash


sessions: Actions[Any] = Actions(AccountOwner, api="/sessions", tag=PEOPLE)
own_sessions = Actions(AccountOwner, view=SessionView, api="/me/sessions", page="/account/sessions", tag=PEOPLE)


@sessions.create(
    WrongCredentials, PasswordsOff, AccountWaiting, AccountDisabled, Throttled, secret=True, frees_room=True
)
async def sign_in(at: Newcomer, credentials: Credentials) -> Writes[SessionMade]:
    """Sign in. A wrong e-mail and a wrong password get the same answer."""
    account, address = await at.verified(credentials.email, credentials.password)
    session, rows = opening(account.user_id, account.session_epoch, at.now, user_agent=at.visitor.user_agent)
    return Writes(
        SessionMade(token=session.secret, expires_at=session.expires_at),
        or_retry(await _still_valid(at, account, credentials.password)),
        *rows,
        made=account.user_id,
        of=account.user_id,
        after=lambda: move_address(at.store, address),
    )


async def _still_valid(at: Newcomer, account: Account, password: str) -> Operation:
    """Records the sign-in, if password and status have not changed since; an outdated hash is replaced."""
    if account.password_hash is None or not at.core.people.passwords.outdated(account.password_hash):
        return recording_sign_in(account, at.now)
    return recording_sign_in(account, at.now, the(Account.password_hash).becomes(await at.hashed(password)))


def recording_sign_in(account: Account, now: datetime, *changes: Change) -> Operation:
    """Records that someone has signed in, if neither their epoch nor their status has changed since it was read."""
    unchanged = (the(Account.session_epoch) == account.session_epoch) & (the(Account.status) == "active")
    signed_in = the(Account.signed_in_at).becomes(now)
    return update(Account.by_id(account.user_id), signed_in, *changes, when=unchanged, keep_version=True)


@sessions.delete("/current")
async def sign_out(at: AccountOwner) -> Writes[None]:
    """Sign out. The token stops working at once."""
    return Writes(None, *dropping(at.principal.user_id, at.principal.hash), headers=forget_cookie(at.visitor))


@own_sessions.list()
async def where_signed_in(at: AccountOwner) -> list[SessionOfUser]:
    """List your sessions, latest first."""
    return await valid_sessions(at.store, at.principal.user_id)


@own_sessions.action("POST", "/end-others", frees_room=True)
async def end_others(at: AccountOwner) -> Writes[None]:
    """Sign out everywhere else."""
    caller = await at.caller()
    return Writes(
        None,
        # One transaction, however many there are; their rows are deleted afterwards.
        *map(or_retry, next_epoch(caller)),
        after=lambda: tidy_sessions(at.store, caller.user_id, caller.session_epoch + 1),
    )
