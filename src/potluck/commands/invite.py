"""`potluck invite`: a link that lets one person register."""

import argparse
import sys
from dataclasses import replace

from potluck.commands.arguments import add_data
from potluck.commands.operator_rules import open_operator_rules
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import origin_of
from potluck.people.errors import TooMany
from potluck.settings import Settings
from potluck.web.people.invitations import invite_newcomer


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_data(parser, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Print a link for one person to register, if POTLUCK_REGISTRATION is "invited". It works once, within a week."""
    settings = replace(settings, data=chosen.data)
    if settings.registration == "closed":
        raise CommandError("POTLUCK_REGISTRATION is 'closed': no one can register, not even with an invitation")
    if settings.registration == "open":
        raise CommandError(
            f"POTLUCK_REGISTRATION is 'open': anyone can register at {origin_of(settings)}/sign-up without an "
            "invitation"
        )
    if settings.registration == "approval":
        raise CommandError(
            f"POTLUCK_REGISTRATION is 'approval': anyone can register at {origin_of(settings)}/sign-up, and an admin "
            "approves them, or `potluck people approve EMAIL`"
        )
    secret = run_or_refuse(_invite(settings))
    # With an identity provider there are two ways to sign up, and that page leads to both.
    print(f"{origin_of(settings)}/{'invitation' if settings.oidc.issuer else 'sign-up'}#{secret}")
    print("The link lets one person register, within 7 days.", file=sys.stderr)
    return 0


async def _invite(settings: Settings) -> str:
    async with open_operator_rules(settings, create=True) as operator:
        try:
            secret: str = await operator.do(invite_newcomer, None)
        except TooMany as problem:
            raise CommandError(f"{problem}, and all of them are still open") from None
    return secret
