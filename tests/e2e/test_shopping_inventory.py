"""The inventory by hand: every touch counts, once, whatever the line does, and nothing moves away under the finger."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Route

from tests.e2e.browsing import NO_NETWORK, Visit, until_gathered
from tests.e2e.shops import Home, Shop, call, family_of

pytestmark = pytest.mark.needs("chromium", "axe-core")

MOST = 100_000


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def home(visit, shop) -> Home:
    """Coffee and rice run low, eggs do not."""
    home = family_of(visit("/", at=shop.address))
    for name, quantity in (("Coffee beans", 1), ("Rice", 2), ("Eggs", 12)):
        home.ids[name] = home.at_home(name, quantity, 3)
    look_in(home)
    return home


def look_in(home: Home) -> None:
    home.visit.open(f"{home.page}/inventory")
    home.visit.page.locator("#inventory[data-ready]").wait_for()


def stepper(visit: Visit, name: str) -> Locator:
    return visit.page.get_by_role("group", name=f"In stock: {name}", exact=True)


def shown(visit: Visit, name: str) -> int:
    return int(stepper(visit, name).locator("output").inner_text())


def stored(home: Home, name: str) -> int:
    return int(call(home.visit, "GET", f"{home.api}/inventory/{home.ids[name]}")["quantity"])


def at_once(visit: Visit, name: str, times: int, button: str = "One more") -> int:
    """So many clicks in one breath, before anything can answer; what is shown in the same breath."""
    return int(
        stepper(visit, name).evaluate(
            """(group, [label, times]) => {
              const button = () => document.getElementById(group.querySelector(`[aria-label="${label}"]`).id);
              for (let time = 0; time < times; time += 1) button().click();
              return group.querySelector("output").textContent;
            }""",
            [button, times],
        )
    )


def sent(visit: Visit) -> None:
    """Nothing waits any more."""
    visit.page.locator('#inventory[data-waiting="0"]').wait_for()


def nothing_heard(visit: Visit) -> None:
    """What a browser says of requests that find nobody, or that are refused and answered for, is not an error here."""
    visit.forgive(f"{NO_NETWORK}|status of (404|409|422)")


@pytest.fixture
def slow_line(home) -> Callable[[], Any]:
    """A line on which each step waits until it is let through: `let()` does so with the next, and has what it said."""
    held: list[Route] = []
    home.visit.page.route(re.compile("/adjust$"), lambda route: held.append(route))

    def let() -> Any:
        until_gathered(home.visit.page, held)
        route = held.pop(0)
        said = route.request.post_data_json
        route.continue_()
        return said

    return let


# --- every touch -----------------------------------------------------------------------------------------------------


def test_three_quick_taps_are_three(home):
    visit = home.visit
    assert at_once(visit, "Coffee beans", 3) == 4
    sent(visit)
    assert (shown(visit, "Coffee beans"), stored(home, "Coffee beans")) == (4, 4)
    assert at_once(visit, "Eggs", 5, "One less") == 7
    sent(visit)
    assert (shown(visit, "Eggs"), stored(home, "Eggs")) == (7, 7)


def test_fingers_and_keys_count_as_much_as_clicks(home):
    visit = home.visit
    more = stepper(visit, "Rice").get_by_role("button", name="One more")
    # As the browser understood them: on a machine that is busy, a finger may stay too long for a touch.
    visit.page.evaluate(
        """() => {
          window.clicks = [];
          const note = (event) => event.target.closest('[aria-label="One more"]') && clicks.push(event.pointerType);
          document.addEventListener("click", note, true);
        }"""
    )
    for _ in range(3):
        more.tap()
    more.focus()
    for key in ("Enter", "Space", "Enter"):
        visit.page.keyboard.press(key)
    more.dblclick()
    sent(visit)
    clicks = visit.page.evaluate("clicks")
    assert set(clicks) == {"touch", "", "mouse"}
    assert (shown(visit, "Rice"), stored(home, "Rice")) == (2 + len(clicks), 2 + len(clicks))
    assert more.evaluate("(button) => button === document.activeElement")


def test_none_is_fewer_than_none(home):
    visit = home.visit
    assert at_once(visit, "Coffee beans", 3, "One less") == 0
    less = stepper(visit, "Coffee beans").get_by_role("button", name="One less")
    assert less.get_attribute("aria-disabled") == "true"
    assert at_once(visit, "Coffee beans", 2) == 2
    sent(visit)
    assert (shown(visit, "Coffee beans"), stored(home, "Coffee beans")) == (2, 2)


def test_on_a_slow_line_taps_go_on_while_answers_are_under_way(home, slow_line):
    visit = home.visit
    more = stepper(visit, "Coffee beans").get_by_role("button", name="One more")
    more.click()
    assert shown(visit, "Coffee beans") == 2
    assert at_once(visit, "Coffee beans", 2) == 4
    # The answer to the first is older than what is shown, and changes nothing of it.
    with visit.page.expect_response(re.compile("/adjust$")):
        said = [slow_line()]
    assert shown(visit, "Coffee beans") == 4
    assert at_once(visit, "Coffee beans", 1) == 5
    # Somebody else's counts too.
    call(visit, "POST", f"{home.api}/inventory/{home.ids['Coffee beans']}/adjust", {"by": 10})
    while sum(each["by"] for each in said) < 4:
        said.append(slow_line())
    sent(visit)
    assert sum(each["by"] for each in said) == 4
    assert (shown(visit, "Coffee beans"), stored(home, "Coffee beans")) == (15, 15)
    assert more.evaluate("(button) => button === document.activeElement")


@pytest.fixture
def lost(home) -> list[int]:
    """The answer of which the page never hears: the first, as soon as there is one."""
    answers: list[int] = []

    def lose(route: Route) -> None:
        answers.append(route.fetch().status)
        route.abort()

    home.visit.page.route(re.compile("/adjust$"), lose, times=1)
    return answers


def test_a_step_whose_answer_was_lost_is_not_made_twice(home, lost):
    visit = home.visit
    assert at_once(visit, "Eggs", 2) == 14
    until_gathered(visit.page, lost)
    assert (lost, shown(visit, "Eggs"), stored(home, "Eggs")) == ([200], 14, 14)
    sent(visit)
    visit.page.locator(".banner").wait_for(state="detached")
    assert (shown(visit, "Eggs"), stored(home, "Eggs")) == (14, 14)
    nothing_heard(visit)


def test_a_step_of_which_nobody_heard_for_a_day_is_not_sent_again_but_asked_about(home, lost):
    visit = home.visit
    visit.page.route(re.compile("/adjust$"), lambda route: route.abort() if lost else route.fallback())
    with visit.page.expect_event("requestfailed"):
        at_once(visit, "Eggs", 2)
    # So long after it, the server does not know the key any more.
    visit.page.clock.set_fixed_time(time.time() + 25 * 60 * 60)
    said = visit.page.get_by_role("region", name="Eggs couldn’t be changed")
    said.wait_for()
    assert "Check the quantity" in said.inner_text()
    sent(visit)
    assert (lost, stored(home, "Eggs")) == ([200], 14)
    nothing_heard(visit)


def test_without_signal_they_wait_here_and_are_sent_when_it_is_back(home):
    visit = home.visit
    visit.page.context.set_offline(True)
    assert at_once(visit, "Eggs", 3, "One less") == 9
    at_once(visit, "Rice", 1)
    visit.page.get_by_text("You’re offline").wait_for()
    visit.page.get_by_text("2 changes are saved and will sync later.").wait_for()
    visit.picture("shopping-inventory-no-signal")
    assert visit.violations() == []
    assert (stored(home, "Eggs"), stored(home, "Rice")) == (12, 2)
    visit.page.context.set_offline(False)
    sent(visit)
    visit.page.locator(".banner").wait_for(state="detached")
    assert (stored(home, "Eggs"), stored(home, "Rice")) == (9, 3)
    assert (shown(visit, "Eggs"), shown(visit, "Rice")) == (9, 3)
    nothing_heard(visit)


def test_what_waits_is_sent_from_whichever_page_of_the_family_is_opened_next(home, slow_line):
    visit = home.visit
    # By then it is kept.
    with visit.page.expect_request(re.compile("/adjust$")):
        assert at_once(visit, "Eggs", 2) == 14
    visit.page.unroute_all()
    visit.open(home.page)
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()
    assert stored(home, "Eggs") == 14
    nothing_heard(visit)


def test_a_step_that_is_refused_is_said_and_the_true_number_is_shown(home):
    visit = home.visit
    call(visit, "POST", f"{home.api}/inventory/{home.ids['Eggs']}/adjust", {"by": MOST - 12})
    assert at_once(visit, "Eggs", 1) == 13
    said = visit.page.get_by_role("region", name="Eggs couldn’t be changed")
    said.wait_for()
    assert "There can be at most 100,000 of an item" in said.inner_text()
    stepper(visit, "Eggs").get_by_text(f"{MOST:,}", exact=True).wait_for()
    visit.picture("shopping-inventory-refused")
    assert visit.violations() == []
    said.get_by_role("button", name="OK").click()
    said.wait_for(state="detached")
    # Of a thing that is gone, too.
    call(visit, "DELETE", f"{home.api}/inventory/{home.ids['Rice']}")
    at_once(visit, "Rice", 1)
    visit.page.get_by_role("region", name="Rice couldn’t be changed").wait_for()
    stepper(visit, "Rice").wait_for(state="detached")
    sent(visit)
    nothing_heard(visit)


def test_where_nothing_can_be_kept_the_forms_do_it_by_themselves(visit, shop):
    window = visit("/", at=shop.address)
    home = family_of(window)
    home.ids["Eggs"] = home.at_home("Eggs", 12, 3)
    window.page.add_init_script("delete Window.prototype.indexedDB; delete window.indexedDB")
    window.open(f"{home.page}/inventory")
    with window.page.expect_navigation():
        stepper(window, "Eggs").get_by_role("button", name="One more").click()
    assert (shown(window, "Eggs"), stored(home, "Eggs")) == (13, 13)
    window.forgive("The inventory does without its script")


# --- and what stands around it ---------------------------------------------------------------------------------------


def test_what_is_enough_moves_once_nobody_is_at_it_and_the_focus_goes_along(home):
    visit = home.visit
    visit.stop_the_clock()
    look_in(home)
    more = stepper(visit, "Coffee beans").get_by_role("button", name="One more")
    before = more.bounding_box()
    at_once(visit, "Coffee beans", 3)
    more.focus()
    sent(visit)
    assert more.bounding_box() == before
    visit.page.clock.resume()
    visit.page.get_by_role("list", name="In stock").get_by_text("Coffee beans").wait_for()
    assert more.evaluate("(button) => button === document.activeElement")
    assert visit.page.get_by_role("list", name="Running low").locator(".row-name").all_inner_texts() == ["Rice"]
    assert visit.violations() == []
    visit.picture("shopping-inventory-enough")


def test_each_of_several_is_put_on_the_list_by_one_touch(home):
    visit = home.visit
    visit.page.evaluate(
        """(names) => {
          for (const name of names)
            for (let time = 0; time < 2; time += 1)
              {
                const button = document.querySelector(`[aria-label="Add ${name} to the list"]`);
                button.focus();
                button.click();
              }
        }""",
        ["Coffee beans", "Rice", "Eggs"],
    )
    for name in ("Coffee beans", "Rice", "Eggs"):
        visit.page.get_by_role("img", name=f"{name} is on the list").wait_for()
    assert sorted(home.listed()) == ["Coffee beans", "Eggs", "Rice"]
    assert visit.page.get_by_role("region", name=re.compile("already on the list")).count() == 0
    assert visit.page.evaluate("document.activeElement !== document.body")


def test_what_somebody_else_put_on_the_list_meanwhile_is_asked_about(home):
    visit = home.visit
    call(visit, "POST", f"{home.api}/shopping-list", {"itemId": home.ids["Rice"]})
    visit.expected = "status of 409"
    visit.page.get_by_role("button", name="Add Rice to the list").click()
    visit.follow(visit.page.get_by_role("button", name="Make it 2"))
    visit.page.locator("#shopping[data-ready]").wait_for()
    assert home.listed()["Rice"]["quantity"] == 2
