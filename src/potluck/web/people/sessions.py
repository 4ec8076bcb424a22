"""Sessions by the API: signing in and out, where one is signed in, choosing a new password by a link."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from potluck.people.entities import Session
from potluck.people.fields import AnyEmail, AnyPassword, NewPassword, Secret
from potluck.people.sessions import OpenedSession
from potluck.web.access import Nobody, SignedIn
from potluck.web.actions import Actions
from potluck.web.errors import EXPIRED, THROTTLED, TOKEN_CANNOT, WRONG_CREDENTIALS
from potluck.web.inputs import Input
from potluck.web.people.accounts import PEOPLE, forget_cookie
from potluck.web.views import View, computed
from potluck.web.writes import Writes


class Credentials(Input):
    email: AnyEmail
    password: AnyPassword


class PasswordChoice(Input):
    token: Secret
    new: NewPassword


class SessionMade(Struct, rename="camel", frozen=True, kw_only=True):
    token: str
    """Shown once."""
    expires_at: datetime


class CallersSession:
    """By which session the list is asked for."""

    def __init__(self, hash: str) -> None:
        self.hash = hash

    @classmethod
    async def load(cls, at: SignedIn, items: Sequence[Session]) -> CallersSession:
        return cls(at.principal.hash)


class SessionView(View[Session]):
    created_at: datetime

    @computed
    def expires_at(session: Session) -> datetime:
        return datetime.fromtimestamp(session.ttl, UTC)

    @computed
    def current(session: Session, callers: CallersSession) -> bool:
        """Whether it is the one that asks."""
        return session.hash == callers.hash


sessions: Actions[Any] = Actions(SignedIn, api="/sessions", tag=PEOPLE)
own_sessions = Actions(SignedIn, view=SessionView, api="/me/sessions", tag=PEOPLE)
password_resets: Actions[Any] = Actions(Nobody, api="/password-resets", tag=PEOPLE)


@sessions.create(WRONG_CREDENTIALS, THROTTLED, secret=True, frees_room=True)
async def sign_in(at: Nobody, credentials: Credentials) -> Writes[SessionMade]:
    """Sign in. A wrong e-mail and a wrong password are answered alike."""
    opened = await at.core.people.sessions.open(
        credentials.email,
        credentials.password,
        at.visitor.client,
        also=lambda made: at.keeping(_session_made(made), made.user_id, of=made.user_id, account_checked=True),
    )
    return Writes(_session_made(opened), made=opened.user_id)


def _session_made(opened: OpenedSession) -> SessionMade:
    return SessionMade(token=opened.secret, expires_at=opened.expires_at)


@sessions.delete("/current", TOKEN_CANNOT)
async def sign_out(at: SignedIn) -> Writes[None]:
    """Sign out: the token is dead from now on."""
    await at.core.people.sessions.end(at.principal, also=lambda _: at.keeping(None))
    return Writes(None, headers=forget_cookie(at.visitor))


@own_sessions.list("", TOKEN_CANNOT)
async def where_signed_in(at: SignedIn) -> list[Session]:
    """Where one is signed in, the latest first."""
    return await at.core.people.sessions.valid(at.principal)


@own_sessions.action("POST", "/end-others", TOKEN_CANNOT, frees_room=True)
async def end_others(at: SignedIn) -> Writes[None]:
    """Sign out everywhere else."""
    await at.core.people.sessions.end_others(at.principal, also=lambda _: at.keeping(None, account_checked=True))
    return Writes(None)


@password_resets.create(EXPIRED, frees_room=True)
async def choose_password(at: Nobody, choice: PasswordChoice) -> Writes[None]:
    """Choose a new password by the secret of a link that the operator handed over. Sessions and API tokens end."""
    await at.core.people.resets.redeem(
        choice.token, choice.new, also=lambda user_id: at.keeping(None, of=user_id, account_checked=True)
    )
    return Writes(None)
