"""What each call costs, counted; the README has the same table."""

from pathlib import Path

import potluck.apps.library
from potluck.apps.library.collections import CollectionChange, all_collections, change_collection, delete_collection
from potluck.apps.library.items import LibraryItemEdit, ShelfFilter, all_items, delete_item, one_item
from potluck.apps.library.lending import Lend, all_loans, give_back, history, lend
from potluck.apps.library.libraries import APP, Forced, LibraryChange, all_libraries, change_library, one_library
from potluck.apps.library.searching import SearchQuery, search
from potluck.apps.library.shares import NewShare, all_shares, join, share, unshare
from potluck.apps.library.titles import all_titles
from tests.apps.call_costs import CallCosts

README = Path(potluck.apps.library.__file__).with_name("README.md")


async def measured(shelves):
    """Each call with its requests, read units and write units, on a library where everything is small."""
    ada, bo = await shelves.person(), await shelves.person("Bo")
    direct = shelves.direct
    costs = CallCosts(shelves.recording)
    cost = costs.count

    home = await cost("make a library", shelves.library(ada))
    cabin = await shelves.library(ada, "Cabin")
    at = {"library_id": home}
    foo = await cost("make a collection", shelves.collection(ada, home, "Foo"))
    bar = await shelves.collection(ada, cabin, "Bar")
    one = await cost("add a book", shelves.book(ada, home, "One"))
    two = await cost("add a book to a collection", shelves.book(ada, home, "Two", collection_id=foo))
    there = {**at, "item_id": one.item_id}
    await cost("my libraries", direct.list(all_libraries, ada))
    await cost("a library", direct.read(one_library, ada, **at))
    await cost("the items of a library", direct.list(all_items, ada, ShelfFilter(), **at))
    await cost("its collections", direct.list(all_collections, ada, **at))
    await cost("one item", direct.read(one_item, ada, **there))
    await cost("change a title", shelves.change(ada, one, LibraryItemEdit(version=1, title="Uno")))
    await cost("put a book into a collection", shelves.change(ada, one, LibraryItemEdit(version=2, collection_id=foo)))
    await cost("lend", direct.do(lend, ada, Lend(to="Ida"), **there))
    await cost("who has what", direct.list(all_loans, ada))
    await cost("give back", direct.do(give_back, ada, **there))
    await cost("the history of an item", direct.list(history, ada, **there))
    moved = LibraryItemEdit(version=5, library_id=cabin, collection_id=bar)
    await cost("move to another library, with two events", shelves.change(ada, one, moved))
    await cost("delete an item", direct.do(delete_item, ada, Forced(), library_id=home, item_id=two.item_id))
    renamed = LibraryChange(version=1, library_name="Attic")
    await cost("give a library another name", direct.do(change_library, ada, renamed, version=1, **at))
    other = CollectionChange(version=1, name="Baz")
    await cost(
        "give a collection another name",
        direct.do(change_collection, ada, other, version=1, library_id=home, collection_id=foo),
    )
    await cost("delete a collection", direct.do(delete_collection, ada, library_id=home, collection_id=foo))
    made = await cost("share", direct.do(share, ada, NewShare(email="bo@example.org"), library_id=cabin))
    await cost("accept", shelves.direct.join(bo, made.token, APP, join))
    await cost("one item, as a guest", direct.read(one_item, bo, library_id=cabin, item_id=one.item_id))
    await cost("who looks", direct.list(all_shares, ada, library_id=cabin))
    await direct.list(search, ada, SearchQuery(q="uno"))
    await cost("all titles", direct.list(all_titles, ada))
    await cost("search two libraries again", direct.list(search, ada, SearchQuery(q="uno")))
    await cost("unshare", direct.do(unshare, ada, library_id=cabin, email="bo@example.org"))
    return costs


async def test_the_readme_has_what_each_call_costs(embedded_shelves):
    (await measured(embedded_shelves)).must_be_in(README)
