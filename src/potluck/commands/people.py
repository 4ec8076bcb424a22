"""`potluck people`: list the people with an account, and decide about one, as admins do on the page of people."""

import argparse
import json
import sys
from typing import Any, get_args

from msgspec import to_builtins

from potluck.commands.arguments import add_data
from potluck.commands.operator_rules import open_operator_rules
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import open_store, settings_with_store
from potluck.people.entities import Account, Status
from potluck.people.errors import AccountGone
from potluck.settings import Settings
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import Refusal, ValidationError
from potluck.web.people.administration import Decision, PersonView, decide
from potluck.web.suite_secret import must_not_be_empty
from potluck.web.views import view_plan

# What each decision is for, and what is printed when it is done.
DECISIONS = {
    "approve": ("approve a waiting account", "can sign in now"),
    "decline": ("decline and delete a waiting account", "was declined, and the account is deleted"),
    "disable": ("disable an account; its sessions and API tokens stop at once", "is disabled; its data is kept"),
    "enable": ("enable a disabled account", "is enabled"),
    "promote": ("make someone an admin", "is an admin now"),
    "demote": ("remove the admin role", "is no longer an admin"),
    "delete": ("delete an account and everything that only it owns", "is deleted"),
}


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="decision")
    listing = commands.add_parser("list", help="list the accounts by name")
    listing.add_argument("--status", choices=get_args(Status), help="only accounts with this status")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="the output format (%(default)s)")
    add_data(listing, settings)
    for name, (help, _) in DECISIONS.items():
        command = commands.add_parser(name, help=help)
        command.add_argument("email", metavar="EMAIL", help="the e-mail address of the account")
        if name == "delete":
            command.add_argument(
                "--yes", action="store_true", help="delete it; without this, only list the consequences"
            )
        add_data(command, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """List accounts, or decide about one, even while the suite is running."""
    settings = settings_with_store(chosen, settings)
    if chosen.decision == "list":
        people = run_or_refuse(_people(settings, chosen.status))
        print(json.dumps(to_builtins(people), indent=2) if chosen.format == "json" else "\n".join(_lines(people)))
        return 0
    if chosen.decision == "delete" and not chosen.yes:
        print(
            f"This deletes the account of {chosen.email} and everything that only it owns. It cannot be undone.",
            file=sys.stderr,
        )
        raise CommandError("nothing was deleted; add --yes to delete it")
    run_or_refuse(_decide(settings, chosen.decision, chosen.email))
    print(f"{chosen.email} {DECISIONS[chosen.decision][1]}")
    return 0


async def _people(settings: Settings, status: Status | None) -> list[PersonView]:
    must_not_be_empty(settings)
    async with open_store(settings) as store:
        show = view_plan(PersonView).show
        wanted = get_args(Status) if status is None else (status,)
        people = [show(account) async for account in store.each(Account.every()) if account.status in wanted]
    return sorted(people, key=lambda person: (person.name.casefold(), person.email))


async def _decide(settings: Settings, decision: str, email: str) -> Any:
    # What is theirs in the apps goes with an account.
    async with open_operator_rules(settings, apps=decision in ("decline", "delete")) as operator:
        try:
            return await operator.do(decide, None, decode_tree(Decision, {"email": email, "decided": decision}))
        except AccountGone:
            raise CommandError(f"no account has the e-mail address {email}") from None
        except (ValidationError, Refusal) as problem:
            raise CommandError(str(problem)) from None


def _lines(people: list[PersonView]) -> list[str]:
    names = max((len(person.name) for person in people), default=0)
    emails = max((len(person.email) for person in people), default=0)
    return [f"{each.name:<{names}}  {each.email:<{emails}}  {_about(each)}" for each in people]


def _about(person: PersonView) -> str:
    signed_in = "unknown" if person.signed_in_at is None else f"{person.signed_in_at:%Y-%m-%d}"
    return f"{person.status}{', admin' if person.admin else ''}, last sign-in {signed_in}"
