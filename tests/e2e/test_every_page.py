"""No page is forgotten: each that the application has is looked at by axe in some test, or it is said why not."""

from collections.abc import Callable
from importlib import import_module
from itertools import permutations, product

import pytest

from potluck.suite import APPS
from potluck.web.http.application import Application
from tests.e2e import test_chores
from tests.e2e.every_page import LOOKED_AT_BY, NOT_LOOKED_AT, not_kept_by, page_of
from tests.e2e.test_pages import FOR_PEOPLE, FOR_VISITORS, WINDOWS
from tests.toy import NotesApp
from tests.web.suites import suite_on

API = "/api/"


def answering_browsers(application: Application) -> set[str]:
    """The addresses of pages and files, without those of the API and of streams."""
    return {
        path
        for method, path in application.router.addresses()
        if method == "GET" and not path.startswith(API) and not path.endswith("/events")
    }


async def test_every_page_is_looked_at_or_it_is_said_why_not(tmp_path):
    async with suite_on(tmp_path, (*APPS, NotesApp)) as (_, application):
        addresses = answering_browsers(application)
    opened = {*FOR_VISITORS, *FOR_PEOPLE, *(path for path, *_ in WINDOWS)}
    looked_at = {page_of(path, addresses) for path in opened} | LOOKED_AT_BY.keys()
    forgotten = sorted(addresses - looked_at - NOT_LOOKED_AT.keys())
    said = "say in tests/e2e/every_page.py which test looks at these (LOOKED_AT_BY), or why none does (NOT_LOOKED_AT):"
    if forgotten:
        pytest.fail("\n".join([said, *forgotten]), pytrace=False)
    gone = sorted({*LOOKED_AT_BY, *NOT_LOOKED_AT} - addresses)
    if gone:
        pytest.fail(
            "\n".join(["take these out of tests/e2e/every_page.py: there is no such address", *gone]), pytrace=False
        )


@pytest.mark.parametrize("named", sorted(set(LOOKED_AT_BY.values())))
def test_every_test_that_is_to_look_is_there(named):
    test, _, case = named.removesuffix("]").partition("[")
    module, _, name = test.partition(".")
    found = getattr(import_module(f"tests.e2e.{module}"), name)
    assert case in cases_of(found)


def test_a_case_with_several_values_is_found():
    assert cases_of(test_chores.test_a_home_is_made_shared_and_managed) == {"phone-light", "desk-dark"}


def cases_of(test: Callable[..., None]) -> set[str]:
    """The parametrized names that a test may run by; the empty one if it has no parameters."""
    sets = [mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    named = [[values if isinstance(values, str) else "-".join(values) for values in each] for each in sets]
    return {"-".join(values) for order in permutations(named) for values in product(*order)}


def test_a_test_that_did_not_look_where_it_was_to_is_found_out():
    test = LOOKED_AT_BY["/polls/{poll_id}/edit"]
    assert not_kept_by(test, ["/polls", "/polls/1f/edit"]) == ["/polls/{poll_id}/delete"]
    assert not_kept_by(test, ["/polls", "/polls/1f/edit", "/polls/1f/delete"]) == []
    assert page_of("/polls/new", LOOKED_AT_BY) == "/polls/new"
    assert page_of("/polls/1f", LOOKED_AT_BY) == "/polls/{poll_id}"
    assert page_of("/polls/1f/nowhere", LOOKED_AT_BY) is None
