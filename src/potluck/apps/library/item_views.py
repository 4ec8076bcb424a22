"""Views of books and videos. Only the owner sees who has an item, and its version."""

import zlib
from typing import Literal
from uuid import UUID

from potluck.apps.library.access import Viewer
from potluck.apps.library.entities import Book, Item, Video
from potluck.web import UNSET, Unset, View, computed


def people_of(item: Item) -> list[str]:
    """The authors or directors, in order."""
    return item.authors if isinstance(item, Book) else item.directors


def cover_address(item: Item) -> str:
    """The address of its cover, fetched or drawn. It changes with the picture, so that browsers can cache it."""
    words = (item.title, item.collection_name, item.order, *people_of(item)[:1])
    drawn = zlib.crc32("\n".join(map(str, words)).encode())
    version = f"{drawn:08x}" if item.cover_hash is None else item.cover_hash[:16]
    return f"/api/v1/libraries/{item.library_id}/items/{item.item_id}/cover?v={version}"


class LibraryItemView(View[Book | Video]):
    """A book or a video. Only the owner sees the version, because every loan changes it."""

    item_id: UUID
    library_id: UUID
    library_name: str
    owner_name: str
    title: str
    summary: str | None
    picture_url: str | None
    collection_id: UUID | None
    collection_name: str | None
    order: int | None

    @computed
    def kind(item: Item) -> Literal["book", "video"]:
        return "book" if isinstance(item, Book) else "video"

    @computed
    def cover(item: Item) -> str:
        return cover_address(item)

    @computed
    def has_picture(item: Item) -> bool:
        """Whether the cover was fetched, rather than drawn."""
        return item.cover_hash is not None

    @computed
    def authors(item: Item) -> list[str] | Unset:
        return item.authors if isinstance(item, Book) else UNSET

    @computed
    def isbn(item: Item) -> str | Unset | None:
        return item.isbn if isinstance(item, Book) else UNSET

    @computed
    def directors(item: Item) -> list[str] | Unset:
        return item.directors if isinstance(item, Video) else UNSET

    @computed
    def cast(item: Item) -> list[str] | Unset:
        return item.cast if isinstance(item, Video) else UNSET

    @computed
    def release_year(item: Item) -> int | Unset | None:
        return item.release_year if isinstance(item, Video) else UNSET

    @computed
    def duration(item: Item) -> int | Unset | None:
        return item.duration if isinstance(item, Video) else UNSET

    @computed
    def tmdb_id(item: Item) -> int | Unset | None:
        return item.tmdb_id if isinstance(item, Video) else UNSET

    @computed
    def note(item: Item, viewer: Viewer) -> str | Unset | None:
        """Left out for guests, and if there is none."""
        return item.note or UNSET if viewer.owns(item) else UNSET

    @computed
    def title_awaited(item: Item) -> Literal[True] | Unset:
        """While the title still has to be looked up; until then, it is the ISBN."""
        return True if isinstance(item, Book) and item.title_awaited else UNSET

    @computed
    def lent_to(item: Item, viewer: Viewer) -> str | Unset | None:
        return item.lent_to if viewer.owns(item) else UNSET

    @computed
    def version(item: Item, viewer: Viewer) -> int | Unset:
        return item.version if viewer.owns(item) else UNSET
