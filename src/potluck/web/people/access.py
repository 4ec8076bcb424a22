"""Who may do what with accounts: newcomers, people who signed in themselves, the operator.

Passwords are verified and attempts counted here, before a rule decides anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from potluck.metrics import SIGN_INS_FAILED
from potluck.people.admins import counts_as_admin
from potluck.people.authentication import Principal, must_be_active
from potluck.people.email_addresses import account_with
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import Account, EmailAddress
from potluck.people.errors import (
    AccountGone,
    ConfirmationNeeded,
    PasswordsOff,
    SignInNeeded,
    WrongCredentials,
    WrongPassword,
)
from potluck.people.fields import Email
from potluck.people.sessions import continued
from potluck.people.throttling import PASSWORD_CHECKS, SIGN_INS_FROM, SIGN_INS_FROM_TO, SIGN_INS_TO, RateLimit
from potluck.table import Ref, WriteRefused, check, the
from potluck.table.operations import Operation
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import ValidationError
from potluck.web.access import Access, Nobody, SignedIn
from potluck.web.cookies import SealedCookie
from potluck.web.errors import NotFound
from potluck.web.inputs import Input

if TYPE_CHECKING:
    from potluck.web.app import Core

CONFIRMED_SECONDS = 300
# Says that the owner of this session has just signed in again at the identity provider.
CONFIRMED = SealedCookie("potluck-confirmed", days=CONFIRMED_SECONDS / 86_400)

# Looked up for a text that is no address, so that it takes as long.
NOBODYS_EMAIL = "nobody"
IS_ADMIN = (the(Account.admin) == True) & (the(Account.status) == "active")  # noqa: E712


class AddressOnly(Input):
    """An e-mail address alone."""

    email: Email


class Newcomer(Nobody):
    """Someone who is not signed in yet, or comes with the link for a forgotten password."""

    @property
    def client(self) -> str | None:
        """The client that attempts are counted by; None for code, whose attempts are not counted."""
        return self.visitor.client if self.visitor.limited else None

    async def count(self, limit: RateLimit) -> None:
        """Count an attempt by this client, once for each request; Throttled after too many."""
        if self.client is not None and self.attempt == 0:
            await self.core.people.throttles.attempt(limit, self.client)

    async def hashed(self, password: str) -> str:
        """The hash of a new password."""
        return await self.core.people.passwords.hash(password, self.client)

    async def verified(self, email: str, password: str) -> tuple[Account, EmailAddress]:
        """The account with this address and password, and the row of the address.

        WrongCredentials if there is none, after the same work whether it is the address or the password;
        AccountWaiting or AccountDisabled if the password is right.
        """
        must_have_passwords(self.core)
        address = address_in(email)
        await self.count(SIGN_INS_FROM)
        if self.client is not None and self.attempt == 0:
            normal, throttles = normal_email(address), self.core.people.throttles
            if not await throttles.allows(SIGN_INS_TO, normal):
                await throttles.attempt(SIGN_INS_FROM_TO, f"{self.client} {normal}")
        account_and_row = await account_with(self.store, address)
        hash = None if account_and_row is None else account_and_row[0].password_hash
        if not await self.core.people.passwords.verify(password, hash, self.client) or account_and_row is None:
            SIGN_INS_FAILED.add()
            raise WrongCredentials
        # Only now: the status of an account is for those who have its password.
        must_be_active(account_and_row[0])
        return account_and_row


class AccountOwner(SignedIn):
    """Someone who signed in themselves: an API token cannot manage the account."""

    async def admit(self, *rows: Any) -> None:
        must_manage_account(self.principal)

    def checks(self) -> Sequence[Operation]:
        # A rule that makes something writes the account itself.
        return ()

    async def caller(self) -> Principal:
        """The caller, in the epoch of their session; SessionOver if another session has ended theirs."""
        return self.principal if self.attempt == 0 else await continued(self.store, self.principal)

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [SignInNeeded]


class OwnAccount(AccountOwner):
    """Someone who signed in themselves, with their account."""

    def reads(self) -> Sequence[Ref[Any]]:
        return (Account.by_id(self.principal.user_id),)

    async def admit(self, *rows: Any) -> None:
        await super().admit()
        (account,) = rows
        if account is None:
            raise AccountGone
        self.account: Account = account

    async def confirmed(self, password: str, field: str = "password") -> Principal:
        """The caller, if this is the password of their account; guesses are counted, although they are signed in.

        It is not needed for a while after a fresh sign-in at the identity provider; ConfirmationNeeded if someone
        without a password has none. `field` is where a form asks for it.
        """
        caller = await self.caller()
        if self.has_confirmed:
            return caller
        if self.account.password_hash is None:
            raise ConfirmationNeeded
        if self.attempt == 0:
            await self.core.people.throttles.attempt(PASSWORD_CHECKS, str(caller.user_id))
        if not await self.core.people.passwords.verify(password, self.account.password_hash):
            raise WrongPassword(field)
        return caller

    @property
    def has_confirmed(self) -> bool:
        """Whether they have just signed in again at the identity provider, in this session."""
        hash, _, until = CONFIRMED.value(self.visitor).partition(" ")
        return hash == self.principal.hash and self.core.clock().timestamp() < float(until)


class Admin(OwnAccount):
    """Someone who signed in themselves and is an admin; to everyone else, what admins do does not exist."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if not self.account.admin:
            raise NotFound

    def checks(self) -> Sequence[Operation]:
        return (check(Account.by_id(self.principal.user_id), when=IS_ADMIN),)

    def refuse(self, refusal: WriteRefused) -> None:
        if refusal.current is None:
            raise AccountGone from refusal
        account = cast(Account, refusal.current)
        if not counts_as_admin(account):
            raise NotFound from refusal


class WithToken(AccountOwner):
    """Someone with the id of one of their API tokens."""

    token_id: UUID


class Operator(Access):
    """The person who runs the suite, at its command line; no request is theirs."""


def must_have_passwords(core: Core) -> None:
    """PasswordsOff if the operator has turned passwords off."""
    provider = core.people.provider
    if not core.settings.passwords and provider is not None:
        raise PasswordsOff(provider.name)


def must_manage_account(principal: Principal) -> None:
    """SignInNeeded for an API token."""
    if principal.kind != "session":
        raise SignInNeeded


def address_in(text: str) -> str:
    """The typed address, trimmed; NOBODYS_EMAIL if it cannot be an address."""
    try:
        return decode_tree(AddressOnly, {"email": text}).email
    except ValidationError:
        return NOBODYS_EMAIL
