"""Which reader reads which file of a seed folder."""

import json
from pathlib import Path
from typing import Any

from potluck.dynamo.cloudformation import TemplateError, tables_of_template
from potluck.seeds.cli_json import is_batch, read_batch, read_create_table, read_items
from potluck.seeds.contents import Contents, SeedError, SeedTable
from potluck.seeds.s3_exports import MANIFESTS, read_exports
from potluck.seeds.workbench import read_model

YAML = (".yaml", ".yml")
FORMS = (
    "a CloudFormation or SAM template (Resources), a NoSQL Workbench model (DataModel), a CreateTable request "
    "(TableName, KeySchema), a batch of puts (PutRequest), or the output of a scan or query (Items)"
)


def read_folder(folder: Path) -> Contents:
    """What the files in the folder contain, in the order of their names, and then the exports in it or below."""
    if not folder.is_dir():
        raise SeedError(f"there is no folder {folder}")
    contents: Contents = []
    for file in sorted(folder.iterdir()):
        if file.suffix in YAML:
            contents += _read_template(file)
        elif file.suffix == ".json" and file.name not in MANIFESTS:
            contents += _read_json(file)
    contents += read_exports(folder)
    if not contents:
        raise SeedError(f"{folder} has no tables and no items")
    return contents


def _read_template(file: Path) -> Contents:
    try:
        tables = tables_of_template(file)
    except TemplateError as error:
        raise SeedError(str(error)) from error
    except UnicodeDecodeError as error:
        raise SeedError(f"{file} cannot be read: {error}") from error
    return [SeedTable(file, requests[0][1]["TableName"], requests) for requests in tables.values()]


def _read_json(file: Path) -> Contents:
    try:
        document: Any = json.loads(file.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SeedError(f"{file} cannot be read: {error}") from error
    if isinstance(document, dict):
        if isinstance(document.get("RequestItems"), dict):
            document = document["RequestItems"]
        if is_batch(document):
            return read_batch(file, document)
        if "Resources" in document:
            return _read_template(file)
        if isinstance(document.get("DataModel"), list):
            return read_model(file, document)
        if "TableName" in document and "KeySchema" in document:
            return read_create_table(file, document)
        if "Items" in document:
            return read_items(file, document)
    raise SeedError(f"{file} is none of these: {FORMS}")
