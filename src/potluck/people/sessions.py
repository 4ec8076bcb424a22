"""The rows of sessions: a new one, the end of one or of all others, and which of a person's are valid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from potluck.people.authentication import SESSION_LASTS, Principal
from potluck.people.devices import device_of
from potluck.people.entities import Account, Session, SessionOfUser
from potluck.people.errors import SessionOver
from potluck.people.secrets import SecretKind, hash_of, new_secret
from potluck.store import Store
from potluck.table import Change, absent, delete, put, the, update
from potluck.table.operations import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A new session with its secret, which is shown only once."""

    user_id: UUID
    secret: str
    expires_at: datetime


def opening(
    user_id: UUID, session_epoch: int, now: datetime, *, user_agent: str = "", by_provider: bool = False
) -> tuple[OpenedSession, list[Operation]]:
    """A new session and its rows, for a transaction that also checks the epoch."""
    secret = new_secret(SecretKind.SESSION)
    until = now + SESSION_LASTS
    ttl = int(until.timestamp())
    session = Session(
        hash=hash_of(secret),
        user_id=user_id,
        session_epoch=session_epoch,
        by_provider=by_provider,
        created_at=now,
        ttl=ttl,
    )
    device = device_of(user_agent)
    of_user = SessionOfUser(
        user_id=user_id,
        hash=session.hash,
        program=device.program,
        system=device.system,
        created_at=now,
        ttl=ttl,
    )
    opened = OpenedSession(user_id=user_id, secret=secret, expires_at=until)
    return opened, [put(session, when=absent), put(of_user, when=absent)]


def dropping(user_id: UUID, hash: str) -> list[Operation]:
    """Deletes a session: both of its rows."""
    return [delete(Session.by_hash(hash)), delete(SessionOfUser.by_hash(user_id, hash))]


def next_epoch(caller: Principal, *changes: Change) -> list[Operation]:
    """Ends every session but the caller's, together with other changes of the account."""
    epoch = the(Account.session_epoch)
    return [
        update(
            Account.by_id(caller.user_id),
            epoch.becomes(caller.session_epoch + 1),
            *changes,
            when=epoch == caller.session_epoch,
            keep_version=True,
        ),
        continuing(caller),
    ]


def continuing(caller: Principal) -> Operation:
    """Keeps the caller's session valid in the next epoch, in which every other is over."""
    return update(Session.by_hash(caller.hash), the(Session.session_epoch).becomes(caller.session_epoch + 1))


async def continued(store: Store, caller: Principal) -> Principal:
    """The caller read again after the account refused their write; SessionOver if another session has ended theirs.

    If they changed the account themselves, in another window, their session has moved to the next epoch.
    """
    account = await store.get(Account.by_id(caller.user_id))
    # Read after the account: a session that moves to the next epoch meanwhile must not look outdated.
    session = await store.get(Session.by_hash(caller.hash))
    if account is None or session is None or session.session_epoch < account.session_epoch:
        raise SessionOver
    return replace(caller, session_epoch=session.session_epoch)


async def valid_sessions(store: Store, user_id: UUID) -> list[SessionOfUser]:
    """The person's sessions that are not over, the latest first."""
    # Read before the sessions: one that moves to the next epoch meanwhile must not look outdated.
    account = await store.get(Account.by_id(user_id))
    sessions = [] if account is None else await _sessions(store, user_id)
    valid = [
        of_user
        for of_user, session in sessions
        if account is not None and session.session_epoch >= account.session_epoch
    ]
    return sorted(valid, key=lambda session: (session.created_at, session.hash), reverse=True)


async def tidy_sessions(store: Store, user_id: UUID, epoch: int) -> None:
    """Delete the rows of sessions from before this epoch. They have ended already, so nothing depends on it."""
    over = [session for _, session in await _sessions(store, user_id) if session.session_epoch < epoch]
    await store.write_each(row for session in over for row in dropping(user_id, session.hash))


async def _sessions(store: Store, user_id: UUID) -> list[tuple[SessionOfUser, Session]]:
    listed = await store.all(SessionOfUser.all_of_user(user_id))
    sessions = await store.get_many([Session.by_hash(row.hash) for row in listed])
    return [(row, session) for row, session in zip(listed, sessions, strict=True) if session is not None]
