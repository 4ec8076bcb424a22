"""The JSON door of people: decode, call, render."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar, dataclass_transform
from uuid import UUID

from litestar import Request, Response, delete, get, patch, post, put
from litestar.params import FromPath, JSONBody
from litestar.response import Stream
from litestar.status_codes import HTTP_200_OK, HTTP_204_NO_CONTENT
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from potluck.people.accounts import Accounts, Registered
from potluck.people.authentication import Principal
from potluck.people.entities import Account, ApiTokenOfUser, Invitation
from potluck.people.invitations import Invitations
from potluck.people.particulars import checked_email, checked_name, wrong_with
from potluck.people.resets import Resets
from potluck.people.sessions import OpenedSession, OpenSession, Sessions
from potluck.people.tokens import MadeToken, Tokens
from potluck.store import Page
from potluck.web.bodies import Body, Holds, Says
from potluck.web.callers import Door
from potluck.web.cursors import Listed, Part
from potluck.web.errors import EXPIRED, TOO_MANY
from potluck.web.given import AS_NOBODY
from potluck.web.once import Made, Once, Told
from potluck.web.people.export import ZIP, Exports
from potluck.web.people.places import PlaceNames, WaysIn
from potluck.web.versions import etag, seen, unchanged

__all__ = ["ROUTES", "me_shown"]

AnyRequest = Request[Any, Any, Any]
T = TypeVar("T")
V = TypeVar("V")

PEOPLE = ["People"]

# --- what is sent ----------------------------------------------------------------------------------------------------

# Bounds stand here too, so that whatever is wrong with a body is said at once, and the schema states them.
EmailText = Annotated[
    str,
    Meta(max_length=254, pattern=r"^\s*[^@\s]+@[^@\s]+\s*$", examples=["ada@example.org"]),
    Holds(lambda email: wrong_with(checked_email(email, ""))),
    Says("E-mail must be an address such as ada@example.org, of at most 254 characters"),
]
NameText = Annotated[
    str,
    Meta(
        min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    ),
    Holds(lambda name: wrong_with(checked_name(name, ""))),
    Says("Name must have 1 to 100 characters, all of them printable"),
]
NewPassword = Annotated[str, Meta(min_length=10, max_length=128), Says("Password must have 10 to 128 characters")]
# What is only compared: anything that could never be right is simply wrong.
AnyEmail = Annotated[str, Meta(max_length=254)]
AnyPassword = Annotated[str, Meta(max_length=128)]
SecretText = Annotated[str, Meta(max_length=200)]
VersionSeen = Annotated[int, Meta(ge=1, le=10**15)]


class NewAccount(Body):
    email: EmailText
    password: NewPassword
    name: NameText
    invitation: SecretText | UnsetType = UNSET
    """The secret of an invitation, where only invited people may register."""


class Credentials(Body):
    email: AnyEmail
    password: AnyPassword


class MeChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: NameText | UnsetType = UNSET


class PasswordChange(Body):
    current: AnyPassword
    new: NewPassword


class EmailChange(Body):
    email: EmailText
    password: AnyPassword


class NewToken(Body):
    name: NameText


class Confirmation(Body):
    password: AnyPassword


class PasswordChoice(Body):
    token: SecretText
    new: NewPassword


class InvitationLook(Body):
    token: SecretText


# --- what is shown ---------------------------------------------------------------------------------------------------


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Shown(Struct, rename="camel", frozen=True, kw_only=True):
    """What leaves; nothing that holds a hash is ever shown."""


class Me(Shown):
    user_id: UUID
    email: str
    name: str
    version: int
    created_at: datetime


class AccountMade(Shown):
    user_id: UUID
    email: str
    name: str
    token: str
    """Shown once: the session that the new account begins with."""
    token_expires_at: datetime


class SessionMade(Shown):
    token: str
    """Shown once."""
    expires_at: datetime


class SessionShown(Shown):
    created_at: datetime
    expires_at: datetime
    current: bool
    """Whether it is the one that asks."""


class TokenMade(Shown):
    id: UUID
    name: str
    token: str
    """Shown once."""
    created_at: datetime


class TokenShown(Shown):
    id: UUID
    name: str
    created_at: datetime


class InvitationShown(Shown):
    app: str
    place: str | None
    """What the place is called, if its app says so to whoever is invited."""
    role: str
    expires_at: datetime


def me_shown(account: Account) -> Me:
    return Me(
        user_id=account.user_id,
        email=account.email,
        name=account.name,
        version=account.version,
        created_at=account.created_at,
    )


def account_made(registered: Registered) -> AccountMade:
    return AccountMade(
        user_id=registered.account.user_id,
        email=registered.account.email,
        name=registered.account.name,
        token=registered.session.secret,
        token_expires_at=registered.session.expires_at,
    )


def session_made(opened: OpenedSession) -> SessionMade:
    return SessionMade(token=opened.secret, expires_at=opened.expires_at)


def session_shown(session: OpenSession) -> SessionShown:
    return SessionShown(created_at=session.created_at, expires_at=session.expires_at, current=session.current)


def token_made(made: MadeToken) -> TokenMade:
    return TokenMade(id=made.token_id, name=made.name, token=made.secret, created_at=made.created_at)


def token_shown(token: ApiTokenOfUser) -> TokenShown:
    return TokenShown(id=token.token_id, name=token.name, created_at=token.created_at)


def invitation_shown(invitation: Invitation, place: str | None) -> InvitationShown:
    return InvitationShown(
        app=invitation.app, place=place, role=invitation.role, expires_at=datetime.fromtimestamp(invitation.ttl, UTC)
    )


def me_told(account: Account) -> Told[Me]:
    return Told(body=me_shown(account), headers={"etag": etag(account.version)})


def nothing_told(_: Any) -> Told[None]:
    return Told(body=None, status=HTTP_204_NO_CONTENT)


# --- coming and going ------------------------------------------------------------------------------------------------


@post("/accounts", tags=PEOPLE, opt=AS_NOBODY)
async def register(
    data: JSONBody[NewAccount], accounts: Accounts, once: Once, door: Door, request: AnyRequest
) -> Response[AccountMade]:
    """Register, and be signed in."""
    client = door.clients.client_of(request.scope)
    return await once(
        lambda alongside: accounts.register(
            data.email,
            data.password,
            data.name,
            client=client,
            invitation=data.invitation or None,
            alongside=alongside,
        ),
        lambda registered: Made(
            account_made(registered), registered.account.user_id, secret=True, of=registered.account.user_id
        ),
        account_checked=True,
    )


@post("/sessions", tags=PEOPLE, opt=AS_NOBODY)
async def sign_in(
    data: JSONBody[Credentials], sessions: Sessions, once: Once, door: Door, request: AnyRequest
) -> Response[SessionMade]:
    """Sign in. A wrong e-mail and a wrong password are answered alike."""
    client = door.clients.client_of(request.scope)
    return await once(
        lambda alongside: sessions.open(data.email, data.password, client, alongside),
        lambda opened: Made(session_made(opened), opened.user_id, secret=True, of=opened.user_id),
        account_checked=True,
    )


@delete("/sessions/current", tags=PEOPLE)
async def sign_out(
    caller: Principal, sessions: Sessions, once: Once, door: Door, request: AnyRequest
) -> Response[None]:
    """Sign out: the token is dead from now on."""
    ended = await once(lambda alongside: sessions.end(caller, alongside), nothing_told)
    return without_cookie(ended, door, request)


@post("/password-resets", tags=PEOPLE, opt=AS_NOBODY, status_code=HTTP_204_NO_CONTENT)
async def choose_password(data: JSONBody[PasswordChoice], resets: Resets, once: Once) -> Response[None]:
    """Choose a new password with the secret of a link that the operator handed over; every session is over."""
    return await once(
        lambda alongside: resets.redeem(data.token, data.new, alongside),
        lambda user_id: Told(body=None, status=HTTP_204_NO_CONTENT, of=user_id),
        account_checked=True,
    )


@post("/invitations/look", tags=PEOPLE, status_code=HTTP_200_OK)
async def look(data: JSONBody[InvitationLook], invitations: Invitations, places: PlaceNames) -> InvitationShown:
    """What an invitation is to. Looking uses nothing up."""
    invitation = await invitations.look(data.token)
    return invitation_shown(invitation, await places.name_of(invitation.app, invitation.place))


@post("/invitations/accept", tags=PEOPLE, status_code=HTTP_200_OK, opt={"problems": [EXPIRED, TOO_MANY]})
async def accept(
    data: JSONBody[InvitationLook], caller: Principal, ways_in: WaysIn, once: Once
) -> Response[dict[str, UUID]]:
    """Come in by an invitation. The answer has the id of the place, by the name that its app has for it."""
    return await once(
        lambda alongside: ways_in.accept(caller, data.token, alongside),
        lambda led_to: Told(body=to_builtins(led_to, builtin_types=[UUID])),
        account_checked=True,
    )


# --- one's account ---------------------------------------------------------------------------------------------------


@get("/me", tags=PEOPLE)
async def me(caller: Principal, accounts: Accounts, request: AnyRequest) -> Response[Me | None]:
    """Who is calling."""
    account = await accounts.by_id(caller.user_id)
    tag = etag(account.version)
    return unchanged(request, tag) or Response(me_shown(account), headers={"etag": tag})


@patch("/me", tags=PEOPLE)
async def change_me(
    data: JSONBody[MeChange], caller: Principal, accounts: Accounts, once: Once, request: AnyRequest
) -> Response[Me]:
    """Change one's name."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: accounts.rename(caller, data.name or None, version, alongside), me_told, account_checked=True
    )


