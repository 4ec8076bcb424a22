"""The rules of people that only the operator may call, on the configured store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_bytes

from potluck.commands.stores import open_store
from potluck.moving.unfinished_imports import must_be_whole
from potluck.people.entities import accounts
from potluck.settings import Settings
from potluck.suite import core_on, opened
from potluck.web.direct_calls import Direct
from potluck.web.people import PeopleApp
from potluck.web.suite_secret import SECRET_BYTES, load_secret, must_not_be_empty, verify_store_secret


@asynccontextmanager
async def open_operator_rules(settings: Settings, *, create: bool = False, apps: bool = False) -> AsyncIterator[Direct]:
    """Calls the rules, even while the suite is running; with `create`, a store that does not exist yet is created.

    `apps`: the rules need what the apps have, and so the suite's secret.
    """
    must_not_be_empty(settings)
    if apps:
        async with opened(settings) as (core, suite_apps):
            people = PeopleApp(core, suite_apps)
            yield Direct(core, people.subjects, people.context)
        return
    secret = None
    if create and settings.engine == "embedded" and not settings.file.exists():
        # A store's secret must exist before the store does; the command itself does not use it.
        secret = load_secret(settings)
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with open_store(settings) as store:
        await must_be_whole(store)
        if create:
            await store.create_tables(accounts)
        if secret is not None:
            # While no one is here yet, so that the first account becomes an admin's.
            await verify_store_secret(store, settings, secret)
        # These rules use no secret, so the operator need not have that of the suite.
        core = core_on(store.engine, settings, token_bytes(SECRET_BYTES))
        try:
            yield Direct(core, PeopleApp.subjects)
        finally:
            core.people.close()
