"""boto3 and aiobotocore without a socket: their DynamoDB clients are answered by a store in this process.

A client emits botocore's event `before-call` before it signs and sends a request, and takes a response from a handler
instead. So nothing is signed, sent or retried. All other services go where they always went.
"""

import copy
import functools
import gc
import inspect
import os
import sys
import threading
import unittest
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from potluck.dynamo.botocore_answers import Answer, answer
from potluck.dynamo.database import Database
from potluck.dynamo.namespaces import DEFAULT
from potluck.dynamo.sync import SyncDatabase
from potluck.extras import needs_extra

with needs_extra("testing"):
    from botocore import handlers  # type: ignore[import-untyped]
    from botocore.client import BaseClient  # type: ignore[import-untyped]
    from botocore.credentials import CredentialResolver, EnvProvider  # type: ignore[import-untyped]
    from botocore.hooks import HierarchicalEmitter  # type: ignore[import-untyped]
    from botocore.session import Session  # type: ignore[import-untyped]

SERVICES = ("dynamodb", "dynamodb-streams")
EVENTS = tuple(f"before-call.{service}" for service in SERVICES)
# botocore keeps one handler for each of these, whatever its event.
ATTACHED = "potluck-attached"
MOCKED = "potluck-mocked"

FAKE = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": DEFAULT.region,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What the environment needs for a client to be made. A variable that is set stays as it is."""
PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
"""A profile wins over the rest of the environment, and may be one that this machine does not have."""

Thing = TypeVar("Thing", bound=Callable[..., Any])
AnyStore = SyncDatabase | Database


# --- one client ------------------------------------------------------------------------------------------------------


def attach(client: Any, store: AnyStore) -> Any:
    """Have the store answer this client from now on, and return the client.

    The client may be boto3's, its resource or aiobotocore's. Only aiobotocore's can wait for a `Database`.
    """
    events = _events_of(client)
    if isinstance(store, Database) and not hasattr(client, "__aenter__"):
        raise TypeError("boto3 cannot wait for a Database: attach a SyncDatabase")

    def answer_call(
        params: dict[str, Any], model: Any, context: dict[str, Any], request_signer: Any, **_: Any
    ) -> Answer | Awaitable[Answer]:
        return answer(store, params, model, context, request_signer)

    detach(client)
    for event in EVENTS:
        events.register(event, answer_call, unique_id=f"{ATTACHED} {event}")
    return client


def detach(client: Any) -> None:
    """Have the client send its requests again."""
    events = _events_of(client)
    for event in EVENTS:
        events.unregister(event, unique_id=f"{ATTACHED} {event}")


def _events_of(client: Any) -> Any:
    meta = getattr(client, "meta", None)
    client = getattr(meta, "client", client)
    name = getattr(getattr(getattr(client, "meta", None), "service_model", None), "service_name", None)
    if name not in ("dynamodb", "dynamodbstreams"):
        raise TypeError(f"{client!r} is no client of DynamoDB or its streams")
    return client.meta.events


# --- every client ----------------------------------------------------------------------------------------------------


class mocked:
    """Every DynamoDB client of this process is answered by a store of the block's own, or by `store`.

    Use it as `with mocked() as store:`, or as a decorator of functions, coroutine functions, and test classes of
    unittest and pytest. Blocks nest; the inner one has its own store. Threads and tasks that entered no block belong to
    the one that was entered last. `environment=False` leaves credentials and region as they are.
    """

    def __init__(self, store: SyncDatabase | None = None, *, environment: bool = True) -> None:
        self._store = store
        self._environment = environment
        self._entered: list[_Block] = []

    def __enter__(self) -> SyncDatabase:
        install()
        block = _Block(self._store or SyncDatabase.open(), own=self._store is None, above=_current.get())
        self._entered.append(block)
        with _lock:
            _blocks.append(block)
            if self._environment:
                block.holds_environment = True
                _environment.take()
        _current.set(block)
        return block.store

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        block = self._entered.pop()
        with _lock:
            _blocks.remove(block)
            block.is_over = True
            if block.holds_environment:
                _environment.give_back()
        if _current.get() is block:
            _current.set(block.above)
        if block.own:
            block.store.close()

    def __call__(self, decorated: Thing) -> Thing:
        if inspect.isclass(decorated):
            return _test_class(decorated, self)  # type: ignore[return-value]
        if inspect.iscoroutinefunction(decorated):

            @functools.wraps(decorated)
            async def within_async(*arguments: Any, **named: Any) -> Any:
                with self._again():
                    return await decorated(*arguments, **named)

            return within_async  # type: ignore[return-value]
        if inspect.isgeneratorfunction(decorated):

            @functools.wraps(decorated)
            def within_generator(*arguments: Any, **named: Any) -> Any:
                with self._again():
                    return (yield from decorated(*arguments, **named))

            return within_generator  # type: ignore[return-value]

        @functools.wraps(decorated)
        def within(*arguments: Any, **named: Any) -> Any:
            with self._again():
                return decorated(*arguments, **named)

        return within  # type: ignore[return-value]

    def _again(self) -> "mocked":
        # Calls may overlap, and each leaves the block that it entered.
        return type(self)(self._store, environment=self._environment)


