"""Idempotency: the answer to a write is stored in the write's own transaction, and given again to a repeat."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account, AnswerOfUser, IdempotentAnswer
from potluck.people.errors import AlreadyDone, KeyReused
from potluck.store import Clock, Store
from potluck.table import absent, check, present, put
from potluck.table.operations import Operation
from potluck.validation.errors import FieldError, ValidationError

ANSWERS_KEPT = timedelta(hours=24)
LONGEST_KEY = 128
LONGEST_BODY_KEPT = 300_000


class StoredAnswer(Struct, frozen=True, kw_only=True):
    """What a write was answered with."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}
    made: str | None = None
    """The id of what was made."""
    secret: bool = False
    """Whether it holds a secret: then only the fact that it was done is stored, and what it made."""
    of: UUID | None = None
    """Whose it is if the caller was anonymous: the person who registered or signed in."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An idempotency key with its owner and its request."""

    caller: UUID | str
    """A person's id, or what identifies another caller, such as the holder of a shared link."""
    value: str
    request_hash: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.value) <= LONGEST_KEY or not self.value.isprintable():
            raise ValidationError(
                FieldError("Idempotency-Key", f"Idempotency-Key must have 1 to {LONGEST_KEY} printable characters")
            )

    @classmethod
    def by_nobody(cls, key: str, request_hash: str) -> IdempotencyKey:
        """The key of an anonymous caller, which must be a UUID so that it does not collide with another caller's."""
        try:
            canonical = str(UUID(key)) == key.lower()
        except ValueError:
            canonical = False
        if not canonical:
            raise ValidationError(FieldError("Idempotency-Key", "Idempotency-Key must be a UUID"))
        return cls("anonymous", key.lower(), request_hash)


class StoredAnswers:
    """Stores answers for a day, by caller and key; only a write that was done has one."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def find(self, key: IdempotencyKey) -> StoredAnswer | None:
        """The first answer, by one consistent read; KeyReused if it was to something else, AlreadyDone if not kept."""
        row = await self._store.get(IdempotentAnswer.by_key(str(key.caller), key.value))
        if row is None:
            return None
        if row.request_hash != key.request_hash:
            raise KeyReused
        if row.body is None:
            raise AlreadyDone(row.made)
        return StoredAnswer(status=row.status, body=row.body, headers=row.headers, made=row.made)

    def storing(self, key: IdempotencyKey, answer: StoredAnswer) -> list[Operation]:
        """The operations that store the answer, for the transaction of the write itself.

        For a person it checks that the account is still there, so that nothing outlives it.
        """
        ttl = int((self._clock() + ANSWERS_KEPT).timestamp())
        whole = not answer.secret and len(answer.body) <= LONGEST_BODY_KEPT
        row = IdempotentAnswer(
            caller=str(key.caller),
            key=key.value,
            request_hash=key.request_hash,
            status=answer.status,
            headers=dict(answer.headers) if whole else {},
            body=answer.body if whole else None,
            made=answer.made,
            ttl=ttl,
        )
        operations: list[Operation] = [put(row, when=absent)]
        user_id = key.caller if isinstance(key.caller, UUID) else answer.of
        if user_id is not None:
            operations.append(put(AnswerOfUser(user_id=user_id, caller=str(key.caller), key=key.value, ttl=ttl)))
            operations.append(check(Account.by_id(user_id), when=present))
        return operations


def request_hash(method: str, target: str, body: bytes, key: bytes = b"") -> str:
    """The same for the same request: method, path with its query, and body to the byte.

    The body may hold a password, which must not be guessed from what is stored: without the key, that is impossible.
    """
    parts = (method.upper().encode(), target.encode("utf-8", "surrogatepass"), body)
    # With length prefixes, no two requests give the same bytes.
    return hmac.digest(key, b"".join(b"%d:%s" % (len(part), part) for part in parts), "sha256").hex()
