"""The printed policies are enough, and no more than that: the suite runs behind a proxy that denies everything else."""

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.everyday import everyday
from potluck.acceleration import PLAIN
from potluck.apps.shareables import short_ids
from potluck.aws.policies import DESCRIBE, ROLES, Resources, policy
from potluck.aws.verification import differences
from potluck.commands.table_modules import suite_tables
from potluck.dynamo.database import Database
from potluck.dynamo.server import serving
from potluck.engines import AccessDenied, open_engine
from potluck.moving.moved_tables import MovedTables
from potluck.people.entities import SecretCheck
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.store import Store
from potluck.streams import WorkTable
from potluck.suite import APPS, assembled, system_clock
from potluck.web.server.reasons import reason_of
from tests.aws.guarding import GuardingProxy
from tests.engine_targets import EMBEDDED, LOCAL, address
from tests.moving.stores import exported, imported
from tests.patience import PATIENCE_SECONDS, until
from tests.people.assembly import CountingHasher
from tests.processes import running
from tests.stores import rows_in
from tests.web.suites import API, client_at

SECRET = "the secret of the tests, on every machine"
REGION = "us-east-1"


@contextlib.asynccontextmanager
async def dynamodb(kind: str, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """A DynamoDB with the suite's tables: the settings that reach it."""
    if kind == EMBEDDED:
        async with await Database.open() as database, serving(database, shared=True) as port:
            await Store(database, system_clock).create_tables(*suite_tables())
            yield {"endpoint": f"http://127.0.0.1:{port}", "prefix": ""}
    else:
        where = address(kind, folder)
        engine = await open_engine("aws", region=REGION, endpoint=where["endpoint"], prefix=where["prefix"])
        try:
            await Store(engine, system_clock).create_tables(*suite_tables())
        finally:
            await engine.close()
        yield where


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    monkeypatch.setattr(short_ids, "POOL_PARTITIONS", 20)


def allowing(roles: Sequence[str], prefix: str = "") -> dict[str, Any]:
    return policy(suite_tables(), roles, Resources(prefix=prefix))


def without(allowed: dict[str, Any], action: str, table: str = "") -> dict[str, Any]:
    """The policy without this action, or without it on the resources of one table."""
    left = copy.deepcopy(allowed)
    for statement in list(left["Statement"]):
        if action in statement["Action"]:
            statement["Action"].remove(action)
            others = [resource for resource in statement["Resource"] if f"table/{table}" not in resource]
            if table and others:
                left["Statement"].append({**statement, "Action": [action], "Resource": others})
    return left


@contextlib.asynccontextmanager
async def suite_at(
    endpoint: str, folder: Path, prefix: str = "", **options: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, Any]]:
    settings = Settings(
        engine="aws",
        region=REGION,
        endpoint=endpoint,
        table_prefix=prefix,
        secret=SECRET,
        data=folder,
        open_library=None,
        **options,
    )
    async with (
        assembled(settings, APPS, passwords=Passwords(CountingHasher())) as application,
        client_at(application) as client,
    ):
        yield client, application


def actions_of(permissions: set[tuple[str, str]]) -> set[str]:
    return {action for action, _ in permissions}


def web_process(folder: Path, endpoint: str, prefix: str = "") -> AbstractContextManager[tuple[Any, str]]:
    """`potluck serve`, as a web task runs it."""
    settings = {
        "ENGINE": "aws",
        "REGION": REGION,
        "ENDPOINT": endpoint,
        "TABLE_PREFIX": prefix,
        "SECRET": SECRET,
        "BACKGROUND": "elsewhere",
        "OPEN_LIBRARY": "off",
    }
    return running("serve", "--port", "0", cwd=folder, **{f"POTLUCK_{name}": value for name, value in settings.items()})


