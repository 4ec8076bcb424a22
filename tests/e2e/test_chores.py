"""The guide's app in a browser: its own page, and the ready-made start and settings pages of a place."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.chores_suite import Chores
from tests.e2e.coming_in import join

pytestmark = pytest.mark.needs("chromium", "axe-core")


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Iterator[Chores]:
    with Chores(tmp_path_factory.mktemp("chores")) as suite:
        yield suite


@pytest.mark.parametrize(("screen", "theme"), [("phone", "light"), ("desk", "dark")])
def test_a_home_is_made_shared_and_managed(visit, suite, screen, theme):
    mara, leo = visit("/", screen, theme, at=suite.address), visit("/", at=suite.address)
    join(mara)
    mara.open("/chores")
    assert mara.violations() == []
    mara.page.get_by_label("Name of a new home").fill("Elm Street")
    mara.page.get_by_role("button", name="Create home").click()
    mara.page.get_by_label("What has to be done?").fill("Dishes")
    mara.page.get_by_role("button", name="Add chore").click()
    mara.page.get_by_role("button", name="Done").wait_for()
    assert mara.violations() == []
    mara.page.get_by_role("link", name="Members").click()
    mara.page.get_by_role("button", name="Create link").click()
    link = mara.page.get_by_role("group", name="The link, shown once").locator("code").inner_text()
    assert mara.violations() == []

    join(leo, "Leo Lund")
    leo.page.goto(f"{leo.address}{urlsplit(link).path}#{urlsplit(link).fragment}")
    leo.page.get_by_role("button", name="Join").click()
    leo.page.get_by_text("You’re in.").wait_for()
    leo.page.get_by_text("Dishes").wait_for()

    mara.page.reload()
    mara.page.get_by_label("Options for Leo Lund").click()
    mara.page.get_by_role("button", name="Change role to Admin").click()
    mara.page.get_by_text("The role of Leo Lund is now Admin.").wait_for()
    mara.page.get_by_label("Options for Mara Okafor").click()
    assert mara.violations() == []
    mara.picture("place-settings")
    mara.page.get_by_role("button", name="Leave home").click()
    expect(mara.page.get_by_text("You left the home.")).to_be_visible()
    assert mara.page.get_by_role("link", name="Elm Street").count() == 0
