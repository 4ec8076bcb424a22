"""A server that remembers answers and one that does not, on one store: whatever happens, both answer the same.

Two people write, let each other in and put each other out, and time passes; after every step each asks both servers for
everything there is to ask. The long form is in `make soak`.
"""

import random
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from potluck.apps.polls.app import polls_app
from potluck.engines.recording import Recording
from tests.people.assembly import Clock
from tests.toy import notes_app
from tests.web.suites import ask, signed_up, suite_on

# What differs from answer to answer: the number of the request, and texts that are sealed anew.
SEALED = ("requestId", "nextCursor", "position")


class Two:
    """Both servers, and everything that was made on them."""

    def __init__(self, remembering: httpx.AsyncClient, plain: httpx.AsyncClient, people: list[dict[str, Any]]) -> None:
        self.remembering, self.plain, self.people = remembering, plain, people
        self.books: list[str] = []
        self.notes: list[tuple[str, str]] = []
        self.compared = 0

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

    async def compare(self, chosen: random.Random) -> None:
        """Ask both for everything, some of it twice, as each person and with the tags that were given before."""
        for path in self.reads():
            for person in self.people:
                for _ in range(chosen.choice((1, 1, 2))):
                    kept, fresh = [await ask(each, "GET", path, by=person) for each in (self.remembering, self.plain)]
                    assert told(kept) == told(fresh), path
                    if "etag" in kept.headers:
                        again = await ask(self.remembering, "GET", path, by=person, if_none_match=fresh.headers["etag"])
                        assert again.status_code == 304, path
                    self.compared += 1


def told(answer: httpx.Response) -> tuple[Any, ...]:
    """What an answer says, but for what is sealed or numbered."""
    body = answer.json()
    sealed = [body.pop(name, None) is None for name in SEALED]
    return answer.status_code, answer.headers.get("etag"), body, sealed


@asynccontextmanager
async def two_servers(folder, clock):
    async with (
        suite_on(folder, [notes_app], clock=clock) as (remembering, _),
        # Whatever is wrapped around an engine must see every call, so nothing is remembered.
        suite_on(folder, [notes_app], clock=clock, wrap=Recording) as (plain, _),
    ):
        people = [await signed_up(remembering, f"{name}@example.org", name) for name in ("Ada", "Bo")]
        yield Two(remembering, plain, people)


async def step(two: Two, clock: Clock, chosen: random.Random) -> None:
    """Something that happens, at either server."""
    server = chosen.choice((two.remembering, two.plain))
    person, other = chosen.sample(two.people, 2)
    book = chosen.choice(two.books) if two.books else None
    happens = chosen.choice(
        ("open", "let in", "put out", "put out", "add", "add", "change", "delete", "rename", "wait")
    )
    if happens == "open" or book is None:
        made = await ask(server, "POST", "/books", {"name": f"Book {len(two.books)}"}, by=person)
        two.books = [*two.books, made.json()["bookId"]][-4:]
        two.notes = [each for each in two.notes if each[0] in two.books]
    elif happens == "let in":
        await ask(server, "PUT", f"/books/{book}/members/{other['userId']}", by=person)
    elif happens == "put out":
        await ask(server, "DELETE", f"/books/{book}/members/{other['userId']}", by=person)
    elif happens == "add":
        made = await ask(server, "POST", f"/books/{book}/notes", {"title": "A note", "private": "mine"}, by=person)
        if made.status_code == 201:
            two.notes = [*two.notes, (book, made.json()["noteId"])][-6:]
    elif happens in ("change", "delete") and two.notes:
        within, note = chosen.choice(two.notes)
        if happens == "delete":
            await ask(server, "DELETE", f"/books/{within}/notes/{note}", by=person)
        else:
            body = {"title": f"Note {chosen.random()}", "version": chosen.choice((1, 2, 3))}
            await ask(server, "PATCH", f"/books/{within}/notes/{note}", body, by=person)
    elif happens == "rename":
        await ask(server, "PATCH", f"/books/{book}", {"name": f"{chosen.random()}", "version": 1}, by=person)
    elif happens == "wait":
        clock.forward(minutes=chosen.choice((1, 20)))


async def history(folder, seed: int, steps: int) -> int:
    clock = Clock()
    chosen = random.Random(seed)
    async with two_servers(folder, clock) as two:
        for _ in range(steps):
            await step(two, clock, chosen)
            await two.compare(chosen)
        return two.compared


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_both_answer_the_same(tmp_path, seed):
    assert await history(tmp_path, seed, 15) > 300


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 120))
async def test_the_same_over_long_histories(tmp_path, seed):
    assert await history(tmp_path, seed, 80) > 3000


async def test_what_a_rule_works_out_by_the_clock_is_not_remembered(tmp_path):
    """A poll ends by its time, and nobody writes anything."""
    clock = Clock()
    async with suite_on(tmp_path, [polls_app], clock=clock) as (client, _):
        ends = (clock() + timedelta(minutes=10)).isoformat().replace("+00:00", "Z")
        poll = {"title": "Lunch", "candidates": ["Soup", "Salad"], "expiresAt": ends, "resultsVisibility": "always"}
        path = f"/polls/{(await ask(client, 'POST', '/polls', poll)).json()['id']}"
        for _ in range(3):
            assert (await ask(client, "GET", f"{path}/results")).json()["status"] == "live"
            assert (await ask(client, "GET", path)).json()["status"] == "open"
        clock.forward(minutes=11)
        assert (await ask(client, "GET", f"{path}/results")).json()["status"] == "final"
        assert (await ask(client, "GET", path)).json()["status"] == "closed"
