"""The library's table: its rows to the byte, the order of its shelves, every access pattern, and what writes decide."""

import asyncio
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from potluck.apps.library.entities import (
    ANY_ORDER,
    AwaitedTitle,
    Book,
    Collection,
    CollectionMember,
    Cover,
    Event,
    KnownElsewhere,
    Library,
    LibraryItem,
    LibraryRow,
    Loan,
    OwnerRow,
    Relocation,
    Share,
    SharedLibrary,
    ShelfRow,
    Video,
    media_library,
)
from potluck.table import InvalidValue, NotUnique, Request, WriteRefused, absent, put, the, update
from potluck.table.entity import plan_of
from tests.access_cases import AccessPatterns, Case, Requests
from tests.golden_rows import Golden, GoldenRows, unswept_store
from tests.store_fixtures import Opened, filled_store, new_store

OWNER = "F47AC10B58CC4372A5670E02B2C3D479"
FRIEND = "550E8400E29B41D4A716446655440000"
HOME = UUID("11111111-1111-4111-8111-111111111111")
CABIN = UUID("22222222-2222-4222-8222-222222222222")
DRAGONLANCE = UUID("aaaaaaaa-0000-4000-8000-000000000001")
AMBER = UUID("aaaaaaaa-0000-4000-8000-000000000002")
LENT_AT = datetime(2025, 3, 1, 18, 30, 0, 250_000, tzinfo=UTC)
EXPIRES = int(datetime(2041, 1, 1, tzinfo=UTC).timestamp())
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
    owner_name="Paul",
)
cabin = Library(owner_id=OWNER, library_id=CABIN, library_name="Été", updated_at=CHANGED_AT, owner_name="Paul")
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
    cover_hash="c0" * 32,
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
share = Share(
    owner_id=OWNER, library_id=HOME, shared_to_id=FRIEND, email="ana@example.org", name="Ana", created_at=CHANGED_AT
)
members = [
    CollectionMember(
        owner_id=OWNER, library_id=HOME, collection_id=each.collection_id, order=each.order, item_id=each.item_id
    )
    for each in (autumn, winter, princes, chaos)
]
loan = Loan(owner_id=OWNER, library_id=HOME, item_id=item_id(4), lent_at=LENT_AT, due=date(2025, 4, 1))
awaited = AwaitedTitle(owner_id=OWNER, library_id=HOME, item_id=item_id(9), tries=2, next_at=LENT_AT)
relocation = Relocation(owner_id=OWNER, library_id=HOME, item_id=item_id(8), moved_to=CABIN)
cover = Cover(
    owner_id=OWNER, item_id=item_id(4), source="https://covers.example/1.jpg", hash="c0" * 32, image=b"\xff\xd8"
)
known = KnownElsewhere(wanted="isbn#9782070415748", provider="open-library", found="{}", ttl=EXPIRES)

# In the order of the sort keys of the main table.
IN_HOME = [
    *(home, dragonlance, amber),
    *(angelo, autumn, winter, princes, lent, *back_and_out_again, chaos, effondrement, amber_film),
    *(*members, relocation, share),
]
EVERYTHING_ON_SHELF = [each for each in IN_HOME if isinstance(each, Collection | Book | Video)]
SHELF = [angelo, dragonlance, autumn, winter, amber, princes, chaos, amber_film, effondrement]
friends_pointer = SharedLibrary(shared_to_id=OWNER, shared_from_id=FRIEND, shared_from_name="Ana", library_id=CABIN)
OF_OWNER = f"owner#{OWNER}"
OF_HOME = f"{OF_OWNER}#library#{HOME}"

filled = filled_store(media_library, rows=[*IN_HOME, cabin, pointer, friends_pointer, loan, awaited, cover, known])
new = new_store(media_library)
unswept = unswept_store(media_library)


# --- rows to the byte ------------------------------------------------------------------------------------------------

