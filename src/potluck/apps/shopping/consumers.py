"""The consumers of the table's stream."""

from potluck.apps.shopping.cascade import Cascade
from potluck.apps.shopping.entities import Deletion
from potluck.streams import Consumer, created
from potluck.web import Core


def consumers_of(core: Core) -> list[Consumer]:
    """Finish deletions."""
    cascade = Cascade(core)
    return [
        Consumer(
            "shopping-deletions",
            created(Deletion, do=cascade.finishing),
            lost=cascade.resuming(),
            steps=[cascade.deletions, cascade.unfinished],
        )
    ]
