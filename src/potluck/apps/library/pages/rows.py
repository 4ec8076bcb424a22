"""The rows of a shelf on pages: collections, books and videos in one list, with their drawings."""

from typing import Literal
from uuid import UUID
from zlib import crc32

import msgspec
from markupsafe import Markup

from potluck.apps.library.access import InLibrary, Viewer
from potluck.apps.library.awaited_titles import is_awaited
from potluck.apps.library.drawn_books import bookend, face, gap, spine
from potluck.apps.library.entities import Book, Collection, ShelfRow, Video, media_library
from potluck.apps.library.item_views import cover_address, people_of
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.table import Query
from potluck.web import UNSET, Actions, Unset, View, _, computed, ngettext

Row = Collection | Book | Video

LOOKS = (("spines", "library-big", _("Spines")), ("covers", "layout-grid", _("Covers")), ("list", "list", _("List")))
"""The looks of a shelf; each is a template, which also renders live updates."""
(PLACE,) = media_library.index_key_names("GSI1")[-1:]


class ShelfRowView(View[Collection | Book | Video]):
    """A row of a shelf. Only the owner sees the borrower and the version."""

    library_id: UUID

    @computed
    def id(row: Row) -> UUID:
        return row.collection_id if isinstance(row, Collection) else row.item_id

    @computed
    def kind(row: Row) -> Literal["collection", "book", "video"]:
        return "collection" if isinstance(row, Collection) else "book" if isinstance(row, Book) else "video"

    @computed
    def name(row: Row) -> str:
        return row.name if isinstance(row, Collection) else row.title

    @computed
    def by(row: Row) -> list[str]:
        return [] if isinstance(row, Collection) else people_of(row)

    @computed
    def collection_name(row: Row) -> str | None:
        return None if isinstance(row, Collection) else row.collection_name

    @computed
    def awaited(row: Row) -> Literal[True] | Unset:
        """While its title still has to be looked up."""
        return UNSET if isinstance(row, Collection) or not is_awaited(row) else True

    @computed
    def volume(row: Row) -> int | None:
        return None if isinstance(row, Collection) else row.order

    @computed
    def count(row: Row) -> int:
        return row.item_count if isinstance(row, Collection) else 1

    @computed
    def library_name(row: Row) -> str:
        return "" if isinstance(row, Collection) else row.library_name

    @computed
    def owner_name(row: Row) -> str:
        return "" if isinstance(row, Collection) else row.owner_name

    @computed
    def picture(row: Row) -> str:
        """The address of its cover at the size of a row, if one was fetched."""
        if isinstance(row, Collection) or row.cover_hash is None:
            return ""
        return f"{cover_address(row)}&size=small"

    @computed
    def place(row: Row) -> str:
        """The sort key, which determines its place on the shelf."""
        return str(ShelfRow.of_library(row.owner_id, row.library_id).cursor(row)[PLACE]["S"])

    @computed
    def owned(row: Row, viewer: Viewer) -> bool:
        return viewer.owns(row)

    @computed
    def lent_to(row: Row, viewer: Viewer) -> str | Unset | None:
        return UNSET if isinstance(row, Collection) or not viewer.owns(row) else row.lent_to

    @computed
    def version(row: Row, viewer: Viewer) -> int | Unset:
        return row.version if viewer.owns(row) else UNSET

    @property
    def address(self) -> str:
        return f"/library/{self.library_id}/{'collections' if self.kind == 'collection' else 'items'}/{self.id}"

    @property
    def mark(self) -> str:
        """A checksum of the view, which changes when anything visible does."""
        return f"{crc32(msgspec.json.encode(self)):08x}"

    @property
    def volumes(self) -> str:
        return ngettext("%(num)s volume", "%(num)s volumes", self.count)

    @property
    def in_words(self) -> str:
        """What its drawing shows, for people who do not see it."""
        if self.kind == "collection":
            return _("Collection: %(name)s, %(volumes)s", name=self.name, volumes=self.volumes)
        number = f"{self.collection_name} {self.volume}: " if self.volume is not None else ""
        facts = [
            self.maker,
            _("video") if self.kind == "video" else "",
            _("title missing") if self.awaited else "",
            _("lent to %(name)s", name=self.lent_to) if self.lent_to else "",
        ]
        return ", ".join(str(fact) for fact in (number + self.name, *facts) if fact)

    @property
    def maker(self) -> str:
        return self.by[0] if self.by else ""

    @property
    def spine(self) -> Markup:
        """Its drawing: a spine, the gap of a lent item, or the bookend of a collection."""
        if self.kind == "collection":
            return bookend(self.name, str(self.volumes))
        if self.lent_to:
            return gap(self.name if self.volume is None else f"{self.volume} {self.name}", self.lent_to)
        return spine(self.name, self.maker, self.kind, self.collection_name, self.volume)

    @property
    def face(self) -> Markup:
        """Its cover, fetched or drawn."""
        if self.picture:
            return Markup('<img class="face" src="{}" alt="" width="400" height="600" loading="lazy">').format(
                self.picture
            )
        return face(self.name, self.maker, self.kind, self.collection_name, self.volume)


shelf: Actions[Collection | Book | Video] = Actions(
    InLibrary, None, ShelfRowView, page=LIBRARY, tag="Library", frame=frame_of("shelves")
)


def shelf_rows(at: InLibrary) -> Query[Collection | Book | Video]:
    """Everything on a library's shelf, each collection followed by its items."""
    return ShelfRow.of_library(at.owner_id, at.library_id)


for look, _sign, _word in LOOKS:
    shelf.list(live=True, row=f"library/on_{look}.html", row_events=f"/{look}/events")(shelf_rows)
