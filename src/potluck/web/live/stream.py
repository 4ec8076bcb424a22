"""One open event stream: reads on, checks access, and renders what its caller is sent."""

import asyncio
import logging
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from potluck.engines import DynamoError
from potluck.store import Clock
from potluck.table.errors import Unavailable
from potluck.web.live.event_stream import KEPT_ALIVE, OPENED, event_text, id_text, retry_text
from potluck.web.live.events import Event, Projection, entities, event_for, maybe_await
from potluck.web.live.open_streams import Listener, OpenStreams
from potluck.web.live.positions import LivePosition
from potluck.web.live.reader import ListReader, Lost, ReadChange

# Clients that all connected at once, as after a restart, are checked at different times after a few rounds.
RECHECK_SPREAD = 0.2
# How long to wait before reconnecting after the store failed: a range, so that not all clients return at once.
RECONNECT_SECONDS = 10.0, 20.0
# The most that is sent at once; a single larger event is sent whole.
LARGEST_CHUNK = 64 * 1024

log = logging.getLogger(__name__)

Allowed = Callable[[], Awaitable[bool]]
"""Whether the caller still has access; asked before events are sent, and every 15 seconds."""

Schedule = Callable[[], datetime | None]
"""When the list will change by itself, with no row written, such as a poll that ends; None for never."""


class NamedEvent(NamedTuple):
    """An event with a name."""

    event: str
    data: str | bytes


Rendered = NamedEvent | str | bytes
Render = Callable[[Event], Rendered | Awaitable[Rendered]]
"""How an event is written: its data, or a NamedEvent if it has another name too. It may be async."""


class ListChange(NamedTuple):
    """A change of an item that was or is in the lists, and the item before and after it."""

    change: ReadChange
    old: Any | None
    new: Any | None


class Deadline(NamedTuple):
    """The time at which a list changes by itself, if there is one."""

    schedule: Schedule | None
    clock: Clock

    def seconds_left(self, looked: float) -> float:
        """How long until the list changes by itself; infinite if the caller has looked since then."""
        at = None if self.schedule is None else self.schedule()
        return math.inf if at is None or at.timestamp() <= looked else (at - self.clock()).total_seconds()

    def is_due(self, looked: float) -> bool:
        """Whether the list has changed by itself since the caller looked."""
        return self.seconds_left(looked) <= 0


class _Ended(Exception):
    """The caller has lost access, or the stream was asked to end."""


