"""Doing it once: the answer to a write is kept in the write's own transaction, and a repeat finds it."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from potluck.people.entities import Account, AnswerOfUser, IdempotentAnswer
from potluck.people.errors import AlreadyDone, InvalidFields, KeyReused, WrongField
from potluck.store import Clock, Store
from potluck.table import absent, check, present, put
from potluck.table.operations import Operation

__all__ = ["ANSWERS_KEPT", "Answer", "Answers", "Asked", "May", "anyone", "request_hash"]

ANSWERS_KEPT = timedelta(hours=24)
LONGEST_KEY = 128
LONGEST_BODY_KEPT = 300_000
LONGEST_CALLER = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a write was answered with."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    made: str | None = None
    """The id of what was made."""
    secret: bool = False
    """Whether it holds a secret: then only that it was done is kept, and what it made."""
    of: UUID | None = None
    """Whose it is, where somebody asked as nobody: who registers or signs in."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is to be done once: who asks, under which key, and what."""

    caller: UUID | str
    """A person's id; or what another caller, such as the holder of a shared link, is known by."""
    key: str
    request_hash: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.key) <= LONGEST_KEY or not self.key.isprintable():
            raise InvalidFields(
                WrongField("Idempotency-Key", f"Idempotency-Key must have 1 to {LONGEST_KEY} printable characters")
            )

    @classmethod
    def by_nobody(cls, key: str, request_hash: str) -> Asked:
        """A request of an anonymous caller, whose key must be a UUID so that nobody else's is met by chance."""
        try:
            canonical = str(UUID(key)) == key.lower()
        except ValueError:
            canonical = False
        if not canonical:
            raise InvalidFields(WrongField("Idempotency-Key", "Idempotency-Key must be a UUID"))
        return cls("anonymous", key.lower(), request_hash)


May = Callable[[], Awaitable[object]]
"""Raises, if whoever asks could not see by now what the answer holds: they were put out of the place that it is of."""


async def anyone() -> None:
    """It is theirs alone, or nothing that anybody could lose sight of."""


class Answers:
    """Keeps answers for a day, by caller and key. Only what was done has one."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def once(self, asked: Asked, do: Callable[[], Awaitable[Answer]], may: May = anyone) -> Answer:
        """Do it, or give the answer of whoever did it first, if they `may` still see it.

        `do` writes what `keeping` gives in its own transaction. Of several at once one is done; the others are refused,
        by the kept answer or by whatever else was theirs to do first, and find the answer here.
        """
        found = await self.find(asked, may)
        if found is not None:
            return found
        try:
            return await do()
        except Exception:
            found = await self.find(asked, may)
            if found is None:
                raise
            return found

    async def find(self, asked: Asked, may: May = anyone) -> Answer | None:
        """The first answer, by one consistent read; KeyReused if it was to something else, AlreadyDone if not kept.

        What `may` raises, if there is anything to be told but that it was done: it may be nobody's business any more.
        """
        kept = await self._store.get(IdempotentAnswer.by_key(str(asked.caller), asked.key))
        if kept is None:
            return None
        if kept.request_hash != asked.request_hash:
            raise KeyReused
        if kept.body != b"":
            await may()
        if kept.body is None:
            raise AlreadyDone(kept.made)
        return Answer(status=kept.status, body=kept.body, headers=kept.headers, made=kept.made)

    def keeping(self, asked: Asked, answer: Answer, *, account_checked: bool = False) -> list[Operation]:
        """What keeps the answer, for the transaction of the write itself.

        For a person it checks that the account is still there, so that nothing outlives it; `account_checked` leaves
        that out where the write itself reads or changes the account, which a transaction can name only once.
        """
        ttl = int((self._clock() + ANSWERS_KEPT).timestamp())
        told = not answer.secret and len(answer.body) <= LONGEST_BODY_KEPT
        kept = IdempotentAnswer(
            caller=str(asked.caller),
            key=asked.key,
            request_hash=asked.request_hash,
            status=answer.status,
            headers=dict(answer.headers) if told else {},
            body=answer.body if told else None,
            made=answer.made,
            ttl=ttl,
        )
        operations: list[Operation] = [put(kept, when=absent)]
        user_id = asked.caller if isinstance(asked.caller, UUID) else answer.of
        if user_id is not None:
            operations.append(put(AnswerOfUser(user_id=user_id, caller=str(asked.caller), key=asked.key, ttl=ttl)))
            if not account_checked:
                operations.append(check(Account.by_id(user_id), when=present))
        return operations


def request_hash(method: str, target: str, body: bytes, key: bytes = b"") -> str:
    """The same for the same request: method, path with its query, and body to the byte.

    The body may hold a password, which must not be guessed from what is stored: without the key, nobody can.
    """
    parts = (method.upper().encode(), target.encode("utf-8", "surrogatepass"), body)
    # With the lengths in front, no two requests are the same bytes.
    return hmac.digest(key, b"".join(b"%d:%s" % (len(part), part) for part in parts), "sha256").hex()
