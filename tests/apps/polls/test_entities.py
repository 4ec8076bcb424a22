"""The polls' table: its rows to the byte, every access pattern, and what a vote writes."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.apps.polls.entities import (
    MOST_BYTES_IN_RECORD_PART,
    SHARDS,
    Code,
    Count,
    CountPart,
    CountRow,
    CreatedPoll,
    Deletion,
    Poll,
    PollRow,
    Record,
    Results,
    Shard,
    Vote,
    ranked_choice_polls,
)
from potluck.dynamo.limits import ITEM_BYTES
from potluck.engines.conflicting import Conflicting
from potluck.store import Store
from potluck.table import (
    AlreadyExists,
    ConditionFailed,
    Entity,
    InvalidValue,
    absent,
    delete,
    put,
    the,
    update,
    upsert,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from tests.access_cases import AccessPatterns, Case, Requests
from tests.engine_targets import EMBEDDED
from tests.golden_rows import Golden, GoldenRows, unswept_store
from tests.store_fixtures import Opened, filled_store, new_store, units_of_transaction
from tests.stores import recorded_store

POLL_ID = UUID("123e4567-e89b-12d3-a456-426614174000")
VOTE_ID = UUID("987fcdeb-51a2-43d1-b234-567890abcdef")
OTHER_POLL_ID = UUID("123e4567-e89b-12d3-a456-426614174001")
CREATOR_ID = UUID("00000000-0000-4000-8000-00000000000c")
OF_POLL = f"POLL#{POLL_ID}"
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
counts = [
    Count(poll_id=POLL_ID, ranking=(2,), count=1),
    Count(poll_id=POLL_ID, ranking=(3, 4, 2, 1), count=1),
    CountPart(poll_id=POLL_ID, ranking=(3, 4, 2, 1), part=63, count=-1),
]
shards = [
    Shard(poll_id=POLL_ID, shard=3, votes_version=2, votes=1),
    # In the order of keys, which are not padded: 63 before 7.
    Shard(poll_id=POLL_ID, shard=63, votes_version=4, votes=-1, fence=3, access_fence=2),
    Shard(poll_id=POLL_ID, shard=7, votes_version=1),
]
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

deletion = Deletion(poll_id=UUID(int=7), deleted_at=poll.created_at)

ROWS: list[Entity] = [poll, vote, secured_vote, *counts, *shards, code, *irv, schulze, created, created_later]
# Of another poll: no answer about the first may have any of it. All are of OTHER_POLL_ID; a test counts them.
STRANGERS: list[Entity] = [
    full_poll,
    Vote(vote_id=VOTE_ID, poll_id=OTHER_POLL_ID, rankings=["Soup"], voted_at=vote.voted_at),
    Count(poll_id=OTHER_POLL_ID, ranking=(1,), count=1),
    Shard(poll_id=OTHER_POLL_ID, shard=0, votes_version=1, votes=1),
    Code(poll_id=OTHER_POLL_ID, hash=HASH, created_at=full_poll.created_at),
]
FILLED = [*ROWS, *STRANGERS, deletion]

filled = filled_store(ranked_choice_polls, rows=FILLED)
new = new_store(ranked_choice_polls)
unswept = unswept_store(ranked_choice_polls)


# --- rows to the byte ------------------------------------------------------------------------------------------------

# The document's examples, as they stand there.
POLL_EXAMPLE = """
PK: POLL#123e4567-e89b-12d3-a456-426614174000
SK: METADATA
id: 123e4567-e89b-12d3-a456-426614174000
title: "Best Programming Language 2024"
description: "Vote for your favorite programming language"
candidates: ["JavaScript", "Python", "Go", "Rust"]
createdAt: 2024-01-15T10:30:00Z
"""
VOTE_EXAMPLE = """
PK: POLL#123e4567-e89b-12d3-a456-426614174000
SK: VOTE#987fcdeb-51a2-43d1-b234-567890abcdef
id: 987fcdeb-51a2-43d1-b234-567890abcdef
pollId: 123e4567-e89b-12d3-a456-426614174000
rankings: ["Go", "Rust", "Python", "JavaScript"]
votedAt: 2024-01-15T14:22:00Z
"""


def example(text: str) -> dict[str, Any]:
    """A record as the document writes it: a line for each attribute, texts with spaces in quotes."""
    lines = [line.split(": ", 1) for line in text.split("\n") if line]
    return {name: json.loads(value) if value[0] in '"[' else value for name, value in lines}


RECORDS = {
    "Poll Entity": Golden(poll, Poll.one(POLL_ID), example(POLL_EXAMPLE)),
    "Vote Entity": Golden(vote, Vote.one(POLL_ID, VOTE_ID), example(VOTE_EXAMPLE)),
    # Ours
    "a poll with all that may be said": Golden(
        full_poll,
        Poll.one(OTHER_POLL_ID),
        {
            "PK": f"POLL#{OTHER_POLL_ID}",
            "SK": "METADATA",
            "id": str(OTHER_POLL_ID),
            "title": "Dinner",
            "candidates": ["Soup", "Salad"],
            "createdAt": "2024-01-16T09:00:00Z",
            "expiresAt": "2024-02-01T00:00:00Z",
            "candidateDescriptions": {"Soup": "leek and potato"},
            "voterPolicy": "codes",
            "resultsVisibility": "afterClose",
            "maxRankings": 1,
            "method": "schulze",
            "seats": 2,
            "lotOrder": [2, 1],
            "closedAt": "2024-01-20T00:00:00Z",
            "adminKeyHash": HASH,
            "creatorId": str(CREATOR_ID),
            "shortId": "abc-def-12345",
            "version": 3,
        },
    ),
    "a vote that can be changed": Golden(
        secured_vote,
        Vote.one(POLL_ID, secured_vote.vote_id),
        {
            "PK": OF_POLL,
            "SK": "VOTE#987fcdeb-51a2-43d1-b234-567890abcdf0",
            "id": "987fcdeb-51a2-43d1-b234-567890abcdf0",
            "pollId": str(POLL_ID),
            "rankings": ["Python"],
            "votedAt": "2024-01-15T14:23:00Z",
            "editKeyHash": HASH,
        },
    ),
    "a count": Golden(counts[1], Count.one(POLL_ID, (3, 4, 2, 1)), {"PK": OF_POLL, "SK": "COUNT#3-4-2-1", "count": 1}),
    "a part of a count": Golden(
        counts[2],
        CountPart.one(POLL_ID, (3, 4, 2, 1), 63),
        {"PK": OF_POLL, "SK": "COUNT#3-4-2-1#63", "count": -1},
    ),
    # As it was written before shards had fences.
    "a shard": Golden(
        shards[0], Shard.one(POLL_ID, 3), {"PK": OF_POLL, "SK": "SHARD#3", "votesVersion": 2, "votes": 1}
    ),
    "a shard with fences": Golden(
        shards[1],
        Shard.one(POLL_ID, 63),
        {"PK": OF_POLL, "SK": "SHARD#63", "votesVersion": 4, "votes": -1, "fence": 3, "accessFence": 2},
    ),
    "a poll with votes": Golden(
        replace(poll, poll_id=UUID(int=8), shards=64, access_fence=2),
        Poll.one(UUID(int=8)),
        example(POLL_EXAMPLE) | {"PK": f"POLL#{UUID(int=8)}", "id": str(UUID(int=8)), "shards": 64, "accessFence": 2},
    ),
    "a code": Golden(
        code, Code.one(POLL_ID, HASH), {"PK": OF_POLL, "SK": f"CODE#{HASH}", "createdAt": "2024-01-15T10:30:00Z"}
    ),
    "a part of a record": Golden(
        irv[1],
        Record.by_method(POLL_ID, "irv"),
        {
            "PK": OF_POLL,
            "SK": "RECORD#irv#01",
            "parts": 2,
            "votesVersion": 3,
            "countedAt": "2024-01-15T15:00:00.000Z",
            "countingMilliseconds": 2,
            "content": b"\0\1\2" * 1_000,
        },
    ),
    "a poll in its creator's list": Golden(
        created,
        CreatedPoll.of_creator(CREATOR_ID),
        {"PK": f"USER#{CREATOR_ID}", "SK": f"POLL#2024-01-15T10:30:00Z#{POLL_ID}"},
    ),
    "a deletion": Golden(
        deletion,
        Deletion.one(UUID(int=7)),
        {"PK": "DELETIONS", "SK": f"POLL#{UUID(int=7)}", "deletedAt": "2024-01-15T10:30:00Z"},
    ),
}


class TestRows(GoldenRows):
    tables = (ranked_choice_polls,)
    records = RECORDS


def test_the_documents_poll_is_an_open_one_without_an_admin():
    assert (poll.voter_policy, poll.results_visibility, poll.method, poll.seats) == ("open", "always", "irv", 1)
    assert (poll.closed_at, poll.admin_key_hash, poll.creator_id) == (None, None, None)


# --- access patterns -------------------------------------------------------------------------------------------------

sent = Requests("ranked-choice-polls")

CASES = [
    # The document's, by its numbers: 1 and 2; for 3, calculate results, there are CountRow.of_poll and Results.of
    Case(Poll.one(POLL_ID), sent.get_item(OF_POLL, "METADATA"), poll, 1.0),
    Case(Vote.of_poll(POLL_ID), sent.query(OF_POLL, begins_with="VOTE#"), [vote, secured_vote], 1.0),
    Case(CountRow.of_poll(POLL_ID), sent.query(OF_POLL, begins_with="COUNT#"), counts, 1.0),
    # Three records of 3 KB and a little, the poll and the shards: 12 KB, consistently.
    Case(
        Results.of(POLL_ID),
        sent.query(OF_POLL, between=("METADATA", "SHARD$")),
        Results(poll=poll, records=[*irv, schulze], shards=shards),
        3.0,
    ),
    Case(
        Results.of(UUID(int=0)),
        sent.query(f"POLL#{UUID(int=0)}", between=("METADATA", "SHARD$")),
        None,
        1.0,
        about="there is no such poll",
    ),
    # Ours
    Case(Vote.one(POLL_ID, VOTE_ID), sent.get_item(OF_POLL, f"VOTE#{VOTE_ID}"), vote, 1.0),
    Case(Count.one(POLL_ID, (3, 4, 2, 1)), sent.get_item(OF_POLL, "COUNT#3-4-2-1", consistent=False), counts[1], 0.5),
    Case(
        CountPart.one(POLL_ID, (3, 4, 2, 1), 63),
        sent.get_item(OF_POLL, "COUNT#3-4-2-1#63", consistent=False),
        counts[2],
        0.5,
    ),
    Case(Shard.one(POLL_ID, 7), sent.get_item(OF_POLL, "SHARD#7", consistent=False), shards[2], 0.5),
    Case(Shard.of_poll(POLL_ID), sent.query(OF_POLL, begins_with="SHARD#"), shards, 1.0),
    Case(Code.one(POLL_ID, HASH), sent.get_item(OF_POLL, f"CODE#{HASH}"), code, 1.0),
    # Two parts of 3 KB and a little: 8 KB, consistently.
    Case(Record.by_method(POLL_ID, "irv"), sent.query(OF_POLL, begins_with="RECORD#irv#"), irv, 2.0),
    Case(Record.one(POLL_ID, "irv", 1), sent.get_item(OF_POLL, "RECORD#irv#01", consistent=False), irv[1], 0.5),
    Case(Deletion.one(UUID(int=7)), sent.get_item("DELETIONS", f"POLL#{UUID(int=7)}"), deletion, 1.0),
    Case(Deletion.all_under_way(), sent.query("DELETIONS", begins_with="POLL#"), [deletion], 1.0),
    Case(
        CreatedPoll.of_creator(CREATOR_ID),
        sent.query(f"USER#{CREATOR_ID}", begins_with="POLL#", newest_first=True),
        [created_later, created],
        1.0,
    ),
    Case(
        PollRow.of_poll(POLL_ID),
        sent.query(OF_POLL, between=("CODE#", "VOTE$")),
        [code, *counts, poll, *irv, schulze, *shards, vote, secured_vote],
        3.0,
    ),
]


class TestAccessPatterns(AccessPatterns):
    tables = (ranked_choice_polls,)
    cases = CASES


# --- what a vote writes ----------------------------------------------------------------------------------------------

NOON = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
VOTERS = 50
until_noon = replace(poll, expires_at=NOON)


def cast(
    number: int, ranking: tuple[int, ...] = (1,), at: datetime = NOON - timedelta(seconds=1), version: int = 1
) -> list[Operation]:
    """What the voter of this number writes: nothing, if they read the poll before what the shard's fence says."""
    rankings = [poll.candidates[each - 1] for each in ranking]
    return [
        update(
            Shard.one(POLL_ID, number % SHARDS),
            the(Shard.votes_version).add(1),
            the(Shard.votes).add(1),
            when=the(Shard.fence) < version,
        ),
        put(Vote(vote_id=UUID(int=number), poll_id=POLL_ID, rankings=rankings, voted_at=at), when=absent),
        upsert(Count.one(POLL_ID, ranking), the(Count.count).add(1)),
    ]


