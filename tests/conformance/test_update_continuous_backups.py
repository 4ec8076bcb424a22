"""UpdateContinuousBackups: restoring to an earlier moment, switched on and off."""

import time

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.test_describe_continuous_backups import recovery_of


def asked(table: str, enabled: bool, **more: int) -> dict:
    specification = {"PointInTimeRecoveryEnabled": enabled, **more}
    return {"TableName": table, "PointInTimeRecoverySpecification": specification}


@pytest.fixture
async def table(create):
    return await create(**definition("p:S"))


async def test_it_is_described_as_it_was_set(dynamo, table):
    answer = await dynamo.call("UpdateContinuousBackups", asked(table, True))
    described = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert (described["PointInTimeRecoveryStatus"], described["RecoveryPeriodInDays"]) == ("ENABLED", 35)
    assert described["EarliestRestorableDateTime"] == described["LatestRestorableDateTime"]
    assert abs(described["LatestRestorableDateTime"] - time.time()) < 120
    assert await recovery_of(dynamo, table) == described
    await dynamo.call("UpdateContinuousBackups", asked(table, True, RecoveryPeriodInDays=7))
    assert (await recovery_of(dynamo, table))["RecoveryPeriodInDays"] == 7
    await dynamo.call("UpdateContinuousBackups", asked(table, True))
    assert (await recovery_of(dynamo, table))["RecoveryPeriodInDays"] == 7
    await dynamo.call("UpdateContinuousBackups", asked(table, False))
    assert await recovery_of(dynamo, table) == {"PointInTimeRecoveryStatus": "DISABLED"}


@pytest.mark.parametrize(
    ("specification", "code"),
    [
        (None, "ValidationException"),
        ({}, "ValidationException"),
        ({"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 36}, "ValidationException"),
        ({"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 0}, "ValidationException"),
        ({"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 7}, "ValidationException"),
    ],
)
async def test_what_the_service_refuses_changes_nothing(dynamo, table, specification, code):
    request = {"TableName": table}
    if specification is not None:
        request["PointInTimeRecoverySpecification"] = specification
    with pytest.raises(DynamoError, match=code):
        await dynamo.call("UpdateContinuousBackups", request)
    assert await recovery_of(dynamo, table) == {"PointInTimeRecoveryStatus": "DISABLED"}


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    with pytest.raises(DynamoError, match="TableNotFoundException"):
        await dynamo.call("UpdateContinuousBackups", asked("absent", True))
