"""People who use all five apps over HTTP, and know afterwards what they were told was saved.

Households of four share a shopping list; each person has a journal, a library, a checklist and polls that all others
vote in. Every write has an Idempotency-Key, and is repeated under it until it is answered, as a device does. So what
was acknowledged must be there afterwards, once.
"""

import asyncio
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from benchmarks.wire_client import Connection, WireError

API = "/api/v1"
PASSWORD = "correct horse battery staple"
HOUSEHOLD = 4
JOINED_AT_ONCE = 8
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
METRICS = {"durationMinutes": 60, "intensity": 5, "rounds": 4, "giOrNoGi": "gi"}
MOST_CHECKED = 80
CANDIDATES = ["Lake", "Hut", "Sea", "City"]


class Outcomes:
    """What became of the requests of all people."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        """By call, how long each answered request took, from when it was sent for the last time."""
        self.errors: Counter[str] = Counter()
        """Answers that no one should get, by call and status."""
        self.interrupted = 0
        """Requests without an answer, because their server was killed."""
        self.events = 0
        """Pieces of event streams that arrived."""
        self.lost: list[str] = []
        """What was acknowledged and is not there, or is there twice."""

    @property
    def requests(self) -> int:
        return sum(map(len, self.seconds.values()))


class Person:
    """Someone with an account, a connection of their own, and a memory of what was saved."""

    def __init__(self, port: int, number: int, outcomes: Outcomes) -> None:
        self.number = number
        self.outcomes = outcomes
        self.random = random.Random(number)
        self._port = port
        self._client = f"10.{number >> 8 & 255}.{number & 255}.7"
        self._connection = Connection()
        self.token = ""
        self.family = self.library = self.checklist = self.checklist_token = ""
        self.bought: dict[str, tuple[str, int]] = {}
        """On the shopping list, by id, the status and the version that were acknowledged."""
        self.entries: set[str] = set()
        self.books: set[str] = set()
        self.checked: set[str] = set()

    def new_id(self) -> str:
        return str(UUID(int=self.random.getrandbits(128), version=4))

    async def ask(self, call: str, method: str, path: str, body: Any = None, token: str = "", **headers: str) -> Any:
        """The answer to one request, repeated until it is answered; None if it was refused, which is an error."""
        named = {"host": f"127.0.0.1:{self._port}", "x-forwarded-for": self._client, **headers}
        if token or self.token:
            named["authorization"] = f"Bearer {token or self.token}"
        sent = b""
        if body is not None:
            sent = json.dumps(body).encode()
            named["content-type"] = "application/json"
        if method != "GET":
            named["content-length"] = str(len(sent))
            named["idempotency-key"] = self.new_id()
        lines = "\r\n".join(f"{name}: {value}" for name, value in named.items())
        request = f"{method} {path} HTTP/1.1\r\n{lines}\r\n\r\n".encode() + sent
        pause = SHORTEST_PAUSE
        while True:
            began = time.perf_counter()
            try:
                answer = await self._send(request)
            except OSError:
                self.outcomes.interrupted += 1
                self._connection = Connection()
            except WireError as refused:
                problem = refused.body.partition(b'"/problems/')[2].partition(b'"')[0].decode()
                self.outcomes.errors[f"{call} {refused.status} {problem}"] += 1
                if refused.status < 500:
                    return None
            else:
                self.outcomes.seconds[call].append(time.perf_counter() - began)
                is_json = not answer.startswith(b"<")
                return (json.loads(answer) if answer else {}) if is_json else answer
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _send(self, request: bytes) -> bytes:
        connection, loop = self._connection, asyncio.get_running_loop()
        if connection.transport is None or connection.transport.is_closing():
            connection = self._connection = Connection()
            await loop.create_connection(lambda: connection, "127.0.0.1", self._port)
        assert connection.transport is not None
        connection.answer = loop.create_future()
        connection.transport.write(request)
        return await connection.answer

    async def join(self, founder: "Person") -> None:
        """Create everything that a person has; the family is the founder's."""
        account = {"email": f"person{self.number}@example.org", "password": PASSWORD, "name": f"Person {self.number}"}
        self.token = (await self.ask("sign up", "POST", f"{API}/accounts", account))["token"]
        if founder is self:
            family = await self.ask("make", "POST", f"{API}/families", {"name": f"Household {self.number}"})
        else:
            role = {"role": "member"}
            invited = await founder.ask("make", "POST", f"{API}/families/{founder.family}/invitations", role)
            family = await self.ask("make", "POST", f"{API}/invitations/accept", {"token": invited["token"]})
        self.family = family["familyId"]
        made = await self.ask("make", "POST", f"{API}/libraries", {"libraryName": f"Books of {self.number}"})
        self.library = made["libraryId"]
        listed = {"entity": "checklist", "name": f"Trip {self.number}", "items": [{"name": "Tent"}]}
        made = await self.ask("make", "POST", f"{API}/shareables", listed)
        self.checklist, self.checklist_token = made["shortId"], made["adminToken"]

    # --- what they do ---------------------------------------------------------------------------------------------

    async def look_at_the_list(self, others: "People") -> None:
        await self.ask("shopping: read the list", "GET", f"{API}/families/{self.family}/shopping-list")

    async def add_to_the_list(self, others: "People") -> None:
        item = self.new_id()
        new = {"name": f"Thing {item[:8]}", "shoppingItemId": item}
        if await self.ask("shopping: add", "POST", f"{API}/families/{self.family}/shopping-list", new) is not None:
            self.bought[item] = "pending", 1

    async def tick(self, others: "People") -> None:
        if not self.bought:
            return
        item = self.random.choice([*self.bought])
        status, version = self.bought[item]
        status = "pending" if status == "purchased" else "purchased"
        path = f"{API}/families/{self.family}/shopping-list/{item}/status"
        if await self.ask("shopping: tick", "PATCH", path, {"status": status, "version": version}) is not None:
            self.bought[item] = status, version + 1

    async def write_an_entry(self, others: "People") -> None:
        entry = self.new_id()
        sections = {"shared": f"Rolled with person {self.random.randrange(300)}, " * 4, "private": "tired"}
        new = {"entryId": entry, "sections": sections, "sessionMetrics": METRICS}
        if await self.ask("journal: write", "POST", f"{API}/journal/entries", new) is not None:
            self.entries.add(entry)

    async def read_the_journal(self, others: "People") -> None:
        await self.ask("journal: read", "GET", f"{API}/journal/entries")

    async def search_the_journal(self, others: "People") -> None:
        await self.ask("journal: search", "GET", f"{API}/journal/search?q=rolled")

    async def add_a_book(self, others: "People") -> None:
        title = f"Volume {self.new_id()[:13]}"
        new = {"title": title, "authors": [f"Author {self.random.randrange(500)}"]}
        if await self.ask("library: add", "POST", f"{API}/libraries/{self.library}/books", new) is not None:
            self.books.add(title)

    async def read_the_library(self, others: "People") -> None:
        await self.ask("library: read", "GET", f"{API}/libraries/{self.library}/items")

    async def search_the_library(self, others: "People") -> None:
        await self.ask("library: search", "GET", f"{API}/library-search?q=volume%20{self.random.randrange(10)}")

    async def check(self, others: "People") -> None:
        if len(self.checked) >= MOST_CHECKED:
            return
        name = f"Pack {self.new_id()[:13]}"
        path = f"{API}/shareables/{self.checklist}/items"
        if await self.ask("checklist: add", "POST", path, {"name": name}, self.checklist_token) is not None:
            self.checked.add(name)

    async def look_at_a_checklist(self, others: "People") -> None:
        person = self.random.choice(others.people)
        await self.ask("checklist: read", "GET", f"{API}/shareables/{person.checklist}", None, person.checklist_token)

    async def open_a_poll(self, others: "People") -> None:
        new = {"title": f"Where do {self.number} and friends go?", "candidates": CANDIDATES}
        made = await self.ask("polls: open", "POST", f"{API}/polls", new)
        if made is not None:
            others.owners[made["id"]] = self
            others.votes[made["id"]] = 0
            others.voted[made["id"]] = set()

    async def vote(self, others: "People") -> None:
        open_to_me = [poll for poll, voted in others.voted.items() if self.number not in voted]
        if not open_to_me:
            await self.open_a_poll(others)
            return
        poll = self.random.choice(open_to_me)
        others.voted[poll].add(self.number)
        rankings = self.random.sample(CANDIDATES, 3)
        if await self.ask("polls: vote", "POST", f"{API}/polls/{poll}/votes", {"rankings": rankings}) is not None:
            others.votes[poll] += 1

    async def look_at_results(self, others: "People") -> None:
        if others.votes:
            poll = self.random.choice([*others.votes])
            await self.ask("polls: results", "GET", f"{API}/polls/{poll}/results")

    async def come_home(self, others: "People") -> None:
        await self.ask("home page", "GET", "/", accept="text/html")

    async def follow(self) -> None:
        """Keep an event stream of the shopping list open, as a page does."""
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    head = f"GET {API}/families/{self.family}/shopping-list/events HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                    head += f"x-forwarded-for: {self._client}\r\nauthorization: Bearer {self.token}\r\n\r\n"
                    writer.write(head.encode())
                    while await reader.read(65536):
                        self.outcomes.events += 1
                finally:
                    writer.close()
            await asyncio.sleep(self.random.uniform(0.5, 1.5))

    # --- what must be there afterwards --------------------------------------------------------------------------------

    async def pages(self, path: str) -> AsyncIterator[dict[str, Any]]:
        cursor = ""
        while cursor is not None:
            page = await self.ask("verify", "GET", f"{path}?limit=100{cursor}")
            for item in page["items"]:
                yield item
            cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"

    async def verify(self) -> None:
        """Add to `lost` what was acknowledged and is not there as it was, and what is there twice."""
        listed = {}
        async for item in self.pages(f"{API}/families/{self.family}/shopping-list"):
            listed[item["shoppingItemId"]] = item["status"], item["version"]
        self._compare("shopping", {item: listed.get(item) for item in self.bought}, self.bought)
        entries = Counter([entry["entryId"] async for entry in self.pages(f"{API}/journal/entries")])
        self._compare("journal", dict(entries), dict.fromkeys(self.entries, 1))
        books = Counter([item["title"] async for item in self.pages(f"{API}/libraries/{self.library}/items")])
        self._compare("library", dict(books), dict.fromkeys(self.books, 1))
        path = f"{API}/shareables/{self.checklist}"
        items = (await self.ask("verify", "GET", path, None, self.checklist_token))["items"]
        checked = Counter(item["name"] for item in items)
        self._compare("checklist", dict(checked), dict.fromkeys({*self.checked, "Tent"}, 1))

    def _compare(self, what: str, there: dict[str, Any], acknowledged: dict[str, Any]) -> None:
        if there != acknowledged:
            wrong = {name for name in {*there, *acknowledged} if there.get(name) != acknowledged.get(name)}
            self.outcomes.lost.append(f"{what} of person {self.number}: {len(wrong)} differ, such as {min(wrong)}")


