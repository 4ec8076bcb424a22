"""An accelerated server and a plain one, on one store: whatever happens, both answer the same.

Two people write, let each other in and put each other out, and time passes; after every step each asks both servers for
everything there is to ask. The long form is in `make soak`.
"""

import random
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from potluck.acceleration import ALL, PLAIN
from potluck.apps.polls.app import PollsApp
from potluck.apps.shopping.app import ShoppingApp
from tests.people.assembly import Clock
from tests.toy import NotesApp
from tests.web.suites import ask, data, signed_up, suite_on

# What differs from answer to answer: the number of the request, and texts that are sealed anew.
SEALED = ("requestId", "nextCursor", "position")


class History(ABC):
    """Two people on both servers, and everything they made there."""

    app: Any

    def __init__(self, servers: list[httpx.AsyncClient], people: list[dict[str, Any]], chosen: random.Random) -> None:
        self.servers, self.people, self.chosen = servers, people, chosen
        self.compared = 0

    @abstractmethod
    async def begin(self) -> None:
        """What there is at first."""

    @abstractmethod
    def reads(self) -> list[str]:
        """Everything there is to ask."""

    @abstractmethod
    async def step(self, clock: Clock) -> None:
        """Something that happens."""

    async def do(self, method: str, path: str, body: Any = None, by: Any = None) -> httpx.Response:
        """Something is done, at either server and maybe by either person."""
        return await ask(self.chosen.choice(self.servers), method, path, body, by=by or self.chosen.choice(self.people))

    async def compare(self) -> None:
        """Ask both for everything, some of it twice, as each person and with the tags that were given before."""
        remembering, plain = self.servers
        for path in self.reads():
            for person in self.people:
                for _ in range(self.chosen.choice((1, 1, 2))):
                    before, kept, fresh = [
                        await ask(each, "GET", path, by=person) for each in (plain, remembering, plain)
                    ]
                    if told(before) != told(fresh):
                        continue  # a consumer wrote meanwhile
                    assert told(kept) == told(fresh), path
                    if "etag" in kept.headers:
                        again = await ask(remembering, "GET", path, by=person, if_none_match=fresh.headers["etag"])
                        assert again.status_code == 304, path
                    self.compared += 1


def told(answer: httpx.Response) -> tuple[Any, ...]:
    """What an answer says, but for what is sealed or numbered."""
    body = answer.json()
    sealed = [body.pop(name, None) is None for name in SEALED]
    return answer.status_code, answer.headers.get("etag"), body, sealed


class NotesHistory(History):
    """Books that people let each other into, and notes with a private part."""

    app = staticmethod(NotesApp)

    async def begin(self) -> None:
        self.books: list[str] = []
        self.notes: list[tuple[str, str]] = []

    def reads(self) -> list[str]:
        listed = [f"/books/{book}/notes" for book in self.books]
        return [
            "/me",
            "/books",
            *(f"/books/{book}" for book in self.books),
            *listed,
            *(f"{each}?limit=1" for each in listed),
            *(f"{each}?author={self.people[0]['userId']}" for each in listed),
            *(f"/books/{book}/notes/{note}" for book, note in self.notes),
        ]

    async def step(self, clock: Clock) -> None:
        chosen = self.chosen
        book = chosen.choice(self.books) if self.books else None
        happens = chosen.choice(("open", "let in", "out", "out", "add", "add", "change", "delete", "rename", "wait"))
        if happens == "open" or book is None:
            made = await self.do("POST", "/books", {"name": f"Book {len(self.books)}"})
            self.books = [*self.books, made.json()["bookId"]][-4:]
            self.notes = [each for each in self.notes if each[0] in self.books]
        elif happens in ("let in", "out"):
            other = chosen.choice(self.people)["userId"]
            await self.do("PUT" if happens == "let in" else "DELETE", f"/books/{book}/members/{other}")
        elif happens == "add":
            made = await self.do("POST", f"/books/{book}/notes", {"title": "A note", "private": "mine"})
            if made.status_code == 201:
                self.notes = [*self.notes, (book, made.json()["noteId"])][-6:]
        elif happens in ("change", "delete") and self.notes:
            within, note = chosen.choice(self.notes)
            change = {"title": f"Note {chosen.random()}", "version": chosen.choice((1, 2, 3))}
            method, body = ("DELETE", None) if happens == "delete" else ("PATCH", change)
            await self.do(method, f"/books/{within}/notes/{note}", body)
        elif happens == "rename":
            await self.do("PATCH", f"/books/{book}", {"name": f"{chosen.random()}", "version": 1})
        elif happens == "wait":
            clock.forward(minutes=chosen.choice((1, 20)))


