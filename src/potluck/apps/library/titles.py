"""All books and videos from a person's own libraries, by title."""

from functools import partial

from potluck.apps.library.entities import Book, LibraryItem, Video
from potluck.apps.library.fields import owner_of
from potluck.apps.library.item_views import LibraryItemView
from potluck.apps.library.libraries import TAG, of_existing_libraries
from potluck.apps.library.page_frame import TITLES, frame_of
from potluck.table import Query
from potluck.web import Actions, References, SignedIn

titles: Actions[Book | Video] = Actions(
    SignedIn, None, LibraryItemView, api="/library-items", page=TITLES, tag=TAG, frame=frame_of("shelves")
)


@titles.list()
def all_titles(at: SignedIn) -> References[Book | Video]:
    """List the books and videos from all your libraries, by title."""
    return References(titles_of(at), partial(of_existing_libraries, at.store))


def titles_of(at: SignedIn) -> Query[Book | Video]:
    """The caller's items by title."""
    return LibraryItem.of_owner(owner_of(at.principal.user_id))
