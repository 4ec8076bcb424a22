"""The pytest plugin: each test has a DynamoDB of its own, and boto3 is answered by it.

pytest imports this module in every project that has Potluck installed, so the rest is imported when a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import os

    from potluck.dynamo import SyncDatabase
    from potluck.seeds.seeding import Seeded
    from potluck.testing.clock import StoreClock
    from potluck.testing.definitions import TableSource
    from potluck.testing.targets import Target

TARGETS = ("potluck", "local", "aws")
LOCAL_ENDPOINT = "http://127.0.0.1:8000"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dynamodb", "DynamoDB")
    group.addoption(
        "--dynamodb",
        choices=TARGETS,
        default="potluck",
        help="what answers the fixtures dynamodb…: potluck (in this process, the default), local (DynamoDB Local or "
        "another server at --dynamodb-endpoint) or aws (Amazon DynamoDB, with your credentials)",
    )
    group.addoption(
        "--dynamodb-endpoint",
        metavar="URL",
        default=LOCAL_ENDPOINT,
        help="where --dynamodb=local answers (%(default)s)",
    )


@pytest.fixture
def dynamodb_clock() -> StoreClock:
    """The clock of the store: `freeze` it, or `move` it, and items expire accordingly."""
    from potluck.testing.clock import StoreClock

    return StoreClock()


@pytest.fixture
def dynamodb_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """What answers this test; the other fixtures build on it."""
    from potluck.testing import targets

    kind = request.config.getoption("--dynamodb")
    if kind == "potluck":
        opened = targets.potluck(request.getfixturevalue("dynamodb_clock"))
    elif kind == "local":
        opened = targets.local(request.config.getoption("--dynamodb-endpoint"))
    else:
        opened = targets.aws()
    with opened as target:
        yield target


@pytest.fixture
def dynamodb_store(dynamodb_target: Target) -> SyncDatabase:
    """The store in this process: `call` an operation, `reset` or `copy` it. Skips the test on any other target."""
    if dynamodb_target.store is None:
        pytest.skip("needs the store in this process: --dynamodb=potluck")
    return dynamodb_target.store


@pytest.fixture
def dynamodb(dynamodb_target: Target) -> Any:
    """boto3's resource; every other DynamoDB client of the process sees the same tables."""
    return dynamodb_target.resource()


@pytest.fixture
def dynamodb_client(dynamodb_target: Target) -> Any:
    """boto3's client; every other DynamoDB client of the process sees the same tables."""
    return dynamodb_target.client()


@pytest.fixture
def dynamodb_endpoint(dynamodb_target: Target) -> Iterator[str]:
    """A URL at which the same tables are served, to programs in other processes and languages."""
    with dynamodb_target.served() as endpoint:
        yield endpoint


@pytest.fixture
def dynamodb_table(dynamodb_target: Target) -> Callable[..., Any]:
    """Creates a table, and returns boto3's resource for it.

    From a CreateTable request, a `potluck.table.Table`, or the path of a CloudFormation or SAM template; of a template
    with several tables, `resource="Notes"` chooses one.
    """
    from potluck.testing.definitions import creation_of

    def create(source: TableSource, *, resource: str | None = None) -> Any:
        return dynamodb_target.create(creation_of(source, resource))

    return create


@pytest.fixture
def dynamodb_seed(dynamodb_target: Target) -> Callable[[str | os.PathLike[str]], Seeded]:
    """Creates the tables in a folder of seeds, and puts their items: `dynamodb_seed("tests/seeds")`."""
    from potluck.seeds.seeding import seed_by_calls

    return lambda folder: seed_by_calls(dynamodb_target.call, folder)
