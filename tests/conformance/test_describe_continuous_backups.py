"""DescribeContinuousBackups: whether a table can be restored to an earlier moment."""

from typing import Any

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.targets import Target


async def recovery_of(dynamo: Target, table: str) -> dict[str, Any]:
    answer = await dynamo.call("DescribeContinuousBackups", {"TableName": table})
    described = answer["ContinuousBackupsDescription"]
    assert described["ContinuousBackupsStatus"] == "ENABLED"
    recovery: dict[str, Any] = described["PointInTimeRecoveryDescription"]
    return recovery


async def test_a_new_table_cannot_be_restored(dynamo, create):
    assert await recovery_of(dynamo, await create(**definition("p:S"))) == {"PointInTimeRecoveryStatus": "DISABLED"}


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    with pytest.raises(DynamoError, match="TableNotFoundException"):
        await dynamo.call("DescribeContinuousBackups", {"TableName": "absent"})
