"""The people services of the configured store, for commands about accounts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from potluck.commands.stores import open_store
from potluck.people.entities import accounts
from potluck.people.services import People, open_people
from potluck.settings import Settings
from potluck.web.suite_secret import load_secret, must_not_be_empty


@asynccontextmanager
async def open_people_services(settings: Settings, *, create: bool = False) -> AsyncIterator[People]:
    """The services, even while the suite is running; with `create`, a store that does not exist yet is created."""
    must_not_be_empty(settings)
    if create and settings.engine == "embedded" and not settings.file.exists():
        # A store's secret must exist before the store does; the command itself does not use it.
        load_secret(settings)
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with open_store(settings) as store:
        if create:
            await store.create_tables(accounts)
        people = open_people(store, store.clock, settings.registration)
        try:
            yield people
        finally:
            people.close()
