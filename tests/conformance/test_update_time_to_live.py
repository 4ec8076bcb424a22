"""UpdateTimeToLive: the rules of switching expiry on and off."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.test_describe_time_to_live import NOT_FOUND, described


@pytest.fixture
async def table(create):
    return await create(**definition("p:S"))


def switched(table, enabled, attribute="expires"):
    return {
        "TableName": table,
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute},
    }


async def test_switching_on_answers_the_specification_and_is_described(dynamo, table):
    answer = await dynamo.call("UpdateTimeToLive", switched(table, True))
    assert answer == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}}
    now = await described(dynamo, table)
    assert now["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
    assert now["AttributeName"] == "expires"


async def test_switching_on_twice_is_refused(dynamo, table):
    await dynamo.call("UpdateTimeToLive", switched(table, True))
    await dynamo.invalid("UpdateTimeToLive", switched(table, True), "TimeToLive is already enabled")


async def test_switching_off_what_is_off_is_refused(dynamo, table):
    await dynamo.invalid("UpdateTimeToLive", switched(table, False), "TimeToLive is already disabled")


async def test_switching_on_with_another_attribute_is_refused(dynamo, table):
    await dynamo.call("UpdateTimeToLive", switched(table, True))
    with pytest.raises(DynamoError, match=r"ValidationException.*TimeToLive"):
        await dynamo.call("UpdateTimeToLive", switched(table, True, "other"))


async def test_switching_off_with_another_attribute_is_refused(dynamo, table):
    await dynamo.call("UpdateTimeToLive", switched(table, True))
    with pytest.raises(DynamoError, match=r"ValidationException.*TimeToLive"):
        await dynamo.call("UpdateTimeToLive", switched(table, False, "other"))


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses("UpdateTimeToLive", switched("absent", True), "ResourceNotFoundException", NOT_FOUND)


async def test_an_empty_attribute_name_is_refused(dynamo, table):
    await dynamo.invalid(
        "UpdateTimeToLive",
        switched(table, True, ""),
        "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy "
        "constraint: Member must have length greater than or equal to 1",
    )


async def test_items_that_have_not_expired_stay(dynamo, table):
    await dynamo.call("UpdateTimeToLive", switched(table, True))
    far = {"p": {"S": "far"}, "expires": {"N": "99999999999"}}
    text = {"p": {"S": "text"}, "expires": {"S": "1"}}
    for item in (far, text):
        await dynamo.call("PutItem", {"TableName": table, "Item": item})
        got = await dynamo.call("GetItem", {"TableName": table, "Key": {"p": item["p"]}})
        assert got == {"Item": item}
