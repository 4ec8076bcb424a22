"""Two machines on one DynamoDB, and kill -9 of either: people go on at the other, and everything happens exactly once.

What follows from changes is done by both machines, each for its own shards. So the one that is killed always owns some.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx
import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.server import serving
from tests.faults.test_suite_kill import Writer, everything_on
from tests.patience import PATIENCE_SECONDS, until
from tests.processes import running
from tests.references import REGION
from tests.web.suites import API, ask, bearer, data, signed_up

WRITERS = 8
BOOKS = 6
MOST_ANSWERS = 60
SECRET = "a secret of two machines, at least 32 characters"


class Machine:
    """A machine with the suite on it, which can be killed and started again."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        folder.mkdir()
        self.folder = folder
        self._settings = {
            "POTLUCK_ENGINE": "aws",
            "POTLUCK_ENDPOINT": endpoint,
            "POTLUCK_REGION": REGION,
            "POTLUCK_SECRET": SECRET,
            "POTLUCK_TAKEOVER": "5",
            "AWS_ACCESS_KEY_ID": "twomachines",
            "AWS_SECRET_ACCESS_KEY": "tests",
        }
        self._running = ExitStack()
        self._process: Popen[str] | None = None
        self.client = httpx.AsyncClient()

    async def start(self) -> None:
        command = running("serve", "--port", "0", cwd=self.folder, **self._settings)
        self._process, address = await asyncio.to_thread(self._running.enter_context, command)
        self.client = httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    async def stop(self) -> None:
        await self.client.aclose()
        await asyncio.to_thread(self._running.close)


@contextlib.asynccontextmanager
async def two_machines(folder: Path) -> AsyncIterator[tuple[Machine, Machine]]:
    async with await Database.open(folder / "tables.db") as database, serving(database, shared=True) as port:
        endpoint = f"http://127.0.0.1:{port}"
        one, other = Machine(folder / "one", endpoint), Machine(folder / "other", endpoint)
        try:
            # One after the other: the first creates the tables.
            await one.start()
            await other.start()
            yield one, other
        finally:
            await one.stop()
            await other.stop()


class Home:
    """A family whose list is written to at both machines, and a library whose collection is renamed."""

    def __init__(self, seed: int) -> None:
        self.ada: dict[str, Any] = {}
        self.family = self.library = self.collection = ""
        self.writers: list[Writer] = []
        self.seen: set[str] = set()
        """The things on the list that an event stream told of."""
        self._seed = seed

    async def make(self, client: httpx.AsyncClient) -> None:
        self.ada = await signed_up(client)
        made = data(await ask(client, "POST", "/families", {"name": "Elm Street"}, by=self.ada), 201)
        self.family = made["familyId"]
        made = data(await ask(client, "POST", "/libraries", {"libraryName": "Home"}, by=self.ada), 201)
        self.library = f"/libraries/{made['libraryId']}"
        new = {"name": "Shelf 0"}
        made = data(await ask(client, "POST", f"{self.library}/collections", new, by=self.ada), 201)
        self.collection = f"{self.library}/collections/{made['collectionId']}"
        for number in range(BOOKS):
            book = {"title": f"Book {number}", "authors": ["Some One"], "collectionId": made["collectionId"]}
            data(await ask(client, "POST", f"{self.library}/books", book, by=self.ada), 201)
        self.writers = [Writer(self.family, self._seed, number) for number in range(WRITERS)]

    async def rename(self, client: httpx.AsyncClient, name: str) -> None:
        version = data(await ask(client, "GET", self.collection, by=self.ada))["version"]
        data(await ask(client, "PATCH", self.collection, {"name": name, "version": version}, by=self.ada))

    async def has_shelf(self, client: httpx.AsyncClient, name: str) -> bool:
        items = data(await ask(client, "GET", f"{self.library}/items", by=self.ada))["items"]
        assert len(items) == BOOKS
        return {item["collectionName"] for item in items} == {name}

    async def follow(self, machines: tuple[Machine, Machine]) -> None:
        """Follow the list at one machine, then at the other, each time from where the last stream ended."""
        position = data(await ask(machines[0].client, "GET", self._list, by=self.ada))["position"]
        turn = 0
        while True:
            with contextlib.suppress(httpx.TransportError):
                headers = {**bearer(self.ada), "last-event-id": position}
                path = f"{API}{self._list}/events"
                async with machines[turn % 2].client.stream("GET", path, headers=headers) as stream:
                    async for line in stream.aiter_lines():
                        if line.startswith("id:"):
                            position = line.removeprefix("id:").strip()
                        elif line.startswith("data:") and "shoppingItemId" in line:
                            self.seen.add(json.loads(line.removeprefix("data:"))["shoppingItemId"])
            turn += 1
            await asyncio.sleep(0.1)

    @property
    def _list(self) -> str:
        return f"/families/{self.family}/shopping-list"

    async def use(self, machines: tuple[Machine, Machine], answers: int, then: Callable[[], None]) -> None:
        """Have everyone write, half of them at each machine; after so many answers do that, and so many later end."""
        left = 2 * answers

        async def write(writer: Writer, turn: int) -> None:
            nonlocal left
            while left > 0:
                try:
                    await writer.next(machines[turn % 2].client, self.ada)
                except httpx.TransportError:
                    # Repeated at the other machine, under the same key.
                    turn += 1
                    await asyncio.sleep(0.05)
                    continue
                left -= 1
                if left == answers:
                    then()

        await asyncio.gather(*(write(writer, number) for number, writer in enumerate(self.writers)))

    async def check(self, client: httpx.AsyncClient) -> None:
        for writer in self.writers:
            await writer.next(client, self.ada)
        acknowledged = {item: state for writer in self.writers for item, state in writer.acknowledged.items()}
        assert await everything_on(client, self.ada, self.family) == acknowledged

        async def told_of_all() -> bool:
            return self.seen >= set(acknowledged)

        await until(told_of_all, every=0.1)


async def survive_kills(folder: Path, seed: int, kills: int) -> None:
    moments = random.Random(seed)
    async with two_machines(folder) as machines:
        home = Home(seed)
        await home.make(machines[0].client)
        following = asyncio.create_task(home.follow(machines))
        try:
            for number in range(1, kills + 1):
                killed = machines[moments.randrange(2)]
                survivor = machines[1] if killed is machines[0] else machines[0]
                # What follows from this is under way when a machine dies.
                await home.rename(killed.client, f"Shelf {number}")
                await home.use(machines, moments.randint(1, MOST_ANSWERS), killed.kill)

                async def renamed(survivor: Machine = survivor, name: str = f"Shelf {number}") -> bool:
                    return await home.has_shelf(survivor.client, name)

                await until(renamed, every=0.5)
                assert not following.done()
                if number < kills:
                    await killed.stop()
                    await killed.start()
            await home.check(survivor.client)
        finally:
            following.cancel()


async def test_what_was_acknowledged_is_there_once_and_told_to_everyone_when_one_of_two_machines_is_killed(tmp_path):
    await survive_kills(tmp_path, seed=1, kills=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 120))
async def test_what_was_acknowledged_is_there_once_over_a_hundred_kills_of_two_machines(tmp_path, seed):
    await survive_kills(tmp_path, seed, kills=5)
