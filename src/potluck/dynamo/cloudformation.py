"""The tables of a CloudFormation or SAM template, as the requests that create them.

References are resolved as far as a template alone can: parameters by their defaults, other resources by their logical
ids. A table whose name cannot be resolved has its logical id as its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from potluck.extras import needs_extra

Requests = list[tuple[str, dict[str, Any]]]

STACK = {
    "AWS::StackName": "stack",
    "AWS::Region": "us-east-1",
    "AWS::AccountId": "000000000000",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
TAKEN_OVER = ("AttributeDefinitions", "KeySchema", "BillingMode", "LocalSecondaryIndexes", "DeletionProtectionEnabled")
PLACEHOLDER = re.compile(r"\$\{(!?)([^}]+)\}")
TYPES = {"String": "S", "Number": "N", "Binary": "B"}


class TemplateError(ValueError):
    """A template that cannot be read, or a table in it that cannot be made."""


def tables_of_template(path: Path) -> dict[str, Requests]:
    """The tables by logical id, each with the requests that create it."""
    template = _read(path)
    resources = template.get("Resources")
    if not isinstance(resources, dict):
        raise TemplateError(f"{path} is no template: it has no Resources")
    resolver = _Resolver(template)
    tables: dict[str, Requests] = {}
    for name, resource in resources.items():
        read = READERS.get(resource.get("Type")) if isinstance(resource, dict) else None
        if read is not None:
            properties = resolver.resolved(resource.get("Properties") or {})
            try:
                tables[name] = read(name, properties)
            except (KeyError, TypeError, AttributeError) as error:
                raise TemplateError(f"{path}: the table {name} cannot be read: {error!r}") from error
    return tables


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    try:
        template = json.loads(text) if path.suffix == ".json" else _read_yaml(text)
    except ValueError as error:
        raise TemplateError(f"{path} cannot be read: {error}") from error
    if not isinstance(template, dict):
        raise TemplateError(f"{path} is no template")
    return template


def _read_yaml(text: str) -> Any:
    with needs_extra("testing"):
        import yaml  # type: ignore[import-untyped]

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Reads `!Ref x` as {"Ref": x}, and `!Sub x` as {"Fn::Sub": x}."""

    def tagged(loader: Any, suffix: str, node: Any) -> dict[str, Any]:
        construct = {
            yaml.ScalarNode: loader.construct_scalar,
            yaml.SequenceNode: lambda of: loader.construct_sequence(of, deep=True),
            yaml.MappingNode: lambda of: loader.construct_mapping(of, deep=True),
        }[type(node)]
        value = construct(node)
        if suffix == "GetAtt" and isinstance(value, str):
            value = value.split(".")
        return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}

    Loader.add_multi_constructor("!", tagged)
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


class _Unresolved:
    """A value that only a deployment knows."""


UNRESOLVED = _Unresolved()


