"""A tour of the engine in plain boto3: five things that code on DynamoDB leans on, each shown and asserted.

    potluck dynamodb --port 8001 &
    python examples/engine_tour.py http://127.0.0.1:8001

Any other endpoint that speaks DynamoDB will do; `--skip-expiry` leaves out the one part that has to wait.
"""

import argparse
import time
import uuid

import boto3
from botocore.exceptions import ClientError

TABLE = f"tour-{uuid.uuid4().hex[:8]}"


def create_table(dynamodb):
    """A table with two global indexes, a stream with both images, and an attribute that says when an item ends."""
    text = dict.fromkeys(("pk", "sk", "owner", "due"), "S")
    table = dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in text.items()],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-owner",
                "KeySchema": [
                    {"AttributeName": "owner", "KeyType": "HASH"},
                    {"AttributeName": "due", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "by-due",
                "KeySchema": [{"AttributeName": "due", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )["TableDescription"]
    dynamodb.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
    dynamodb.update_time_to_live(TableName=TABLE, TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})

    described = dynamodb.describe_table(TableName=TABLE)["Table"]
    assert {index["IndexName"] for index in described["GlobalSecondaryIndexes"]} == {"by-owner", "by-due"}
    print(f"1. {TABLE}: two indexes, a stream, and items that end at their `ttl`")
    return table["LatestStreamArn"]


def failed_condition(dynamodb):
    """A write that meets a condition it cannot hold says what stood in its way."""
    first = {"pk": {"S": "LIST#1"}, "sk": {"S": "ITEM#1"}, "owner": {"S": "ann"}, "due": {"S": "2030-01-01"}}
    dynamodb.put_item(TableName=TABLE, Item=first)
    try:
        dynamodb.put_item(
            TableName=TABLE,
            Item=first | {"owner": {"S": "ben"}},
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as failed:
        assert failed.response["Item"] == first
        print(f"2. {failed.response['Error']['Message']}: it belongs to {failed.response['Item']['owner']['S']}")
    else:
        raise AssertionError("the second put should have failed")

    found = dynamodb.query(
        TableName=TABLE,
        IndexName="by-owner",
        KeyConditionExpression="#o = :o",
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues={":o": {"S": "ann"}},
    )
    assert found["Items"] == [first]


def failed_transaction(dynamodb):
    """Ten writes or none: one of them may not happen, so nothing is written, and each place has its reason."""
    actions = [{"Put": {"TableName": TABLE, "Item": {"pk": {"S": "BATCH"}, "sk": {"S": f"{n:02}"}}}} for n in range(9)]
    actions.insert(
        6,
        {
            "ConditionCheck": {
                "TableName": TABLE,
                "Key": {"pk": {"S": "LIST#1"}, "sk": {"S": "ITEM#1"}},
                "ConditionExpression": "#o = :nobody",
                "ExpressionAttributeNames": {"#o": "owner"},
                "ExpressionAttributeValues": {":nobody": {"S": "nobody"}},
            }
        },
    )
    try:
        dynamodb.transact_write_items(TransactItems=actions)
    except ClientError as cancelled:
        reasons = [reason["Code"] for reason in cancelled.response["CancellationReasons"]]
        assert reasons == ["None"] * 6 + ["ConditionalCheckFailed"] + ["None"] * 3
        print(f"3. {len(actions)} writes, one refused: {', '.join(reasons)}")
    else:
        raise AssertionError("the transaction should have been cancelled")

    assert _partition(dynamodb, "BATCH")["Count"] == 0
    print("   ... and nothing was written")


def paged_query(dynamodb):
    """A page ends at a megabyte of items; LastEvaluatedKey says where the next one starts."""
    for n in range(40):
        prefix = "2029" if n < 30 else "2030"
        item = {"pk": {"S": "LOG"}, "sk": {"S": f"{prefix}#{n:03}"}, "text": {"S": "x" * 50_000}}
        dynamodb.put_item(TableName=TABLE, Item=item)

    pages = list(
        dynamodb.get_paginator("query").paginate(
            TableName=TABLE,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :year)",
            ExpressionAttributeValues={":pk": {"S": "LOG"}, ":year": {"S": "2029#"}},
        )
    )
    counts = [page["Count"] for page in pages]
    assert sum(counts) == 30
    assert len(counts) == 2
    assert [item["sk"]["S"] for page in pages for item in page["Items"]] == [f"2029#{n:03}" for n in range(30)]
    print(f"4. 1.5 MB of items that begin with 2029#, in pages of {' and '.join(map(str, counts))}")


def expiry(dynamodb, streams, stream, patience):
    """An item past its `ttl` is deleted by the service, and the stream says that it was not a person."""
    key = {"pk": {"S": "NOTE"}, "sk": {"S": "gone soon"}}
    dynamodb.put_item(TableName=TABLE, Item=key | {"ttl": {"N": str(int(time.time()) + 1)}})
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        removed = [
            record
            for record in _records(streams, stream)
            if record["eventName"] == "REMOVE" and record["dynamodb"]["Keys"] == key
        ]
        if removed:
            identity = removed[0]["userIdentity"]
            assert (identity["Type"], identity["PrincipalId"]) == ("Service", "dynamodb.amazonaws.com")
            assert removed[0]["dynamodb"]["OldImage"]["sk"] == key["sk"]
            print(f"5. expired, and the stream says who did it: {identity['PrincipalId']}")
            return
        time.sleep(0.5)
    raise AssertionError(f"nothing expired within {patience} seconds")


def _partition(dynamodb, value):
    return dynamodb.query(
        TableName=TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": value}},
        ConsistentRead=True,
    )


def _records(streams, stream):
    """Everything the stream holds, oldest first."""
    for shard in streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while iterator:
            page = streams.get_records(ShardIterator=iterator)
            if not page["Records"]:
                break
            yield from page["Records"]
            iterator = page.get("NextShardIterator")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("endpoint", nargs="?", default="http://127.0.0.1:8001")
    parser.add_argument("--skip-expiry", action="store_true", help="leave out the part that waits for an expiry")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for the expiry (%(default)s)")
    chosen = parser.parse_args()

    # Only Amazon looks at credentials; the SDK wants some anyway.
    session = boto3.Session(aws_access_key_id="tour", aws_secret_access_key="tour", region_name="us-east-1")
    dynamodb = session.client("dynamodb", endpoint_url=chosen.endpoint)
    streams = session.client("dynamodbstreams", endpoint_url=chosen.endpoint)

    stream = create_table(dynamodb)
    try:
        failed_condition(dynamodb)
        failed_transaction(dynamodb)
        paged_query(dynamodb)
        if not chosen.skip_expiry:
            expiry(dynamodb, streams, stream, chosen.patience)
    finally:
        dynamodb.delete_table(TableName=TABLE)
    print("That is the tour.")


if __name__ == "__main__":
    main()
