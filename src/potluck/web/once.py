"""Doing it once: a request that carries an Idempotency-Key is answered again, not done again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec
from litestar import MediaType, Request, Response
from litestar.status_codes import HTTP_200_OK, HTTP_201_CREATED, HTTP_204_NO_CONTENT

from potluck.people.authentication import Also, Principal, nothing_else
from potluck.people.idempotency import Answer, Answers, Asked, May, anyone, request_hash
from potluck.store import Store
from potluck.table.operations import Operation

__all__ = ["Made", "Once", "Told", "asked_once"]

T = TypeVar("T")
V = TypeVar("V")
Do = Callable[[Also[T]], Awaitable[T]]

KEY = "idempotency-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told(Generic[V]):
    """What a write is answered with."""

    body: V
    status: int = HTTP_200_OK
    headers: Mapping[str, str] = field(default_factory=dict)
    made: str | None = None
    """The id of what was made, which a repeat is told even when the answer held a secret."""
    secret: bool = False
    """Whether the body holds a secret, which is never kept."""
    of: UUID | None = None
    """Whose answer it is, where somebody asked as nobody; it goes with their account."""


def Made(
    body: V, made: Any, *, headers: Mapping[str, str] | None = None, secret: bool = False, of: UUID | None = None
) -> Told[V]:
    """The answer to a write that made something."""
    return Told(body=body, status=HTTP_201_CREATED, headers=headers or {}, made=str(made), secret=secret, of=of)


# Not a dataclass: Litestar takes those apart to look into each of their fields, whenever a handler is given one.
class Once:
    """A write, and the key under which it is done at most once; without a key it is simply done."""

    def __init__(self, answers: Answers, store: Store, asked: Asked | None) -> None:
        self.answers = answers
        self.store = store
        self.asked = asked

    async def __call__(
        self, do: Do[T], tell: Callable[[T], Told[V]], *, account_checked: bool = False, may: May = anyone
    ) -> Response[V]:
        """Do it and tell of it, or give the first answer again.

        `do` is given what is to be written in its own transaction, so that the answer is kept if and only if the write
        was done. `account_checked`: the write itself reads or changes the caller's account. `may` raises for a caller
        who has lost sight of what the answer holds since it was given; where others decide who sees it, it is needed.
        """
        if self.asked is None:
            return _response(_answer(tell(await do(nothing_else))))
        asked = self.asked
        kept: list[T] = []

        def keeping(outcome: T) -> list[Operation]:
            kept[:] = [outcome]
            return self.answers.keeping(asked, _answer(tell(outcome)), account_checked=account_checked)

        async def done() -> Answer:
            outcome = await do(keeping)
            answer = _answer(tell(outcome))
            if not kept or kept[0] is not outcome:
                # There was nothing to change, or nothing any more after another's change: no transaction has kept it.
                await self.store.transact(*self.answers.keeping(asked, answer))
            return answer

        return _response(await self.answers.once(asked, done, may))


async def asked_once(request: Request[Any, Any, Any], caller: Principal | None, secret: bytes) -> Asked | None:
    """The request as one to be done once, if it carries a key; what is kept of it tells nothing without the secret."""
    key = request.headers.get(KEY)
    if key is None:
        return None
    target = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
    # A version in the header is part of what was asked.
    version = ", ".join(request.headers.getall("if-match", ()))
    said = await request.body() + b"\n" + version.encode("latin-1", "replace")
    hashed = request_hash(request.method, target, said, secret)
    return Asked.by_nobody(key, hashed) if caller is None else Asked(caller.user_id, key, hashed)


def _answer(told: Told[Any]) -> Answer:
    body = b"" if told.status == HTTP_204_NO_CONTENT else msgspec.json.encode(told.body)
    return Answer(status=told.status, body=body, headers=told.headers, made=told.made, secret=told.secret, of=told.of)


def _response(answer: Answer) -> Response[Any]:
    if answer.status == HTTP_204_NO_CONTENT:
        return Response(None, status_code=answer.status, headers=dict(answer.headers))
    return Response(answer.body, status_code=answer.status, headers=dict(answer.headers), media_type=MediaType.JSON)
