"""What seed files contain."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]


class SeedError(Exception):
    """A seed cannot be used; the message names the file and says what is wrong."""


class SeedTable(NamedTuple):
    """A table, and the requests that create it; CreateTable is the first."""

    file: Path
    name: str
    requests: list[tuple[str, Json]]


class SeedItems(NamedTuple):
    """Items of one table, in DynamoDB's JSON."""

    file: Path
    table: str
    items: Iterable[Json]


Contents = list[SeedTable | SeedItems]


def created(file: Path, create: Json) -> SeedTable:
    """The table of a CreateTable request; without any capacity it is on demand."""
    if "ProvisionedThroughput" not in create:
        create = {"BillingMode": "PAY_PER_REQUEST", **create}
    return SeedTable(file, create["TableName"], [("CreateTable", create)])
