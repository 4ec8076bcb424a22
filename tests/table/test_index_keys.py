"""After every update that is accepted, the stored index keys are those of the item; none stale, none half there."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from potluck.table import (
    Changed,
    ComponentsNeeded,
    ConditionFailed,
    Entity,
    ExpiresAt,
    LeftOut,
    OrNull,
    Seconds,
    Table,
    Unique,
    Version,
    VersionConflict,
    get,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.expressions.conditions import Becomes, Change, FieldName, Still, absent
from tests.table.pantry import Book, InventoryItem, ShoppingListItem, inventory
from tests.table.sending import NOW as SENT_AT
from tests.table.sending import Sent, opened
from tests.table.test_operations import NOON

FAMILY, OTHER, STORE, LIBRARY = (UUID(int=number) for number in (1, 2, 3, 4))


@pytest.fixture
async def table():
    async with opened(inventory) as table:
        yield table


def item(**values: Any) -> InventoryItem:
    return InventoryItem(**{"family_id": FAMILY, "item_id": OTHER, "name": "Milk", **values})


def shopping(**values: Any) -> ShoppingListItem:
    known = {"family_id": FAMILY, "shopping_item_id": OTHER, "name": "Milk", "updated_at": NOON}
    return ShoppingListItem(**{**known, **values})


def book(**values: Any) -> Book:
    return Book(**{"book_id": OTHER, "owner_id": "ada", "library_id": LIBRARY, "title": "Émma", **values})


def keys(row: dict[str, Any], index: str) -> tuple[Any, ...] | None:
    """Both keys of a row in an index, or None; a row with one of them is a failure."""
    names = [key.name for key in inventory.indexes[index] if key is not None]
    there = [next(iter(row[name].values())) for name in names if name in row]
    assert len(there) in (0, len(names)), row
    return tuple(there) or None


# --- one kind of update after the other ------------------------------------------------------------------------------


async def test_a_part_that_changes_is_written_into_the_key(table):
    before = shopping(store_id=STORE)
    await table.write(put(before, when=absent))
    await table.write(update(before, the(ShoppingListItem.status).becomes("purchased")))
    assert keys(await table.row(before), "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", f"STORE#{STORE}#STATUS#purchased")


async def test_a_part_that_becomes_none_and_is_back_again(table):
    now = shopping(store_id=STORE, item_id=OTHER)
    await table.write(put(now, when=absent))
    now = await table.write(
        update(now, the(ShoppingListItem.store_id).becomes(None), the(ShoppingListItem.item_id).becomes(None))
    )
    row = await table.row(now)
    assert keys(row, "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", "STORE#UNASSIGNED#STATUS#pending")
    assert keys(row, "GSI1") is None
    assert row["itemId"] == row["storeId"] == {"NULL": True}
    now = await table.write(
        update(now, the(ShoppingListItem.store_id).becomes(OTHER), the(ShoppingListItem.item_id).becomes(STORE))
    )
    row = await table.row(now)
    assert keys(row, "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", f"STORE#{OTHER}#STATUS#pending")
    assert keys(row, "GSI1") == (f"FAMILY#{FAMILY}#ITEM#{STORE}", f"SHOPPING#{OTHER}")


async def test_an_item_enters_and_leaves_an_index_by_a_condition(table):
    now = item(quantity=5, threshold=2)
    await table.write(put(now, when=absent))
    assert keys(await table.row(now), "GSI1") is None
    now = await table.write(update(now, the(InventoryItem.quantity).becomes(2)))
    assert keys(await table.row(now), "GSI1") == (f"FAMILY#{FAMILY}#LOW", f"ITEM#{OTHER}")
    # The condition alone changes, and with it nothing that is in the text of the key.
    now = await table.write(update(now, the(InventoryItem.threshold).becomes(1)))
    assert keys(await table.row(now), "GSI1") is None
    now = await table.write(update(now, the(InventoryItem.threshold).becomes(9)))
    assert keys(await table.row(now), "GSI1") == (f"FAMILY#{FAMILY}#LOW", f"ITEM#{OTHER}")


async def test_a_number_key_comes_and_goes(table):
    now = item(shelf=-3)
    await table.write(put(now, when=absent))
    assert keys(await table.row(now), "GSI2") == (f"FAMILY#{FAMILY}#ORDER", "-3")
    now = await table.write(update(now, the(InventoryItem.shelf).becomes(None)))
    assert keys(await table.row(now), "GSI2") is None
    now = await table.write(update(now, the(InventoryItem.shelf).becomes(12)))
    assert (await table.row(now))["GSI2N"] == {"N": "12"}


async def test_the_next_of_several_sort_keys_takes_over(table):
    now = book(collection_name="Works", order=3)
    library = f"owner#ada#library#{LIBRARY}"
    await table.write(put(now))
    assert keys(await table.row(now), "GSI1") == (library, "item#works#00003#emma")
    now = await table.write(update(now, the(Book.order).becomes(None)))
    assert keys(await table.row(now), "GSI1") == (library, "item#emma#~")
    now = await table.write(update(now, the(Book.collection_name).becomes(None)))
    now = await table.write(update(now, the(Book.order).becomes(4)))
    assert keys(await table.row(now), "GSI1") == (library, "item#emma#~")
    now = await table.write(update(now, the(Book.collection_name).becomes("Tales")))
    assert keys(await table.row(now), "GSI1") == (library, "item#tales#00004#emma")
    now = await table.write(update(now, the(Book.library_id).becomes(None)))
    assert keys(await table.row(now), "GSI1") is None


async def test_updates_in_a_transaction_write_their_keys_too(table):
    first, second = item(quantity=5), book(order=2)
    await table.transact(put(first, when=absent), put(second))
    await table.transact(
        update(first, the(InventoryItem.quantity).becomes(0)), update(second, the(Book.collection_name).becomes("A"))
    )
    assert keys(await table.row(first), "GSI1") == (f"FAMILY#{FAMILY}#LOW", f"ITEM#{OTHER}")
    assert keys(await table.row(second), "GSI1") == (f"owner#ada#library#{LIBRARY}", "item#a#00002#emma")


# --- what was seen has changed ---------------------------------------------------------------------------------------


async def test_a_part_that_changed_since_it_was_seen_refuses_the_update_though_the_version_did_not_move(table):
    seen = shopping(store_id=STORE)
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(ShoppingListItem.store_id).becomes(OTHER), keep_version=True))
    with pytest.raises(Changed, match="store_id is no longer") as refused:
        await table.write(update(seen, the(ShoppingListItem.status).becomes("purchased")))
    assert refused.value.current == shopping(store_id=OTHER)
    # What is there now is as good as read again.
    now = await table.write(update(refused.value.current, the(ShoppingListItem.status).becomes("purchased")))
    assert keys(await table.row(now), "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", f"STORE#{OTHER}#STATUS#purchased")


async def test_the_condition_of_a_sparse_key_is_relied_on_too(table):
    seen = item(quantity=5, threshold=2)
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(InventoryItem.threshold).becomes(4), keep_version=True))
    with pytest.raises(Changed, match="threshold is no longer 2"):
        await table.write(update(seen, the(InventoryItem.quantity).becomes(3)))


async def test_a_sort_key_that_would_be_another_alternative_by_now_is_not_written(table):
    seen = book(order=3)
    await table.write(put(seen))
    await table.write(update(seen, the(Book.collection_name).becomes("Works")))
    with pytest.raises(Changed, match="collection_name is no longer None"):
        await table.write(update(seen, the(Book.title).becomes("Persuasion")))


async def test_what_does_not_matter_for_the_key_may_have_changed(table):
    seen = book(collection_name=None, order=None)
    await table.write(put(seen))
    # Without a collection the order is in no key, so another writer of it is not in the way.
    await table.write(update(seen, the(Book.order).becomes(7)))
    now = await table.write(update(seen, the(Book.title).becomes("Persuasion")))
    assert now == book(title="Persuasion", order=7)


async def test_a_part_that_is_told_and_is_not_so_refuses_the_update(table):
    await table.write(put(shopping(store_id=STORE), when=absent))
    ref = ShoppingListItem.one(FAMILY, OTHER)
    change = the(ShoppingListItem.status).becomes("purchased")
    with pytest.raises(Changed):
        await table.write(update(ref, change, the(ShoppingListItem.store_id).still(None), keep_version=True))
    # A plain comparison tells it as well, but what fails then is the condition.
    with pytest.raises(ConditionFailed):
        await table.write(update(ref, change, when=the(ShoppingListItem.store_id) == OTHER, keep_version=True))
    await table.write(update(ref, change, when=the(ShoppingListItem.store_id) == STORE, keep_version=True))
    assert keys(await table.row(ref), "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", f"STORE#{STORE}#STATUS#purchased")


async def test_a_row_from_before_a_field_was_there_can_be_updated(table):
    row = plan_of(ShoppingListItem).coding.encode(shopping())
    for attribute in ("status", "storeId", "version", "itemId", "ttl"):
        del row[attribute]
    await table.put_row(row)
    seen = await table.read(shopping())
    assert seen == shopping()
    now = await table.write(update(seen, the(ShoppingListItem.store_id).becomes(STORE)))
    assert now == shopping(store_id=STORE, version=2)
    assert keys(await table.row(now), "GSI3") == (f"FAMILY#{FAMILY}#SHOPPING", f"STORE#{STORE}#STATUS#pending")
    with pytest.raises(VersionConflict):
        await table.write(update(seen, the(ShoppingListItem.store_id).becomes(OTHER)))


# --- indexes that share an attribute ---------------------------------------------------------------------------------

Word = Annotated[str, Meta(max_length=40)]

shelves = Table(
    "Shelves",
    "PK",
    "SK",
    indexes={"byDay": ("PK", "day"), "byMood": ("group", "mood"), "bySize": ("group", "size")},
    numbers=("size",),
)


class Thing(
    Entity,
    table=shelves,
    key=("THING#{thing_id}", "THING"),
    byDay=("THING#{thing_id}", "DAY#{weekday}"),
    byMood=("GROUP#{colour}", "MOOD#{feeling}"),
    bySize=("GROUP#{colour}", "{width}"),
):
    """In three indexes, two of which have the same partition key, and one that of the table."""

    thing_id: UUID
    colour: Word | None = None
    feeling: OrNull[Word] = None
    weekday: Word | None = None
    width: Annotated[int, Meta(ge=0, le=99)] | None = None

    @get
    def one(thing_id: UUID) -> None:
        """Which thing is this?"""


async def test_an_attribute_that_two_indexes_share_stays_as_long_as_one_of_them_needs_it():
    thing = Thing(thing_id=OTHER, colour="red", feeling="glad", weekday="monday", width=3)
    async with opened(shelves) as table:
        await table.write(put(thing))
        thing = await table.write(update(thing, the(Thing.feeling).becomes(None)))
        row = await table.row(thing)
        assert (row["group"], row["size"], row.get("mood")) == ({"S": "GROUP#red"}, {"N": "3"}, None)
        thing = await table.write(update(thing, the(Thing.width).becomes(None), the(Thing.weekday).becomes(None)))
        assert (await table.row(thing)).keys() == {"PK", "SK", "thingId", "colour", "feeling"}


def test_an_update_of_one_index_knows_all_parts_of_the_other_that_shares_an_attribute_with_it():
    with pytest.raises(ComponentsNeeded) as refused:
        update(Thing.one(OTHER), the(Thing.feeling).becomes(None), the(Thing.colour).still("red"))
    assert (refused.value.index, refused.value.missing) == ("bySize", ("width",))


# --- whatever happens in whatever order ------------------------------------------------------------------------------

parcels = Table("Parcels", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")}, ttl="ttl")


class Parcel(
    Entity,
    table=parcels,
    key=("PARCEL#{parcel_id}", "PARCEL"),
    GSI1=(
        "AT#{place}",
        ("DUE#{due}#{size:02}", "SIZE#{size:02}"),
        lambda state, weight: state == "open" and (weight is None or weight > 1),
    ),
    GSI2=("CODE#{code:caseless}", "{size:02}"),
):
    """Whose keys are made of defaults that are left out, of what may be None, and of a value that is unique."""

    parcel_id: UUID
    place: Annotated[Word, LeftOut] = "desk"
    size: Annotated[int, Meta(ge=0, le=99), LeftOut] = 1
    state: Annotated[Literal["open", "shut"], LeftOut] = "open"
    weight: OrNull[int] = None
    due: Seconds | None = None
    code: Annotated[Word | None, Unique("CODES#{parcel_id}#{place}", "CODE#{code:caseless}")] = None
    ttl: ExpiresAt | None = None
    version: Annotated[Version, LeftOut] = 1

    @get
    def one(parcel_id: UUID) -> None:
        """Which parcel is this?"""


NAMES = st.sampled_from(["a", "B", "Ä", "a#b", "zz"])
IDS = st.sampled_from([FAMILY, OTHER, STORE])
FEW = st.integers(0, 3)


@dataclass(frozen=True)
class Kind:
    """An entity, the one item of it that everybody writes, and what its fields may become."""

    entity: type[Entity]
    key: dict[str, Any]
    first: dict[str, Any]
    values: dict[str, st.SearchStrategy[Any]]


KINDS = [
    Kind(
        ShoppingListItem,
        {"family_id": FAMILY},
        {"name": "Milk", "updated_at": NOON},
        {
            "item_id": st.none() | IDS,
            "store_id": st.none() | IDS,
            "status": st.sampled_from(["pending", "purchased"]),
            "notes": st.none() | NAMES,
        },
    ),
    Kind(
        InventoryItem,
        {"family_id": FAMILY},
        {"name": "Milk"},
        {
            "quantity": FEW,
            "threshold": FEW,
            "shelf": st.none() | FEW,
            "status": st.sampled_from(["active", "archived"]),
            "name": NAMES,
        },
    ),
    Kind(
        Book,
        {},
        {"owner_id": "ada", "title": "Emma"},
        {
            "owner_id": NAMES,
            "library_id": st.none() | IDS,
            "title": NAMES,
            "collection_name": st.none() | NAMES,
            "order": st.none() | FEW,
        },
    ),
    Kind(
        Thing,
        {},
        {},
        {
            "colour": st.none() | NAMES,
            "feeling": st.none() | NAMES,
            "weekday": st.none() | NAMES,
            "width": st.none() | FEW,
        },
    ),
    Kind(
        Parcel,
        {},
        {},
        {
            "place": st.sampled_from(["desk", "door"]),
            "size": FEW,
            "state": st.sampled_from(["open", "shut"]),
            "weight": st.none() | FEW,
            "due": st.none() | st.sampled_from([NOON, NOON + timedelta(hours=1)]),
            "code": st.none() | NAMES,
            "ttl": st.none() | st.sampled_from([SENT_AT + 60, SENT_AT + 90]),
        },
    ),
]
OWN_ID = {
    ShoppingListItem: "shopping_item_id",
    InventoryItem: "item_id",
    Book: "book_id",
    Thing: "thing_id",
    Parcel: "parcel_id",
}


@dataclass(frozen=True)
class Step:
    """Someone who read the item so many steps ago changes some fields of it."""

    values: dict[str, Any]
    steps_ago: int
    by_key: bool
    told: frozenset[str]
    keep_version: bool
    in_transaction: bool


@st.composite
def scenarios(draw: st.DrawFn, kind: Kind) -> tuple[dict[str, Any], set[str], list[Step]]:
    """How the row begins, what it lacks because it is old, and what is done to it."""
    start = draw(st.fixed_dictionaries({}, optional=kind.values))
    may_lack = {*kind.values, "version"} & plan_of(kind.entity).fields.keys() - start.keys()
    older = draw(st.sets(st.sampled_from(sorted(may_lack)))) if may_lack else set()
    step = st.builds(
        Step,
        # Few at a time, so that the rest of each key comes from what was seen.
        values=st.lists(st.sampled_from(sorted(kind.values)), min_size=1, max_size=2, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: kind.values[name] for name in names})
        ),
        steps_ago=st.sampled_from([0, 1, 1, 2]),
        by_key=st.booleans(),
        told=st.frozensets(st.sampled_from(sorted(kind.values))),
        keep_version=st.booleans(),
        in_transaction=st.booleans(),
    )
    return start, older, draw(st.lists(step, min_size=2, max_size=6))


async def play(
    table: Sent, own_id: UUID, kind: Kind, start: dict[str, Any], older: set[str], steps: list[Step]
) -> None:
    plan = plan_of(kind.entity)
    first = kind.entity(**{**kind.key, **kind.first, **start, OWN_ID[kind.entity]: own_id})
    row = plan.coding.encode(first)
    for name in older:
        if not plan.fields[name].required:
            row.pop(plan.fields[name].attribute, None)
    await table.put_row(row)
    history = [await table.read(first)]
    for step in steps:
        seen = history[max(0, len(history) - 1 - step.steps_ago)]
        before = await table.row(first)
        try:
            operation = operation_of(kind.entity, seen, step)
            await (table.transact(operation) if step.in_transaction else table.write(operation))
        except ComponentsNeeded as needed:
            if not step.by_key or step.told.issuperset(needed.missing):
                raise
        except (Changed, VersionConflict):
            assert await table.row(first) == before
            assert seen != history[-1]
        else:
            expect_true_keys(plan, await table.row(first), step)
        history.append(await table.read(first))


def operation_of(entity: type[Entity], seen: Entity, step: Step) -> Any:
    changes: list[Change] = [Becomes(FieldName(entity, name), value) for name, value in step.values.items()]
    target: Any = seen
    if step.by_key:
        key = plan_of(entity).key.components
        target = entity.one(**{name: getattr(seen, name) for name in plan_of(entity).fields if name in key})  # type: ignore[attr-defined]
        told = set(step.told)
        if plan_of(entity).version is not None and not step.keep_version:
            told.add("version")
        changes += [Still(FieldName(entity, name), getattr(seen, name)) for name in sorted(told)]
    return update(target, *changes, keep_version=step.keep_version)


def expect_true_keys(plan: Any, row: dict[str, Any], step: Step) -> None:
    entity = plan.coding.decode(row)
    true = plan.coding.encode(entity)
    for attribute in {key.name for pair in plan.table.indexes.values() for key in pair}:
        assert row.get(attribute) == true.get(attribute)
    for name, value in step.values.items():
        assert getattr(entity, name) == value


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.entity.__name__)
def test_whoever_updates_with_whatever_they_saw_the_index_keys_are_true(runner, kind):
    opening = opened(plan_of(kind.entity).table)
    table = runner.run(opening.__aenter__())
    numbers = count(1000)

    @settings(max_examples=100)
    @given(scenarios(kind))
    def check(scenario: Any) -> None:
        runner.run(play(table, UUID(int=next(numbers)), kind, *scenario))

    try:
        check()
    finally:
        runner.run(opening.__aexit__(None, None, None))
