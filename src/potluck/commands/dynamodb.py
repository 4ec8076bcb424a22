"""`potluck dynamodb`: serve the embedded engine over HTTP."""

import argparse
import asyncio
import os
import secrets
import signal
from pathlib import Path
from typing import Any

from potluck.commands.arguments import add_listening, decimal, number
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_async
from potluck.dynamo.database import Database
from potluck.dynamo.namespaces import DEFAULT
from potluck.dynamo.server import serving
from potluck.dynamo.sync import SyncDatabase
from potluck.engines.simulating import Simulating
from potluck.seeds.contents import SeedError
from potluck.seeds.seeding import Seeded, seed_by_calls
from potluck.settings import Settings

HOST = "127.0.0.1"
PORT = 8001
SEEDS = 1_000_000
LONGEST_LAG_SECONDS = 3600.0


class StoppedSeeding(Exception):
    """Someone stopped the command before all seeds were in the store."""


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_listening(parser, HOST, PORT)
    parser.add_argument(
        "--host-name",
        action="append",
        default=[],
        help="another name that clients use for this machine; may be repeated",
    )
    parser.add_argument("--file", type=Path, help="the file that holds the tables; without it they are temporary")
    parser.add_argument("--shared", action="store_true", help="one set of tables for all regions and accounts")
    parser.add_argument(
        "--seed",
        type=Path,
        metavar="FOLDER",
        help="start with the tables and items in this folder: CloudFormation templates, NoSQL Workbench models, JSON "
        "of the AWS CLI, exports",
    )
    parser.add_argument(
        "--throttle",
        type=_rate,
        default=0.0,
        metavar="RATE",
        help="throttle this fraction of all calls, and cut short as many batches, such as 0.1 (%(default)s)",
    )
    parser.add_argument(
        "--conflicts",
        type=_rate,
        default=0.0,
        metavar="RATE",
        help="make this fraction of all transactions and writes conflict, such as 0.1 (%(default)s)",
    )
    parser.add_argument(
        "--lag",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="answer index reads and eventually consistent reads from this long ago, such as 2 (%(default)s)",
    )
    parser.add_argument(
        "--fault-seed", type=_seed, metavar="NUMBER", help="repeat the throttling and the conflicts of an earlier run"
    )


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Serve the embedded engine alone, to any AWS SDK."""
    run_async(_serve(chosen))
    return 0


async def _serve(chosen: argparse.Namespace) -> None:
    stopping = _stop_signal()
    fault_seed = secrets.randbelow(SEEDS) if chosen.fault_seed is None else chosen.fault_seed
    database = await Database.open(chosen.file)
    simulating = Simulating(
        database, throttle=chosen.throttle, lag=chosen.lag, conflicts=chosen.conflicts, seed=fault_seed
    )
    simulates = bool(chosen.throttle or chosen.lag or chosen.conflicts)
    engine = simulating if simulates else database
    try:
        seeded = await _seeded(database, chosen, stopping) if chosen.seed else None
        async with serving(engine, chosen.host, chosen.port, chosen.host_name, shared=chosen.shared) as port:
            _announce(chosen, port)
            if seeded:
                _announce_seeds(chosen.seed, seeded)
            if simulates:
                print(
                    f"  It throttles {chosen.throttle:.0%} of all calls, {chosen.conflicts:.0%} of writes conflict, "
                    f"and reads lag {chosen.lag:g} s (--fault-seed {fault_seed})"
                )
            print("  Press Ctrl+C to stop.\n", flush=True)
            await stopping.wait()
    except StoppedSeeding:
        print(f"  Stopped before all of {chosen.seed} was read; its tables are deleted again")
    finally:
        await simulating.close()


async def _seeded(database: Database, chosen: argparse.Namespace, stopping: asyncio.Event) -> Seeded:
    """Seed the database in the region of this shell, which its SDKs ask for; simulated faults come later."""
    loop = asyncio.get_running_loop()
    store = SyncDatabase(database, lambda answer: asyncio.run_coroutine_threadsafe(answer, loop).result(), lambda: None)
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or DEFAULT.region
    if chosen.shared:
        region = DEFAULT.region

    def call(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "PutItem" and stopping.is_set():
            raise StoppedSeeding
        return store.call(operation, request, region=region)

    try:
        return await asyncio.to_thread(seed_by_calls, call, chosen.seed)
    except SeedError as problem:
        raise CommandError(str(problem)) from problem


def _announce_seeds(folder: Path, seeded: Seeded) -> None:
    tables, items = _counted(len(seeded.items), "table"), _counted(sum(seeded.items.values()), "item")
    print(f"  Seeded from {folder}: {tables}, {items}")
    if seeded.left_alone:
        print(f"  Left alone, because they were there already: {', '.join(seeded.left_alone)}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _announce(chosen: argparse.Namespace, port: int) -> None:
    host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
    print(f"\n  The engine answers at http://{host}:{port}")
    print(f"  Tables are stored in {chosen.file}" if chosen.file else "  Tables are deleted when it stops")
    if chosen.shared:
        print("  Any credentials and any region work, and all share the same tables.")
    else:
        print("  Any credentials work. Each region has its own tables, and so does each 12-digit access key.")


def _stop_signal() -> asyncio.Event:
    """An event that Ctrl+C (SIGINT) or a supervisor's SIGTERM sets."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number_of_signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number_of_signal, lambda *_: loop.call_soon_threadsafe(stopping.set))
    return stopping


def _seed(text: str) -> int:
    return number(text, 0, SEEDS - 1)


def _rate(text: str) -> float:
    return decimal(text, 1.0)


def _seconds(text: str) -> float:
    return decimal(text, LONGEST_LAG_SECONDS)
