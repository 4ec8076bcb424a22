"""What the fixtures are answered by: a store in this process, DynamoDB Local, or Amazon DynamoDB."""

from __future__ import annotations

import os
import uuid
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from potluck.extras import needs_extra

with needs_extra("testing"):
    import boto3  # type: ignore[import-untyped]
    from botocore import xform_name  # type: ignore[import-untyped]
    from botocore.exceptions import ClientError, ParamValidationError  # type: ignore[import-untyped]

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.mocking import FAKE, PROFILES, mocked, reachable
from potluck.dynamo.sync import LoopThread, SyncDatabase

if TYPE_CHECKING:
    from potluck.testing.definitions import Creation

ENDPOINTS = ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
WAITERS = {"CreateTable": "table_exists", "DeleteTable": "table_not_exists"}
WAITING = {"Delay": 1, "MaxAttempts": 60}


class Target:
    """Something that answers the DynamoDB API while a test runs."""

    store: SyncDatabase | None = None

    def __init__(self, session: Any = None) -> None:
        self._session = session

    @cached_property
    def session(self) -> Any:
        return self._session or boto3.Session()

    @cached_property
    def _client(self) -> Any:
        return self.session.client("dynamodb")

    def client(self) -> Any:
        return self._client

    def resource(self) -> Any:
        return self.session.resource("dynamodb")

    def served(self) -> AbstractContextManager[str]:
        """The URL at which others reach the same tables."""
        return nullcontext(str(self.client().meta.endpoint_url))

    def create(self, creation: Creation) -> Any:
        """Create a table, and return boto3's resource for it once it can be used."""
        table = self.resource().create_table(**creation.request)
        self.wait_for(table)
        for operation, request in creation.settings:
            getattr(self.client(), operation)(TableName=table.name, **request)
        return table

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """One operation in DynamoDB's JSON, as the engine answers it; tables can be used, or are gone, at once."""
        try:
            answer: dict[str, Any] = getattr(self.client(), xform_name(operation))(**_with_bytes(request))
        except ClientError as error:
            raise DynamoError(error.response["Error"]["Code"], error.response["Error"]["Message"]) from error
        except (ParamValidationError, ValueError) as error:
            raise DynamoError("ValidationException", str(error)) from error
        if operation in WAITERS:
            self.client().get_waiter(WAITERS[operation]).wait(TableName=request["TableName"], WaiterConfig=WAITING)
        return answer

    def wait_for(self, table: Any) -> None:
        self.client().get_waiter("table_exists").wait(TableName=table.name, WaiterConfig=WAITING)


class _InProcess(Target):
    """A store of the test's own, in memory."""

    store: SyncDatabase

    def __init__(self, store: SyncDatabase) -> None:
        super().__init__()
        self.store = store

    @cached_property
    def session(self) -> Any:
        # The default session of the block: it shares what botocore reads from files with those before it.
        return boto3

    def wait_for(self, table: Any) -> None:
        """A table can be used at once."""

    @contextmanager
    def served(self) -> Iterator[str]:
        from potluck.dynamo.server import serving

        store = self.store

        class Served:
            """Takes the server's calls to the store, whatever thread they come from."""

            def within(self, namespace: Any) -> Any:
                return store.database.within(namespace)

            def __getattr__(self, name: str) -> Any:
                return getattr(store.database, name)

        thread = LoopThread()
        try:
            stopping, port = thread.run(_started(serving(Served())))
            endpoint = f"http://127.0.0.1:{port}"
            with reachable(endpoint):
                yield endpoint
            thread.run(stopping())
        finally:
            thread.stop()


async def _started(server: Any) -> tuple[Callable[[], Any], int]:
    """Enter an asynchronous context; returns how to leave it, and what it yields."""
    entered = await server.__aenter__()

    async def stop() -> None:
        await server.__aexit__(None, None, None)

    return stop, entered


@contextmanager
def potluck(clock: Callable[[], float]) -> Iterator[Target]:
    """An empty store in memory, which answers every DynamoDB client of this process."""
    with SyncDatabase.open(clock=clock) as store, mocked(store):
        yield _InProcess(store)


@contextmanager
def local(endpoint: str) -> Iterator[Target]:
    """A server such as DynamoDB Local, which has a set of tables for each access key; the test has a new one."""
    environment = {
        **dict.fromkeys(ENDPOINTS, endpoint),
        **FAKE,
        "AWS_ACCESS_KEY_ID": f"test{uuid.uuid4().hex[:16]}",
        **dict.fromkeys(PROFILES),
    }
    with _environment(environment):
        target = Target()
        client = target.client()
        before = set(_table_names(client))
        try:
            yield target
        finally:
            # A server with one set of tables for all may have others' too.
            for name in set(_table_names(client)) - before:
                client.delete_table(TableName=name)


@contextmanager
def aws() -> Iterator[Target]:
    """Amazon DynamoDB; tables that the fixtures create are deleted after the test."""
    session = boto3.Session()
    created: list[str] = []

    def note(parsed: dict[str, Any], **_: Any) -> None:
        if "TableDescription" in parsed:
            created.append(parsed["TableDescription"]["TableName"])

    session.events.register("after-call.dynamodb.CreateTable", note)
    target = Target(session)
    try:
        yield target
    finally:
        with ExitStack() as deletions:
            for name in created:
                deletions.callback(_delete, target.client(), name)


def _with_bytes(value: Any) -> Any:
    """Attribute values as boto3 takes them: binaries are bytes, not base64."""
    if isinstance(value, list):
        return [_with_bytes(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "B" and isinstance(content, str):
            return {kind: b64decode(content, validate=True)}
        if kind == "BS" and isinstance(content, list):
            return {kind: [b64decode(part, validate=True) for part in content]}
    return {name: _with_bytes(part) for name, part in value.items()}


def _delete(client: Any, name: str) -> None:
    try:
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAITING)
        client.delete_table(TableName=name)
    except client.exceptions.ResourceNotFoundException:
        return  # the test has deleted it
    client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAITING)


def _table_names(client: Any) -> Iterator[str]:
    for page in client.get_paginator("list_tables").paginate():
        yield from page["TableNames"]


@contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Set these variables, and remove those that are None; boto3's default session is made anew."""
    before = {name: os.environ.get(name) for name in variables}
    session = boto3.DEFAULT_SESSION
    _set(variables)
    boto3.DEFAULT_SESSION = None
    try:
        yield
    finally:
        _set(before)
        boto3.DEFAULT_SESSION = session


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
