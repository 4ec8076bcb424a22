"""Books and videos on both engines: where they stand, what moves with them, and counts that are always right."""

import asyncio
from random import Random
from uuid import UUID

import pytest
from msgspec import UNSET

from potluck.apps.library.access import InLibrary
from potluck.apps.library.collections import NewCollection, add_collection, delete_collection
from potluck.apps.library.entities import Book, Collection, Event, LibraryItem, Loan
from potluck.apps.library.fields import owner_of
from potluck.apps.library.items import LibraryItemEdit, NewVideo, ShelfFilter, add_video, all_items, delete_item
from potluck.apps.library.lending import Lend, give_back, history, lend
from potluck.apps.library.libraries import (
    Forced,
    NewLibrary,
    StillLent,
    create_library,
    delete_library,
    libraries,
    one_library,
)
from potluck.apps.library.pages.collections import GroupForm, group
from potluck.apps.library.placement import EVENTS_AT_ONCE
from potluck.apps.library.shelf import shelf_page
from potluck.table import the, update
from potluck.validation.errors import ValidationError
from potluck.web.access import Visitor, read_together
from potluck.web.errors import Conflict, NotFound, ProblemError
from potluck.web.runner import Sent
from tests.apps.library.assembly import assembled, outcomes
from tests.engine_targets import EMBEDDED, LOCAL
from tests.patience import until

TITLES = ["Foo! And more", "Foo Bar", "Élan", "apple", "#1 Foo", "Foo#2", "zebra", "Foo"]


async def titles(shelves, person, library_id):
    return [each.title for each in await shelves.direct.list(all_items, person, ShelfFilter(), library_id=library_id)]


async def test_a_collection_s_items_stand_right_after_it_and_all_else_as_people_sort(shelves):
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    for title in TITLES:
        await shelves.book(ada, home, title)
    for title in ("Two", "Ten", "Again"):
        await shelves.book(ada, home, title, collection_id=foo)
    await shelves.book(ada, home, "First", collection_id=foo, order=1)
    assert await titles(shelves, ada, home) == [
        "#1 Foo", "apple", "Élan", "First", "Two", "Ten", "Again", "Foo", "Foo#2", "Foo! And more", "Foo Bar", "zebra",
    ]  # fmt: skip
    assert await shelves.counts_are_right(ada) == (12, 4)


async def test_an_item_is_added_with_its_counts_by_one_transaction(shelves):
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    with shelves.recording.scope() as calls:
        made = await shelves.book(ada, home, "One", collection_id=foo, authors=["A"], isbn="0-306-40615-2")
    assert calls.operations == ["BatchGetItem", "GetItem", "Query", "TransactWriteItems"]
    assert (made.order, made.collection_name, made.isbn, made.version) == (1, "Foo", "9780306406157", 1)
    video = NewVideo(title="Film", cast=list("abcdefg"))
    film = await shelves.direct.do(add_video, ada, video, library_id=home)
    assert (film.cast, film.kind, film.authors) == (list("abcde"), "video", UNSET)


async def test_what_does_not_fit_is_refused_and_nothing_is_written(embedded_shelves):
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    item = await shelves.book(ada, home, "One")
    before = await shelves.kinds()
    for change, field in [
        (LibraryItemEdit(version=1, directors=["D"]), "directors"),
        (LibraryItemEdit(version=1, order=3), "order"),
        (LibraryItemEdit(version=1, collection_id=UUID(int=5)), "collectionId"),
        (LibraryItemEdit(version=1, library_id=UUID(int=5)), "libraryId"),
    ]:
        with pytest.raises(ValidationError) as refused:
            await shelves.change(ada, item, change)
        assert [each.field for each in refused.value.errors] == [field]
    with pytest.raises(Conflict):
        await shelves.change(ada, item, LibraryItemEdit(version=2, title="Two"))
    assert await shelves.kinds() == before
    same = await shelves.change(ada, item, LibraryItemEdit(version=1, title="One"))
    assert same.version == 1


async def test_a_move_takes_everything_along(shelves):
    ada = await shelves.person()
    home, cabin = await shelves.library(ada), await shelves.library(ada, "Cabin")
    foo, bar = await shelves.collection(ada, home, "Foo"), await shelves.collection(ada, cabin, "Bar")
    item = await shelves.book(ada, home, "One", collection_id=foo)
    at = {"library_id": home, "item_id": item.item_id}
    for to in ("Ida", "Leo", "Noor"):
        await shelves.direct.do(lend, ada, Lend(to=to), **at)
        if to != "Noor":
            await shelves.direct.do(give_back, ada, **at)
    before = await shelves.direct.list(history, ada, **at)
    item = await shelves.seen(ada, item)
    moved = await shelves.change(ada, item, LibraryItemEdit(version=6, library_id=cabin, collection_id=bar))
    assert (moved.library_name, moved.collection_name, moved.order, moved.lent_to) == ("Cabin", "Bar", 1, "Noor")
    assert moved.version == 7
    after = await shelves.direct.list(history, ada, library_id=cabin, item_id=item.item_id)
    assert after == before
    assert [each.borrower for each in after] == ["Noor", "Leo", "Leo", "Ida", "Ida"]
    with pytest.raises(NotFound):
        await shelves.direct.list(history, ada, **at)
    owner = owner_of(ada.user_id)
    assert [each.library_id for each in await shelves.store.all(Loan.of_owner(owner))] == [cabin]
    assert await shelves.store.all(Event.of_item(owner, home, item.item_id)) == []
    assert await shelves.counts_are_right(ada) == (1, 1)


