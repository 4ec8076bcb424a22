"""DescribeEndpoints: where a client finds the service."""


async def test_there_is_an_endpoint_for_a_while(dynamo):
    (endpoint,) = (await dynamo.call("DescribeEndpoints", {}))["Endpoints"]
    assert endpoint["Address"]
    assert endpoint["CachePeriodInMinutes"] > 0
