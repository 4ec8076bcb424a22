"""One of the processes that benchmarks/fanout.py measures: live updates of one table, and when it heard what.

It also runs on a checkout from before the fan-out, whose live updates take fewer options.
"""

import argparse
import asyncio
import contextlib
import inspect
import json
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from potluck.engines import Engine, open_engine
from potluck.store import Store
from potluck.streams import Lease, LeaseTerms
from potluck.table import Entity, Table, Unavailable, query
from potluck.web.live import Listener, Live
from potluck.web.sealing import Seal

TAKEOVER_SECONDS = 20
REGION = "us-east-1"

notes = Table("Notes", "PK", "SK", type_attribute="type")


class Note(Entity, table=notes, type="NOTE", key=("LIST#{list_id}", "NOTE#{note_id}")):
    """Something that several processes hear of."""

    list_id: Annotated[str, Meta(max_length=40)]
    note_id: Annotated[str, Meta(max_length=40)]

    @query(consistent=True)
    def of_list(list_id: str) -> None:
        """What is on the list?"""


def system_clock() -> datetime:
    return datetime.now(UTC)


def tell(**line: Any) -> None:
    # The clock is the machine's, so the times of several processes can be compared.
    print(json.dumps({**line, "at": time.monotonic()}), flush=True)


async def allowed() -> bool:
    return True


async def listen(live: Live) -> None:
    """Tell of every note, reconnecting as a browser does."""
    last_id: str | None = None
    while True:
        source = live.open(
            None,
            last_id,
            of=Note.of_list("followed"),
            see=lambda note: note,
            allowed=allowed,
            by=Listener(None, "127.0.0.1"),
        )
        async for chunk in source.chunks:
            for block in chunk.decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
                last_id = fields.get("id", last_id)
                if "event" in fields:
                    tell(event=fields["event"], note=json.loads(fields["data"]).get("noteId"))
        await asyncio.sleep(1.0)


async def run(chosen: argparse.Namespace) -> None:
    engine: Engine
    if chosen.file is not None:
        engine = await open_engine("embedded", path=chosen.file)
    else:
        from aiobotocore.credentials import AioCredentials

        from potluck.engines.aws import Aws

        # Nothing has to be found, which takes long in twelve processes at once.
        engine = Aws(AioCredentials("bench", "bench"), REGION, chosen.endpoint + "/", chosen.endpoint + "/")
    began = time.monotonic()
    live = Live(engine, system_clock, key=bytes(32))
    working: list[asyncio.Task[None]] = []
    if "fan_out" in inspect.signature(live.start).parameters and chosen.file is None:
        from potluck.engines import offered_by
        from potluck.streams.processes import Processes

        fan_out = None
        if chosen.fan_out is not None:
            from potluck.streams.fan_out import FanOut

            terms = LeaseTerms.for_takeover_within(TAKEOVER_SECONDS)
            fan_out = FanOut(
                chosen.fan_out, "bench", Seal(bytes(32)), lambda name: Lease(engine, name, **terms._asdict())
            )
        processes = Processes(engine, partial(live.places, 10.0), shared=fan_out is not None)
        await processes.look()
        shard_reads = offered_by(engine, "shard_reads")
        shard_reads.processes = lambda: 1 if fan_out is not None and fan_out.works else processes.count
        live.start(notes, fan_out=fan_out, last_known=processes.last_known)
        working.append(asyncio.create_task(processes.run()))
    else:
        live.start(notes)
    while True:
        try:
            await live.position(Note.of_list("followed"))
            break
        except Unavailable:
            # A browser would try again too.
            await asyncio.sleep(0.1)
    await Store(engine, system_clock).all(Note.of_list("followed"))
    tell(ready=time.monotonic() - began)
    if not chosen.once:
        working.append(asyncio.create_task(listen(live)))
        loop = asyncio.get_running_loop()
        while line := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
            if line == "leads?":
                channels = [] if chosen.fan_out is None else [*fan_out._channels.values()]  # type: ignore[union-attr]
                tell(leads=any(channel.leads for channel in channels))
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5.0):
            await live.stop()
            await engine.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--endpoint")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--fan-out")
    parser.add_argument("--once", action="store_true")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
