"""The rows of shareables to the byte, and what every question asks and costs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from msgspec.structs import replace

from potluck.apps.shareables.entities import (
    ChecklistItem,
    Shareable,
    ShareSession,
    ShortIdPoolEntry,
    shareables,
    short_id_pool,
)
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import (
    ConditionFailed,
    InvalidValue,
    NotFound,
    Query,
    Ref,
    Request,
    absent,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from tests.engine_targets import BOTH
from tests.stores import NOW, recorded_store

# The engines sweep by the time it really is, so what is to be found again must be kept long after that.
PURGED = datetime(2100, 1, 1, tzinfo=UTC)
PURGED_AT = int(PURGED.timestamp())
TOKEN_HASH = "0123456789abcdef" * 4

checklist = Shareable(
    entity="checklist",
    short_id="abc-def-12345",
    name="My shopping list",
    view_passcode="***",
    admin_passcode="***",
    expires_at=datetime(2025, 1, 1, 12, tzinfo=UTC),
    ttl=PURGED_AT,
)
poll = Shareable(
    entity="poll",
    short_id="abc-def-12346",
    name="Where to?",
    admin_passcode="***",
    expires_at=datetime(2025, 1, 1, 12, tzinfo=UTC),
    note="Summer",
    poll_id=UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
    viewers_can_tick=False,
    ttl=PURGED_AT,
)
first_item = ChecklistItem(
    short_id="abc-def-12345",
    checklist_item_id=UUID(int=0),
    order=0,
    name="Item 1",
    note="example",
    ttl=PURGED_AT,
)
second_item = ChecklistItem(
    short_id="abc-def-12345",
    checklist_item_id=UUID("ffffffff-ffff-4fff-bfff-ffffffffffff"),
    order=1,
    name="Item 2",
    done=True,
    done_at=datetime(2024, 12, 24, 18, tzinfo=UTC),
    version=2,
    ttl=PURGED_AT,
)
other_item = replace(first_item, short_id="abc-def-12346")
session = ShareSession(short_id="abc-def-12345", token_hash=TOKEN_HASH, role="view", passcode="***", ttl=PURGED_AT)
expired_session = replace(session, token_hash="f" * 64, ttl=int(NOW.timestamp()))
entry = ShortIdPoolEntry(partition=99, bucket=1, id="AAA-AAA-00000")
last_entry = ShortIdPoolEntry(partition=99, bucket=99, id="ZZZ-ZZZ-99999")
other_entry = ShortIdPoolEntry(partition=9, bucket=9, id="AAA-AAA-00001")


# --- rows ------------------------------------------------------------------------------------------------------------

# The design's own records, and what our rows have besides.
DESIGNED: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "a short id in the pool": (
        entry,
        {"pk": {"N": "99"}, "sk": {"S": "available#01"}, "id": {"S": "AAA-AAA-00000"}},
        {},
    ),
    "a checklist": (
        checklist,
        {
            "pk": {"S": "shareable#abcdef12345"},
            "sk": {"S": "01#"},
            "entity": {"S": "checklist"},
            "shortId": {"S": "abc-def-12345"},
            "name": {"S": "My shopping list"},
            "viewPasscode": {"S": "***"},
            "adminPasscode": {"S": "***"},
            "expiresAt": {"S": "2025-01-01T12:00:00.000Z"},
        },
        {
            "viewersCanTick": {"BOOL": True},
            "itemsVersion": {"N": "0"},
            "version": {"N": "1"},
            "ttl": {"N": "4102444800"},
        },
    ),
    "an item of a checklist": (
        first_item,
        {
            "pk": {"S": "checklist_item#abcdef12345"},
            "sk": {"S": "01#00000000000000000000000000000000#"},
            "shortId": {"S": "abc-def-12345"},
            "checklistItemId": {"S": "00000000-0000-0000-0000-000000000000"},
            "order": {"N": "0"},
            "name": {"S": "Item 1"},
            "note": {"S": "example"},
        },
        {"done": {"BOOL": False}, "version": {"N": "1"}, "ttl": {"N": "4102444800"}},
    ),
}
OURS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a poll": (
        poll,
        {
            "pk": {"S": "shareable#abcdef12346"},
            "sk": {"S": "01#"},
            "entity": {"S": "poll"},
            "shortId": {"S": "abc-def-12346"},
            "name": {"S": "Where to?"},
            "adminPasscode": {"S": "***"},
            "expiresAt": {"S": "2025-01-01T12:00:00.000Z"},
            "note": {"S": "Summer"},
            "pollId": {"S": "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
            "viewersCanTick": {"BOOL": False},
            "itemsVersion": {"N": "0"},
            "version": {"N": "1"},
            "ttl": {"N": "4102444800"},
        },
    ),
    "an item that is done": (
        second_item,
        {
            "pk": {"S": "checklist_item#abcdef12345"},
            "sk": {"S": "01#ffffffffffff4fffbfffffffffffffff#"},
            "shortId": {"S": "abc-def-12345"},
            "checklistItemId": {"S": "ffffffff-ffff-4fff-bfff-ffffffffffff"},
            "order": {"N": "1"},
            "name": {"S": "Item 2"},
            "done": {"BOOL": True},
            "doneAt": {"S": "2024-12-24T18:00:00.000Z"},
            "version": {"N": "2"},
            "ttl": {"N": "4102444800"},
        },
    ),
    "a session": (
        session,
        {
            "pk": {"S": "session#abcdef12345"},
            "sk": {"S": f"01#{TOKEN_HASH}#"},
            "shortId": {"S": "abc-def-12345"},
            "role": {"S": "view"},
            "passcode": {"S": "***"},
            "ttl": {"N": "4102444800"},
        },
    ),
}


@pytest.mark.parametrize("name", DESIGNED)
def test_a_row_is_the_designs_record_to_the_byte_and_reads_back(name: str) -> None:
    entity, record, ours = DESIGNED[name]
    coding = plan_of(entity).coding
    assert coding.encode(entity) == record | ours
    assert coding.decode(record | ours) == entity


@pytest.mark.parametrize("name", DESIGNED)
def test_the_designs_record_is_read_without_what_we_add(name: str) -> None:
    entity, record, ours = DESIGNED[name]
    assert plan_of(entity).coding.decode(record) == (replace(entity, ttl=None) if ours else entity)


@pytest.mark.parametrize("name", OURS)
def test_a_row_of_ours_is_written_and_reads_back(name: str) -> None:
    entity, row = OURS[name]
    coding = plan_of(entity).coding
    assert coding.encode(entity) == row
    assert coding.decode(row) == entity


@pytest.mark.parametrize(
    "short_id", ["ABC-DEF-12345", "abcdef12345", "abc-def-1234", "abc-de1-12345", "abc-def-12345\n"]
)
def test_a_short_id_in_another_spelling_is_not_written(short_id: str) -> None:
    with pytest.raises(InvalidValue, match="short_id"):
        plan_of(Shareable).coding.encode(replace(checklist, short_id=short_id))


@pytest.mark.parametrize("short_id", ["ABC-DEF-12345", "abcdef12345", "abc-def12345", "ab-cdef-12345"])
def test_a_short_id_in_another_spelling_is_not_asked_for(short_id: str) -> None:
    with pytest.raises(InvalidValue, match="short_id"):
        Shareable.one(short_id)


@pytest.mark.parametrize(
    ("entity", "field", "value"),
    [
        (checklist, "name", ""),
        (checklist, "name", "x" * 201),
        (checklist, "note", "x" * 2001),
        (checklist, "entity", "diary"),
        (first_item, "name", "x" * 201),
        (first_item, "note", "x" * 2001),
        (first_item, "order", -1),
        (session, "token_hash", "x" * 64),
        (session, "role", "owner"),
        (entry, "partition", 1000),
        (entry, "bucket", 100),
        (entry, "id", "aaa-aaa-00000"),
    ],
)
def test_a_value_outside_its_bounds_is_not_written(entity: Any, field: str, value: Any) -> None:
    with pytest.raises(InvalidValue, match=f"{type(entity).__name__}.{field}"):
        plan_of(entity).coding.encode(replace(entity, **{field: value}))


# --- the questions ---------------------------------------------------------------------------------------------------


def got(pk: str, sk: str) -> Request:
    key = {"pk": {"S": pk}, "sk": {"S": sk}}
    return Request("GetItem", {"TableName": "Shareables", "Key": key, "ConsistentRead": True})


def queried(table: str, pk: dict[str, str], sk: str, **others: Any) -> Request:
    body = {
        "TableName": table,
        "KeyConditionExpression": "#pk = :pk AND begins_with(#sk, :sk)",
        "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk"},
        "ExpressionAttributeValues": {":pk": pk, ":sk": {"S": sk}},
    }
    return Request("Query", body | others)


# The question; the request it makes; its answer; what reading it costs.
ASKED: dict[str, tuple[Query[Any] | Ref[Any], Request, list[Any], float]] = {
    "which ids are there to claim": (
        ShortIdPoolEntry.in_partition(99),
        queried("ShortIdPool", {"N": "99"}, "available#"),
        [entry, last_entry],
        0.5,
    ),
    "none is left in a partition": (
        ShortIdPoolEntry.in_partition(0),
        queried("ShortIdPool", {"N": "0"}, "available#"),
        [],
        0.5,
    ),
    "what is behind a short id": (
        Shareable.one("abc-def-12345"),
        got("shareable#abcdef12345", "01#"),
        [checklist],
        1.0,
    ),
    "it may be a poll": (
        Shareable.one("abc-def-12346"),
        got("shareable#abcdef12346", "01#"),
        [poll],
        1.0,
    ),
    "nothing is behind a short id": (
        Shareable.one("zzz-zzz-00000"),
        got("shareable#zzzzzz00000", "01#"),
        [],
        1.0,
    ),
    "one line of a checklist": (
        ChecklistItem.one("abc-def-12345", second_item.checklist_item_id),
        got("checklist_item#abcdef12345", "01#ffffffffffff4fffbfffffffffffffff#"),
        [second_item],
        1.0,
    ),
    "all lines of a checklist": (
        ChecklistItem.of("abc-def-12345"),
        queried("Shareables", {"S": "checklist_item#abcdef12345"}, "01#", ConsistentRead=True),
        [first_item, second_item],
        1.0,
    ),
    "who holds a token": (
        ShareSession.one("abc-def-12345", TOKEN_HASH),
        got("session#abcdef12345", f"01#{TOKEN_HASH}#"),
        [session],
        1.0,
    ),
    "nobody holds a token that has expired": (
        ShareSession.one("abc-def-12345", "f" * 64),
        got("session#abcdef12345", f"01#{'f' * 64}#"),
        [],
        1.0,
    ),
    "a token of one shareable does not open another": (
        ShareSession.one("abc-def-12346", TOKEN_HASH),
        got("session#abcdef12346", f"01#{TOKEN_HASH}#"),
        [],
        1.0,
    ),
    "all sessions of a shareable": (
        ShareSession.of("abc-def-12345"),
        queried("Shareables", {"S": "session#abcdef12345"}, "01#", ConsistentRead=True),
        [session],
        1.0,
    ),
}


def test_every_question_is_asked() -> None:
    asked = {
        question.pattern if isinstance(question, Ref) else question.pattern.name for question, *_ in ASKED.values()
    }
    assert asked == {pattern.name for table in (short_id_pool, shareables) for pattern in table.patterns}


@pytest.mark.parametrize("name", ASKED)
def test_the_request_of_a_question(name: str) -> None:
    question, request, _, _ = ASKED[name]
    assert question.request() == request


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=BOTH)
async def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Store, Recording]]:
    folder = tmp_path_factory.mktemp("filled")
    async with recorded_store(request.param, folder, short_id_pool, shareables) as (store, recording):
        rows = [entry, last_entry, other_entry, checklist, poll, first_item, second_item, other_item]
        for entity in [*rows, session, expired_session]:
            await store.put(entity, when=absent)
        yield store, recording


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ASKED)
async def test_a_question_is_one_request_and_costs_its_answer(name: str, filled: tuple[Store, Recording]) -> None:
    store, recording = filled
    question, request, answer, units = ASKED[name]
    with recording.scope() as calls:
        if isinstance(question, Ref):
            assert [await store.get(question)] == (answer or [None])
        else:
            assert await store.all(question) == answer
    assert [(call.operation, call.request) for call in calls] == [request]
    # DynamoDB Local asks nothing for a query that finds nothing; the service asks the least there is.
    assert calls.read_units in ({units} if answer else {units, 0.0})


@pytest.mark.asyncio(loop_scope="module")
async def test_who_is_calling_and_what_they_may_do_is_one_request(filled: tuple[Store, Recording]) -> None:
    store, recording = filled
    with recording.scope() as calls:
        what, who = await store.get_many(
            [Shareable.one("abc-def-12345"), ShareSession.one("abc-def-12345", TOKEN_HASH)]
        )
    assert (what, who) == (checklist, session)
    assert calls.operations == ["BatchGetItem"]
    assert calls.read_units == 2.0


# --- writes ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with recorded_store(request.param, tmp_path, short_id_pool, shareables) as (store, _):
        yield store


async def test_a_short_id_is_claimed_once(store: Store) -> None:
    await store.put(entry)
    claim = delete(entry, when=present), put(replace(checklist, short_id="aaa-aaa-00000"), when=absent)
    claims = await asyncio.gather(*(store.transact(*claim) for _ in range(5)), return_exceptions=True)
    refusals = [each for each in claims if each is not None]
    assert len(refusals) == 4
    # The entry is looked at first: whoever comes too late learns that it is gone.
    assert {(type(each), each.position) for each in refusals} == {(NotFound, 0)}
    assert await store.all(ShortIdPoolEntry.in_partition(99)) == []


async def test_a_reordering_made_for_other_items_is_refused(store: Store) -> None:
    await store.put(checklist, when=absent)
    await store.put(first_item, when=absent)
    the_list = Shareable.one(checklist.short_id)
    items_change = the(Shareable.items_version)
    as_seen = items_change == checklist.items_version
    await store.transact(update(the_list, items_change.add(1), when=as_seen), put(second_item, when=absent))
    reordering = update(the_list, items_change.add(1), when=as_seen)
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(reordering, update(first_item, the(ChecklistItem.order).becomes(1)))
    assert refused.value.current == replace(checklist, items_version=1)
    assert await store.all(ChecklistItem.of(checklist.short_id)) == [first_item, second_item]


async def test_a_shareable_is_gone_at_the_second_its_year_ends(store: Store) -> None:
    kept, purged = replace(checklist, ttl=PURGED_AT + 1), replace(poll, ttl=PURGED_AT)
    for each in (kept, purged):
        await store.put(each, when=absent)
    then = Store(store.engine, lambda: PURGED)
    assert await then.get_many([Shareable.one(kept.short_id), Shareable.one(purged.short_id)]) == [kept, None]
    await then.put(replace(purged, ttl=PURGED_AT + 1), when=absent)
