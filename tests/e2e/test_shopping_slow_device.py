"""Shopping on a device that takes its time: what is done before its scripts or its storage are there is done, once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.browsing import Visit, until_gathered
from tests.e2e.shops import Home, Shop, call, family_of, one_more

pytestmark = pytest.mark.needs("chromium", "axe-core")

SECONDS = 1000
# As in offline-store.js.
OPENS_WITHIN_SECONDS = 8
# A storage that answers when it is let, as it would have, or with an error.
SLOW_STORAGE = """
const open = IDBFactory.prototype.open;
const asked = [];
IDBFactory.prototype.open = function (...wanted) {
  let real = null;
  const asking = Object.setPrototypeOf(new EventTarget(), IDBOpenDBRequest.prototype);
  Object.defineProperties(asking, {
    result: { get: () => real.result },
    error: { get: () => real?.error ?? null },
    transaction: { get: () => real.transaction },
  });
  const answer = () => {
    real = open.apply(this, wanted);
    for (const type of ["success", "error", "blocked", "upgradeneeded"])
      real.addEventListener(type, (event) => asking.dispatchEvent(new event.constructor(type, event)));
  };
  asked.push({ answer, refuse: () => asking.dispatchEvent(new Event("error")) });
  return asking;
};
window.letStorage = (how) => asked.splice(0).forEach((each) => each[how]());
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def home(visit, shop) -> Home:
    home = family_of(visit("/", at=shop.address))
    home.thing("Lemons", quantity=4)
    home.thing("Oat milk")
    home.ids["Eggs at home"] = home.at_home("Eggs", 12, 3)
    return home


def open_slowly(visit: Visit, path: str) -> None:
    """Open a page whose storage has not answered yet, and whose patience does not end before the test lets it."""
    visit.page.add_init_script(SLOW_STORAGE)
    visit.stop_the_clock()
    visit.open(path)


def storage_answers(visit: Visit) -> None:
    assert visit.page.locator("#shopping[data-ready], #inventory[data-ready]").count() == 0
    visit.page.clock.resume()
    visit.page.evaluate("letStorage('answer')")


def storage_is_given_up(visit: Visit, how: str) -> None:
    """It has refused, or never said anything, and the page has drawn its conclusions."""
    with visit.page.expect_navigation():
        if how == "refuses":
            visit.page.evaluate("letStorage('refuse')")
        else:
            visit.page.clock.run_for(OPENS_WITHIN_SECONDS * SECONDS)


def enter(visit: Visit, text: str) -> None:
    visit.page.locator("#add").fill(text)
    visit.page.keyboard.press("Enter")


def box(visit: Visit) -> str:
    return visit.page.locator("#add").input_value()


def sent(visit: Visit) -> None:
    """The storage has answered, and nothing waits any more."""
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()


def eggs(home: Home) -> int:
    return int(call(home.visit, "GET", f"{home.api}/inventory/{home.ids['Eggs at home']}")["quantity"])


def test_what_is_entered_before_the_storage_is_there_is_shown_at_once_and_added_once(home):
    visit = home.visit
    open_slowly(visit, home.page)
    enter(visit, "2 milk")
    enter(visit, "Bread\nButter")
    visit.page.get_by_role("checkbox", name="Butter").wait_for()
    assert box(visit) == ""
    visit.page.locator("#add").fill("not yet ent")
    storage_answers(visit)
    sent(visit)
    # The page's own rows, and the server's: each name is there once.
    shown = visit.page.locator("[data-groups] .row-name").all_inner_texts()
    assert sorted(shown) == ["Bread", "Butter", "Lemons", "Oat milk", "milk"] == sorted(home.listed())
    assert (home.listed()["milk"]["quantity"], home.listed()["milk"]["version"]) == (2, 1)
    assert box(visit) == "not yet ent"


def test_what_is_ticked_counted_and_changed_before_the_storage_is_there_is_done_once(home):
    visit = home.visit
    open_slowly(visit, home.page)
    page = visit.page
    page.get_by_role("checkbox", name="Lemons").click()
    more = one_more(visit, "Oat milk")
    more.click()
    more.click()
    page.get_by_role("group", name="Quantity of Oat milk").get_by_text("3", exact=True).wait_for()
    page.get_by_role("link", name="Edit Oat milk").click()
    page.get_by_role("dialog").get_by_label("Note").fill("the blue one")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.locator(".row-note", has_text="the blue one").wait_for()
    storage_answers(visit)
    sent(visit)
    listed = home.listed()
    assert listed["Lemons"]["status"] == "purchased"
    assert (listed["Oat milk"]["quantity"], listed["Oat milk"]["notes"]) == (3, "the blue one")


def test_what_is_touched_in_the_inventory_before_the_storage_is_there_counts_once(home):
    visit = home.visit
    open_slowly(visit, f"{home.page}/inventory")
    less = visit.page.get_by_role("group", name="In stock: Eggs").get_by_role("button", name="One less")
    less.click()
    less.dblclick()
    expect(visit.page.get_by_role("group", name="In stock: Eggs").locator("output")).to_have_text("9")
    storage_answers(visit)
    visit.page.locator('#inventory[data-ready][data-waiting="0"]').wait_for()
    assert eggs(home) == 9


