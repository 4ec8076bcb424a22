"""The engines that tests above the seam are run on: the embedded one, and aws in front of DynamoDB Local."""

import atexit
import contextlib
import functools
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from potluck.engines import Engine, open_engine
from tests.needs import need
from tests.references import REGION, dynamodb_local

__all__ = ["BOTH", "EMBEDDED", "LOCAL", "address", "lent", "opened", "opened_at", "table"]

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
    # One server serves all tests, each with table names of its own.
    return {"kind": "aws", "region": REGION, "endpoint": local_endpoint(), "prefix": f"t{uuid.uuid4().hex[:12]}-"}


async def opened_at(where: dict[str, Any]) -> Engine:
    """Open the store at an address; DynamoDB Local takes whatever credentials it is given."""
    if where["kind"] == "aws":
        from aiobotocore.credentials import AioCredentials

        from potluck.engines.aws import Aws
        from potluck.engines.prefixing import Prefixing

        # Nothing has to be found, which takes a tenth of a second each time; tests/engines/test_aws.py has it found.
        url = f"{where['endpoint']}/"
        return Prefixing(Aws(AioCredentials("tests", "tests"), where["region"], url, url), where["prefix"])
    return await open_engine(**where)


@contextlib.asynccontextmanager
async def lent(name: str, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """The address of a new and empty store, until the block ends."""
    where = address(name, folder)
    yield where
    if where["kind"] == "aws":
        # With a thousand tables that nobody needs any more, DynamoDB Local takes three times as long for a transaction.
        engine = await opened_at(where)
        for each in (await engine.call("ListTables", {}))["TableNames"]:
            await engine.call("DeleteTable", {"TableName": each})
        await engine.close()


@contextlib.asynccontextmanager
async def opened(name: str, folder: Path) -> AsyncIterator[Engine]:
    """A new and empty store, until the block ends."""
    async with lent(name, folder) as where:
        engine = await opened_at(where)
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
