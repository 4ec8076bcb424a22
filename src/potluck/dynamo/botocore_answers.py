"""A database's answers in the form that botocore's event `before-call` takes instead of sending a request.

What a client's caller gets equals what botocore's own parser makes of the response over HTTP.
"""

import itertools
import secrets
from base64 import b64decode
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from potluck.dynamo.database import Database
from potluck.dynamo.error_bodies import error_body, status_of
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.namespaces import DEFAULT, Namespace
from potluck.dynamo.parameters import check_whole
from potluck.dynamo.sync import SyncDatabase
from potluck.extras import needs_extra

with needs_extra("testing"):
    from botocore.credentials import Credentials, RefreshableCredentials  # type: ignore[import-untyped]
    from botocore.model import OperationModel, Shape  # type: ignore[import-untyped]
    from botocore.parsers import create_parser  # type: ignore[import-untyped]
    from botocore.utils import parse_timestamp  # type: ignore[import-untyped]

CONTENT_TYPE = "application/x-amz-json-1.0"
ACCOUNT_DIGITS = 12
PLAIN = frozenset({"S", "N", "SS", "NS", "BOOL", "NULL"})

Read = Callable[[Any], Any]

decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode
parser = create_parser("json")
_beginning = secrets.token_hex(20).upper()
_numbers = itertools.count()


class InProcessResponse(NamedTuple):
    """What handlers of `after-call` get where there was no HTTP."""

    status_code: int
    headers: dict[str, str]
    content: bytes = b""


Answer = tuple[InProcessResponse, dict[str, Any]]


def answer(
    store: SyncDatabase | Database, params: dict[str, Any], model: OperationModel, context: dict[str, Any], signer: Any
) -> Answer | Awaitable[Answer]:
    """The store's response to a request that botocore has validated and serialized; a `Database`'s is awaited."""
    account, region = namespace_of(context, signer)
    try:
        request = request_of(params["body"], model.name)
        if isinstance(store, Database):
            return _awaited(store, Namespace(account, region), model, request)
        response = store.call(model.name, request, account=account, region=region)
    except DynamoError as error:
        return refused(error, model)
    return answered(response, model)


def request_of(body: bytes, operation: str) -> dict[str, Any]:
    try:
        request = decode(body)
    except (ValueError, RecursionError):  # a handler has replaced what botocore wrote
        raise DynamoError("SerializationException", "") from None
    if type(request) is not dict:
        check_whole(operation, request)
    return request  # type: ignore[no-any-return]


async def _awaited(store: Database, namespace: Namespace, model: OperationModel, request: dict[str, Any]) -> Answer:
    try:
        response = await store.within(namespace).call(model.name, request)
    except DynamoError as error:
        return refused(error, model)
    return answered(response, model)


def namespace_of(context: dict[str, Any], signer: Any) -> Namespace:
    """The region of the client, and its access key as the account if that has 12 digits."""
    # Private, and therefore optional. Credentials that are renewed are left alone: looking at them may renew them.
    credentials = getattr(signer, "_credentials", None)
    account = DEFAULT.account
    if isinstance(credentials, Credentials) and not isinstance(credentials, RefreshableCredentials):
        key = credentials.access_key
        if len(key) == ACCOUNT_DIGITS and key.isdecimal():
            account = key
    return Namespace(account, context.get("client_region") or DEFAULT.region)


def answered(response: dict[str, Any], model: OperationModel) -> Answer:
    shape = model.output_shape
    read = None if shape is None else reader_of(shape)
    parsed = {} if read is None else read(response)
    headers = new_headers()
    parsed["ResponseMetadata"] = {
        "RequestId": headers["x-amzn-requestid"],
        "HTTPStatusCode": 200,
        "HTTPHeaders": headers,
        "RetryAttempts": 0,
    }
    return InProcessResponse(200, headers), parsed


def refused(error: DynamoError, model: OperationModel) -> Answer:
    """The error as botocore parses it, which is rare enough to take the long way."""
    status = status_of(error)
    headers = new_headers()
    body = encode(error_body(error))
    response = {"status_code": status, "headers": headers, "body": body}
    parsed: dict[str, Any] = parser.parse(response, model.output_shape)
    shape = model.service_model.shape_for_error_code(parsed["Error"]["Code"])
    if shape is not None:
        parsed.update(parser.parse(response, shape))
    parsed["ResponseMetadata"]["RetryAttempts"] = 0
    return InProcessResponse(status, headers, body), parsed


def new_headers() -> dict[str, str]:
    return {"x-amzn-requestid": f"{_beginning}{next(_numbers):012d}", "content-type": CONTENT_TYPE}


# --- responses as botocore parses them -------------------------------------------------------------------------------


@lru_cache(256)
def reader_of(shape: Shape) -> Read:
    """A function that makes bytes and times of what a response with this shape has as text and numbers."""
    return _reader(shape, {}) or _copied


def _copied(value: dict[str, Any]) -> dict[str, Any]:
    return dict(value)


def _reader(shape: Shape, known: dict[str, Read]) -> Read | None:
    """None if the values of this shape stay as they are."""
    kind = shape.type_name
    if shape.name == "AttributeValue":
        return read_value
    if kind == "structure":
        return _structure(shape, known)
    if kind == "list":
        member = _reader(shape.member, known)
        return None if member is None else lambda values: [member(value) for value in values]
    if kind == "map":
        if shape.value.name == "AttributeValue":
            return read_item
        entry = _reader(shape.value, known)
        return None if entry is None else lambda values: {name: entry(value) for name, value in values.items()}
    if kind == "blob":
        return b64decode
    if kind == "timestamp":
        return parse_timestamp  # type: ignore[no-any-return]
    return None


def _structure(shape: Shape, known: dict[str, Read]) -> Read:
    if shape.name in known:
        return known[shape.name]
    readers: dict[str, Read | None] = {}

    def read(value: dict[str, Any]) -> dict[str, Any]:
        parsed = {}
        for name, part in value.items():
            # Like botocore, leave out what its model does not know.
            if name in readers and part is not None:
                reader = readers[name]
                parsed[name] = part if reader is None else reader(part)
        return parsed

    known[shape.name] = read
    readers |= {name: _reader(member, known) for name, member in shape.members.items()}
    return read


def read_item(item: dict[str, Any]) -> dict[str, Any]:
    return {name: read_value(value) for name, value in item.items()}


def read_value(value: dict[str, Any]) -> dict[str, Any]:
    """An attribute value with its binary parts as bytes."""
    ((kind, content),) = value.items()
    if kind in PLAIN:
        return value
    if kind == "M":
        return {kind: read_item(content)}
    if kind == "L":
        return {kind: [read_value(part) for part in content]}
    return {kind: b64decode(content) if kind == "B" else [b64decode(part) for part in content]}
