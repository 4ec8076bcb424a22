"""ListStreams: the streams of one table or of all, page by page."""


async def test_streams_are_listed_by_table(dynamo, streamed):
    table, arn = await streamed()
    other, _ = await streamed()
    answer = await dynamo.call("ListStreams", {"TableName": table})
    (listed,) = answer["Streams"]
    assert listed == {"StreamArn": arn, "TableName": table, "StreamLabel": arn.rpartition("/")[2]}
    everything = [each["TableName"] for each in (await dynamo.call("ListStreams", {}))["Streams"]]
    assert {table, other} <= set(everything)


async def test_streams_are_listed_page_by_page(dynamo, streamed):
    await streamed()
    await streamed()
    first = await dynamo.call("ListStreams", {"Limit": 1})
    assert len(first["Streams"]) == 1
    second = await dynamo.call("ListStreams", {"Limit": 1, "ExclusiveStartStreamArn": first["LastEvaluatedStreamArn"]})
    assert len(second["Streams"]) == 1
    assert second["Streams"] != first["Streams"]


async def test_a_table_without_stream_lists_none(dynamo, plain):
    assert await dynamo.call("ListStreams", {"TableName": plain}) == {"Streams": []}