# The design shows keys and attributes, but no whole record; to its attributes we add a version.
VERSION = {"Version": 1}
RECORDS = {
    "LIBRARY": Golden(
        home,
        Library.one(OWNER, HOME),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}",
            "GSI1PK": OF_OWNER,
            "GSI1SK": "library#maison",
            "EntityType": "LIBRARY",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "LibraryName": "Maison",
            "Description": "Au salon",
            "TotalItems": 7,
            "SharedTo": ["ana@example.org"],
            "UpdatedAt": "2025-03-02T09:00:00.000Z",
        },
        ours={**VERSION, "OwnerName": "Paul"},
        whole=False,
    ),
    "COLLECTION": Golden(
        amber,
        Collection.one(OWNER, HOME, AMBER),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#collection#{AMBER}",
            "GSI1PK": OF_HOME,
            "GSI1SK": "item#cycle_des_princes_dambre$f8fbac53f0a8",
            "EntityType": "COLLECTION",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "CollectionId": str(AMBER),
            "Name": "Cycle des princes d'Ambre",
            "Description": "Dix tomes",
            "ItemCount": 2,
        },
        ours=VERSION,
    ),
    "BOOK (in collection)": Golden(
        princes,
        Book.one(OWNER, HOME, item_id(4)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#item#{item_id(4)}",
            "GSI1PK": OF_HOME,
            "GSI1SK": "item#cycle_des_princes_dambre$f8fbac53f0a8#00001#19_princes_dambre$fcf857f09a1c",
            "GSI2PK": OF_OWNER,
            "GSI2SK": "item#19_princes_dambre$fcf857f09a1c",
            "EntityType": "BOOK",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "ItemId": str(item_id(4)),
            "Title": "Les 9 princes d'ambre",
            "Authors": ["Roger Zelazny"],
            "Summary": "Corwin se réveille.",
            "Isbn": "9782070415748",
            "PictureUrl": "/covers/9782070415748.jpg",
            "CollectionId": str(AMBER),
            "CollectionName": "Cycle des princes d'Ambre",
            "Order": 1,
            "Type": 0,
            "LentTo": "Ana",
            "LibraryName": "Maison",
            "OwnerName": "Paul",
        },
        ours={"Version": 3, "CoverHash": "c0" * 32},
        whole=False,
    ),
    "BOOK (standalone)": Golden(
        angelo,
        LibraryItem.one(OWNER, HOME, item_id(1)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#item#{item_id(1)}",
            "GSI1PK": OF_HOME,
            "GSI1SK": "item#angelo#~",
            "GSI2PK": OF_OWNER,
            "GSI2SK": "item#angelo",
            "EntityType": "BOOK",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "ItemId": str(item_id(1)),
            "Title": "Angelo",
            "Authors": [],
            "CollectionId": None,
            "CollectionName": None,
            "Order": None,
            "Type": 0,
            "LentTo": None,
            "LibraryName": "Maison",
            "OwnerName": "Paul",
        },
        ours=VERSION,
    ),
    "VIDEO (standalone)": Golden(
        amber_film,
        Video.one(OWNER, HOME, item_id(7)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#item#{item_id(7)}",
            "GSI1PK": OF_HOME,
            "GSI1SK": "item#cycle_des_princes_dambre$f8fbac53f0a8#~",
            "GSI2PK": OF_OWNER,
            "GSI2SK": "item#cycle_des_princes_dambre$f8fbac53f0a8",
            "EntityType": "VIDEO",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "ItemId": str(item_id(7)),
            "Title": "Cycle des princes d'Ambre",
            "Summary": "The film of the books.",
            "Directors": ["A. Director"],
            "Cast": ["One", "Two", "Three", "Four", "Five"],
            "ReleaseYear": 1999,
            "Duration": 121,
            "TmdbId": 603,
            "PictureUrl": "/covers/603.jpg",
            "CollectionId": None,
            "CollectionName": None,
            "Order": None,
            "Type": 1,
            "LentTo": None,
            "LibraryName": "Maison",
            "OwnerName": "Paul",
        },
        ours=VERSION,
    ),
    "EVENT": Golden(
        lent,
        Event.of_item(OWNER, HOME, item_id(4)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#item#{item_id(4)}#event#2025-03-01T18:30:00.250Z#00000002",
            "GSI1PK": f"{OF_HOME}#item#{item_id(4)}",
            "GSI1SK": "event#2025-03-01T18:30:00.250Z#00000002",
            "EntityType": "EVENT",
            "Type": "LENT",
            "Event": "Ana",
            "UpdatedAt": "2025-03-01T18:30:00.250Z",
        },
    ),
    "SHARED_LIBRARY": Golden(
        pointer,
        SharedLibrary.one(FRIEND, HOME),
        {
            "PK": f"owner#{FRIEND}",
            "SK": f"shared-library#{HOME}",
            "EntityType": "SHARED_LIBRARY",
            "SharedToId": FRIEND,
            "SharedFromId": OWNER,
            "SharedFromName": "Paul",
            "LibraryId": str(HOME),
        },
    ),
    # Ours
    "a share": Golden(
        share,
        Share.of_library(OWNER, HOME),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#share#{FRIEND}",
            "EntityType": "SHARE",
            "Email": "ana@example.org",
            "Name": "Ana",
            "CreatedAt": "2025-03-02T09:00:00.000Z",
        },
    ),
    "a member of a collection": Golden(
        members[0],
        CollectionMember.of_collection(OWNER, HOME, DRAGONLANCE),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#member#{DRAGONLANCE}#00001#{item_id(2)}",
            "EntityType": "COLLECTION_MEMBER",
        },
    ),
    "a title to come": Golden(
        awaited,
        AwaitedTitle.one(OWNER, HOME, item_id(9)),
        {
            "PK": OF_OWNER,
            "SK": f"awaited#{HOME}#{item_id(9)}",
            "GSI1PK": "awaited",
            "GSI1SK": f"2025-03-01T18:30:00.250Z#{item_id(9)}",
            "EntityType": "AWAITED_TITLE",
            "Tries": 2,
            "NextAt": "2025-03-01T18:30:00.250Z",
        },
    ),
    "a title that is not looked up any more": Golden(
        replace(awaited, item_id=item_id(11), next_at=None, tries=11),
        AwaitedTitle.one(OWNER, HOME, item_id(11)),
        {
            "PK": OF_OWNER,
            "SK": f"awaited#{HOME}#{item_id(11)}",
            "EntityType": "AWAITED_TITLE",
            "Tries": 11,
        },
    ),
    "a book that waits for its title": Golden(
        replace(
            angelo,
            item_id=item_id(12),
            title="ISBN 9782070415748",
            isbn="9782070415748",
            note="Ours",
            title_awaited=True,
        ),
        LibraryItem.one(OWNER, HOME, item_id(12)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#item#{item_id(12)}",
            "GSI1PK": OF_HOME,
            "GSI1SK": "item#isbn_:0139782070415748$37383caed169#~",
            "GSI2PK": OF_OWNER,
            "GSI2SK": "item#isbn_:0139782070415748$37383caed169",
            "EntityType": "BOOK",
            "OwnerId": OWNER,
            "LibraryId": str(HOME),
            "ItemId": str(item_id(12)),
            "Title": "ISBN 9782070415748",
            "Authors": [],
            "Isbn": "9782070415748",
            "CollectionId": None,
            "CollectionName": None,
            "Order": None,
            "Type": 0,
            "LentTo": None,
            "LibraryName": "Maison",
            "OwnerName": "Paul",
        },
        ours={**VERSION, "Note": "Ours", "TitleAwaited": True},
        whole=False,
    ),
    "a loan": Golden(
        loan,
        Loan.of_owner(OWNER),
        {
            "PK": OF_OWNER,
            "SK": f"loan#{HOME}#{item_id(4)}",
            "EntityType": "LOAN",
            "LentAt": "2025-03-01T18:30:00.250Z",
            "Due": "2025-04-01",
        },
    ),
    "a history that follows": Golden(
        relocation,
        Relocation.one(OWNER, HOME, item_id(8)),
        {
            "PK": OF_OWNER,
            "SK": f"library#{HOME}#moved#{item_id(8)}",
            "EntityType": "RELOCATION",
            "MovedTo": str(CABIN),
        },
    ),
    "a cover": Golden(
        cover,
        Cover.one(OWNER, item_id(4)),
        {
            "PK": f"{OF_OWNER}#covers",
            "SK": f"item#{item_id(4)}",
            "EntityType": "COVER",
            "Source": "https://covers.example/1.jpg",
            "Hash": "c0" * 32,
            "Image": b"\xff\xd8",
        },
    ),
    "what a provider said": Golden(
        known,
        KnownElsewhere.one("isbn#9782070415748", "open-library"),
        {
            "PK": 'lookup#isbn"~9782070415748',
            "SK": "open-library",
            "EntityType": "KNOWN_ELSEWHERE",
            "Found": "{}",
            "Ttl": EXPIRES,
        },
    ),
}


