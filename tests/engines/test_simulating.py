"""`potluck dynamodb` throttles, lags and conflicts when it is told to, as boto3 sees it."""

import pytest
from botocore.exceptions import ClientError

from potluck.commands.main import main
from tests.dynamo.test_namespaces import TABLE, client
from tests.processes import running, stopped

INDEXED = {
    "TableName": "Indexed",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByKind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
CALLS = 60


def refusals(call, times: int = CALLS) -> list[str]:
    """The codes of the calls that were refused."""
    codes = []
    for _ in range(times):
        try:
            call()
        except ClientError as refused:
            codes.append(refused.response["Error"]["Code"])
    return codes


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_it_throttles_conflicts_and_cuts_batches(tmp_path):
    options = ("--throttle", "0.3", "--conflicts", "0.3", "--fault-seed", "7")
    with running("dynamodb", "--port", "0", *options, cwd=tmp_path) as (process, address):
        for region in ("us-east-1", "eu-west-1"):
            dynamodb = client(port_of(address), region)
            dynamodb.create_table(**TABLE)
            item = {"pk": {"S": "one"}}

            def put(dynamodb=dynamodb, item=item) -> None:
                dynamodb.put_item(TableName="Things", Item=item)

            def transact(dynamodb=dynamodb, item=item) -> None:
                dynamodb.transact_write_items(TransactItems=[{"Put": {"TableName": "Things", "Item": item}}])

            codes = refusals(put)
            assert set(codes) == {"ProvisionedThroughputExceededException", "TransactionConflictException"}
            assert len(codes) < CALLS
            assert set(refusals(transact)) == {"TransactionCanceledException"}
            unprocessed = 0
            for _ in range(CALLS):
                writes = [{"PutRequest": {"Item": {"pk": {"S": f"item-{number}"}}}} for number in range(10)]
                try:
                    answer = dynamodb.batch_write_item(RequestItems={"Things": writes})
                except ClientError:
                    continue
                unprocessed += len(answer["UnprocessedItems"].get("Things", ()))
            assert unprocessed > 0
            # Tables are made and described as ever.
            assert refusals(lambda dynamodb=dynamodb: dynamodb.describe_table(TableName="Things")) == []
        assert stopped(process) == 0


def test_it_lags_where_reads_are_not_consistent(tmp_path):
    with running("dynamodb", "--port", "0", "--lag", "3600", cwd=tmp_path) as (process, address):
        dynamodb = client(port_of(address))
        dynamodb.create_table(**INDEXED)
        dynamodb.put_item(TableName="Indexed", Item={"pk": {"S": "one"}, "kind": {"S": "red"}})
        key = {"pk": {"S": "one"}}
        assert "Item" not in dynamodb.get_item(TableName="Indexed", Key=key)
        assert "Item" in dynamodb.get_item(TableName="Indexed", Key=key, ConsistentRead=True)
        query = {
            "TableName": "Indexed",
            "IndexName": "ByKind",
            "KeyConditionExpression": "kind = :kind",
            "ExpressionAttributeValues": {":kind": {"S": "red"}},
        }
        assert dynamodb.query(**query)["Count"] == 0
        # Another region has tables, and a past, of its own.
        assert client(port_of(address), "eu-west-1").list_tables()["TableNames"] == []
        assert stopped(process) == 0


def test_it_does_none_of_this_unless_told(tmp_path):
    with running("dynamodb", "--port", "0", "--shared", cwd=tmp_path) as (process, address):
        dynamodb = client(port_of(address))
        dynamodb.create_table(**TABLE)
        assert refusals(lambda: dynamodb.put_item(TableName="Things", Item={"pk": {"S": "one"}})) == []
        assert "Item" in dynamodb.get_item(TableName="Things", Key={"pk": {"S": "one"}})
        assert client(port_of(address), "eu-west-1").list_tables()["TableNames"] == ["Things"]
        assert stopped(process) == 0


@pytest.mark.parametrize(
    ("option", "given", "most"),
    [("--throttle", "2", "1"), ("--conflicts", "nan", "1"), ("--lag", "-1", "3600"), ("--throttle", "often", "1")],
)
def test_a_wrong_rate_is_told_in_plain_words(option, given, most, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["dynamodb", f"{option}={given}"])
    assert ended.value.code == 2
    assert f"argument {option}: '{given}' is not a number from 0 to {most}" in capsys.readouterr().err
