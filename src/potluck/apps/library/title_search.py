"""Looking up the titles of books that were added by their ISBN alone: in the background, and when their owner asks.

What a person typed meanwhile stays: the write is refused if the book was changed since it was read, and only fields
that are still empty are filled in.
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
from potluck.apps.library.placement import as_seen
from potluck.people import Throttled
from potluck.store import Clock, Store, attempts
from potluck.streams import Lease
from potluck.table import Change, WriteRefused, delete, the, update
from potluck.validation import ValidationError, decode_tree
from potluck.web import UNSET, ProblemError, Writes, or_raise

# How long to wait after each try; after the last there is no other, unless the owner asks for it.
WAITS = tuple(timedelta(minutes=each) for each in (1, 5, 30, 120, 360, 1440, 2 * 1440, 4 * 1440, 7 * 1440, 14 * 1440))
EVERY_SECONDS = 15.0
AT_ONCE = 50
SIDE_BY_SIDE = 4

log = logging.getLogger(__name__)


class NoTitleYet(ProblemError, slug="no-title-yet", status=409, title="Its title is not known yet"):
    """The book was added by its ISBN, and its title could not be looked up. It is tried again later, and you can type
    the title yourself."""

    @classmethod
    def because(cls, looked: LookupResult) -> "NoTitleYet":
        reasons = {
            "no-match": "No catalogue knows this ISBN yet",
            "no-service": "No service to look up books is set up on this server",
        }
        return cls(reasons.get(looked.outcome, "The catalogue can't be reached right now"), outcome=looked.outcome)


def as_new_book(isbn: str, book: KnownWork) -> NewBook:
    """A provider's record as a new book, validated like anything people type; ValidationError if it is not valid."""
    said = {"title": book.title, "authors": book.authors, "summary": book.summary, "isbn": isbn}
    return decode_tree(NewBook, {**said, "pictureUrl": book.picture_url})


def _filled_in(item: Book, new: NewBook) -> list[Change]:
    """The changes that give a book its title, and fill in what its owner left empty."""
    found: dict[str, Any] = {"title": new.title, "title_awaited": False}
    if new.title is UNSET:
        return []
    for name in ("authors", "summary", "picture_url"):
        if not getattr(item, name) and getattr(new, name):
            found[name] = getattr(new, name)
    return [the(getattr(Book, name)).becomes(value) for name, value in found.items()]


def _new_values(item: Book | Video, looked: LookupResult) -> list[Change]:
    """The changes to a book by what was looked up; none if that is nothing, or not valid."""
    if not isinstance(item, Book) or item.isbn is None or looked.outcome != "found":
        return []
    try:
        return _filled_in(item, as_new_book(item.isbn, looked.matches[0]))
    except ValidationError as wrong:
        log.info("a title was found but is not valid: %s", wrong.errors[0].field)
        return []


@items.action("POST", "/look-up", NoTitleYet, Throttled, idempotent=False)
async def look_up_title(at: OwnLibrary, item: Book | Video) -> Writes[Book | Video]:
    """Look up the title of a book that was added by its ISBN alone, now. Only the owner may."""
    if not isinstance(item, Book) or not is_awaited(item) or item.isbn is None:
        return Writes(item)
    looked = await looking_up(at).book(item.isbn)
    changes = _new_values(item, looked)
    if not changes:
        raise NoTitleYet.because(looked)
    after, write = at.edit(item, *changes)
    return Writes(after, or_raise(write, as_seen(at, item)), *no_longer_awaiting(item))


class TitleSearch:
    """Looks up awaited titles in turn, each again after a growing pause. A lease lets one process do so at a time."""

    name = "library-titles"

    def __init__(self, store: Store, clock: Clock, lookup: Lookup, lease: Lease, every: float = EVERY_SECONDS) -> None:
        self._rows, self._clock, self._lookup, self._lease, self._every = store, clock, lookup, lease, every

    async def run(self) -> None:
        await self._lease.work_table.create_if_missing(self._lease.engine)
        await self._lease.run(self._work)

    async def _work(self) -> None:
        while True:
            await self.search()
            await asyncio.sleep(self._every)

    async def search(self) -> None:
        """Look up everything that is due; once nothing answers, the rest waits for the next search."""
        while due := await self._due():
            for start in range(0, len(due), SIDE_BY_SIDE):
                some = due[start : start + SIDE_BY_SIDE]
                found = await asyncio.gather(*map(self._look_up, some))
                if "unreachable" in found and not any(each in ("found", "no-match") for each in found):
                    return
            if len(due) < AT_ONCE:
                return

    async def _due(self) -> list[AwaitedTitle]:
        now = self._clock()
        rows = (await self._rows.page(AwaitedTitle.in_turn(), AT_ONCE)).items
        return [each for each in rows if each.next_at is not None and each.next_at <= now]

    async def _look_up(self, awaited: AwaitedTitle) -> str:
        """Look up one title; what came of it."""
        ref = LibraryItem.one(awaited.owner_id, awaited.library_id, awaited.item_id)
        own = AwaitedTitle.one(awaited.owner_id, awaited.library_id, awaited.item_id)
        async for _ in attempts("filling in a title", self._rows.patience):
            item = await self._rows.get(ref)
            if item is None or not isinstance(item, Book) or not is_awaited(item) or item.isbn is None:
                await self._rows.transact(delete(own))
                return "over"
            looked = await self._lookup.book(item.isbn)
            changes = _new_values(item, looked)
            try:
                if not changes:
                    await self._rows.transact(self._later(awaited))
                    return looked.outcome if looked.outcome != "found" else "no-match"
                await self._rows.transact(update(item, *changes), delete(own))
                return "found"
            except WriteRefused:
                if not changes:
                    # Its owner has changed the ISBN or typed a title meanwhile.
                    return "over"
        raise AssertionError("attempts end by raising")

    def _later(self, awaited: AwaitedTitle) -> Any:
        wait = WAITS[awaited.tries] if awaited.tries < len(WAITS) else None
        return update(
            awaited,
            the(AwaitedTitle.tries).becomes(awaited.tries + 1),
            the(AwaitedTitle.next_at).becomes(None if wait is None else self._clock() + wait),
            when=the(AwaitedTitle.tries).still(awaited.tries),
        )
