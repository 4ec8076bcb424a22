"""Authentication: the principal behind a secret, a person who signed in or a program with an API token of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

from msgspec import Struct

from potluck.people.errors import SignInNeeded
from potluck.people.secrets import SecretKind, kind_of
from potluck.table.operations import Operation

if TYPE_CHECKING:
    from potluck.people.sessions import Sessions
    from potluck.people.tokens import Tokens

T = TypeVar("T")
Also = Callable[[T], Iterable[Operation]]
"""Further operations for the same transaction, given what the write is about to answer."""


def nothing_else(answer: Any) -> Iterable[Operation]:
    """No further operations."""
    return ()


# A struct, and not a dataclass: one is made with every request, and a frozen dataclass takes five times as long.
class Principal(Struct, frozen=True, kw_only=True):
    """Who is calling, and how they authenticated. What they may do is read where it is needed."""

    kind: Literal["session", "api-token"]
    user_id: UUID
    name: str
    hash: str
    """Of their secret."""
    session_epoch: int
    expires_at: datetime | None
    """When the session ends unless it is used; None for an API token, which does not expire."""

    @property
    def may_manage_account(self) -> bool:
        """Whether they may manage API tokens, the password and the account: only someone who signed in may."""
        return self.kind == "session"

    def must_manage_account(self) -> None:
        """SignInNeeded for an API token."""
        if not self.may_manage_account:
            raise SignInNeeded


class Authenticator:
    """Finds the principal who holds a secret, of whichever kind."""

    def __init__(self, sessions: Sessions, tokens: Tokens) -> None:
        self._sessions = sessions
        self._tokens = tokens

    async def authenticate(self, secret: str) -> Principal | None:
        """The principal, by consistent reads; None, without reading anything, for what cannot be a secret of ours."""
        match kind_of(secret):
            case SecretKind.SESSION:
                return await self._sessions.find(secret)
            case SecretKind.API_TOKEN:
                return await self._tokens.find(secret)
        return None
