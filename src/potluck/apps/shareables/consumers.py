"""What is done after a change to the table."""

from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.purged_polls import PollsOfPurged
from potluck.streams import Consumer, deleted
from potluck.web import Core


def consumers_of(core: Core) -> list[Consumer]:
    """Delete the polls of shareables that were purged or deleted."""
    purged = PollsOfPurged(core.store)
    return [
        Consumer(
            "shareable-polls",
            deleted(Shareable, do=purged.delete_poll),
            lost=purged.deleting_orphans(),
            steps=[purged.orphans],
        )
    ]
