"""Looks up the titles of books that were added by their ISBN alone, in the background and on request.

What the owner types stays: the write is refused if the book was changed since it was read, and only empty fields are
filled in.
"""

import asyncio
import logging
from datetime import timedelta
from typing import Any

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.awaited_titles import is_awaited, no_longer_awaiting
from potluck.apps.library.entities import AwaitedTitle, Book, LibraryItem, Video
from potluck.apps.library.items import NewBook, items
from potluck.apps.library.lookup import KnownWork, Lookup, LookupResult, looking_up
from potluck.people import Throttled
from potluck.table import WriteRefused, delete, the, update
from potluck.validation import ValidationError
from potluck.web import UNSET, Core, ProblemError, Writes, _

# The pause after each attempt. After the last one, titles are looked up on request only.
WAITS = tuple(
    timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360, 1440, 2 * 1440, 4 * 1440, 7 * 1440, 14 * 1440)
)
EVERY_SECONDS = 15.0
AT_ONCE = 50
SIDE_BY_SIDE = 4

log = logging.getLogger(__name__)


class NoTitleYet(ProblemError, slug="no-title-yet", status=409, title="Title not found yet"):
    """The book was added by its ISBN, and its title could not be looked up. This is tried again later, and you can also
    enter the title yourself."""

    @classmethod
    def because(cls, result: LookupResult) -> "NoTitleYet":
        reasons = {
            "no-match": _("No catalogue has this ISBN yet."),
            "no-service": _("No book catalogue is set up on this server."),
        }
        return cls(reasons.get(result.outcome, _("The catalogue can’t be reached right now.")), outcome=result.outcome)


def as_new_book(isbn: str, book: KnownWork) -> NewBook:
    """A provider's record as a new book, validated like user input; ValidationError if it is not valid."""
    values = {"title": book.title, "authors": book.authors, "summary": book.summary, "isbn": isbn}
    return NewBook.decode({**values, "pictureUrl": book.picture_url})


def _filled_in(item: Book, new: NewBook) -> dict[str, Any]:
    """The fields that give a book its title, and the empty ones that it gets filled in."""
    values: dict[str, Any] = {"title": new.title, "title_awaited": False}
    if new.title is UNSET:
        return {}
    for name in ("authors", "summary", "picture_url"):
        if not getattr(item, name) and getattr(new, name):
            values[name] = getattr(new, name)
    return values


def _new_values(item: Book | Video, result: LookupResult) -> dict[str, Any]:
    """What the fields of a book become after a lookup; empty if there was no match, or no valid one."""
    if not isinstance(item, Book) or item.isbn is None or result.outcome != "found":
        return {}
    try:
        return _filled_in(item, as_new_book(item.isbn, result.matches[0]))
    except ValidationError as wrong:
        log.info("a title was found but is not valid: %s", wrong.errors[0].field)
        return {}


@items.action("POST", "/look-up", NoTitleYet, Throttled, idempotent=False)
async def look_up_title(at: OwnLibrary, item: Book | Video) -> Writes[Book | Video]:
    """Look up the title of a book that was added by its ISBN alone. Owner only."""
    if not isinstance(item, Book) or not is_awaited(item) or item.isbn is None:
        return Writes(item)
    result = await looking_up(at).book(item.isbn)
    values = _new_values(item, result)
    if not values:
        raise NoTitleYet.because(result)
    after, write = at.edit(item, *(the(getattr(Book, name)).becomes(value) for name, value in values.items()))
    return Writes(after, write, *no_longer_awaiting(item))


class TitleSearch:
    """Looks up missing titles in turn, each of them again after a growing pause; a lease lets one process do this."""

    name = "library-titles"

    def __init__(self, core: Core, lookup: Lookup, every: float = EVERY_SECONDS) -> None:
        self._store, self._lookup, self._every = core.store, lookup, every
        self._lease = core.lease("TITLES#MediaLibrary")

    async def run(self) -> None:
        await self._lease.run(self._work)

    async def once(self) -> None:
        await self._lease.run(self.search)

    async def _work(self) -> None:
        while True:
            await self.search()
            await asyncio.sleep(self._every)

    async def search(self) -> None:
        """Look up all titles that are due. If no provider answers, the rest waits for the next search."""
        while due := await self._due():
            for start in range(0, len(due), SIDE_BY_SIDE):
                batch = due[start : start + SIDE_BY_SIDE]
                outcomes = await asyncio.gather(*map(self._look_up, batch))
                if "unreachable" in outcomes and not any(outcome in ("found", "no-match") for outcome in outcomes):
                    return
            if len(due) < AT_ONCE:
                return

    async def _due(self) -> list[AwaitedTitle]:
        now = self._store.clock()
        rows = (await self._store.page(AwaitedTitle.in_turn(), AT_ONCE)).items
        return [row for row in rows if row.next_at is not None and row.next_at <= now]

    async def _look_up(self, awaited: AwaitedTitle) -> str:
        """Look up one title, and return the outcome."""
        ref = LibraryItem.one(awaited.owner_id, awaited.library_id, awaited.item_id)
        own = AwaitedTitle.one(awaited.owner_id, awaited.library_id, awaited.item_id)
        async for _attempt in self._store.attempts("filling in a title"):
            item = await self._store.get(ref)
            if item is None or not isinstance(item, Book) or not is_awaited(item) or item.isbn is None:
                await self._store.transact(delete(own))
                return "over"
            result = await self._lookup.book(item.isbn)
            values = _new_values(item, result)
            changes = [the(getattr(Book, name)).becomes(value) for name, value in values.items()]
            try:
                if not changes:
                    await self._store.transact(self._later(awaited))
                    return result.outcome if result.outcome != "found" else "no-match"
                await self._store.transact(update(item, *changes), delete(own))
                return "found"
            except WriteRefused:
                if not changes:
                    # Meanwhile the owner has changed the ISBN or entered a title.
                    return "over"
        raise AssertionError("attempts end by raising")

    def _later(self, awaited: AwaitedTitle) -> Any:
        wait = WAITS[awaited.tries] if awaited.tries < len(WAITS) else None
        return update(
            awaited,
            the(AwaitedTitle.tries).becomes(awaited.tries + 1),
            the(AwaitedTitle.next_at).becomes(None if wait is None else self._store.clock() + wait),
            when=the(AwaitedTitle.tries).still(awaited.tries),
        )
