"""The engines that tests above the seam are run on: the embedded one, and aws in front of DynamoDB Local."""

import atexit
import contextlib
import functools
import hashlib
import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine, open_engine
from tests.needs import need
from tests.references import REGION, dynamodb_local

__all__ = ["BOTH", "EMBEDDED", "LOCAL", "address", "calling", "opened", "opened_at", "table"]

EMBEDDED = "embedded"
LOCAL = "dynamodb-local"
BOTH = (EMBEDDED, LOCAL)


@functools.cache
def local_endpoint() -> str:
    """One DynamoDB Local for the whole run, started when it is first needed."""
    stack = contextlib.ExitStack()
    reference = stack.enter_context(dynamodb_local(for_speed=False))
    atexit.register(stack.close)
    return reference.endpoint


def address(name: str, folder: Path) -> dict[str, Any]:
    """What any process needs to open the same empty store."""
    if name == EMBEDDED:
        return {"kind": "embedded", "path": str(folder / "store.db")}
    need("dynamodb-local")
    # One server serves all tests, each with table names of its own, and each file with a store of its own: every record
    # in a stream makes later writes to its store slower. One for each test would keep four threads busy to the end.
    file = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    return {
        "kind": "aws",
        "region": REGION,
        "endpoint": local_endpoint(),
        "access_key": hashlib.sha256(file.encode()).hexdigest()[:16],
        "prefix": f"t{uuid.uuid4().hex[:12]}-",
    }


async def opened_at(where: dict[str, Any]) -> Engine:
    """Open the store at an address."""
    if where["kind"] == "aws":
        from aiobotocore.credentials import AioCredentials

        from potluck.engines.aws import Aws
        from potluck.engines.prefixing import Prefixing

        # Nothing has to be found, which takes a tenth of a second each time; tests/engines/test_aws.py has it found.
        url = f"{where['endpoint']}/"
        aws = Aws(AioCredentials(where["access_key"], "tests"), where["region"], url, url)
        # DynamoDB Local has no limits.
        aws.shard_reads.per_second = 1000.0
        return Prefixing(aws, where["prefix"])
    return await open_engine(**where)


@contextlib.contextmanager
def calling(where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of a suite on the store at this address; its credentials are in the environment meanwhile."""
    if where["kind"] == "embedded":
        yield {}
        return
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ACCESS_KEY_ID", where["access_key"])
        environment.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        yield {
            "engine": "aws",
            "secret": "the secret of the tests, on every machine",
            "region": where["region"],
            "endpoint": where["endpoint"],
            "table_prefix": where["prefix"],
        }


@contextlib.asynccontextmanager
async def opened(name: str, folder: Path) -> AsyncIterator[Engine]:
    """A new and empty store, until the block ends."""
    engine = await opened_at(address(name, folder))
    try:
        yield engine
    finally:
        await engine.close()


def table(name: str, stream: bool = False, index: bool = False) -> dict[str, Any]:
    """A CreateTable request: keys PK and SK, if wanted an index on GSI1PK and GSI1SK, and a stream of both images."""
    attributes = ["PK", "SK", *(["GSI1PK", "GSI1SK"] if index else [])]
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _keys("PK", "SK"),
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in attributes],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if index:
        gsi = {"IndexName": "GSI1", "KeySchema": _keys("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}
        request["GlobalSecondaryIndexes"] = [gsi]
    if stream:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return request


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
