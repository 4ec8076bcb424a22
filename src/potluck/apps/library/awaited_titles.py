"""Books added by ISBN alone: their name until the title is known, and the writes that start and end the search."""

from datetime import datetime

from potluck.apps.library.entities import AwaitedTitle, Book, Video
from potluck.table import Operation, delete, put


def title_to_come(isbn: str) -> str:
    """The name of a book until its title is known."""
    # The hyphen lets narrow pages break the line.
    return f"ISBN {isbn[:3]}-{isbn[3:]}"


def is_awaited(item: Book | Video) -> bool:
    """Whether the title of an item is still to be looked up."""
    return isinstance(item, Book) and item.title_awaited


def awaiting(item: Book | Video, now: datetime) -> list[Operation]:
    """The write that queues an item for a title search, if its title is missing."""
    if not is_awaited(item):
        return []
    row = AwaitedTitle(owner_id=item.owner_id, library_id=item.library_id, item_id=item.item_id, next_at=now)
    return [put(row)]


def no_longer_awaiting(item: Book | Video) -> list[Operation]:
    """The write that ends the search for an item's title, if there is one."""
    if not is_awaited(item):
        return []
    return [delete(AwaitedTitle.one(item.owner_id, item.library_id, item.item_id))]
