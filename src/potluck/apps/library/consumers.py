"""The consumers of the table's stream."""

from potluck.apps.library.consistency import ConsistencyManager
from potluck.apps.library.covers import Covers, wants_cover
from potluck.apps.library.entities import Book, Collection, Library, Relocation, Video
from potluck.store import Store
from potluck.streams import Consumer, changed, created, deleted


def consumers_of(store: Store, covers: Covers) -> list[Consumer]:
    """Update copied names, delete what belonged to deleted rows, and fetch covers."""
    manager = ConsistencyManager(store)

    async def fetch_new(before: Book | Video, after: Book | Video) -> None:
        await covers.fetch_for(after)

    def in_collection(item: Book | Video) -> bool:
        return item.collection_id is not None

    return [
        Consumer(
            "library-consistency",
            changed(Collection, Collection.name, do=manager.collection_renamed),
            deleted(Collection, do=manager.collection_deleted),
            changed(Book, Book.order, do=manager.renumbered, where=in_collection),
            changed(Video, Video.order, do=manager.renumbered, where=in_collection),
            changed(Library, Library.library_name, Library.owner_name, do=manager.library_renamed),
            deleted(Library, do=manager.library_deleted),
            deleted(Book, do=manager.item_gone),
            deleted(Video, do=manager.item_gone),
            created(Relocation, do=manager.item_gone),
            changed(Relocation, do=manager.relocated_again),
            lost=manager.rebuilding(),
            steps=manager.steps,
        ),
        Consumer(
            # A separate consumer, so that nothing else waits for a remote host.
            "library-covers",
            created(Book, do=covers.fetch_for, where=wants_cover),
            changed(Book, Book.picture_url, do=fetch_new, where=wants_cover),
            created(Video, do=covers.fetch_for, where=wants_cover),
            changed(Video, Video.picture_url, do=fetch_new, where=wants_cover),
            # A cover can be requested again.
            lost=None,
        ),
    ]
