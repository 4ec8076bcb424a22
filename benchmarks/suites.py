"""How long 200 tests of one project take: `python -m benchmarks.suites`, five minutes.

The same tests of a small order service, as the users of moto, DynamoDB Local and Potluck write them, are run by pytest
in one process each. What is counted is what pytest says the run took, imports included. Rounds alternate.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import say
from tests.references import dynamodb_local, dynamodb_local_missing

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "benchmarks" / "results" / "suites.md"
TESTS = 200
ROUNDS = 3

TABLE = """
    TABLE = dict(
        TableName="Orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
        ],
        GlobalSecondaryIndexes=[{
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"}, {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }],
    )
"""

SERVICE = """
    from boto3.dynamodb.conditions import Key


    class Orders:
        def __init__(self, table):
            self.table = table

        def place(self, customer, order, lines, state="open"):
            client, name = self.table.meta.client, self.table.name
            head = {"PK": f"C#{customer}", "SK": f"O#{order}", "GSI1PK": state, "GSI1SK": order, "total": len(lines)}
            rows = [{"PK": f"O#{order}", "SK": f"L#{n}", "article": line} for n, line in enumerate(lines)]
            condition = {"ConditionExpression": "attribute_not_exists(PK)"}
            client.transact_write_items(
                TransactItems=[{"Put": {"TableName": name, "Item": row, **condition}} for row in (head, *rows)]
            )

        def of(self, customer):
            found = self.table.query(KeyConditionExpression=Key("PK").eq(f"C#{customer}") & Key("SK").begins_with("O#"))
            return [item["SK"][2:] for item in found["Items"]]

        def lines(self, order):
            found = self.table.query(KeyConditionExpression=Key("PK").eq(f"O#{order}"))
            return [item["article"] for item in found["Items"]]

        def waiting(self):
            found = self.table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("open"))
            return [item["GSI1SK"] for item in found["Items"]]

        def ship(self, customer, order):
            self.table.update_item(
                Key={"PK": f"C#{customer}", "SK": f"O#{order}"},
                UpdateExpression="SET GSI1PK = :sent ADD changes :one",
                ConditionExpression="GSI1PK = :open",
                ExpressionAttributeValues={":sent": "sent", ":open": "open", ":one": 1},
            )

        def forget(self, order):
            with self.table.batch_writer() as batch:
                for row in self.table.query(KeyConditionExpression=Key("PK").eq(f"O#{order}"))["Items"]:
                    batch.delete_item(Key={"PK": row["PK"], "SK": row["SK"]})
"""

BODIES = (
    'orders.place("ada", "{n}", ["tea"])\nassert orders.of("ada") == ["{n}"]',
    'orders.place("ada", "{n}", ["tea", "bread"])\nassert orders.lines("{n}") == ["tea", "bread"]',
    'orders.place("ada", "{n}", ["tea"])\nwith pytest.raises(ClientError):\n    orders.place("ada", "{n}", ["bread"])\n'
    'assert orders.lines("{n}") == ["tea"]',
    'orders.place("ada", "{n}", ["tea"])\norders.ship("ada", "{n}")\nassert orders.waiting() == []',
    'orders.place("ada", "{n}", ["tea"])\norders.ship("ada", "{n}")\nwith pytest.raises(ClientError):\n'
    '    orders.ship("ada", "{n}")',
    'for part in range(5):\n    orders.place("ada", f"{n}-{{part}}", ["tea"])\nassert len(orders.waiting()) == 5',
    'orders.place("ada", "{n}", ["a", "b", "c"])\norders.forget("{n}")\nassert orders.lines("{n}") == []',
    'orders.place("ada", "{n}", ["tea"])\norders.place("bob", "{n}-b", ["tea"])\nassert orders.of("bob") == ["{n}-b"]',
    'assert orders.of("nobody") == orders.lines("none") == orders.waiting() == []',
    'orders.place("ada", "{n}", ["tea"], state="draft")\nassert orders.waiting() == []',
)

IMPORTS = """
    import boto3
    import pytest
    from botocore.exceptions import ClientError
    from service import Orders
    from table import TABLE
"""
EACH_OWN = "{decorator}def test_{n}({arguments}):\n{setup}{body}\n"

MOTO = """
    from moto import mock_aws
"""
MOTO_SETUP = 'orders = Orders(boto3.resource("dynamodb", region_name="us-east-1").create_table(**TABLE))\n'
MOTO_ONE = """
    from moto import mock_aws

    @pytest.fixture(scope="session")
    def resource():
        with mock_aws():
            yield boto3.resource("dynamodb", region_name="us-east-1")

    @pytest.fixture
    def orders(resource):
        table = resource.create_table(**TABLE)
        yield Orders(table)
        table.delete()
"""
POTLUCK = """
    @pytest.fixture
    def orders(dynamodb_table):
        return Orders(dynamodb_table(TABLE))