class _Resolver:
    """Replaces the functions of a template by their values."""

    def __init__(self, template: dict[str, Any]) -> None:
        parameters = template.get("Parameters") or {}
        self.values: dict[str, Any] = {
            **STACK,
            **{name: parameter["Default"] for name, parameter in parameters.items() if "Default" in parameter},
        }
        self.resources = template.get("Resources") or {}
        self.mappings = template.get("Mappings") or {}

    def resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            parts = [self.resolved(part) for part in value]
            return [part for part in parts if part is not UNRESOLVED]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name == "Ref" or name.startswith("Fn::"):
                function = FUNCTIONS.get(name)
                return UNRESOLVED if function is None else function(self, argument)
        members = {name: self.resolved(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not UNRESOLVED}

    def reference(self, name: Any) -> Any:
        if name in self.values:
            return self.values[name]
        return name if name in self.resources else UNRESOLVED

    def substituted(self, argument: Any) -> Any:
        text, own = (argument, {}) if isinstance(argument, str) else (argument[0], self.resolved(argument[1]))
        missing = False

        def value(match: re.Match[str]) -> str:
            nonlocal missing
            if match[1]:
                return f"${{{match[2]}}}"
            found = own.get(match[2], self.reference(match[2].partition(".")[0]))
            missing = missing or found is UNRESOLVED
            return str(found)

        result = PLACEHOLDER.sub(value, text)
        return UNRESOLVED if missing else result

    def joined(self, argument: Any) -> Any:
        separator, parts = argument
        values = [self.resolved(part) for part in parts]
        return UNRESOLVED if UNRESOLVED in values else separator.join(map(str, values))

    def mapped(self, argument: Any) -> Any:
        value: Any = self.mappings
        for key in argument:
            value = value.get(self.resolved(key), UNRESOLVED) if isinstance(value, dict) else UNRESOLVED
        return value

    def chosen(self, argument: Any) -> Any:
        # Which conditions hold depends on the deployment; the first branch that is known has to do.
        branches = [self.resolved(branch) for branch in argument[1:]]
        return next((branch for branch in branches if branch is not UNRESOLVED), UNRESOLVED)


FUNCTIONS: dict[str, Callable[[_Resolver, Any], Any]] = {
    "Ref": _Resolver.reference,
    "Fn::Sub": _Resolver.substituted,
    "Fn::Join": _Resolver.joined,
    "Fn::FindInMap": _Resolver.mapped,
    "Fn::If": _Resolver.chosen,
}


def _table(name: str, properties: dict[str, Any]) -> Requests:
    create: dict[str, Any] = {"TableName": properties.get("TableName", name)}
    create |= {key: properties[key] for key in TAKEN_OVER if key in properties}
    if "GlobalSecondaryIndexes" in properties:
        create["GlobalSecondaryIndexes"] = [_index(index) for index in properties["GlobalSecondaryIndexes"]]
    if create.get("BillingMode") != "PAY_PER_REQUEST" and "ProvisionedThroughput" in properties:
        create["ProvisionedThroughput"] = _units(properties["ProvisionedThroughput"])
    elif "ProvisionedThroughput" not in properties:
        create["BillingMode"] = "PAY_PER_REQUEST"
    stream = properties.get("StreamSpecification")
    if stream:
        create["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream["StreamViewType"]}
    if "Tags" in properties:
        create["Tags"] = [{"Key": str(tag["Key"]), "Value": str(tag["Value"])} for tag in properties["Tags"]]
    requests: Requests = [("CreateTable", create)]
    expiry = properties.get("TimeToLiveSpecification")
    if expiry and _is_true(expiry.get("Enabled")):
        specification = {"Enabled": True, "AttributeName": expiry["AttributeName"]}
        request = {"TableName": create["TableName"], "TimeToLiveSpecification": specification}
        requests.append(("UpdateTimeToLive", request))
    return requests


def _index(index: dict[str, Any]) -> dict[str, Any]:
    taken = {key: index[key] for key in ("IndexName", "KeySchema", "Projection")}
    if "ProvisionedThroughput" in index:
        taken["ProvisionedThroughput"] = _units(index["ProvisionedThroughput"])
    return taken


def _units(throughput: dict[str, Any]) -> dict[str, int]:
    return {key: int(throughput[key]) for key in ("ReadCapacityUnits", "WriteCapacityUnits")}


def _is_true(value: Any) -> bool:
    return value is True or str(value).lower() == "true"


def _simple_table(name: str, properties: dict[str, Any]) -> Requests:
    """SAM's table with one key."""
    key = properties.get("PrimaryKey") or {"Name": "id", "Type": "String"}
    create = {
        "TableName": properties.get("TableName", name),
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": key["Name"], "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": key["Name"], "AttributeType": TYPES[key["Type"]]}],
    }
    return [("CreateTable", create)]


def _global_table(name: str, properties: dict[str, Any]) -> Requests:
    """A global table as the table that each of its replicas is; capacity is on demand."""
    stream = {"StreamSpecification": properties["StreamSpecification"]} if "StreamSpecification" in properties else {}
    kept = (*TAKEN_OVER, "TableName", "GlobalSecondaryIndexes", "TimeToLiveSpecification")
    return _table(name, {key: properties[key] for key in kept if key in properties} | stream)


READERS: dict[Any, Callable[[str, dict[str, Any]], Requests]] = {
    "AWS::DynamoDB::Table": _table,
    "AWS::DynamoDB::GlobalTable": _global_table,
    "AWS::Serverless::SimpleTable": _simple_table,
}
