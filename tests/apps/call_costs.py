"""What each call of an app costs, counted, and held against the table in the app's README.

costs = CallCosts(recording)
await costs.count("make a poll", authoring.create(NOBODY, settings))
costs.must_be_in(README)
"""

from collections.abc import Awaitable, Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import pytest

from potluck.engines.recording import Recording

__all__ = ["CallCosts"]

Answer = TypeVar("Answer")

MANY = 5
HEADING = "| call | requests | read units | write units |"


class CallCosts:
    """The rows of the table, one for each call that was counted."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.rows: list[str] = []

    async def count(self, what: str, call: Awaitable[Answer]) -> Answer:
        """The answer of the call, whose requests and units become a row."""
        with self.recording.scope() as calls:
            answer = await call
        # Whoever follows the stream reads it when it likes.
        requests = " + ".join(_runs(each for each in calls.operations if each != "GetRecords"))
        read, write = (sum(getattr(each, name) for each in calls) for name in ("read_units", "write_units"))
        self.rows.append(f"| {what} | {requests} | {read:g} | {write:g} |")
        return answer

    def must_be_in(self, readme: Path, *, but_writes: bool = False, but_calls: Collection[str] = ()) -> None:
        """Fail with the rows that the README lacks and those that it has too many, each on a line.

        With `but_writes` the write units are not compared, and of `but_calls` nothing is.
        """
        lines = readme.read_text().splitlines()
        start = lines.index(HEADING) + 2
        told, counted = lines[start : lines.index("", start)], self.rows
        if but_writes:
            told, counted = ([each.rpartition(" | ")[0] for each in rows] for rows in (told, counted))
        told, counted = ([each for each in rows if _call(each) not in but_calls] for rows in (told, counted))
        if told != counted:
            pytest.fail(_difference(readme, told, counted), pytrace=False)


def _runs(operations: Iterable[str]) -> Iterator[str]:
    """The operations, of which many equal ones in a row are written as one with their number."""
    for operation, run in groupby(operations):
        number = len(list(run))
        yield from [operation] * number if number < MANY else [f"{number} × {operation}"]


def _call(row: str) -> str:
    return row.split(" | ")[0].removeprefix("| ")


def _difference(readme: Path, told: list[str], counted: list[str]) -> str:
    missing = [each for each in counted if each not in told]
    wrong = [each for each in told if each not in counted]
    said = [f'{readme}: the table under "What a call costs" differs from what was counted']
    if missing:
        said += ["these rows are missing:", *missing]
    if wrong:
        said += ["these rows are not what was counted:", *wrong]
    if not missing and not wrong:
        said += ["the rows are right, and belong in this order:", *counted]
    return "\n".join(said)
