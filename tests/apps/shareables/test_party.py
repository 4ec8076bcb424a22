"""A party: everybody on one checklist at once, behind one address, on a server of two processes."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec
import pytest

from tests.apps.shareables.doors import ADMIN, VIEW
from tests.patience import PATIENCE_SECONDS, until
from tests.processes import running
from tests.web.suites import API, ask, bearer, data

ITEMS = 40
ITEM_EVENTS = {"created", "updated"}


@dataclass
class Party:
    """One checklist, and what was answered to everybody."""

    client: httpx.AsyncClient
    path: str
    answers: Counter[int] = field(default_factory=Counter)
    ticks: dict[str, dict[int, bool]] = field(default_factory=dict)
    """Of each item, what the version was that a tick made, as it was acknowledged."""

    async def ask(self, method: str, path: str, body: Any, by: str) -> httpx.Response:
        answer = await ask(self.client, method, self.path + path, body, by=by)
        self.answers[answer.status_code] += 1
        return answer

    async def stored(self, by: str) -> dict[str, Any]:
        seen = data(await ask(self.client, "GET", self.path, by=by))
        return {each["checklistItemId"]: each for each in seen["items"]}


class Guest:
    """Somebody whose page is open: it shows the list, and hears of what others do."""

    def __init__(self, party: Party, number: int) -> None:
        self.party, self.random = party, random.Random(number)
        self.token = ""
        self.items: dict[str, Any] = {}
        self.heard = 0

    async def come(self) -> None:
        """Everybody comes at once, and types the passcode."""
        opened = await ask(self.party.client, "POST", f"{self.party.path}/sessions", {"passcode": VIEW})
        self.party.answers[opened.status_code] += 1
        self.token = data(opened, 201)["token"]

    async def look(self, begun: asyncio.Event) -> None:
        """The list, and from there on what changes in it; for as long as one stays."""
        since = data(await ask(self.party.client, "GET", f"{self.party.path}/changes", by=self.token))["position"]
        self.items = await self.party.stored(self.token)
        events = f"{API}{self.party.path}/events?since={since}"
        async with self.party.client.stream("GET", events, headers=bearer(self.token), timeout=None) as stream:
            assert stream.status_code == 200
            begun.set()
            kind = ""
            async for line in stream.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind in ITEM_EVENTS:
                    self.heard += 1
                    item = msgspec.json.decode(value)
                    self.items[item["checklistItemId"]] = item
                elif name == "data":
                    assert kind in ("looking", "shareable"), f"the page would have to begin anew: {kind}"

    async def tick(self) -> None:
        """Tick what is not, or untick it; of the version that one sees, or of the one that is told."""
        item = self.random.choice(list(self.items.values()))
        while True:
            said = {"done": not item["done"], "version": item["version"]}
            answer = await self.party.ask("PATCH", f"/items/{item['checklistItemId']}", said, self.token)
            if answer.status_code != 409:
                break
            item = answer.json()["current"]
        after = data(answer)
        versions = self.party.ticks.setdefault(after["checklistItemId"], {})
        assert after["version"] not in versions, "two ticks made the same version"
        versions[after["version"]] = after["done"]

    async def go_on_ticking(self, until_time: float) -> None:
        while time.monotonic() < until_time:
            await asyncio.sleep(self.random.uniform(0.2, 1.8))
            await self.tick()


async def go_on_sorting(party: Party, admin: str, until_time: float) -> int:
    """One who puts everything in another order, again and again."""
    shuffled, times = random.Random(0), 0
    while time.monotonic() < until_time:
        ids = list(await party.stored(admin))
        shuffled.shuffle(ids)
        data(await party.ask("PUT", "/items/order", {"itemIds": ids}, admin))
        times += 1
        await asyncio.sleep(0.5)
    return times


def as_shown(items: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(items.values(), key=lambda item: item["order"])


async def celebrate(folder, guests: int, seconds: float) -> dict[str, Any]:
    """The whole party; what it came to, in figures."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    with running("serve", "--port", "0", "--workers", "2", cwd=folder) as (_, address):
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS, limits=limits) as client:
            said = {
                "viewPasscode": VIEW,
                "adminPasscode": ADMIN,
                "items": [{"name": f"Thing {n}"} for n in range(ITEMS)],
            }
            made = data(await ask(client, "POST", "/shareables", {"entity": "checklist", "name": "Party", **said}), 201)
            party, admin = Party(client, f"/shareables/{made['shortId']}"), made["adminToken"]
            everybody = [Guest(party, number) for number in range(guests)]
            began = time.monotonic()
            await asyncio.gather(*(each.come() for each in everybody))
            unlocked = time.monotonic() - began
            begun = [asyncio.Event() for _ in everybody]
            async with asyncio.TaskGroup() as tasks:
                looking = [tasks.create_task(each.look(there)) for each, there in zip(everybody, begun, strict=True)]
                await asyncio.gather(*(each.wait() for each in begun))
                end = time.monotonic() + seconds
                *_, sorted_anew = await asyncio.gather(
                    *(each.go_on_ticking(end) for each in everybody), go_on_sorting(party, admin, end)
                )
                stored = await party.stored(admin)

                async def all_show_the_same() -> bool:
                    return all(as_shown(each.items) == as_shown(stored) for each in everybody)

                ended = time.monotonic()
                with contextlib.suppress(TimeoutError):
                    await until(all_show_the_same)
                caught_up = time.monotonic() - ended
                for each in looking:
                    each.cancel()
            for each in everybody:
                assert as_shown(each.items) == as_shown(stored)
            for item_id, versions in party.ticks.items():
                item = stored[item_id]
                # Every tick that was acknowledged made a version of its own, and the last is what is there.
                assert sorted(versions) == list(range(2, item["version"] + 1))
                assert versions[item["version"]] == item["done"]
            assert [each["order"] for each in as_shown(stored)] == list(range(ITEMS))
            assert set(party.answers) <= {200, 201, 409}, party.answers
    return {
        "ticks": sum(map(len, party.ticks.values())),
        "sorted": sorted_anew,
        "heard": sum(each.heard for each in everybody),
        "unlocked in": round(unlocked, 2),
        "caught up in": round(caught_up, 2),
        "answers": dict(party.answers),
    }


async def test_guests_tick_for_a_moment_and_all_see_the_same(tmp_path):
    found = await celebrate(tmp_path, guests=16, seconds=2)
    assert found["ticks"] >= 16
    assert found["sorted"] >= 1


@pytest.mark.soak
async def test_sixty_guests_tick_for_a_minute_and_all_see_the_same(tmp_path):
    found = await celebrate(tmp_path, guests=60, seconds=60)
    print(found)
    assert found["ticks"] >= 60
