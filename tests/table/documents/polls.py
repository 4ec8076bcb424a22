"""The document of the polls, taken literally."""

from uuid import UUID

from msgspec import field

from potluck.table import Entity, ItemCollection, Seconds, Table, get, query

ranked_choice_polls = Table("ranked-choice-polls", "PK", "SK")


class Poll(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "METADATA")):
    """A poll."""

    poll_id: UUID = field(name="id")
    title: str
    description: str
    candidates: list[str]
    created_at: Seconds
    expires_at: Seconds | None = None

    @get
    def one(poll_id: UUID) -> None:
        """1. Get poll by ID."""


class Vote(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "VOTE#{vote_id}")):
    """A vote."""

    vote_id: UUID = field(name="id")
    poll_id: UUID
    rankings: list[str]
    voted_at: Seconds

    @query()
    def of_poll(poll_id: UUID) -> None:
        """2. Get all votes for a poll."""


class PollWithVotes(ItemCollection):
    """What results are calculated from."""

    poll: Poll
    votes: list[Vote]

    @query()
    def of(poll_id: UUID) -> None:
        """3. Calculate results: get poll metadata + all votes."""
