"""The button on an invitation's page leads somewhere, in every app that invites people."""

import pytest

from potluck.web.app import App
from potluck.web.app_catalogue import AppEntry
from potluck.web.endpoints import Endpoints
from potluck.web.inputs import DeclarationError
from potluck.web.people.joining_pages import joining_pages

ENTRY = AppEntry("gardens", "Gardens", "leaf", "Gardens.", "/gardens")


async def accept(caller, secret, also):
    raise AssertionError


def addresses(**said):
    app = App(name="gardens", tables=[], entry=ENTRY, **said)
    return [(each.method, each.path) for each in joining_pages([app]).declared]


def test_an_app_that_says_where_one_is_led_is_joined_there():
    assert addresses(accept=accept, joined_page=lambda joined: "/gardens/1") == [("POST", "/gardens/invitation")]


def test_an_app_may_serve_it_itself_or_invite_nobody():
    own = Endpoints()
    own.post("/gardens/invitation")(accept)
    assert addresses(accept=accept, endpoints=[own]) == []
    assert addresses() == []


def test_an_app_that_invites_people_into_nothing_is_refused():
    with pytest.raises(DeclarationError, match="joined_page="):
        addresses(accept=accept)
