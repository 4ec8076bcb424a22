"""The `potluck` command. Each subcommand imports what it needs when it runs, so that --help is instant."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from potluck.dynamo.errors import StoreUnusable
from potluck.settings import MOST_WORKERS, Settings, SettingsError, origin_named

if TYPE_CHECKING:
    from potluck.people.services import People
    from potluck.store import Store

__all__ = ["main"]

T = TypeVar("T")

DYNAMODB_PORT = 8001


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit status: 0 done, 1 refused with a message, 2 wrong usage."""
    given = sys.argv[1:] if arguments is None else arguments
    wrong: SettingsError | None = None
    try:
        try:
            settings = Settings.from_environment()
        except SettingsError as problem:
            # --help and usage errors come first, even when a setting is wrong.
            settings, wrong = Settings(), problem
        chosen = _parser(settings, counting="count" in given).parse_args(given)
        if wrong is not None:
            raise wrong
        status: int = chosen.run(chosen, settings)
    except (SettingsError, StoreUnusable, _Refused, OSError) as problem:
        print(f"potluck: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


class _Refused(Exception):
    """The command cannot be carried out; the message says why."""


def serve(chosen: argparse.Namespace, settings: Settings) -> int:
    """Run the suite until it is stopped."""
    from potluck.web.server.serve import serve as serve_suite

    settings = replace(settings, host=chosen.host, port=chosen.port, data=chosen.data, workers=chosen.workers)
    keeps = str(settings.file) if settings.engine == "embedded" else "Amazon DynamoDB"
    # By name, so that each worker process imports it itself.
    return serve_suite("potluck.suite:assembled", settings, keeps)


def recount_polls(chosen: argparse.Namespace, settings: Settings) -> int:
    """Build the counts of polls from their votes: of those that are named, or of all. Exit status: 0, or 1 if a poll is
    not there or votes keep coming in."""
    from uuid import UUID

    from potluck.apps.polls.entities import Poll
    from potluck.apps.polls.recounting import VotesKeepComing, recounted
    from potluck.store import Store

    settings = _with_data(chosen, settings)
    try:
        named = [UUID(each) for each in chosen.polls]
    except ValueError:
        raise _Refused("a poll is named by its id, such as 123e4567-e89b-12d3-a456-426614174000") from None

    async def recount(store: Store) -> int:
        status = 0
        for poll_id in named or [each.poll_id async for each in store.every(Poll, consistent=True)]:
            poll = await store.get(Poll.one(poll_id))
            if poll is None:
                print(f"{poll_id}: there is no such poll", file=sys.stderr)
                status = 1
                continue
            try:
                found = await recounted(store, poll)
            except VotesKeepComing:
                print(f"{poll_id}: votes keep coming in; close it, or try again", file=sys.stderr)
                status = 1
                continue
            said = f"votes: {found.votes}, counted before: {found.counted}, counts changed: {found.changed}"
            if found.unreadable:
                said += f"; naming somebody who is no candidate, and counting for nothing: {found.unreadable}"
            print(f"{poll_id}: {said}")
        return status

    return _with_store(settings, recount)


def backfill(chosen: argparse.Namespace, settings: Settings) -> int:
    """Rewrite the stored rows of one entity that have old keys, also while the suite runs. It can be stopped and run
    again. Exit status: 0, or 1 if a row cannot be rewritten."""
    from potluck.engines import DynamoError
    from potluck.people.email_addresses import move_addresses
    from potluck.people.entities import EmailAddress
    from potluck.store import Store
    from potluck.store.backfill import Progress
    from potluck.store.backfill import backfill as rewrite
    from potluck.table.errors import AlreadyExists, InvalidValue, NotUnique, UnreadableItem
    from potluck.table.tables import Request

    entities = {plan.name: plan for table in _tables(_declarations(chosen.app)) for plan in table.entities}
    if chosen.entity not in entities:
        raise _Refused(f"{chosen.app} has no entity {chosen.entity}; its entities are {', '.join(sorted(entities))}")
    plan = entities[chosen.entity]
    settings = _with_data(chosen, settings)

    async def rewrite_all(store: Store) -> int:
        try:
            described = await store.repeat(Request("DescribeTable", {"TableName": plan.table.name}))
        except DynamoError as error:
            if error.code != "ResourceNotFoundException":
                raise
            raise _Refused(f"the store has no table {plan.table.name}; `potluck serve` creates it") from None
        # Amazon DynamoDB counts the rows every six hours only, and others write meanwhile.
        rows = max(1, described["Table"]["ItemCount"])
        done = Progress(0, 0, None)
        try:
            with _progress("rewriting") as progress:
                # What identifies an e-mail address is its normal form, which no key template states.
                async for done in move_addresses(store) if plan.cls is EmailAddress else rewrite(store, plan.cls):
                    progress(min(1.0, done.read / rows))
        except (AlreadyExists, InvalidValue, NotUnique, UnreadableItem) as problem:
            raise _Refused(f"a row of {plan.name} cannot be rewritten: {problem}") from problem
        print(f"{plan.name}: rows read: {done.read}, rewritten: {done.rewritten}")
        return 0

    return _with_store(settings, rewrite_all)


def reset_password(chosen: argparse.Namespace, settings: Settings) -> int:
    """Print a link by which somebody who forgot their password chooses a new one: once, within a day."""
    from potluck.people.errors import AccountGone
    from potluck.people.services import People
    from potluck.validation.errors import ValidationError

    settings = _with_data(chosen, settings)

    async def issue(people: People) -> str:
        try:
            return (await people.resets.issue(chosen.email)).secret
        except AccountGone:
            raise _Refused(f"no account has the e-mail address {chosen.email}") from None
        except ValidationError as problem:
            raise _Refused(str(problem)) from None

    secret = _with_people(settings, issue)
    print(f"{_origin(settings)}/reset#{secret}")
    print(
        "It sets the password once, within 24 hours, and then ends every session and API token of the account; another "
        "link for the same account ends this one.",
        file=sys.stderr,
    )
    return 0


def invite(chosen: argparse.Namespace, settings: Settings) -> int:
    """Print a link by which one person registers, where POTLUCK_REGISTRATION is "invited": once, within a week."""
    from potluck.people.errors import TooMany
    from potluck.people.services import People

    settings = replace(settings, data=chosen.data)
    if settings.registration == "closed":
        raise _Refused("POTLUCK_REGISTRATION is 'closed': nobody can register, not even with an invitation")
    if settings.registration == "open":
        raise _Refused(
            f"POTLUCK_REGISTRATION is 'open': anybody can register at {_origin(settings)}/sign-up without an invitation"
        )

    async def make(people: People) -> str:
        try:
            return (await people.invitations.make_for_newcomer()).secret
        except TooMany as problem:
            raise _Refused(f"{problem}, and so many have not come yet") from None

    secret = _with_people(settings, make, first=True)
    print(f"{_origin(settings)}/sign-up#{secret}")
    print("It lets one person register, within 7 days.", file=sys.stderr)
    return 0


def demo(chosen: argparse.Namespace, settings: Settings) -> int:
    """Fill the store with made-up people and what they keep here, and print how to sign in as them."""
    from potluck.demo import AlreadyHere, filled

    settings = replace(settings, data=chosen.data)

    def tell(what: str) -> None:
        print(what, file=sys.stderr, flush=True)

    try:
        made = _done(filled(settings, tell))
    except AlreadyHere as problem:
        raise _Refused(
            f"{problem.email} is here already. For a new start, take another folder (--data); for a new password, "
            f"`potluck reset-password {problem.email}`"
        ) from None
    print("\n".join(made.told(_origin(settings))))
    tell("The passwords are not shown again. If Potluck is not running yet, start it: potluck serve")
    return 0


def _with_data(chosen: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with the data folder that was chosen, in which there must be a store."""
    settings = replace(settings, data=chosen.data)
    if settings.engine == "embedded" and not settings.file.is_file():
        raise _Refused(f"there is no store at {settings.file}")
    return settings


def _with_store(settings: Settings, do: "Callable[[Store], Awaitable[int]]") -> int:
    """Run `do` on the configured store, also while the suite is running on it, and return its result."""
    from datetime import UTC, datetime

    from potluck.engines import open_engine
    from potluck.store import Store
    from potluck.web.suite_secret import must_not_be_empty

    async def run() -> int:
        must_not_be_empty(settings)
        engine = await open_engine(
            settings.engine,
            path=settings.file,
            region=settings.region,
            endpoint=settings.endpoint,
            prefix=settings.table_prefix,
        )
        try:
            return await do(Store(engine, lambda: datetime.now(UTC)))
        finally:
            await engine.close()

    return _done(run())


def _with_people(settings: Settings, do: "Callable[[People], Awaitable[str]]", *, first: bool = False) -> str:
    """Run `do` with the people services of the configured store, also while the suite is running on it.

    With `first`, a store that does not exist yet is created.
    """
    from datetime import UTC, datetime

    from potluck.engines import open_engine
    from potluck.people.entities import accounts
    from potluck.people.services import open_people
    from potluck.store import Store
    from potluck.web.suite_secret import load_secret, must_not_be_empty

    def clock() -> datetime:
        return datetime.now(UTC)

    async def run() -> str:
        must_not_be_empty(settings)
        if first and settings.engine == "embedded" and not settings.file.exists():
            # A store's secret must exist before the store does; this command does not use it.
            load_secret(settings)
            settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        engine = await open_engine(
            settings.engine,
            path=settings.file,
            region=settings.region,
            endpoint=settings.endpoint,
            prefix=settings.table_prefix,
        )
        try:
            store = Store(engine, clock)
            if first:
                await store.create_tables(accounts)
            people = open_people(store, clock, settings.registration)
            try:
                return await do(people)
            finally:
                people.close()
        finally:
            await engine.close()

    return _done(run())


def _origin(settings: Settings) -> str:
    """The origin at which people reach the suite, as far as this machine can tell."""
    if settings.origin is not None:
        return settings.origin
    from potluck.web.server.serve import port_in_use

    host = "localhost" if settings.host in ("", "0.0.0.0", "::") else settings.host
    port = port_in_use(settings) or settings.port
    return origin_named("http", f"{f'[{host}]' if ':' in host else host}:{port}") or f"http://{host}"


def dynamodb(chosen: argparse.Namespace, _: Settings) -> int:
    """Serve the embedded engine alone, to any AWS SDK."""
    import secrets

    from potluck.dynamo.database import Database
    from potluck.dynamo.server import serving
    from potluck.engines.simulating import Simulating

    seed = secrets.randbelow(1_000_000) if chosen.seed is None else chosen.seed
    simulates = bool(chosen.throttle or chosen.lag or chosen.conflicts)

    async def run() -> None:
        stopping = _told_to_stop()
        database = await Database.open(chosen.file)
        engine = Simulating(database, throttle=chosen.throttle, lag=chosen.lag, conflicts=chosen.conflicts, seed=seed)
        served = engine if simulates else database
        try:
            async with serving(served, chosen.host, chosen.port, chosen.host_name, shared=chosen.shared) as port:
                host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
                print(f"\n  The engine answers at http://{host}:{port}")
                print(f"  Tables are kept in {chosen.file}" if chosen.file else "  Tables are gone when it stops")
                if chosen.shared:
                    print("  Any credentials and any region will do, and all have the same tables.")
                else:
                    print("  Any credentials will do. Each region has its own tables, as has each 12-digit access key.")
                if simulates:
                    print(
                        f"  It throttles {chosen.throttle:.0%} of all calls, {chosen.conflicts:.0%} of writes meet a "
                        f"conflict, and reads lag {chosen.lag:g} s (--seed {seed})"
                    )
                print("  Ctrl+C stops it.\n", flush=True)
                await stopping.wait()
        finally:
            await engine.close()

    _run(run())
    return 0


def backup(chosen: argparse.Namespace, settings: Settings) -> int:
    """Copy the store and its secret to one file, also while the suite runs: all that is needed to go on elsewhere."""
    from potluck.backups import back_up
    from potluck.dynamo.database import Database
    from potluck.dynamo.storage.private_files import open_to

    settings = replace(settings, data=chosen.data)
    if settings.engine != "embedded" and chosen.file is None:
        raise _Refused(
            "backup copies the embedded store; on Amazon DynamoDB use point-in-time recovery, and keep POTLUCK_SECRET"
        )
    store = chosen.file or settings.file
    if not store.is_file():
        raise _Refused(f"there is no store at {store}")
    if store.stat().st_size <= 1:
        raise _Refused(f"{store} is empty: there is nothing to copy")

    async def copy_alone(progress: Callable[[float], None]) -> None:
        async with await Database.open(store) as database:
            await database.backup(chosen.to, progress=progress)

    with _progress("copying") as progress:
        _done(copy_alone(progress) if chosen.file else back_up(settings, chosen.to, progress))
    size = f"{chosen.to.stat().st_size:,} bytes"
    if chosen.file is None:
        print(f"Copied {store} and its secret to {chosen.to} ({size})")
        print(
            "Keep it as safe as the store: whoever has it has everything, also the secret. "
            "`potluck restore` brings it back.",
            file=sys.stderr,
        )
    else:
        print(f"Copied {store} to {chosen.to} ({size}), a store like the first")
    if open_to(chosen.to):
        print(f"Others can read {chosen.to}: this file system does not keep them from it.", file=sys.stderr)
    return 0


def restore(chosen: argparse.Namespace, settings: Settings) -> int:
    """Bring back what `potluck backup` copied, store and secret, looked through before it is put in place."""
    from potluck.backups import restore as bring_back
    from potluck.dynamo.storage.private_files import open_to

    settings = replace(settings, data=chosen.data)
    if settings.engine != "embedded":
        raise _Refused("restore brings back the embedded store; on Amazon DynamoDB use point-in-time recovery")
    if not chosen.backup.is_file():
        raise _Refused(f"there is no backup at {chosen.backup}")
    with _progress("restoring") as progress:
        aside, with_secret = _done(bring_back(settings, chosen.backup, replace=chosen.replace, progress=progress))
    print(f"Restored {settings.file}{' and its secret' if with_secret else ''} from {chosen.backup}")
    if not with_secret:
        print(
            f"The backup holds no secret: before you start, set POTLUCK_SECRET, or put the file back as "
            f"{settings.data / 'secret'}. It was made by an earlier version, or with --file.",
            file=sys.stderr,
        )
    if open_to(chosen.backup):
        print(f"Others can read {chosen.backup}: chmod 600 {chosen.backup}", file=sys.stderr)
    if aside is not None:
        print(f"What was here before is in {aside}; delete it when you are sure.", file=sys.stderr)
    return 0


def accept_new_secret(chosen: argparse.Namespace, settings: Settings) -> int:
    """Where a store's secret is lost, let it take the one that is given now, or a new one; first say what it costs."""
    from potluck.backups import WITH_ANOTHER_SECRET
    from potluck.backups import accept_new_secret as accept

    settings = replace(settings, data=chosen.data)
    if not chosen.yes:
        print(WITH_ANOTHER_SECRET)
        raise _Refused("nothing is changed yet; --yes accepts this")
    if _done(accept(settings)):
        print("Accepted. Make a backup, and start Potluck again, on every machine with this same secret.")
    else:
        print("This is the store's own secret: nothing was lost, and nothing is changed.")
    return 0


def accept_lost_writes(chosen: argparse.Namespace, settings: Settings) -> int:
    """Where a store's write-ahead log is lost, check what is left and go on without the latest writes."""
    from potluck.dynamo.storage.backup import accept_lost_writes as accept

    settings = replace(settings, data=chosen.data)
    if settings.engine != "embedded" and chosen.file is None:
        raise _Refused("only an embedded store has a write-ahead log that can be lost")
    store = chosen.file or settings.file
    if not store.is_file():
        raise _Refused(f"there is no store at {store}")
    if not chosen.yes:
        print(
            f"What was written to {store} since its log was last merged into it is lost, although it was confirmed.\n"
            "Look for the log first: it is the file that ends in -wal. A backup may have more than what is left."
        )
        raise _Refused("nothing is changed yet; --yes accepts this")
    if accept(store):
        print("Accepted. What is left was checked, and is whole. Make a backup, and start Potluck again.")
    else:
        print("The log is not lost: nothing is missing, and nothing is changed.")
    return 0


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None]]:
    from potluck.progress_bar import ProgressBar

    bar = ProgressBar(sys.stderr)
    try:
        yield lambda part: bar.show(what, part)
    finally:
        bar.clear()


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine; failures that the operator can fix become a one-sentence refusal."""
    from potluck.web.server.serve import cannot_start

    try:
        return _run(work)
    except _Refused:
        raise
    except Exception as error:
        problem_in_words = cannot_start(error)
        if problem_in_words is None:
            raise
        raise _Refused(problem_in_words) from error


def design(chosen: argparse.Namespace, _: Settings) -> int:
    """Print table designs as their declarations have them, or what a reviewer would ask about them."""
    from potluck.table.design import markdown, with_section
    from potluck.table.design.cloudformation import cloudformation
    from potluck.table.design.diagram import mermaid

    modules = [_declarations(name) for name in chosen.apps or _designed()]
    tables = [table for module in modules for table in _tables(module)]
    if chosen.lint:
        return _lint(tables)
    if chosen.write:
        for module in modules:
            assert module.__file__ is not None
            readme = Path(module.__file__).with_name("README.md")
            try:
                readme.write_text(with_section(readme.read_text(), markdown(_tables(module))))
            except ValueError as problem:
                raise _Refused(f"{readme}: {problem}") from problem
            print(f"Wrote {readme}")
        return 0
    print({"markdown": markdown, "mermaid": mermaid, "cloudformation": cloudformation}[chosen.format](tables), end="")
    return 0


def _lint(tables: Sequence[Any]) -> int:
    from potluck.table.lint import lint

    found = [finding for table in tables for finding in lint(table)]
    unexplained = [finding for finding in found if finding.accepted is None]
    for finding in sorted(found, key=lambda finding: finding.accepted is not None):
        print(finding)
    accepted = len(found) - len(unexplained)
    print(f"{len(unexplained) or 'no'} finding{'' if len(unexplained) == 1 else 's'}, {accepted} accepted")
    return 1 if unexplained else 0


def _designed() -> list[str]:
    """The parts of Potluck that declare tables: the apps, and people."""
    apps = (Path(__file__).parent / "apps").glob("*/entities.py")
    return [*sorted(file.parent.name for file in apps), "people"]


def _declarations(name: str) -> ModuleType:
    """The module that declares an app's tables, or any other module by its dotted name."""
    from importlib import import_module

    from potluck.table.errors import DesignError

    if name in _designed():
        path = "potluck.people.entities" if name == "people" else f"potluck.apps.{name}.entities"
    else:
        path = name
        # The current folder, so that a project's own module is found as `python -m` would find it.
        if "" not in sys.path:
            sys.path.insert(0, "")
    try:
        module = import_module(path)
    except DesignError as problem:
        raise _Refused(str(problem)) from problem
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{path}.".startswith(f"{problem.name}."):
            raise
        raise _Refused(f"there is no app and no module {name}; the apps are {', '.join(_designed())}") from problem
    if not _tables(module):
        raise _Refused(f"{path} declares no table")
    return module


