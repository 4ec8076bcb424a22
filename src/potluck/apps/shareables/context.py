"""What the rules of shareables need besides the core, as `at.context`."""

from dataclasses import dataclass

from potluck.apps.polls.context import PollsContext
from potluck.apps.shareables.hashing import Hashing
from potluck.apps.shareables.presence import Presence
from potluck.apps.shareables.short_ids import ShortIdPool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareablesContext:
    pool: ShortIdPool
    hashing: Hashing
    presence: Presence
    polls: PollsContext
    """Serves the polls that belong to shareables."""
