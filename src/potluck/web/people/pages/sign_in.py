"""Pages for coming and going: signing up, in and out, a forgotten password."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Struct

from potluck.people.default_names import name_in
from potluck.people.entities import Session
from potluck.people.errors import AccountDisabled, AccountWaiting, InvitationInvalid, WrongCredentials
from potluck.people.fields import NameOrBlank
from potluck.people.invitations import POTLUCK
from potluck.people.sessions import OpenedSession, dropping
from potluck.validation.field_types import Text
from potluck.web.access import Anyone
from potluck.web.actions import Actions, Show
from potluck.web.cookies import SESSION
from potluck.web.inputs import UNSET
from potluck.web.invitations import CARRIED_INVITATION
from potluck.web.people.access import Newcomer, must_manage_account
from potluck.web.people.accounts import NewAccount, register
from potluck.web.people.pages.account import redirect_out
from potluck.web.people.password_resets import PasswordChoice, choose_password, password_resets
from potluck.web.people.sessions import Credentials, sign_in
from potluck.web.redirects import address_here
from potluck.web.writes import Writes

INVITATION = "/invitation"

Address = Annotated[str, Text(0, 2000, kind="raw")]


class SignUpForm(NewAccount):
    name: NameOrBlank = ""
    """Left blank, it is the part of the address before the @."""
    next: Address = ""


class SignInForm(Credentials):
    next: Address = ""


class SignedInHere(Struct, frozen=True, kw_only=True):
    """A session that begins in this browser, and where it leads."""

    session: OpenedSession | None
    """None for someone who has to wait for approval."""
    to: str
    invitation: str | None = None
    """The secret of the invitation that they registered with, if it is to a place."""


front: Actions[Any] = Actions(Anyone, page="")


# --- signing up -------------------------------------------------------------------------------------------------------


@front.page("/sign-up", "people/sign_up.html")
async def sign_up_page(at: Anyone, show: Show) -> Any:
    next, registration = show.query.get("next", ""), at.core.settings.registration
    if at.principal is not None and show.refusal is None:
        return show.redirect(address_here(next))
    if not at.core.settings.passwords:
        return show.redirect(f"/sign-in?next={quote(address_here(next, ''))}")
    if registration == "closed" and show.refusal is None:
        return show.template("people/closed.html", {})
    invitation_missing = registration == "invited" and not CARRIED_INVITATION.value(at.visitor)
    return {
        "form": show.form(SignUpForm, {"next": address_here(next, "")}),
        "invited": invitation_missing or isinstance(show.refusal, InvitationInvalid),
        "registration": registration,
        "plain": at.visitor.lacks_https,
    }


@front.form(
    "/sign-up",
    on=sign_up_page,
    then=lambda _, answer: answer.to,
    sets={SESSION: "session", CARRIED_INVITATION: "invitation"},
)
async def sign_up(at: Newcomer, sent: SignUpForm) -> Writes[SignedInHere]:
    secret = sent.invitation or CARRIED_INVITATION.value(at.visitor)
    name = sent.name or name_in(sent.email)
    writes = await register(
        at, NewAccount(email=sent.email, password=sent.password, name=name, invitation=secret or UNSET)
    )
    account = writes.answer
    if account.token is None or account.token_expires_at is None:
        return writes.answering(SignedInHere(session=None, to="/sign-in?done=waiting"))
    session = OpenedSession(user_id=account.user_id, secret=account.token, expires_at=account.token_expires_at)
    if secret and await leads_to_a_place(at, secret):
        return writes.answering(SignedInHere(session=session, to=INVITATION, invitation=secret))
    return writes.answering(SignedInHere(session=session, to=address_here(sent.next)))


async def leads_to_a_place(at: Newcomer, secret: str) -> bool:
    """Whether this invitation is to a place in an app, and not to Potluck alone."""
    try:
        return (await at.core.people.invitations.look(secret)).app != POTLUCK
    except InvitationInvalid:
        return False


# --- signing in and out -----------------------------------------------------------------------------------------------


@front.page("/sign-in", "people/sign_in.html")
async def sign_in_page(at: Anyone, show: Show) -> Any:
    next = show.query.get("next", "")
    if at.principal is not None and show.refusal is None:
        return show.redirect(address_here(next))
    return {
        "form": show.form(SignInForm, {"next": address_here(next, "")}),
        "registration": at.core.settings.registration,
        "plain": at.visitor.lacks_https,
        "done": show.query.get("done", ""),
        "provider_name": None if at.core.people.provider is None else at.core.people.provider.name,
        "passwords": at.core.settings.passwords,
    }


@front.form(
    "/sign-in",
    on=sign_in_page,
    # Elsewhere a 401 means that the page cannot be shown.
    instead={WrongCredentials: sign_in_page, AccountWaiting: sign_in_page, AccountDisabled: sign_in_page},
    then=lambda _, answer: answer.to,
    sets={SESSION: "session"},
    frees_room=True,
)
async def sign_in_here(at: Newcomer, sent: SignInForm) -> Writes[SignedInHere]:
    writes = await sign_in(at, sent)
    token, user_id = writes.answer, writes.of
    assert user_id is not None
    session = OpenedSession(user_id=user_id, secret=token.token, expires_at=token.expires_at)
    return writes.answering(SignedInHere(session=session, to=address_here(sent.next)))


@front.form(
    "/sign-out", then=lambda _, address: redirect_out(address), drops=(SESSION, CARRIED_INVITATION), frees_room=True
)
async def sign_out_here(at: Anyone) -> Writes[str]:
    if at.principal is None:
        return Writes("/")
    must_manage_account(at.principal)
    session = None if at.core.people.provider is None else await at.store.get(Session.by_hash(at.principal.hash))
    # Someone who signed in at the provider may want to sign out there too.
    address = "/" if session is None or not session.by_provider else "/signed-out"
    return Writes(address, *dropping(at.principal.user_id, at.principal.hash))


# --- a forgotten password ---------------------------------------------------------------------------------------------


@front.page("/forgotten", "people/forgotten.html")
async def forgotten_page(at: Anyone) -> dict[str, Any]:
    return {}


@password_resets.page("", "people/reset.html")
async def reset_page(at: Anyone, show: Show) -> dict[str, Any]:
    return {"form": show.form(PasswordChoice)}


# Every session of theirs is over, also the one of this browser.
password_resets.form("", on=reset_page, then="/sign-in?done=reset", drops=SESSION)(choose_password)
