"""The one object that routes and pages ask for live updates."""

import asyncio
import logging
import math
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from litestar import Request, Response

from potluck.engines import DynamoError, Engine
from potluck.people.authentication import Principal
from potluck.people.errors import InvalidFields, Throttled, WrongField
from potluck.store import Clock
from potluck.table.access import Gather, Query
from potluck.table.errors import Unavailable
from potluck.table.membership import Asked, Membership
from potluck.table.tables import Table
from potluck.web.live.buffer import BUFFER_BYTES, BUFFER_RECORDS, partition_text
from potluck.web.live.event_stream import KEPT_ALIVE, OPENED, EventStream, event_text, id_text, retry_text
from potluck.web.live.positions import EVERY_LIST, Position, PositionCodec, Unreadable, Vector
from potluck.web.live.reading import Lost, Reader, Seen
from potluck.web.live.rights import Holding, Right
from potluck.web.live.tail import Tail
from potluck.web.live.telling import EventName, See, Told, entities, settled, told

__all__ = ["Allowed", "Changed", "Changes", "Live", "Message", "Render", "Turns"]

RECHECK_SECONDS = 15.0
# Of a time when many connect at once, as after a restart, nothing is left after a few rounds of checks.
RECHECK_SPREAD = 0.2
READERS_OF_LOG_AT_ONCE = 4
# Both for one worker. Each takes some 25 KB, and is a file to the system.
MOST_STREAMS = 10_000
# A person has a few for each window that is open; who has more than this is a program that forgets to close them.
MOST_STREAMS_OF_ONE = 200
STREAMS_RETRIED_SECONDS = 30
# When to come back after a stream that ended because the store fails: not all in the same moment.
COME_BACK_SECONDS = 10.0, 20.0
# What is written for one reader before they have taken what came before it, but for a single event that is larger.
LARGEST_CHUNK = 64 * 1024
MOST_CHANGES = 100
# How many steps a request may take that finds nothing of its own; its caller goes on from where it came to.
MOST_STEPS = 20
TURNS_OF_OTHERS = 10

log = logging.getLogger(__name__)

Allowed = Callable[[], Awaitable[bool]]
"""Whether the caller may still look; asked before events are sent, and every 15 seconds."""

Turns = Callable[[], datetime | None]
"""When what is followed becomes different by itself, no row having changed: a poll whose time is over. None: never."""


class Message(NamedTuple):
    """An event under a name of its own."""

    event: str
    data: str | bytes


class Met(NamedTuple):
    """A change that was read, and the item in the lists before and after it."""

    seen: Seen
    old: Any | None
    new: Any | None


Rendered = Message | str | bytes
Render = Callable[[Told], Rendered | Awaitable[Rendered]]
"""How an event is written: its data, or a Message that has another name too. It may have to be awaited."""

AnyRequest = Request[Any, Any, Any]