@pytest.mark.parametrize("kind", [EMBEDDED, pytest.param(LOCAL, marks=pytest.mark.soak)])
async def test_web_processes_need_what_their_policy_allows_and_nothing_more(kind: str, tmp_path: Path) -> None:
    async with dynamodb(kind, tmp_path) as there:
        allowed = allowing(["web"], there["prefix"])
        proxy = GuardingProxy(there["endpoint"], allowed)
        async with proxy.listening() as endpoint:
            serving_web = web_process(tmp_path, endpoint, there["prefix"])
            # In a thread, because the process starts by asking the proxy, which answers in this loop.
            _, address = await asyncio.to_thread(serving_web.__enter__)
            try:
                async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as client:
                    assert [call.what async for call in everyday(client)][-1] == "delete an account"
                    assert (await client.get("/readyz")).status_code == 200
            finally:
                await asyncio.to_thread(serving_web.__exit__, None, None, None)
    assert proxy.denied == []
    allowed_actions = {action for statement in allowed["Statement"] for action in statement["Action"]}
    assert actions_of(proxy.used) == allowed_actions


async def test_a_process_that_may_not_start_says_why_in_one_line(tmp_path: Path) -> None:
    async with dynamodb(EMBEDDED, tmp_path) as there:
        proxy = GuardingProxy(there["endpoint"], without(allowing(["web"]), "dynamodb:DescribeTable", "RollModel"))
        async with proxy.listening() as endpoint:
            with pytest.raises(AssertionError) as stopped:
                await asyncio.to_thread(web_process(tmp_path, endpoint).__enter__)
    said = str(stopped.value)
    assert "potluck: the policy of these AWS credentials does not allow dynamodb:DescribeTable on arn:aws:" in said
    assert "Traceback" not in said


async def test_processes_that_also_do_the_background_work_need_the_policies_of_both(tmp_path: Path) -> None:
    async with dynamodb(EMBEDDED, tmp_path) as there:
        allowed = allowing(["web", "consumers"])
        proxy = GuardingProxy(there["endpoint"], allowed)
        async with proxy.listening() as endpoint, suite_at(endpoint, tmp_path, accelerations=PLAIN) as (client, suite):
            async for _ in everyday(client):
                pass

            async def deleted() -> bool:
                rows = await rows_in(suite.state.engine, "InventoryManagement")
                return not [row for row in rows if "FAMILY#" in row["PK"]["S"]]

            await until(deleted)
    assert proxy.denied == []
    allowed_actions = {action for statement in allowed["Statement"] for action in statement["Action"]}
    # The event source of a function lists streams; a process does not.
    assert actions_of(proxy.used) == allowed_actions - {"dynamodb:ListStreams"}


@pytest.mark.parametrize(
    ("action", "table"),
    [
        ("dynamodb:DescribeTable", "Accounts"),
        ("dynamodb:DescribeTimeToLive", "Shareables"),
        ("dynamodb:GetItem", "Accounts"),
        ("dynamodb:PutItem", "Accounts"),
    ],
)
async def test_a_permission_that_starting_lacks_is_named_with_what_to_do(
    action: str, table: str, tmp_path: Path
) -> None:
    async with dynamodb(EMBEDDED, tmp_path) as there:
        proxy = GuardingProxy(there["endpoint"], without(allowing(["web"]), action, table))
        async with proxy.listening() as endpoint:
            with pytest.raises(AccessDenied) as refused:
                async with suite_at(endpoint, tmp_path, background="elsewhere"):
                    pass
    said = reason_of(refused.value)
    assert said is not None
    assert said.startswith(f"the policy of these AWS credentials does not allow {action} on arn:aws:dynamodb:")
    assert f"table/{table}: add it; `potluck tables policy` prints all that is needed" in said