class TestRows(GoldenRows):
    tables = (media_library,)
    records = RECORDS


@pytest.mark.parametrize(
    ("entity", "field", "value"),
    [
        (home, "owner_id", OWNER.lower()),
        (home, "library_name", ""),
        (home, "library_name", "x" * 21),
        (home, "description", "x" * 101),
        (amber, "name", ""),
        (amber, "name", "x" * 101),
        (amber, "description", "x" * 501),
        (princes, "title", ""),
        (princes, "title", "x" * 201),
        (princes, "summary", "x" * 4001),
        (princes, "isbn", "2070415740x"),
        (princes, "order", 0),
        (princes, "order", 1001),
        (princes, "type", 1),
        (princes, "lent_to", ""),
        (princes, "lent_to", "x" * 51),
        (amber_film, "cast", ["x"] * 6),
        (amber_film, "release_year", 1799),
        (amber_film, "release_year", 2101),
        (amber_film, "duration", -1),
        (amber_film, "duration", 1001),
        (amber_film, "type", 0),
        (lent, "type", "LOST"),
        (lent, "event", "x" * 51),
    ],
)
def test_a_value_outside_its_bounds_is_not_written(entity: Any, field: str, value: Any) -> None:
    with pytest.raises(InvalidValue, match=f"{type(entity).__name__}.{field}"):
        plan_of(entity).coding.encode(replace(entity, **{field: value}))


