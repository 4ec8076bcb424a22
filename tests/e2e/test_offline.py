"""The suite in airplane mode: what was opened opens, says since when, and belongs to who is signed in."""

from collections.abc import Iterator

import pytest

from tests.e2e.browsing import Visit
from tests.e2e.coming_in import join
from tests.e2e.shops import Home, call
from tests.e2e.tables import Table

pytestmark = pytest.mark.needs("chromium", "axe-core")


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Iterator[Table]:
    with Table(tmp_path_factory.mktemp("table")) as table:
        yield table


def visited(visit: Visit, *paths: str) -> None:
    for path in paths:
        visit.open(path)
        visit.until_kept()


def offline(visit: Visit) -> None:
    visit.without_network()
    visit.page.context.set_offline(True)


def shown(visit: Visit, path: str) -> str:
    """What the page says that opens there now."""
    visit.page.goto(visit.address + path)
    return visit.page.locator("body").inner_text()


def test_what_was_opened_opens_without_a_network_and_says_since_when(visit, table):
    window = visit("/", at=table.address)
    join(window)
    home = Home(window, call(window, "POST", "/families", {"name": "Lund Street 7"})["familyId"])
    home.thing("Oat milk")
    library = call(window, "POST", "/libraries", {"libraryName": "Living room"})["libraryId"]
    call(window, "POST", "/polls", {"title": "Where in June?", "candidates": ["Hut", "Cabin"]})
    visited(window, "/", home.page, "/polls", "/library", f"/library/{library}")
    offline(window)
    for path, words in {
        "/": "Mara Okafor",
        "/polls": "Where in June?",
        "/library": "Living room",
        f"/library/{library}": "Living room",
    }.items():
        text = shown(window, path)
        assert words in text, path
        assert "You’re offline." in text
        assert "Showing what was saved at" in text
        window.picture(f"offline-{path.split('/')[1] or 'home'}")
    assert "Oat milk" in shown(window, home.page)
    assert "This page isn’t saved on this device" in shown(window, "/polls/new")
    window.page.get_by_role("link", name="Living room").wait_for()
    window.picture("offline-page")
    assert window.violations() == []
