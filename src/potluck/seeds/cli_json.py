"""JSON as the AWS CLI reads and writes it: a CreateTable input, a batch of puts, and the items of a Scan or Query."""

from pathlib import Path
from typing import Any

from potluck.seeds.contents import Contents, Json, SeedError, SeedItems, created

ITEMS_SUFFIX = ".items.json"
"""Items are in a file named after their table, such as `Notes.items.json`."""


def read_create_table(file: Path, create: Json) -> Contents:
    return [created(file, create)]


def is_batch(document: Json) -> bool:
    """Whether these are the RequestItems of BatchWriteItem."""
    return bool(document) and all(
        isinstance(requests, list) and _are_writes(requests) for requests in document.values()
    )


def _are_writes(requests: list[Any]) -> bool:
    # Without any, it is {"Items": []}.
    return bool(requests) and all(
        isinstance(request, dict) and request.keys() <= {"PutRequest", "DeleteRequest"} for request in requests
    )


def read_batch(file: Path, batch: Json) -> Contents:
    return [SeedItems(file, table, _put(file, table, requests)) for table, requests in batch.items()]


def _put(file: Path, table: str, requests: list[Json]) -> list[Json]:
    items = []
    for number, request in enumerate(requests, 1):
        try:
            items.append(request["PutRequest"]["Item"])
        except (KeyError, TypeError):
            raise SeedError(f"{file}: request {number} for {table} is not a PutRequest with an Item") from None
    return items


def read_items(file: Path, answer: Json) -> Contents:
    if not file.name.endswith(ITEMS_SUFFIX):
        raise SeedError(f"{file} has items, but of which table? Name it after its table, such as Notes{ITEMS_SUFFIX}")
    if not isinstance(answer["Items"], list):
        raise SeedError(f"{file}: Items is not a list")
    return [SeedItems(file, file.name.removesuffix(ITEMS_SUFFIX), answer["Items"])]