# --- the order of the shelves ----------------------------------------------------------------------------------------


def shelf_key(entity: Any) -> str:
    key: str = plan_of(entity).coding.encode(entity)["GSI1SK"]["S"]
    return key


# The design's examples of GSI1SK, in its order; what each line is of; and how it is written here, collated.
EXAMPLES = [
    ("item#Angelo", angelo, "item#angelo#~"),
    ("item#Chroniques de Dragonlance", dragonlance, "item#chroniques_de_dragonlance"),
    (
        "item#Chroniques de Dragonlance#00001#Dragons d'un crépuscule d'automne",
        autumn,
        "item#chroniques_de_dragonlance#00001#dragons_dun_crepuscule_dautomne$b5e0548f62a1",
    ),
    (
        "item#Chroniques de Dragonlance#00002#Dragons d'une nuit d'hiver",
        winter,
        "item#chroniques_de_dragonlance#00002#dragons_dune_nuit_dhiver$7df748d046b8",
    ),
    ("item#Cycle des princes d'Ambre", amber, "item#cycle_des_princes_dambre$f8fbac53f0a8"),
    (
        "item#Cycle des princes d'Ambre#00001#Les 9 princes d'ambre",
        princes,
        "item#cycle_des_princes_dambre$f8fbac53f0a8#00001#19_princes_dambre$fcf857f09a1c",
    ),
    (
        "item#Cycle des princes d'Ambre#00010#Prince du Chaos",
        chaos,
        "item#cycle_des_princes_dambre$f8fbac53f0a8#00010#prince_du_chaos",
    ),
    ("item#Effondrement", effondrement, "item#effondrement#~"),
]


