"""Puts seeds into a store."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.namespaces import DEFAULT
from potluck.dynamo.sync import SyncDatabase
from potluck.moving.export_files import ExportDamaged
from potluck.seeds.contents import Contents, SeedError, SeedItems, SeedTable
from potluck.seeds.folder import read_folder

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Seeded(NamedTuple):
    """How many items each new table got, and the tables that were there already and were left alone."""

    items: dict[str, int]
    left_alone: list[str]


def seed(store: SyncDatabase, folder: str | os.PathLike[str], *, region: str = DEFAULT.region) -> Seeded:
    """Create the tables in a folder of seeds, and put their items; all of it, or nothing and a SeedError."""
    return seed_by_calls(lambda operation, request: store.call(operation, request, region=region), folder)


def seed_by_calls(call: Call, folder: str | os.PathLike[str]) -> Seeded:
    """The same, for whatever answers these calls."""
    contents = read_folder(Path(folder))
    tables = _tables(contents)
    items = [part for part in contents if isinstance(part, SeedItems)]
    existing = {name for name in {*tables, *(part.table for part in items)} if _exists(call, name)}
    for part in items:
        if part.table not in tables and part.table not in existing:
            raise SeedError(f"{part.file} has items of the table {part.table}, which no file creates")
    new = {name: table for name, table in tables.items() if name not in existing}
    begun: list[str] = []
    try:
        for table in new.values():
            _create(call, table, begun)
        counts = dict.fromkeys(new, 0)
        for part in items:
            if part.table in new:
                counts[part.table] += _put(call, part)
    except BaseException:
        # A table without all its items would be left alone by the next start.
        for name in begun:
            _delete(call, name)
        raise
    return Seeded(counts, sorted(existing))


def _tables(contents: Contents) -> dict[str, SeedTable]:
    tables: dict[str, SeedTable] = {}
    for part in contents:
        if isinstance(part, SeedTable):
            if not isinstance(part.name, str):
                raise SeedError(f"{part.file} has a table whose name is not a string")
            if part.name in tables:
                raise SeedError(f"{part.file} creates the table {part.name}, as {tables[part.name].file} does")
            tables[part.name] = part
    return tables


def _exists(call: Call, name: str) -> bool:
    try:
        call("DescribeTable", {"TableName": name})
    except DynamoError:
        # Not there, or no name for a table, which CreateTable then says.
        return False
    return True


def _create(call: Call, table: SeedTable, begun: list[str]) -> None:
    for operation, request in table.requests:
        try:
            call(operation, request)
        except DynamoError as error:
            raise SeedError(f"{table.file}: the table {table.name} cannot be created: {error.message}") from error
        if operation == "CreateTable":
            begun.append(table.name)


def _put(call: Call, part: SeedItems) -> int:
    number = 0
    try:
        for item in part.items:
            number += 1
            call("PutItem", {"TableName": part.table, "Item": item})
    except DynamoError as error:
        raise SeedError(f"{part.file}: item {number} of {part.table} cannot be put: {error.message}") from error
    except ExportDamaged as error:
        raise SeedError(str(error)) from error
    return number


def _delete(call: Call, name: str) -> None:
    if call("DescribeTable", {"TableName": name})["Table"].get("DeletionProtectionEnabled"):
        call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
    call("DeleteTable", {"TableName": name})
