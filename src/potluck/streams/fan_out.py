"""Passes the records that one process reads from the service on to all the others, through Redis or Valkey.

The service lets two processes read a shard. With a fan-out one process reads a table's stream, the one that holds
the lease `READER#table`, and publishes what it reads on the table's channel; the others take it from there. No message
has to arrive: each names the record before its first, and once a second the reader publishes how far it has read. A
process that misses something reads exactly that from the log. While no reader is heard, because it died or the server
is down, each process reads the log at its share of the limit.

Messages are sealed with a key of the suite, so the server neither shows nor invents what people wrote.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from potluck.states import FAN_OUT_DOWN, WORK_FAILING, Trouble
from potluck.streams.backoff import Backoff
from potluck.streams.leases import Lease, cancelled
from potluck.streams.log import Vector
from potluck.streams.passed import Passed
from potluck.streams.records import Record

BEAT_SECONDS = 1.0
# A reader that has not been heard for this long is not waited for.
UNHEARD_SECONDS = 3.0
# A reader that does not hear itself for this long gives up its lease.
ECHO_SECONDS = 6.0
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
LISTEN_SECONDS = 0.5
NOT_READY_SECONDS = 0.2
# Beyond this, what is published is dropped: the log has it.
MOST_UNSENT_BYTES = 16_000_000
SENDER_BYTES = 8

log = logging.getLogger(__name__)


class Follower(Protocol):
    """A process's reader of one table's log."""

    def take(self, passed: Passed) -> None:
        """Take records that another process has read."""
        ...

    def compare(self, vector: Vector) -> None:
        """Notice what is missing: another process has read this far."""
        ...

    def read_to(self) -> tuple[bytes, Vector] | None:
        """The log's tag and how far it was read; None while it cannot be read."""
        ...


class Sealing(Protocol):
    """Encrypts what is published."""

    def encrypt(self, content: bytes, of: str) -> bytes: ...

    def decrypt(self, sealed: bytes, of: str) -> bytes:
        """The content; ValueError if it was not encrypted by this suite, for this."""
        ...


class _Message(msgspec.Struct, array_like=True):
    """What is published: records of a shard, or without a shard how far each was read."""

    sender: bytes
    log: bytes
    shard: str
    # Texts, because the service's numbers have up to forty digits.
    previous: str | None
    records: list[dict[str, Any]]
    vector: dict[str, str | None]
    ends: bool = False
    """Whether the sender reads no further."""


class Channel:
    """One table's channel, and who reads the table's log."""

    def __init__(self, fan_out: "FanOut", table: str, follower: Follower) -> None:
        self.table = table
        self.leads = False
        """Whether this process is the reader."""
        self.name = f"potluck:{fan_out.namespace}:{table}"
        self.follower = follower
        self.echoed_at = float("-inf")
        self._fan_out = fan_out
        self._heard_at = float("-inf")
        self._heard = asyncio.Event()
        self._ended = asyncio.Event()
        self._failing = Trouble(WORK_FAILING, log, f"no process can be chosen to read {table} for all")

    @property
    def is_heard(self) -> bool:
        """Whether another process reads the log and passes it on."""
        return time.monotonic() - self._heard_at < UNHEARD_SECONDS

    @property
    def silent_in(self) -> float:
        """After how many seconds the other process will not be waited for any more."""
        return max(0.0, self._heard_at + UNHEARD_SECONDS - time.monotonic())

    def publish(self, passed: Passed) -> None:
        """Pass records on, if this process is the reader."""
        state = self.follower.read_to() if self.leads else None
        if state is not None:
            records = [record.wire for record in passed.records]
            self._publish(_Message(self._fan_out.sender, state[0], passed.shard, _text(passed.previous), records, {}))

    def beat(self, *, ends: bool = False) -> None:
        """Publish how far this process has read."""
        state = self.follower.read_to()
        if state is not None:
            vector = {shard: _text(number) for shard, number in state[1].items()}
            self._publish(_Message(self._fan_out.sender, state[0], "", None, [], vector, ends))

    def _publish(self, message: _Message) -> None:
        self._fan_out.send(self.name, msgspec.msgpack.encode(message))

    def receive(self, encoded: bytes) -> None:
        message = msgspec.msgpack.decode(encoded, type=_Message)
        if message.sender == self._fan_out.sender:
            self.echoed_at = time.monotonic()
            return
        state = self.follower.read_to()
        if state is not None and message.log != state[0]:
            # The table was made anew, and one of the two does not know yet.
            return
        if message.ends:
            self._heard_at = float("-inf")
            self._ended.set()
            # So that nothing waits for it any longer.
            self.follower.compare({})
            return
        self._heard_at = time.monotonic()
        self._heard.set()
        self._ended.clear()
        if message.shard:
            records = [Record(self.table, wire) for wire in message.records]
            self.follower.take(Passed(message.shard, _number(message.previous), records))
        else:
            self.follower.compare({shard: _number(number) for shard, number in message.vector.items()})

    async def lead_when_unheard(self, lease: Lease) -> None:
        """Read for all whenever no one else does and the lease is ours."""
        while True:
            await self._fan_out.connected.wait()
            if self.is_heard:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.silent_in):
                        await self._ended.wait()
                continue
            if self.follower.read_to() is None:
                await asyncio.sleep(NOT_READY_SECONDS)
                continue
            self._heard.clear()
            leading = asyncio.ensure_future(lease.run(self._lead))
            heard = asyncio.ensure_future(self._heard.wait())
            try:
                while not leading.done():
                    await asyncio.wait({leading, heard}, return_when=asyncio.FIRST_COMPLETED)
                    if heard.done() and not self.leads:
                        break
                    if heard.done():
                        # Its former reader, which will notice that the lease is ours.
                        self._heard.clear()
                        heard = asyncio.ensure_future(self._heard.wait())
                        await asyncio.sleep(BEAT_SECONDS)
                if leading.done():
                    leading.result()
                self._failing.over()
            except Exception as error:
                self._failing.met(error)
                await asyncio.sleep(UNHEARD_SECONDS)
            finally:
                await cancelled(leading, heard)  # type: ignore[arg-type]
            await asyncio.sleep(NOT_READY_SECONDS)

    async def _lead(self) -> None:
        """Pass on what this process reads, for as long as it can."""
        self.leads = True
        self.echoed_at = time.monotonic()
        try:
            while time.monotonic() - self.echoed_at < ECHO_SECONDS and self.follower.read_to() is not None:
                self.beat()
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            self.leads = False
            # Others need not wait until they notice the silence.
            self.beat(ends=True)


