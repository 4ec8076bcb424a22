"""The functions that do the background work on AWS, where the web processes leave it to them.

    potluck.aws.functions.consume     the records of the tables' streams, in batches
    potluck.aws.functions.work        what is done on a schedule, and rebuilding on request

Both open the suite once for each instance of the function. POTLUCK_SECRET is read from AWS Secrets Manager if
SECRET_ARN names it there, so that it is not part of the function's configuration.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from potluck.extras import needs_extra
from potluck.settings import Settings, SettingsError
from potluck.streams import DeliveredConsumer, Record
from potluck.suite import APPS, opened
from potluck.web.app import App, AppMaker, Core
from potluck.web.people import PeopleApp

# How long one call does steps of long work, for each consumer that has any; the next call goes on.
STEPS_SECONDS = 10.0

T = TypeVar("T")
Event = Mapping[str, Any]


class Background:
    """The background work of an opened suite."""

    def __init__(self, core: Core, apps: Sequence[App]) -> None:
        self._core = core
        self._apps = apps
        self._consumers = [DeliveredConsumer(consumer, core.store) for app in apps for consumer in app.all_consumers()]

    async def consume(self, event: Event) -> dict[str, Any]:
        """Give a batch of stream records to the consumers of its table; the answer names the first not handled.

        A consumer that cannot go on does not keep the others waiting: they handle the whole batch.
        """
        records = event["Records"]
        arns = {record["eventSourceARN"] for record in records}
        undone = [await self._consume(arn, records) for arn in arns]
        first = min((index for index in undone if index is not None), default=None)
        failures = [] if first is None else [{"itemIdentifier": records[first]["dynamodb"]["SequenceNumber"]}]
        return {"batchItemFailures": failures}

    async def _consume(self, arn: str, records: Sequence[dict[str, Any]]) -> int | None:
        table = arn.split("/")[1].removeprefix(self._core.settings.table_prefix)
        places = [place for place, record in enumerate(records) if record["eventSourceARN"] == arn]
        batch = [Record(table, records[place]) for place in places]
        undone = [
            await consumer.handle(arn, batch) for consumer in self._consumers if consumer.consumer.table.name == table
        ]
        return min((places[index] for index in undone if index is not None), default=None)

    async def work(self, event: Event) -> dict[str, Any]:
        """Do what is due; `{"rebuild": ["journal-index"]}` rebuilds what consumers maintain from the rows there are."""
        if "rebuild" in event:
            return {"rebuilt": [await self._rebuild(name) for name in event["rebuild"]]}
        tasks = {task.name: task for app in self._apps for task in app.background()}
        for task in tasks.values():
            await task.once()
        for consumer in self._consumers:
            await consumer.carry_on(STEPS_SECONDS)
        await PeopleApp(self._core, self._apps).context.account_data.finish_departures()
        return {"done": [*tasks, "steps", "departures"]}

    async def _rebuild(self, name: str) -> str:
        named = {consumer.consumer.name: consumer for consumer in self._consumers}
        if name not in named:
            raise SettingsError(f"there is no consumer {name}; the consumers are {', '.join(sorted(named))}")
        await named[name].rebuild()
        return name


@asynccontextmanager
async def background(settings: Settings, apps: Sequence[AppMaker] = APPS) -> AsyncIterator[Background]:
    """The suite opened for its background work; nothing is served."""
    async with opened(settings, apps) as (core, suite_apps):
        try:
            yield Background(core, suite_apps)
        finally:
            for app in suite_apps:
                app.stop()
            await core.live.stop()


async def settings_with_secret(settings: Settings, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings with the secret that SECRET_ARN names in AWS Secrets Manager, if it does."""
    arn = environment.get("SECRET_ARN")
    if arn is None or settings.secret is not None:
        return settings
    with needs_extra("aws"):
        import aiobotocore.session  # type: ignore[import-untyped]
    session = aiobotocore.session.get_session()
    endpoint = environment.get("SECRETS_ENDPOINT") or None
    async with session.create_client("secretsmanager", region_name=settings.region, endpoint_url=endpoint) as client:
        return replace(settings, secret=(await client.get_secret_value(SecretId=arn))["SecretString"])


class _Instance:
    """One instance of a function: its event loop, and the suite from the first call on."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._background: Background | None = None

    def run(self, work: Callable[[Background], Awaitable[T]]) -> T:
        return self._runner.run(self._run(work))

    async def _run(self, work: Callable[[Background], Awaitable[T]]) -> T:
        if self._background is None:
            settings = await settings_with_secret(Settings.from_environment())
            self._background = await self._stack.enter_async_context(background(settings))
        return await work(self._background)

    def close(self) -> None:
        """Close the suite; the next call opens it again. Lambda never does, tests do."""
        if self._background is not None:
            self._background = None
            self._runner.run(self._stack.aclose())


instance = _Instance()


def consume(event: Event, context: object) -> dict[str, Any]:
    """The handler of the functions on the tables' streams; reports what has to be delivered again."""
    return instance.run(lambda suite: suite.consume(event))


def work(event: Event, context: object) -> dict[str, Any]:
    """The handler of the function on a schedule."""
    return instance.run(lambda suite: suite.work(event))
