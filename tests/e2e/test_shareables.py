"""Shareables in a browser: laid out, opened by its id, unlocked, ticked, and looked after; two windows see the same."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit
from tests.e2e.picnics import Picnic, picnic_on

pytestmark = pytest.mark.needs("chromium", "axe-core")

VIEW, ADMIN = "lemonade", "trestle-table"


@pytest.fixture(scope="module")
def picnic(tmp_path_factory) -> Iterator[Picnic]:
    with picnic_on(tmp_path_factory.mktemp("picnic")) as picnic:
        yield picnic


@pytest.fixture
def window(visit, picnic):
    return lambda path, *args, **options: visit(path, *args, at=picnic.address, **options)


def looked_at(seen: Visit) -> None:
    for theme in ("light", "dark"):
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert seen.violations() == []
    assert seen.overflow() == 0
    seen.check()


def test_a_list_is_laid_out_and_ticked_by_who_has_the_passcode(window):
    maker = window("/shareables")
    looked_at(maker)
    maker.page.get_by_role("link", name="New").click()
    looked_at(maker)
    maker.page.get_by_label("Name").fill("Campfire packing list")
    maker.page.get_by_label("Items, or candidates").fill("Two tents\nStove\nHead torches")
    maker.page.get_by_label("View passcode").fill(VIEW)
    maker.page.get_by_label("Admin passcode").fill(ADMIN)
    maker.page.get_by_role("button", name="Put it on the table").click()
    expect(maker.page.get_by_role("heading", name="It is on the table")).to_be_visible()
    looked_at(maker)
    path = maker.page.get_by_role("link", name="Open it").get_attribute("href")
    maker.open(path)
    maker.live()
    looked_at(maker)

    guest = window("/shareables")
    guest.page.get_by_label("Short id or link").fill(path.rsplit("/")[-1].upper().replace("-", " "))
    guest.page.get_by_role("button", name="Open").click()
    expect(guest.page).to_have_url(re.compile("/unlock$"))
    looked_at(guest)
    guest.page.get_by_label("Passcode").fill(VIEW)
    guest.page.get_by_role("button", name="Unlock").click()
    guest.live()
    guest.page.get_by_role("button", name="Tick Stove").click()
    expect(guest.page.get_by_text("1 of 3 done")).to_be_visible()
    # The other window hears of it.
    expect(maker.page.get_by_role("button", name="Untick Stove")).to_be_visible()