Doing = Callable[[Person, "People"], Awaitable[None]]
HABITS: dict[Doing, int] = {
    Person.look_at_the_list: 22,
    Person.add_to_the_list: 9,
    Person.tick: 10,
    Person.read_the_journal: 8,
    Person.write_an_entry: 5,
    Person.search_the_journal: 2,
    Person.read_the_library: 8,
    Person.add_a_book: 5,
    Person.search_the_library: 3,
    Person.look_at_a_checklist: 7,
    Person.check: 4,
    Person.look_at_results: 7,
    Person.vote: 5,
    Person.come_home: 5,
}


class People:
    """Everyone, and the votes that were acknowledged."""

    def __init__(self, port: int, number: int, outcomes: Outcomes | None = None) -> None:
        self.outcomes = outcomes or Outcomes()
        self.people = [Person(port, each, self.outcomes) for each in range(number)]
        self.owners: dict[str, Person] = {}
        self.votes: dict[str, int] = {}
        self.voted: dict[str, set[int]] = {}

    async def join(self) -> None:
        """Have everyone sign up and make what they have, a few at a time."""
        turns = asyncio.Semaphore(JOINED_AT_ONCE)

        async def household(members: list[Person]) -> None:
            async with turns:
                for person in members:
                    await person.join(members[0])

        starts = range(0, len(self.people), HOUSEHOLD)
        await asyncio.gather(*(household(self.people[at : at + HOUSEHOLD]) for at in starts))

    async def verify(self) -> list[str]:
        """What was acknowledged and is not there, or is there twice."""
        for start in range(0, len(self.people), JOINED_AT_ONCE):
            await asyncio.gather(*(person.verify() for person in self.people[start : start + JOINED_AT_ONCE]))
        for poll, votes in self.votes.items():
            audit = await self.owners[poll].ask("verify", "GET", f"{API}/polls/{poll}/audit")
            if audit is None or (audit["votes"], audit["equal"]) != (votes, True):
                self.outcomes.lost.append(f"poll {poll}: {votes} votes were acknowledged, the audit says {audit}")
        return self.outcomes.lost


def next_habit(person: Person) -> Doing:
    """What this person does next."""
    return person.random.choices([*HABITS], [*HABITS.values()])[0]
