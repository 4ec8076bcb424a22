"""Scans: all rows of a table, page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from potluck.engines.recording import access_pattern
from potluck.table.tables import Request


class ScannedPage(NamedTuple):
    """The rows of one page, as they are stored, and where the next page begins; None at the end."""

    rows: list[dict[str, Any]]
    position: dict[str, Any] | None


def whole_table(
    send: Callable[[Request], Awaitable[Mapping[str, Any]]],
    pattern: str,
    table: str,
    after: Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
) -> AsyncIterator[ScannedPage]:
    """All rows of a table, of whatever kind; for work on the table itself, since no access pattern declares this."""
    body: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    return scanned_pages(send, pattern, Request("Scan", body if limit is None else {**body, "Limit": limit}), after)


async def scanned_pages(
    send: Callable[[Request], Awaitable[Mapping[str, Any]]],
    pattern: str,
    request: Request,
    after: Mapping[str, Any] | None = None,
) -> AsyncIterator[ScannedPage]:
    """The pages of a Scan after a position; `pattern` is its name in recordings."""
    position = None if after is None else dict(after)
    while True:
        start = {} if position is None else {"ExclusiveStartKey": position}
        with access_pattern(pattern):
            answer = await send(Request(request.operation, {**request.body, **start}))
        position = answer.get("LastEvaluatedKey")
        yield ScannedPage(answer["Items"], position)
        if position is None:
            return