@pytest.mark.parametrize("action", ["dynamodb:ConditionCheckItem", "dynamodb:UpdateItem"])
async def test_a_permission_that_a_request_lacks_is_logged_once_and_the_request_is_answered_503(
    action: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with dynamodb(EMBEDDED, tmp_path) as there:
        proxy = GuardingProxy(there["endpoint"], allowing(["web"]))
        async with (
            proxy.listening() as endpoint,
            suite_at(endpoint, tmp_path, background="elsewhere") as (client, _),
        ):
            person = {"email": "ada@example.org", "password": "correct horse", "name": "Ada"}
            token = (await client.post(f"{API}/accounts", json=person)).json()["token"]
            headers = {"authorization": f"Bearer {token}"}
            family = (await client.post(f"{API}/families", json={"name": "L"}, headers=headers)).json()["familyId"]
            proxy.policy = without(proxy.policy, action)
            for _ in range(2):
                new = {"name": "Milk"}
                path = f"{API}/families/{family}"
                answers = [
                    await client.post(f"{path}/inventory", json=new, headers=headers),
                    await client.patch(path, json={"name": "M", "version": 1}, headers=headers),
                    await client.post(f"{API}/sessions", json={**person, "password": "wrong horse"}),
                ]
                assert 503 in [answer.status_code for answer in answers]
                assert 500 not in [answer.status_code for answer in answers]
    said = [record.getMessage() for record in caplog.records if "AWS credentials" in record.getMessage()]
    assert said
    assert len(said) == len(set(said))
    assert all(f"does not allow {action} on arn:aws:dynamodb:" in line for line in said)


async def test_a_table_that_is_missing_and_may_not_be_created_is_named_with_the_command(tmp_path: Path) -> None:
    async with await Database.open() as database, serving(database, shared=True) as port:
        await Store(database, system_clock).create_tables(*suite_tables())
        proxy = GuardingProxy(f"http://127.0.0.1:{port}", allowing(["web"]))
        async with proxy.listening() as endpoint:
            await database.call("DeleteTable", {"TableName": "RollModel"})
            with pytest.raises(AccessDenied, match=r"there is no table RollModel, .* run `potluck tables create`"):
                async with suite_at(endpoint, tmp_path):
                    pass
            # With the operator's permissions it is created.
            proxy.policy = allowing(["operator"])
            engine = await open_engine("aws", region=REGION, endpoint=endpoint)
            try:
                assert await Store(engine, system_clock).create_tables(*suite_tables())
                assert not await Store(engine, system_clock).create_tables(*suite_tables())
            finally:
                await engine.close()
            proxy.policy = allowing(["web"])
            async with suite_at(endpoint, tmp_path, background="elsewhere"):
                pass
    assert {action for action, _ in proxy.denied} == {"dynamodb:CreateTable"}


async def test_moving_needs_what_its_policy_allows_and_nothing_more(tmp_path: Path) -> None:
    tables = MovedTables(suite_tables())
    async with dynamodb(EMBEDDED, tmp_path) as there:
        allowed = allowing(["moving"])
        proxy = GuardingProxy(there["endpoint"], allowed)
        async with proxy.listening() as endpoint:
            engine = await open_engine("aws", region=REGION, endpoint=endpoint)
            outside = await open_engine("aws", region=REGION, endpoint=there["endpoint"])
            try:
                store = Store(outside, system_clock)
                await store.put(SecretCheck(check="0" * 64))
                stream = {**WorkTable().key("CONSUMER#c", "STREAM"), "StreamArn": {"S": "arn"}}
                await outside.call("PutItem", {"TableName": WorkTable().table, "Item": stream})
                await exported(engine, tmp_path / "out", tables)
                for table in suite_tables():
                    await outside.call("DeleteTable", {"TableName": table.name})
                await imported(engine, tmp_path / "out", tables)
                assert await store.get(SecretCheck.of_store()) is not None
            finally:
                await engine.close()
                await outside.close()
    assert proxy.denied == []
    allowed_actions = {action for statement in allowed["Statement"] for action in statement["Action"]}
    assert actions_of(proxy.used) == allowed_actions


def test_no_policy_allows_everything() -> None:
    for role in ROLES:
        allowed = allowing([role], "mine-")
        for statement in allowed["Statement"]:
            assert all(action.startswith("dynamodb:") and "*" not in action for action in statement["Action"])
            assert all(":table/mine-" in resource for resource in statement["Resource"])
        assert len(str(allowed)) < 10_000  # characters, the limit of a role's policy is 10,240


async def test_verifying_describes_tables_and_does_nothing_else(tmp_path: Path) -> None:
    described = {
        "Statement": [{"Action": [f"dynamodb:{action}" for action in DESCRIBE], "Resource": ["arn:aws:dynamodb:*"]}]
    }
    async with dynamodb(EMBEDDED, tmp_path) as there:
        proxy = GuardingProxy(there["endpoint"], described)
        async with proxy.listening() as endpoint:
            engine = await open_engine("aws", region=REGION, endpoint=endpoint)
            try:
                assert await differences(engine, suite_tables()) == []
            finally:
                await engine.close()
    assert proxy.denied == []
