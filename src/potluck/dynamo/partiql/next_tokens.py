"""Where a SELECT goes on: the range that it was reading, and the key of the last item it looked at."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple

import msgspec

from potluck.dynamo.errors import invalid
from potluck.dynamo.storage.rows import pack
from potluck.dynamo.values import Item, Value

INVALID_TOKEN = "Invalid NextToken"


class NextToken(NamedTuple):
    statement: str
    """A digest of the statement and its parameters: a token only fits the statement that it was made for."""
    range: int
    key: Item | None
    """None to begin that range."""


def digest_of(text: str, parameters: list[Value]) -> str:
    return hashlib.sha256(pack([text, parameters])).hexdigest()[:16]


def written(token: NextToken) -> str:
    return urlsafe_b64encode(msgspec.json.encode(token)).decode()


def read(text: str, digest: str) -> NextToken:
    try:
        token: Any = msgspec.json.decode(urlsafe_b64decode(text), type=NextToken)
    except (ValueError, msgspec.MsgspecError):
        invalid(INVALID_TOKEN)
    if token.statement != digest or token.range < 0:
        invalid(INVALID_TOKEN)
    return token  # type: ignore[no-any-return]
