"""Pages for coming and going: signing up, in and out, a forgotten password, an invitation."""

import re
from datetime import UTC, datetime
from typing import Annotated

from starlette.responses import Response

from potluck.people.errors import (
    EmailTaken,
    InvitationInvalid,
    RegistrationClosed,
    ResetInvalid,
)
from potluck.people.fields import Secret
from potluck.people.invitations import POTLUCK
from potluck.validation.errors import Refusal
from potluck.validation.field_types import Text
from potluck.web.endpoints import Call, Endpoints
from potluck.web.forms import blank
from potluck.web.http.clients import lacks_https
from potluck.web.http.responses import Cookie, redirect
from potluck.web.inputs import Input
from potluck.web.people.accounts import NewAccount
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitation_cookie import carried_invitation, carry_invitation, drop_invitation
from potluck.web.people.sessions import Credentials, PasswordChoice

INVITATION = "/invitation"

# A path of this site: "//host" and "/\host" are other sites to a browser.
HERE = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")
Address = Annotated[str, Text(0, 2000)]


class SignUp(NewAccount):
    next: Address = ""


class SignInForm(Credentials):
    next: Address = ""


class Held(Input):
    invitation: Secret


sign_in_pages = Endpoints()


def address_here(address: str, otherwise: str = "/") -> str:
    """The address, if it is a path on this site; prevents open redirects."""
    return address if HERE.fullmatch(address) else otherwise


def redirect_out(address: str, *cookies: Cookie) -> Response:
    """A redirect for somebody who has just left, which also clears what our pages stored in the browser."""
    return redirect(address, *cookies, headers={"clear-site-data": '"storage"'})


# --- signing up -------------------------------------------------------------------------------------------------------


@sign_in_pages.get("/sign-up")
async def sign_up(call: Call) -> Response:
    next = call.query.get("next", "")
    if call.principal is not None:
        return redirect(address_here(next))
    if call.core.people.accounts.registration == "closed":
        return call.page("people/closed.html")
    return call.page(
        "people/sign_up.html",
        form=blank(SignUp, {"next": address_here(next, "")}),
        invited=_needs_invitation(call),
        plain=lacks_https(call.visitor.origin),
    )


@sign_in_pages.post("/sign-up")
async def register(call: Call) -> Response:
    filled = await call.form(SignUp)
    refusal: Refusal | None = None
    if filled.is_valid:
        given = filled.value
        secret = given.invitation or carried_invitation(call)
        try:
            call.core.storage_quota.must_have_room(stranger=True)
            made = await call.core.people.accounts.register(
                given.email, given.password, given.name, client=call.visitor.client, invitation=secret or None
            )
        except Refusal as error:
            refusal = error
        else:
            cookies = call.begin_session(made.session)
            if secret and await _leads_to_a_place(call, secret):
                return redirect(INVITATION, *cookies, *carry_invitation(call, secret))
            return redirect(address_here(given.next), *cookies)
    fields = {EmailTaken: "email", InvitationInvalid: "invitation", RegistrationClosed: "invitation"}
    return call.again(
        "people/sign_up.html",
        filled,
        refusal,
        fields.get(type(refusal)),
        invited=_needs_invitation(call) or isinstance(refusal, InvitationInvalid),
        plain=lacks_https(call.visitor.origin),
    )


def _needs_invitation(call: Call) -> bool:
    """Whether the form has to ask for an invitation: one is required, and this browser has none."""
    return call.core.people.accounts.registration == "invited" and not carried_invitation(call)


async def _leads_to_a_place(call: Call, secret: str) -> bool:
    try:
        return (await call.core.people.invitations.look(secret)).app != POTLUCK
    except InvitationInvalid:
        return False


# --- signing in and out -----------------------------------------------------------------------------------------------


@sign_in_pages.get("/sign-in")
async def sign_in(call: Call) -> Response:
    next = call.query.get("next", "")
    if call.principal is not None:
        return redirect(address_here(next))
    return call.page(
        "people/sign_in.html",
        form=blank(SignInForm, {"next": address_here(next, "")}),
        registration=call.core.people.accounts.registration,
        plain=lacks_https(call.visitor.origin),
        done=call.query.get("done", ""),
    )


@sign_in_pages.post("/sign-in")
async def open_session(call: Call) -> Response:
    filled = await call.form(SignInForm)
    refusal: Refusal | None = None
    if filled.is_valid:
        given = filled.value
        try:
            opened = await call.core.people.sessions.open(given.email, given.password, call.visitor.client)
        except Refusal as error:
            refusal = error
        else:
            return redirect(address_here(given.next), *call.begin_session(opened))
    return call.again(
        "people/sign_in.html",
        filled,
        refusal,
        registration=call.core.people.accounts.registration,
        plain=lacks_https(call.visitor.origin),
        done="",
    )


@sign_in_pages.post("/sign-out")
async def sign_out(call: Call) -> Response:
    if call.principal is not None:
        await call.core.people.sessions.end(call.principal)
    return redirect_out("/", call.authentication.signed_out(call.request), *drop_invitation(call))


# --- a forgotten password ---------------------------------------------------------------------------------------------


@sign_in_pages.get("/forgotten")
async def forgotten(call: Call) -> Response:
    return call.page("people/forgotten.html")


@sign_in_pages.get("/reset")
async def reset(call: Call) -> Response:
    return call.page("people/reset.html", form=blank(PasswordChoice))


@sign_in_pages.post("/reset")
async def redeem(call: Call) -> Response:
    filled = await call.form(PasswordChoice)
    refusal: Refusal | None = None
    if filled.is_valid:
        try:
            await call.core.people.resets.redeem(filled.value.token, filled.value.new)
        except Refusal as error:
            refusal = error
        else:
            # Every session of theirs is over, also the one of this browser.
            return redirect("/sign-in?done=reset", call.authentication.signed_out(call.request))
    return call.again("people/reset.html", filled, refusal, "token" if isinstance(refusal, ResetInvalid) else None)


# --- an invitation ----------------------------------------------------------------------------------------------------


@sign_in_pages.get(INVITATION)
async def invitation(call: Call) -> Response:
    """What the invitation in the cookie is to; without one, a form to enter one."""
    context: PeopleContext = call.context
    try:
        found = await call.core.people.invitations.look(carried_invitation(call))
    except InvitationInvalid:
        # There is none, or it was used up or withdrawn meanwhile: there is a field for another.
        return call.page("people/invitation.html", form=blank(Held), invitation=None)
    return call.page(
        "people/invitation.html",
        invitation=found,
        place=await context.place_name(found.app, found.place),
        role=context.role_in_words(found.app, found.role),
        invited_by=await call.core.people.invitations.inviter(found),
        own=call.principal is not None and call.principal.user_id == found.invited_by,
        until=datetime.fromtimestamp(found.ttl, UTC),
        potluck=POTLUCK,
        registration=call.core.people.accounts.registration,
    )


@sign_in_pages.post(INVITATION)
async def hold(call: Call) -> Response:
    filled = await call.form(Held)
    refusal: Refusal | None = None
    if filled.is_valid:
        secret = filled.value.invitation
        try:
            await call.core.people.invitations.look(secret)
        except Refusal as error:
            refusal = error
        else:
            return redirect(INVITATION, *carry_invitation(call, secret))
    field = "invitation" if isinstance(refusal, InvitationInvalid) else None
    return call.again("people/invitation.html", filled, refusal, field, invitation=None)