class Changed(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """One change of a list."""

    event: EventName
    position: str
    item: Any


class Changes(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What changed in a list since a position."""

    changes: list[Changed]
    position: str
    """Where to go on from."""
    reset: bool
    """The position was older than the log: read the list again."""
    more: bool
    """There is more; ask again at once."""


def as_json(told: Told) -> bytes:
    """The item as every JSON answer has it."""
    return msgspec.json.encode(told.item)


class Live:
    """Tells callers what changes. One for a process; it reads the stream of each table that anyone asks about."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        *,
        key: bytes | None = None,
        recheck_seconds: float = RECHECK_SECONDS,
        lag_seconds: float = 0.0,
        buffer_records: int = BUFFER_RECORDS,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        """`key` seals positions, 32 bytes that all workers share; `lag_seconds` is how far indexes may be behind."""
        self._engine = engine
        self._clock = clock
        self._codec = PositionCodec(key)
        self._recheck_seconds = recheck_seconds
        self._lag_seconds = lag_seconds
        self._buffer = {"records": buffer_records, "size": buffer_bytes}
        self._tails: dict[str, Tail] = {}
        self._open: set[Reader] = set()
        self._of_one: Counter[UUID] = Counter()
        self._log_turns = asyncio.Semaphore(READERS_OF_LOG_AT_ONCE)
        self._stopped = False

    @property
    def open_streams(self) -> int:
        return len(self._open)

    def start(self, *tables: Table) -> None:
        """Begin to read these tables' streams now, and not when they are first asked about."""
        for table in tables:
            self._tail(table).start()

    async def stop(self) -> None:
        """End every stream, so that its client goes to another worker, and read no more."""
        self._stopped = True
        for reader in list(self._open):
            reader.end()
        await asyncio.gather(*(tail.stop() for tail in self._tails.values()))

    async def position(self, *of: Table | Asked, read_by: Asked | None = None, behind: float | None = None) -> str:
        """Where the live updates of a list go on; to be asked before the list is read.

        It is good for the same partition, or the same several, and for no others. A list that is read from an index,
        or not consistently, may not show the last changes yet: its position is `behind` seconds earlier, as many as
        indexes lag if nothing is said. `read_by` is how it is read, where that is not the question that is followed.
        """
        streams: dict[bytes, Vector] = {}
        for each in of:
            buffer = await self._tail(_table_of(each)).ready()
            seconds = behind if behind is not None else self._lag_seconds if _may_lag(read_by or each) else 0.0
            vector = buffer.vector
            if seconds > 0 and buffer.log.tag not in streams:
                earliest = time.monotonic() - seconds
                for record in reversed(buffer.records):
                    if record.arrived <= earliest:
                        vector = record.vector
                        break
                else:
                    vector = buffer.floor
            streams[buffer.log.tag] = vector
        lists = [each for each in of if not isinstance(each, Table)]
        return self._codec.encode(self._now, streams.items(), _named(lists) if lists else EVERY_LIST)

    def stream(
        self,
        since: AnyRequest | str | None,
        *,
        of: Asked | Sequence[Asked],
        see: See,
        allowed: Allowed,
        by: Principal | None = None,
        right: Right | None = None,
        render: Render = as_json,
        turns: Turns | None = None,
    ) -> Response[None]:
        """The answer that tells what changes; InvalidFields at once for a `since` that is no position.

        `by` is who listens, if that is known: nobody has so many streams that there are none left for others. `right`
        is what they may look by: a position from before they were without it is as good as one that is too old.
        At the time that `turns` says they are told as well, once: `updated`, with None to render.
        """
        position, lost = self._since(since, of)
        self._must_have_room_for(by)
        reader = self._reader(of, right)
        reader.must_be_read()
        chunks = self._chunks(reader, position, lost, see, allowed, by, render, turns)
        return EventStream(chunks, reader.end)

    async def changes(
        self,
        since: AnyRequest | str | None,
        *,
        of: Asked | Sequence[Asked],
        see: See,
        right: Right | None = None,
        turns: Turns | None = None,
        limit: int = MOST_CHANGES,
    ) -> Changes:
        """What changed since the position, at most so many changes; without one, where to begin."""
        position, lost = self._since(since, of)
        reader = self._reader(of, right)
        found: list[Changed] = []
        more = False
        try:
            for _ in range(TURNS_OF_OTHERS):
                # Whoever wrote and asks at once has it in the log; the tail needs its turns to have read it.
                await asyncio.sleep(0)
            if lost:
                raise Lost
            await reader.begin(position, self._now)
            for _ in range(MOST_STEPS):
                seen, more = await reader.read(self._now)
                for number, each in enumerate(seen):
                    met = _met(each, self._now)
                    event = None if met is None else await told(met.old, met.new, see)
                    if event is not None:
                        found.append(Changed(event=event.event, position=each.position, item=event.item))
                        if len(found) == limit:
                            more = more or number + 1 < len(seen)
                            return Changes(changes=found, position=found[-1].position, reset=False, more=more)
                if not more:
                    break
            if not more and self._turned(turns, reader.since):
                found.append(Changed(event="updated", position=reader.position(), item=None))
            return Changes(changes=found, position=reader.position(), reset=False, more=more)
        except Lost:
            await reader.begin(None, self._now)
            return Changes(changes=[], position=reader.position(), reset=True, more=False)
        finally:
            reader.close()

    # --- one stream ---------------------------------------------------------------------------------------------

    async def _chunks(
        self,
        reader: Reader,
        since: Position | None,
        lost: bool,
        see: See,
        allowed: Allowed,
        by: Principal | None,
        render: Render,
        turns: Turns | None,
    ) -> AsyncIterator[bytes]:
        """What is sent, piece by piece; it ends when the caller may not look any more."""
        loop = asyncio.get_running_loop()
        if self._stopped or not self._has_room_for(by):
            # Others were let in between the request and now; who comes back is told.
            reader.end()
        self._open.add(reader)
        if by is not None:
            self._of_one[by.user_id] += 1
        try:
            yield OPENED
            if reader.ended:
                return
            begun = False
            turn_told = 0.0
            sent_at = loop.time()
            check_at = self._next_check(loop.time())
            while True:
                now = self._now
                try:
                    if not begun:
                        if lost:
                            raise Lost
                        await reader.begin(since, now)
                        begun = True
                        # A place where they have not been has to be one at which they may look.
                        if since is None and reader.by_right and not await _is_allowed(allowed):
                            return
                        yield id_text(reader.position())
                    seen, more = await reader.read(now)
                except Lost:
                    await reader.begin(None, now)
                    begun, seen, more = True, [], False
                    if not await _is_allowed(allowed):
                        return
                    yield event_text("reset", "{}", reader.position())
                if reader.ended:
                    return
                concerned = [met for each in seen if (met := _met(each, now)) is not None]
                looked = max(reader.since, turn_told)
                turned = self._turned(turns, looked)
                checked = bool(concerned) or turned or loop.time() >= check_at
                if checked:
                    if not await _is_allowed(allowed) or reader.ended:
                        return
                    check_at = self._next_check(loop.time())
                chunk = b""
                for each in concerned:
                    if len(chunk) >= LARGEST_CHUNK:
                        yield chunk
                        # They may have taken a minute over it.
                        if not await _is_allowed(allowed) or reader.ended:
                            return
                        chunk, sent_at = b"", loop.time()
                    chunk += await _event(each, see, render)
                if turned and self._turned(turns, looked):
                    # Unless what was just told has told it.
                    chunk += await _told(Told("updated", None), render, reader.position())
                    looked = turn_told = self._clock().timestamp()
                if not chunk and loop.time() - sent_at >= self._recheck_seconds * (1 - RECHECK_SPREAD):
                    # Where nothing of theirs changes for a day, the position must not grow old with it. None is told
                    # that they might have come to after they were put out.
                    chunk = KEPT_ALIVE if more else id_text(reader.position()) if checked else b""
                if chunk:
                    yield chunk
                    sent_at = loop.time()
                if more:
                    # A long way back is no reason to keep others waiting.
                    await asyncio.sleep(0)
                else:
                    await reader.wait(min(check_at - loop.time(), self._until_turn(turns, looked)))
                if reader.ended:
                    return
        except (Unavailable, DynamoError) as error:
            # The answer has begun, so there is no other way to say it; who comes back too early is told by its status.
            log.info("a stream ends: %s", error)
            yield retry_text(random.uniform(*COME_BACK_SECONDS))
        except Exception:
            log.exception("a stream ends")
        finally:
            reader.close()
            self._open.discard(reader)
            if by is not None:
                self._of_one[by.user_id] -= 1
                if not self._of_one[by.user_id]:
                    del self._of_one[by.user_id]

    def _must_have_room_for(self, by: Principal | None) -> None:
        if not self._has_room_for(None):
            raise Unavailable("this worker has as many open streams as it can")
        if not self._has_room_for(by):
            raise Throttled(STREAMS_RETRIED_SECONDS)

    def _has_room_for(self, by: Principal | None) -> bool:
        if len(self._open) >= MOST_STREAMS:
            return False
        return by is None or self._of_one[by.user_id] < MOST_STREAMS_OF_ONE

    def _until_turn(self, turns: Turns | None, looked: float) -> float:
        """In how many seconds there is something to tell without a change; never, if they looked after it."""
        at = None if turns is None else turns()
        return math.inf if at is None or at.timestamp() <= looked else (at - self._clock()).total_seconds()

    def _turned(self, turns: Turns | None, looked: float) -> bool:
        """Whether it became different by itself since the caller looked."""
        return self._until_turn(turns, looked) <= 0

    def _next_check(self, now: float) -> float:
        return now + self._recheck_seconds * random.uniform(1 - RECHECK_SPREAD, 1)

    # --- what both share ----------------------------------------------------------------------------------------

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())

    def _tail(self, table: Table) -> Tail:
        tail = self._tails.get(table.name)
        if tail is None:
            tail = self._tails[table.name] = Tail(self._engine, table, **self._buffer)
        return tail

    def _reader(self, of: Asked | Sequence[Asked], right: Right | None) -> Reader:
        lists: dict[Tail, list[Membership]] = {}
        for each in _several(of):
            member = Membership(each)
            lists.setdefault(self._tail(member.table), []).append(member)
        holding = None if right is None else Holding(right)
        if holding is not None and self._tail(holding.table) not in lists:
            raise ValueError(f"the right is a row of {holding.table.name}, which is not followed here")
        return Reader(self._codec, self._log_turns, lists, _named(_several(of)), holding)

    def _since(self, given: AnyRequest | str | None, of: Asked | Sequence[Asked]) -> tuple[Position | None, bool]:
        """The position to begin at, and whether it is one that nobody knows any more."""
        named = _named(_several(of))
        if isinstance(given, Request):
            last = given.headers.get("last-event-id")
            if last:
                try:
                    return self._codec.decode(last, named), False
                except Unreadable:
                    # A browser sends by itself what it was given, perhaps under another key: it begins anew.
                    return None, True
            given = given.query_params.get("since")
        if given is None:
            return None, False
        try:
            return self._codec.decode(given, named), False
        except Unreadable:
            raise InvalidFields(WrongField("since", "since must be a position of this list")) from None


def _several(of: Asked | Sequence[Asked]) -> Sequence[Asked]:
    return of if isinstance(of, Sequence) else (of,)


def _named(lists: Sequence[Asked]) -> bytes:
    """By what positions know these lists: their partitions, the same in any process and whatever is asked of them."""
    return _digest(tuple(sorted({_partition_named(each) for each in lists})))


def _partition_named(asked: Asked) -> str:
    query = asked.query if isinstance(asked, Gather) else asked
    if isinstance(query, Query):
        return f"{query.pattern.table.name} {query.pattern.index} {query.partition}"
    table = query.members[0].table
    return f"{table.name} None {partition_text(query.key[table.partition.name])}"


@lru_cache(1024)
def _digest(names: tuple[str, ...]) -> bytes:
    return blake2b("\n".join(names).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _table_of(asked: Table | Asked) -> Table:
    if isinstance(asked, Table):
        return asked
    query = asked.query if isinstance(asked, Gather) else asked
    return query.pattern.table if isinstance(query, Query) else query.members[0].table


def _may_lag(asked: Table | Asked) -> bool:
    query = asked.query if isinstance(asked, Gather) else asked
    if isinstance(query, Table):
        return False
    return not query.consistent or (isinstance(query, Query) and query.pattern.index is not None)


def _met(seen: Seen, now: int) -> Met | None:
    """The change as one of the lists knows it; None where none does."""
    old, new = entities(seen.record, seen.part.lists, seen.reader.since, now)
    return None if old is None and new is None else Met(seen, old, new)


async def _event(met: Met, see: See, render: Render) -> bytes:
    """The event as it is sent; nothing where the caller would see no difference."""
    event = await told(met.old, met.new, see)
    return b"" if event is None else await _told(event, render, met.seen.position)


async def _told(event: Told, render: Render, position: str) -> bytes:
    rendered = await settled(render(event))
    name, data = rendered if isinstance(rendered, Message) else (event.event, rendered)
    return event_text(name, data, position)


async def _is_allowed(allowed: Allowed) -> bool:
    try:
        return await allowed()
    except (Unavailable, DynamoError):
        raise
    except Exception as error:
        # Whatever it is: what cannot be made sure of is not told, and who comes back is told why.
        log.info("a stream ends: %r", error)
        return False
