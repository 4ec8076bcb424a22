"""`potluck backfill`: stored rows rewritten to the keys that their entity declares today."""

import argparse
from typing import Any

from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import progress_of, run_or_refuse
from potluck.commands.stores import open_store, settings_with_store
from potluck.commands.table_modules import table_module, tables_of
from potluck.engines import DynamoError
from potluck.people.email_addresses import move_addresses
from potluck.people.entities import EmailAddress
from potluck.settings import Settings
from potluck.store import Store
from potluck.store.backfill import Progress, backfill
from potluck.table.errors import AlreadyExists, InvalidValue, NotUnique, UnreadableItem
from potluck.table.tables import Request
from potluck.web.suite_secret import must_not_be_empty


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("app", metavar="APP", help="an app, people, or a module by its dotted name")
    parser.add_argument("entity", metavar="ENTITY", help="the class of the rows, such as Poll")
    add_data(parser, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Rewrite the stored rows of one entity that have old keys, even while the suite is running. You can stop it and
    run it again. The exit status is 1 if a row cannot be rewritten."""
    plans = {plan.name: plan for table in tables_of(table_module(chosen.app)) for plan in table.entities}
    if chosen.entity not in plans:
        raise CommandError(f"{chosen.app} has no entity {chosen.entity}; its entities are {', '.join(sorted(plans))}")
    settings = settings_with_store(chosen, settings)
    progress = run_or_refuse(_rewrite(settings, plans[chosen.entity]))
    print(f"{chosen.entity}: rows read: {progress.read}, rewritten: {progress.rewritten}")
    return 0


async def _rewrite(settings: Settings, plan: Any) -> Progress:
    must_not_be_empty(settings)
    done = Progress(0, 0, None)
    async with open_store(settings) as store:
        rows = await _rows_in(store, plan.table.name)
        try:
            with progress_of("rewriting") as progress:
                # An e-mail address is identified by its normal form, which no key template states.
                async for done in move_addresses(store) if plan.cls is EmailAddress else backfill(store, plan.cls):
                    progress(min(1.0, done.read / rows))
        except (AlreadyExists, InvalidValue, NotUnique, UnreadableItem) as problem:
            raise CommandError(f"a row of {plan.name} cannot be rewritten: {problem}") from problem
    return done


async def _rows_in(store: Store, table: str) -> int:
    """About how many rows the table has, at least 1; Amazon DynamoDB counts them only every six hours."""
    try:
        description = await store.repeat(Request("DescribeTable", {"TableName": table}))
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        raise CommandError(f"the store has no table {table}; `potluck serve` creates it") from None
    return max(1, int(description["Table"]["ItemCount"]))
