"""The consumer of the table's change log."""

from potluck.apps.journal.entities import AIThread, Comment, Entry, EntryMeta
from potluck.apps.journal.indexing import Indexing
from potluck.store import Store
from potluck.streams import Consumer, changed, created, deleted
from potluck.web import Core


def consumers_of(core: Core) -> list[Consumer]:
    """Index what was too large for its own transaction, and clean up after what was deleted."""
    return [index_consumer(core.store)]


def index_consumer(store: Store) -> Consumer:
    indexing = Indexing(store)
    return Consumer(
        # A new consumer indexes everything. Rename it when the words of existing rows change.
        "journal-index",
        created(Entry, do=lambda entry: indexing.index_entry(None, entry)),
        changed(Entry, do=indexing.index_entry),
        deleted(Entry, do=lambda entry: indexing.index_entry(entry, None)),
        created(Comment, do=lambda comment: indexing.index_comment(None, comment)),
        changed(Comment, do=indexing.index_comment),
        deleted(Comment, do=lambda comment: indexing.index_comment(comment, None)),
        deleted(EntryMeta, do=indexing.clear_comments),
        deleted(AIThread, do=indexing.clear_messages),
        lost=indexing.rebuilding(),
        begin=indexing.rebuilding(),
        steps=indexing.steps,
    )
