"""What an account means here: its export, and what is deleted with it, also in every app."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from msgspec import Struct

from potluck.people.email_normal_form import normal_email
from potluck.people.entities import (
    Account,
    ApiTokenOfUser,
    Departure,
    EverythingOfUser,
    IdempotentAnswer,
    IdentityOfUser,
    InvitationOfUser,
    SessionOfUser,
)
from potluck.people.errors import AccountGone
from potluck.people.identities import unlinking
from potluck.people.invitations import withdrawing
from potluck.people.resets import dropping_reset
from potluck.people.sessions import dropping
from potluck.people.throttling import PASSWORD_CHECKS, SIGN_INS_TO
from potluck.people.tokens import dropping_token
from potluck.table import delete
from potluck.table.operations import Operation
from potluck.web.views import View, computed

if TYPE_CHECKING:
    from potluck.web.app import App, Core

log = logging.getLogger("potluck.people")


class AccountRow(View[Account], without=("password_hash", "session_epoch", "tokens_since")):
    """The account itself, without the hash of its password."""


class SessionRow(View[SessionOfUser], without=("user_id", "hash", "ttl")):
    """A session, without its secret."""

    @computed
    def expires_at(session: SessionOfUser) -> datetime:
        return datetime.fromtimestamp(session.ttl, UTC)


class TokenRow(View[ApiTokenOfUser], without=("user_id", "hash", "session_epoch")):
    """An API token, without its secret."""


class IdentityRow(View[IdentityOfUser], without=("user_id", "issuer_hash")):
    """Who they are at an identity provider."""


class InvitationRow(View[InvitationOfUser], without=("user_id", "hash", "ttl")):
    """An open invitation, without its secret."""

    @computed
    def expires_at(invitation: InvitationOfUser) -> datetime:
        return datetime.fromtimestamp(invitation.ttl, UTC)


class AccountData:
    """Exports and deletes what is stored of one person."""

    def __init__(self, core: Core, apps: Sequence[App]) -> None:
        self._core = core
        self._store = core.store
        self._apps = apps

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """What is stored here about the person, by one query; the apps' own exports have the rest."""
        everything = await self._everything(user_id)
        account = everything.account
        if account is None:
            raise AccountGone
        yield "account", AccountRow.show(account)
        for session in everything.sessions:
            yield "sessions", SessionRow.show(session)
        for token in everything.api_tokens:
            if token.session_epoch >= account.tokens_since:
                yield "apiTokens", TokenRow.show(token)
        for identity in everything.identities:
            yield "identities", IdentityRow.show(identity)
        for invitation in everything.invitations:
            yield "invitations", InvitationRow.show(invitation)

    async def still_needed(self, user_id: UUID) -> list[str]:
        """The names of the places that only this person looks after."""
        return [place for app in self._apps for place in await app.still_needed(user_id)]

    async def forget(self, user_id: UUID, but_session: str | None = None) -> None:
        """Delete everything that is only theirs, here and in every app, except what they sign in with."""
        await self._store.write_each(_belongings(await self._everything(user_id), but_session))
        for app in self._apps:
            await app.forget(user_id)

    async def finish_departure(self, account: Account) -> None:
        """Remove what was written for them while the account was being deleted.

        If this fails, the next deletion does it, or the next start of the suite.
        """
        throttles = self._core.people.throttles
        await self._store.write_each(
            [
                throttles.forgetting(SIGN_INS_TO, normal_email(account.email)),
                throttles.forgetting(PASSWORD_CHECKS, str(account.user_id)),
            ]
        )
        # Until the indexes that apps find their rows by are up to date.
        await asyncio.sleep(self._core.settings.indexes_lag_seconds)
        # Even if the Departure is gone: a worker that started meanwhile may have removed it too early.
        await self._finish(account.user_id)
        await self.finish_departures()

    async def finish_departures(self) -> None:
        """Remove rows that were written for people while their accounts were being deleted.

        No more can follow: every write for a person checks in the same transaction that the account exists.
        """
        for departure in await self._store.all(Departure.all_unfinished()):
            try:
                await self._finish(departure.user_id)
            except Exception:
                # It stays and is retried later; it must not hold up others, nor the start of the suite.
                log.exception("some data of a deleted account could not be deleted")

    async def _finish(self, user_id: UUID) -> None:
        await self.forget(user_id)
        await self._store.delete(Departure(user_id=user_id))

    async def _everything(self, user_id: UUID) -> EverythingOfUser:
        everything = await self._store.gather(EverythingOfUser.of(user_id))
        assert everything is not None
        return everything


def _belongings(everything: EverythingOfUser, but_session: str | None) -> list[Operation]:
    """Deletes all rows of theirs, except the account with its address and identities while it is there."""
    rows: list[Operation] = []
    for session in everything.sessions:
        if session.hash != but_session:
            rows += dropping(session.user_id, session.hash)
    for token in everything.api_tokens:
        rows += dropping_token(token)
    if everything.account is None:
        # Until then, they are what someone without a password signs in with.
        for identity in everything.identities:
            rows += unlinking(identity)
    for reset in everything.password_resets:
        rows += dropping_reset(reset)
    for invitation in everything.invitations:
        rows += withdrawing(invitation)
    for answer in everything.answers:
        rows += [delete(IdempotentAnswer.by_key(answer.caller, answer.key)), delete(answer)]
    return rows
