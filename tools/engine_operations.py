"""Write the table of what the engine answers into docs/engine.md: `python tools/engine_operations.py`.

Its rows are the operations of boto3's models of the service, and what the engine's own lists say about each.
"""

from pathlib import Path

import botocore.session

from potluck.dynamo.actions import ACTIONS
from potluck.dynamo.error_bodies import status_of
from potluck.dynamo.parameters import (
    OPERATIONS_NOT_OFFERED,
    OPERATIONS_WITHOUT_EFFECT,
    PARAMETERS_NOT_OFFERED,
    unknown_operation,
)

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "engine.md"
SERVICES = {"dynamodb": "DynamoDB", "dynamodbstreams": "DynamoDB Streams"}
BEGIN, END = "<!-- operations -->\n", "<!-- /operations -->\n"


def table() -> str:
    """A section for each service, with a row for each of its operations."""
    session = botocore.session.get_session()
    sections = []
    for service, title in SERVICES.items():
        names = sorted(session.get_service_model(service).operation_names)
        rows = [f"| {name} | {said_of(name)} |" for name in names]
        sections.append("\n".join([f"| {title} | |", "|---|---|", *rows]))
    return "\n\n".join(sections)


def said_of(operation: str) -> str:
    """Whether the engine answers this operation, and how."""
    if operation in OPERATIONS_NOT_OFFERED:
        refusal = unknown_operation(operation)
        return f"refused: `{refusal.code}`, status {status_of(refusal)}"
    if operation not in ACTIONS:
        raise LookupError(f"the engine has neither an action for {operation} nor a refusal")
    if operation in OPERATIONS_WITHOUT_EFFECT:
        return f"described, without effect: {OPERATIONS_WITHOUT_EFFECT[operation]}"
    if operation in PARAMETERS_NOT_OFFERED:
        names = [f"`{name}`" for name in PARAMETERS_NOT_OFFERED[operation]]
        return f"answered, except {', '.join(names[:-1])} and {names[-1]}: `ValidationException`, status 400"
    return "answered"


def with_table(document: str) -> str:
    """The document, with the table between its marks as it should be."""
    before, _, rest = document.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise LookupError(f"no {BEGIN.strip()} and {END.strip()}")
    return f"{before}{BEGIN}{table()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text()))
