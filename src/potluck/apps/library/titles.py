"""All books and videos of a person, from all of their libraries, by title."""

from collections.abc import Sequence

from potluck.apps.library.entities import Book, Library, LibraryItem, Video
from potluck.apps.library.fields import owner_of
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import TAG
from potluck.apps.library.page_frame import TITLES, frame_of
from potluck.table import Query
from potluck.web import Actions, References, SignedIn

titles: Actions[Book | Video] = Actions(
    SignedIn, None, LibraryItemView, api="/library-items", page=TITLES, tag=TAG, frame=frame_of("shelves")
)


@titles.list()
def all_titles(at: SignedIn) -> References[Book | Video]:
    """The caller's books and videos, from all of their own libraries, by title."""

    async def get(rows: Sequence[Book | Video]) -> Sequence[Book | Video]:
        return await in_libraries(at, rows)

    return References(titles_of(at), get)


def titles_of(at: SignedIn) -> Query[Book | Video]:
    """The caller's items by title, as the index has them."""
    return LibraryItem.of_owner(owner_of(at.principal.user_id))


async def in_libraries(at: SignedIn, items: Sequence[Book | Video]) -> list[Book | Video]:
    """The items without those of a library that was deleted, and whose items are still to be deleted."""
    ids = list(dict.fromkeys((each.owner_id, each.library_id) for each in items))
    there = await at.store.get_many([Library.one(*each) for each in ids])
    kept = {each.library_id for each in there if each is not None}
    return [each for each in items if each.library_id in kept]
