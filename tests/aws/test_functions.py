"""The functions that do the background work on AWS, called as Lambda calls them."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import msgspec
import pytest

from benchmarks.everyday import everyday
from potluck.apps.shareables import short_ids
from potluck.aws import functions
from potluck.aws.functions import Background, settings_with_secret
from potluck.commands.main import main
from potluck.commands.table_modules import suite_tables
from potluck.people.passwords import Passwords
from potluck.settings import Settings, SettingsError
from potluck.suite import APPS, assembled
from tests.people.assembly import CountingHasher
from tests.processes import running
from tests.web.suites import client_at

SECRET = "the secret of the tests, on every machine"


class Lambda:
    """The functions' environment, and a DynamoDB whose streams their events are made from."""

    def __init__(self, endpoint: str) -> None:
        options: dict[str, Any] = {"region_name": "us-east-1", "endpoint_url": endpoint}
        self.dynamodb = boto3.client("dynamodb", **options)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._streams = boto3.client("dynamodbstreams", **options)

    def new_batches(self) -> Iterator[dict[str, Any]]:
        """An event for each few records of each table's stream that were in none before."""
        for table in suite_tables():
            arn = self.dynamodb.describe_table(TableName=table.name)["Table"].get("LatestStreamArn")
            for shard in self._shards(arn) if arn else ():
                records = [record | {"eventSourceARN": arn} for record in self._records(arn, shard)]
                records = records[self._seen[arn, shard] :]
                self._seen[arn, shard] += len(records)
                for start in range(0, len(records), 25):
                    yield {"Records": records[start : start + 25]}

    def rows(self, table: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.dynamodb.scan(TableName=table, ConsistentRead=True)["Items"]
        return rows

    def _shards(self, arn: str) -> list[str]:
        described = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]
        return [shard["ShardId"] for shard in described["Shards"]]

    def _records(self, arn: str, shard: str) -> list[dict[str, Any]]:
        oldest = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = self._streams.get_shard_iterator(**oldest)["ShardIterator"]
        found: list[dict[str, Any]] = []
        while iterator:
            answer = self._streams.get_records(ShardIterator=iterator)
            if not answer["Records"]:
                break
            # Bytes become base64, as in an event.
            found += msgspec.json.decode(msgspec.json.encode(answer["Records"]))
            iterator = answer.get("NextShardIterator")
        return found


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambda]:
    with running("dynamodb", "--port", "0", "--shared", cwd=tmp_path) as (_, endpoint):
        for name, value in {
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "POTLUCK_ENGINE": "aws",
            "POTLUCK_REGION": "us-east-1",
            "POTLUCK_ENDPOINT": endpoint,
            "POTLUCK_SECRET": SECRET,
            "POTLUCK_BACKGROUND": "elsewhere",
            "POTLUCK_OPEN_LIBRARY": "off",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(short_ids, "POOL_PARTITIONS", 20)
        monkeypatch.setattr(short_ids, "POOL_DEPTH", 1)
        assert main(["tables", "create"]) == 0
        try:
            yield Lambda(endpoint)
        finally:
            functions.instance.close()


async def an_ordinary_day() -> None:
    """The web processes, which leave the background work to the functions."""
    settings = Settings.from_environment()
    async with (
        assembled(settings, APPS, passwords=Passwords(CountingHasher())) as application,
        client_at(application) as client,
    ):
        async for _ in everyday(client):
            pass


def consumed(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for event in batches:
        assert functions.consume(event, None) == {"batchItemFailures": []}
    return batches


def test_the_functions_do_what_follows_from_an_ordinary_day(aws: Lambda) -> None:
    asyncio.run(an_ordinary_day())
    left = [row for row in aws.rows("InventoryManagement") if row["PK"]["S"].startswith("FAMILY#")]
    assert left
    libraries = [row for row in aws.rows("MediaLibrary") if row.get("OwnerName", {}).get("S") == "Ada"]
    assert libraries
    batches: list[dict[str, Any]] = []
    while new := list(aws.new_batches()):
        batches += consumed(new)
        # As on its schedule: it goes on with long work, whose steps write further records.
        functions.work({}, None)
    assert len(batches) > 5
    rows = {table.name: aws.rows(table.name) for table in suite_tables()}
    assert not [row for row in rows["InventoryManagement"] if row["PK"]["S"].startswith("FAMILY#")]
    assert not [row for row in rows["MediaLibrary"] if row.get("OwnerName", {}).get("S") == "Ada"]
    assert not [row for row in rows["BackgroundWork"] if row["SK"]["S"].startswith("PARKED#")]
    # Delivered once more, whole batches change nothing.
    consumed(batches)
    assert {table.name: aws.rows(table.name) for table in suite_tables()} == rows


def test_the_function_on_a_schedule_fills_the_pool_and_rebuilds_on_request(aws: Lambda) -> None:
    assert functions.work({}, None) == {"done": ["short-id-pool", "steps", "departures"]}
    assert len(aws.rows("ShortIdPool")) == short_ids.POOL_PARTITIONS
    assert functions.work({"rebuild": ["journal-index", "poll-deletions"]}, None) == {
        "rebuilt": ["journal-index", "poll-deletions"]
    }
    with pytest.raises(SettingsError, match=r"there is no consumer journal; the consumers are .*journal-index"):
        functions.work({"rebuild": ["journal"]}, None)


class Stub:
    """A consumer that gets this far."""

    def __init__(self, table: str, undone: int | None) -> None:
        self.consumer = SimpleNamespace(name="stub", table=SimpleNamespace(name=table))
        self.undone = undone
        self.given: list[str] = []

    async def handle(self, arn: str, records: Any) -> int | None:
        self.given += [record.sequence_number for record in records]
        return self.undone


async def test_the_first_record_that_any_consumer_could_not_handle_is_reported() -> None:
    suite = Background(SimpleNamespace(settings=Settings(table_prefix="club-"), store=None), ())  # type: ignore[arg-type]
    consumers = [Stub("Boards", None), Stub("Boards", 2), Stub("Boards", 1), Stub("Others", 0)]
    suite._consumers = consumers  # type: ignore[assignment]
    arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/club-Boards/stream/2026-01-01T00:00:00.000"
    records = [{"eventSourceARN": arn, "dynamodb": {"SequenceNumber": str(number)}} for number in range(100, 104)]
    answer = await suite.consume({"Records": records})
    assert answer == {"batchItemFailures": [{"itemIdentifier": "101"}]}
    # One that cannot go on does not keep the others waiting.
    assert [len(consumer.given) for consumer in consumers] == [4, 4, 4, 0]
    suite._consumers = [Stub("Boards", None)]  # type: ignore[assignment]
    assert await suite.consume({"Records": records}) == {"batchItemFailures": []}


async def test_the_secret_is_read_from_secrets_manager(moto_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    client = boto3.client("secretsmanager", region_name="us-east-1", endpoint_url=moto_endpoint)
    arn = client.create_secret(Name="potluck", SecretString=SECRET)["ARN"]
    settings = Settings(engine="aws", region="us-east-1")
    environment = {"SECRET_ARN": arn, "SECRETS_ENDPOINT": moto_endpoint}
    assert (await settings_with_secret(settings, environment)).secret == SECRET
    assert await settings_with_secret(settings, {}) == settings
