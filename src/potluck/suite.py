"""Assembles the suite: settings make an engine; the engine and the apps make one ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from potluck.apps.journal.app import JournalApp
from potluck.apps.library.app import LibraryApp
from potluck.apps.polls.app import PollsApp
from potluck.apps.shareables.app import ShareablesApp
from potluck.apps.shopping.app import ShoppingApp
from potluck.backups import ScheduledBackups
from potluck.clock_jumps import ClockWatch
from potluck.engines import Engine, offered_by, open_engine
from potluck.engines.shard_reads import ShardReads
from potluck.extras import needs_extra
from potluck.metrics import STATE
from potluck.moving.unfinished_imports import must_be_whole
from potluck.people.entities import accounts
from potluck.people.passwords import Passwords
from potluck.people.services import open_people
from potluck.settings import Settings
from potluck.states import STATES, lasting
from potluck.store import Clock, Store
from potluck.streams import ConsumerGroup, RecordConsumer, WorkTable
from potluck.streams.leases import cancelled
from potluck.streams.processes import Processes
from potluck.streams.restarting import restarted
from potluck.table import Table
from potluck.web import openapi
from potluck.web.api import Api
from potluck.web.app import App, AppMaker, Core
from potluck.web.count_limits import CountLimits
from potluck.web.endpoints import Site
from potluck.web.errors import problem_of
from potluck.web.health import health
from potluck.web.home import home
from potluck.web.http.application import Application
from potluck.web.http.authentication import Authentication
from potluck.web.http.clients import Clients
from potluck.web.http.problems import Problems
from potluck.web.http.request_log import RequestLog
from potluck.web.http.router import Router
from potluck.web.http.security_headers import added_headers, varying_by_language
from potluck.web.hues import hues_address, hues_endpoint, must_be_shown
from potluck.web.large_bodies import measure_decoding
from potluck.web.layout import Templates
from potluck.web.live import Live
from potluck.web.offline import offline
from potluck.web.outbound import Outbound
from potluck.web.pages import Pages
from potluck.web.pagination import Cursors
from potluck.web.people import PeopleApp
from potluck.web.problem_pages import problem_pages
from potluck.web.rate_limits import RateLimiter
from potluck.web.runner import Runner
from potluck.web.sealing import Seal
from potluck.web.server.fast_path import FastPath
from potluck.web.storage_quota import storage_quota_of
from potluck.web.style import style_pages
from potluck.web.suite_secret import derived, load_secret, verify_store_secret

if TYPE_CHECKING:
    from potluck.people.identity_provider import IdentityProvider

# Background work that failed is started again after this long.
RESTART_SECONDS = 5.0
# A process that starts reads this much of what was read before, for clients that reconnect.
PLACE_SECONDS = 10.0

# An app is a folder and its entry here.
APPS: tuple[AppMaker, ...] = (ShareablesApp, ShoppingApp, JournalApp, PollsApp, LibraryApp)

log = logging.getLogger("potluck.suite")


def system_clock() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def assembled(
    settings: Settings,
    apps: Sequence[AppMaker] = APPS,
    *,
    clock: Clock = system_clock,
    passwords: Passwords | None = None,
    wrap: Callable[[Engine], Engine] = lambda engine: engine,
) -> AsyncIterator[Application]:
    """The suite as one application: engine, tables, live updates, and consumers, which run until the exit."""
    async with opened(settings, apps, clock=clock, passwords=passwords, wrap=wrap) as (core, suite_apps):
        readers = await _start_reading(core, [table for app in suite_apps for table in app.tables])
        people = PeopleApp(core, suite_apps)
        await people.context.account_data.finish_departures()
        group, consumers = _consumers(core, suite_apps)
        background = _background_work(core, suite_apps, group, consumers) if settings.background == "here" else []
        working = [
            asyncio.create_task(work) for work in (*background, *(read() for read in readers), ClockWatch().run())
        ]

        def measure() -> None:
            _measure(core, group, consumers)

        try:
            yield _application(core, people, suite_apps, measure)
        finally:
            for app in suite_apps:
                app.stop()
            await core.live.stop()
            await cancelled(*working)


@asynccontextmanager
async def opened(
    settings: Settings,
    apps: Sequence[AppMaker] = APPS,
    *,
    clock: Clock = system_clock,
    passwords: Passwords | None = None,
    wrap: Callable[[Engine], Engine] = lambda engine: engine,
) -> AsyncIterator[tuple[Core, list[App]]]:
    """The apps on their core, with their tables created; nothing is served and no background work runs."""
    if settings.engine == "embedded":
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Before the store is opened, to notice an existing store whose secret is missing.
    secret = load_secret(settings)
    engine = await open_engine(
        settings.engine,
        path=settings.file,
        region=settings.region,
        endpoint=settings.endpoint,
        prefix=settings.table_prefix,
        # The storage quota spends it on requests that free space.
        reserve=True,
        accelerations=settings.accelerations,
    )
    try:
        core = core_on(wrap(engine), settings, secret, clock, passwords)
        try:
            suite_apps = [make(core) for make in apps]
            await must_be_whole(core.store)
            await core.store.create_tables(
                accounts, *(table for app in suite_apps for table in app.tables), WorkTable().design
            )
            await verify_store_secret(core.store, settings, secret)
            yield core, suite_apps
        finally:
            core.people.close()
    finally:
        await engine.close()


def core_on(
    engine: Engine, settings: Settings, secret: bytes, clock: Clock = system_clock, passwords: Passwords | None = None
) -> Core:
    """The services that every app is given, on this engine."""
    store = Store(engine, clock, accelerations=settings.accelerations)
    return Core(
        settings=settings,
        engine=engine,
        store=store,
        clock=store.clock,
        people=open_people(store, store.clock, passwords, _identity_provider(settings, clock)),
        # Live updates track the expiry of what they send.
        live=Live(engine, clock, key=derived(secret, "positions"), lag_seconds=settings.indexes_lag_seconds),
        cursors=Cursors(derived(secret, "cursors")),
        rate_limiter=RateLimiter(clock),
        count_limits=CountLimits(store),
        storage_quota=storage_quota_of(settings, engine),
    )


def _identity_provider(settings: Settings, clock: Clock) -> IdentityProvider | None:
    if not settings.oidc.issuer:
        return None
    assert settings.origin is not None
    with needs_extra("suite"):
        # Only imported where it is used: what verifies signatures takes long to import.
        from potluck.people.identity_provider import IdentityProvider
    # Its own, so that neither waits for the other's requests.
    return IdentityProvider(settings.oidc, settings.origin, Outbound(seconds=5.0).send, clock)


async def _start_reading(core: Core, tables: Sequence[Table]) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """Start reading the tables' streams; returns the work by which processes share the limits of the service."""
    settings = core.settings
    shard_reads: ShardReads | None = offered_by(core.engine, "shard_reads")
    if shard_reads is None:
        core.live.start(*tables)
        return []
    fan_out = None
    if settings.fanout is not None:
        with needs_extra("fanout"):
            from potluck.streams.fan_out import FanOut
        namespace = core.derived_key("fan-out channels").hex()[:16]
        fan_out = FanOut(settings.fanout, namespace, Seal(core.derived_key("fan-out")), core.lease)
    places = partial(core.live.places, PLACE_SECONDS)
    functions = 1 if settings.background == "elsewhere" else 0
    processes = Processes(core.engine, places, shared=fan_out is not None, others=functions)
    await processes.look()
    shard_reads.processes = lambda: 1 if fan_out is not None and fan_out.works else processes.count
    core.live.start(*tables, fan_out=fan_out, last_known=processes.last_known)
    return [partial(restarted, "the count of processes", processes.run, RESTART_SECONDS, log)]


