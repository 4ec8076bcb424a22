"""The table `ranked-choice-polls`: what is stored about a poll, and how it is found.

Everything about one poll is in one partition, `POLL#{pollId}`, in this order:

    CODE#{hash} < COUNT#{ranking}[#{part}] < METADATA < RECORD#{method}#{part} < SHARD#{shard} < VOTE#{voteId}

What is read together is adjacent: one range has the poll, its records and its shards, without the codes, the counts and
the votes, of which there may be a million.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta, field

from potluck.apps.polls.fields import (
    MOST_CANDIDATES,
    AboutCandidates,
    CandidateName,
    Candidates,
    Description,
    MaxRankings,
    Method,
    MethodName,
    Policy,
    Seats,
    Title,
    Visibility,
)
from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    InKeys,
    ItemCollection,
    KeyOnly,
    LeftOut,
    Milliseconds,
    Seconds,
    Table,
    Version,
    get,
    query,
    scan,
)

# The first vote creates ten shards; where votes meet in those, there are more.
SHARDS = 10
MOST_SHARDS = 64
MOST_PARTS_OF_COUNT = 64

# A row may have 400 KB (409,600 bytes); the rest is for attribute names, the key and the other attributes.
MOST_BYTES_IN_RECORD_PART = 400_000

# A candidate's position in the poll's list, counted from 1.
CandidateNumber = Annotated[int, Meta(ge=1, le=MOST_CANDIDATES)]
# SHA-256, in hexadecimal: a secret is never stored.
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)]


def _dashed(numbers: tuple[int, ...]) -> str:
    return "-".join(map(str, numbers))


def _numbers(dashed: str) -> tuple[int, ...]:
    return tuple(map(int, dashed.split("-")))


# Numbers, because names would not fit a sort key. No ranking is longer than one of all candidates.
Ranking = Annotated[
    tuple[CandidateNumber, ...],
    Meta(min_length=1, max_length=MOST_CANDIDATES),
    InKeys(_dashed, _numbers, max_bytes=len(_dashed(tuple(range(1, MOST_CANDIDATES + 1))))),
]

ranked_choice_polls = Table(
    "ranked-choice-polls",
    "PK",
    "SK",
    accepted={
        "scan: Poll.every": "an operator's recount, and once a day the polls of purged shareables",
        "constant-partition: Deletion": "Polls are rarely deleted, the row is there only until the last vote is gone,"
        " and it must be found without knowing the poll.",
        "shared-row: Poll.codes": "Only the poll's creator makes codes, up to a thousand per call, which adds once;"
        " votes do not add to it.",
        "unpadded-number: Shard.shard in SK": "The rows of the first ten are older than the others, and"
        " all are read in any order.",
    },
)


class Poll(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "METADATA")):
    """A question and the candidates that voters put in order."""

    poll_id: UUID = field(name="id")
    title: Title
    description: Description | None = None
    candidates: Candidates
    created_at: Seconds
    expires_at: Seconds | None = None

    # The design document's attributes end here. Those below are left out of the row at their defaults, which describe a
    # poll stored as in the document: open, and without an admin.
    candidate_descriptions: AboutCandidates | None = None
    voter_policy: Annotated[Policy, LeftOut] = "open"
    results_visibility: Annotated[Visibility, LeftOut] = "always"
    max_rankings: MaxRankings | None = None
    method: Annotated[MethodName, LeftOut] = "irv"
    seats: Annotated[Seats, LeftOut] = 1
    # Breaks ties that the rounds do not break; drawn when the poll is created, and shown before the first vote.
    # If empty, no lots were drawn, and the order of the candidates decides.
    lot_order: Annotated[list[CandidateNumber], Meta(max_length=MOST_CANDIDATES), LeftOut] = field(default_factory=list)
    closed_at: Seconds | None = None
    admin_key_hash: Hash | None = None
    creator_id: UUID | None = None
    # How many codes were made; their number is limited.
    codes: Annotated[Counter, LeftOut] = 0
    # The shareable that the poll belongs to: its passcodes protect the poll, which has no address of its own.
    short_id: Annotated[str, Meta(min_length=13, max_length=13)] | None = None
    version: Annotated[Version, LeftOut] = 1
    # How many shards there are; none before the first vote, which is what an edit relies on.
    shards: Annotated[int, Meta(ge=0, le=MOST_SHARDS), LeftOut] = 0
    # Votes of callers that the shareable admitted at this version, or an earlier one, are refused.
    access_fence: Annotated[int, Meta(ge=0), LeftOut] = 0
    # The version at which the poll expired, once a reader has seen that: no shards are added at this version any more.
    fence: Annotated[int, Meta(ge=0), LeftOut] = 0

    def is_open(self, now: datetime) -> bool:
        """Whether votes are accepted: strictly before the poll expires, and until it is closed."""
        if self.closed_at is not None or self.fence >= self.version:
            return False
        return self.expires_at is None or now.replace(microsecond=0) < self.expires_at

    def names(self, numbers: Iterable[int]) -> list[str]:
        """The candidates with these numbers."""
        return [self.candidates[number - 1] for number in numbers]

    @scan
    def every() -> None:
        """Which polls are there?"""

    @get(consistent=True)
    def one(poll_id: UUID) -> None:
        """Get poll by id: what is the question, and who may vote, see the results, change it?

        Consistent, because it authorises. A vote reads it, and the shard it adds to refuses what was read too early.
        """


class Vote(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "VOTE#{vote_id}")):
    """One voter's ranking. Its id is derived from poll and voter, so that a second vote collides with the first."""

    vote_id: UUID = field(name="id")
    poll_id: UUID
    rankings: Annotated[list[CandidateName], Meta(min_length=1, max_length=MOST_CANDIDATES)]
    voted_at: Seconds

    # The holder of the key may change or withdraw the vote. A change is conditional on the ranking that was read, since
    # the counts of both rankings change with it; so a vote needs no version.
    edit_key_hash: Hash | None = None

    @query(consistent=True)
    def of_poll(poll_id: UUID) -> None:
        """Get all votes for a poll: does a recount from the votes give the same record?

        Reads only votes, which sort last. Consistent, because a missing vote would look like a wrong count.
        """

    @get(consistent=True)
    def one(poll_id: UUID, vote_id: UUID) -> None:
        """What is this voter's ranking, and may the caller change it?"""