def _test_class(decorated: type, mock: mocked) -> type:
    """Each test of the class, with what is set up for it, in a block of its own."""
    if issubclass(decorated, unittest.TestCase):
        run = decorated.run

        @functools.wraps(run)
        def run_within(self: unittest.TestCase, result: Any = None) -> Any:
            with mock._again():
                return run(self, result)

        decorated.run = run_within  # type: ignore[method-assign]
        return decorated
    set_up: Any = getattr(decorated, "setup_method", None)
    tear_down: Any = getattr(decorated, "teardown_method", None)

    def setup_method(self: Any, method: Any) -> None:
        self._mocked = mock._again()
        self._mocked.__enter__()
        try:
            _call_with(set_up, self, method)
        except BaseException:
            self._mocked.__exit__(None, None, None)
            raise

    def teardown_method(self: Any, method: Any) -> None:
        try:
            _call_with(tear_down, self, method)
        finally:
            self._mocked.__exit__(None, None, None)

    decorated.setup_method = setup_method  # type: ignore[attr-defined]
    decorated.teardown_method = teardown_method  # type: ignore[attr-defined]
    return decorated


def _call_with(function: Any, self: Any, method: Any) -> None:
    """Call setup_method or teardown_method, which need not take the test method."""
    if function is not None:
        takes_method = len(inspect.signature(function).parameters) > 1
        function(self, method) if takes_method else function(self)


class _Block:
    """One `mocked` that was entered."""

    def __init__(self, store: SyncDatabase, *, own: bool, above: "_Block | None") -> None:
        self.store = store
        self.own = own
        self.above = above
        self.is_over = False
        self.holds_environment = False


_lock = threading.RLock()
_blocks: list[_Block] = []
_current: ContextVar[_Block | None] = ContextVar("potluck_mocked", default=None)


def _store_now() -> SyncDatabase | None:
    """The store of the block that this thread or task is in, else of the one entered last."""
    block = _current.get()
    while block is not None and block.is_over:
        block = block.above
    if block is not None:
        return block.store
    try:
        return _blocks[-1].store
    except IndexError:
        return None


def answer_mocked(
    params: dict[str, Any], model: Any, context: dict[str, Any], request_signer: Any, **_: Any
) -> Answer | Awaitable[Answer] | None:
    """A handler of `before-call` for every client; None, outside of any block, has the request sent."""
    url = params.get("url", "")
    if any(url.startswith(endpoint) for endpoint in _served):
        return None
    store = _store_now()
    return None if store is None else answer(store, params, model, context, request_signer)


_served: set[str] = set()


@contextmanager
def reachable(endpoint: str) -> Iterator[None]:
    """Calls to this endpoint are sent there, also within a block."""
    _served.add(endpoint)
    try:
        yield
    finally:
        _served.discard(endpoint)


@functools.cache
def install() -> None:
    """Register the handler with every botocore session to come, and with those and their clients that exist."""
    # Last, so that what a test registers with its client, such as a Stubber, comes first.
    handlers.BUILTIN_HANDLERS.extend((event, answer_mocked, handlers.REGISTER_LAST) for event in EVENTS)
    # A module of the code under test may have made its client when it was imported.
    for existing in gc.get_objects():
        if issubclass(type(existing), BaseClient):
            events = existing.meta.events
        elif issubclass(type(existing), Session):
            events = existing.get_component("event_emitter")
        else:
            continue
        for event in EVENTS:
            events.register_last(event, answer_mocked, unique_id=f"{MOCKED} {event}")


# --- the environment -------------------------------------------------------------------------------------------------


class _Environment:
    """Credentials and a region for clients to be made with, and a default session that has not seen any others."""

    def __init__(self) -> None:
        self._takers = 0
        self._before: dict[str, str | None] = {}
        self._session: Any = None
        self._pristine: tuple[HierarchicalEmitter, Any] | None = None

    def take(self) -> None:
        self._takers += 1
        if self._takers > 1:
            return
        self._before = {name: os.environ.get(name) for name in (*FAKE, *PROFILES)}
        for name in PROFILES:
            os.environ.pop(name, None)
        if region := os.environ.get("AWS_REGION"):
            os.environ.setdefault("AWS_DEFAULT_REGION", region)
        for name, value in FAKE.items():
            os.environ.setdefault(name, value)
        boto3 = sys.modules.get("boto3")
        self._session = getattr(boto3, "DEFAULT_SESSION", None)
        if boto3 is not None:
            boto3.DEFAULT_SESSION = boto3.Session(botocore_session=self.new_session())  # type: ignore[attr-defined]

    def give_back(self) -> None:
        self._takers -= 1
        if self._takers:
            return
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        boto3 = sys.modules.get("boto3")
        if boto3 is not None:
            boto3.DEFAULT_SESSION = self._session  # type: ignore[attr-defined]
        self._session = None

    def new_session(self) -> Session:
        """A session for the environment's credentials that shares definitions and handlers with those before it."""
        if self._pristine is None:
            emitter = HierarchicalEmitter()
            self._pristine = emitter, Session(event_hooks=emitter).get_component("data_loader")
        emitter, loader = self._pristine
        session = Session(event_hooks=copy.copy(emitter), include_builtin_handlers=False)
        session.register_component("data_loader", loader)
        # The environment has credentials, so files, other programs and the network need not be asked for any.
        session.register_component("credential_provider", CredentialResolver([EnvProvider()]))
        return session


_environment = _Environment()

# Also those who only import this are safe: a client that is made now can be mocked later.
install()
