"""A collection in another order."""

import pytest

from potluck.apps.library.ordering import AT_ONCE, WantedOrder, distinct_orders, order_collection


@pytest.mark.parametrize(
    ("orders", "numbers"),
    [
        ([], []),
        ([3, 1, 7], [1, 3, 7]),
        ([2, 2, 2, 3], [2, 3, 4, 5]),
        ([1000, 1000, 4], [1, 2, 3]),
        ([1000], [1000]),
    ],
)
def test_numbers_stay_and_each_item_gets_one(orders, numbers):
    assert distinct_orders(orders) == numbers


async def test_what_stands_at_the_numbers_of_a_collection_changes(embedded_shelves):
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    vasik = await shelves.collection(ada, home, "Inspector Vasik")
    books = [await shelves.book(ada, home, f"Book {at}", collection_id=vasik, order=at) for at in (1, 3, 3, 7)]
    alone = await shelves.book(ada, home, "Alone")
    ids = [each.item_id for each in books]
    at = {"library_id": home, "collection_id": vasik}

    async def orders():
        return [(await shelves.seen(ada, each)).order for each in books]

    # What is not in it is not put in, and what is not named follows.
    wanted = WantedOrder(item_ids=[ids[3], alone.item_id, ids[1]])
    await shelves.direct.do(order_collection, ada, wanted, **at)
    assert await orders() == [4, 3, 7, 1]
    assert (await shelves.seen(ada, alone)).collection_id is None
    await shelves.counts_are_right(ada)
    # More than one transaction takes.
    books += [await shelves.book(ada, home, f"More {at}", collection_id=vasik) for at in range(AT_ONCE)]
    before = await orders()
    reversed_ids = [each.item_id for _, each in sorted(zip(before, books, strict=True), key=lambda it: -it[0])]
    await shelves.direct.do(order_collection, ada, WantedOrder(item_ids=reversed_ids), **at)
    assert await orders() == [
        dict(zip(sorted(before), sorted(before, reverse=True), strict=True))[each] for each in before
    ]
    await shelves.counts_are_right(ada)
