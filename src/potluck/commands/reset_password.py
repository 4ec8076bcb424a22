"""`potluck reset-password`: a link for someone who forgot their password."""

import argparse
import sys

from potluck.commands.arguments import add_data
from potluck.commands.operator_rules import open_operator_rules
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import origin_of, settings_with_store
from potluck.people.errors import AccountGone, PasswordsOff
from potluck.settings import Settings
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import ValidationError
from potluck.web.people.access import AddressOnly
from potluck.web.people.password_resets import issue_reset


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("email", metavar="EMAIL", help="the e-mail address of the account")
    add_data(parser, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Print a link to set a new password. It works once, within a day."""
    settings = settings_with_store(chosen, settings)
    secret = run_or_refuse(_issue(settings, chosen.email))
    print(f"{origin_of(settings)}/reset#{secret}")
    print(
        "The link works once, within 24 hours. Using it ends every session and API token of the account; a newer link "
        "replaces it.",
        file=sys.stderr,
    )
    return 0


async def _issue(settings: Settings, email: str) -> str:
    async with open_operator_rules(settings) as operator:
        try:
            secret: str = await operator.do(issue_reset, None, decode_tree(AddressOnly, {"email": email}))
        except AccountGone:
            raise CommandError(f"no account has the e-mail address {email}") from None
        except (ValidationError, PasswordsOff) as problem:
            raise CommandError(str(problem)) from None
    return secret
