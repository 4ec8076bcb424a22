"""Scan."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.keys import partition_range
from potluck.dynamo.pages import ItemPage
from potluck.dynamo.reads import Selection, check_start, check_start_of_table, start_of
from potluck.dynamo.tables import KEY_MISMATCH

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def scan(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    selection = Selection(request, "ScanFilter")
    segment, segments = checked_segment(request)
    selection.read_expressions()
    table = database.table(request["TableName"], request.get("IndexName"))
    index = selection.index(table)
    start = start_of(request, table, index, "" if index else f": {KEY_MISMATCH}")
    if start is not None and index is not None:
        check_start(start, index.key_names, table)
    selection.check_shown(index)
    low, high = partition_range(segment, segments)
    if start is not None:
        check_start_of_table(start, table, index)
        check_segment(ItemPage(table, index, low, high).place(start), segment, segments)
    selection.bind(table, index)
    page = ItemPage(table, index, low, high, limit=request.get("Limit"), **selection.page_options())
    if start is not None:
        page.start_after(start)
    await page.read(database)
    return page.answer(request, request.get("ConsistentRead", False))


def check_segment(place: bytes, segment: int, segments: int) -> None:
    """Refuse a start key that belongs to another segment."""
    low, high = partition_range(segment, segments)
    if place < low or (high is not None and place >= high):
        invalid(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. "
            "Please use ExclusiveStartKey with correct Segment. "
            f"TotalSegments: {segments} Segment: {segment}"
        )


def checked_segment(request: dict[str, Any]) -> tuple[int, int]:
    segment, segments = request.get("Segment"), request.get("TotalSegments")
    if segments is None:
        if segment is not None:
            invalid(
                "The TotalSegments parameter is required but was not present in the request when Segment parameter "
                "is present"
            )
        return 0, 1
    if segment is None:
        invalid(
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
            "present"
        )
    if segment >= segments:
        invalid(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {segments}"
        )
    return segment, segments
