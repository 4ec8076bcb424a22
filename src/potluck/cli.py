"""The `potluck` command. Whatever a subcommand needs is imported when it is chosen, so that --help is instant."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from potluck.dynamo.errors import StoreUnusable
from potluck.settings import Settings, SettingsError

__all__ = ["main"]

DYNAMODB_PORT = 8001


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and give the exit status: 0 done, 1 refused with a sentence, 2 called wrongly."""
    try:
        settings = Settings.from_environment()
        chosen = _parser(settings).parse_args(arguments)
        status: int = chosen.run(chosen, settings)
    except (SettingsError, StoreUnusable, _Refused, OSError) as problem:
        print(f"potluck: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


class _Refused(Exception):
    """What was asked cannot be done; the message says why."""


def serve(chosen: argparse.Namespace, settings: Settings) -> int:
    """Run the suite until it is stopped."""
    from potluck.suite import assemble
    from potluck.web.serving import serve as serve_application

    settings = replace(settings, host=chosen.host, port=chosen.port, data=chosen.data)
    keeps = str(settings.file) if settings.engine == "embedded" else "Amazon DynamoDB"
    return 0 if serve_application(assemble(settings), settings.host, settings.port, keeps) else 1


def dynamodb(chosen: argparse.Namespace, _: Settings) -> int:
    """Serve the embedded engine alone, to any AWS SDK."""
    from potluck.dynamo.database import Database
    from potluck.dynamo.server import serving

    async def run() -> None:
        database = await Database.open(chosen.file)
        try:
            async with serving(database, chosen.host, chosen.port, chosen.host_name) as port:
                host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
                print(f"\n  The engine answers at http://{host}:{port}")
                print(f"  Tables are kept in {chosen.file}" if chosen.file else "  Tables are gone when it stops")
                print("  Any credentials and any region will do. Ctrl+C stops it.\n", flush=True)
                await _told_to_stop()
        finally:
            await database.close()

    _run(run())
    return 0


def backup(chosen: argparse.Namespace, settings: Settings) -> int:
    """Copy the store to a file, also while it is being written to."""
    from potluck.dynamo.database import Database

    store = replace(settings, data=chosen.data).file
    if settings.engine != "embedded":
        raise _Refused("backup copies the embedded store; on Amazon DynamoDB use point-in-time recovery")
    if not store.is_file():
        raise _Refused(f"there is no store at {store}")
    if chosen.to.exists():
        raise _Refused(f"{chosen.to} exists already, and a backup never overwrites")

    async def run() -> None:
        database = await Database.open(store)
        try:
            await database.backup(chosen.to)
        finally:
            await database.close()

    _run(run())
    print(f"Copied {store} to {chosen.to} ({chosen.to.stat().st_size:,} bytes)")
    return 0


def _run(work: Coroutine[Any, Any, None]) -> None:
    factory = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)


async def _told_to_stop() -> None:
    """Wait for Ctrl+C or the signal by which a supervisor stops a service."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(told.set))
    await told.wait()


def _parser(settings: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="potluck",
        description="Five small apps for the people around a table, and the DynamoDB-compatible engine under them.",
        epilog="Settings may also come from the environment: POTLUCK_ENGINE (embedded or aws), POTLUCK_DATA, "
        "POTLUCK_HOST, POTLUCK_PORT, POTLUCK_REGION, POTLUCK_ENDPOINT, POTLUCK_TABLE_PREFIX.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Any, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=run.__doc__)
        added.set_defaults(run=run)
        return added

    suite = command("serve", serve, "run the suite: pages, API and background work")
    suite.add_argument("--host", default=settings.host, help="the address to listen on (%(default)s)")
    suite.add_argument(
        "--port", type=_port, default=settings.port, help="the port to listen on, 0 for any free one (%(default)s)"
    )
    suite.add_argument(
        "--data", type=Path, default=settings.data, help="the folder that holds everything (%(default)s)"
    )

    alone = command("dynamodb", dynamodb, "serve the embedded engine alone to any AWS SDK")
    alone.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    alone.add_argument(
        "--port", type=_port, default=DYNAMODB_PORT, help="the port to listen on, 0 for any free one (%(default)s)"
    )
    alone.add_argument(
        "--host-name",
        action="append",
        default=[],
        help="another name that callers may use for this machine; may be given several times",
    )
    alone.add_argument("--file", type=Path, help="the file to keep the tables in; without it they are gone at the end")

    copy = command("backup", backup, "copy the store to a file, also while the suite runs")
    copy.add_argument("to", type=Path, metavar="FILE", help="the file to make; it must not exist yet")
    copy.add_argument("--data", type=Path, default=settings.data, help="the folder whose store is copied (%(default)s)")
    return parser


class _Version(argparse.Action):
    """Prints the version; looking it up takes as long as starting the engine, so it waits until it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"potluck {version('potluck')}")
        parser.exit()


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError(text)
    return port


if __name__ == "__main__":
    sys.exit(main())