def _tables(module: ModuleType) -> list[Any]:
    from potluck.table.tables import Table

    return list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Table)))


def _run(work: Coroutine[Any, Any, T]) -> T:
    factory = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)


def _told_to_stop() -> asyncio.Event:
    """An event that Ctrl+C (SIGINT) or a supervisor's SIGTERM sets."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopping.set))
    return stopping


def _parser(settings: Settings, *, counting: bool = False) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="potluck",
        description="Five small apps for the people around a table, and the DynamoDB-compatible engine under them.",
        epilog="Settings may also come from the environment: POTLUCK_ENGINE (embedded or aws), POTLUCK_DATA, "
        "POTLUCK_HOST, POTLUCK_PORT, POTLUCK_WORKERS, POTLUCK_ORIGIN, POTLUCK_PROXIES, POTLUCK_REGISTRATION "
        "(open, invited or closed), POTLUCK_SECRET, POTLUCK_STORE_BUDGET, POTLUCK_LOG (problems or requests), "
        "POTLUCK_REGION, POTLUCK_ENDPOINT, POTLUCK_TABLE_PREFIX, POTLUCK_TAKEOVER, POTLUCK_ASSISTANT (embedded, openai "
        "or anthropic), POTLUCK_ASSISTANT_URL, POTLUCK_ASSISTANT_MODEL, POTLUCK_ASSISTANT_KEY, "
        "POTLUCK_ASSISTANT_TIMEOUT, POTLUCK_OPEN_LIBRARY, POTLUCK_TMDB_KEY.",
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
    suite.add_argument(
        "--workers",
        type=_workers,
        default=settings.workers,
        metavar=f"1..{MOST_WORKERS}",
        help="how many processes answer, each with limits of its own; one for each processor is enough (%(default)s)",
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
    alone.add_argument("--shared", action="store_true", help="one set of tables for all regions and accounts")
    alone.add_argument(
        "--throttle",
        type=_rate,
        default=0.0,
        metavar="RATE",
        help="throttle this part of all calls, and cut as many batches, such as 0.1 (%(default)s)",
    )
    alone.add_argument(
        "--conflicts",
        type=_rate,
        default=0.0,
        metavar="RATE",
        help="let this part of all transactions and writes conflict, such as 0.1 (%(default)s)",
    )
    alone.add_argument(
        "--lag",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="answer indexes and reads that are not consistent from so long ago, such as 2 (%(default)s)",
    )
    alone.add_argument(
        "--seed", type=_seed, metavar="NUMBER", help="choose what is throttled and what conflicts as an earlier run did"
    )

    copy = command("backup", backup, "copy the store and its secret to one file, also while the suite runs")
    copy.add_argument("to", type=Path, metavar="FILE", help="the file to make; it must not exist yet")
    copied = copy.add_mutually_exclusive_group()
    copied.add_argument("--data", type=Path, default=settings.data, help="the folder that is copied (%(default)s)")
    copied.add_argument("--file", type=Path, metavar="STORE", help="a store of `potluck dynamodb`, which has no secret")

    back = command("restore", restore, "bring back what `potluck backup` copied, in this folder or on another machine")
    back.add_argument("backup", type=Path, metavar="FILE", help="the file that `potluck backup` made")
    back.add_argument("--data", type=Path, default=settings.data, help="the folder to put it in (%(default)s)")
    back.add_argument("--replace", action="store_true", help="put aside what is there already")

    accept = command("accept-new-secret", accept_new_secret, "let a store whose secret is lost go on with another")
    accept.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")
    accept.add_argument("--yes", action="store_true", help="do it; without this, only what it costs is said")

    without = command("accept-lost-writes", accept_lost_writes, "let a store whose write-ahead log is lost go on")
    place = without.add_mutually_exclusive_group()
    place.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")
    place.add_argument("--file", type=Path, metavar="STORE", help="a store of `potluck dynamodb`")
    without.add_argument("--yes", action="store_true", help="do it; without this, only what it costs is said")

    reset = command("reset-password", reset_password, "print a link to choose a new password, for you to hand over")
    reset.add_argument("email", metavar="EMAIL", help="the e-mail address of the account")
    reset.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")

    invitation = command("invite", invite, "print a link to register by, where only invited people may")
    invitation.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")

    about_polls = commands.add_parser("polls", help="look after polls: recount them from their votes")
    of_polls = about_polls.add_subparsers(title="commands", metavar="COMMAND", required=True)
    recount = of_polls.add_parser(
        "recount", help="build the counts of polls from their votes", description=recount_polls.__doc__
    )
    recount.set_defaults(run=recount_polls)
    recount.add_argument("polls", nargs="*", metavar="POLL", help="the id of a poll; without one, all")
    recount.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")

    rewriting = command("backfill", backfill, "give stored rows the keys that their entity declares today")
    rewriting.add_argument("app", metavar="APP", help="an app, people, or a module by its dotted name")
    rewriting.add_argument("entity", metavar="ENTITY", help="the class of the rows, such as Poll")
    rewriting.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")

    made_up = command("demo", demo, "fill a store with made-up people and things, and print how to sign in")
    made_up.add_argument("--data", type=Path, default=settings.data, help="the folder that holds it (%(default)s)")

    if counting:
        from potluck.apps.polls import count_command

        count_command.add_parser(commands)
    else:
        # Its options are defined in its own module, which takes longer to import than everything else here.
        commands.add_parser("count", help="count a ballot file by any method, showing every round")

    designs = command("design", design, "print table designs as they are declared, or find what is wrong with them")
    designs.add_argument(
        "apps", nargs="*", metavar="APP", help="an app, people, or a module by its dotted name; without one, all"
    )
    shown = designs.add_mutually_exclusive_group()
    shown.add_argument(
        "--format", choices=("markdown", "mermaid", "cloudformation"), default="markdown", help="how (%(default)s)"
    )
    shown.add_argument(
        "--lint", action="store_true", help="print what a reviewer would find; fails if any of it is not explained"
    )
    shown.add_argument(
        "--write", action="store_true", help="put the markdown between the markers of the README.md beside each module"
    )
    return parser


class _Version(argparse.Action):
    """Prints the version, looked up only on demand: the lookup takes as long as starting the engine."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"potluck {version('potluck')}")
        parser.exit()


def _port(text: str) -> int:
    return _number(text, 0, 65535)


def _workers(text: str) -> int:
    return _number(text, 1, MOST_WORKERS)


def _seed(text: str) -> int:
    return _number(text, 0, 999_999)


def _rate(text: str) -> float:
    return _decimal(text, 1.0)


def _seconds(text: str) -> float:
    return _decimal(text, 3600.0)


def _decimal(text: str, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {most:g}")
    return number


def _number(text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