@pytest.mark.parametrize("events", [EVENTS_AT_ONCE, EVENTS_AT_ONCE + 61])
async def test_a_long_history_moves_to_its_end(shelves, events):
    ada = await shelves.person()
    home, cabin = await shelves.library(ada), await shelves.library(ada, "Cabin")
    item = await shelves.book(ada, home, "One")
    owner = owner_of(ada.user_id)
    made = [
        Event(
            owner_id=owner, library_id=home, item_id=item.item_id, item_version=number, type="LENT", event=f"B{number}",
            updated_at=shelves.clock(),
        )
        for number in range(1, events + 1)
    ]  # fmt: skip
    for each in made:
        await shelves.store.put(each)
    async with shelves.consuming():
        await shelves.change(ada, item, LibraryItemEdit(version=1, library_id=cabin))

        async def moved():
            return "RELOCATION" not in await shelves.kinds()

        await until(moved)
    found = await shelves.direct.list(history, ada, library_id=cabin, item_id=item.item_id)
    assert [each.borrower for each in found] == [each.event for each in reversed(made)]
    assert await shelves.store.all(Event.of_item(owner, home, item.item_id)) == []


@pytest.mark.parametrize("ways", [("Cabin", "Attic"), ("Cabin", "Home")], ids=["on", "back"])
async def test_a_long_history_follows_an_item_that_moves_on_before_it(shelves, ways):
    ada = await shelves.person()
    places = {name: await shelves.library(ada, name) for name in ("Home", "Cabin", "Attic")}
    item = await shelves.book(ada, places["Home"], "One")
    at = {"library_id": places["Home"], "item_id": item.item_id}
    for _ in range(EVENTS_AT_ONCE // 2 + 1):
        await shelves.direct.do(lend, ada, Lend(to="Ida"), **at)
        await shelves.direct.do(give_back, ada, **at)
    before = await shelves.direct.list(history, ada, **at)
    for name in ways:
        item = await shelves.seen(ada, item)
        item = await shelves.change(ada, item, LibraryItemEdit(version=item.version, library_id=places[name]))
    # When the history of this one is gone, every change before it is handled.
    last = await shelves.book(ada, places["Attic"], "Last")
    its = {"library_id": places["Attic"], "item_id": last.item_id}
    await shelves.direct.do(lend, ada, Lend(to="Ida"), **its)
    await shelves.direct.do(delete_item, ada, Forced(force="true"), **its)
    owner = owner_of(ada.user_id)
    async with shelves.consuming():

        async def followed():
            return await shelves.store.count(Event.of_item(owner, places["Attic"], last.item_id)) == 0

        await until(followed)
    found = await shelves.direct.list(history, ada, library_id=places[ways[-1]], item_id=item.item_id)
    assert found == before
    assert (await shelves.kinds())["EVENT"] == len(before)
    assert "RELOCATION" not in await shelves.kinds()
    assert await shelves.counts_are_right(ada) == (1, 0)


async def test_an_id_is_free_again_when_nothing_is_left_of_what_had_it(shelves):
    """Else a new library would have the old one's guests, and a new collection the old one's items."""
    ada = await shelves.person()
    home, other = await shelves.library(ada), await shelves.library(ada, "Other")
    bo = await shelves.guest(ada, home)
    foo = await shelves.collection(ada, other, "Foo")
    await shelves.book(ada, other, "In it", collection_id=foo)
    item = await shelves.book(ada, other, "Lent")
    at = {"library_id": other, "item_id": item.item_id}
    await shelves.direct.do(lend, ada, Lend(to="Ida"), **at)
    await shelves.direct.do(delete_item, ada, Forced(force="true"), **at)
    await shelves.direct.do(delete_collection, ada, library_id=other, collection_id=foo)
    await shelves.direct.do(delete_library, ada, Forced(), library_id=home)
    again = [
        lambda: shelves.direct.do(create_library, ada, NewLibrary(library_name="Again", library_id=home)),
        lambda: shelves.direct.do(add_collection, ada, NewCollection(name="A", collection_id=foo), library_id=other),
        lambda: shelves.book(ada, other, "Again", item_id=item.item_id),
    ]
    for make in again:
        with pytest.raises(ProblemError) as refused:
            await make()
        assert refused.value.problem.slug == "already-exists"
    async with shelves.consuming():

        async def cleared():
            return await shelves.kinds() == {"LIBRARY": 1, "BOOK": 1, "Unique": 1}

        await until(cleared)
    for make in again:
        await make()
    with pytest.raises(NotFound):
        await shelves.direct.read(one_library, bo, library_id=home)
    assert await shelves.direct.list(history, ada, **at) == []
    assert await shelves.counts_are_right(ada) == (2, 0)


async def test_a_lent_item_says_who_has_it_and_goes_with_force(shelves):
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    item = await shelves.book(ada, home, "One", collection_id=foo)
    at = {"library_id": home, "item_id": item.item_id}
    await shelves.direct.do(lend, ada, Lend(to="Ida"), **at)
    with pytest.raises(StillLent) as refused:
        await shelves.direct.do(delete_item, ada, Forced(), **at)
    assert refused.value.members == {"lentTo": "Ida"}
    async with shelves.consuming():
        await shelves.direct.do(delete_item, ada, Forced(force="true"), **at)
        assert await shelves.counts_are_right(ada) == (0, 0)

        async def nothing_left():
            return not {"EVENT", "BOOK", "LOAN", "COLLECTION_MEMBER"} & set(await shelves.kinds())

        await until(nothing_left)


@pytest.mark.parametrize("first", ["deleted", "moved"])
@pytest.mark.parametrize("second", ["deleted", "moved"])
async def test_what_is_gone_meanwhile_is_not_counted_twice_nor_comes_back(interrupted_shelves, first, second):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home, cabin, attic = [await shelves.library(ada, name) for name in ("Home", "Cabin", "Attic")]
    foo = await shelves.collection(ada, home, "Foo")
    item = await shelves.book(ada, home, "One", collection_id=foo)
    await shelves.book(ada, home, "Two", collection_id=foo)

    def done(how, to):
        if how == "moved":
            return shelves.change(ada, item, LibraryItemEdit(version=1, library_id=to))
        return shelves.direct.do(delete_item, ada, Forced(), library_id=home, item_id=item.item_id)

    shelves.meanwhile(lambda: done(first, cabin))
    with pytest.raises(NotFound):
        await done(second, attic)
    assert await shelves.counts_are_right(ada) == (1 if first == "deleted" else 2, 1)


async def test_a_rename_between_reading_and_writing_is_read_again(interrupted_shelves):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    owner = owner_of(ada.user_id)

    async def renamed():
        collection = await shelves.store.one(Collection.one(owner, home, foo))
        await shelves.store.update(collection, the(Collection.name).becomes("Bar"))

    shelves.meanwhile(renamed)
    made = await shelves.book(ada, home, "One", collection_id=foo)
    assert made.collection_name == "Bar"


async def test_a_name_that_is_copied_into_an_item_meanwhile_is_no_conflict_for_its_editor(interrupted_shelves):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    item = await shelves.book(ada, home, "One", collection_id=foo)

    async def copy():
        row = await shelves.store.one(Book.one(owner_of(ada.user_id), home, item.item_id))
        await shelves.store.transact(update(row, the(Book.collection_name).becomes("Bar"), keep_version=True))

    shelves.meanwhile(copy)
    # Title and order are in the item's index keys, as the copied name is.
    after = await shelves.change(ada, item, LibraryItemEdit(version=1, title="Two", order=4))
    assert (after.version, after.collection_name) == (2, "Bar")


@pytest.mark.parametrize("deletes", [False, True])
async def test_an_item_that_is_changed_while_it_is_grouped_keeps_the_change_and_is_grouped(
    interrupted_shelves, deletes
):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    await shelves.collection(ada, home, "Foo")
    item, other = [await shelves.book(ada, home, title) for title in ("One", "Two")]
    ids = {"library_id": home, "item_id": item.item_id}
    shelves.meanwhile(
        lambda: (
            shelves.direct.do(delete_item, ada, Forced(), **ids)
            if deletes
            else shelves.change(ada, item, LibraryItemEdit(version=1, title="Changed"))
        )
    )
    sent = Sent(GroupForm(name="Foo", item_ids=[item.item_id, other.item_id]))
    visitor = Visitor(principal=ada, limited=False, by_page=True)
    await shelves.direct.runner.perform(libraries.declared_by(group), visitor, {"library_id": home}, lambda: sent)
    items = await shelves.direct.list(all_items, ada, ShelfFilter(), library_id=home)
    assert {(row.title, row.collection_name) for row in items} == (
        {("Two", "Foo")} if deletes else {("Changed", "Foo"), ("Two", "Foo")}
    )


async def random_history(shelves, changes, clients):
    ada = await shelves.person()
    libraries = [await shelves.library(ada, name) for name in ("Home", "Cabin")]
    collections = {
        each: [None, *[await shelves.collection(ada, each, name) for name in ("Foo", "Bar", "Baz")]]
        for each in libraries
    }
    items = []

    async def one(drawn, number):
        choice = drawn.random()
        library = drawn.choice(libraries)
        if choice < 0.5 or not items:
            items.append(
                await shelves.book(ada, library, f"T{number}", collection_id=drawn.choice(collections[library]))
            )
        elif choice < 0.8:
            item = items.pop(drawn.randrange(len(items)))
            change = LibraryItemEdit(library_id=library, collection_id=drawn.choice(collections[library]))
            items.append(await shelves.change(ada, item, change))
        else:
            item = items.pop(drawn.randrange(len(items)))
            at = {"library_id": item.library_id, "item_id": item.item_id}
            await shelves.direct.do(delete_item, ada, Forced(), **at)

    async def client(seed):
        drawn = Random(seed)
        for number in range(changes // clients):
            await one(drawn, seed * 10_000 + number)

    await asyncio.gather(*map(client, range(clients)))
    assert await shelves.counts_are_right(ada) == (len(items), sum(each.collection_id is not None for each in items))
    # And behind a collection that is deleted.
    gone = collections[libraries[0]][1]
    await shelves.direct.do(delete_collection, ada, library_id=libraries[0], collection_id=gone)
    async with shelves.consuming():

        async def cleared():
            owner = owner_of(ada.user_id)
            there = await shelves.store.all(LibraryItem.stored_in(owner, libraries[0]))
            return all(each.collection_id != gone for each in there)

        await until(cleared)
    assert (await shelves.counts_are_right(ada))[0] == len(items)


# Fewer on DynamoDB Local, where each takes its time; the long form has a thousand there too.
@pytest.mark.parametrize(("engine", "changes"), [(EMBEDDED, 160), (LOCAL, 40)])
async def test_counts_equal_a_recount_after_adds_moves_and_deletes_of_many(engine, changes, tmp_path):
    async with assembled(engine, tmp_path) as shelves:
        await random_history(shelves, changes, 8)


@pytest.mark.soak
async def test_counts_equal_a_recount_after_a_thousand_changes_of_twenty(busy_shelves):
    await random_history(busy_shelves, 1000, 20)


async def test_a_page_never_cuts_a_collection_in_two(embedded_shelves):
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    for name in ("Alpha", "Gamma"):
        collection = await shelves.collection(ada, home, name)
        for number in range(130 if name == "Alpha" else 3):
            await shelves.book(ada, home, f"{name} {number:03}", collection_id=collection)
    await shelves.collection(ada, home, "Empty")
    for title in ("Aardvark", "Beta", "Omega"):
        await shelves.book(ada, home, title)
    at = InLibrary(shelves.core, shelves.app.context, Visitor(principal=ada), {"library_id": home})
    await at.admit(*await read_together(shelves.store, at.reads()))
    found, after = [], None
    while True:
        page, after = await shelf_page(at, 2, after)
        found += page
        assert len(page) <= 2
        if after is None:
            break
    names = [each.collection.name if each.collection else each.items[0].title for each in found]
    assert names == ["Aardvark", "Alpha", "Beta", "Empty", "Gamma", "Omega"]
    assert [len(each.items) for each in found] == [1, 130, 1, 0, 3, 1]


async def test_of_fifty_lends_at_once_one_succeeds_and_the_others_hear_who_has_it(busy_shelves):
    shelves = busy_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    item = await shelves.book(ada, home, "One")
    at = {"library_id": home, "item_id": item.item_id}
    done, refused = await outcomes(
        *(shelves.direct.do(lend, ada, Lend(to=f"B{number}"), **at) for number in range(shelves.many))
    )
    (won,) = done
    assert {each.members["lentTo"] for each in refused} == {won.lent_to}
    events = await shelves.direct.list(history, ada, **at)
    assert [(each.type, each.borrower) for each in events] == [("LENT", won.lent_to)]
    # Of as many who bring it back, one does; all in one instant, and in order.
    back, refused = await outcomes(*(shelves.direct.do(give_back, ada, **at) for _ in range(shelves.many)))
    assert (len(back), len(refused)) == (1, shelves.many - 1)
    await shelves.direct.do(lend, ada, Lend(to="Next"), **at)
    events = await shelves.direct.list(history, ada, **at)
    assert [(each.type, each.borrower) for each in events] == [
        ("LENT", "Next"), ("RETURNED", won.lent_to), ("LENT", won.lent_to),
    ]  # fmt: skip
    assert len({each.updated_at for each in events}) == 1