"""
POTLUCK_ONE = """
    from potluck.dynamo import mocked

    @pytest.fixture(scope="session")
    def store():
        with mocked() as store:
            yield store

    @pytest.fixture(scope="session")
    def resource(store):
        return boto3.resource("dynamodb")

    @pytest.fixture
    def orders(resource, store):
        yield Orders(resource.create_table(**TABLE))
        store.reset()
"""
LOCAL = """
    import os

    @pytest.fixture
    def orders():
        resource = boto3.resource("dynamodb", endpoint_url=os.environ["LOCAL"], region_name="us-east-1")
        table = resource.create_table(**TABLE)
        table.wait_until_exists()
        yield Orders(table)
        table.delete()
        table.wait_until_not_exists()
"""
LOCAL_ONE = LOCAL.replace(
    "def orders():\n        resource =", "def orders(resource):\n        resource = resource or"
).replace(
    "    @pytest.fixture\n",
    '    @pytest.fixture(scope="session")\n    def resource():\n        return boto3.resource("dynamodb", '
    'endpoint_url=os.environ["LOCAL"], region_name="us-east-1")\n\n    @pytest.fixture\n',
    1,
)

VARIANTS = {
    "moto, a decorator and a client for each test": (MOTO, "@mock_aws\n", "", MOTO_SETUP),
    "DynamoDB Local, a client for each test": (LOCAL, "", "orders", ""),
    "Potluck's fixtures": (POTLUCK, "", "orders", ""),
    "moto, one client": (MOTO_ONE, "", "orders", ""),
    "DynamoDB Local, one client": (LOCAL_ONE, "", "orders", ""),
    "Potluck, one client": (POTLUCK_ONE, "", "orders", ""),
}


def project(folder: Path, variant: str) -> Path:
    """A project with the tests in this variant."""
    preamble, decorator, arguments, setup = VARIANTS[variant]
    at = folder / re.sub(r"\W+", "_", variant)
    at.mkdir()
    (at / "table.py").write_text(textwrap.dedent(TABLE))
    (at / "service.py").write_text(textwrap.dedent(SERVICE))
    tests = [textwrap.dedent(IMPORTS), textwrap.dedent(preamble)]
    for number in range(TESTS):
        body = BODIES[number % len(BODIES)].format(n=number)
        indented = textwrap.indent(body, "    ")
        before = textwrap.indent(setup, "    ")
        tests.append(EACH_OWN.format(decorator=decorator, n=number, arguments=arguments, setup=before, body=indented))
    (at / "test_orders.py").write_text("\n\n".join(tests))
    return at


def seconds(folder: Path, endpoint: str) -> float:
    """How long pytest says that the project's tests took; all must pass."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTEST_"))}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "LOCAL": endpoint, "PYTHONPATH": str(folder)}
    environment |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "potluck.testing.plugin", "-p", "no:cacheprovider", "."]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found = re.search(rf"{TESTS} passed in ([\d.]+)s", ran.stdout)
    assert found, ran.stdout[-2000:] + ran.stderr
    return float(found[1])


def measured(folder: Path, endpoint: str | None, progress: Callable[[str], None]) -> dict[str, float]:
    variants = [variant for variant in VARIANTS if endpoint or "Local" not in variant]
    projects = {variant: project(folder, variant) for variant in variants}
    taken: dict[str, list[float]] = {variant: [] for variant in variants}
    for turn in range(ROUNDS):
        for variant in variants if turn % 2 == 0 else reversed(variants):
            taken[variant].append(seconds(projects[variant], endpoint or ""))
            progress(f"{turn + 1}/{ROUNDS}  {variant}: {taken[variant][-1]:.2f} s")
    return {variant: statistics.median(times) for variant, times in taken.items()}


def report(taken: dict[str, float]) -> str:
    rows = [
        f"| {variant} | {spent:.2f} | {spent / TESTS * 1000:.1f} | {spent / taken[_counterpart(variant)]:.1f} |"
        for variant, spent in taken.items()
    ]
    return "\n".join(
        [
            "# 200 tests of one project",
            "",
            f"`python -m benchmarks.suites`: medians of {ROUNDS} alternating rounds, imports included.",
            "",
            "| tests on | seconds | ms a test | times Potluck's |",
            "|---|---:|---:|---:|",
            *rows,
            "",
        ]
    )


def _counterpart(variant: str) -> str:
    return "Potluck, one client" if variant.endswith("one client") else "Potluck's fixtures"


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0].partition(":")[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        missing = dynamodb_local_missing()
        if missing:
            say(f"DynamoDB Local is left out: {missing}")
            taken = measured(Path(folder), None, say)
        else:
            with dynamodb_local() as reference:
                taken = measured(Path(folder), reference.endpoint, say)
    RESULTS.write_text(report(taken))
    say(RESULTS.read_text())


if __name__ == "__main__":
    main()
