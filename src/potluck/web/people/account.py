"""The HTML door of people, being here: one's account, and everything one can do with it."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from potluck.people.accounts import Accounts
from potluck.people.authentication import Alongside, Principal
from potluck.people.entities import Account
from potluck.people.errors import (
    AccountGone,
    AlreadyDone,
    EmailTaken,
    NoSuchToken,
    PeopleError,
    SessionOver,
    Stale,
    StillNeeded,
    WrongPassword,
)
from potluck.people.idempotency import Asked, request_hash
from potluck.people.secrets import new_id
from potluck.people.services import People
from potluck.people.tokens import MadeToken
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Beside, Form, Line, Seen, blank, form, refused
from potluck.web.layout import page
from potluck.web.once import Made, Once
from potluck.web.people.carrying import dropped
from potluck.web.people.export import Exports
from potluck.web.people.showing import AnyRequest, lacks_https, led_on, led_out, shown_again, to_sign_in

__all__ = ["PAGES", "Desk"]

ACCOUNT = "/account"
# Keys of this page are apart from those that programs of the same person choose.
KEY = "account page "


class Name(Body):
    name: Line
    version: Seen


class Email(Body):
    email: Line
    password: Line


class Password(Body):
    current: Line
    new: Line


class NewToken(Body):
    name: Line
    key: Annotated[str, Meta(min_length=1, max_length=100)]
    """So that a page that is sent again makes no second token."""


class Leaving(Body):
    password: Line
    sure: bool = False


class Desk:
    """Shows a person their account, with the form that was just sent as it was filled in."""

    def __init__(self, people: People, door: Door) -> None:
        self.accounts = people.accounts
        self.sessions = people.sessions
        self.tokens = people.tokens
        self.door = door

    async def shown(
        self,
        request: AnyRequest,
        caller: Principal,
        *,
        status: int = 200,
        done: str = "",
        made: MadeToken | None = None,
        clash: Account | None = None,
        sent: Mapping[str, Form[Any]] | None = None,
    ) -> Template:
        account = await self.accounts.by_id(caller.user_id)
        forms: dict[str, Form[Any]] = {
            "name": blank(Name, {"name": account.name, "version": account.version}),
            "email": blank(Email),
            "password": blank(Password),
            "token": blank(NewToken),
        }
        return page(
            "people/account.html",
            caller,
            status=status,
            account=account,
            forms=forms | dict(sent or {}),
            sessions=await self.sessions.all(caller),
            tokens=await self.tokens.all(caller),
            key=str(new_id()),
            made=made,
            clash=clash,
            done=done,
            plain=lacks_https(request, self.door),
        )

    async def again(
        self,
        request: AnyRequest,
        caller: Principal,
        sent: str,
        filled: Form[Any],
        refusal: PeopleError | None,
        beside: Beside | None = None,
    ) -> Template:
        """The page once more, with what is wrong in the form that was sent."""
        must_be_here(refusal)
        again = refused(filled, refusal, beside)
        clash = refusal.current if isinstance(refusal, Stale) else None
        answer = await self.shown(request, caller, status=again.status, clash=clash, sent={sent: again.form})
        answer.headers.update(again.headers)
        return answer


def must_be_here(refusal: PeopleError | None) -> None:
    """Raise what is refused because they are nobody by now: the account is not shown to them once more."""
    if isinstance(refusal, SessionOver | AccountGone):
        raise refusal


def _done(what: str) -> Response[Any]:
    return led_on(f"{ACCOUNT}?done={what}")


@get(ACCOUNT, include_in_schema=False)
async def account(
    request: AnyRequest, visitor: Principal | None, desk: Desk, done: FromQuery[str] = ""
) -> Response[Any]:
    return to_sign_in(request) if visitor is None else await desk.shown(request, visitor, done=done)


# --- what one is known by --------------------------------------------------------------------------------------------


@post(f"{ACCOUNT}/name", include_in_schema=False)
async def rename(request: AnyRequest, caller: Principal, desk: Desk) -> Response[Any]:
    filled = await form(Name, request)
    refusal: PeopleError | None = None
    if filled.good:
        try:
            await desk.accounts.rename(caller, filled.value.name, filled.value.version)
        except PeopleError as refused_by:
            refusal = refused_by
        else:
            return _done("name")
    return await desk.again(request, caller, "name", filled, refusal)


@post(f"{ACCOUNT}/email", include_in_schema=False)
async def change_email(request: AnyRequest, caller: Principal, desk: Desk) -> Response[Any]:
    filled = await form(Email, request)
    refusal: PeopleError | None = None
    if filled.good:
        try:
            await desk.accounts.change_email(caller, filled.value.email, filled.value.password)
        except PeopleError as refused_by:
            refusal = refused_by
        else:
            return _done("email")
    return await desk.again(request, caller, "email", filled, refusal, {EmailTaken: "email", WrongPassword: "password"})


@post(f"{ACCOUNT}/password", include_in_schema=False)
async def change_password(request: AnyRequest, caller: Principal, desk: Desk) -> Response[Any]:
    filled = await form(Password, request)
    refusal: PeopleError | None = None
    if filled.good:
        try:
            await desk.accounts.change_password(caller, filled.value.current, filled.value.new)
        except PeopleError as refused_by:
            refusal = refused_by
        else:
            return _done("password")
    return await desk.again(request, caller, "password", filled, refusal, {WrongPassword: "current"})


# --- where one is signed in, and one's programs ----------------------------------------------------------------------


@post(f"{ACCOUNT}/sessions/end-others", include_in_schema=False)
async def end_others(request: AnyRequest, caller: Principal, desk: Desk) -> Response[Any]:
    await desk.sessions.end_others(caller)
    return _done("sessions")


@post(f"{ACCOUNT}/tokens", include_in_schema=False)
async def make_token(request: AnyRequest, caller: Principal, desk: Desk, once: Once) -> Response[Any]:
    """The one form that is not answered with another address: its secret is shown in no address and only now."""
    filled = await form(NewToken, request)
    if not filled.good:
        return await desk.again(request, caller, "token", filled, None)
    name = filled.value.name
    asked = Asked(caller.user_id, KEY + filled.value.key, request_hash("POST", "/account/tokens", name.encode()))
    made: list[MadeToken] = []

    async def make(alongside: Alongside[MadeToken]) -> MadeToken:
        made[:] = [await desk.tokens.make(caller, name, alongside)]
        return made[0]

    try:
        await Once(once.answers, once.store, asked)(
            make, lambda token: Made(None, token.token_id, secret=True), account_checked=True
        )
    except AlreadyDone:
        # The page was sent again, and the token is in the list.
        return await desk.shown(request, caller, done="token-before")
    except PeopleError as refused_by:
        return await desk.again(request, caller, "token", filled, refused_by)
    return await desk.shown(request, caller, made=made[0])


@post(f"{ACCOUNT}/tokens/{{token_id:str}}/revoke", include_in_schema=False)
async def revoke_token(token_id: FromPath[UUID], caller: Principal, desk: Desk) -> Response[Any]:
    try:
        await desk.tokens.revoke(caller, token_id)
    except NoSuchToken:
        # Revoked before, in another window: it is as they wish.
        return _done("token")
    return _done("token")


# --- taking along, and leaving ---------------------------------------------------------------------------------------


@post(f"{ACCOUNT}/export", include_in_schema=False, status_code=200)
async def export(caller: Principal, exports: Exports) -> Response[Any]:
    return (await exports.make(caller.user_id)).answer()


@get(f"{ACCOUNT}/delete", include_in_schema=False)
async def leaving(request: AnyRequest, visitor: Principal | None, accounts: Accounts) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    email = (await accounts.by_id(visitor.user_id)).email
    return page("people/delete.html", visitor, form=blank(Leaving), places=(), email=email)


@post(f"{ACCOUNT}/delete", include_in_schema=False)
async def leave(request: AnyRequest, caller: Principal, desk: Desk) -> Response[Any]:
    filled = await form(Leaving, request)
    refusal: PeopleError | None = None
    places: Iterable[str] = ()
    if filled.good and not filled.value.sure:
        filled = filled.refused("Tick the box to say that you are sure")
    elif filled.good:
        try:
            await desk.accounts.delete(caller, filled.value.password)
        except StillNeeded as needed:
            refusal, places = needed, needed.places
        except PeopleError as refused_by:
            must_be_here(refused_by)
            refusal = refused_by
        else:
            return led_out("/goodbye", desk.door.signed_out(request), dropped(request, desk.door))
    return shown_again(
        "people/delete.html",
        caller,
        filled,
        refusal,
        beside={WrongPassword: "password"},
        places=places,
        email=(await desk.accounts.by_id(caller.user_id)).email,
    )


@get("/goodbye", include_in_schema=False)
async def goodbye(visitor: Principal | None) -> Response[Any]:
    return page("people/goodbye.html", visitor)


PAGES: list[ControllerRouterHandler] = [
    account,
    rename,
    change_email,
    change_password,
    end_others,
    make_token,
    revoke_token,
    export,
    leaving,
    leave,
    goodbye,
]
