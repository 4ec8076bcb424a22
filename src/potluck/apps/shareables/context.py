"""What the rules of shareables work with besides the core: `at.context`."""

from dataclasses import dataclass

from potluck.apps.polls.context import PollsContext
from potluck.apps.shareables.hashing import Hashing
from potluck.apps.shareables.onlookers import Presence
from potluck.apps.shareables.short_ids import ShortIdPool
from potluck.people.secrets import Random, system_random

__all__ = ["ShareablesContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareablesContext:
    pool: ShortIdPool
    hashing: Hashing
    presence: Presence
    polls: PollsContext
    """Which serves the polls that shareables made."""
    random: Random = system_random
