"""Accounts: registering, changing name, e-mail address and password, exporting, deleting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from potluck.people.authentication import Also, Principal, nothing_else
from potluck.people.email_addresses import changing_address, claiming_address, releasing_address
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import Account, Departure, EverythingOfUser, IdempotentAnswer
from potluck.people.errors import (
    AccountGone,
    EmailTaken,
    InvitationInvalid,
    RegistrationClosed,
    Stale,
    StillNeeded,
    WrongPassword,
)
from potluck.people.invitations import claiming, withdrawing
from potluck.people.passwords import Passwords
from potluck.people.resets import dropping_reset, ending_resets
from potluck.people.secrets import Random, new_id, system_random
from potluck.people.sessions import (
    ATTEMPTS,
    OpenedSession,
    Sessions,
    continued,
    continuing,
    dropping,
    next_epoch,
    opening,
)
from potluck.people.throttling import PASSWORD_CHECKS, REGISTRATIONS, SIGN_INS_TO, Throttles
from potluck.people.tokens import dropping_token, tidy_tokens, valid_tokens
from potluck.people.validation import all_valid, checked_email, checked_name, checked_password
from potluck.store import Clock, Store
from potluck.table import (
    ConditionFailed,
    NotFound,
    OutcomeUnknown,
    Unavailable,
    VersionConflict,
    WriteRefused,
    absent,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.operations import Operation

log = logging.getLogger("potluck.people")

Registration = Literal["open", "invited", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A new account, and its owner signed in."""

    account: Account
    session: OpenedSession


class ExportedSession(Struct, rename="camel", frozen=True, kw_only=True):
    """A session, without its secret."""

    created_at: datetime
    expires_at: datetime


class ExportedToken(Struct, rename="camel", frozen=True, kw_only=True):
    """An API token, without its secret."""

    token_id: UUID
    name: str
    created_at: datetime


class ExportedInvitation(Struct, rename="camel", frozen=True, kw_only=True):
    """An open invitation, without its secret."""

    invitation_id: UUID
    app: str
    place: str
    expires_at: datetime


class AccountExport(Struct, rename="camel", frozen=True, kw_only=True):
    """Everything that is stored here about a person, except the hashes of their secrets."""

    user_id: UUID
    email: str
    name: str
    version: int
    created_at: datetime
    updated_at: datetime
    sessions: list[ExportedSession]
    api_tokens: list[ExportedToken]
    invitations: list[ExportedInvitation]


async def nobody_needs_them(user_id: UUID) -> list[str]:
    """The default: no place depends on the person."""
    return []


async def nothing_to_forget(user_id: UUID) -> None:
    """The default: apps have nothing to forget."""


