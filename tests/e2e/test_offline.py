"""The suite in airplane mode: what was opened opens, says since when, and belongs to who is signed in."""

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit
from tests.e2e.coming_in import join, sign_in
from tests.e2e.shops import Home, call
from tests.e2e.tables import Table
from tests.patience import PATIENCE_SECONDS

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


def online_elsewhere(visit: Visit) -> None:
    """The network is back while no page is open that would load itself again."""
    visit.page.goto("about:blank")
    visit.page.context.set_offline(False)


def shown(visit: Visit, path: str) -> str:
    """What the page says that opens there now."""
    visit.page.goto(visit.address + path)
    return visit.page.locator("body").inner_text()


LEFT_BY_AN_EARLIER_VERSION = """({ family, person }) => new Promise((done) => {
  const opening = indexedDB.open("potluck-shopping", 1);
  opening.onupgradeneeded = () => {
    for (const name of ["about", "lists"]) opening.result.createObjectStore(name);
    opening.result.createObjectStore("changes", { keyPath: "seq", autoIncrement: true });
    opening.result.createObjectStore("notices", { keyPath: "number", autoIncrement: true });
  };
  opening.onsuccess = () => {
    const writing = opening.result.transaction(["about", "changes"], "readwrite");
    writing.objectStore("about").put({ id: person }, "person");
    writing.objectStore("changes").put({
      family, person, kind: "add", id: crypto.randomUUID(), key: crypto.randomUUID(), at: Date.now(),
      values: { name: "Old lemons" }, before: {}, was: null, seen: null, sent: false,
    });
    writing.oncomplete = () => {
      opening.result.close();
      done();
    };
  };
})"""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def created_list(visit: Visit, *items: str) -> str:
    body = {"entity": "checklist", "name": "Packing", "items": [{"name": item} for item in items]}
    return str(call(visit, "POST", "/shareables", body)["shortId"])


def test_what_was_opened_opens_without_a_network_and_says_since_when(visit, table):
    window = visit("/", at=table.address)
    join(window)
    home = Home(window, call(window, "POST", "/families", {"name": "Lund Street 7"})["familyId"])
    home.thing("Oat milk")
    library = call(window, "POST", "/libraries", {"libraryName": "Living room"})["libraryId"]
    call(window, "POST", "/polls", {"title": "Where in June?", "candidates": ["Hut", "Cabin"]})
    # What an earlier version of Shopping left unsent is sent.
    person = call(window, "GET", "/me")["userId"]
    window.page.evaluate(LEFT_BY_AN_EARLIER_VERSION, {"family": home.family_id, "person": person})
    paths = ["/polls", "/library", f"/library/{library}", f"/shareables/{created_list(window, 'Stove')}"]
    visited(window, "/", home.page, *paths)
    until(lambda: "Old lemons" in home.listed())
    offline(window)
    for path, words in {
        "/": "Mara Okafor",
        "/polls": "Where in June?",
        "/library": "Living room",
        f"/library/{library}": "Living room",
        f"/library/{library}?look=list": "Living room",
    }.items():
        text = shown(window, path)
        assert words in text, path
        assert "You’re offline." in text
        assert "Showing what was saved at" in text
        window.picture(f"offline-{path.split('/')[1] or 'home'}")
    assert "Oat milk" in shown(window, home.page)
    assert "This page isn’t saved on this device" in shown(window, "/polls/new")
    for name in ("Home", "Polls", "Library", "Living room", "Packing", "Shopping"):
        window.page.get_by_role("region", name="Available offline").get_by_text(name, exact=True).wait_for()
    window.picture("offline-page")
    assert window.violations() == []


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


SECRET, REFUSED = "My knee hurts again", "The second one"
STORED = """async () => {
  const found = [JSON.stringify(localStorage)];
  for (const { name, version } of await indexedDB.databases()) {
    const database = await new Promise((done) => {
      const opening = indexedDB.open(name, version);
      opening.onsuccess = () => done(opening.result);
    });
    for (const store of database.objectStoreNames)
      found.push(await new Promise((done) => {
        const reading = database.transaction(store).objectStore(store).getAll();
        reading.onsuccess = () => done(JSON.stringify(reading.result));
      }));
    database.close();
  }
  return found.join(" ");
}"""