def names_in(entity: Any) -> list[str]:
    """The names of which the design makes an item's key in GSI1, as they are spelt."""
    if isinstance(entity, Collection):
        return [entity.name]
    in_collection = [] if entity.collection_name is None else [entity.collection_name, f"{entity.order:05}"]
    return [*in_collection, entity.title]


@pytest.mark.parametrize(("line", "entity", "key"), EXAMPLES, ids=[line for line, _, _ in EXAMPLES])
def test_an_example_of_the_design_is_written_collated(line: str, entity: Any, key: str) -> None:
    assert "#".join(["item", *names_in(entity)]) == line
    assert shelf_key(entity) == key


def test_the_shelf_is_in_the_designs_order() -> None:
    keys = [key for _, _, key in EXAMPLES]
    assert sorted(keys, key=str.encode) == keys
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


@settings(max_examples=150)
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


# --- access patterns -------------------------------------------------------------------------------------------------

sent = Requests("MediaLibrary")
ITEMS = [angelo, autumn, winter, princes, chaos, effondrement, amber_film]
ON_SHELF = [each for each in SHELF if not isinstance(each, Collection)]

CASES = [
    # The design's for the main table, in its order
    Case(Library.of_owner(OWNER), sent.query(OF_OWNER, begins_with="library#", index="GSI1"), [cabin, home], 0.5),
    Case(
        Collection.in_library(OWNER, HOME),
        sent.query(OF_OWNER, begins_with=f"library#{HOME}#collection#"),
        [dragonlance, amber],
        1.0,
    ),
    Case(
        LibraryItem.stored_in(OWNER, HOME),
        sent.query(OF_OWNER, begins_with=f"library#{HOME}#item#"),
        ITEMS,
        2.0,
        in_vain=3,
        about="the events of an item are read too",
    ),
    Case(
        Event.of_item(OWNER, HOME, item_id(4)),
        sent.query(OF_OWNER, begins_with=f"library#{HOME}#item#{item_id(4)}#event#", newest_first=True),
        [*back_and_out_again[::-1], lent],
        1.0,
    ),
    Case(
        SharedLibrary.with_person(FRIEND), sent.query(f"owner#{FRIEND}", begins_with="shared-library#"), [pointer], 1.0
    ),
    # The design's for GSI1
    Case(
        ShelfRow.of_library(OWNER, HOME),
        sent.query(OF_HOME, begins_with="item#", index="GSI1"),
        SHELF,
        1.0,
    ),
    Case(
        LibraryItem.in_library(OWNER, HOME),
        sent.query(OF_HOME, begins_with="item#", index="GSI1"),
        ON_SHELF,
        1.0,
        in_vain=2,
        about="the collections are read too",
    ),
    Case(
        LibraryItem.in_collection(OWNER, HOME, "cycle  des princes d'AMBRE", ANY_ORDER),
        sent.query(
            OF_HOME,
            between=(
                "item#cycle_des_princes_dambre$f8fbac53f0a8#00001",
                "item#cycle_des_princes_dambre$f8fbac53f0a8#01000$",
            ),
            index="GSI1",
        ),
        [princes, chaos],
        0.5,
    ),
    Case(
        Event.chronologically(OWNER, HOME, item_id(4)),
        sent.query(f"{OF_HOME}#item#{item_id(4)}", begins_with="event#", index="GSI1"),
        [lent, *back_and_out_again],
        0.5,
    ),
    # The design's for GSI2
    Case(
        LibraryItem.of_owner(OWNER),
        sent.query(OF_OWNER, begins_with="item#", index="GSI2"),
        [princes, angelo, amber_film, autumn, winter, effondrement, chaos],
        1.0,
    ),
    # One by one
    Case(Library.one(OWNER, HOME), sent.get_item(OF_OWNER, f"library#{HOME}"), home, 1.0),
    Case(
        Collection.one(OWNER, HOME, AMBER),
        sent.get_item(OF_OWNER, f"library#{HOME}#collection#{AMBER}"),
        amber,
        1.0,
    ),
    Case(
        LibraryItem.one(OWNER, HOME, item_id(7)),
        sent.get_item(OF_OWNER, f"library#{HOME}#item#{item_id(7)}"),
        amber_film,
        1.0,
    ),
    Case(Book.one(OWNER, HOME, item_id(1)), sent.get_item(OF_OWNER, f"library#{HOME}#item#{item_id(1)}"), angelo, 1.0),
    Case(
        Book.one(OWNER, HOME, item_id(7)),
        sent.get_item(OF_OWNER, f"library#{HOME}#item#{item_id(7)}"),
        None,
        1.0,
        in_vain=1,
        about="a video is no book",
    ),
    Case(
        Video.one(OWNER, HOME, item_id(7)),
        sent.get_item(OF_OWNER, f"library#{HOME}#item#{item_id(7)}"),
        amber_film,
        1.0,
    ),
    Case(SharedLibrary.one(FRIEND, HOME), sent.get_item(f"owner#{FRIEND}", f"shared-library#{HOME}"), pointer, 1.0),
    Case(
        SharedLibrary.one(OWNER, HOME),
        sent.get_item(OF_OWNER, f"shared-library#{HOME}"),
        None,
        1.0,
        about="not shared",
    ),
    # Ours
    Case(Share.of_library(OWNER, HOME), sent.query(OF_OWNER, begins_with=f"library#{HOME}#share#"), [share], 1.0),
    Case(
        CollectionMember.of_collection(OWNER, HOME, AMBER),
        sent.query(OF_OWNER, begins_with=f"library#{HOME}#member#{AMBER}#"),
        members[2:],
        1.0,
    ),
    Case(
        AwaitedTitle.one(OWNER, HOME, item_id(9)), sent.get_item(OF_OWNER, f"awaited#{HOME}#{item_id(9)}"), awaited, 1.0
    ),
    Case(
        AwaitedTitle.in_turn(),
        Request(
            "Query",
            {
                "TableName": "MediaLibrary",
                "IndexName": "GSI1",
                "KeyConditionExpression": "#GSI1PK = :GSI1PK",
                "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
                "ExpressionAttributeValues": {":GSI1PK": {"S": "awaited"}},
            },
        ),
        [awaited],
        0.5,
    ),
    Case(Loan.of_owner(OWNER), sent.query(OF_OWNER, begins_with="loan#"), [loan], 1.0),
    Case(Loan.in_library(OWNER, HOME), sent.query(OF_OWNER, begins_with=f"loan#{HOME}#"), [loan], 1.0),
    Case(Loan.one(OWNER, HOME, item_id(4)), sent.get_item(OF_OWNER, f"loan#{HOME}#{item_id(4)}"), loan, 1.0),
    Case(Share.one(OWNER, HOME, FRIEND), sent.get_item(OF_OWNER, f"library#{HOME}#share#{FRIEND}"), share, 1.0),
    Case(
        Relocation.one(OWNER, HOME, item_id(8)),
        sent.get_item(OF_OWNER, f"library#{HOME}#moved#{item_id(8)}"),
        relocation,
        1.0,
    ),
    Case(Cover.of_owner(OWNER), sent.query(f"{OF_OWNER}#covers", begins_with="item#"), [cover], 1.0),
    Case(Cover.one(OWNER, item_id(4)), sent.get_item(f"{OF_OWNER}#covers", f"item#{item_id(4)}"), cover, 1.0),
    Case(
        KnownElsewhere.one("isbn#9782070415748", "open-library"),
        sent.get_item('lookup#isbn"~9782070415748', "open-library", consistent=False),
        known,
        0.5,
    ),
    Case(LibraryRow.of_library(OWNER, HOME), sent.query(OF_OWNER, begins_with=f"library#{HOME}"), IN_HOME, 3.0),
    Case(
        OwnerRow.of_owner(OWNER),
        sent.query(OF_OWNER, between=("awaited#", "shared-library$")),
        [awaited, *IN_HOME, cabin, loan, friends_pointer],
        3.0,
    ),
]


