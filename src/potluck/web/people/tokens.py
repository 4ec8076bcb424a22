"""API tokens: for programs that call for their owner."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account, ApiToken, ApiTokenOfUser
from potluck.people.errors import AlreadyDone, NoSuchToken, TooMany
from potluck.people.fields import Name
from potluck.people.secrets import SecretKind, hash_of, new_secret
from potluck.people.tokens import dropping_token, valid_tokens
from potluck.table import absent, check, present, put, the
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.people.access import AccountOwner, WithToken
from potluck.web.people.accounts import PEOPLE
from potluck.web.views import View, computed
from potluck.web.writes import Writes, or_raise, or_retry

TOKENS_OF_USER = 50


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


tokens = Actions(AccountOwner, view=TokenView, api="/me/tokens", page="/account/tokens", tag=PEOPLE)


def latest_first(token: TokenView) -> tuple[float, str]:
    return -token.created_at.timestamp(), str(token.id)


@tokens.create(TooMany, secret=True)
async def make_token(at: AccountOwner, new: NewToken) -> Writes[TokenMade]:
    """Create an API token for a program that acts for you."""
    return await new_token(at, new.name, at.new_id())


async def new_token(at: AccountOwner, name: str, token_id: UUID) -> Writes[TokenMade]:
    """A token that can do what its owner can, but not manage tokens, password or account."""
    caller = await at.caller()
    user_id, epoch = caller.user_id, caller.session_epoch
    if await at.store.count(ApiTokenOfUser.all_of_user(user_id)) >= TOKENS_OF_USER:
        raise TooMany("API tokens", TOKENS_OF_USER)
    secret, now = new_secret(SecretKind.API_TOKEN), at.now
    hash = hash_of(secret)
    token = ApiToken(hash=hash, user_id=user_id, token_id=token_id, session_epoch=epoch)
    of_user = ApiTokenOfUser(
        user_id=user_id, token_id=token_id, hash=hash, name=name, created_at=now, session_epoch=epoch
    )
    return Writes(
        TokenMade(id=token_id, name=name, token=secret, created_at=now),
        or_retry(check(Account.by_id(user_id), when=the(Account.session_epoch) == epoch)),
        or_raise(put(of_user, when=absent), AlreadyDone(str(token_id))),
        put(token, when=absent),
        made=token_id,
    )


@tokens.list(order=latest_first)
async def own_tokens(at: AccountOwner) -> list[ApiTokenOfUser]:
    """List your API tokens, latest first."""
    account = await at.store.get(Account.by_id(at.principal.user_id))
    rows = [] if account is None else await valid_tokens(at.store, account)
    return sorted(rows, key=lambda token: (token.created_at, token.token_id), reverse=True)


@tokens.delete("/{token_id}")
async def revoke_token(at: WithToken) -> Writes[None]:
    """Revoke an API token. It stops working at once."""
    token = await at.store.get(ApiTokenOfUser.by_id(at.principal.user_id, at.token_id))
    if token is None:
        raise NoSuchToken
    # Revoked by another call meanwhile, it is not found again.
    return Writes(None, *map(or_retry, dropping_token(token, when=present)))
