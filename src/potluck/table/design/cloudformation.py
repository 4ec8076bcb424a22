"""Tables as an AWS CloudFormation template."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from potluck.table.tables import Table


def cloudformation(tables: Sequence[Table]) -> str:
    """A JSON template that creates these tables; deleting the stack keeps them and their data."""
    names = logical_names(tables)
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The tables {', '.join(table.name for table in tables)}",
        "Parameters": {
            "TablePrefix": {
                "Type": "String",
                "Default": "",
                "Description": "A prefix of every table's name, so that installations can share an account",
            }
        },
        "Resources": {name: resource(table) for table, name in names.items()},
        "Outputs": {
            f"{name}{part}": {"Value": {"Fn::GetAtt": [name, part]}}
            for table, name in names.items()
            for part in (("Arn", "StreamArn") if table.stream else ("Arn",))
        },
    }
    return json.dumps(template, indent=2) + "\n"


def resource(table: Table) -> dict[str, Any]:
    """One table as a CloudFormation resource: like Table.creation, with what protects its data."""
    create, *others = table.creation()
    properties = create.body | {
        "TableName": {"Fn::Sub": f"${{TablePrefix}}{table.name}"},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        # Tables are always encrypted; this takes the account's key, whose use CloudTrail records.
        "SSESpecification": {"SSEEnabled": True},
        "DeletionProtectionEnabled": True,
    }
    if table.stream:
        # In CloudFormation, the view type enables the stream.
        properties["StreamSpecification"] = {"StreamViewType": create.body["StreamSpecification"]["StreamViewType"]}
    for request in others:
        properties["TimeToLiveSpecification"] = request.body["TimeToLiveSpecification"]
    return {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties,
    }


def logical_names(tables: Sequence[Table]) -> dict[Table, str]:
    """A distinct name for each table, of letters and digits only, as CloudFormation requires."""
    names: dict[Table, str] = {}
    for table in tables:
        words = re.split("[^A-Za-z0-9]+", table.name)
        name = "".join(word[:1].upper() + word[1:] for word in words)
        while name in names.values():
            name += "Too"
        names[table] = name
    return names