class TestAccessPatterns(AccessPatterns):
    tables = (media_library,)
    cases = CASES


@pytest.mark.asyncio(loop_scope="module")
async def test_the_items_of_a_collection_are_fetched_in_one_batch(filled: Opened) -> None:
    store, recording, _ = filled
    with recording.scope() as calls:
        found = await store.all(CollectionMember.of_collection(OWNER, HOME, AMBER))
        items = await store.get_many([LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in found])
    assert items == [princes, chaos]
    assert calls.operations == ["Query", "BatchGetItem"]
    assert calls.read_units == 3.0


# --- what the write decides ------------------------------------------------------------------------------------------


async def test_a_person_has_one_library_of_a_name(new: Opened) -> None:
    store, _, _ = new
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
async def test_a_library_has_one_collection_of_a_name_regardless_of_case_and_accents(name: str, new: Opened) -> None:
    store, _, _ = new
    await store.put(amber, when=absent)
    with pytest.raises(NotUnique):
        await store.put(replace(dragonlance, name=name), when=absent)
    await store.put(replace(dragonlance, library_id=CABIN, name=name), when=absent)
    respelt = await store.update(amber, the(Collection.name).becomes(name))
    assert (respelt.name, respelt.version) == (name, 2)


async def test_the_longest_names_can_be_stored(new: Opened) -> None:
    store, _, _ = new
    # No character takes more room in a collated name than this one, which becomes two of three bytes.
    longest = replace(amber, name="\u0958" * 100)
    inside = book(1, "\U0001f409" * 200, **of(longest, 1000))
    assert 1000 <= len(shelf_key(inside).encode()) <= 1024
    await store.put(longest, when=absent)
    await store.put(inside, when=absent)
    assert await store.all(ShelfRow.of_library(OWNER, HOME)) == [longest, inside]


