"""The suite in airplane mode: what was opened opens, says since when, and belongs to who is signed in."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

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


def created_list(visit: Visit, *items: str) -> str:
    body = {"entity": "checklist", "name": "Packing", "items": [{"name": item} for item in items]}
    return str(call(visit, "POST", "/shareables", body)["shortId"])


def items_of(visit: Visit, short_id: str) -> dict[str, bool]:
    return {item["name"]: item["done"] for item in call(visit, "GET", f"/shareables/{short_id}")["items"]}


def test_ticks_and_additions_wait_on_the_device_and_are_sent_once_from_any_page(visit, table):
    window = visit("/", at=table.address)
    join(window)
    page = window.page
    short_id = created_list(window, "Stove", "Tent")
    visited(window, "/", f"/shareables/{short_id}")
    offline(window)
    assert "Showing what was saved at" in shown(window, f"/shareables/{short_id}")
    page.get_by_role("checkbox", name="Stove").tap()
    page.get_by_label("Add an item").fill("Torch")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 changes aren’t sent yet.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("2 changes aren’t sent yet.")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Stove")).to_be_checked()
    expect(page.get_by_role("list", name="Not sent yet")).to_contain_text("Torch")
    window.picture("offline-shareable")
    assert window.violations() == []
    shown(window, "/")
    assert items_of(window, short_id) == {"Stove": False, "Tent": False}
    with page.expect_response(lambda answer: answer.url.endswith("/items") and answer.request.method == "POST"):
        page.context.set_offline(False)
    visited(window, f"/shareables/{short_id}")
    expect(page.get_by_role("list", name="Not sent yet")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Torch")).to_have_count(1)
    assert items_of(window, short_id) == {"Stove": True, "Tent": False, "Torch": False}