@put("/me/password", tags=PEOPLE, status_code=HTTP_204_NO_CONTENT)
async def change_password(
    data: JSONBody[PasswordChange], caller: Principal, accounts: Accounts, once: Once
) -> Response[None]:
    """Change one's password. Every other session is over."""
    return await once(
        lambda alongside: accounts.change_password(caller, data.current, data.new, alongside),
        nothing_told,
        account_checked=True,
    )


@put("/me/email", tags=PEOPLE)
async def change_email(data: JSONBody[EmailChange], caller: Principal, accounts: Accounts, once: Once) -> Response[Me]:
    """Change one's e-mail address. Every other session is over."""
    return await once(
        lambda alongside: accounts.change_email(caller, data.email, data.password, alongside),
        me_told,
        account_checked=True,
    )


@get("/me/export", tags=PEOPLE, media_type=ZIP)
async def export(caller: Principal, exports: Exports) -> Stream:
    """Everything that is the caller's, as a zip: a manifest, lossless JSON for each app, and its tables as CSV."""
    return (await exports.make(caller.user_id)).answer()


@post("/me/delete", tags=PEOPLE, status_code=HTTP_204_NO_CONTENT)
async def leave(
    data: JSONBody[Confirmation], caller: Principal, accounts: Accounts, door: Door, request: AnyRequest
) -> Response[None]:
    """Delete the account and everything that only it owns."""
    await accounts.delete(caller, data.password)
    # Nothing is kept under an Idempotency-Key: that would be a row of somebody who is gone.
    return without_cookie(Response(None, status_code=HTTP_204_NO_CONTENT), door, request)


