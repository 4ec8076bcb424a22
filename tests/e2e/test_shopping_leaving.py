"""Who leaves a device leaves nothing of the list on it, once they have left, and does not lose unawares what waits."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Route

from tests.e2e.browsing import Visit
from tests.e2e.coming_in import PASSWORD, join
from tests.e2e.shops import Home, Shop, call

pytestmark = pytest.mark.needs("chromium", "axe-core")

# How many rows each store of the list's database has, and what stands in whatever else is kept here.
KEPT = """async () => {
  const rows = {};
  const opened = await new Promise((done) => {
    const asking = indexedDB.open("potluck-shopping");
    // One that is not there is not made.
    asking.onupgradeneeded = () => asking.transaction.abort();
    asking.onerror = () => done(null);
    asking.onsuccess = () => done(asking.result);
  });
  for (const name of opened?.objectStoreNames ?? [])
    rows[name] = await new Promise((done) => {
      const counting = opened.transaction(name).objectStore(name).count();
      counting.onsuccess = () => done(counting.result);
    });
  opened?.close();
  const texts = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const each of await cache.keys()) texts.push(await (await cache.match(each)).text());
  }
  return [rows, texts];
}"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def home(visit, shop) -> Home:
    """A list on a device that keeps it, with something on it that is nobody else's business."""
    window = visit("/", at=shop.address)
    join(window)
    home = Home(window, call(window, "POST", "/families", {"name": "Lund Street 7"})["familyId"])
    home.thing("Surprise cake")
    window.open(home.page)
    window.page.locator("#shopping[data-ready]").wait_for()
    window.until_kept()
    rows, texts = window.page.evaluate(KEPT)
    assert rows["lists"] == 1
    # No page of anybody's is among what the worker keeps.
    assert len(texts) > 10
    assert not re.search("Surprise|Mara|@example.org", "".join(texts))
    return home


def kept(visit: Visit) -> dict[str, int]:
    """How much there is in each store of what the device keeps."""
    found: dict[str, int] = visit.page.evaluate(KEPT)[0]
    return found


def left_waiting(home: Home) -> None:
    """Something was added without signal, which was back only on another page."""
    page = home.visit.page
    # A stream that is being opened just now would tell the page a moment later that there is signal.
    home.visit.live()
    page.context.set_offline(True)
    page.get_by_text("You’re offline").wait_for()
    page.get_by_label("Add to the list").first.fill("Candles")
    page.keyboard.press("Enter")
    page.get_by_text("1 change is saved and will sync later.").wait_for()
    page.goto("about:blank")
    page.context.set_offline(False)
    home.visit.without_network()


def nobody_looks_after_it(visit: Visit) -> None:
    """There is no worker any more, or none ever came about, as with a certificate that is one's own."""
    visit.page.evaluate(
        """async () => {
          for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister();
        }"""
    )
    visit.page.reload()
    assert visit.page.evaluate("navigator.serviceWorker.controller") is None


def loaded_anew_by_force(visit: Visit) -> None:
    """As with Ctrl+Shift+R."""
    devices = visit.page.context.new_cdp_session(visit.page)
    with visit.page.expect_navigation():
        devices.send("Page.reload", {"ignoreCache": True})
    devices.detach()
    assert visit.page.evaluate("navigator.serviceWorker.controller") is None


def sign_out(home: Home) -> None:
    home.visit.page.get_by_role("button", name="Sign out", exact=True).click()
    home.visit.page.wait_for_url(f"{home.visit.address}/")


def without_its_header(route: Route) -> None:
    """The answer as browsers take it that do not know the header, or that came over plain http."""
    answer = route.fetch(max_redirects=0)
    headers = {name: value for name, value in answer.headers.items() if name != "clear-site-data"}
    route.fulfill(response=answer, headers=headers)


def nothing_is_left(home: Home) -> None:
    visit = home.visit
    assert sum(kept(visit).values()) == 0
    visit.page.context.set_offline(True)
    try:
        visit.page.goto(visit.address + home.page)
    except PlaywrightError as nothing_opens:
        assert "ERR_INTERNET_DISCONNECTED" in str(nothing_opens)  # noqa: PT017
    else:
        # It is nobody's.
        visit.page.get_by_text("No list on this device yet").wait_for()
        assert "Surprise cake" not in visit.page.content()
    visit.page.context.set_offline(False)
    visit.without_network()


