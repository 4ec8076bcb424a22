"""The polls' table against its design: records to the byte; of every question the request, answer and cost."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from potluck.apps.polls.entities import (
    MOST_BYTES_IN_RECORD_PART,
    Code,
    Count,
    CreatedPoll,
    Poll,
    Record,
    Results,
    Shard,
    Vote,
    ranked_choice_polls,
)
from potluck.dynamo.limits import ITEM_BYTES
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import (
    AlreadyExists,
    ConditionFailed,
    Entity,
    Gather,
    InvalidValue,
    Query,
    Ref,
    Request,
    absent,
    check,
    delete,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from tests.engine_targets import BOTH, LOCAL
from tests.stores import recorded_store

POLL_ID = UUID("123e4567-e89b-12d3-a456-426614174000")
VOTE_ID = UUID("987fcdeb-51a2-43d1-b234-567890abcdef")
OTHER_POLL_ID = UUID("123e4567-e89b-12d3-a456-426614174001")
CREATOR_ID = UUID("00000000-0000-4000-8000-00000000000c")
PARTITION = f"POLL#{POLL_ID}"
HASH = "0123456789abcdef" * 4

poll = Poll(
    poll_id=POLL_ID,
    title="Best Programming Language 2024",
    description="Vote for your favorite programming language",
    candidates=["JavaScript", "Python", "Go", "Rust"],
    created_at=datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
)
vote = Vote(
    vote_id=VOTE_ID,
    poll_id=POLL_ID,
    rankings=["Go", "Rust", "Python", "JavaScript"],
    voted_at=datetime(2024, 1, 15, 14, 22, tzinfo=UTC),
)

# --- the document's example records ---

POLL_RECORD = {
    "PK": {"S": "POLL#123e4567-e89b-12d3-a456-426614174000"},
    "SK": {"S": "METADATA"},
    "id": {"S": "123e4567-e89b-12d3-a456-426614174000"},
    "title": {"S": "Best Programming Language 2024"},
    "description": {"S": "Vote for your favorite programming language"},
    "candidates": {"L": [{"S": "JavaScript"}, {"S": "Python"}, {"S": "Go"}, {"S": "Rust"}]},
    "createdAt": {"S": "2024-01-15T10:30:00Z"},
}
ADDED_TO_EVERY_POLL = {
    "voterPolicy": {"S": "open"},
    "resultsVisibility": {"S": "always"},
    "method": {"S": "irv"},
    "seats": {"N": "1"},
    "lotOrder": {"L": []},
    "version": {"N": "1"},
}
VOTE_RECORD = {
    "PK": {"S": "POLL#123e4567-e89b-12d3-a456-426614174000"},
    "SK": {"S": "VOTE#987fcdeb-51a2-43d1-b234-567890abcdef"},
    "id": {"S": "987fcdeb-51a2-43d1-b234-567890abcdef"},
    "pollId": {"S": "123e4567-e89b-12d3-a456-426614174000"},
    "rankings": {"L": [{"S": "Go"}, {"S": "Rust"}, {"S": "Python"}, {"S": "JavaScript"}]},
    "votedAt": {"S": "2024-01-15T14:22:00Z"},
}


def test_a_poll_is_stored_as_the_document_shows_it_with_what_we_add():
    assert plan_of(Poll).coding.encode(poll) == POLL_RECORD | ADDED_TO_EVERY_POLL


def test_the_documents_poll_is_read_as_an_open_poll_without_an_admin():
    assert plan_of(Poll).coding.decode(POLL_RECORD) == poll


def test_a_vote_is_stored_exactly_as_the_document_shows_it():
    assert plan_of(Vote).coding.encode(vote) == VOTE_RECORD
    assert plan_of(Vote).coding.decode(VOTE_RECORD) == vote


# --- a poll with everything that can be under it ---

full_poll = Poll(
    poll_id=OTHER_POLL_ID,
    title="Dinner",
    candidates=["Soup", "Salad"],
    created_at=datetime(2024, 1, 16, 9, 0, tzinfo=UTC),
    expires_at=datetime(2024, 2, 1, tzinfo=UTC),
    candidate_descriptions={"Soup": "leek and potato"},
    voter_policy="codes",
    results_visibility="afterClose",
    max_rankings=1,
    method="schulze",
    seats=2,
    lot_order=[2, 1],
    closed_at=datetime(2024, 1, 20, tzinfo=UTC),
    admin_key_hash=HASH,
    creator_id=CREATOR_ID,
    short_id="abc-def-12345",
    version=3,
)
secured_vote = Vote(
    vote_id=UUID("987fcdeb-51a2-43d1-b234-567890abcdf0"),
    poll_id=POLL_ID,
    rankings=["Python"],
    voted_at=datetime(2024, 1, 15, 14, 23, tzinfo=UTC),
    edit_key_hash=HASH,
)
counts = [Count(poll_id=POLL_ID, ranking=(2,), count=1), Count(poll_id=POLL_ID, ranking=(3, 4, 2, 1), count=1)]
shards = [Shard(poll_id=POLL_ID, shard=3, votes_version=2, votes=1), Shard(poll_id=POLL_ID, shard=7, votes_version=1)]
code = Code(poll_id=POLL_ID, hash=HASH, created_at=datetime(2024, 1, 15, 10, 30, tzinfo=UTC))


def record(method: Any, part: int, parts: int) -> Record:
    return Record(
        poll_id=POLL_ID,
        method=method,
        part=part,
        parts=parts,
        votes_version=3,
        counted_at=datetime(2024, 1, 15, 15, 0, tzinfo=UTC),
        counting_milliseconds=2,
        content=b"\0\1\2" * 1_000,
    )


irv = [record("irv", 0, 2), record("irv", 1, 2)]
schulze = record("schulze", 0, 1)
created = CreatedPoll(creator_id=CREATOR_ID, created_at=poll.created_at, poll_id=POLL_ID)
created_later = CreatedPoll(creator_id=CREATOR_ID, created_at=full_poll.created_at, poll_id=OTHER_POLL_ID)

STORED: list[Entity] = [poll, vote, secured_vote, *counts, *shards, code, *irv, schulze, created, created_later]
# Of another poll, and of everything: no answer about the first poll may have any of it.
STRANGERS: list[Entity] = [
    full_poll,
    Vote(vote_id=VOTE_ID, poll_id=OTHER_POLL_ID, rankings=["Soup"], voted_at=vote.voted_at),
    Count(poll_id=OTHER_POLL_ID, ranking=(1,), count=1),
    Shard(poll_id=OTHER_POLL_ID, shard=0, votes_version=1, votes=1),
    Code(poll_id=OTHER_POLL_ID, hash=HASH, created_at=full_poll.created_at),
]

ADDED_ROWS = {
    "a poll with all that may be said": (
        full_poll,
        {
            "PK": {"S": f"POLL#{OTHER_POLL_ID}"},
            "SK": {"S": "METADATA"},
            "id": {"S": str(OTHER_POLL_ID)},
            "title": {"S": "Dinner"},
            "candidates": {"L": [{"S": "Soup"}, {"S": "Salad"}]},
            "createdAt": {"S": "2024-01-16T09:00:00Z"},
            "expiresAt": {"S": "2024-02-01T00:00:00Z"},
            "candidateDescriptions": {"M": {"Soup": {"S": "leek and potato"}}},
            "voterPolicy": {"S": "codes"},
            "resultsVisibility": {"S": "afterClose"},
            "maxRankings": {"N": "1"},
            "method": {"S": "schulze"},
            "seats": {"N": "2"},
            "lotOrder": {"L": [{"N": "2"}, {"N": "1"}]},
            "closedAt": {"S": "2024-01-20T00:00:00Z"},
            "adminKeyHash": {"S": HASH},
            "creatorId": {"S": str(CREATOR_ID)},
            "shortId": {"S": "abc-def-12345"},
            "version": {"N": "3"},
        },
    ),
    "a vote that can be changed": (
        secured_vote,
        {
            "PK": {"S": PARTITION},
            "SK": {"S": "VOTE#987fcdeb-51a2-43d1-b234-567890abcdf0"},
            "id": {"S": "987fcdeb-51a2-43d1-b234-567890abcdf0"},
            "pollId": {"S": str(POLL_ID)},
            "rankings": {"L": [{"S": "Python"}]},
            "votedAt": {"S": "2024-01-15T14:23:00Z"},
            "editKeyHash": {"S": HASH},
        },
    ),
    "a count": (counts[1], {"PK": {"S": PARTITION}, "SK": {"S": "COUNT#3-4-2-1"}, "count": {"N": "1"}}),
    "a shard": (
        shards[0],
        {"PK": {"S": PARTITION}, "SK": {"S": "SHARD#3"}, "votesVersion": {"N": "2"}, "votes": {"N": "1"}},
    ),
    "a code": (
        code,
        {"PK": {"S": PARTITION}, "SK": {"S": f"CODE#{HASH}"}, "createdAt": {"S": "2024-01-15T10:30:00Z"}},
    ),
    "a part of a record": (
        irv[1],
        {
            "PK": {"S": PARTITION},
            "SK": {"S": "RECORD#irv#01"},
            "parts": {"N": "2"},
            "votesVersion": {"N": "3"},
            "countedAt": {"S": "2024-01-15T15:00:00Z"},
            "countingMilliseconds": {"N": "2"},
            "content": {"B": "AAEC" * 1_000},
        },
    ),
    "a poll in its creator's list": (
        created,
        {"PK": {"S": f"USER#{CREATOR_ID}"}, "SK": {"S": f"POLL#2024-01-15T10:30:00Z#{POLL_ID}"}},
    ),
}


@pytest.mark.parametrize(("entity", "item"), ADDED_ROWS.values(), ids=ADDED_ROWS)
def test_what_we_add_is_stored_like_this(entity: Entity, item: dict[str, Any]):
    assert plan_of(entity).coding.encode(entity) == item
    assert plan_of(entity).coding.decode(item) == entity


# --- every access pattern ---


@dataclass(frozen=True)
class Case:
    asked: Ref[Any] | Query[Any] | Gather[Any]
    operation: str
    body: dict[str, Any]
    answer: Any
    read_units: float

    @property
    def pattern(self) -> str:
        if isinstance(self.asked, Ref):
            return self.asked.pattern
        return (self.asked.query if isinstance(self.asked, Gather) else self.asked).pattern.name


def item_asked(partition: str, sort: str) -> dict[str, Any]:
    return {"Key": {"PK": {"S": partition}, "SK": {"S": sort}}}


def rows_asked(partition: str, condition: str, *sort: str) -> dict[str, Any]:
    values = {":PK": {"S": partition}, ":SK": {"S": sort[0]}}
    if len(sort) == 2:
        values[":SK_2"] = {"S": sort[1]}
    return {
        "KeyConditionExpression": f"#PK = :PK AND {condition}",
        "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
        "ExpressionAttributeValues": values,
    }


BEGINS = "begins_with(#SK, :SK)"
BETWEEN = "#SK BETWEEN :SK AND :SK_2"
CONSISTENT = {"ConsistentRead": True}

CASES = [
    Case(Poll.one(POLL_ID), "GetItem", item_asked(PARTITION, "METADATA") | CONSISTENT, poll, 1.0),
    Case(
        Vote.of_poll(POLL_ID),
        "Query",
        rows_asked(PARTITION, BEGINS, "VOTE#") | CONSISTENT,
        [vote, secured_vote],
        1.0,
    ),
    Case(Vote.one(POLL_ID, VOTE_ID), "GetItem", item_asked(PARTITION, f"VOTE#{VOTE_ID}") | CONSISTENT, vote, 1.0),
    Case(Count.one(POLL_ID, (3, 4, 2, 1)), "GetItem", item_asked(PARTITION, "COUNT#3-4-2-1"), counts[1], 0.5),
    Case(Count.of_poll(POLL_ID), "Query", rows_asked(PARTITION, BEGINS, "COUNT#") | CONSISTENT, counts, 1.0),
    Case(Shard.one(POLL_ID, 7), "GetItem", item_asked(PARTITION, "SHARD#7"), shards[1], 0.5),
    Case(Shard.of_poll(POLL_ID), "Query", rows_asked(PARTITION, BEGINS, "SHARD#") | CONSISTENT, shards, 1.0),
    Case(Code.one(POLL_ID, HASH), "GetItem", item_asked(PARTITION, f"CODE#{HASH}") | CONSISTENT, code, 1.0),
    Case(Code.of_poll(POLL_ID), "Query", rows_asked(PARTITION, BEGINS, "CODE#"), [code], 0.5),
    # Two parts of 3 KB and a little: 8 KB, consistently.
    Case(
        Record.by_method(POLL_ID, "irv"), "Query", rows_asked(PARTITION, BEGINS, "RECORD#irv#") | CONSISTENT, irv, 2.0
    ),
    Case(Record.of_poll(POLL_ID), "Query", rows_asked(PARTITION, BEGINS, "RECORD#"), [*irv, schulze], 1.5),
    Case(
        CreatedPoll.of_creator(CREATOR_ID),
        "Query",
        rows_asked(f"USER#{CREATOR_ID}", BEGINS, "POLL#") | CONSISTENT | {"ScanIndexForward": False},
        [created_later, created],
        1.0,
    ),
    # Three records of 3 KB and a little, the poll and the shards: 12 KB, consistently.
    Case(
        Results.of(POLL_ID),
        "Query",
        rows_asked(PARTITION, BETWEEN, "METADATA", "SHARD$") | CONSISTENT,
        Results(poll=poll, records=[*irv, schulze], shards=shards),
        3.0,
    ),
]


def rows_in(answer: Any) -> int:
    if isinstance(answer, Results):
        return 1 + len(answer.records) + len(answer.shards)
    return len(answer) if isinstance(answer, list) else 1


def test_every_access_pattern_has_its_case():
    assert {case.pattern for case in CASES} == {pattern.name for pattern in ranked_choice_polls.patterns}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.pattern)
def test_a_question_is_asked_like_this(case: Case):
    assert case.asked.request() == Request(case.operation, {"TableName": "ranked-choice-polls", **case.body})


class Stored(NamedTuple):
    store: Store
    recording: Recording
    engine: str


@pytest_asyncio.fixture(params=BOTH, scope="module", loop_scope="module")
async def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stored]:
    """A store that holds two polls; who writes to it writes to a third."""
    async with recorded_store(request.param, tmp_path_factory.mktemp("polls"), ranked_choice_polls) as (
        store,
        recording,
    ):
        for entity in STORED + STRANGERS:
            await store.put(entity, when=absent)
        yield Stored(store, recording, request.param)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.pattern)
async def test_a_question_takes_one_call_and_reads_only_what_it_returns(case: Case, stored: Stored):
    store, recording, _ = stored
    with recording.scope() as calls:
        match case.asked:
            case Ref() as asked:
                answer = await store.get(asked)
            case Gather() as asked:
                answer = await store.gather(asked)
            case asked:
                answer = await store.all(asked)
    assert answer == case.answer
    assert calls.operations == [case.operation]
    assert calls[0].items == rows_in(case.answer)
    assert calls.read_units == case.read_units


@pytest.mark.asyncio(loop_scope="module")
async def test_results_of_a_poll_that_is_not_there_are_none(stored: Stored):
    store, *_ = stored
    assert await store.gather(Results.of(UUID(int=0))) is None


# --- what a vote writes ---

VOTED_ON_ID = UUID("123e4567-e89b-12d3-a456-426614174002")
NOON = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


def cast(at: datetime, vote_id: UUID = VOTE_ID) -> list[Operation]:
    """A vote for the first candidate of a poll that must be open."""
    is_open = the(Poll.closed_at).is_none() & (the(Poll.expires_at).is_none() | (the(Poll.expires_at) > at))
    return [
        check(Poll.one(VOTED_ON_ID), when=is_open),
        put(Vote(vote_id=vote_id, poll_id=VOTED_ON_ID, rankings=["JavaScript"], voted_at=at), when=absent),
        update(Count.one(VOTED_ON_ID, (1,)), the(Count.count).add(1)),
        update(Shard.one(VOTED_ON_ID, 4), the(Shard.votes_version).add(1), the(Shard.votes).add(1)),
    ]


@pytest_asyncio.fixture(loop_scope="module")
async def voted_on(stored: Stored) -> AsyncIterator[Poll]:
    """A poll that expires at noon, with the rows that its first vote would find; gone after the test."""
    store, *_ = stored
    rows: list[Entity] = [
        msgspec.structs.replace(poll, poll_id=VOTED_ON_ID, expires_at=NOON),
        Count(poll_id=VOTED_ON_ID, ranking=(1,)),
        Shard(poll_id=VOTED_ON_ID, shard=4),
    ]
    await store.transact(*(put(row, when=absent) for row in rows))
    yield rows[0]
    await store.write_each(delete(row) for row in [*rows, *await store.all(Vote.of_poll(VOTED_ON_ID))])


@pytest.mark.asyncio(loop_scope="module")
async def test_a_vote_is_one_transaction_that_checks_the_poll_and_does_not_write_it(voted_on: Poll, stored: Stored):
    store, recording, engine = stored
    with recording.scope() as calls:
        await store.transact(*cast(NOON - timedelta(seconds=1)))
    assert calls.operations == ["TransactWriteItems"]
    # Two units for each of four small rows, the checked one included; DynamoDB Local says two for all together.
    assert calls.write_units == (2.0 if engine == LOCAL else 8.0)
    results = await store.gather(Results.of(VOTED_ON_ID))
    assert results == Results(
        poll=voted_on, records=[], shards=[Shard(poll_id=VOTED_ON_ID, shard=4, votes_version=1, votes=1)]
    )
    assert await store.all(Count.of_poll(VOTED_ON_ID)) == [Count(poll_id=VOTED_ON_ID, ranking=(1,), count=1)]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_second_vote_is_refused_and_counts_nothing(voted_on: Poll, stored: Stored):
    store, *_ = stored
    early = NOON - timedelta(hours=1)
    await store.transact(*cast(early))
    with pytest.raises(AlreadyExists) as refused:
        await store.transact(*cast(early))
    assert refused.value.position == 1
    assert await store.all(Count.of_poll(VOTED_ON_ID)) == [Count(poll_id=VOTED_ON_ID, ranking=(1,), count=1)]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_vote_at_the_second_of_expiry_is_too_late(voted_on: Poll, stored: Stored):
    store, *_ = stored
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(*cast(NOON))
    assert refused.value.position == 0
    assert refused.value.current == voted_on
    assert await store.all(Vote.of_poll(VOTED_ON_ID)) == []


# --- keys and bounds ---


def test_a_ranking_of_a_hundred_candidates_fits_the_sort_key():
    ranking = tuple(range(100, 0, -1))
    item = plan_of(Count).coding.encode(Count(poll_id=POLL_ID, ranking=ranking, count=1))
    assert item["SK"]["S"] == "COUNT#" + "-".join(str(number) for number in ranking)
    assert len(item["SK"]["S"]) == len("COUNT#") + 291
    assert plan_of(Count).coding.decode(item).ranking == ranking


@pytest.mark.parametrize("ranking", [(), (0,), (101,), (*range(1, 101), 1)])
def test_what_is_no_ranking_has_no_key(ranking: tuple[int, ...]):
    with pytest.raises(InvalidValue, match=r"Count\.ranking"):
        plan_of(Count).coding.encode(Count(poll_id=POLL_ID, ranking=ranking, count=1))
    with pytest.raises(InvalidValue, match=r"Count\.ranking"):
        Count.one(POLL_ID, ranking)


async def test_a_record_part_of_the_most_bytes_is_stored(tmp_path):
    content = b"\xff" * MOST_BYTES_IN_RECORD_PART
    part = Record(
        poll_id=POLL_ID,
        method="scottish-stv",
        part=99,
        parts=100,
        votes_version=10**18,
        counted_at=poll.created_at,
        counting_milliseconds=10**9,
        content=content,
    )
    assert MOST_BYTES_IN_RECORD_PART < ITEM_BYTES
    async with recorded_store(BOTH[0], tmp_path, ranked_choice_polls) as (store, _):
        await store.put(part, when=absent)
        assert await store.all(Record.by_method(POLL_ID, "scottish-stv")) == [part]
