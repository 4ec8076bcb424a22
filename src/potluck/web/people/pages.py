"""The HTML door of people, coming in: sign up, sign in and out, a forgotten password, an invitation."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.params import FromQuery
from litestar.types import ControllerRouterHandler

from potluck.people.accounts import Accounts
from potluck.people.authentication import Principal
from potluck.people.errors import EmailTaken, InvitationInvalid, PeopleError, RegistrationClosed, ResetInvalid
from potluck.people.invitations import POTLUCK, Invitations
from potluck.people.resets import Resets
from potluck.people.sessions import Sessions
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Line, blank, form
from potluck.web.layout import page
from potluck.web.people import account
from potluck.web.people.carrying import carried, dropped, taken_along
from potluck.web.people.places import PlaceNames
from potluck.web.people.showing import AnyRequest, inside, lacks_https, led_on, led_out, shown_again

__all__ = ["PAGES"]

INVITED = "/invitation"


class SignUp(Body):
    name: Line
    email: Line
    password: Line
    invitation: Line = ""
    next: Line = ""


class SignIn(Body):
    email: Line
    password: Line
    next: Line = ""


class Reset(Body):
    token: Line
    new: Line


class Held(Body):
    invitation: Line


# --- signing up ------------------------------------------------------------------------------------------------------


@get("/sign-up", include_in_schema=False)
async def sign_up(
    request: AnyRequest, visitor: Principal | None, accounts: Accounts, door: Door, next: FromQuery[str] = ""
) -> Response[Any]:
    if visitor is not None:
        return led_on(inside(next))
    if accounts.registration == "closed":
        return page("people/closed.html", visitor)
    return page(
        "people/sign_up.html",
        visitor,
        form=blank(SignUp, {"next": inside(next, "")}),
        invited=_invitation_asked_for(accounts, request, door),
        plain=lacks_https(request, door),
    )


@post("/sign-up", include_in_schema=False)
async def register(
    request: AnyRequest, visitor: Principal | None, accounts: Accounts, invitations: Invitations, door: Door
) -> Response[Any]:
    filled = await form(SignUp, request)
    refusal: PeopleError | None = None
    if filled.good:
        given = filled.value
        secret = given.invitation.strip() or carried(request, door)
        try:
            made = await accounts.register(
                given.email,
                given.password,
                given.name,
                client=door.clients.client_of(request.scope),
                invitation=secret or None,
            )
        except PeopleError as refused:
            refusal = refused
        else:
            cookies = [door.signed_in(request, made.session.secret)]
            if secret and await _leads_to_a_place(invitations, secret):
                return led_on(INVITED, *cookies, taken_along(request, door, secret))
            return led_on(inside(given.next), *cookies)
    return shown_again(
        "people/sign_up.html",
        visitor,
        filled,
        refusal,
        beside={EmailTaken: "email", InvitationInvalid: "invitation", RegistrationClosed: "invitation"},
        invited=_invitation_asked_for(accounts, request, door) or isinstance(refusal, InvitationInvalid),
        plain=lacks_https(request, door),
    )


def _invitation_asked_for(accounts: Accounts, request: AnyRequest, door: Door) -> bool:
    """Whether the form has to ask for an invitation, because none is there and none can be done without."""
    return accounts.registration == "invited" and not carried(request, door)


async def _leads_to_a_place(invitations: Invitations, secret: str) -> bool:
    try:
        return (await invitations.look(secret)).app != POTLUCK
    except InvitationInvalid:
        return False


# --- signing in and out ----------------------------------------------------------------------------------------------


@get("/sign-in", include_in_schema=False)
async def sign_in(
    request: AnyRequest,
    visitor: Principal | None,
    accounts: Accounts,
    door: Door,
    next: FromQuery[str] = "",
    done: FromQuery[str] = "",
) -> Response[Any]:
    if visitor is not None:
        return led_on(inside(next))
    return page(
        "people/sign_in.html",
        visitor,
        form=blank(SignIn, {"next": inside(next, "")}),
        registration=accounts.registration,
        plain=lacks_https(request, door),
        done=done,
    )


@post("/sign-in", include_in_schema=False)
async def open_session(
    request: AnyRequest, visitor: Principal | None, accounts: Accounts, sessions: Sessions, door: Door
) -> Response[Any]:
    filled = await form(SignIn, request)
    refusal: PeopleError | None = None
    if filled.good:
        given = filled.value
        try:
            opened = await sessions.open(given.email, given.password, door.clients.client_of(request.scope))
        except PeopleError as refused:
            refusal = refused
        else:
            return led_on(inside(given.next), door.signed_in(request, opened.secret))
    return shown_again(
        "people/sign_in.html",
        visitor,
        filled,
        refusal,
        registration=accounts.registration,
        plain=lacks_https(request, door),
        done="",
    )


@post("/sign-out", include_in_schema=False)
async def sign_out(request: AnyRequest, visitor: Principal | None, sessions: Sessions, door: Door) -> Response[Any]:
    if visitor is not None:
        await sessions.end(visitor)
    return led_out("/", door.signed_out(request), dropped(request, door))


# --- a forgotten password --------------------------------------------------------------------------------------------


@get("/forgotten", include_in_schema=False)
async def forgotten(visitor: Principal | None) -> Response[Any]:
    return page("people/forgotten.html", visitor)


@get("/reset", include_in_schema=False)
async def reset(visitor: Principal | None) -> Response[Any]:
    return page("people/reset.html", visitor, form=blank(Reset))


@post("/reset", include_in_schema=False)
async def redeem(request: AnyRequest, visitor: Principal | None, resets: Resets, door: Door) -> Response[Any]:
    filled = await form(Reset, request)
    refusal: PeopleError | None = None
    if filled.good:
        try:
            await resets.redeem(filled.value.token.strip(), filled.value.new)
        except PeopleError as refused:
            refusal = refused
        else:
            # Every session is over, the one of this browser included, if it was theirs.
            return led_on("/sign-in?done=reset", door.signed_out(request))
    return shown_again("people/reset.html", visitor, filled, refusal, beside={ResetInvalid: "token"})


# --- an invitation ---------------------------------------------------------------------------------------------------


@get(INVITED, include_in_schema=False)
async def invitation(
    request: AnyRequest,
    visitor: Principal | None,
    accounts: Accounts,
    invitations: Invitations,
    places: PlaceNames,
    door: Door,
) -> Response[Any]:
    """What the invitation opens that the browser carries; without one, a form for it."""
    try:
        found = await invitations.look(carried(request, door))
    except InvitationInvalid:
        # None yet, or it was used up or withdrawn on the way: there is a field for another.
        return page("people/invitation.html", visitor, form=blank(Held), invitation=None)
    return page(
        "people/invitation.html",
        visitor,
        invitation=found,
        place=await places.name_of(found.app, found.place),
        until=datetime.fromtimestamp(found.ttl, UTC),
        potluck=POTLUCK,
        registration=accounts.registration,
    )


@post(INVITED, include_in_schema=False)
async def hold(request: AnyRequest, visitor: Principal | None, invitations: Invitations, door: Door) -> Response[Any]:
    filled = await form(Held, request)
    refusal: PeopleError | None = None
    if filled.good:
        secret = filled.value.invitation.strip()
        try:
            await invitations.look(secret)
        except PeopleError as refused:
            refusal = refused
        else:
            return led_on(INVITED, taken_along(request, door, secret))
    return shown_again(
        "people/invitation.html",
        visitor,
        filled,
        refusal,
        beside={InvitationInvalid: "invitation"},
        invitation=None,
    )


PAGES: list[ControllerRouterHandler] = [
    sign_up, register, sign_in, open_session, sign_out, forgotten, reset, redeem, invitation, hold, *account.PAGES,
]  # fmt: skip
