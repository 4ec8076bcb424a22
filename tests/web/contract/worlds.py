"""Where the contract is proven: the suite with the toy, on any engine, calm or not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine
from tests.engine_targets import EMBEDDED, LOCAL, address, calling
from tests.patience import PATIENCE_SECONDS
from tests.people.assembly import WRAPPERS
from tests.web.people.doors import Doors, doors_on

__all__ = ["BUSY", "LONG", "Book", "bearer_headers", "book_of", "world_on"]

BUSY = [(EMBEDDED, wrapper) for wrapper in WRAPPERS] + [(LOCAL, "plain")]
"""Where transactions conflict, answers get lost, indexes lag, capacity is used up; and another engine."""

LONG = [pytest.param((LOCAL, wrapper), marks=pytest.mark.soak) for wrapper in WRAPPERS if wrapper != "plain"]


@contextlib.asynccontextmanager
async def world_on(
    engine: str, folder: Path, wrapper: str = "plain", wrap: Callable[[Engine], Engine] | None = None, **options: Any
) -> AsyncIterator[Doors]:
    """The suite on this engine, with one of WRAPPERS or another wrapper around it."""
    given = wrap or WRAPPERS[wrapper] or (lambda engine: engine)
    with calling(address(engine, folder)) as settings:
        async with doors_on(folder, wrap=given, **settings, **options) as doors:
            yield doors


class Book:
    """A book and who opened it, as tests call it."""

    def __init__(self, doors: Doors, by: dict[str, Any], book_id: str) -> None:
        self.doors, self.by, self.book_id = doors, by, book_id
        self.path = f"/books/{book_id}"
        self.notes = f"/books/{book_id}/notes"

    async def add(self, title: str = "A note", **body: Any) -> dict[str, Any]:
        made = await self.doors.ask("POST", self.notes, {"title": title, **body}, by=self.by)
        assert made.status_code == 201, made.text
        return made.json()

    async def let_in(self, who: dict[str, Any]) -> None:
        answer = await self.doors.ask("PUT", f"{self.path}/members/{who['userId']}", by=self.by)
        assert answer.status_code == 204, answer.text

    async def put_out(self, who: dict[str, Any]) -> None:
        answer = await self.doors.ask("DELETE", f"{self.path}/members/{who['userId']}", by=self.by)
        assert answer.status_code == 204, answer.text

    async def settled(self, *callers: dict[str, Any]) -> list[str]:
        """For each of them, a position after everything that was done here; the notes are as they were.

        Neither the position of a list nor an answer without changes proves that: what was written may still be on its
        way to the log. So a note comes and goes, and each is told of that first.
        """
        positions = [(await self.doors.ask("GET", self.notes, by=each)).json()["position"] for each in callers]
        last = await self.add("The last so far")
        gone = await self.doors.ask("DELETE", f"{self.notes}/{last['noteId']}", by=self.by)
        assert gone.status_code == 204, gone.text
        return [
            await self._position_after_deleted(last["noteId"], position, by)
            for position, by in zip(positions, callers, strict=True)
        ]

    async def _position_after_deleted(self, note_id: str, since: str, by: dict[str, Any]) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                answer = await self.doors.ask("GET", f"{self.notes}/changes?since={since}", by=by)
                assert answer.status_code == 200, answer.text
                told = answer.json()
                assert not told["reset"]
                for each in told["changes"]:
                    if each["event"] == "deleted" and each["item"]["noteId"] == note_id:
                        return str(each["position"])
                since = told["position"]
                await asyncio.sleep(0.05)


async def book_of(doors: Doors, by: dict[str, Any], name: str = "Plans") -> Book:
    answer = await doors.ask("POST", "/books", {"name": name}, by=by)
    assert answer.status_code == 201, answer.text
    return Book(doors, by, answer.json()["bookId"])


def bearer_headers(who: dict[str, Any]) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {who['token']}")]
