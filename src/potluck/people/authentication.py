"""Authentication: the principal behind a secret, a person who signed in or a program with an API token of theirs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account, ApiToken, Identity, Session, SessionOfUser
from potluck.people.errors import AccountDisabled, AccountWaiting, IdentityUnknown
from potluck.people.identities import account_of
from potluck.people.secrets import SecretKind, hash_of, kind_of
from potluck.store import Clock, Store
from potluck.store.row_cache import NEVER
from potluck.table import OutcomeUnknown, Unavailable, WriteRefused, the, update

SESSION_LASTS = timedelta(days=30)
# A session is extended when it is used, but rarely, so that most uses only read.
SESSION_EXTENDED_AFTER = timedelta(days=1)


# A struct, and not a dataclass: one is made with every request, and a frozen dataclass takes five times as long.
class Principal(Struct, frozen=True, kw_only=True):
    """Who is calling, and how they authenticated. What they may do is read where it is needed."""

    kind: Literal["session", "api-token", "access-token"]
    user_id: UUID
    name: str
    hash: str
    """Of their secret."""
    session_epoch: int
    expires_at: datetime | None
    """When the session ends unless it is used; None for a token of a program."""


class Issuer(Protocol):
    """The identity provider, as far as programs use its tokens."""

    @property
    def name(self) -> str: ...
    @property
    def issuer(self) -> str: ...
    async def bearer(self, token: str) -> tuple[str, float] | None:
        """The subject of a valid access token, and the second until which it counts; None for anything else."""


def must_be_active(account: Account) -> None:
    """AccountWaiting or AccountDisabled, for someone who has proved who they are; no one else learns of it."""
    if account.status == "waiting":
        raise AccountWaiting
    if account.status == "disabled":
        raise AccountDisabled


class Authenticator:
    """Finds the principal who holds a secret of any kind. A session is valid while its epoch is the account's, and the
    account is active."""

    def __init__(self, store: Store, clock: Clock, issuer: Issuer | None = None) -> None:
        """`issuer` is whose access tokens are accepted, besides secrets of our own."""
        self._store = store
        self._clock = clock
        self._issuer = issuer

    async def authenticate(self, secret: str) -> Principal | None:
        """The principal, by consistent reads; None, without reading anything, for what cannot be a secret of ours.

        Using a session extends it. IdentityUnknown for a valid access token of someone who has no account.
        """
        match kind_of(secret):
            case SecretKind.SESSION:
                hash = hash_of(secret)
                return await self._store.cache_until_write((Session, hash), lambda: self._by_session(hash))
            case SecretKind.API_TOKEN:
                hash = hash_of(secret)
                return await self._store.cache_until_write((ApiToken, hash), lambda: self._by_token(hash))
            case None if self._issuer is not None:
                issuer, hash = self._issuer, hash_of(secret)
                return await self._store.cache_until_write(
                    (Identity, hash), lambda: self._by_access_token(issuer, secret, hash)
                )
        return None

    async def _by_session(self, hash: str) -> tuple[Principal | None, float]:
        """The principal, and until which second this can be cached while nothing is written."""
        session = await self._store.get(Session.by_hash(hash))
        if session is None:
            return None, 0
        account = await self._store.get(Account.by_id(session.user_id))
        if account is not None and account.session_epoch != session.session_epoch:
            # If this very session changed the account between the two reads, it is still valid.
            session = await self._store.get(Session.by_hash(hash))
        if account is None or session is None or session.session_epoch < account.session_epoch:
            return None, 0
        if account.status != "active":
            return None, 0
        until = await self._extended(session)
        caller = Principal(
            kind="session",
            user_id=account.user_id,
            name=account.name,
            hash=session.hash,
            session_epoch=session.session_epoch,
            expires_at=datetime.fromtimestamp(until, UTC),
        )
        return caller, until - (SESSION_LASTS - SESSION_EXTENDED_AFTER).total_seconds()

    async def _extended(self, session: Session) -> int:
        """Extend the session if it is time to; returns when it ends."""
        until = int((self._clock() + SESSION_LASTS).timestamp())
        if until - session.ttl < SESSION_EXTENDED_AFTER.total_seconds():
            return session.ttl
        try:
            await self._store.transact(
                update(Session.by_hash(session.hash), the(Session.ttl).becomes(until)),
                update(SessionOfUser.by_hash(session.user_id, session.hash), the(SessionOfUser.ttl).becomes(until)),
            )
        except (WriteRefused, Unavailable, OutcomeUnknown):
            # It was ended meanwhile, or the engine is busy; this request is authenticated all the same.
            return session.ttl
        return until

    async def _by_token(self, hash: str) -> tuple[Principal | None, float]:
        """The principal, and until when this can be cached while nothing is written: a token does not expire."""
        token = await self._store.get(ApiToken.by_hash(hash))
        if token is None:
            return None, 0
        account = await self._store.get(Account.by_id(token.user_id))
        if account is None or account.status != "active" or token.session_epoch < account.tokens_since:
            return None, 0
        caller = Principal(
            kind="api-token",
            user_id=account.user_id,
            name=account.name,
            hash=token.hash,
            session_epoch=account.session_epoch,
            expires_at=None,
        )
        return caller, NEVER

    async def _by_access_token(self, issuer: Issuer, token: str, hash: str) -> tuple[Principal | None, float]:
        """The principal, and until which second this can be cached while nothing is written."""
        bearer = await issuer.bearer(token)
        if bearer is None:
            return None, 0
        subject, until = bearer
        account, _ = await account_of(self._store, issuer.issuer, subject)
        if account is None:
            raise IdentityUnknown(issuer.name)
        if account.status != "active":
            return None, 0
        caller = Principal(
            kind="access-token",
            user_id=account.user_id,
            name=account.name,
            hash=hash,
            session_epoch=account.session_epoch,
            expires_at=None,
        )
        return caller, until
