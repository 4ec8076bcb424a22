"""The `potluck` command line: the list of commands, and the one that is run.

A command's module is imported when it is called, so that --help is instant.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from potluck.commands.refusal import CommandError
from potluck.dynamo.errors import StoreUnusable
from potluck.extras import MissingExtra, needs_extra
from potluck.settings import Settings, SettingsError


class Command(Protocol):
    """A command's module."""

    def declare(self, parser: argparse.ArgumentParser, settings: Settings) -> None:
        """Declare the command's arguments; the settings are their defaults."""
        ...

    def run(self, chosen: argparse.Namespace, settings: Settings) -> int:
        """Run the command and return the exit status; the docstring is its description."""
        ...


class CommandSummary(NamedTuple):
    """A command's line in --help, and the extra that it needs."""

    help: str
    extra: str | None = None


# `accept-new-secret` is the module `accept_new_secret`.
COMMANDS = {
    "serve": CommandSummary("run the suite: pages, API and background work", "suite"),
    "dynamodb": CommandSummary("serve the embedded engine alone to any AWS SDK", "server"),
    "backup": CommandSummary("copy the store and its secret to one file, even while the suite is running"),
    "restore": CommandSummary("restore a backup, here or on another machine"),
    "export": CommandSummary("write all tables to a folder, in the format of DynamoDB's own exports"),
    "import": CommandSummary("import such a folder into an empty store, embedded or on DynamoDB"),
    "accept-new-secret": CommandSummary("accept a new secret for this store"),
    "accept-lost-writes": CommandSummary("accept that the store's latest writes are lost"),
    "doctor": CommandSummary("check an installation for problems, and say how to fix them", "suite"),
    "people": CommandSummary("list, approve, disable or delete accounts, and appoint admins", "suite"),
    "reset-password": CommandSummary("print a link to set a new password", "suite"),
    "invite": CommandSummary("print a link for one person to register", "suite"),
    "polls": CommandSummary("maintain polls: recount their votes"),
    "backfill": CommandSummary("rewrite stored rows whose keys are out of date"),
    "demo": CommandSummary("fill a store with made-up people and data, and print how to sign in", "suite"),
    "count": CommandSummary("count a ballot file by any method, showing every round"),
    "tables": CommandSummary("create or verify the tables on Amazon DynamoDB, or print their IAM policies"),
    "design": CommandSummary("print or review table designs"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 1 refused with a message, 2 usage error."""
    words = sys.argv[1:] if arguments is None else arguments
    invalid: SettingsError | None = None
    # The command is the first word that is not an option: `potluck` itself has no options with a value.
    name = next((word for word in words if not word.startswith("-")), None)
    try:
        try:
            settings = Settings.from_environment()
        except SettingsError as problem:
            # --help and usage errors come first, even when a setting is wrong.
            settings, invalid = Settings(), problem
        with needs_extra(COMMANDS[name].extra if name in COMMANDS else None):
            chosen = _parser(settings, name).parse_args(words)
            if invalid is not None:
                raise invalid
            return cast(Command, chosen.command).run(chosen, settings)
    except (SettingsError, StoreUnusable, MissingExtra, CommandError) as problem:
        print(f"potluck: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        # Imported here: --help needs no sentences for errors.
        from potluck.web.server.reasons import reason_of

        print(f"potluck: {reason_of(problem)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser(settings: Settings, name: str | None) -> argparse.ArgumentParser:
    """The parser of every command; only the named one has its arguments."""
    parser = argparse.ArgumentParser(
        prog="potluck",
        description="Five small apps for a household or a club, and the DynamoDB-compatible engine under them.",
        epilog=_settings_in_words(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for listed, line in COMMANDS.items():
        if listed != name:
            parsers.add_parser(listed, help=line.help)
            continue
        command = cast(Command, import_module(f"potluck.commands.{name.replace('-', '_')}"))
        declared = parsers.add_parser(listed, help=line.help, description=command.run.__doc__)
        declared.set_defaults(command=command)
        command.declare(declared, settings)
    return parser


def _settings_in_words() -> str:
    """Every setting with its default, a line each."""
    lines = [f"  {each.variable:<26} {each.help} ({each.default})" for each in Settings.declared()]
    return "\n".join(["settings, from the environment:", *lines])


class _Version(argparse.Action):
    """Prints the version, looked up only on demand: the lookup takes as long as starting the engine."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"potluck {version('potluck')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
