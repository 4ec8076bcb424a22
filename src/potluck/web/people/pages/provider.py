"""Pages of signing in with the identity provider: on the way there, coming back, and the first time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from starlette.responses import Response

from potluck.people.errors import InvitationInvalid, SignInFailed
from potluck.people.sessions import OpenedSession
from potluck.people.throttling import SIGN_INS_FROM
from potluck.validation.errors import Refusal
from potluck.web.access import Access, Anyone
from potluck.web.actions import Actions, Show
from potluck.web.cookies import SESSION
from potluck.web.direct_calls import Direct
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotSignedIn, ProblemError
from potluck.web.http.responses import redirect, with_cookies
from potluck.web.inputs import Input
from potluck.web.invitations import CARRIED_INVITATION
from potluck.web.layout import ACCOUNT
from potluck.web.people.access import CONFIRMED, Newcomer, OwnAccount
from potluck.web.people.pages.account import account_page
from potluck.web.people.pages.sign_in import (
    INVITATION,
    Address,
    SignedInHere,
    leads_to_a_place,
    sign_in_page,
)
from potluck.web.people.provider import (
    PENDING,
    SEAT,
    SEAT_SECONDS,
    Confirming,
    Linking,
    PendingSignIn,
    Proven,
    Purpose,
    Seat,
    SeatTaken,
    arrivals,
    come_in,
    confirm,
    identities,
    link,
    provider_of,
    take_seat,
    unlink,
)
from potluck.web.redirects import address_here
from potluck.web.translation import _
from potluck.web.writes import Writes

SIGN_IN, NEW_SEAT = "/sign-in", "/sign-in/new"
# It travels in a cookie, with the rest of what is under way.
LONGEST_NEXT = 1000


class BeginSignIn(Input):
    next: Address = ""


class ToProvider(Struct, frozen=True):
    """Where the browser goes next, and what it keeps meanwhile."""

    address: str
    pending: str


class BeginAgain(ProblemError, slug="sign-in-failed"):
    """A sign-in with the provider that came to nothing."""

    def __init__(self, failed: SignInFailed, pending: PendingSignIn | None) -> None:
        super().__init__(str(failed))
        self.way_in = (
            (SIGN_IN, _("Sign in")) if pending is None or pending.purpose == "sign-in" else (ACCOUNT, _("Your account"))
        )


front: Actions[Any] = Actions(Anyone, page="")
at_provider: Actions[Any] = Actions(OwnAccount, page=ACCOUNT)


# --- on the way to the provider ---------------------------------------------------------------------------------------

# The policy of our pages lets no form lead to another host, not even by a redirect. So the form is answered with a page
# that leads there.
LEAVING = "people/to_provider.html"


@front.page(None, LEAVING)
async def leaving_to_sign_in(at: Anyone, show: Show) -> Any:
    return _leaving(at, show) or show.page(sign_in_page)


@at_provider.page(None, LEAVING)
async def leaving_to_link(at: OwnAccount, show: Show) -> Any:
    return _leaving(at, show) or show.page(account_page)


def _leaving(at: Access, show: Show) -> Any:
    if not isinstance(show.done, ToProvider):
        return None
    host = urlsplit(show.done.address).hostname
    return {"address": show.done.address, "provider_name": provider_of(at.core).name, "host": host}


@front.form(f"{SIGN_IN}/provider", on=leaving_to_sign_in, then="", sets={PENDING: "pending"}, frees_room=True)
async def begin_sign_in(at: Anyone, sent: BeginSignIn) -> Writes[ToProvider]:
    return await _begun(at, "sign-in", address_here(sent.next) if len(sent.next) <= LONGEST_NEXT else "/")


@at_provider.form("/identities/link", on=leaving_to_link, then="", sets={PENDING: "pending"})
async def begin_link(at: OwnAccount, sent: Linking) -> Writes[ToProvider]:
    await at.confirmed(sent.password)
    return await _begun(at, "link", ACCOUNT)


@at_provider.form("/identities/confirm", on=leaving_to_link, then="", sets={PENDING: "pending"}, frees_room=True)
async def begin_confirmation(at: OwnAccount, sent: Confirming) -> Writes[ToProvider]:
    next = address_here(sent.next, ACCOUNT)
    return await _begun(at, "confirm", next if len(next) <= LONGEST_NEXT else ACCOUNT)


async def _begun(at: Access, purpose: Purpose, next: str) -> Writes[ToProvider]:
    authorization = await provider_of(at.core).begin(fresh=purpose == "confirm")
    pending = PendingSignIn.of(purpose, authorization, next, at.core.clock())
    return Writes(ToProvider(authorization.address, msgspec.json.encode(pending).decode()))


# --- coming back ------------------------------------------------------------------------------------------------------

callbacks = Endpoints()


# No page: what it answers is a redirect. It is reached from another site, by a link and without a form.
@callbacks.get(f"{SIGN_IN}/callback")
async def come_back(call: Call) -> Response:
    pending = PendingSignIn.held_by(call.visitor, call.core.clock())
    try:
        response = await _arrived(call, pending)
    except (Refusal, ProblemError, NotSignedIn) as refusal:
        shown = BeginAgain(refusal, pending) if isinstance(refusal, SignInFailed) else refusal
        response = call.refuse(shown)
    assert call.visitor.cookies is not None
    # Whatever came of it, it is good once.
    return with_cookies(response, PENDING.drop(call.visitor.cookies, PENDING.path))


async def _arrived(call: Call, pending: PendingSignIn | None) -> Response:
    provider, cookies = provider_of(call.core), call.visitor.cookies
    assert cookies is not None
    if pending is None:
        raise SignInFailed(provider.name)
    await call.core.people.throttles.attempt(SIGN_INS_FROM, call.visitor.client)
    since = pending.begun_at if pending.purpose == "confirm" else None
    identity = await provider.finish(
        call.query, state=pending.state, nonce=pending.nonce, verifier=pending.verifier, since=since
    )
    proven = Proven(
        issuer=identity.issuer,
        subject=identity.subject,
        name=identity.name,
        email=identity.email,
        email_verified=identity.email_verified,
    )
    rules = Direct(call.core, [arrivals], call.context)
    if pending.purpose == "link":
        await rules.do(link, call.visitor, proven)
        return redirect(f"{ACCOUNT}?done=linked")
    if pending.purpose == "confirm":
        confirmed = await rules.do(confirm, call.visitor, proven)
        return redirect(pending.next, *CONFIRMED.set(cookies, confirmed, CONFIRMED.path))
    session: OpenedSession | None = await rules.do(come_in, call.visitor, proven)
    if session is not None:
        return redirect(pending.next, *SESSION.set(cookies, session, SESSION.path))
    seat = Seat(proven, pending.next, call.core.clock().timestamp() + SEAT_SECONDS)
    return redirect(NEW_SEAT, *SEAT.set(cookies, msgspec.json.encode(seat).decode(), SEAT.path))


# --- the first time ---------------------------------------------------------------------------------------------------


@front.page("/sign-in/new", "people/new_seat.html")
async def new_seat_page(at: Anyone, show: Show) -> Any:
    seat, registration = Seat.held_by(at.visitor, at.core.clock()), at.core.settings.registration
    if at.principal is not None and show.refusal is None:
        # They signed in otherwise meanwhile. On their account page an identity is linked to the account they have.
        return show.redirect(ACCOUNT)
    if seat is None:
        return show.redirect(SIGN_IN)
    if registration == "closed" and show.refusal is None:
        return show.template("people/closed.html", {})
    proven = seat.proven
    return {
        "form": show.form(SeatTaken, {"name": proven.name, "email": proven.email}),
        "invited": (registration == "invited" and not CARRIED_INVITATION.value(at.visitor))
        or isinstance(show.refusal, InvitationInvalid),
        "provider_name": provider_of(at.core).name,
        "passwords": at.core.settings.passwords,
        "approval": registration == "approval",
    }


@front.form(
    "/sign-in/new",
    on=new_seat_page,
    then=lambda _, answer: answer.to,
    sets={SESSION: "session", CARRIED_INVITATION: "invitation"},
    drops=SEAT,
)
async def take_new_seat(at: Newcomer, sent: SeatTaken) -> Writes[SignedInHere]:
    seat = Seat.held_by(at.visitor, at.core.clock())
    if seat is None:
        raise SignInFailed(provider_of(at.core).name)
    secret = sent.invitation or CARRIED_INVITATION.value(at.visitor)
    writes = await take_seat(at, seat, SeatTaken(name=sent.name, email=sent.email, invitation=secret))
    if writes.answer is None:
        return writes.answering(SignedInHere(session=None, to=f"{SIGN_IN}?done=waiting"))
    if secret and await leads_to_a_place(at, secret):
        return writes.answering(SignedInHere(session=writes.answer, to=INVITATION, invitation=secret))
    return writes.answering(SignedInHere(session=writes.answer, to=seat.next))


# --- leaving ----------------------------------------------------------------------------------------------------------

identities.form("/unlink", on=account_page, then=f"{ACCOUNT}?done=unlinked")(unlink)


@front.page("/signed-out", "people/signed_out.html")
async def signed_out_page(at: Anyone, show: Show) -> Any:
    provider = at.core.people.provider
    if provider is None or at.principal is not None:
        return show.redirect("/")
    return {"provider_name": provider.name, "address": await provider.sign_out_address()}
