"""Accounts by the API: registering, one's name, e-mail and password, exporting, deleting."""

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct
from starlette.responses import Response

from potluck.people.accounts import Registered
from potluck.people.entities import Account
from potluck.people.errors import Stale
from potluck.people.fields import AnyPassword, Email, Name, NewPassword, Secret
from potluck.web.access import Nobody, SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.errors import (
    EMAIL_TAKEN,
    EXPIRED,
    REGISTRATION_CLOSED,
    STILL_NEEDED,
    THROTTLED,
    TOKEN_CANNOT,
    WRONG_PASSWORD,
    Conflict,
)
from potluck.web.http.sealed_cookies import session_cookie
from potluck.web.inputs import UNSET, Edit, Input, Unset
from potluck.web.people.context import PeopleContext
from potluck.web.people.export import ZIP
from potluck.web.views import View
from potluck.web.writes import Writes

PEOPLE = "People"


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
    """Whether every API token ends as well: whoever got in by the old password may have made one."""


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
    name: str
    version: int
    created_at: datetime


class AccountMade(Struct, rename="camel", frozen=True, kw_only=True):
    user_id: UUID
    email: str
    name: str
    token: str
    """Shown once: the session that the new account begins with."""
    token_expires_at: datetime


accounts: Actions[Any] = Actions(Nobody, api="/accounts", tag=PEOPLE)
me = Actions(SignedIn, view=Me, api="/me", tag=PEOPLE)


@accounts.create(EMAIL_TAKEN, REGISTRATION_CLOSED, EXPIRED, THROTTLED, secret=True)
async def register(at: Nobody, new: NewAccount) -> Writes[AccountMade]:
    """Register, and be signed in."""

    def keep(made: Registered) -> Any:
        user_id = made.account.user_id
        return at.keeping(_account_made(made), user_id, of=user_id, account_checked=True)

    made = await at.core.people.accounts.register(
        new.email,
        new.password,
        new.name,
        client=at.visitor.client,
        invitation=new.invitation or None,
        also=keep,
    )
    return Writes(_account_made(made), made=made.account.user_id)


def _account_made(made: Registered) -> AccountMade:
    return AccountMade(
        user_id=made.account.user_id,
        email=made.account.email,
        name=made.account.name,
        token=made.session.secret,
        token_expires_at=made.session.expires_at,
    )


@me.read()
async def who_is_calling(at: SignedIn) -> Account:
    """Who is calling."""
    return await at.core.people.accounts.by_id(at.principal.user_id)


@me.change(TOKEN_CANNOT)
async def change_me(at: SignedIn, change: MeChange) -> Writes[Account]:
    """Change one's name."""
    assert at.seen is not None
    try:
        account = await at.core.people.accounts.rename(
            at.principal,
            change.name or None,
            at.seen,
            also=lambda renamed: at.keeping(renamed, account_checked=True),
        )
    except Stale as stale:
        raise Conflict(current=stale.current) from stale
    return Writes(account)


@me.action("PUT", "/password", TOKEN_CANNOT, WRONG_PASSWORD, THROTTLED, frees_room=True)
async def change_password(at: SignedIn, change: PasswordChange) -> Writes[PasswordChanged]:
    """Change one's password. Every other session is over, and every API token unless `endTokens` is false."""
    left = await at.core.people.accounts.change_password(
        at.principal,
        change.current,
        change.new,
        end_tokens=change.end_tokens,
        also=lambda left: at.keeping(PasswordChanged(tokens_left=left), account_checked=True),
    )
    return Writes(PasswordChanged(tokens_left=left))


@me.action("PUT", "/email", TOKEN_CANNOT, WRONG_PASSWORD, EMAIL_TAKEN, THROTTLED)
async def change_email(at: SignedIn, change: EmailChange) -> Writes[Account]:
    """Change one's e-mail address. Every other session is over."""
    account = await at.core.people.accounts.change_email(
        at.principal,
        change.email,
        change.password,
        also=lambda changed: at.keeping(changed, account_checked=True),
    )
    return Writes(account)


@me.read("/export", THROTTLED, media_type=ZIP, tagged=False)
async def export(at: SignedIn) -> Response:
    """Everything that is the caller's, as a zip: a manifest, lossless JSON for each app, and its tables as CSV."""
    context: PeopleContext = at.context
    return (await context.exports.make(at.principal.user_id)).response()


# Nothing is kept under an Idempotency-Key: that would be a row of somebody who is gone.
@me.action("POST", "/delete", TOKEN_CANNOT, WRONG_PASSWORD, STILL_NEEDED, THROTTLED, idempotent=False, frees_room=True)
async def leave(at: SignedIn, confirmation: Confirmation) -> Writes[None]:
    """Delete the account and everything that only it owns."""
    await at.core.people.accounts.delete(at.principal, confirmation.password)
    return Writes(None, headers=forget_cookie(at.visitor))


def forget_cookie(visitor: Visitor) -> dict[str, str]:
    """The header by which a browser forgets its session; a program with a token has none."""
    if not visitor.by_cookie:
        return {}
    return {"set-cookie": session_cookie("", secure=visitor.origin.startswith("https://")).header}
