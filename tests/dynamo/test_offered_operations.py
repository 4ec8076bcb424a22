"""What is offered is what docs/engine.md says, and what is not is refused as SDKs expect."""

import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import botocore.session
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from potluck.dynamo.actions import ACTIONS
from potluck.dynamo.database import Database
from potluck.dynamo.mocking import mocked
from potluck.dynamo.parameters import (
    OPERATIONS,
    OPERATIONS_NOT_OFFERED,
    OPERATIONS_WITHOUT_EFFECT,
    STREAM_OPERATIONS,
)
from potluck.dynamo.server import serving
from potluck.dynamo.sync import LoopThread

ROOT = Path(__file__).parent.parent.parent
TOOL = "tools/engine_operations.py"
SDK = botocore.session.get_session()


@pytest.fixture
def tool() -> ModuleType:
    spec = spec_from_file_location("engine_operations", ROOT / TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_in_the_documentation_is_up_to_date(tool):
    document = (ROOT / "docs" / "engine.md").read_text()
    assert document == tool.with_table(document), f"run: .venv/bin/python {TOOL}"


def test_the_table_has_every_operation_once_and_says_how_it_is_answered(tool):
    rows = dict(re.findall(r"^\| (\w+) \| (.+) \|$", tool.table(), re.M))
    assert len(rows) == sum(len(SDK.get_service_model(service).operation_names) for service in tool.SERVICES)
    assert rows["PutItem"] == rows["GetRecords"] == "answered"
    assert rows["CreateBackup"] == "refused: `UnknownOperationException`, status 400"
    assert rows["UpdateContinuousBackups"].startswith("described, without effect: ")
    assert "`ReplicaUpdates`" in rows["UpdateTable"]


def test_an_operation_that_is_on_no_list_is_an_error(tool):
    with pytest.raises(LookupError, match="neither an action for MakeCoffee nor a refusal"):
        tool.said_of("MakeCoffee")


def test_marks_that_are_missing_are_an_error(tool):
    with pytest.raises(LookupError, match="no <!-- operations -->"):
        tool.with_table("# A document\n")


def test_the_lists_agree():
    assert ACTIONS.keys() == OPERATIONS.keys() | STREAM_OPERATIONS.keys()
    assert OPERATIONS_WITHOUT_EFFECT.keys() <= ACTIONS.keys()
    assert not ACTIONS.keys() & set(OPERATIONS_NOT_OFFERED)


def smallest(shape: Any) -> Any:
    """A value that boto3 sends: only what is required, and of the least length."""
    least = shape.metadata.get("min", 1)
    match shape.type_name:
        case "structure":
            return {name: smallest(shape.members[name]) for name in shape.required_members}
        case "list":
            return [smallest(shape.member)] * least
        case "map":
            return {}
        case "string":
            return shape.metadata["enum"][0] if "enum" in shape.metadata else "x" * max(3, least)
        case "boolean":
            return True
        case "timestamp":
            return datetime(2030, 1, 1, tzinfo=UTC)
        case _:
            return least


async def entered(server: AbstractAsyncContextManager[int]) -> int:
    return await server.__aenter__()


async def left(server: AbstractAsyncContextManager[int]) -> None:
    await server.__aexit__(None, None, None)


@pytest.fixture(params=["over HTTP", "in process"], scope="module")
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """boto3's client as it is by default, with its retries."""
    if request.param == "in process":
        with mocked():
            yield boto3.client("dynamodb")
        return
    thread = LoopThread()
    database = thread.run(Database.open())
    server = serving(database)
    port = thread.run(entered(server))
    yield boto3.client(
        "dynamodb",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    thread.run(left(server))
    thread.run(database.close())
    thread.stop()


@pytest.mark.parametrize("operation", OPERATIONS_NOT_OFFERED)
def test_what_is_not_offered_is_refused_by_name_and_not_retried(client, operation):
    shape = SDK.get_service_model("dynamodb").operation_model(operation).input_shape
    with pytest.raises(ClientError) as refusal:
        getattr(client, xform_name(operation))(**smallest(shape))
    answer = refusal.value.response
    assert answer["Error"] == {
        "Code": "UnknownOperationException",
        "Message": f"{operation} is not an operation of this engine",
    }
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert answer["ResponseMetadata"].get("RetryAttempts", 0) == 0
