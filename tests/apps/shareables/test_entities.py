"""The tables of shareables: their rows to the byte, every access pattern, and what the write decides."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.apps.shareables.entities import (
    ChecklistItem,
    CreatedShareable,
    DeletedItem,
    FormerCreatedShareable,
    Onlookers,
    Shareable,
    ShareSession,
    ShortIdPoolEntry,
    shareables,
    short_id_pool,
)
from potluck.store import Store
from potluck.table import ConditionFailed, InvalidValue, NotFound, absent, delete, present, put, the, update
from potluck.table.entity import plan_of
from tests.access_cases import AccessPatterns, Case, Requests
from tests.golden_rows import Golden, GoldenRows, unswept_store
from tests.store_fixtures import Opened, filled_store, new_store
from tests.stores import NOW

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
WORKER, MAKER = "0123456789abcdef" * 2, UUID("1b4e28ba-2fa1-41d2-883f-0016d3cca427")
onlookers = Onlookers(short_id="abc-def-12345", worker=WORKER, people=5, ttl=PURGED_AT)
gone_onlookers = replace(onlookers, worker="f" * 32, ttl=int(NOW.timestamp()))
created, created_later = (
    CreatedShareable(
        creator_id=MAKER, created_at=datetime(2024, 12, day, 12, tzinfo=UTC), short_id=short_id, ttl=PURGED_AT
    )
    for day, short_id in ((1, "abc-def-12345"), (2, "abc-def-12346"))
)
deleted_item = DeletedItem(
    short_id="abc-def-12345",
    checklist_item_id=UUID(int=9),
    order=7,
    name="Rope",
    done=True,
    item_version=3,
    ttl=PURGED_AT,
)
undone_item = replace(deleted_item, checklist_item_id=UUID(int=10), ttl=int(NOW.timestamp()))
former = FormerCreatedShareable(
    creator_id=MAKER, created_at=datetime(2024, 12, 1, 12, tzinfo=UTC), short_id="abc-def-12345", ttl=PURGED_AT
)
entry = ShortIdPoolEntry(partition=99, bucket=1, id="AAA-AAA-00000")
last_entry = ShortIdPoolEntry(partition=99, bucket=99, id="ZZZ-ZZZ-99999")
other_entry = ShortIdPoolEntry(partition=9, bucket=9, id="AAA-AAA-00001")


SHORT_ID, POLLS_SHORT_ID = checklist.short_id, poll.short_id

ROWS = [
    *(entry, last_entry, other_entry, checklist, poll, first_item, second_item, other_item, session, expired_session),
    *(onlookers, gone_onlookers, created, created_later, former, deleted_item, undone_item),
]
filled = filled_store(short_id_pool, shareables, rows=ROWS)
new = new_store(short_id_pool, shareables)
unswept = unswept_store(short_id_pool, shareables)


# --- rows to the byte ------------------------------------------------------------------------------------------------

# The design's example records, as they stand there.
SHAREABLE_RECORD = """{
  "pk": "shareable#abcdef12345",
  "sk": "01#",
  "entity": "checklist",
  "shortId": "abc-def-12345",
  "name": "My shopping list",
  "viewPasscode": "***",
  "adminPasscode": "***",
  "expiresAt": "2025-01-01T12:00:00.000Z"
}"""
CHECKLIST_ITEM_RECORD = """{
  "pk": "checklist_item#abcdef12345",
  "sk": "01#00000000000000000000000000000000#",
  "shortId": "abc-def-12345",
  "checklistItemId": "00000000-0000-0000-0000-000000000000",
  "order": 0,
  "name": "Item 1",
  "note": "example"
}"""

RECORDS = {
    # A column of examples in the design's table
    "ShortIdPool": Golden(
        entry, ShortIdPoolEntry.in_partition(99), {"pk": 99, "sk": "available#01", "id": "AAA-AAA-00000"}
    ),
    "Common attributes for all shareable entities": Golden(
        checklist, Shareable.one(SHORT_ID), json.loads(SHAREABLE_RECORD)
    ),
    "Entity: checklist_item": Golden(
        first_item, ChecklistItem.one(SHORT_ID, UUID(int=0)), json.loads(CHECKLIST_ITEM_RECORD)
    ),
    # Ours: as a created shareable has it, `ttl` a year after `expiresAt`, which lets the sweeper tidy
    "a checklist with the year that it is kept": Golden(
        replace(checklist, short_id="abc-def-12347", ttl=1767268800),
        Shareable.one("abc-def-12347"),
        json.loads(SHAREABLE_RECORD) | {"pk": "shareable#abcdef12347", "shortId": "abc-def-12347", "ttl": 1767268800},
    ),
    "a poll": Golden(
        poll,
        Shareable.one(POLLS_SHORT_ID),
        {
            "pk": "shareable#abcdef12346",
            "sk": "01#",
            "entity": "poll",
            "shortId": "abc-def-12346",
            "name": "Where to?",
            "adminPasscode": "***",
            "expiresAt": "2025-01-01T12:00:00.000Z",
            "note": "Summer",
            "pollId": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "viewersCanTick": False,
            "ttl": 4102444800,
        },
    ),
    "an item that is done": Golden(
        second_item,
        ChecklistItem.of(SHORT_ID),
        {
            "pk": "checklist_item#abcdef12345",
            "sk": "01#ffffffffffff4fffbfffffffffffffff#",
            "shortId": "abc-def-12345",
            "checklistItemId": "ffffffff-ffff-4fff-bfff-ffffffffffff",
            "order": 1,
            "name": "Item 2",
            "done": True,
            "doneAt": "2024-12-24T18:00:00.000Z",
            "version": 2,
            "ttl": 4102444800,
        },
    ),
    "a session": Golden(
        session,
        ShareSession.one(SHORT_ID, TOKEN_HASH),
        {
            "pk": "session#abcdef12345",
            "sk": f"01#{TOKEN_HASH}#",
            "shortId": "abc-def-12345",
            "role": "view",
            "passcode": "***",
            "ttl": 4102444800,
        },
    ),
    "who looks at it": Golden(
        onlookers,
        Onlookers.of(SHORT_ID),
        {
            "pk": "onlookers#abcdef12345",
            "sk": f"01#{WORKER}#",
            "shortId": "abc-def-12345",
            "people": 5,
            "ttl": 4102444800,
        },
    ),
    "one that was made signed in": Golden(
        replace(checklist, short_id="abc-def-12348", creator_id=MAKER, created_at=created.created_at, ttl=PURGED_AT),
        Shareable.one("abc-def-12348"),
        json.loads(SHAREABLE_RECORD)
        | {
            "pk": "shareable#abcdef12348",
            "shortId": "abc-def-12348",
            "creatorId": str(MAKER),
            "createdAt": "2024-12-01T12:00:00Z",
            "ttl": 4102444800,
        },
    ),
    "an item that was just deleted": Golden(
        deleted_item,
        DeletedItem.one(SHORT_ID, UUID(int=9)),
        {
            "pk": "deleted_item#abcdef12345",
            "sk": f"01#{9:032x}#",
            "shortId": "abc-def-12345",
            "checklistItemId": str(UUID(int=9)),
            "order": 7,
            "name": "Rope",
            "done": True,
            "itemVersion": 3,
            "ttl": 4102444800,
        },
    ),
    "in its maker's list": Golden(
        created,
        CreatedShareable.of_creator(MAKER),
        {"pk": f"user#{MAKER.hex}", "sk": "01#20241201t120000z#abcdef12345#", "ttl": 4102444800},
    ),
    "in its maker's list, in an earlier store": Golden(
        former,
        FormerCreatedShareable.of_creator(MAKER),
        {"pk": f"user#{MAKER}", "sk": "01#2024-12-01T12:00:00Z#abcdef12345#", "ttl": 4102444800},
    ),
}


class TestRows(GoldenRows):
    tables = (short_id_pool, shareables)
    records = RECORDS


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


# --- access patterns -------------------------------------------------------------------------------------------------

in_pool = Requests("ShortIdPool", "pk", "sk")
sent = Requests("Shareables", "pk", "sk")

CASES = [
    Case(
        ShortIdPoolEntry.in_partition(99),
        in_pool.query(99, begins_with="available#", consistent=False),
        [entry, last_entry],
        0.5,
    ),
    Case(
        ShortIdPoolEntry.in_partition(0),
        in_pool.query(0, begins_with="available#", consistent=False),
        [],
        0.5,
        about="none is left",
    ),
    Case(Shareable.one(SHORT_ID), sent.get_item("shareable#abcdef12345", "01#"), checklist, 1.0),
    Case(
        Shareable.one(POLLS_SHORT_ID),
        sent.get_item("shareable#abcdef12346", "01#"),
        poll,
        1.0,
        about="it may be a poll",
    ),
    Case(
        Shareable.one("zzz-zzz-00000"),
        sent.get_item("shareable#zzzzzz00000", "01#"),
        None,
        1.0,
        about="there is none",
    ),
    Case(
        ChecklistItem.one(SHORT_ID, second_item.checklist_item_id),
        sent.get_item("checklist_item#abcdef12345", "01#ffffffffffff4fffbfffffffffffffff#"),
        second_item,
        1.0,
    ),
    Case(
        ChecklistItem.of(SHORT_ID),
        sent.query("checklist_item#abcdef12345", begins_with="01#"),
        [first_item, second_item],
        1.0,
    ),
    Case(
        ShareSession.one(SHORT_ID, TOKEN_HASH),
        sent.get_item("session#abcdef12345", f"01#{TOKEN_HASH}#"),
        session,
        1.0,
    ),
    Case(
        ShareSession.one(SHORT_ID, "f" * 64),
        sent.get_item("session#abcdef12345", f"01#{'f' * 64}#"),
        None,
        1.0,
        in_vain=1,
        about="it has expired",
    ),
    Case(
        ShareSession.one(POLLS_SHORT_ID, TOKEN_HASH),
        sent.get_item("session#abcdef12346", f"01#{TOKEN_HASH}#"),
        None,
        1.0,
        about="a token of one shareable does not open another",
    ),
    Case(ShareSession.of(SHORT_ID), sent.query("session#abcdef12345", begins_with="01#"), [session], 1.0, in_vain=1),
    Case(
        Onlookers.of(SHORT_ID),
        sent.query("onlookers#abcdef12345", begins_with="01#"),
        [onlookers],
        1.0,
        in_vain=1,
    ),
    Case(
        DeletedItem.one(SHORT_ID, UUID(int=9)),
        sent.get_item("deleted_item#abcdef12345", f"01#{9:032x}#"),
        deleted_item,
        1.0,
    ),
    Case(
        DeletedItem.of(SHORT_ID),
        sent.query("deleted_item#abcdef12345", begins_with="01#"),
        [deleted_item],
        1.0,
        in_vain=1,
    ),
    Case(
        CreatedShareable.of_creator(MAKER),
        sent.query(f"user#{MAKER.hex}", begins_with="01#", newest_first=True),
        [created_later, created],
        1.0,
    ),
    Case(FormerCreatedShareable.of_creator(MAKER), sent.query(f"user#{MAKER}", begins_with="01#"), [former], 1.0),
]


class TestAccessPatterns(AccessPatterns):
    tables = (short_id_pool, shareables)
    cases = CASES


@pytest.mark.asyncio(loop_scope="module")
async def test_who_is_calling_and_what_they_may_do_is_one_request(filled: Opened) -> None:
    store, recording, _ = filled
    with recording.scope() as calls:
        what, who = await store.get_together(Shareable.one(SHORT_ID), ShareSession.one(SHORT_ID, TOKEN_HASH))
    assert (what, who) == (checklist, session)
    assert calls.operations == ["BatchGetItem"]
    assert all(asked["ConsistentRead"] for asked in calls[0].request["RequestItems"].values())
    assert calls.read_units == 2.0


# --- what the write decides ------------------------------------------------------------------------------------------


async def test_a_short_id_is_claimed_once(new: Opened) -> None:
    store, _, _ = new
    await store.put(entry)
    claim = delete(entry, when=present), put(replace(checklist, short_id="aaa-aaa-00000"), when=absent)
    claims = await asyncio.gather(*(store.transact(*claim) for _ in range(5)), return_exceptions=True)
    refusals = [each for each in claims if each is not None]
    assert len(refusals) == 4
    # The entry is looked at first: whoever comes too late learns that it is gone.
    assert {(type(each), each.position) for each in refusals} == {(NotFound, 0)}
    assert await store.all(ShortIdPoolEntry.in_partition(99)) == []


async def test_a_reordering_made_for_other_items_is_refused(new: Opened) -> None:
    store, _, _ = new
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


async def test_a_shareable_is_gone_at_the_second_its_year_ends(new: Opened) -> None:
    store, _, _ = new
    kept, purged = replace(checklist, ttl=PURGED_AT + 1), replace(poll, ttl=PURGED_AT)
    for each in (kept, purged):
        await store.put(each, when=absent)
    then = Store(store.engine, lambda: PURGED)
    assert await then.get_many([Shareable.one(kept.short_id), Shareable.one(purged.short_id)]) == [kept, None]
    await then.put(replace(purged, ttl=PURGED_AT + 1), when=absent)