@dataclass(kw_only=True, eq=False, slots=True)
class Stream:
    """What one caller is sent, step by step."""

    reader: ListReader
    since: LivePosition | None
    """Where it begins; None for now."""
    lost: bool
    """Whether the caller's position can no longer be read."""
    see: Projection
    allowed: Allowed
    render: Render
    deadline: Deadline
    clock: Clock
    by: Listener
    open_streams: OpenStreams
    recheck_seconds: float
    _changes: deque[ListChange] = field(default_factory=deque)
    """Read, and not sent yet."""
    _more: bool = False
    """Whether there may be more to read at once."""
    _due: bool = False
    """Whether the list changed by itself before these changes were read."""
    _schedule_sent: float = 0.0
    _check_at: float = 0.0
    _sent_at: float = 0.0

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks to send; they end when the caller has lost access."""
        self.open_streams.add(self.reader, self.by)
        try:
            yield OPENED
            self._must_go_on()
            self._sent_at = _loop_time()
            self._set_next_check()
            yield await self._begin()
            while True:
                chunk = await self._read()
                while chunk:
                    yield chunk
                    self._sent_at = _loop_time()
                    chunk = await self._rest()
                await self._wait()
        except _Ended:
            pass
        except (Unavailable, DynamoError) as error:
            # The response has begun, so its status cannot report this. A client that reconnects too early gets a 503.
            log.info("a stream ends: %s", error)
            yield retry_text(random.uniform(*RECONNECT_SECONDS))
        except Exception as error:
            self.open_streams.failing.met(error)
        finally:
            self.reader.close()
            self.open_streams.discard(self.reader, self.by)

    async def _begin(self) -> bytes:
        """Take the position to begin at; the caller is sent where they are."""
        if self.lost:
            return await self._start_over()
        try:
            await self.reader.begin(self.since, self._now)
        except Lost:
            return await self._start_over()
        # A stream may only start at a point at which the caller has access.
        if self.since is None and self.reader.has_grant:
            await self._must_be_allowed()
        return id_text(self.reader.position())

    async def _start_over(self) -> bytes:
        """Begin now, because the log does not reach back; the caller has to read the list again."""
        await self.reader.begin(None, self._now)
        self._more = False
        await self._must_be_allowed()
        return event_text("reset", "{}", self.reader.position())

    async def _wait(self) -> None:
        if self._more:
            # Reading a long history must not hold up other requests.
            await asyncio.sleep(0)
        else:
            await self.reader.wait(min(self._check_at - _loop_time(), self.deadline.seconds_left(self._looked)))
        self._must_go_on()

    async def _read(self) -> bytes:
        """Read on, and render what was found; access is checked before anything is shown, and now and then."""
        now = self._now
        try:
            read, self._more = await self.reader.read(now)
        except Lost:
            return await self._start_over()
        self._must_go_on()
        self._changes.extend(change for record in read if (change := in_lists(record, now)) is not None)
        self._due = self.deadline.is_due(self._looked)
        checked = bool(self._changes) or self._due or _loop_time() >= self._check_at
        if checked:
            await self._must_be_allowed()
            self._must_go_on()
            self._set_next_check()
        return await self._rendered() or self._sign_of_life(checked)

    async def _rest(self) -> bytes:
        """What did not fit into the last chunk, if there is anything."""
        if not self._changes:
            return b""
        # The client may have taken a minute to read the last chunk.
        await self._must_be_allowed()
        self._must_go_on()
        return await self._rendered()

    async def _rendered(self) -> bytes:
        """As many of the changes as fit into a chunk, and after the last of them what changed by itself."""
        chunk = b""
        while self._changes:
            if len(chunk) >= LARGEST_CHUNK:
                return chunk
            change = self._changes.popleft()
            event = await event_for(change.old, change.new, self.see)
            if event is not None:
                chunk += await self._event_text(event, change.change.position)
        # Asked again: rendering the events above may have shown it already.
        if self._due and self.deadline.is_due(self._looked):
            chunk += await self._event_text(Event("updated", None), self.reader.position())
            self._schedule_sent = self.clock().timestamp()
        self._due = False
        return chunk

    async def _event_text(self, event: Event, position: str) -> bytes:
        rendered = await maybe_await(self.render(event))
        name, data = rendered if isinstance(rendered, NamedEvent) else (event.name, rendered)
        return event_text(name, data, position)

    def _sign_of_life(self, checked: bool) -> bytes:
        """After a while without events, the position: it would be too old after a day.

        It is sent only right after access was checked: never one from after they lost it.
        """
        if _loop_time() - self._sent_at < self.recheck_seconds * (1 - RECHECK_SPREAD):
            return b""
        if self._more:
            return KEPT_ALIVE
        return id_text(self.reader.position()) if checked else b""

    async def _must_be_allowed(self) -> None:
        try:
            if await self.allowed():
                return
        except (Unavailable, DynamoError):
            raise
        except Exception as error:
            # Without a clear yes nothing is sent; a client that reconnects gets the error itself.
            log.info("a stream ends: %r", error)
        raise _Ended

    def _must_go_on(self) -> None:
        if self.reader.ended:
            raise _Ended

    def _set_next_check(self) -> None:
        self._check_at = _loop_time() + self.recheck_seconds * random.uniform(1 - RECHECK_SPREAD, 1)

    @property
    def _looked(self) -> float:
        """When the caller last saw the list as it was."""
        return max(self.reader.since, self._schedule_sent)

    @property
    def _now(self) -> int:
        return int(self.clock().timestamp())


def in_lists(read: ReadChange, now: int) -> ListChange | None:
    """The change as the lists see it; None if it touches none of them."""
    old, new = entities(read.record, read.part.lists, read.reader.since, now)
    return None if old is None and new is None else ListChange(read, old, new)


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
