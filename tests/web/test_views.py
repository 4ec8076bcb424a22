"""What one reader saw of a page, another with the same view is given as it was written."""

from typing import Any

import msgspec
import pytest

from potluck.store import Page
from potluck.web import cursors
from potluck.web.cursors import Cursors, Listed, Part, View

PART = Part(50, None, "of", Cursors(bytes(32)))


class Shown(msgspec.Struct):
    item: int
    to: str


shows: list[tuple[int, str]] = []


@pytest.fixture(autouse=True)
def none_shown():
    shows.clear()


def shown(item: int, to: str) -> Shown:
    shows.append((item, to))
    return Shown(item, to)


def backwards(item: int, to: str) -> Shown:
    return Shown(item, to[::-1])


def items(listed: Listed[Any]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(listed))["items"]


def test_by_a_view_it_is_the_list_that_it_is_without():
    page = Page([1, 2], None)
    plainly = items(PART.answer(page, lambda each: shown(each, "ada")))
    for _ in range(2):
        assert items(PART.answer(page, View(shown, "ada"))) == plainly
    assert items(PART.answer(Page([], None), View(shown, "ada"))) == []


def test_each_view_of_a_page_is_made_once():
    page = Page([1, 2], None)
    for who in ("ada", "ben", "ada", "ben"):
        assert items(PART.answer(page, View(shown, who))) == [{"item": 1, "to": who}, {"item": 2, "to": who}]
    assert shows == [(1, "ada"), (2, "ada"), (1, "ben"), (2, "ben")]
    assert items(PART.answer(page, View(backwards, "ada")))[0]["to"] == "ada"[::-1]


def test_what_was_seen_of_one_page_is_not_shown_of_another():
    for page in (Page([1], None), Page([1], None)):
        PART.answer(page, View(shown, "ada"))
    assert shows == [(1, "ada"), (1, "ada")]


def test_no_more_views_are_kept_than_allowed():
    page = Page([1], None)
    for number in range(3 * cursors.MOST_VIEWS):
        PART.answer(page, View(shown, str(number)))
        assert len(page.made_of_it) <= cursors.MOST_VIEWS