# --- where one is signed in, and one's programs ----------------------------------------------------------------------


@get("/me/sessions", tags=PEOPLE)
async def own_sessions(caller: Principal, sessions: Sessions, part: Part) -> Listed[SessionShown]:
    """Where one is signed in, the latest first."""
    return part_of(await sessions.all(caller), part, lambda each: (each.created_at, each.hash), session_shown)


@post("/me/sessions/end-others", tags=PEOPLE, status_code=HTTP_204_NO_CONTENT)
async def end_others(caller: Principal, sessions: Sessions, once: Once) -> Response[None]:
    """Sign out everywhere else."""
    return await once(lambda alongside: sessions.end_others(caller, alongside), nothing_told, account_checked=True)


@post("/me/tokens", tags=PEOPLE)
async def make_token(data: JSONBody[NewToken], caller: Principal, tokens: Tokens, once: Once) -> Response[TokenMade]:
    """Make an API token, for a program that calls for its owner."""
    return await once(
        lambda alongside: tokens.make(caller, data.name, alongside),
        lambda made: Made(token_made(made), made.token_id, secret=True),
        account_checked=True,
    )


@get("/me/tokens", tags=PEOPLE)
async def own_tokens(caller: Principal, tokens: Tokens, part: Part) -> Listed[TokenShown]:
    """One's API tokens, the latest first."""
    return part_of(await tokens.all(caller), part, lambda each: (each.created_at, str(each.token_id)), token_shown)


@delete("/me/tokens/{token_id:str}", tags=PEOPLE)
async def revoke_token(token_id: FromPath[UUID], caller: Principal, tokens: Tokens, once: Once) -> Response[None]:
    """Revoke an API token: it is dead from now on."""
    return await once(lambda alongside: tokens.revoke(caller, token_id, alongside), nothing_told)


# --- what these share ------------------------------------------------------------------------------------------------


def without_cookie(response: Response[None], door: Door, request: AnyRequest) -> Response[None]:
    """The answer; a browser also forgets by what it was known."""
    if "authorization" not in request.headers:
        response.set_cookie(door.signed_out(request))
    return response


def part_of(
    found: Sequence[T], part: Part, order: Callable[[T], tuple[datetime, str]], see: Callable[[T], V]
) -> Listed[V]:
    """A part of a list that is short enough to be read whole, the latest first."""

    def place(each: T) -> list[str]:
        when, name = order(each)
        return [when.isoformat(), name]

    after = None if part.after is None else part.after["after"]
    left = [each for each in found if after is None or place(each) < after]
    items = left[: part.limit]
    return part.answer(Page(items, {"after": place(items[-1])} if len(left) > len(items) else None), see)


ROUTES = [
    register,
    sign_in,
    sign_out,
    choose_password,
    look,
    accept,
    me,
    change_me,
    change_password,
    change_email,
    export,
    leave,
    own_sessions,
    end_others,
    make_token,
    own_tokens,
    revoke_token,
]