class FanOut:
    """The connection of this process to the server, with a channel for each table."""

    def __init__(self, url: str, namespace: str, seal: Sealing, lease: Callable[[str], Lease]) -> None:
        """`namespace` is part of the names of channels, so that several suites can share a server."""
        self.namespace = namespace
        self.sender = os.urandom(SENDER_BYTES)
        self.connected = asyncio.Event()
        self._seal = seal
        self._lease = lease
        self._url = url
        self._channels: dict[str, Channel] = {}
        self._unsent: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self._unsent_bytes = 0
        self._trouble = Trouble(FAN_OUT_DOWN, log, "the fan-out of live updates does not answer")
        self._foreign = Trouble(FAN_OUT_DOWN, log, "a message of the fan-out was sealed with another secret")
        self._working: list[asyncio.Task[None]] = []
        self._pauses = Backoff()

    @property
    def works(self) -> bool:
        """Whether one process reads for all."""
        return bool(self._channels) and all(channel.leads or channel.is_heard for channel in self._channels.values())

    def channel(self, table: str, follower: Follower) -> Channel:
        """Join a table's channel."""
        channel = Channel(self, table, follower)
        self._channels[channel.name] = channel
        if not self._working:
            self._working = [self._started(self._listen()), self._started(self._send_all())]
        self._working.append(self._started(channel.lead_when_unheard(self._lease(f"READER#{table}"))))
        return channel

    def _started(self, work: Any) -> asyncio.Task[None]:
        return asyncio.create_task(work, name="fan-out")

    async def stop(self) -> None:
        """Give up the leases, say so, and disconnect."""
        await cancelled(*self._working[2:])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEAT_SECONDS):
                await self._unsent.join()
        await cancelled(*self._working)
        self._trouble.forget()
        self._foreign.forget()

    def send(self, channel: str, content: bytes) -> None:
        """Publish this soon; it is dropped if too much is waiting."""
        if self._unsent_bytes < MOST_UNSENT_BYTES:
            self._unsent_bytes += len(content)
            self._unsent.put_nowait((channel, content))

    async def _send_all(self) -> None:
        client = self._client()
        try:
            while True:
                channel, content = await self._unsent.get()
                self._unsent_bytes -= len(content)
                try:
                    await client.publish(channel, self._seal.encrypt(content, channel))
                except (RedisError, OSError, TimeoutError) as error:
                    self._trouble.met(error, traceback=False)
                finally:
                    self._unsent.task_done()
        finally:
            await _closed(client.aclose)

    async def _listen(self) -> None:
        """Take what others publish, connecting again whenever the connection is lost."""
        while True:
            client = self._client()
            try:
                await self._listen_with(client)
            except (RedisError, OSError, TimeoutError) as error:
                self._trouble.met(error, traceback=False)
            finally:
                self.connected.clear()
                await _closed(client.aclose)
            await self._pauses.wait()

    async def _listen_with(self, client: Redis) -> None:
        subscribed: set[str] = set()
        async with client.pubsub() as listening:
            asked_at = time.monotonic()
            while True:
                missing = self._channels.keys() - subscribed
                if missing:
                    await listening.subscribe(*missing)
                    subscribed |= missing
                message = await listening.get_message(ignore_subscribe_messages=False, timeout=LISTEN_SECONDS)
                now = time.monotonic()
                if message is not None:
                    asked_at = now
                    if message["type"] == "message":
                        self._receive(message["channel"].decode(), message["data"])
                    elif not self.connected.is_set():
                        self.connected.set()
                        self._trouble.over()
                        self._pauses = Backoff()
                elif now - asked_at > ECHO_SECONDS:
                    # Every reader beats once a second; a connection that says nothing may be dead.
                    await listening.ping()
                    async with asyncio.timeout(ANSWER_SECONDS):
                        while await listening.get_message(timeout=LISTEN_SECONDS) is None:
                            pass
                    asked_at = time.monotonic()

    def _receive(self, name: str, sealed: bytes) -> None:
        channel = self._channels.get(name)
        if channel is None:
            return
        try:
            content = self._seal.decrypt(sealed, name)
        except ValueError as error:
            self._foreign.met(error, traceback=False)
            return
        self._foreign.over()
        self._trouble.over()
        channel.receive(content)

    def _client(self) -> Redis:
        return Redis.from_url(
            self._url, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=ANSWER_SECONDS, socket_keepalive=True
        )


async def _closed(close: Callable[[], Awaitable[None]]) -> None:
    with contextlib.suppress(RedisError, OSError, TimeoutError):
        await close()


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