# The document's "Calculate results" reads the poll and all votes. Here a vote adds to the counts when it is cast:
# results are calculated from Count.of_poll, stored as records, and read by Results.of. They never read the votes.


class Count(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "COUNT#{ranking}")):
    """How many votes have exactly this ranking: COUNT#2-1-3 puts the second candidate first.

    Created by the first vote with it. There may be as many of these rows as votes, so they hold nothing else. Where
    votes met in it, the others of this ranking are in its parts.
    """

    poll_id: Annotated[UUID, KeyOnly]
    ranking: Annotated[Ranking, KeyOnly]
    count: Counter = 0

    @get
    def one(poll_id: UUID, ranking: Ranking) -> None:
        """How many votes have this ranking? Each vote adds to it; a withdrawn one is subtracted."""


class CountPart(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "COUNT#{ranking}#{part:02}")):
    """A part of the count of a ranking that very many vote for at once. It may be negative: a vote that was counted in
    one row can be withdrawn from another."""

    poll_id: Annotated[UUID, KeyOnly]
    ranking: Annotated[Ranking, KeyOnly]
    part: Annotated[int, Meta(ge=1, lt=MOST_PARTS_OF_COUNT), KeyOnly]
    count: Counter = 0

    @get
    def one(poll_id: UUID, ranking: Ranking, part: int) -> None:
        """How many of the votes with this ranking were counted here?"""


class CountRow(AnyOf[Count | CountPart]):
    """A row that counts votes with one ranking; their sum by ranking is the count."""

    @query(consistent=True)
    def of_poll(poll_id: UUID) -> None:
        """How many votes has each ranking? Results are calculated from this.

        Reads only counts: codes sort before them, the poll after. Consistent, because a record that lacks a vote of its
        version would be taken for complete forever.
        """