def _application(core: Core, people: App, apps: Sequence[App], measure: Callable[[], None]) -> Application:
    secret = load_secret(core.settings)
    authentication = Authentication(
        core.people.authenticator, Clients.of(core.settings), derived(secret, "kept cookies")
    )
    catalogue = tuple(app.entry for app in apps if app.entry is not None)
    must_be_shown(catalogue)
    folders = [folder for app in apps for folder in (app.templates, *app.borrowed_templates) if folder is not None]
    templates = Templates(catalogue, folders, hues_address(catalogue))
    everything = [people, *apps]
    rules = [rule for app in everything for subject in app.subjects for rule in subject.declared]
    declared = tuple(
        problem for rule in rules for problem in (*rule.problems, *map(problem_of, rule.access.refusals()))
    )
    problems = Problems(templates, declared)
    site = Site(core, authentication, templates, problems)
    request_key = derived(secret, "requests")
    router = Router()
    router.add_all_below(templates.assets.at, templates.assets.file)
    shells = {app.address: app.shell for app in apps if app.shell is not None}
    for endpoints in (
        *(home((*apps, people), catalogue), offline(shells, catalogue)),
        *(hues_endpoint(catalogue), health, problem_pages, style_pages),
    ):
        endpoints.add_to(router, site)
    for app in everything:
        runner = Runner(core, app.context)
        api = Api(runner, authentication, request_key)
        api.add_to(router, app.subjects)
        Pages(runner, api, authentication, templates, problems).add_to(router, app.subjects)
        for endpoints in app.endpoints:
            endpoints.add_to(router, site, app.context)
    subjects = [subject for app in everything for subject in app.subjects]
    openapi.pages(lambda: openapi.document(subjects)).add_to(router, site)

    async def stop() -> None:
        for app in apps:
            app.stop()
        await core.live.stop()

    add_headers = varying_by_language(added_headers) if templates.languages.several else added_headers
    log_requests = RequestLog(core.settings, headers=add_headers)
    fast = core.settings.accelerations.fast_path
    state = {
        "settings": core.settings,
        "engine": core.engine,
        "live": core.live,
        "core": core,
        "on_stopping": stop,
        "measure": measure,
        "fast_path": FastPath(router, log_requests, add_headers) if fast else None,
    }
    return Application(router, authentication, problems, state, log_requests, templates.languages)


