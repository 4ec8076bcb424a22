"""The least-privilege IAM policy of each role: which calls it makes on which tables, indexes and streams.

The lists below are what the code calls. `tests/aws/test_permissions.py` runs the suite behind a proxy that denies
everything else, and fails for an action that is listed but never called.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from potluck.table.tables import Table

Statement = dict[str, Any]

# A process that starts looks whether its tables are complete.
DESCRIBE = ("DescribeTable", "DescribeTimeToLive")
# A transaction needs the permission of each of its actions.
ITEMS = ("BatchGetItem", "ConditionCheckItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem")
LOG = ("DescribeStream", "GetRecords", "GetShardIterator")
# And whether an import into them has not finished.
STARTING = ("GetItem",)
CREATE = ("CreateTable", "UpdateTable", "UpdateTimeToLive")


@dataclass(frozen=True, slots=True)
class Role:
    """What one kind of process does with DynamoDB."""

    does: str
    items: tuple[str, ...]
    """What it does with the items of tables that have a stream: those of people and apps."""
    work: tuple[str, ...]
    """What it does with the items of tables without one: leases and positions."""
    log: tuple[str, ...] = ()
    """How it reads streams."""
    scans: Callable[[Table], bool] = lambda table: False
    """Whether it reads this table as a whole."""
    tables: tuple[str, ...] = DESCRIBE


def _declares_scan(table: Table) -> bool:
    return any(pattern.operation == "Scan" for pattern in table.patterns)


ROLES = {
    "web": Role(
        "serves requests and live updates",
        items=(*ITEMS, "BatchWriteItem"),
        # How many processes read the streams, how far they have read, and which one reads for all.
        work=("DeleteItem", "GetItem", "Query", "UpdateItem"),
        log=LOG,
    ),
    "consumers": Role(
        "does the background work: what follows from changes, and what is done on a schedule",
        items=(*ITEMS, "BatchWriteItem"),
        work=("ConditionCheckItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        # A function's event source lists the streams of its table.
        log=(*LOG, "ListStreams"),
        scans=_declares_scan,
    ),
    "operator": Role(
        "creates tables and runs commands",
        items=(*ITEMS, "BatchWriteItem"),
        work=STARTING,
        scans=_declares_scan,
        tables=(*CREATE, *DESCRIBE),
    ),
    "moving": Role(
        "exports and imports all tables",
        items=("BatchWriteItem",),
        work=("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        scans=lambda table: True,
        tables=(*CREATE, *DESCRIBE),
    ),
}


@dataclass(frozen=True, slots=True)
class Resources:
    """How the resources of one installation are named."""

    region: str = "*"
    account: str = "*"
    prefix: str = ""
    partition: str = "aws"

    def of(self, table: Table, part: str = "") -> str:
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:table/{self.prefix}{table.name}{part}"


def policy(tables: Sequence[Table], roles: Sequence[str], resources: Resources) -> dict[str, Any]:
    """The policy of a process that has these roles."""
    statements: dict[str, Statement] = {}
    for role in roles:
        for name, actions, where in _permissions(tables, ROLES[role], resources):
            statement = statements.setdefault(
                name, {"Sid": name, "Effect": "Allow", "Action": [], "Resource": list(where)}
            )
            statement["Action"] = sorted({*statement["Action"], *(f"dynamodb:{action}" for action in actions)})
            statement["Resource"] = list(dict.fromkeys([*statement["Resource"], *where]))
    return {"Version": "2012-10-17", "Statement": list(statements.values())}


def _permissions(
    tables: Sequence[Table], role: Role, resources: Resources
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """The role's statements: a name, actions, and the resources that they are allowed on."""
    followed = [table for table in tables if table.stream]
    yield "Tables", role.tables, [resources.of(table) for table in tables]
    yield "Items", role.items, [resources.of(table) for table in followed]
    indexes = [resources.of(table, f"/index/{index}") for table in followed for index in table.indexes]
    if "Query" in role.items and indexes:
        yield "Indexes", ["Query"], indexes
    if role.work:
        yield "BackgroundWork", role.work, [resources.of(table) for table in tables if not table.stream]
    scanned = [resources.of(table) for table in tables if role.scans(table)]
    if scanned:
        yield "Scans", ["Scan"], scanned
    if role.log:
        yield "Streams", role.log, [resources.of(table, "/stream/*") for table in followed]
