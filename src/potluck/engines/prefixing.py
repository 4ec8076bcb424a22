"""Table names with a prefix, so that several installations can share one account.

The prefix is added to every table name in a request and removed from every table name in an answer. ARNs and error
messages keep the real names, which operators look for.
"""

from collections.abc import Callable
from typing import Any

from potluck.engines import Engine

Rename = Callable[[str], str]

DEFAULT_LIST_LIMIT = 100


class Prefixing:
    """An engine whose table names all begin with a prefix that the caller does not see."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        self.engine = engine
        self.prefix = prefix

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "ListTables":
            return await self._list_tables(request)
        answer = await self.engine.call(operation, renamed_request(request, self._outward))
        if operation == "ListStreams" and "Streams" in answer:
            ours = [stream for stream in answer["Streams"] if stream["TableName"].startswith(self.prefix)]
            answer = {
                **answer,
                "Streams": [{**stream, "TableName": self._inward(stream["TableName"])} for stream in ours],
            }
        return renamed_answer(answer, self._inward)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(self._outward(table), timeout)

    async def close(self) -> None:
        await self.engine.close()

    def _outward(self, name: str) -> str:
        # An ARN already identifies one particular table.
        return name if name.startswith("arn:") else self.prefix + name

    def _inward(self, name: str) -> str:
        return name.removeprefix(self.prefix)

    async def _list_tables(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only the tables with our prefix; every page but the last is full, whatever other tables the account has."""
        onward = renamed_request(request, self._outward)
        limit = request.get("Limit", DEFAULT_LIST_LIMIT)
        names: list[str] = []
        while True:
            answer = await self.engine.call("ListTables", onward)
            names += [self._inward(name) for name in answer["TableNames"] if name.startswith(self.prefix)]
            last = answer.get("LastEvaluatedTableName")
            if len(names) > limit or (len(names) == limit and last is not None):
                return {**answer, "TableNames": names[:limit], "LastEvaluatedTableName": names[limit - 1]}
            if last is None:
                return {**answer, "TableNames": names}
            onward = {**onward, "ExclusiveStartTableName": last}


def renamed_request(request: dict[str, Any], rename: Rename) -> dict[str, Any]:
    """A copy of the request with every table name in it renamed."""
    renamed = dict(request)
    for parameter in ("TableName", "ExclusiveStartTableName"):
        if isinstance(request.get(parameter), str):
            renamed[parameter] = rename(request[parameter])
    if isinstance(request.get("RequestItems"), dict):
        renamed["RequestItems"] = {rename(table): what for table, what in request["RequestItems"].items()}
    if isinstance(request.get("TransactItems"), list):
        renamed["TransactItems"] = [
            {kind: _with_table_renamed(action, rename) for kind, action in actions.items()}
            for actions in request["TransactItems"]
        ]
    return renamed


def renamed_answer(answer: dict[str, Any], rename: Rename) -> dict[str, Any]:
    """The answer with every table name in it renamed."""
    renamed = dict(answer)
    for part in ("Table", "TableDescription", "StreamDescription"):
        if part in renamed:
            renamed[part] = _with_table_renamed(renamed[part], rename)
    consumed = renamed.get("ConsumedCapacity")
    if isinstance(consumed, list):
        renamed["ConsumedCapacity"] = [_with_table_renamed(capacity, rename) for capacity in consumed]
    elif consumed is not None:
        renamed["ConsumedCapacity"] = _with_table_renamed(consumed, rename)
    for part in ("UnprocessedItems", "UnprocessedKeys", "Responses"):
        # The Responses of a transaction are a list without table names.
        if isinstance(renamed.get(part), dict):
            renamed[part] = {rename(table): what for table, what in renamed[part].items()}
    metrics = renamed.get("ItemCollectionMetrics")
    # For a single write these are the metrics of one item collection, for several writes they are lists by table.
    if metrics and all(isinstance(metric, list) for metric in metrics.values()):
        renamed["ItemCollectionMetrics"] = {rename(table): what for table, what in metrics.items()}
    return renamed


def _with_table_renamed(part: dict[str, Any], rename: Rename) -> dict[str, Any]:
    return {**part, "TableName": rename(part["TableName"])} if isinstance(part.get("TableName"), str) else part
