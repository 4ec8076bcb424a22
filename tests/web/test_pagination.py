"""What the address of a list takes: its own filters, with the rule about them, and which page of it."""

from collections.abc import Iterable

import pytest

from potluck.validation import decode_query
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.inputs import UNSET, Input, Unset
from potluck.web.pagination import Cursors, PageRequest, list_input


class Between(Input):
    since: int | Unset = UNSET
    until: int | Unset = UNSET

    @staticmethod
    def check(sent: "Between") -> Iterable[FieldError]:
        if sent.since is not UNSET and sent.until is not UNSET and sent.since > sent.until:
            yield FieldError("until", "until must not be before since")


def test_the_filters_of_a_list_are_held_to_their_own_rule():
    kind = list_input(Between)
    wanted = decode_query(kind, [("since", "1"), ("until", "2"), ("limit", "5")], strict=True)
    assert (kind.filter_of(wanted), wanted.limit) == (Between(since=1, until=2), 5)
    with pytest.raises(ValidationError, match="until must not be before since"):
        decode_query(kind, [("since", "2"), ("until", "1")], strict=True)


def test_no_item_is_lost_between_pages_of_items_that_sort_alike():
    items = [(1, "a"), (2, "b"), (2, "c"), (2, "d"), (3, "e")]

    def walked(limit):
        found, after = [], None
        while True:
            page = PageRequest(limit, after, "", Cursors(bytes(32)))
            part, after = page.part_of(items, lambda item: (item[0],))
            found += part
            if after is None:
                return found

    assert [walked(limit) for limit in (1, 2, 3, 4, 5)] == [items] * 5


def test_a_page_goes_on_where_the_last_item_of_the_one_before_is_gone():
    first = PageRequest(2, None, "", Cursors(bytes(32)))
    _, after = first.part_of([(1,), (2,), (3,)], lambda item: item)
    assert PageRequest(2, after, "", Cursors(bytes(32))).part_of([(1,), (3,)], lambda item: item) == ([(3,)], None)


def test_only_the_items_around_a_page_are_looked_at_to_find_it():
    looked: list[int] = []

    def order(item: int) -> tuple[int]:
        looked.append(item)
        return (item,)

    items, cursors = list(range(1_000)), Cursors(bytes(32))
    assert PageRequest(1_000, None, "", cursors).part_of(items, order) == (items, None)
    assert looked == []
    part, _ = PageRequest(10, {"after": [499], "alike": 1}, "", cursors).part_of(items, order)
    assert part == list(range(500, 510))
    assert len(looked) < 50
