"""Personal API tokens: for programs that act on someone's behalf."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from potluck.people.authentication import Also, Principal, nothing_else
from potluck.people.entities import Account, ApiToken, ApiTokenOfUser
from potluck.people.errors import NoSuchToken, TooMany
from potluck.people.secrets import Random, SecretKind, hash_of, kind_of, new_id, new_secret, system_random
from potluck.people.sessions import ATTEMPTS, continued
from potluck.people.validation import all_valid, checked_name
from potluck.store import Clock, Store
from potluck.store.row_cache import NEVER
from potluck.table import (
    Condition,
    ConditionFailed,
    NotFound,
    OutcomeUnknown,
    Unavailable,
    absent,
    check,
    delete,
    present,
    put,
    the,
)
from potluck.table.operations import Operation

TOKENS_OF_USER = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new API token with its secret, which is shown only once."""

    token_id: UUID
    name: str
    secret: str
    created_at: datetime


class Tokens:
    """Makes, lists, revokes and authenticates API tokens. One is valid until it is revoked, or a password ends it."""

    def __init__(self, store: Store, clock: Clock, random: Random = system_random) -> None:
        self._store = store
        self._clock = clock
        self._random = random

    async def make(self, caller: Principal, name: str, also: Also[MadeToken] = nothing_else) -> MadeToken:
        """A token that can do what its owner can, but not manage tokens, password or account."""
        caller.must_manage_account()
        (name,) = all_valid(checked_name(name))
        if await self._store.count(ApiTokenOfUser.all_of_user(caller.user_id)) >= TOKENS_OF_USER:
            raise TooMany("API tokens", TOKENS_OF_USER)
        secret = new_secret(SecretKind.API_TOKEN, self._random)
        now = self._clock().replace(microsecond=0)
        made = MadeToken(token_id=new_id(self._random), name=name, secret=secret, created_at=now)
        by_secret = ApiToken(hash=hash_of(secret), user_id=caller.user_id, token_id=made.token_id)
        of_user = ApiTokenOfUser(
            user_id=caller.user_id, token_id=made.token_id, hash=by_secret.hash, name=name, created_at=now
        )
        for _ in range(ATTEMPTS):
            epoch = caller.session_epoch
            try:
                await self._store.transact(
                    check(Account.by_id(caller.user_id), when=the(Account.session_epoch) == epoch),
                    put(replace(by_secret, session_epoch=epoch), when=absent),
                    put(replace(of_user, session_epoch=epoch), when=absent),
                    *also(made),
                )
            except (ConditionFailed, NotFound) as refusal:
                if refusal.position != 0:
                    raise
                caller = await continued(self._store, caller)
                continue
            return made
        raise Unavailable("new API token: the account was changed again and again")

    async def all(self, caller: Principal) -> list[ApiTokenOfUser]:
        """The person's tokens, the latest first."""
        caller.must_manage_account()
        account = await self._store.get(Account.by_id(caller.user_id))
        found = [] if account is None else await valid_tokens(self._store, account)
        return sorted(found, key=lambda each: (each.created_at, each.token_id), reverse=True)

    async def revoke(self, caller: Principal, token_id: UUID, also: Also[None] = nothing_else) -> None:
        """Revoke the token, at once."""
        caller.must_manage_account()
        found = await self._store.get(ApiTokenOfUser.by_id(caller.user_id, token_id))
        if found is None:
            raise NoSuchToken
        try:
            await self._store.transact(*dropping_token(found, when=present), *also(None))
        except NotFound as refusal:
            if refusal.position != 0:
                raise
            raise NoSuchToken from refusal

    async def find(self, secret: str) -> Principal | None:
        """The principal of a token, by consistent reads."""
        if kind_of(secret) is not SecretKind.API_TOKEN:
            return None
        hash = hash_of(secret)
        return await self._store.cache_until_write((ApiToken, hash), lambda: self._found(hash))

    async def _found(self, hash: str) -> tuple[Principal | None, float]:
        """The principal, and until when this can be cached while nothing is written: a token does not expire."""
        token = await self._store.get(ApiToken.by_hash(hash))
        if token is None:
            return None, 0
        account = await self._store.get(Account.by_id(token.user_id))
        if account is None or token.session_epoch < account.tokens_since:
            return None, 0
        caller = Principal(
            kind="api-token",
            user_id=account.user_id,
            name=account.name,
            hash=token.hash,
            session_epoch=account.session_epoch,
            expires_at=None,
        )
        return caller, NEVER


def dropping_token(token: ApiTokenOfUser, when: Condition | None = None) -> list[Operation]:
    """Deletes an API token: both of its rows."""
    return [
        delete(ApiTokenOfUser.by_id(token.user_id, token.token_id), when=when),
        delete(ApiToken.by_hash(token.hash)),
    ]


async def valid_tokens(store: Store, account: Account) -> list[ApiTokenOfUser]:
    """The API tokens of this person that are valid."""
    found = await store.all(ApiTokenOfUser.all_of_user(account.user_id))
    return [each for each in found if each.session_epoch >= account.tokens_since]


async def tidy_tokens(store: Store, user_id: UUID, since: int) -> None:
    """Delete the rows of API tokens from before this epoch. They have ended already, so nothing depends on it."""
    try:
        found = await store.all(ApiTokenOfUser.all_of_user(user_id))
        await store.write_each(row for each in found if each.session_epoch < since for row in dropping_token(each))
    except (Unavailable, OutcomeUnknown):
        return
