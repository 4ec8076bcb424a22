"""DescribeLimits: how much throughput an account and a table may have."""


async def test_a_table_may_have_no_more_than_the_account(dynamo):
    limits = await dynamo.call("DescribeLimits", {})
    for kind in ("Read", "Write"):
        assert 0 < limits[f"TableMax{kind}CapacityUnits"] <= limits[f"AccountMax{kind}CapacityUnits"]
    assert len(limits) == 4
