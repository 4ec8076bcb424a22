"""What is done after a change to the table."""

from potluck.apps.polls.deletion import Deletions
from potluck.apps.polls.entities import Deletion
from potluck.streams import Consumer, created
from potluck.web import Core


def consumers_of(core: Core) -> list[Consumer]:
    """Delete the rows of deleted polls, to the last one."""
    deletions = Deletions(core.store)
    return [
        Consumer(
            "poll-deletions",
            created(Deletion, do=deletions.finishing),
            lost=deletions.resuming(),
            steps=[deletions.rows, deletions.unfinished],
        )
    ]
