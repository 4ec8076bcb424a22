"""API tokens by the API: for programs that call for their owner."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import ApiTokenOfUser
from potluck.people.fields import Name
from potluck.people.tokens import MadeToken
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.errors import TOKEN_CANNOT, TOO_MANY
from potluck.web.inputs import Input
from potluck.web.people.accounts import PEOPLE
from potluck.web.views import View, computed
from potluck.web.writes import Writes


class NewToken(Input):
    name: Name


class TokenView(View[ApiTokenOfUser]):
    name: str
    created_at: datetime

    @computed
    def id(token: ApiTokenOfUser) -> UUID:
        return token.token_id


class TokenMade(Struct, rename="camel", frozen=True, kw_only=True):
    id: UUID
    name: str
    token: str
    """Shown once."""
    created_at: datetime


class WithToken(SignedIn):
    """Someone with the id of one of their API tokens."""

    token_id: UUID


tokens = Actions(SignedIn, view=TokenView, api="/me/tokens", tag=PEOPLE)


def latest_first(token: TokenView) -> tuple[float, str]:
    return -token.created_at.timestamp(), str(token.id)


@tokens.create(TOKEN_CANNOT, TOO_MANY, secret=True)
async def make_token(at: SignedIn, new: NewToken) -> Writes[TokenMade]:
    """Make an API token, for a program that calls for its owner."""
    made = await at.core.people.tokens.make(
        at.principal, new.name, also=lambda made: at.keeping(_token_made(made), made.token_id, account_checked=True)
    )
    return Writes(_token_made(made), made=made.token_id)


def _token_made(made: MadeToken) -> TokenMade:
    return TokenMade(id=made.token_id, name=made.name, token=made.secret, created_at=made.created_at)


@tokens.list("", TOKEN_CANNOT, order=latest_first)
async def own_tokens(at: SignedIn) -> list[ApiTokenOfUser]:
    """One's API tokens, the latest first."""
    return await at.core.people.tokens.all(at.principal)


@tokens.delete("/{token_id}", TOKEN_CANNOT)
async def revoke_token(at: WithToken) -> Writes[None]:
    """Revoke an API token: it is dead from now on."""
    await at.core.people.tokens.revoke(at.principal, at.token_id, also=lambda _: at.keeping(None))
    return Writes(None)