def test_what_somebody_has_yet_to_decide_is_a_change_that_waits(home):
    page = home.visit.page
    page.get_by_label("Add to the list").first.fill("Surprise cake")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Surprise cake is already on the list").wait_for()
    home.visit.open("/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("region", name="1 change isn’t sent yet").wait_for()
    assert kept(home.visit)["notices"] == 1


def test_who_signs_out_of_a_page_that_was_loaded_by_force_leaves_nothing(home):
    home.visit.open("/account")
    loaded_anew_by_force(home.visit)
    sign_out(home)
    nothing_is_left(home)


@pytest.mark.parametrize("by", ["the answer", "the page"])
def test_who_signs_out_where_nobody_looks_after_the_page_leaves_nothing(home, by):
    visit = home.visit
    if by == "the answer":
        visit.page.route(re.compile("/sign-out.js"), lambda route: route.abort())
    if by == "the page":
        visit.page.route(re.compile("/sign-out$"), without_its_header)
    visit.open("/account")
    nobody_looks_after_it(visit)
    sign_out(home)
    nothing_is_left(home)


def test_a_wrong_password_deletes_neither_the_account_nor_what_waits(home):
    visit = home.visit
    left_waiting(home)
    visit.open("/account/delete")
    visit.expected = "status of 403"

    def leave(password: str) -> None:
        visit.page.get_by_label("Your password").fill(password)
        visit.page.get_by_label("I’m sure").check()
        visit.page.get_by_role("button", name="Delete account").click()

    leave("not that one")
    visit.page.locator(".error", has_text="password").wait_for()
    assert kept(visit)["changes"] == 1
    visit.open(home.page)
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()
    assert "Candles" in home.listed()
    call(visit, "DELETE", home.api)
    visit.open("/account/delete")
    visit.page.route(re.compile("/account/delete$"), without_its_header)
    leave(PASSWORD)
    visit.page.wait_for_url("**/goodbye")
    visit.page.get_by_text("Your account is deleted").wait_for()
    visit.page.wait_for_function(f"async () => Object.values((await ({KEPT})())[0]).every((rows) => rows === 0)")
    visit.forgive("status of 404")


def test_a_link_to_where_one_says_goodbye_takes_nothing_away(home):
    visit = home.visit
    left_waiting(home)
    visit.page.context.clear_cookies()
    visit.open("/goodbye")
    visit.page.wait_for_load_state("networkidle")
    assert kept(visit)["changes"] == 1


def test_who_signs_out_while_changes_wait_is_asked_first(home):
    visit = home.visit
    left_waiting(home)
    visit.open("/account")
    visit.page.get_by_role("button", name="Sign out", exact=True).click()
    asked = visit.page.get_by_role("region", name="1 change isn’t sent yet")
    asked.wait_for()
    visit.picture("account-unsent")
    assert visit.violations() == []
    assert asked.get_by_role("heading").evaluate("(head) => head === document.activeElement")
    # Opened, the list sends it, and nothing is asked any more.
    asked.get_by_role("link", name="Send first").click()
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()
    assert "Candles" in home.listed()
    visit.open("/account")
    sign_out(home)
    nothing_is_left(home)


def test_who_signs_out_all_the_same_leaves_nothing(home):
    visit = home.visit
    left_waiting(home)
    visit.open("/account")
    visit.page.get_by_role("button", name="Sign out", exact=True).click()
    visit.page.get_by_role("button", name="Sign out anyway").click()
    visit.page.wait_for_url(f"{visit.address}/")
    nothing_is_left(home)


def test_what_waits_of_somebody_else_is_not_told(home, visit, shop):
    window = home.visit
    left_waiting(home)
    window.page.context.clear_cookies()
    join(window, "Noor Haddad")
    window.open("/account")
    sign_out(home)
    nothing_is_left(home)
