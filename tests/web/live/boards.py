"""Boards with cards on them: a small design to watch, and someone who listens to its live updates."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from potluck.store import Store
from potluck.streams import Record
from potluck.table import (
    AnyOf,
    Entity,
    ExpiresAt,
    ItemCollection,
    Range,
    Ref,
    StartsWith,
    Table,
    get,
    query,
)
from potluck.table.entity import plan_of
from potluck.web.live import EventSource, Listener, Live
from tests.patience import PATIENCE_SECONDS

Name = Annotated[str, Meta(max_length=20)]

KEY = bytes(range(32))
SOMEBODY = Listener(None, "192.0.2.1")

boards = Table("Boards", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="type", ttl="expiresAt")
others = Table("OtherBoards", "PK", "SK", type_attribute="type")


class Board(Entity, table=boards, type="BOARD", key=("BOARD#{board}", "BOARD")):
    """What the cards hang on."""

    board: Name
    title: Name

    @get
    def by_name(board: Name) -> None:
        """Which board is this?"""


def of_board(record: Record) -> bool:
    """Whether a record is of a Board, for consumers of records."""
    return plan_of(Board).matches(record.new or record.old or {})


class Card(
    Entity,
    table=boards,
    type="CARD",
    key=("BOARD#{board}", "CARD#{card}"),
    GSI1=("OWNER#{owner}", "{card}", lambda owner: owner != "nobody"),
):
    """Something to do."""

    board: Name
    card: Name
    owner: Name = "nobody"
    text: Name = ""
    secret: Name = ""
    hidden: bool = False
    expires_at: ExpiresAt | None = None
    rank: int = 1

    @query(consistent=True)
    def on_board(board: Name) -> None:
        """What hangs on a board?"""

    @query()
    def between(board: Name, card: Range[Name]) -> None:
        """Which cards of a board are these?"""

    @query()
    def beginning(board: Name, card: StartsWith) -> None:
        """Which cards of a board begin so?"""

    @query(filter=("text",))
    def saying(board: Name, text: Name) -> None:
        """Which cards of a board say this?"""

    @query("GSI1")
    def of_owner(owner: Name) -> None:
        """What has someone to do?"""

    @get
    def by_name(board: Name, card: Name) -> None:
        """Which card is this?"""


class Pin(Entity, table=boards, type="PIN", key=("BOARD#{board}", "CARD#{pin}#PIN")):
    """A row among the cards that is none of them."""

    board: Name
    pin: Name


class Hanging(AnyOf[Card | Pin]):
    @query()
    def on_board(board: Name) -> None:
        """What hangs on a board, of any kind?"""


class WholeBoard(ItemCollection):
    board: Board | None
    cards: list[Card]

    @query()
    def whole(board: Name) -> None:
        """What is a board, with everything on it?"""


class Elsewhere(Entity, table=others, type="ELSEWHERE", key=("BOARD#{board}", "IT#{name}")):
    """A card of another table."""

    board: Name
    name: Name

    @query()
    def on_board(board: Name) -> None:
        """What hangs there?"""


class Shown(msgspec.Struct):
    card: str
    text: str


def shown(card: Card) -> Shown | None:
    """What visitors may see: never the secret, and of hidden cards nothing."""
    return None if card.hidden else Shown(card.card, card.text)


def clock() -> datetime:
    return datetime.now(UTC)


async def yes() -> bool:
    return True


class Event(NamedTuple):
    event: str
    item: Any
    position: str


class Listener:
    """Reads an event stream as a browser does."""

    def __init__(self, source: EventSource) -> None:
        self.source = source
        self.events: list[Event] = []
        self.comments = 0
        self.last_id = ""
        self.ended = False
        self.raw = b""
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        async for chunk in self.source.chunks:
            self.raw += chunk
            for block in chunk.decode().split("\n\n")[:-1]:
                self._block(block)
            self._arrived.set()
        self.ended = True
        self._arrived.set()

    def _block(self, block: str) -> None:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if name == ":":
                self.comments += 1
            elif name == "data" and name in fields:
                fields[name] += "\n" + value
            else:
                fields[name] = value
        self.last_id = fields.get("id", self.last_id)
        if "data" in fields:
            data = fields["data"]
            item = msgspec.json.decode(data) if data[:1] in '{["' else data
            self.events.append(Event(fields.get("event", "message"), item, self.last_id))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                self._arrived.clear()
                await self._arrived.wait()

    async def heard(self, count: int) -> list[Event]:
        await self.until(lambda: len(self.events) >= count)
        return self.events


@contextlib.asynccontextmanager
async def listening(live: Live, since: Any = None, **options: Any) -> AsyncIterator[Listener]:
    """Someone who listens until the block ends."""
    given: dict[str, Any] = {"of": Card.on_board("b"), "see": shown, "allowed": yes, "by": SOMEBODY, **options}
    listener = Listener(live.open(since, **given))
    task = asyncio.create_task(listener.listen())
    try:
        await listener.until(lambda: bool(listener.last_id) or listener.ended)
        yield listener
    finally:
        listener.source.end()
        await asyncio.wait_for(task, PATIENCE_SECONDS)


async def heard_by(live: Live, since: str | None, until: str | None = None, **options: Any) -> list[Any]:
    """All that `changes` tells after a position, however often it takes; reset is an event of its own."""
    given: dict[str, Any] = {"of": Card.on_board("b"), "see": shown, **options}
    told: list[Any] = []
    while True:
        answer = await live.changes(since, **given)
        if answer.reset:
            told.append("reset")
        told += answer.changes
        since = answer.position
        if not answer.more:
            return told


Step = Callable[[], Awaitable[Any]]


async def random_history(store: Store, seed: int, steps: int) -> None:
    """Cards come, change, are hidden, change hands and go, on two boards."""
    chance = random.Random(seed)
    for number in range(steps):
        board, name = chance.choice(["b", "b", "b", "c"]), f"c{chance.randrange(5)}"
        ref: Ref[Card] = Card.by_name(board, name)
        if chance.random() < 0.2:
            await store.delete(ref)
        else:
            await store.put(
                Card(
                    board=board,
                    card=name,
                    owner=chance.choice(["ann", "bob", "nobody"]),
                    text=f"t{number if chance.random() < 0.7 else 0}",
                    secret=f"s{number}",
                    hidden=chance.random() < 0.25,
                )
            )


def folded(events: list[Any], start: dict[str, str] | None = None) -> dict[str, str]:
    """The list that someone has who did what the events say."""
    have = dict(start or {})
    for each in events:
        item = each.item if isinstance(each.item, dict) else msgspec.to_builtins(each.item)
        if each.event == "deleted":
            have.pop(item["card"], None)
        else:
            have[item["card"]] = item["text"]
    return have