def _consumers(core: Core, apps: Sequence[App]) -> tuple[ConsumerGroup, list[RecordConsumer]]:
    """The apps' consumers, with one reader of each log, and the processes that share them."""
    feed = core.live.feed(accounts, *(table for app in apps for table in app.tables))
    declared = [consumer for app in apps for consumer in app.all_consumers()]
    group = core.consumer_group("CONSUMERS", restart_seconds=RESTART_SECONDS)
    return group, [consumer.bind(core.store, follow=feed) for consumer in declared]


def _measure(core: Core, group: ConsumerGroup, consumers: Sequence[RecordConsumer]) -> None:
    """Set the metrics of the suite."""
    lasts = lasting()
    for state in STATES:
        STATE.set(int(state in lasts), state.name)
    core.live.measure()
    group.measure()
    for consumer in consumers:
        consumer.measure()
    core.people.passwords.measure()
    measure_decoding()
    core.storage_quota.measure()
    measure_store = offered_by(core.engine, "measure")
    if measure_store is not None:
        measure_store()


def _background_work(
    core: Core, apps: Sequence[App], group: ConsumerGroup, consumers: Sequence[RecordConsumer]
) -> list[Coroutine[Any, Any, None]]:
    """The background work: the consumers, and the apps' other tasks."""
    work = [restarted(task.name, task.run, RESTART_SECONDS, log) for app in apps for task in app.background()]
    if consumers:
        work.append(restarted("the consumers", partial(group.run, consumers), RESTART_SECONDS, log))
    if core.settings.backup.every is not None:
        backups = ScheduledBackups(core.settings, core.engine, core.lease("BACKUPS"), core.clock)
        work.append(restarted(backups.name, backups.run, RESTART_SECONDS, log))
    return work