async def open_for_votes(store: Store) -> None:
    await store.put(until_noon, when=absent)
    await store.write_each(put(Shard(poll_id=POLL_ID, shard=shard)) for shard in range(SHARDS))


async def test_a_vote_is_one_transaction_that_does_not_touch_the_poll(new: Opened):
    store, recording, engine = new
    await open_for_votes(store)
    with recording.scope() as calls:
        await store.transact(*cast(4, (1, 3)))
    assert (calls.operations, calls.write_units) == (["TransactWriteItems"], units_of_transaction(engine, rows=3))
    empty = [Shard(poll_id=POLL_ID, shard=shard) for shard in range(SHARDS)]
    assert [row for row in await store.all(PollRow.of_poll(POLL_ID)) if row not in empty] == [
        Count(poll_id=POLL_ID, ranking=(1, 3), count=1),
        until_noon,
        Shard(poll_id=POLL_ID, shard=4, votes_version=1, votes=1),
        Vote(vote_id=UUID(int=4), poll_id=POLL_ID, rankings=["JavaScript", "Go"], voted_at=NOON - timedelta(seconds=1)),
    ]


async def vote_at_once(store: Store) -> None:
    """Fifty voters, three rankings: every vote counts, and counts once."""
    await open_for_votes(store)
    rankings = [[(1,), (2, 1), (4, 3, 2, 1)][number % 3] for number in range(VOTERS)]
    await asyncio.gather(*(store.transact(*cast(number, each)) for number, each in enumerate(rankings)))
    assert await store.count(Vote.of_poll(POLL_ID)) == VOTERS
    assert {each.ranking: each.count for each in await store.all(CountRow.of_poll(POLL_ID))} == Counter(rankings)
    results = await store.gather(Results.of(POLL_ID))
    assert results is not None
    assert (results.poll, len(results.shards)) == (until_noon, SHARDS)
    assert sum(each.votes for each in results.shards) == VOTERS
    assert sum(each.votes_version for each in results.shards) == VOTERS


