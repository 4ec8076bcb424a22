"""`potluck polls recount`: counts of polls rebuilt from their votes."""

import argparse
import sys
from collections.abc import Sequence
from uuid import UUID

from potluck.apps.polls.entities import Poll
from potluck.apps.polls.recounting import VotesKeepComing, recounted
from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import open_store, settings_with_store
from potluck.settings import Settings
from potluck.store import Store
from potluck.web.suite_secret import must_not_be_empty


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    recount = commands.add_parser(
        "recount", help="rebuild the counts of polls from their votes", description=run.__doc__
    )
    recount.add_argument("polls", nargs="*", metavar="POLL", help="the id of a poll; without one, all polls")
    add_data(recount, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Rebuild the counts of polls from their votes. The exit status is 1 if a poll does not exist or is still being
    voted in."""
    settings = settings_with_store(chosen, settings)
    try:
        poll_ids = [UUID(text) for text in chosen.polls]
    except ValueError:
        raise CommandError("name a poll by its id, such as 123e4567-e89b-12d3-a456-426614174000") from None
    return run_or_refuse(_recount(settings, poll_ids))


async def _recount(settings: Settings, poll_ids: Sequence[UUID]) -> int:
    must_not_be_empty(settings)
    async with open_store(settings) as store:
        results = [
            await _recount_poll(store, poll_id)
            for poll_id in poll_ids or [poll.poll_id async for poll in store.each(Poll.every().consistently())]
        ]
    return 0 if all(results) else 1


async def _recount_poll(store: Store, poll_id: UUID) -> bool:
    poll = await store.get(Poll.one(poll_id))
    if poll is None:
        print(f"{poll_id}: there is no such poll", file=sys.stderr)
        return False
    try:
        recount = await recounted(store, poll)
    except VotesKeepComing:
        print(f"{poll_id}: votes keep coming in; close the poll, or try again", file=sys.stderr)
        return False
    line = f"votes: {recount.votes}, counted before: {recount.counted}, counts changed: {recount.changed}"
    if recount.unreadable:
        line += f"; not counted, because they rank an unknown candidate: {recount.unreadable}"
    print(f"{poll_id}: {line}")
    return True
