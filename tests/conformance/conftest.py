"""The suite's four targets, the tables that tests share, and the list of known differences."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from potluck.dynamo.errors import DynamoError
from tests.conformance.differences import DIFFERENCES
from tests.conformance.tables import SHARED, TableDefinition, definition
from tests.conformance.targets import TARGETS, Target, post, running
from tests.needs import need
from tests.patience import PATIENCE_SECONDS

HERE = Path(__file__).parent
counter = itertools.count(1)

CreateTable = Callable[..., Awaitable[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target",
        action="append",
        choices=TARGETS,
        help="run the conformance suite on this target only (may be repeated; default: all)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "dynamo" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--target", default=None) or TARGETS
        if "raw" in metafunc.fixturenames:
            chosen = [target for target in chosen if target not in ("embedded", "attached")]
        metafunc.parametrize("dynamo", chosen, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents or not isinstance(item, pytest.Function):
            continue
        # The targets live as long as the session, and an engine belongs to the loop that opened it.
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        if _target(item) == "local" and (reason := _difference(item)) is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _target(item: pytest.Function) -> str | None:
    return item.callspec.params.get("dynamo") if hasattr(item, "callspec") else None


def _difference(item: pytest.Function) -> str | None:
    case = "-".join(part for part in item.callspec.id.split("-") if part not in TARGETS)
    name = f"{item.path.name}::{item.originalname}"
    found = (DIFFERENCES.get(each) for each in (f"{name}[{case}]", name, item.path.name))
    return next(filter(None, found), None)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def dynamo(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """What this test runs on: `await dynamo.call(operation, request)`."""
    if request.param == "local":
        need("dynamodb-local")
    async with running(request.param) as target:
        yield target


@pytest.fixture
def raw(dynamo: Target) -> Callable[[bytes, dict[str, str]], tuple[int, dict[str, str], bytes]]:
    """Posts bytes with headers as they are, to the targets that speak HTTP."""
    assert dynamo.endpoint is not None
    return lambda body, headers: post(dynamo.endpoint or "", body, headers)


@pytest.fixture
def fresh() -> str:
    """A string no other test uses, for a partition of one's own in a shared table."""
    return f"t{next(counter)}"


@pytest_asyncio.fixture(loop_scope="session")
async def create(dynamo: Target) -> AsyncIterator[CreateTable]:
    """Makes a table of the test's own, active, and drops it afterwards: `await create(**parameters)`."""
    made: list[str] = []

    async def make(**parameters: Any) -> str:
        name = parameters.setdefault("TableName", f"own.{next(counter)}")
        await dynamo.call("CreateTable", {"BillingMode": "PAY_PER_REQUEST", **parameters})
        made.append(name)
        await active(dynamo, name)
        return name

    yield make
    for name in made:
        with contextlib.suppress(DynamoError):
            await dynamo.call("DeleteTable", {"TableName": name})


@pytest_asyncio.fixture(loop_scope="session")
async def streamed(dynamo: Target, create: CreateTable) -> Callable[..., Awaitable[tuple[str, str]]]:
    """Makes a table with a stream of this view, and answers its name and the stream's ARN."""

    async def make(view: str = "NEW_AND_OLD_IMAGES") -> tuple[str, str]:
        stream = {"StreamEnabled": True, "StreamViewType": view}
        table = await create(**definition("p:S", "s:S", StreamSpecification=stream))
        described = (await dynamo.call("DescribeTable", {"TableName": table}))["Table"]
        return table, described["LatestStreamArn"]

    return make


@pytest_asyncio.fixture(loop_scope="session")
async def tagged(dynamo: Target, create: CreateTable) -> str:
    """The ARN of a table of the test's own."""
    table = await create(**definition("p:S"))
    return str((await dynamo.call("DescribeTable", {"TableName": table}))["Table"]["TableArn"])


async def active(dynamo: Target, name: str) -> dict[str, Any]:
    """The description of the table once it and its indexes are active."""
    described: dict[str, Any] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            described = (await dynamo.call("DescribeTable", {"TableName": name}))["Table"]
        except DynamoError as refusal:
            # DynamoDB Local now and then fails to describe a table whose index it is building; we never may.
            if (dynamo.name, refusal.code) != ("local", "InternalFailure"):
                raise
        else:
            indexes = described.get("GlobalSecondaryIndexes", [])
            if described["TableStatus"] == "ACTIVE" and all(index["IndexStatus"] == "ACTIVE" for index in indexes):
                return described
        await asyncio.sleep(0.02)
    raise AssertionError(f"{name} did not become active: {described}")


def _shared(name: str, definition: TableDefinition) -> Any:
    @pytest_asyncio.fixture(loop_scope="session", scope="session", name=name)
    async def table(dynamo: Target) -> str:
        await dynamo.call("CreateTable", {"TableName": f"shared.{name}", **definition})
        await active(dynamo, f"shared.{name}")
        return f"shared.{name}"

    return table


for _name, _definition in SHARED.items():
    globals()[f"{_name}_table"] = _shared(_name, _definition)