def test_an_entry_written_offline_waits_encrypted_and_is_sent_once_from_any_page(visit, table):
    window = visit("/", at=table.address)
    join(window)
    page = window.page
    visited(window, "/", "/journal")
    offline(window)
    assert "Showing what was saved at" in shown(window, "/journal")
    for words in (SECRET, REFUSED):
        page.get_by_role("textbox", name="Private").fill(words)
        expect(page.get_by_text("Draft kept on this device")).to_be_visible()
        page.get_by_role("button", name="Save entry").tap()
        page.locator("#toasts", has_text="Choose how hard it was, from 1 to 10.").wait_for()
        page.get_by_role("radio", name="7", exact=True).check()
        if words == REFUSED:
            page.locator("[name=durationMinutes]").evaluate("(field) => field.remove()")
        page.get_by_role("button", name="Save entry").tap()
        expect(page.get_by_role("textbox", name="Private")).to_have_value("")
    expect(page.get_by_text("2 entries aren’t sent yet.")).to_be_visible()
    page.get_by_role("textbox", name="Shared").fill("Half written")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    page.reload()
    expect(page.get_by_text("2 entries aren’t sent yet.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Shared")).to_have_value("Half written")
    window.picture("offline-journal")
    assert window.violations() == []
    assert not [words for words in (SECRET, "Half written", "data-draft-key") if words in page.evaluate(STORED)]
    shown(window, "/")
    page.context.set_offline(False)
    until(lambda: len(call(window, "GET", "/journal/entries")["items"]) == 1)
    window.forgive("status of 422")
    visited(window, "/journal")
    expect(page.get_by_text("entries aren’t sent yet.")).to_have_count(0)
    # What was refused opens in the form, once it is empty.
    page.get_by_role("button", name="Start over").tap()
    page.get_by_role("button", name="Open entry").tap()
    expect(page.get_by_role("textbox", name="Private")).to_have_value(REFUSED)
    window.follow(page.get_by_role("button", name="Save entry"), by="tap")
    texts = [entry["sections"]["private"] for entry in call(window, "GET", "/journal/entries")["items"]]
    assert sorted(texts) == [SECRET, REFUSED]


def test_nothing_is_left_after_signing_out_offline_or_for_another_person(visit, table):
    window = visit("/", at=table.address)
    email = join(window)
    page = window.page
    short_id = created_list(window, "Stove")
    visited(window, "/", "/polls", f"/shareables/{short_id}")
    offline(window)
    shown(window, "/account")
    page.get_by_role("button", name="Sign out", exact=True).tap()
    expect(page.get_by_role("heading", name="You’re signed out")).to_be_visible()
    window.picture("offline-signed-out")
    for path in ("/", f"/shareables/{short_id}"):
        text = shown(window, path)
        assert "Mara" not in text
        assert "Stove" not in text
    assert "Stove" not in page.evaluate(STORED)
    # The first page with a network is one without her.
    online_elsewhere(window)
    window.open("/")
    expect(page.get_by_role("link", name="Mara Okafor, your account")).to_have_count(0)
    # She signs in and writes offline; her session ends, and Noor signs in on the same device.
    sign_in(window, email)
    visited(window, "/", f"/shareables/{short_id}")
    offline(window)
    shown(window, f"/shareables/{short_id}")
    page.get_by_role("checkbox", name="Stove").tap()
    expect(page.get_by_text("1 tick isn’t sent yet.")).to_be_visible()
    online_elsewhere(window)
    page.context.clear_cookies()
    window.open("/")
    offline(window)
    assert "Stove" not in shown(window, f"/shareables/{short_id}")
    assert "Stove" in page.evaluate(STORED)
    online_elsewhere(window)
    join(window, "Noor Haddad")
    visited(window, "/")
    assert "Stove" not in page.evaluate(STORED)
    offline(window)
    assert "Stove" not in shown(window, f"/shareables/{short_id}")
    assert "Noor Haddad" in shown(window, "/")
