"""`potluck tables`: the suite's tables on Amazon DynamoDB created and verified, and the policies that use them."""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

from potluck.aws.policies import ROLES, Resources, policy
from potluck.aws.template import with_generated
from potluck.aws.verification import differences
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import open_store
from potluck.commands.table_modules import suite_tables
from potluck.settings import Settings
from potluck.web.suite_secret import must_not_be_empty

ACCOUNT = re.compile("[0-9]{12}", re.ASCII)


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command_name", required=True)
    prefix = "goes in front of every table name (%(default)r)"
    for name, help in (
        ("create", "create what is missing: tables, indexes, streams and expiry"),
        ("verify", "compare the tables with their design; the exit status is 1 if they differ"),
    ):
        command = commands.add_parser(name, help=help, description=DESCRIPTIONS[name])
        command.add_argument("--prefix", default=settings.table_prefix, help=prefix)
    printed = commands.add_parser(
        "policy", help="print the least-privilege IAM policy of a role", description=DESCRIPTIONS["policy"]
    )
    printed.add_argument(
        "--role",
        action="append",
        choices=ROLES,
        help="; ".join(f"{name}: {role.does}" for name, role in ROLES.items()) + ". May be repeated (web)",
    )
    printed.add_argument("--prefix", default=settings.table_prefix, help=prefix)
    printed.add_argument("--region", default=settings.region or "*", help="the tables' region (%(default)s)")
    printed.add_argument("--account", type=_account, default="*", help="the AWS account's number (%(default)s)")

    template = commands.add_parser(
        "template",
        help="write tables and policies into a CloudFormation template",
        description=DESCRIPTIONS["template"],
    )
    template.add_argument("file", type=Path, metavar="FILE", help="the template, such as deploy/aws/template.yaml")


DESCRIPTIONS = {
    "template": "Write the tables, the policies and the event sources between the two markers of a template.",
    "create": "Create the tables of the suite, or what they lack. What exists is left alone: it can be run again.",
    "verify": "Compare keys, indexes, streams and expiry with the design, and say what to do about each difference. "
    "Needs the permissions dynamodb:DescribeTable and dynamodb:DescribeTimeToLive, nothing else.",
    "policy": "Print an IAM policy. A process that serves requests and does the background work has two roles: "
    "--role web --role consumers.",
}


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Create or verify the suite's tables, or print the policies of those who use them."""
    if chosen.command_name == "policy":
        resources = Resources(region=chosen.region, account=chosen.account, prefix=chosen.prefix)
        print(json.dumps(policy(suite_tables(), chosen.role or ["web"], resources), indent=2))
        return 0
    if chosen.command_name == "template":
        return _write_template(chosen.file)
    settings = replace(settings, table_prefix=chosen.prefix)
    if settings.engine != "aws":
        raise CommandError(
            "the embedded store creates and checks its tables itself: set POTLUCK_ENGINE=aws for Amazon DynamoDB"
        )
    return run_or_refuse(_create(settings) if chosen.command_name == "create" else _verify(settings))


def _write_template(file: Path) -> int:
    try:
        file.write_text(with_generated(file.read_text(), suite_tables()))
    except ValueError as problem:
        raise CommandError(f"{file}: {problem}") from problem
    print(f"Wrote {file}")
    return 0


async def _create(settings: Settings) -> int:
    must_not_be_empty(settings)
    async with open_store(settings) as store:
        for table in suite_tables():
            created = await store.create_tables(table)
            print(f"{settings.table_prefix}{table.name}: {'created what was missing' if created else 'was complete'}")
    return 0


async def _verify(settings: Settings) -> int:
    tables = suite_tables()
    async with open_store(settings) as store:
        found = await differences(store.engine, tables)
    for difference in found:
        print(f"{settings.table_prefix}{difference}")
    if not found:
        print(f"{len(tables)} tables match their design")
    return 1 if found else 0


def _account(text: str) -> str:
    if text != "*" and not ACCOUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an AWS account, which has 12 digits")
    return text