@pytest.mark.parametrize("how", ["refuses", "never answers"])
def test_where_the_storage_never_comes_the_form_takes_what_was_entered(home, how):
    visit = home.visit
    open_slowly(visit, home.page)
    enter(visit, "2 milk")
    enter(visit, "Bread")
    visit.page.get_by_role("checkbox", name="Bread").wait_for()
    storage_is_given_up(visit, how)
    visit.page.get_by_text("2 items added").wait_for()
    assert sorted(home.listed()) == ["Bread", "Lemons", "Oat milk", "milk"]
    assert box(visit) == ""
    visit.forgive("The list does without its script")


@pytest.mark.parametrize("how", ["refuses", "never answers"])
def test_where_the_storage_never_comes_ticks_and_steps_are_sent_all_the_same(home, how):
    visit = home.visit
    open_slowly(visit, home.page)
    visit.page.get_by_role("checkbox", name="Lemons").click()
    storage_is_given_up(visit, how)
    assert home.listed()["Lemons"]["status"] == "purchased"
    visit.open(f"{home.page}/inventory")
    for _ in range(2):
        visit.page.get_by_role("group", name="In stock: Eggs").get_by_role("button", name="One more").click()
    storage_is_given_up(visit, how)
    expect(visit.page.get_by_role("group", name="In stock: Eggs").locator("output")).to_have_text("14")
    assert eggs(home) == 14
    visit.forgive("does without its script")


def test_what_is_entered_before_the_script_is_there_is_added_once_it_is(home):
    visit = home.visit
    held: list[Route] = []
    visit.page.route(re.compile("/list.js"), lambda route: held.append(route))
    visit.page.goto(visit.address + home.page, wait_until="commit")
    enter(visit, "2 milk")
    visit.page.keyboard.type("Bread")
    visit.page.keyboard.press("Enter")
    # Nobody has read it yet, and nothing of it is gone.
    assert box(visit) == "2 milk\nBread\n"
    until_gathered(visit.page, held)
    held[0].continue_()
    sent(visit)
    assert sorted(home.listed()) == ["Bread", "Lemons", "Oat milk", "milk"]
    assert box(visit) == ""


def test_what_somebody_is_still_typing_when_the_script_comes_is_left_to_them(home):
    visit = home.visit
    held: list[Route] = []
    visit.page.route(re.compile("/list.js"), lambda route: held.append(route))
    visit.page.goto(visit.address + home.page, wait_until="commit")
    enter(visit, "milk")
    visit.page.keyboard.type("Bre")
    until_gathered(visit.page, held)
    held[0].continue_()
    sent(visit)
    assert box(visit) == "milk\nBre"
    visit.page.keyboard.type("ad")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("checkbox", name="Bread").wait_for()
    sent(visit)
    assert sorted(home.listed()) == ["Bread", "Lemons", "Oat milk", "milk"]


def test_before_the_script_is_there_the_button_sends_the_form(home):
    visit = home.visit
    visit.page.route(re.compile("/list.js"), lambda route: None)
    visit.page.goto(visit.address + home.page, wait_until="commit")
    visit.page.locator("#add").fill("2 milk")
    visit.page.get_by_role("button", name="Add to the list").click()
    visit.page.get_by_text("milk added").wait_for()
    assert home.listed()["milk"]["quantity"] == 2


def test_what_the_server_asks_of_a_form_that_came_before_the_script_stands_when_the_script_is_there(home):
    visit = home.visit
    # This page's script never comes, and the next one's does.
    never: list[Route] = []
    visit.page.route(re.compile("/list.js"), lambda route: never.append(route), times=1)
    visit.page.goto(visit.address + home.page, wait_until="commit")
    visit.expected = "status of 409"
    visit.page.locator("#add").fill("2 lemons")
    until_gathered(visit.page, never)
    visit.follow(visit.page.get_by_role("button", name="Add to the list"))
    sent(visit)
    visit.page.get_by_role("region", name="Lemons is already on the list").wait_for()
    visit.follow(visit.page.get_by_role("button", name="Make it 6"))
    assert home.listed()["Lemons"]["quantity"] == 6


def test_without_signal_what_is_entered_before_the_kept_list_is_there_is_added_once(home):
    visit = home.visit
    visit.open(home.page)
    sent(visit)
    visit.until_kept()
    visit.page.add_init_script(SLOW_STORAGE)
    visit.page.context.set_offline(True)
    visit.page.reload()
    enter(visit, "2 milk")
    storage_answers(visit)
    visit.page.get_by_role("checkbox", name="milk", exact=True).wait_for()
    assert box(visit) == ""
    visit.page.get_by_text("1 change is saved and will sync later.").wait_for()
    visit.page.context.set_offline(False)
    visit.live()
    sent(visit)
    assert (home.listed()["milk"]["quantity"], home.listed()["milk"]["version"]) == (2, 1)
    visit.without_network()
