import boto3

from tests.processes import running, stopped


def test_dynamodb_serves_the_engine_to_an_sdk_and_keeps_its_file(tmp_path):
    def client(address):
        return boto3.client(
            "dynamodb",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )

    with running("dynamodb", "--port", "0", "--file", "kept.db", cwd=tmp_path) as (process, address):
        client(address).create_table(
            TableName="Kept",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        client(address).put_item(TableName="Kept", Item={"id": {"S": "one"}})
        stopped(process)
    with running("dynamodb", "--port", "0", "--file", "kept.db", cwd=tmp_path) as (_, address):
        assert client(address).get_item(TableName="Kept", Key={"id": {"S": "one"}})["Item"] == {"id": {"S": "one"}}