class Shard(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "SHARD#{shard}")):
    """A part of the votes' version: each vote increments one of ten or more, so that few meet in one row.

    It refuses the votes of callers who read the poll too early, so that no vote has to check the poll's own row.
    """

    poll_id: Annotated[UUID, KeyOnly]
    shard: Annotated[int, Meta(ge=0, lt=MOST_SHARDS), KeyOnly]
    # Incremented by every vote, change and withdrawal. The sum over all shards shows whether a record is up to date.
    votes_version: Counter = 0
    # The number of votes; the sum over all shards is what a page shows while the poll is open. A vote may be withdrawn
    # from another shard than it was counted in.
    votes: Counter = 0
    # Votes of callers who read the poll at this version, or an earlier one, are refused; it only rises.
    fence: Annotated[int, Meta(ge=0), LeftOut] = 0
    # The same for the version of the shareable that admitted them, where the poll belongs to one.
    access_fence: Annotated[int, Meta(ge=0), LeftOut] = 0

    @get
    def one(poll_id: UUID, shard: int) -> None:
        """What is this shard's part of the votes' version? Its voters increment it."""

    @query(consistent=True)
    def of_poll(poll_id: UUID) -> None:
        """Are there votes since the last count, how many votes in all, and may there be more?

        Reads ten small rows, or 64: records sort before them, votes after.
        """


class Code(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "CODE#{hash}")):
    """A code that lets its holder vote in a poll that requires one.

    The row does not show whether the code was used, or for which vote: the vote's id is a keyed hash of the code, so
    the vote itself makes the code single-use, and nothing that is stored links the two.
    """

    poll_id: Annotated[UUID, KeyOnly]
    hash: Annotated[Hash, KeyOnly]
    created_at: Seconds

    @get(consistent=True)
    def one(poll_id: UUID, hash: Hash) -> None:
        """Is this a code of this poll?"""


class Record(Entity, table=ranked_choice_polls, key=("POLL#{poll_id}", "RECORD#{method}#{part:02}")):
    """A finished count by one method, or a part of it: compressed, candidates by number.

    Every part has the votes' version at which it was counted, and the number of parts: parts that disagree, left from a
    longer record or a renewal in progress, are not a record.
    """

    poll_id: Annotated[UUID, KeyOnly]
    method: Annotated[Method, KeyOnly]
    # Two digits, so that the parts sort in order: a hundred parts are 40 MB.
    part: Annotated[int, Meta(ge=0, lt=100), KeyOnly]
    parts: Annotated[int, Meta(ge=1, le=100)]
    votes_version: Annotated[int, Meta(ge=0)]
    # In milliseconds, because it may be renewed after a second.
    counted_at: Milliseconds
    # How long the count took: slow counts are renewed less often.
    counting_milliseconds: Annotated[int, Meta(ge=0)]
    content: Annotated[bytes, Meta(max_length=MOST_BYTES_IN_RECORD_PART)]

    @get
    def one(poll_id: UUID, method: Method, part: int) -> None:
        """What is in this part of the record? Deleted when a shorter record replaces it."""

    @query(consistent=True)
    def by_method(poll_id: UUID, method: Method) -> None:
        """What is the last count by this method? Its parts in order, and no other method's."""


class CreatedPoll(Entity, table=ranked_choice_polls, key=("USER#{creator_id}", "POLL#{created_at}#{poll_id}")):
    """A poll in its creator's own list: only a reference, so that it cannot differ from the poll itself."""

    creator_id: Annotated[UUID, KeyOnly]
    created_at: Annotated[Seconds, KeyOnly]
    poll_id: Annotated[UUID, KeyOnly]

    @query(descending=True, consistent=True)
    def of_creator(creator_id: UUID) -> None:
        """Which polls did this person create? Newest first; the polls themselves are then fetched by id, in a batch."""


class Deletion(Entity, table=ranked_choice_polls, key=("DELETIONS", "POLL#{poll_id}")):
    """A deleted poll; this row stays until the last row under the poll is gone too."""

    poll_id: Annotated[UUID, KeyOnly]
    deleted_at: Seconds

    @get(consistent=True)
    def one(poll_id: UUID) -> None:
        """Is anything left of this poll?"""

    @query(consistent=True)
    def all_under_way() -> None:
        """Which deleted polls may still have rows?"""


# Access patterns that return several kinds of rows.


class Results(ItemCollection):
    """What a results page shows, in one request."""

    poll: Poll
    records: list[Record]
    shards: list[Shard]

    @query(consistent=True)
    def of(poll_id: UUID) -> None:
        """Who has won, by this and by the other methods, and is that up to date?

        From METADATA to the last SHARD#: reads neither codes nor counts nor votes, so it costs the same for ten votes
        and for a million. Consistent, because the poll in it decides who may see it.
        """


class PollRow(AnyOf[Poll | Vote | Count | CountPart | Shard | Code | Record]):
    """Any row under a poll."""

    @query(consistent=True)
    def of_poll(poll_id: UUID) -> None:
        """What is deleted with a poll? Its whole partition, page by page."""
