"""What a test's tables are made from: a CreateTable request, a `Table`, or a template of CloudFormation or SAM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from potluck.dynamo.cloudformation import tables_of_template

if TYPE_CHECKING:
    from potluck.table import Table

    TableSource: TypeAlias = Mapping[str, Any] | Table | str | os.PathLike[str]


SETTINGS = {"UpdateTimeToLive": "update_time_to_live", "UpdateContinuousBackups": "update_continuous_backups"}


class Creation(NamedTuple):
    """How a table is made: the request, and what is set afterwards, by boto3's name for the operation."""

    request: dict[str, Any]
    settings: list[tuple[str, dict[str, Any]]]


def creation_of(source: TableSource, resource: str | None = None) -> Creation:
    """How the table is made; of a template with several, `resource` names one by its logical id."""
    if isinstance(source, Mapping):
        return _creation([("CreateTable", {"BillingMode": "PAY_PER_REQUEST", **source})])
    if isinstance(source, str | os.PathLike):
        tables = tables_of_template(Path(source))
        return _creation(tables[_chosen(list(tables), resource, source)])
    return _creation([(request.operation, request.body) for request in source.creation()])


def _chosen(names: list[str], resource: str | None, source: str | os.PathLike[str]) -> str:
    if resource in names:
        return str(resource)
    listed = ", ".join(names) or "none"
    if resource is not None:
        raise LookupError(f"{os.fspath(source)} has no table {resource}; it has: {listed}")
    if len(names) != 1:
        raise LookupError(f"choose a table of {os.fspath(source)} with resource=…; it has: {listed}")
    return names[0]


def _creation(requests: list[tuple[str, dict[str, Any]]]) -> Creation:
    (_, create), *others = requests
    if create.get("ProvisionedThroughput") and create.get("BillingMode") == "PAY_PER_REQUEST":
        create = {name: value for name, value in create.items() if name != "BillingMode"}
    settings = [
        (SETTINGS[operation], {name: value for name, value in request.items() if name != "TableName"})
        for operation, request in others
    ]
    return Creation(create, settings)
