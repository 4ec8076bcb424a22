"""TagResource."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.limits import TAGS
from potluck.dynamo.namespaces import Namespace
from potluck.dynamo.parameters import table_name_of
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

TABLE = re.compile(r"arn:aws[a-z-]*:dynamodb:[^:]+:[0-9]+:table/[a-zA-Z0-9_.-]{3,255}")

PUNCTUATION = frozenset("_.:/=+-@")
LETTERS_SPACES_NUMBERS = ("L", "Z", "N")
RESERVED = "aws:"

NOT_FOUND = "Requested resource not found"
NAMED_NOT_FOUND = NOT_FOUND + ": ResourcArn: {} not found"


async def tag_resource(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    arn = table_arn(request, "Tags")
    if not request["Tags"]:
        invalid("Atleast one Tag needs to be provided as Input.")
    added = checked_tags(request["Tags"])
    await change_tags(database, arn, lambda tags: {**tags, **added})
    return {}


def checked_tags(tags: list[dict[str, str]]) -> dict[str, str]:
    """The tags of a request by key, or the service's error."""
    checked: dict[str, str] = {}
    for tag in tags:
        key, value = tag["Key"], tag["Value"]
        if key in checked:
            invalid(f"One or more parameter values were invalid: Duplicate tag key: {key}")
        if key.lower().startswith(RESERVED):
            invalid(f"One or more parameter values were invalid: Tag keys starting with '{RESERVED}' are reserved")
        for part, text in (("key", key), ("value", value)):
            if not all(map(allowed, text)):
                invalid(f"One or more parameter values were invalid: The tag {part} '{text}' has invalid characters")
        checked[key] = value
    check_count(checked)
    return checked


def allowed(character: str) -> bool:
    return character in PUNCTUATION or unicodedata.category(character)[0] in LETTERS_SPACES_NUMBERS


def check_count(tags: Mapping[str, str]) -> None:
    if len(tags) > TAGS:
        invalid(f"One or more parameter values were invalid: Too many tags: a resource can have at most {TAGS}")


async def change_tags(
    database: "Database",
    arn: str,
    change: Callable[[dict[str, str]], dict[str, str]],
    refusal: str = NAMED_NOT_FOUND,
) -> None:
    """Change a table's tags, starting from what they are when the write runs."""

    def work(rows: Rows) -> None:
        table = tagged(rows, database.namespace, arn, refusal)
        tags = change(table.definition.tags)
        check_count(tags)
        if tags != table.definition.tags:
            rows.catalog.save(rows.connection, Table(msgspec.structs.replace(table.definition, tags=tags)))

    await database.write(work)


def table_arn(request: dict[str, Any], *demanded: str) -> str:
    """The table ARN in a request about tags, checked in the service's order."""
    arn: str | None = request.get("ResourceArn")
    if arn is None:
        invalid("Invalid TableArn")
    for name in demanded:
        if name not in request:
            place = name[0].lower() + name[1:]
            invalid(
                f"1 validation error detected: Value null at '{place}' failed to satisfy constraint: "
                "Member must not be null"
            )
    if not TABLE.fullmatch(arn):
        invalid(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    return arn


def tagged(rows: Rows, namespace: Namespace, arn: str, refusal: str = NAMED_NOT_FOUND) -> Table:
    """The table of this namespace that an ARN names."""
    table = rows.catalog.tables.get(namespace.key(table_name_of(arn)))
    if table is None or table.arn != arn:
        raise DynamoError("ResourceNotFoundException", refusal.format(arn))
    return table
