"""The button on an invitation's page leads somewhere, in every app that invites people."""

import pytest

from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.inputs import DeclarationError
from potluck.web.people.joining_pages import joining_pages
from potluck.web.writes import Writes
from tests.web.suites import app_with


async def join(at, invitation):
    raise AssertionError


def addresses(**said):
    app = app_with("gardens", title="Gardens", address="/gardens", **said)(None)
    return [each.form_path for subject in joining_pages([app]) for each in subject.declared]


def test_an_app_that_says_where_one_is_led_is_joined_there():
    assert addresses(join=join, joined_page="/gardens/1") == ["/gardens/invitation"]


def test_an_app_may_serve_it_itself_or_invite_nobody():
    own = Actions(SignedIn, page="/gardens/invitation")

    @own.form("", then="/gardens")
    async def come_in(at: SignedIn) -> Writes[None]:
        return Writes(None)

    assert addresses(join=join, subjects=[own]) == []
    assert addresses() == []


def test_an_app_that_invites_people_into_nothing_is_refused():
    with pytest.raises(DeclarationError, match="joined_page="):
        addresses(join=join)
