"""The library's rows to the byte, the order of its shelves, and what every question asks and costs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from potluck.apps.library.entities import (
    ANY_ORDER,
    Book,
    Collection,
    CollectionMember,
    Event,
    Library,
    LibraryItem,
    LibraryRow,
    Loan,
    Share,
    SharedLibrary,
    ShelfRow,
    Video,
    media_library,
)
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import InvalidValue, NotUnique, Query, Ref, Request, WriteRefused, absent, put, the, update
from potluck.table.entity import plan_of
from tests.engine_targets import BOTH
from tests.stores import recorded_store

OWNER = "F47AC10B58CC4372A5670E02B2C3D479"
FRIEND = "550E8400E29B41D4A716446655440000"
HOME = UUID("11111111-1111-4111-8111-111111111111")
CABIN = UUID("22222222-2222-4222-8222-222222222222")
DRAGONLANCE = UUID("aaaaaaaa-0000-4000-8000-000000000001")
AMBER = UUID("aaaaaaaa-0000-4000-8000-000000000002")
LENT_AT = datetime(2025, 3, 1, 18, 30, 0, 250_000, tzinfo=UTC)
CHANGED_AT = datetime(2025, 3, 2, 9, 0, tzinfo=UTC)


def item_id(number: int) -> UUID:
    return UUID(f"bbbbbbbb-0000-4000-8000-{number:012}")


def book(number: int, title: str, **others: Any) -> Book:
    names = {"library_name": "Maison", "owner_name": "Paul"}
    return Book(owner_id=OWNER, library_id=HOME, item_id=item_id(number), title=title, **names, **others)


def of(collection: Collection, order: int) -> dict[str, Any]:
    return {"collection_id": collection.collection_id, "collection_name": collection.name, "order": order}


home = Library(
    owner_id=OWNER,
    library_id=HOME,
    library_name="Maison",
    description="Au salon",
    total_items=7,
    shared_to=["ana@example.org"],
    updated_at=CHANGED_AT,
)
cabin = Library(owner_id=OWNER, library_id=CABIN, library_name="Été", updated_at=CHANGED_AT)
dragonlance = Collection(
    owner_id=OWNER, library_id=HOME, collection_id=DRAGONLANCE, name="Chroniques de Dragonlance", item_count=2
)
amber = Collection(
    owner_id=OWNER,
    library_id=HOME,
    collection_id=AMBER,
    name="Cycle des princes d'Ambre",
    description="Dix tomes",
    item_count=2,
)
angelo = book(1, "Angelo")
autumn = book(2, "Dragons d'un crépuscule d'automne", **of(dragonlance, 1))
winter = book(3, "Dragons d'une nuit d'hiver", **of(dragonlance, 2))
princes = book(
    4,
    "Les 9 princes d'ambre",
    authors=["Roger Zelazny"],
    summary="Corwin se réveille.",
    isbn="9782070415748",
    picture_url="/covers/9782070415748.jpg",
    lent_to="Ana",
    version=3,
    **of(amber, 1),
)
chaos = book(5, "Prince du Chaos", **of(amber, 10))
effondrement = book(6, "Effondrement")
amber_film = Video(
    owner_id=OWNER,
    library_id=HOME,
    item_id=item_id(7),
    title="Cycle des princes d'Ambre",
    summary="The film of the books.",
    directors=["A. Director"],
    cast=["One", "Two", "Three", "Four", "Five"],
    release_year=1999,
    duration=121,
    tmdb_id=603,
    picture_url="/covers/603.jpg",
    library_name="Maison",
    owner_name="Paul",
)
of_princes = {"owner_id": OWNER, "library_id": HOME, "item_id": item_id(4), "event": "Ana"}
lent = Event(**of_princes, type="LENT", updated_at=LENT_AT, item_version=2)
back_and_out_again = [
    Event(**of_princes, type="RETURNED", updated_at=LENT_AT, item_version=9),
    Event(**of_princes, type="LENT", updated_at=LENT_AT, item_version=10),
]
pointer = SharedLibrary(shared_to_id=FRIEND, shared_from_id=OWNER, shared_from_name="Paul", library_id=HOME)
share = Share(owner_id=OWNER, library_id=HOME, shared_to_id=FRIEND, email="ana@example.org")
members = [
    CollectionMember(owner_id=OWNER, library_id=HOME, collection_id=each.collection_id, item_id=each.item_id)
    for each in (autumn, winter, princes, chaos)
]
loan = Loan(owner_id=OWNER, library_id=HOME, item_id=item_id(4))

# In the order of the sort keys of the main table.
IN_HOME = [
    *(home, dragonlance, amber),
    *(angelo, autumn, winter, princes, lent, *back_and_out_again, chaos, effondrement, amber_film),
    *(*members, share),
]
EVERYTHING_ON_SHELF = [each for each in IN_HOME if isinstance(each, Collection | Book | Video)]
SHELF = [angelo, dragonlance, autumn, winter, amber, princes, chaos, amber_film, effondrement]
EVERYTHING = [*IN_HOME, cabin, pointer, loan]


def text(**values: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in values.items()}


# --- rows ------------------------------------------------------------------------------------------------------------

NULL = {"NULL": True}
ITEM_TEXTS = text(OwnerId=OWNER, LibraryId=str(HOME), LibraryName="Maison", OwnerName="Paul")
GOLDEN = {
    "a library": (
        home,
        text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}",
            GSI1PK=f"owner#{OWNER}",
            GSI1SK="library#maison",
            EntityType="LIBRARY",
            OwnerId=OWNER,
            LibraryId=str(HOME),
            LibraryName="Maison",
            Description="Au salon",
            UpdatedAt="2025-03-02T09:00:00.000Z",
        )
        | {"TotalItems": {"N": "7"}, "SharedTo": {"L": [{"S": "ana@example.org"}]}, "Version": {"N": "1"}},
    ),
    "a collection": (
        amber,
        text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#collection#{AMBER}",
            GSI1PK=f"owner#{OWNER}#library#{HOME}",
            GSI1SK="item#cycle_des_princes_d'ambre",
            EntityType="COLLECTION",
            OwnerId=OWNER,
            LibraryId=str(HOME),
            CollectionId=str(AMBER),
            Name="Cycle des princes d'Ambre",
            Description="Dix tomes",
        )
        | {"ItemCount": {"N": "2"}, "Version": {"N": "1"}},
    ),
    "a book in a collection": (
        princes,
        ITEM_TEXTS
        | text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#item#{item_id(4)}",
            GSI1PK=f"owner#{OWNER}#library#{HOME}",
            GSI1SK="item#cycle_des_princes_d'ambre#00001#les_9_princes_d'ambre",
            GSI2PK=f"owner#{OWNER}",
            GSI2SK="item#les_9_princes_d'ambre",
            EntityType="BOOK",
            ItemId=str(item_id(4)),
            Title="Les 9 princes d'ambre",
            Summary="Corwin se réveille.",
            Isbn="9782070415748",
            PictureUrl="/covers/9782070415748.jpg",
            CollectionId=str(AMBER),
            CollectionName="Cycle des princes d'Ambre",
            LentTo="Ana",
        )
        | {"Authors": {"L": [{"S": "Roger Zelazny"}]}, "Order": {"N": "1"}, "Type": {"N": "0"}, "Version": {"N": "3"}},
    ),
    "a standalone book": (
        angelo,
        ITEM_TEXTS
        | text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#item#{item_id(1)}",
            GSI1PK=f"owner#{OWNER}#library#{HOME}",
            GSI1SK="item#angelo#~",
            GSI2PK=f"owner#{OWNER}",
            GSI2SK="item#angelo",
            EntityType="BOOK",
            ItemId=str(item_id(1)),
            Title="Angelo",
        )
        | {"Authors": {"L": []}, "Type": {"N": "0"}, "Version": {"N": "1"}}
        | {"CollectionId": NULL, "CollectionName": NULL, "Order": NULL, "LentTo": NULL},
    ),
    "a video": (
        amber_film,
        ITEM_TEXTS
        | text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#item#{item_id(7)}",
            GSI1PK=f"owner#{OWNER}#library#{HOME}",
            GSI1SK="item#cycle_des_princes_d'ambre#~",
            GSI2PK=f"owner#{OWNER}",
            GSI2SK="item#cycle_des_princes_d'ambre",
            EntityType="VIDEO",
            ItemId=str(item_id(7)),
            Title="Cycle des princes d'Ambre",
            Summary="The film of the books.",
            PictureUrl="/covers/603.jpg",
        )
        | {"Directors": {"L": [{"S": "A. Director"}]}}
        | {"Cast": {"L": [{"S": name} for name in ("One", "Two", "Three", "Four", "Five")]}}
        | {"ReleaseYear": {"N": "1999"}, "Duration": {"N": "121"}, "TmdbId": {"N": "603"}, "Type": {"N": "1"}}
        | {"CollectionId": NULL, "CollectionName": NULL, "Order": NULL, "LentTo": NULL, "Version": {"N": "1"}},
    ),
    "an event": (
        lent,
        text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#item#{item_id(4)}#event#2025-03-01T18:30:00.250Z#00000002",
            GSI1PK=f"owner#{OWNER}#library#{HOME}#item#{item_id(4)}",
            GSI1SK="event#2025-03-01T18:30:00.250Z#00000002",
            EntityType="EVENT",
            Type="LENT",
            Event="Ana",
            UpdatedAt="2025-03-01T18:30:00.250Z",
        ),
    ),
    "a shared library": (
        pointer,
        text(
            PK=f"owner#{FRIEND}",
            SK=f"shared-library#{HOME}",
            EntityType="SHARED_LIBRARY",
            SharedToId=FRIEND,
            SharedFromId=OWNER,
            SharedFromName="Paul",
            LibraryId=str(HOME),
        ),
    ),
    "a share": (
        share,
        text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#share#{FRIEND}",
            EntityType="SHARE",
            Email="ana@example.org",
        ),
    ),
    "a member of a collection": (
        members[0],
        text(
            PK=f"owner#{OWNER}",
            SK=f"library#{HOME}#member#{DRAGONLANCE}#{item_id(2)}",
            EntityType="COLLECTION_MEMBER",
        ),
    ),
    "a loan": (
        loan,
        text(PK=f"owner#{OWNER}", SK=f"loan#{HOME}#{item_id(4)}", EntityType="LOAN"),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_row_is_the_designs_to_the_byte_and_reads_back(name: str) -> None:
    entity, row = GOLDEN[name]
    coding = plan_of(entity).coding
    assert coding.encode(entity) == row
    assert coding.decode(row) == entity


ITEM_ENDS = "PictureUrl CollectionId CollectionName Order Type LentTo LibraryName OwnerName"
DESIGNED = {
    Library: "OwnerId LibraryId LibraryName Description TotalItems SharedTo UpdatedAt",
    Collection: "OwnerId LibraryId CollectionId Name Description ItemCount",
    Book: f"OwnerId LibraryId ItemId Title Authors Summary Isbn {ITEM_ENDS}",
    Video: f"OwnerId LibraryId ItemId Title Summary Directors Cast ReleaseYear Duration TmdbId {ITEM_ENDS}",
    Event: "Type Event UpdatedAt",
    SharedLibrary: "SharedToId SharedFromId SharedFromName LibraryId",
}


@pytest.mark.parametrize("entity", DESIGNED)
def test_attributes_are_the_designs_in_its_order(entity: Any) -> None:
    ours = {"Version"}
    stored = [field.attribute for field in plan_of(entity).fields.values() if not field.key_only]
    assert [attribute for attribute in stored if attribute not in ours] == DESIGNED[entity].split()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "x" * 201),
        ("summary", "x" * 4001),
        ("order", 0),
        ("order", 1001),
        ("lent_to", ""),
        ("lent_to", "x" * 51),
        ("library_name", "x" * 21),
        ("isbn", "2070415740x"),
        ("type", 1),
        ("owner_id", OWNER.lower()),
    ],
)
def test_a_value_outside_its_bounds_is_not_written(field: str, value: Any) -> None:
    changed = {each: getattr(princes, each) for each in Book.__struct_fields__} | {field: value}
    with pytest.raises(InvalidValue, match=f"Book.{field}"):
        plan_of(Book).coding.encode(Book(**changed))


# --- the order of the shelves ----------------------------------------------------------------------------------------


def shelf_key(entity: Any) -> str:
    key: str = plan_of(entity).coding.encode(entity)["GSI1SK"]["S"]
    return key


def test_the_shelf_is_in_the_designs_order() -> None:
    assert [shelf_key(each) for each in SHELF if each is not amber_film] == [
        "item#angelo#~",
        "item#chroniques_de_dragonlance",
        "item#chroniques_de_dragonlance#00001#dragons_d'un_crepuscule_d'automne",
        "item#chroniques_de_dragonlance#00002#dragons_d'une_nuit_d'hiver",
        "item#cycle_des_princes_d'ambre",
        "item#cycle_des_princes_d'ambre#00001#les_9_princes_d'ambre",
        "item#cycle_des_princes_d'ambre#00010#prince_du_chaos",
        "item#effondrement#~",
    ]
    assert sorted(EVERYTHING_ON_SHELF, key=lambda each: shelf_key(each).encode()) == SHELF


@pytest.mark.parametrize("intruder", ["Foo Bar", "Foo#00001#x", "Foo!", "Fóo", "foo", "Foo#", "Foo\t", "Foo~", "Foo $"])
def test_a_name_like_a_collections_does_not_land_inside_it(intruder: str) -> None:
    foo = Collection(owner_id=OWNER, library_id=HOME, collection_id=AMBER, name="Foo")
    inside = [book(order, "a", **of(foo, order)) for order in (1, 2, 1000)]
    shelf = sorted([book(9, intruder), *inside, foo], key=lambda each: shelf_key(each).encode())
    assert shelf[shelf.index(foo) :][:4] == [foo, *inside]


# Whatever could upset the order: separators, what sorts before and after them, marks, accents, four bytes a character.
AWKWARD = st.text(st.sampled_from("#~!\"$ _'09aAzéÉ\t\0\u0301ßİ電\U0001f409"), min_size=1, max_size=6)
NAMES = AWKWARD | st.text(st.characters(codec="utf-8"), min_size=1, max_size=100)
TITLES = AWKWARD | st.text(st.characters(codec="utf-8"), min_size=1, max_size=200)


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(NAMES, min_size=1, max_size=6),
    in_collections=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 1000), TITLES), max_size=12),
    standalone=st.lists(TITLES, max_size=6),
)
def test_nothing_lands_between_a_collection_and_its_items(
    names: list[str], in_collections: list[tuple[int, int, str]], standalone: list[str]
) -> None:
    collections: dict[str, Collection] = {}
    for number, name in enumerate(names):
        collection = Collection(owner_id=OWNER, library_id=HOME, collection_id=UUID(int=number), name=name)
        # One of those that the guard of unique names lets in together.
        collections.setdefault(guard(collection)["SK"]["S"], collection)
    those = list(collections.values())
    rows: list[Any] = [*those, *(book(0, name) for name in names), *(book(0, title) for title in standalone)]
    for which, order, title in in_collections:
        rows.append(book(0, title, **of(those[which % len(those)], order)))
    shelf = sorted(rows, key=lambda each: shelf_key(each).encode())
    for collection in those:
        first = shelf.index(collection) + 1
        count = sum(getattr(row, "item_id", None) is not None and belongs(row, collection) for row in rows)
        inside = shelf[first : first + count]
        assert all(belongs(row, collection) for row in inside)
        assert [row.order for row in inside] == sorted(row.order for row in inside)


def belongs(row: Any, collection: Collection) -> bool:
    return isinstance(row, Book) and row.collection_id == collection.collection_id


def guard(entity: Any) -> dict[str, Any]:
    (unique,) = plan_of(entity).uniques
    return unique.key.wire({name: getattr(entity, name) for name in type(entity).__struct_fields__})


# --- the questions ---------------------------------------------------------------------------------------------------


def got(**key: str) -> Request:
    return Request("GetItem", {"TableName": "MediaLibrary", "Key": text(**key), "ConsistentRead": True})


def queried(condition: str, *, index: str | None = None, newest_first: bool = False, **values: str) -> Request:
    """A query with this condition; the main table is always read consistently, and an index never can be."""
    body: dict[str, Any] = {"TableName": "MediaLibrary"}
    if index is not None:
        body["IndexName"] = index
    body["KeyConditionExpression"] = condition
    body["ExpressionAttributeNames"] = {f"#{name}": name for name in values if not name.endswith("_2")}
    body["ExpressionAttributeValues"] = {f":{name}": {"S": value} for name, value in values.items()}
    if newest_first:
        body["ScanIndexForward"] = False
    if index is None:
        body["ConsistentRead"] = True
    return Request("Query", body)


MAIN = "#PK = :PK AND begins_with(#SK, :SK)"
GSI1 = "#GSI1PK = :GSI1PK AND begins_with(#GSI1SK, :GSI1SK)"
GSI2 = "#GSI2PK = :GSI2PK AND begins_with(#GSI2SK, :GSI2SK)"
ITEMS = [angelo, autumn, winter, princes, chaos, effondrement, amber_film]
ON_SHELF = [each for each in SHELF if not isinstance(each, Collection)]

# The question; the request it makes; its answer; what reading it costs.
ASKED: dict[str, tuple[Query[Any] | Ref[Any], Request, list[Any], float]] = {
    "all libraries of a person": (
        Library.of_owner(OWNER),
        queried(GSI1, index="GSI1", GSI1PK=f"owner#{OWNER}", GSI1SK="library#"),
        [cabin, home],
        0.5,
    ),
    "one library": (
        Library.one(OWNER, HOME),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}"),
        [home],
        1.0,
    ),
    "all collections in a library": (
        Collection.in_library(OWNER, HOME),
        queried(MAIN, PK=f"owner#{OWNER}", SK=f"library#{HOME}#collection#"),
        [dragonlance, amber],
        1.0,
    ),
    "one collection": (
        Collection.one(OWNER, HOME, AMBER),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}#collection#{AMBER}"),
        [amber],
        1.0,
    ),
    "all items in a library, whatever the indexes know": (
        LibraryItem.stored_in(OWNER, HOME),
        queried(MAIN, PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#"),
        ITEMS,
        2.0,
    ),
    "one item": (
        LibraryItem.one(OWNER, HOME, item_id(7)),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#{item_id(7)}"),
        [amber_film],
        1.0,
    ),
    "one book": (
        Book.one(OWNER, HOME, item_id(1)),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#{item_id(1)}"),
        [angelo],
        1.0,
    ),
    "a video is no book": (
        Book.one(OWNER, HOME, item_id(7)),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#{item_id(7)}"),
        [],
        1.0,
    ),
    "one video": (
        Video.one(OWNER, HOME, item_id(7)),
        got(PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#{item_id(7)}"),
        [amber_film],
        1.0,
    ),
    "all events of an item, newest first": (
        Event.of_item(OWNER, HOME, item_id(4)),
        queried(MAIN, newest_first=True, PK=f"owner#{OWNER}", SK=f"library#{HOME}#item#{item_id(4)}#event#"),
        [*back_and_out_again[::-1], lent],
        1.0,
    ),
    "all libraries shared with a person": (
        SharedLibrary.with_person(FRIEND),
        queried(MAIN, PK=f"owner#{FRIEND}", SK="shared-library#"),
        [pointer],
        1.0,
    ),
    "may this person look": (
        SharedLibrary.one(FRIEND, HOME),
        got(PK=f"owner#{FRIEND}", SK=f"shared-library#{HOME}"),
        [pointer],
        1.0,
    ),
    "may another person look": (
        SharedLibrary.one(OWNER, HOME),
        got(PK=f"owner#{OWNER}", SK=f"shared-library#{HOME}"),
        [],
        1.0,
    ),
    "all items and collections in a library": (
        ShelfRow.of_library(OWNER, HOME),
        queried(GSI1, index="GSI1", GSI1PK=f"owner#{OWNER}#library#{HOME}", GSI1SK="item#"),
        SHELF,
        1.0,
    ),
    "all items in a library": (
        LibraryItem.in_library(OWNER, HOME),
        queried(GSI1, index="GSI1", GSI1PK=f"owner#{OWNER}#library#{HOME}", GSI1SK="item#"),
        ON_SHELF,
        1.0,
    ),
    "the items of a collection": (
        LibraryItem.in_collection(OWNER, HOME, "cycle  des princes d'AMBRE", ANY_ORDER),
        queried(
            "#GSI1PK = :GSI1PK AND #GSI1SK BETWEEN :GSI1SK AND :GSI1SK_2",
            index="GSI1",
            GSI1PK=f"owner#{OWNER}#library#{HOME}",
            GSI1SK="item#cycle_des_princes_d'ambre#00001",
            GSI1SK_2="item#cycle_des_princes_d'ambre#01000$",
        ),
        [princes, chaos],
        0.5,
    ),
    "all events of an item, oldest first": (
        Event.chronologically(OWNER, HOME, item_id(4)),
        queried(GSI1, index="GSI1", GSI1PK=f"owner#{OWNER}#library#{HOME}#item#{item_id(4)}", GSI1SK="event#"),
        [lent, *back_and_out_again],
        0.5,
    ),
    "all items of a person": (
        LibraryItem.of_owner(OWNER),
        queried(GSI2, index="GSI2", GSI2PK=f"owner#{OWNER}", GSI2SK="item#"),
        [angelo, amber_film, autumn, winter, effondrement, princes, chaos],
        1.0,
    ),
    "with whom is a library shared": (
        Share.of_library(OWNER, HOME),
        queried(MAIN, PK=f"owner#{OWNER}", SK=f"library#{HOME}#share#"),
        [share],
        1.0,
    ),
    "which items are in a collection": (
        CollectionMember.of_collection(OWNER, HOME, AMBER),
        queried(MAIN, PK=f"owner#{OWNER}", SK=f"library#{HOME}#member#{AMBER}#"),
        members[2:],
        1.0,
    ),
    "what has a person lent": (
        Loan.of_owner(OWNER),
        queried(MAIN, PK=f"owner#{OWNER}", SK="loan#"),
        [loan],
        1.0,
    ),
    "a library and everything in it": (
        LibraryRow.of_library(OWNER, HOME),
        queried(MAIN, PK=f"owner#{OWNER}", SK=f"library#{HOME}"),
        IN_HOME,
        2.0,
    ),
    "all libraries of a person and everything in them": (
        LibraryRow.of_owner(OWNER),
        queried(MAIN, PK=f"owner#{OWNER}", SK="library#"),
        [*IN_HOME, cabin],
        3.0,
    ),
}


def test_every_question_is_asked() -> None:
    asked = {
        question.pattern if isinstance(question, Ref) else question.pattern.name for question, *_ in ASKED.values()
    }
    assert asked == {pattern.name for pattern in media_library.patterns}


@pytest.mark.parametrize("name", ASKED)
def test_the_request_of_a_question(name: str) -> None:
    question, request, _, _ = ASKED[name]
    assert question.request() == request


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=BOTH)
async def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Store, Recording]]:
    async with recorded_store(request.param, tmp_path_factory.mktemp("filled"), media_library) as (store, recording):
        for entity in EVERYTHING:
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
    assert calls.read_units == units


@pytest.mark.asyncio(loop_scope="module")
async def test_the_items_of_a_collection_are_fetched_in_one_batch(filled: tuple[Store, Recording]) -> None:
    store, recording = filled
    with recording.scope() as calls:
        found = await store.all(CollectionMember.of_collection(OWNER, HOME, AMBER))
        items = await store.get_many([LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in found])
    assert items == [princes, chaos]
    assert calls.operations == ["Query", "BatchGetItem"]
    assert calls.read_units == 3.0


# --- writes ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with recorded_store(request.param, tmp_path, media_library) as (store, _):
        yield store


async def test_a_person_has_one_library_of_a_name(store: Store) -> None:
    await store.put(home, when=absent)
    with pytest.raises(NotUnique):
        await store.put(replace(cabin, library_name="Maison"), when=absent)
    await store.put(replace(cabin, library_name="maison"), when=absent)
    await store.put(replace(cabin, owner_id=FRIEND, library_name="Maison"), when=absent)
    await store.delete(home)
    await store.put(replace(home, library_id=UUID(int=1)), when=absent)
    assert {each.library_id for each in await store.all(Library.of_owner(OWNER))} == {UUID(int=1), CABIN}


@pytest.mark.parametrize(
    "name", ["CYCLE DES PRINCES D'AMBRE", "Cyclé  des princes d'Ambre ", "#Cycle des princes d'Ambre"]
)
async def test_a_library_has_one_collection_of_a_name_regardless_of_case_and_accents(name: str, store: Store) -> None:
    await store.put(amber, when=absent)
    with pytest.raises(NotUnique):
        await store.put(replace(dragonlance, name=name), when=absent)
    await store.put(replace(dragonlance, library_id=CABIN, name=name), when=absent)
    respelt = await store.update(amber, the(Collection.name).becomes(name))
    assert (respelt.name, respelt.version) == (name, 2)


async def test_the_longest_names_can_be_stored(store: Store) -> None:
    # No character takes more room in a folded name than this one, which becomes two of three bytes.
    longest = replace(amber, name="\u0958" * 100)
    inside = book(1, "\U0001f409" * 200, **of(longest, 1000))
    assert 1000 <= len(shelf_key(inside).encode()) <= 1024
    await store.put(longest, when=absent)
    await store.put(inside, when=absent)
    assert await store.all(ShelfRow.of_library(OWNER, HOME)) == [longest, inside]


async def test_an_item_goes_where_its_collection_goes(store: Store) -> None:
    for each in (angelo, princes, amber_film):
        await store.put(each, when=absent)
    in_order = LibraryItem.in_library(OWNER, HOME)
    renamed = await store.update(princes, the(Book.collection_name).becomes("Zelazny"), keep_version=True)
    assert renamed == replace(princes, collection_name="Zelazny")
    assert await store.all(in_order) == [angelo, amber_film, renamed]
    assert await store.all(LibraryItem.in_collection(OWNER, HOME, "Zelazny", ANY_ORDER)) == [renamed]
    left = await store.update(
        renamed,
        the(Book.collection_id).becomes(None),
        the(Book.collection_name).becomes(None),
        the(Book.order).becomes(None),
        keep_version=True,
    )
    assert await store.all(in_order) == [angelo, amber_film, left]
    assert shelf_key(left) == "item#les_9_princes_d'ambre#~"
    assert await store.all(LibraryItem.in_collection(OWNER, HOME, "Zelazny", ANY_ORDER)) == []


async def test_of_two_lends_at_once_one_wins_and_leaves_one_event(store: Store) -> None:
    await store.put(angelo, when=absent)

    def lend(to: str) -> tuple[Any, ...]:
        where = {"owner_id": OWNER, "library_id": HOME, "item_id": angelo.item_id}
        event = Event(**where, type="LENT", event=to, updated_at=LENT_AT, item_version=angelo.version + 1)
        lending = update(angelo, the(Book.lent_to).becomes(to), when=the(Book.lent_to).is_none())
        return lending, put(event, when=absent), put(Loan(**where), when=absent)

    outcomes = await asyncio.gather(*(store.transact(*lend(to)) for to in ("Ana", "Bo")), return_exceptions=True)
    (refused,) = [each for each in outcomes if each is not None]
    assert isinstance(refused, WriteRefused)
    has_it = (await store.one(Book.one(OWNER, HOME, angelo.item_id))).lent_to
    assert refused.current.lent_to == has_it
    assert [each.event for each in await store.all(Event.of_item(OWNER, HOME, angelo.item_id))] == [has_it]
    assert [each.item_id for each in await store.all(Loan.of_owner(OWNER))] == [angelo.item_id]
