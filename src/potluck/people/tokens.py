"""The rows of API tokens: the end of one, and which of a person's are valid."""

from uuid import UUID

from potluck.people.entities import Account, ApiToken, ApiTokenOfUser
from potluck.store import Store
from potluck.table import Condition, delete
from potluck.table.operations import Operation


def dropping_token(token: ApiTokenOfUser, when: Condition | None = None) -> list[Operation]:
    """Deletes an API token: both of its rows."""
    return [
        delete(ApiTokenOfUser.by_id(token.user_id, token.token_id), when=when),
        delete(ApiToken.by_hash(token.hash)),
    ]


async def valid_tokens(store: Store, account: Account) -> list[ApiTokenOfUser]:
    """The API tokens of this person that are valid."""
    tokens = await store.all(ApiTokenOfUser.all_of_user(account.user_id))
    return [token for token in tokens if token.session_epoch >= account.tokens_since]


async def tidy_tokens(store: Store, user_id: UUID, since: int) -> None:
    """Delete the rows of API tokens from before this epoch. They have ended already, so nothing depends on it."""
    tokens = await store.all(ApiTokenOfUser.all_of_user(user_id))
    await store.write_each(row for token in tokens if token.session_epoch < since for row in dropping_token(token))
