"""Pages of one's account, and everything one can do with it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from starlette.responses import Response

from potluck.people.authentication import Principal
from potluck.people.errors import (
    AccountGone,
    AlreadyDone,
    EmailTaken,
    NoSuchToken,
    SessionOver,
    Stale,
    StillNeeded,
    WrongPassword,
)
from potluck.people.idempotency import IdempotencyKey, StoredAnswer, request_hash
from potluck.people.secrets import new_id
from potluck.people.tokens import MadeToken
from potluck.validation.errors import Refusal
from potluck.validation.field_types import Text
from potluck.web.conflicts import FormConflict
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import VersionNeeded
from potluck.web.forms import Form, blank
from potluck.web.http.clients import lacks_https
from potluck.web.http.responses import redirect
from potluck.web.inputs import UNSET, Input
from potluck.web.pages import to_sign_in
from potluck.web.people.accounts import Confirmation, EmailChange, MeChange, PasswordChange
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitation_cookie import drop_invitation
from potluck.web.people.sign_in_pages import redirect_out
from potluck.web.people.tokens import NewToken, WithToken

In = TypeVar("In", bound=Input)
Fields = Mapping[type[Exception], str]
"""The field that each refusal is shown beside."""

ACCOUNT = "/account"
# Keeps the idempotency keys of this page apart from those that the person's programs choose.
KEY = "account page "


class NewTokenForm(NewToken):
    key: Annotated[str, Text(1, 100, trim=False)]
    """An idempotency key, so that a form that is sent twice makes no second token."""


class Leaving(Confirmation):
    sure: bool = False


account_pages = Endpoints()


@account_pages.get(ACCOUNT)
async def account(call: Call) -> Response:
    if call.principal is None:
        return to_sign_in(call.request)
    return await _page(call, call.principal, done=call.query.get("done", ""))


async def _page(
    call: Call,
    principal: Principal,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    done: str = "",
    made: MadeToken | None = None,
    conflict: FormConflict | None = None,
    sent: Mapping[str, Form[Any]] | None = None,
) -> Response:
    """The account, with the form that was just sent as it was filled in."""
    people = call.core.people
    account = await people.accounts.by_id(principal.user_id)
    forms: dict[str, Form[Any]] = {
        "name": blank(MeChange, {"name": account.name, "version": account.version}),
        "email": blank(EmailChange),
        # Ticked by default: a token that ended needlessly can be made again; one that an intruder made would live on.
        "password": blank(PasswordChange, {"endTokens": True}),
        "token": blank(NewTokenForm),
    }
    return call.page(
        "people/account.html",
        status=status,
        headers=headers,
        account=account,
        forms=forms | dict(sent or {}),
        sessions=await people.sessions.all(principal),
        tokens=await people.tokens.all(principal),
        key=str(new_id()),
        made=made,
        conflict=conflict,
        done=done,
        plain=lacks_https(call.visitor.origin),
    )


async def _again(
    call: Call, principal: Principal, name: str, filled: Form[Any], refusal: Refusal | None, fields: Fields
) -> Response:
    """The page again, with the errors of the form that was sent."""
    refused = call.refused(filled, refusal, None if refusal is None else fields.get(type(refusal)))
    current = refusal.current if isinstance(refusal, Stale) else None
    conflict = filled.conflict(current, {"name": "Your name"})
    return await _page(
        call, principal, status=refused.status, headers=refused.headers, conflict=conflict, sent={name: refused.form}
    )


def _must_be_here(refusal: Refusal) -> None:
    """Raise a refusal that means they are no longer signed in, instead of showing the account again."""
    if isinstance(refusal, SessionOver | AccountGone):
        raise refusal


def _done(what: str) -> Response:
    return redirect(f"{ACCOUNT}?done={what}")


async def _changed(
    call: Call,
    name: str,
    kind: type[In],
    change: Callable[[Principal, In], Awaitable[object]],
    fields: Fields,
) -> Response:
    """Perform a form of the account page, or show the page again with its errors."""
    principal = call.signed_in()
    filled = await call.form(kind)
    if filled.editing:
        return await _page(call, principal, sent={name: filled})
    refusal: Refusal | None = None
    if filled.is_valid:
        try:
            await change(principal, filled.value)
        except Refusal as error:
            _must_be_here(error)
            refusal = error
        else:
            return _done(name)
    return await _again(call, principal, name, filled, refusal, fields)


# --- name, e-mail, password -------------------------------------------------------------------------------------------


@account_pages.post(f"{ACCOUNT}/name")
async def rename(call: Call) -> Response:
    async def change(principal: Principal, given: MeChange) -> None:
        if given.version is UNSET:
            raise VersionNeeded
        call.core.storage_quota.must_have_room(stranger=False)
        await call.core.people.accounts.rename(principal, given.name or None, given.version)

    return await _changed(call, "name", MeChange, change, {})


@account_pages.post(f"{ACCOUNT}/email")
async def change_email(call: Call) -> Response:
    async def change(principal: Principal, given: EmailChange) -> None:
        call.core.storage_quota.must_have_room(stranger=False)
        await call.core.people.accounts.change_email(principal, given.email, given.password)

    return await _changed(call, "email", EmailChange, change, {EmailTaken: "email", WrongPassword: "password"})


@account_pages.post(f"{ACCOUNT}/password")
async def change_password(call: Call) -> Response:
    async def change(principal: Principal, given: PasswordChange) -> None:
        await call.core.people.accounts.change_password(
            principal, given.current, given.new, end_tokens=given.end_tokens
        )

    return await _changed(call, "password", PasswordChange, change, {WrongPassword: "current"})


# --- sessions and API tokens ------------------------------------------------------------------------------------------


@account_pages.post(f"{ACCOUNT}/sessions/end-others")
async def end_others(call: Call) -> Response:
    await call.core.people.sessions.end_others(call.signed_in())
    return _done("sessions")


@account_pages.post(f"{ACCOUNT}/tokens")
async def make_token(call: Call) -> Response:
    """The one form that does not redirect: the secret is shown only now, and may be in no URL."""
    principal = call.signed_in()
    filled = await call.form(NewTokenForm)
    if not filled.is_valid:
        return await _again(call, principal, "token", filled, None, {})
    given, answers = filled.value, call.core.people.answers
    key = IdempotencyKey(
        principal.user_id, KEY + given.key, request_hash("POST", "/account/tokens", given.name.encode())
    )
    made: list[MadeToken] = []

    def answer(token: MadeToken) -> StoredAnswer:
        return StoredAnswer(status=201, made=str(token.token_id), secret=True)

    async def make() -> StoredAnswer:
        made[:] = [
            await call.core.people.tokens.make(
                principal, given.name, also=lambda token: answers.keeping(key, answer(token), account_checked=True)
            )
        ]
        return answer(made[0])

    try:
        call.core.storage_quota.must_have_room(stranger=False)
        await answers.once(key, make)
    except AlreadyDone:
        # The form was sent twice, and the token is in the list.
        return await _page(call, principal, done="token-before")
    except Refusal as error:
        _must_be_here(error)
        return await _again(call, principal, "token", filled, error, {})
    return await _page(call, principal, made=made[0])


@account_pages.post(f"{ACCOUNT}/tokens/{{token_id}}/revoke")
async def revoke_token(call: Call) -> Response:
    at = await call.admit(WithToken)
    # Revoked already, in another window.
    with suppress(NoSuchToken):
        await call.core.people.tokens.revoke(at.principal, at.token_id)
    return _done("token")


# --- exporting, deleting ----------------------------------------------------------------------------------------------


@account_pages.post(f"{ACCOUNT}/export")
async def export(call: Call) -> Response:
    context: PeopleContext = call.context
    return (await context.exports.make(call.signed_in().user_id)).response()


@account_pages.get(f"{ACCOUNT}/delete")
async def leaving(call: Call) -> Response:
    if call.principal is None:
        return to_sign_in(call.request)
    email = (await call.core.people.accounts.by_id(call.principal.user_id)).email
    return call.page("people/delete.html", form=blank(Leaving), places=(), email=email)


@account_pages.post(f"{ACCOUNT}/delete")
async def leave(call: Call) -> Response:
    principal, accounts = call.signed_in(), call.core.people.accounts
    filled = await call.form(Leaving)
    refusal: Refusal | None = None
    if filled.is_valid and not filled.value.sure:
        filled = filled.refused("Tick the box to say that you are sure")
    elif filled.is_valid:
        try:
            await accounts.delete(principal, filled.value.password)
        except Refusal as error:
            _must_be_here(error)
            refusal = error
        else:
            return redirect_out("/goodbye", call.authentication.signed_out(call.request), *drop_invitation(call))
    places: Sequence[str] = refusal.places if isinstance(refusal, StillNeeded) else ()
    field = "password" if isinstance(refusal, WrongPassword) else None
    email = (await accounts.by_id(principal.user_id)).email
    return call.again("people/delete.html", filled, refusal, field, places=places, email=email)


@account_pages.get("/goodbye")
async def goodbye(call: Call) -> Response:
    return call.page("people/goodbye.html")