class Accounts:
    """Every account, and what its owner may do with it.

    The assembly says what an account means to the apps: `still_needed` names the places that only this person looks
    after, and `forget` removes what is theirs there. The indexes it uses may be behind by `indexes_lag`.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        passwords: Passwords,
        throttles: Throttles,
        sessions: Sessions,
        registration: Registration = "open",
        *,
        still_needed: Callable[[UUID], Awaitable[list[str]]] = nobody_needs_them,
        forget: Callable[[UUID], Awaitable[None]] = nothing_to_forget,
        indexes_lag: timedelta = timedelta(0),
        random: Random = system_random,
    ) -> None:
        self._store = store
        self._clock = clock
        self._passwords = passwords
        self._throttles = throttles
        self._sessions = sessions
        self.registration = registration
        self._still_needed = still_needed
        self._forget = forget
        self._indexes_lag = indexes_lag
        self._random = random

    # --- registering --------------------------------------------------------------------------------------------

    async def register(
        self,
        email: str,
        password: str,
        name: str,
        *,
        client: str | None = None,
        invitation: str | None = None,
        also: Also[Registered] = nothing_else,
    ) -> Registered:
        """A new account; if several people register the same address at once, one of them gets it.

        If only invited people may register, the invitation is reserved for them, and still has to be accepted.
        """
        if self.registration == "closed" or (self.registration == "invited" and invitation is None):
            raise RegistrationClosed(invitation_needed=self.registration == "invited")
        email, password, name = all_valid(checked_email(email), checked_password(password), checked_name(name))
        if client is not None:
            await self._throttles.attempt(REGISTRATIONS, client)
        user_id = new_id(self._random)
        claim: list[Operation] = []
        if self.registration == "invited" and invitation is not None:
            claim = await claiming(self._store, invitation, user_id)
        now = self._now()
        account = Account(
            user_id=user_id,
            email=email,
            name=name,
            password_hash=await self._passwords.hash(password, client),
            created_at=now,
            updated_at=now,
        )
        session, rows = opening(user_id, account.session_epoch, now, self._random)
        registered = Registered(account=account, session=session)
        address = claiming_address(email, user_id)
        try:
            await self._store.transact(*address, put(account, when=absent), *rows, *claim, *also(registered))
        except WriteRefused as refusal:
            if refusal.operation in address:
                raise EmailTaken from refusal
            if claim and refusal.operation is claim[0]:
                raise InvitationInvalid from refusal
            raise
        return registered

    # --- looking up, changing -----------------------------------------------------------------------------------

    async def by_id(self, user_id: UUID) -> Account:
        """The account, read consistently."""
        account = await self._store.get(Account.by_id(user_id))
        if account is None:
            raise AccountGone
        return account

    async def rename(
        self, caller: Principal, name: str | None, version: int, also: Also[Account] = nothing_else
    ) -> Account:
        """Change the name, if the account still has this version; the same name, or None, changes nothing."""
        caller.must_manage_account()
        if name is not None:
            (name,) = all_valid(checked_name(name))
        account = await self.by_id(caller.user_id)
        if account.version != version:
            raise Stale(account)
        if name is None or account.name == name:
            return account
        now = self._now()
        renamed = replace(account, name=name, updated_at=now, version=version + 1)
        change = update(account, the(Account.name).becomes(name), the(Account.updated_at).becomes(now))
        try:
            await self._store.transact(change, *also(renamed))
        except (VersionConflict, NotFound) as refusal:
            if refusal.position != 0:
                raise
            raise (Stale(refusal.current) if refusal.current is not None else AccountGone()) from refusal
        return renamed

    async def change_email(
        self, caller: Principal, email: str, password: str, also: Also[Account] = nothing_else
    ) -> Account:
        """Change the address, if no other account has it; the old one is free at once, and every other session ends."""
        caller.must_manage_account()
        (email,) = all_valid(checked_email(email))
        account = await self._confirmed(caller, password)
        for _ in range(ATTEMPTS):
            if account.email == email:
                return account
            now = self._now()
            epoch = caller.session_epoch + 1
            moved = replace(account, email=email, updated_at=now, session_epoch=epoch, version=account.version + 1)
            change = [
                update(
                    account,
                    the(Account.email).becomes(email),
                    the(Account.updated_at).becomes(now),
                    the(Account.session_epoch).becomes(epoch),
                    when=the(Account.session_epoch) == caller.session_epoch,
                ),
                continuing(caller),
            ]
            claims, releases = await changing_address(self._store, account, email)
            try:
                await self._store.transact(*change, *claims, *releases, *also(moved))
            except WriteRefused as refusal:
                if refusal.operation in claims:
                    raise EmailTaken from refusal
                if refusal.position not in (0, 1) and refusal.operation not in releases:
                    raise
                caller, account = await self._again(caller, account, password)
                continue
            await self._sessions.tidy(caller.user_id, epoch)
            return moved
        raise Unavailable("change of e-mail: the account was changed again and again")

    async def change_password(
        self, caller: Principal, current: str, new: str, *, end_tokens: bool = True, also: Also[int] = nothing_else
    ) -> int:
        """Change the password. Every other session ends at once, and so does every password reset link.

        API tokens end as well, unless they are to stay: whoever got in with the old password may have made one.
        Returns how many remain.
        """
        caller.must_manage_account()
        (new,) = all_valid(checked_password(new, "new"))
        account = await self._confirmed(caller, current)
        password_hash = await self._passwords.hash(new)
        for _ in range(ATTEMPTS):
            resets = await ending_resets(self._store, caller.user_id)
            epoch = caller.session_epoch + 1
            left = 0 if end_tokens else len(await valid_tokens(self._store, account))
            change = next_epoch(
                caller,
                the(Account.password_hash).becomes(password_hash),
                the(Account.updated_at).becomes(self._now()),
                *([the(Account.tokens_since).becomes(epoch)] if end_tokens else ()),
            )
            try:
                await self._store.transact(*change, *resets, *also(left))
            except (ConditionFailed, NotFound) as refusal:
                if refusal.position not in (0, 1):
                    raise
                caller, account = await self._again(caller, account, current)
                continue
            await self._sessions.tidy(caller.user_id, epoch)
            if end_tokens:
                await tidy_tokens(self._store, caller.user_id, epoch)
            return left
        raise Unavailable("change of password: the account was changed again and again")

    # --- exporting, deleting ------------------------------------------------------------------------------------

    async def export(self, user_id: UUID) -> AccountExport:
        """What is stored here about the person, by one query."""
        everything = await self._everything(user_id)
        account = everything.account
        if account is None:
            raise AccountGone
        return AccountExport(
            user_id=account.user_id,
            email=account.email,
            name=account.name,
            version=account.version,
            created_at=account.created_at,
            updated_at=account.updated_at,
            sessions=[
                ExportedSession(created_at=each.created_at, expires_at=_time(each.ttl)) for each in everything.sessions
            ],
            api_tokens=[
                ExportedToken(token_id=each.token_id, name=each.name, created_at=each.created_at)
                for each in everything.api_tokens
                if each.session_epoch >= account.tokens_since
            ],
            invitations=[
                ExportedInvitation(
                    invitation_id=each.invitation_id, app=each.app, place=each.place, expires_at=_time(each.ttl)
                )
                for each in everything.invitations
            ],
        )

    async def delete(self, caller: Principal, password: str) -> None:
        """Delete the account and everything that is only theirs; StillNeeded if a place would have nobody left.

        Almost everything is deleted before the account itself, so that after an interruption the person is still
        signed in and can try again.
        """
        caller.must_manage_account()
        account = await self._confirmed(caller, password)
        places = await self._still_needed(caller.user_id)
        if places:
            raise StillNeeded(places)
        await self._store.write_each(_belongings(await self._everything(caller.user_id), but_session=caller.hash))
        await self._forget(caller.user_id)
        for _ in range(ATTEMPTS):
            try:
                await self._store.transact(
                    delete(account, when=present),
                    *await releasing_address(self._store, account),
                    put(Departure(user_id=account.user_id)),
                )
                break
            except WriteRefused:
                account = await self.by_id(caller.user_id)
        else:
            raise Unavailable("deletion: the account was changed again and again")
        try:
            await self._store.write_each(
                [
                    self._throttles.forgetting(SIGN_INS_TO, normal_email(account.email)),
                    self._throttles.forgetting(PASSWORD_CHECKS, str(caller.user_id)),
                ]
            )
            # Until the indexes that apps find their rows by are up to date.
            await asyncio.sleep(self._indexes_lag.total_seconds())
            # Even if the Departure is gone: a worker that started meanwhile may have removed it too early.
            await self._finish(caller.user_id)
            await self.finish_departures()
        except (Unavailable, OutcomeUnknown):
            # The account is deleted, as requested. Rows that were written meanwhile are removed with the next deletion,
            # or when the suite starts again.
            return

    async def finish_departures(self) -> None:
        """Remove rows that were written for people while their accounts were being deleted.

        No more can follow: whoever writes for a person checks in the same transaction that the account exists.
        """
        for departure in await self._store.all(Departure.all_unfinished()):
            try:
                await self._finish(departure.user_id)
            except Exception:
                # It stays and is retried later; it must not hold up others, nor the start of the suite.
                log.exception("something is left of somebody who left")

    async def _finish(self, user_id: UUID) -> None:
        await self._forget(user_id)
        await self._store.write_each(_belongings(await self._everything(user_id)))
        await self._store.delete(Departure(user_id=user_id))

    # --- shared -------------------------------------------------------------------------------------------------

    async def _confirmed(self, caller: Principal, password: str) -> Account:
        """The account, if this is its password; guesses are throttled although the person is signed in."""
        account = await self.by_id(caller.user_id)
        await self._throttles.attempt(PASSWORD_CHECKS, str(caller.user_id))
        if not await self._passwords.verify(password, account.password_hash):
            raise WrongPassword
        return account

    async def _again(self, caller: Principal, account: Account, password: str) -> tuple[Principal, Account]:
        """Both read again after a conflicting change; SessionOver or WrongPassword if that is what changed."""
        caller = await continued(self._store, caller)
        found = await self.by_id(caller.user_id)
        same = found.password_hash == account.password_hash
        if not same and not await self._passwords.verify(password, found.password_hash):
            raise WrongPassword
        return caller, found

    async def _everything(self, user_id: UUID) -> EverythingOfUser:
        everything = await self._store.gather(EverythingOfUser.of(user_id))
        assert everything is not None
        return everything

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def _belongings(everything: EverythingOfUser, but_session: str | None = None) -> list[Operation]:
    """Deletes all rows of theirs except the account and its address."""
    rows: list[Operation] = []
    for session in everything.sessions:
        if session.hash != but_session:
            rows += dropping(session.user_id, session.hash)
    for token in everything.api_tokens:
        rows += dropping_token(token)
    for reset in everything.password_resets:
        rows += dropping_reset(reset)
    for invitation in everything.invitations:
        rows += withdrawing(invitation)
    for answer in everything.answers:
        rows += [delete(IdempotentAnswer.by_key(answer.caller, answer.key)), delete(answer)]
    return rows


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