async def test_fifty_who_vote_at_once_are_all_counted_and_a_second_vote_of_each_is_refused(new: Opened):
    store, _, _ = new
    await vote_at_once(store)
    before = await store.all(PollRow.of_poll(POLL_ID))
    again = await asyncio.gather(*(store.transact(*cast(number)) for number in range(VOTERS)), return_exceptions=True)
    assert {(type(each), each.position) for each in again} == {(AlreadyExists, 1)}
    assert await store.all(PollRow.of_poll(POLL_ID)) == before


async def test_voters_whose_transactions_meet_are_counted_once_each(tmp_path: Path):
    meeting = recorded_store(
        EMBEDDED,
        tmp_path,
        ranked_choice_polls,
        wrap=lambda engine: Conflicting(engine, 7, conflicts=0.3, lost_answers=0.1),
    )
    async with meeting as (store, _):
        await vote_at_once(store)


async def test_a_vote_that_is_changed_moves_from_one_count_to_another(new: Opened):
    store, _, _ = new
    await open_for_votes(store)
    for number in (1, 2):
        await store.transact(*cast(number))
    was = await store.one(Vote.one(POLL_ID, UUID(int=2)))
    rankings = the(Vote.rankings)
    change = (
        update(Shard.one(POLL_ID, 2), the(Shard.votes_version).add(1), when=the(Shard.fence) < 1),
        update(was, rankings.becomes(["Rust"]), when=rankings == was.rankings),
        update(Count.one(POLL_ID, (1,)), the(Count.count).add(-1)),
        upsert(Count.one(POLL_ID, (4,)), the(Count.count).add(1)),
    )
    await store.transact(*change)
    assert [(each.ranking, each.count) for each in await store.all(CountRow.of_poll(POLL_ID))] == [((1,), 1), ((4,), 1)]
    assert await store.get(Shard.one(POLL_ID, 2)) == Shard(poll_id=POLL_ID, shard=2, votes_version=2, votes=1)
    # Who changes what is no longer so changes nothing.
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(*change)
    assert (refused.value.position, refused.value.current.rankings) == (1, ["Rust"])


