"""Statements of PartiQL, sent to a target."""

from typing import Any

from tests.conformance.targets import Target

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: {}"
NO_FULL_KEY = "Where clause does not contain a mandatory equality on all key attributes"


def asked(statement: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request, or an element of a batch or transaction."""
    return {"Statement": statement, **({"Parameters": list(parameters)} if parameters else {}), **more}


async def execute(dynamo: Target, statement: str, *parameters: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The items of one statement that has no further page."""
    answer = await dynamo.call("ExecuteStatement", asked(statement, *parameters, **more))
    assert "NextToken" not in answer
    items = answer["Items"]
    assert isinstance(items, list)
    return items
