"""`potluck accept-new-secret`: replace a secret that was lost."""

import argparse
from dataclasses import replace

from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import no_store_at, open_store
from potluck.dynamo.database import Database
from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.backup import let_go_of
from potluck.people.entities import accounts
from potluck.settings import Settings
from potluck.web.suite_secret import SECRET_FILE, accept_secret, load_secret, made_by, make_secret, must_not_be_empty

CONSEQUENCES = """\
The store uses its secret to recognise who has voted. With a new secret:
  - everyone who has voted in an open poll can vote there once more, and both votes count;
  - voting codes that were handed out stop working: hand out new ones;
  - paginated lists and pages with live updates start over once;
  - for a day, a request repeated with its Idempotency-Key is refused.
Accounts, passwords, sessions, API tokens, invitations, and the keys for managing polls and changing votes keep
working."""


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_data(parser, settings)
    parser.add_argument("--yes", action="store_true", help="accept it; without this, only list the consequences")


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Accept a new secret for a store whose secret is lost: POTLUCK_SECRET if set, otherwise a random one."""
    settings = replace(settings, data=chosen.data)
    if not chosen.yes:
        print(CONSEQUENCES)
        raise CommandError("nothing was changed; add --yes to accept this")
    if run_or_refuse(accept_new_secret(settings)):
        print("Accepted. Make a backup, then start Potluck again, with this secret on every machine.")
    else:
        print("This is already the store's secret. Nothing was lost, and nothing was changed.")
    return 0


async def accept_new_secret(settings: Settings) -> bool:
    """Bind the store to the configured secret, or to a new one if none is set; False if it already has that one."""
    if settings.engine == "embedded":
        if not settings.file.is_file():
            raise StoreUnusable(no_store_at(settings.file))
        must_not_be_empty(settings)
        async with await Database.open(settings.file):
            pass  # a damaged store is refused before anything is changed
        let_go_of(settings.file)
    if settings.secret is None and settings.engine == "embedded":
        make_secret(settings.data / SECRET_FILE)
    secret = load_secret(settings)
    async with open_store(settings) as store:
        if await made_by(store, secret):
            return False
        await store.create_tables(accounts)
        await accept_secret(store, secret)
    return True