class ShoppingHistory(History):
    """A family whose things expire a week after they are bought, and whose second member comes and goes."""

    app = staticmethod(ShoppingApp)

    async def begin(self) -> None:
        self.admin, self.guest = self.people
        made = await ask(self.servers[0], "POST", "/families", {"name": "Elm Street"}, by=self.admin)
        self.family = f"/families/{data(made, 201)['familyId']}"
        self.stores: list[str] = []
        self.items: list[str] = []

    def reads(self) -> list[str]:
        listed = f"{self.family}/shopping-list"
        return [
            "/families",
            self.family,
            f"{self.family}/members",
            f"{self.family}/stores",
            listed,
            f"{listed}?status=pending",
            f"{listed}?limit=2",
            *(f"{listed}?storeId={each}" for each in self.stores),
            *(f"{self.family}/stores/{each}" for each in self.stores),
            *(f"{listed}/{each}" for each in self.items),
        ]

    async def step(self, clock: Clock) -> None:
        chosen, family = self.chosen, self.family
        happens = chosen.choice(
            ("store", "add", "add", "tick", "tick", "delete", "rename", "out", "in", "wait", "wait")
        )
        if happens == "store":
            made = await self.do("POST", f"{family}/stores", {"name": f"Store {chosen.random()}"}, by=self.admin)
            self.stores = [*self.stores, made.json()["storeId"]][-2:]
        elif happens == "add":
            where = chosen.choice((None, *self.stores))
            made = await self.do("POST", f"{family}/shopping-list", {"name": "Tea", "storeId": where})
            if made.status_code == 201:
                self.items = [*self.items, made.json()["shoppingItemId"]][-5:]
        elif happens == "tick" and self.items:
            status = {"status": chosen.choice(("purchased", "pending")), "version": chosen.choice((1, 2))}
            await self.do("PATCH", f"{family}/shopping-list/{chosen.choice(self.items)}/status", status)
        elif happens == "delete" and self.stores:
            await self.do("DELETE", f"{family}/stores/{chosen.choice(self.stores)}", by=self.admin)
        elif happens == "rename":
            await self.do("PATCH", "/me", {"name": f"Bo {chosen.random()}", "version": chosen.choice((1, 2, 3))})
        elif happens == "out":
            await self.do("DELETE", f"{family}/members/{self.guest['userId']}", by=self.admin)
        elif happens == "in":
            made = await self.do("POST", f"{family}/invitations", {"role": "member"}, by=self.admin)
            await self.do("POST", "/invitations/accept", {"token": made.json()["token"]}, by=self.guest)
        elif happens == "wait":
            clock.forward(hours=chosen.choice((1, 30, 100)))


@asynccontextmanager
async def begun(kind: type[History], folder, clock, seed: int):
    async with (
        suite_on(folder, [kind.app], clock=clock, accelerations=ALL) as (remembering, _),
        suite_on(folder, [kind.app], clock=clock, accelerations=PLAIN) as (plain, _),
    ):
        people = [await signed_up(remembering, f"{name}@example.org", name) for name in ("Ada", "Bo")]
        history = kind([remembering, plain], people, random.Random(seed))
        await history.begin()
        yield history


async def played(kind: type[History], folder, seed: int, steps: int) -> int:
    clock = Clock()
    async with begun(kind, folder, clock, seed) as history:
        for _ in range(steps):
            await history.step(clock)
            await history.compare()
        return history.compared


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", [NotesHistory, ShoppingHistory])
async def test_whatever_happens_both_answer_the_same(tmp_path, kind, seed):
    assert await played(kind, tmp_path, seed, 15) > 100


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("kind", [NotesHistory, ShoppingHistory])
async def test_the_same_over_long_histories(tmp_path, kind, seed):
    assert await played(kind, tmp_path, seed, 80) > 1000


async def test_what_a_rule_works_out_by_the_clock_is_not_remembered(tmp_path):
    """A poll ends by its time, and nobody writes anything."""
    clock = Clock()
    async with suite_on(tmp_path, [PollsApp], clock=clock) as (client, _):
        ends = (clock() + timedelta(minutes=10)).isoformat().replace("+00:00", "Z")
        poll = {"title": "Lunch", "candidates": ["Soup", "Salad"], "expiresAt": ends, "resultsVisibility": "always"}
        path = f"/polls/{(await ask(client, 'POST', '/polls', poll)).json()['id']}"
        for _ in range(3):
            assert (await ask(client, "GET", f"{path}/results")).json()["status"] == "live"
            assert (await ask(client, "GET", path)).json()["status"] == "open"
        clock.forward(minutes=11)
        assert (await ask(client, "GET", f"{path}/results")).json()["status"] == "final"
        assert (await ask(client, "GET", path)).json()["status"] == "closed"


async def test_what_expires_is_gone_at_its_second_though_nobody_writes(tmp_path):
    clock = Clock()
    async with begun(ShoppingHistory, tmp_path, clock, 0) as history:
        listed = f"{history.family}/shopping-list"
        item = data(await ask(history.servers[0], "POST", listed, {"name": "Tea"}, by=history.admin), 201)
        bought = {"status": "purchased", "version": 1}
        path = f"{listed}/{item['shoppingItemId']}"
        data(await ask(history.servers[0], "PATCH", f"{path}/status", bought, by=history.admin))
        for passing, left in (
            (timedelta(0), True),
            (timedelta(days=7, seconds=-1), True),
            (timedelta(seconds=1), False),
        ):
            clock.forward(seconds=passing.total_seconds())
            for _ in range(3):
                found = data(await ask(history.servers[0], "GET", listed, by=history.admin))["items"]
                one = await ask(history.servers[0], "GET", path, by=history.admin)
                assert (len(found), one.status_code) == ((1, 200) if left else (0, 404))
