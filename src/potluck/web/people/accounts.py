"""Accounts: registering, one's name, e-mail and password, exporting, deleting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import Struct
from starlette.responses import Response

from potluck.people.admins import arrival, counts_as_admin, one_less
from potluck.people.email_addresses import changing_address, claiming_address, releasing_address
from potluck.people.entities import Account, Departure
from potluck.people.errors import (
    AccountGone,
    ConfirmationNeeded,
    EmailTaken,
    InvitationInvalid,
    OnlyAdmin,
    PasswordsOff,
    RegistrationClosed,
    StillNeeded,
    Throttled,
    TooMany,
    WrongPassword,
)
from potluck.people.fields import AnyPassword, Email, Name, NewPassword, Secret
from potluck.people.identities import identities_of, still_linked, unlinking
from potluck.people.invitations import claiming
from potluck.people.resets import ending_resets
from potluck.people.sessions import OpenedSession, continuing, next_epoch, opening, tidy_sessions
from potluck.people.throttling import REGISTRATIONS
from potluck.people.tokens import tidy_tokens, valid_tokens
from potluck.table import WriteRefused, absent, delete, present, put, the, update
from potluck.table.operations import Operation
from potluck.web.access import Access, SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.errors import Conflict
from potluck.web.http.sealed_cookies import session_cookie
from potluck.web.inputs import UNSET, Edit, Input, Unset
from potluck.web.people.access import Newcomer, Operator, OwnAccount, must_have_passwords
from potluck.web.people.context import PeopleContext
from potluck.web.people.export import ZIP
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Step, Writes, or_raise, or_retry

PEOPLE = "People"
# An admin can look through these; more would be strangers who fill the store.
MOST_WAITING = 500


class NewAccount(Input):
    email: Email
    password: NewPassword
    name: Name
    invitation: Secret | Unset = UNSET
    """The secret of an invitation, where only invited people may register."""


class MeChange(Edit[Account]):
    name: Name | Unset = UNSET


class PasswordChange(Input):
    current: AnyPassword
    new: NewPassword
    end_tokens: bool = True
    """Whether every API token ends as well: an intruder with the old password may have created one."""


class PasswordChanged(Struct, rename="camel", frozen=True, kw_only=True):
    tokens_left: int
    """How many API tokens are still good."""


class EmailChange(Input):
    email: Email
    password: AnyPassword


class Confirmation(Input):
    password: AnyPassword


class Me(View[Account]):
    user_id: UUID
    email: str
    email_verified: bool
    """Whether the identity provider has verified the address."""
    name: str
    version: int
    created_at: datetime

    @computed
    def has_password(account: Account) -> bool:
        """Whether they can sign in with a password; someone without one signs in at the identity provider."""
        return account.password_hash is not None


class AccountMade(Struct, rename="camel", frozen=True, kw_only=True):
    user_id: UUID
    email: str
    name: str
    token: str | None
    """Shown once: the session that the new account begins with; null if the account is waiting for approval."""
    token_expires_at: datetime | None


accounts: Actions[Any] = Actions(Newcomer, api="/accounts", tag=PEOPLE)
me = Actions(OwnAccount, view=Me, api="/me", page="/account", tag=PEOPLE)


@accounts.create(EmailTaken, RegistrationClosed, PasswordsOff, InvitationInvalid, TooMany, Throttled, secret=True)
async def register(at: Newcomer, new: NewAccount) -> Writes[AccountMade]:
    """Create an account and sign in. Where an admin has to approve accounts, it waits for approval."""
    must_have_passwords(at.core)
    begun = await begin_account(at, new.email, new.name, new.invitation or "", password=new.password)
    account, session = begun.account, begun.session
    answer = AccountMade(
        user_id=account.user_id,
        email=account.email,
        name=account.name,
        token=None if session is None else session.secret,
        token_expires_at=None if session is None else session.expires_at,
    )
    return Writes(answer, *begun.writes, made=account.user_id, of=account.user_id)


class BegunAccount(NamedTuple):
    """A new account with the writes that make it, and its first session, unless it waits for approval."""

    account: Account
    session: OpenedSession | None
    writes: list[Operation | Outcome]


async def begin_account(
    at: Newcomer,
    email: str,
    name: str,
    invitation: str,
    *,
    password: str | None = None,
    verified: bool = False,
) -> BegunAccount:
    """Begin an account with an address that no one has. The attempt is counted.

    RegistrationClosed if no one may register, or not without an invitation. Without a password, the person signs in at
    the identity provider; `verified`: the address is.
    """
    registration = at.core.settings.registration
    if registration == "closed" or (registration == "invited" and not invitation):
        raise RegistrationClosed(invitation_needed=registration == "invited")
    await at.count(REGISTRATIONS)
    user_id = at.new_id()
    claim: list[Outcome] = []
    if registration == "invited":
        # It is theirs from now on, and still has to be accepted.
        claim = [or_raise(write, InvitationInvalid) for write in await claiming(at.store, invitation, user_id)]
    begins = await arrival(at.store, registration)
    if begins.status == "waiting":
        await at.must_fit(Account.all_with_status("waiting"), MOST_WAITING, "accounts waiting for approval")
    active = begins.status == "active"
    account = Account(
        user_id=user_id,
        email=email,
        email_verified=verified,
        name=name,
        password_hash=None if password is None else await at.hashed(password),
        status=begins.status,
        admin=begins.admin,
        signed_in_at=at.now if active else None,
        created_at=at.now,
        updated_at=at.now,
    )
    session, rows = opening(
        user_id,
        account.session_epoch,
        at.now,
        user_agent=at.visitor.user_agent,
        by_provider=password is None,
    )
    writes: list[Operation | Outcome] = [
        *(or_raise(write, EmailTaken) for write in claiming_address(account.email, user_id)),
        put(account, when=absent),
        *(rows if active else ()),
        *claim,
        *map(or_retry, begins.operations),
    ]
    return BegunAccount(account, session if active else None, writes)


@me.read()
async def who_is_calling(at: SignedIn) -> Account:
    """Get your account."""
    account = await at.store.get(Account.by_id(at.principal.user_id))
    if account is None:
        raise AccountGone
    return account


@me.change()
async def change_me(at: OwnAccount, change: MeChange) -> Writes[Account]:
    """Change your name."""
    if at.account.version != at.seen:
        raise Conflict(current=at.account)
    return at.apply(at.account, change, refused=_changed_meanwhile)


async def _changed_meanwhile(refusal: WriteRefused) -> Exception:
    return AccountGone() if refusal.current is None else Conflict(current=refusal.current)


@me.action("PUT", "/password", WrongPassword, ConfirmationNeeded, PasswordsOff, Throttled, frees_room=True)
async def change_password(at: OwnAccount, change: PasswordChange) -> Writes[PasswordChanged]:
    """Change your password. All your other sessions end, and so do API tokens unless `endTokens` is false."""
    must_have_passwords(at.core)
    caller = await at.confirmed(change.current, "current")
    user_id, epoch = caller.user_id, caller.session_epoch + 1
    changes = [the(Account.password_hash).becomes(await at.core.people.passwords.hash(change.new))]
    if change.end_tokens:
        changes.append(the(Account.tokens_since).becomes(epoch))
    left = 0 if change.end_tokens else len(await valid_tokens(at.store, at.account))

    async def tidy() -> None:
        await tidy_sessions(at.store, user_id, epoch)
        if change.end_tokens:
            await tidy_tokens(at.store, user_id, epoch)

    return Writes(
        PasswordChanged(tokens_left=left),
        *map(or_retry, next_epoch(caller, *changes, the(Account.updated_at).becomes(at.now))),
        *await ending_resets(at.store, user_id),
        after=tidy,
    )


@me.action("PUT", "/email", WrongPassword, ConfirmationNeeded, EmailTaken, Throttled)
async def change_email(at: OwnAccount, change: EmailChange) -> Writes[Account]:
    """Change your e-mail address. All your other sessions end."""
    caller, account = await at.confirmed(change.password), at.account
    if account.email == change.email:
        return Writes(account)
    epoch = the(Account.session_epoch)
    moved, write = at.edit(
        account,
        the(Account.email).becomes(change.email),
        the(Account.email_verified).becomes(False),
        epoch.becomes(caller.session_epoch + 1),
        when=epoch == caller.session_epoch,
    )
    claims, releases = await changing_address(at.store, account, change.email)
    return Writes(
        moved,
        or_retry(write),
        or_retry(continuing(caller)),
        *(or_raise(claim, EmailTaken) for claim in claims),
        *map(or_retry, releases),
        after=lambda: tidy_sessions(at.store, account.user_id, moved.session_epoch),
    )


# No answer is stored under an Idempotency-Key: that would be a row of someone who is gone.
@me.action(
    "POST",
    "/delete",
    WrongPassword,
    ConfirmationNeeded,
    StillNeeded,
    OnlyAdmin,
    Throttled,
    idempotent=False,
    frees_room=True,
)
async def leave(at: OwnAccount, confirmation: Confirmation) -> Writes[None]:
    """Delete your account and everything that only you own."""
    caller = await at.confirmed(confirmation.password)
    context: PeopleContext = at.context
    places = await context.account_data.still_needed(at.account.user_id)
    if places:
        raise StillNeeded(places)
    # The session lasts until the account goes: after an interruption the person can try again.
    return await deleting_account(at, at.account, but_session=caller.hash, headers=forget_cookie(at.visitor))


async def deleting_account(
    at: Access, account: Account, *, but_session: str | None = None, headers: Mapping[str, str] | None = None
) -> Writes[None]:
    """Deletes an account and everything that only it owns: the account itself last, so that it can be tried again."""
    context: PeopleContext = at.context
    data = context.account_data
    counted = counts_as_admin(account)
    if counted:
        # Before anything is deleted, because it is refused for the last admin. The deletion checks that it is done.
        admin = the(Account.admin)
        resigning = update(Account.by_id(account.user_id), admin.becomes(False), when=admin == True, keep_version=True)  # noqa: E712
        fewer = one_less(last_may_go=isinstance(at, Operator))
        await at.commit(Step(or_retry(resigning), or_raise(fewer, OnlyAdmin)))
    if account.status != "waiting":
        # Someone who waits has nothing yet. What they make if they are approved meanwhile is theirs.
        await data.forget(account.user_id, but_session=but_session)
    as_read = (the(Account.admin) == (account.admin and not counted)) & (the(Account.status) == account.status)
    return Writes(
        None,
        or_retry(delete(account, when=present & as_read)),
        *map(or_retry, await releasing_address(at.store, account)),
        *map(
            or_retry,
            [
                write
                for identity in await identities_of(at.store, account.user_id)
                for write in unlinking(identity, when=still_linked(identity))
            ],
        ),
        put(Departure(user_id=account.user_id)),
        headers=headers,
        after=lambda: data.finish_departure(account),
    )


def forget_cookie(visitor: Visitor) -> dict[str, str]:
    """The header by which a browser forgets its session; a program with a token has none."""
    if not visitor.by_cookie:
        return {}
    return {"set-cookie": session_cookie("", secure=visitor.origin.startswith("https://")).header}


@me.read("/export", Throttled, media_type=ZIP, tagged=False)
async def export(at: SignedIn) -> Response:
    """Export all your data as a zip: a manifest, lossless JSON for each app, and its tables as CSV."""
    context: PeopleContext = at.context
    return (await context.exports.make(at.principal.user_id)).response()
