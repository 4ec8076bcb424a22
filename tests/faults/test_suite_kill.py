"""kill -9 of the served suite; whoever was interrupted repeats what they sent, and everything happened exactly once."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from subprocess import Popen
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.patience import PATIENCE_SECONDS
from tests.processes import running
from tests.web.suites import ask, data, signed_up

WRITERS = 12
ROUNDS_PER_STORE = 4
MOST_ANSWERS = 150
"""A round ends after at most so many, and with it the process."""


@dataclass
class Asked:
    """A request under a key of its own, and what has to come of it."""

    method: str
    path: str
    body: Any
    key: str
    item_id: str
    status: str
    version: int


class Writer:
    """Puts things on the list, ticks and unticks each; begins the next when the last is acknowledged."""

    def __init__(self, family: str, seed: int, number: int) -> None:
        self.family = f"/families/{family}/shopping-list"
        self._random = random.Random(f"{seed} {number}")
        self._requests = self._made()
        self._under_way: Asked | None = None
        self.acknowledged: dict[str, tuple[str, int]] = {}

    def _id(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _made(self) -> Iterator[Asked]:
        while True:
            item = self._id()
            new = {"name": f"Thing {item}", "shoppingItemId": item}
            yield Asked("POST", self.family, new, self._id(), item, "pending", 1)
            for version in range(1, self._random.randint(2, 5)):
                status = ("pending", "purchased")[version % 2]
                tick = {"status": status, "version": version}
                yield Asked("PATCH", f"{self.family}/{item}/status", tick, self._id(), item, status, version + 1)

    async def next(self, client: httpx.AsyncClient, ada: dict[str, Any]) -> None:
        """What was under way when the suite was killed, under the same key; else something new."""
        asked = self._under_way = self._under_way or next(self._requests)
        answer = await ask(client, asked.method, asked.path, asked.body, by=ada, idempotency_key=asked.key)
        found = data(answer, 201 if asked.method == "POST" else 200)
        assert (found["status"], found["version"]) == (asked.status, asked.version)
        self.acknowledged[asked.item_id] = asked.status, asked.version
        self._under_way = None

    async def until_killed(self, client: httpx.AsyncClient, ada: dict[str, Any], answered: Callable[[], None]) -> None:
        with contextlib.suppress(httpx.TransportError):
            while True:
                await self.next(client, ada)
                answered()


async def everything_on(client: httpx.AsyncClient, ada: dict[str, Any], family: str) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    cursor = ""
    while cursor is not None:
        page = data(await ask(client, "GET", f"/families/{family}/shopping-list?limit=100{cursor}", by=ada))
        found |= {each["shoppingItemId"]: (each["status"], each["version"]) for each in page["items"]}
        cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
    return found


async def survive_kills(folder, seed: int, rounds: int) -> None:
    moments = random.Random(seed)
    ada: dict[str, Any] = {}
    writers: list[Writer] = []
    for _ in range(rounds):
        with running("serve", "--port", "0", cwd=folder) as (process, address):
            async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as client:
                if not writers:
                    ada = await signed_up(client)
                    family = data(await ask(client, "POST", "/families", {"name": "Elm Street"}, by=ada), 201)[
                        "familyId"
                    ]
                    writers = [Writer(family, seed, number) for number in range(WRITERS)]
                left = moments.randint(1, MOST_ANSWERS)

                def answered(process: Popen[str] = process) -> None:
                    nonlocal left
                    left -= 1
                    if left == 0:
                        process.kill()

                await asyncio.gather(*(each.until_killed(client, ada, answered) for each in writers))
    with running("serve", "--port", "0", cwd=folder) as (_, address):
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as client:
            for each in writers:
                await each.next(client, ada)
            acknowledged = {item: state for each in writers for item, state in each.acknowledged.items()}
            assert await everything_on(client, ada, family) == acknowledged


async def test_what_the_suite_acknowledged_is_there_once_over_four_kills(tmp_path):
    await survive_kills(tmp_path, seed=1, rounds=ROUNDS_PER_STORE)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 150))
async def test_what_the_suite_acknowledged_is_there_once_over_two_hundred_kills(tmp_path, seed):
    await survive_kills(tmp_path, seed, rounds=ROUNDS_PER_STORE)
