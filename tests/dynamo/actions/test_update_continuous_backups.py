import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError
from tests.dynamo.test_namespaces import TABLE


def asked(enabled: bool, **more) -> dict:
    return {
        "TableName": "Things",
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": enabled, **more},
    }


@pytest.fixture
async def database(tmp_path):
    async with await Database.open(tmp_path / "store.db", clock=lambda: 1_000_000.0) as database:
        await database.call("CreateTable", TABLE)
        yield database


async def recovery_of(database: Database) -> dict:
    answer = await database.call("DescribeContinuousBackups", {"TableName": "Things"})
    described = answer["ContinuousBackupsDescription"]
    assert described["ContinuousBackupsStatus"] == "ENABLED"
    return described["PointInTimeRecoveryDescription"]


async def test_it_is_off_at_first_and_described_as_it_was_set(database):
    assert await recovery_of(database) == {"PointInTimeRecoveryStatus": "DISABLED"}
    answer = await database.call("UpdateContinuousBackups", asked(True))
    expected = {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": 1_000_000.0,
        "LatestRestorableDateTime": 1_000_000.0,
    }
    assert answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"] == expected
    assert await recovery_of(database) == expected
    await database.call("UpdateContinuousBackups", asked(True, RecoveryPeriodInDays=7))
    assert (await recovery_of(database))["RecoveryPeriodInDays"] == 7
    await database.call("UpdateContinuousBackups", asked(True))
    assert (await recovery_of(database))["RecoveryPeriodInDays"] == 7
    await database.call("UpdateContinuousBackups", asked(False))
    assert await recovery_of(database) == {"PointInTimeRecoveryStatus": "DISABLED"}


@pytest.mark.parametrize(
    ("request_sent", "code"),
    [
        ({"TableName": "Things"}, "ValidationException"),
        ({"TableName": "Things", "PointInTimeRecoverySpecification": {}}, "ValidationException"),
        (asked(True, RecoveryPeriodInDays=36), "ValidationException"),
        (asked(True, RecoveryPeriodInDays=0), "ValidationException"),
        (asked(False, RecoveryPeriodInDays=7), "ValidationException"),
        (asked(True) | {"TableName": "Missing"}, "TableNotFoundException"),
    ],
)
async def test_what_the_service_refuses_changes_nothing(database, request_sent, code):
    with pytest.raises(DynamoError) as refused:
        await database.call("UpdateContinuousBackups", request_sent)
    assert refused.value.code == code
    assert await recovery_of(database) == {"PointInTimeRecoveryStatus": "DISABLED"}
