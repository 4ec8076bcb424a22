"""What the worlds of the apps' tests have in common: people who cost no password, and others who come between."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

import pytest

from potluck.engines import Engine
from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.store import Store
from potluck.streams import Consumer
from potluck.table import Table, absent
from potluck.validation.errors import Refusal
from potluck.web.errors import ProblemError
from tests.engine_targets import BOTH, EMBEDDED, LOCAL
from tests.people.assembly import WRAPPERS
from tests.stores import NOW, rows_in

__all__ = ["Meanwhile", "busy", "by_key", "consumer_named", "meanwhile", "outcomes", "registered"]


async def registered(store: Store, name: str, email: str) -> Principal:
    """Someone with an account, signed in."""
    account = Account(user_id=uuid4(), email=email, name=name, password_hash="-", created_at=NOW, updated_at=NOW)
    await store.put(account, when=absent)
    return Principal(
        kind="session", user_id=account.user_id, name=name, hash="0" * 64, session_epoch=1, expires_at=None
    )


def consumer_named(name: str, consumers: Sequence[Consumer]) -> Consumer:
    """One of an app's consumers, whichever others it has."""
    (found,) = [each for each in consumers if each.name == name]
    return found


async def by_key(engine: Engine, table: Table) -> dict[tuple[str, str], dict[str, Any]]:
    """Every row of the table, expired or not, by its key."""
    return {(row["PK"]["S"], row["SK"]["S"]): row for row in await rows_in(engine, table.name)}


class Meanwhile:
    """An engine where something else is done just before a transaction, or another request, once it was told so."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.first: Callable[[], Awaitable[Any]] | None = None
        self.before = "TransactWriteItems"

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if self.first is not None and re.match(self.before, f"{operation} {request}"):
            first, self.first = self.first, None
            await first()
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()


def meanwhile(store: Store, first: Callable[[], Awaitable[Any]], before: str = "TransactWriteItems") -> None:
    """Do this before the next transaction, or before the next request that reads like `before`."""
    assert isinstance(store.engine, Meanwhile)
    store.engine.first, store.engine.before = first, before


async def outcomes(*attempts: Awaitable[Any]) -> tuple[list[Any], list[Exception]]:
    """What came of attempts at once: answers, and refusals; anything else is raised."""
    done: list[Any] = []
    refused: list[Exception] = []
    for outcome in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(outcome, ProblemError | Refusal):
            refused.append(outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            done.append(outcome)
    return done, refused


def busy(many: int, some: int, many_behind: Sequence[str]) -> list[Any]:
    """Engines, wrappers, and how many do something at once there: many on the embedded engine behind these, else some.

    The long form is many everywhere.
    """
    return [
        *(
            pytest.param((EMBEDDED, each, many if each in many_behind else some), id=f"{EMBEDDED}-{each}")
            for each in WRAPPERS
        ),
        pytest.param((LOCAL, "plain", some), id=f"{LOCAL}-plain"),
        *(
            pytest.param((engine, each, many), id=f"{engine}-{each}-{many}", marks=pytest.mark.soak)
            for engine in BOTH
            for each in WRAPPERS
        ),
    ]