async def test_a_vote_of_someone_who_read_the_poll_before_its_shard_was_sealed_is_refused(new: Opened):
    store, _, _ = new
    await open_for_votes(store)
    sealed = await store.update(Shard.one(POLL_ID, 1), the(Shard.fence).becomes(1), when=the(Shard.fence) < 1)
    before = await store.all(PollRow.of_poll(POLL_ID))
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(*cast(1))
    assert (refused.value.position, refused.value.current) == (0, sealed)
    assert await store.all(PollRow.of_poll(POLL_ID)) == before
    await store.transact(*cast(1, version=2))


async def test_a_poll_is_deleted_to_the_last_row(new: Opened):
    store, recording, _ = new
    await store.write_each(put(row, when=absent) for row in ROWS + STRANGERS)
    await store.write_each([delete(row) async for row in store.each(PollRow.of_poll(POLL_ID))])
    scanned = (await recording.call("Scan", {"TableName": "ranked-choice-polls"}))["Items"]
    assert OF_POLL not in {row["PK"]["S"] for row in scanned}
    assert await store.count(PollRow.of_poll(OTHER_POLL_ID)) == len(STRANGERS)


# --- keys and bounds -------------------------------------------------------------------------------------------------


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


async def test_a_record_part_of_the_most_bytes_is_stored(new: Opened):
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
    await new.store.put(part, when=absent)
    assert await new.store.all(Record.by_method(POLL_ID, "scottish-stv")) == [part]