async def test_an_item_goes_where_its_collection_goes(new: Opened) -> None:
    store, _, _ = new
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
    assert await store.all(in_order) == [left, angelo, amber_film]
    assert shelf_key(left) == "item#19_princes_dambre$fcf857f09a1c#~"
    assert await store.all(LibraryItem.in_collection(OWNER, HOME, "Zelazny", ANY_ORDER)) == []


async def test_of_two_lends_at_once_one_wins_and_leaves_one_event(new: Opened) -> None:
    store, _, _ = new
    await store.put(angelo, when=absent)

    def lend(to: str) -> tuple[Any, ...]:
        where = {"owner_id": OWNER, "library_id": HOME, "item_id": angelo.item_id}
        event = Event(**where, type="LENT", event=to, updated_at=LENT_AT, item_version=angelo.version + 1)
        lending = update(angelo, the(Book.lent_to).becomes(to), when=the(Book.lent_to).is_none())
        return lending, put(event, when=absent), put(Loan(**where, lent_at=LENT_AT), when=absent)

    outcomes = await asyncio.gather(*(store.transact(*lend(to)) for to in ("Ana", "Bo")), return_exceptions=True)
    (refused,) = [each for each in outcomes if each is not None]
    assert isinstance(refused, WriteRefused)
    has_it = (await store.one(Book.one(OWNER, HOME, angelo.item_id))).lent_to
    assert refused.current.lent_to == has_it
    assert [each.event for each in await store.all(Event.of_item(OWNER, HOME, angelo.item_id))] == [has_it]
    assert [each.item_id for each in await store.all(Loan.of_owner(OWNER))] == [angelo.item_id]
