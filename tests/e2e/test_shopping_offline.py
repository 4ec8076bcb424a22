"""The shopping list without signal: it opens, takes changes, keeps them, and sends each of them once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import NO_NETWORK, Visit, until_gathered
from tests.e2e.coming_in import PASSWORD, join, newcomer, send, sign_in
from tests.e2e.shops import Home, Shop, call, family_of, one_more

pytestmark = pytest.mark.needs("chromium", "axe-core")


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def home(visit, shop) -> Home:
    """A family's list in a window that keeps it, with the six things of the design's kitchen on it."""
    window = visit("/", at=shop.address)
    home = family_of(window)
    home.store("Green Corner")
    for name, quantity in (("Lemons", 4), ("Tomatoes", 6), ("Oat milk", 1), ("Butter", 2)):
        home.thing(name, "Green Corner", quantity=quantity)
    kept(home)
    return home


def kept(home: Home) -> None:
    """The list is open, and its page is kept."""
    home.visit.open(home.page)
    home.visit.page.locator("#shopping[data-ready]").wait_for()
    home.visit.until_kept()


def without_signal(visit: Visit) -> None:
    # A stream that is being opened just now would tell the page a moment later that there is signal.
    visit.live()
    visit.page.context.set_offline(True)
    visit.page.get_by_text("You’re offline").wait_for()


def with_signal(visit: Visit) -> None:
    """Back, and nothing waits any more."""
    visit.page.context.set_offline(False)
    settled(visit)


def settled(visit: Visit) -> None:
    visit.live()
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()
    visit.page.locator(".banner").wait_for(state="detached")
    nothing_heard(visit)


def nothing_heard(visit: Visit) -> None:
    """What a browser says of requests that find nobody, or that are refused and answered for, is not an error here."""
    visit.forgive(f"{NO_NETWORK}|status of (404|409|422)")


def reload(visit: Visit) -> None:
    visit.page.reload()
    visit.page.locator("#shopping[data-ready]").wait_for()


def add(visit: Visit, text: str) -> None:
    visit.page.get_by_label("Add to the list").first.fill(text)
    visit.page.keyboard.press("Enter")


def tick(visit: Visit, name: str) -> None:
    visit.page.get_by_role("checkbox", name=name, exact=True).click()
    visit.page.locator("#toasts", has_text=f"{name} purchased").wait_for()


def edit(visit: Visit, name: str, more: int = 0, **fields: str) -> None:
    visit.page.get_by_role("link", name=f"Edit {name}", exact=True).click()
    dialog = visit.page.get_by_role("dialog")
    for label, text in fields.items():
        if label == "Store":
            dialog.get_by_label(label).select_option(label=text)
        else:
            dialog.get_by_label(label).fill(text)
    for _ in range(more):
        dialog.get_by_role("button", name="Quantity: more").click()
    dialog.get_by_role("button", name="Save").click()


def pending(visit: Visit) -> list[str]:
    return visit.page.locator("[data-groups] .row-name").all_inner_texts()


def test_what_is_done_without_signal_is_kept_through_a_reload_and_done_once(home):
    visit = home.visit
    without_signal(visit)
    reload(visit)
    assert sorted(pending(visit)) == ["Butter", "Lemons", "Oat milk", "Tomatoes"]
    add(visit, "Flat parsley")
    add(visit, "2 kg rice")
    tick(visit, "Tomatoes")
    tick(visit, "Lemons")
    tick(visit, "Flat parsley")
    edit(visit, "Oat milk", more=2, Note="the blue one")
    visit.page.get_by_text("6 changes are saved and will sync later.").wait_for()
    visit.page.get_by_role("button", name="Show").click()
    assert visit.page.locator(".waiting-list li").count() == 6
    visit.picture("shopping-no-signal")
    assert visit.violations() == []
    reload(visit)
    visit.page.get_by_text("6 changes are saved and will sync later.").wait_for()
    assert sorted(pending(visit)) == ["Butter", "Oat milk", "rice"]
    assert home.listed()["Oat milk"]["version"] == 1
    with_signal(visit)
    listed = home.listed()
    told = {name: (each["status"], each["quantity"], each["unit"], each["version"]) for name, each in listed.items()}
    assert told == {
        "Lemons": ("purchased", 4, None, 2),
        "Tomatoes": ("purchased", 6, None, 2),
        "Flat parsley": ("purchased", None, None, 2),
        "rice": ("pending", 2, "kg", 1),
        "Oat milk": ("pending", 3, None, 2),
        "Butter": ("pending", 2, None, 1),
    }
    assert listed["Oat milk"]["notes"] == "the blue one"
    reload(visit)
    settled(visit)
    assert {name: each["version"] for name, each in home.listed().items()} == {
        name: each[3] for name, each in told.items()
    }


def test_a_change_whose_answer_was_lost_is_not_made_twice(home):
    visit = home.visit
    lost = []

    def lose(route):
        if route.request.method == "PATCH" and not lost:
            lost.append(route.fetch().status)
        route.abort()

    every_answer = re.compile("/shopping-list[/?]")
    visit.live()
    visit.page.route(every_answer, lose)
    one_more(visit, "Butter").click()
    until_gathered(visit.page, lost)
    visit.page.get_by_text("1 change is saved and will sync later.").wait_for()
    assert lost == [200]
    assert home.listed()["Butter"]["version"] == 2
    visit.page.unroute(every_answer)
    settled(visit)
    assert (home.listed()["Butter"]["quantity"], home.listed()["Butter"]["version"]) == (3, 2)


def test_what_both_changed_shows_yours_and_theirs(home, visit, shop):
    visit, leo = home.visit, visit("/", at=shop.address)
    join(leo, "Leo Lund")
    home.let_in(leo)
    without_signal(visit)
    edit(visit, "Oat milk", more=2)
    edit(visit, "Butter", Note="salted")
    home.change("Oat milk", by=leo, quantity=2)
    home.change("Butter", quantity=5)
    with_signal(visit)
    clash = visit.page.get_by_role("region", name="You and Leo Lund both changed Oat milk")
    clash.wait_for()
    assert [re.sub(r"[0-9:]{5}", "TIME", text) for text in clash.get_by_role("button").all_inner_texts()] == [
        "3\nYours, TIME",
        "2\nLeo Lund’s, TIME",
    ]
    expect(clash).to_contain_text("Which version do you want to keep?")
    # Whoever has scrolled on is told as well, and led there.
    visit.page.set_viewport_size({"width": 390, "height": 480})
    visit.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    told = visit.page.locator(".banner", has_text="You and Leo Lund both changed Oat milk")
    expect(told).to_be_in_viewport()
    told.get_by_role("link", name="Review").click()
    expect(clash).to_be_in_viewport()
    expect(told).to_be_hidden()
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.picture("shopping-changed-twice")
    assert visit.violations() == []
    # Theirs stands until somebody chooses; what did not meet is both.
    assert home.listed()["Oat milk"]["quantity"] == 2
    assert (home.listed()["Butter"]["quantity"], home.listed()["Butter"]["notes"]) == (5, "salted")
    reload(visit)
    clash.get_by_role("button", name="Yours").click()
    clash.wait_for(state="detached")
    settled(visit)
    assert (home.listed()["Oat milk"]["quantity"], home.listed()["Oat milk"]["version"]) == (3, 3)


def test_of_what_was_changed_here_only_what_both_changed_is_asked_about(home):
    visit = home.visit
    without_signal(visit)
    edit(visit, "Oat milk", more=2, Note="the blue one")
    home.change("Oat milk", quantity=2)
    with_signal(visit)
    clash = visit.page.get_by_role("region", name="You changed Oat milk on two devices")
    clash.get_by_role("button", name="other device").click()
    clash.wait_for(state="detached")
    settled(visit)
    assert (home.listed()["Oat milk"]["quantity"], home.listed()["Oat milk"]["notes"]) == (2, "the blue one")


def test_a_tick_outlives_an_edit_before_it_that_is_refused(home):
    visit = home.visit
    without_signal(visit)
    # As from a page that knew other bounds than the server has by now.
    visit.page.locator("#edit-unit").evaluate("(field) => field.removeAttribute('maxlength')")
    edit(visit, "Oat milk", Unit="m" * 51)
    tick(visit, "Oat milk")
    with_signal(visit)
    visit.page.get_by_role("region", name="Oat milk couldn’t be changed").wait_for()
    assert (home.listed()["Oat milk"]["status"], home.listed()["Oat milk"]["unit"]) == ("purchased", None)


def at_home_too(home: Home) -> str:
    """Milk is kept at home and bought at the corner, and the page knows it."""
    milk = home.at_home("Milk", 1, 2, unit="cartons", preferredStoreId=home.stores["Green Corner"])
    reload(home.visit)
    return milk


def test_what_was_added_and_taken_off_again_leaves_alone_what_somebody_else_added(home):
    visit = home.visit
    milk = at_home_too(home)
    without_signal(visit)
    add(visit, "3 Milk")
    visit.page.get_by_role("link", name="Edit Milk", exact=True).click()
    visit.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    visit.page.get_by_role("checkbox", name="Milk", exact=True).wait_for(state="detached")
    call(visit, "POST", f"{home.api}/shopping-list", {"itemId": milk, "quantity": 5})
    with_signal(visit)
    assert (home.listed()["Milk"]["quantity"], home.listed()["Milk"]["version"]) == (5, 1)
    assert visit.page.locator("[data-notices] > *").count() == 0


def test_what_was_added_and_changed_here_asks_before_it_changes_what_somebody_else_added(home):
    visit = home.visit
    milk = at_home_too(home)
    without_signal(visit)
    add(visit, "3 Milk")
    edit(visit, "Milk", more=1)
    call(visit, "POST", f"{home.api}/shopping-list", {"itemId": milk, "quantity": 5})
    with_signal(visit)
    twice = visit.page.get_by_role("region", name="Milk is already on the list")
    twice.wait_for()
    assert home.listed()["Milk"]["quantity"] == 5
    twice.get_by_role("button", name="Make it 9").click()
    twice.wait_for(state="detached")
    settled(visit)
    assert home.listed()["Milk"]["quantity"] == 9


def test_what_was_added_and_bought_here_is_what_somebody_else_added(home):
    visit = home.visit
    milk = at_home_too(home)
    without_signal(visit)
    add(visit, "3 Milk")
    tick(visit, "Milk")
    call(visit, "POST", f"{home.api}/shopping-list", {"itemId": milk, "quantity": 5})
    with_signal(visit)
    assert (home.listed()["Milk"]["status"], home.listed()["Milk"]["quantity"]) == ("purchased", 5)
    assert visit.page.locator("[data-notices] > *").count() == 0


def test_what_is_no_longer_kept_at_home_is_still_wanted_as_it_was_shown(home):
    visit = home.visit
    milk = at_home_too(home)
    without_signal(visit)
    add(visit, "3 Milk")
    visit.page.get_by_role("checkbox", name="Milk", exact=True).wait_for()
    call(visit, "DELETE", f"{home.api}/inventory/{milk}")
    with_signal(visit)
    told = home.listed()["Milk"]
    assert (told["itemId"], told["storeName"], told["quantity"], told["unit"]) == (None, "Green Corner", 3, "cartons")


def test_what_was_cleared_of_a_thing_just_added_is_not_filled_in_again(home):
    visit = home.visit
    at_home_too(home)
    without_signal(visit)
    add(visit, "Flat parsley")
    visit.page.get_by_role("checkbox", name="Flat parsley").wait_for()
    add(visit, "Milk")
    edit(visit, "Milk", Store="Any store", Unit="")
    with_signal(visit)
    assert (home.listed()["Milk"]["storeId"], home.listed()["Milk"]["unit"]) == (None, None)


def test_two_windows_know_of_each_other_what_waits_and_what_was_sent(home):
    visit = home.visit
    beside = visit.page.context.new_page()
    beside.goto(visit.address + home.page)
    beside.locator("#shopping[data-ready]").wait_for()
    one_more(visit, "Butter").click()
    settled(visit)
    beside.locator('#shopping[data-waiting="0"]').wait_for()
    home.change("Butter", quantity=7)
    beside.get_by_role("group", name="Quantity of Butter").locator("output", has_text="7").wait_for()
    beside.close()


def test_what_waits_for_another_family_is_sent_too(home):
    visit = home.visit
    club = Home(visit, call(visit, "POST", "/families", {"name": "Mat club"})["familyId"])
    kept(club)
    kept(home)
    without_signal(visit)
    visit.page.goto(visit.address + club.page)
    visit.page.locator("#shopping[data-ready]").wait_for()
    add(visit, "Paper cups")
    visit.page.get_by_text("1 change is saved and will sync later.").wait_for()
    visit.page.goto(visit.address + home.page)
    visit.page.locator("#shopping[data-ready]").wait_for()
    with visit.page.expect_response(lambda answer: f"{club.api}/shopping-list" in answer.url and answer.status == 201):
        with_signal(visit)
    assert club.listed()["Paper cups"]["version"] == 1
    visit.page.goto(visit.address + club.page)
    settled(visit)
    assert club.listed()["Paper cups"]["version"] == 1


def test_having_had_nothing_to_send_is_no_signal_of_signal(home):
    visit = home.visit
    # Before it is, the page would not only send but open another stream.
    visit.live()
    visit.page.evaluate(
        """(family) => {
          navigator.locks.request(`potluck-shopping-${family}`, () => new Promise((go) => (window.goOn = go)));
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        home.family_id,
    )
    without_signal(visit)
    visit.page.evaluate("() => { goOn(); return new Promise((go) => setTimeout(go, 400)); }")
    assert visit.page.get_by_text("You’re offline").is_visible()


def test_where_there_is_no_room_to_keep_a_change_it_is_said_and_what_was_typed_stays(home):
    visit = home.visit
    visit.page.evaluate(
        """() => {
          IDBObjectStore.prototype.put = () => {
            throw new DOMException("full", "QuotaExceededError");
          };
        }"""
    )
    add(visit, "2 Candles")
    full = visit.page.locator("#toasts", has_text="This device is out of storage space")
    full.wait_for()
    assert visit.page.get_by_label("Add to the list").first.input_value() == "2 Candles"
    full.locator(".toast").evaluate("(toast) => toast.remove()")
    visit.page.get_by_role("checkbox", name="Butter", exact=True).click()
    full.wait_for()
    assert "Candles" not in home.listed()
    assert home.listed()["Butter"]["status"] == "pending"


def test_where_a_list_could_not_be_opened_without_signal_it_is_not_kept(visit, shop):
    window = visit("/", at=shop.address)
    window.page.add_init_script("delete Navigator.prototype.serviceWorker")
    home = family_of(window)
    home.thing("Surprise cake")
    window.open(home.page)
    window.page.locator("#shopping[data-ready]").wait_for()
    add(window, "Candles")
    settled(window)
    kept_lists = window.page.evaluate(
        """() => new Promise((done) => {
          const asking = indexedDB.open("potluck-shopping");
          asking.onsuccess = () => {
            const counting = asking.result.transaction("lists").objectStore("lists").count();
            counting.onsuccess = () => done(counting.result);
          };
        })"""
    )
    assert kept_lists == 0


def test_what_is_being_changed_while_it_is_sent_is_changed_all_the_same(home):
    visit = home.visit
    without_signal(visit)
    add(visit, "Flat parsley")
    visit.page.get_by_role("link", name="Edit Flat parsley", exact=True).click()
    dialog = visit.page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("a big bunch")
    with_signal(visit)
    dialog.get_by_role("button", name="Save").click()
    visit.page.locator(".row-note", has_text="a big bunch").wait_for()
    settled(visit)
    assert home.listed()["Flat parsley"]["notes"] == "a big bunch"


def test_who_is_signed_out_meanwhile_signs_in_and_what_waits_is_sent(visit, shop):
    window = visit("/", at=shop.address)
    email = newcomer()
    send(window, "/sign-up", name="Mara", email=email, password=PASSWORD)
    home = Home(window, call(window, "POST", "/families", {"name": "Mara’s"})["familyId"])
    kept(home)
    without_signal(window)
    add(window, "Candles")
    window.page.get_by_text("1 change is saved and will sync later.").wait_for()
    window.page.context.clear_cookies()
    window.page.context.set_offline(False)
    window.page.get_by_text("You’re signed out").wait_for()
    window.page.get_by_text("1 change is saved here. Sign in to sync it.").wait_for()
    assert window.violations() == []
    window.page.get_by_role("link", name="Sign in").click()
    window.page.get_by_label("E-mail").fill(email)
    window.page.get_by_label("Password", exact=True).first.fill(PASSWORD)
    window.page.keyboard.press("Enter")
    window.page.wait_for_url(shop.address + home.page)
    settled(window)
    assert home.listed()["Candles"]["version"] == 1
    window.forgive("status of 401")


def test_what_was_taken_off_meanwhile_is_said_to_be_gone(home):
    visit = home.visit
    without_signal(visit)
    tick(visit, "Lemons")
    edit(visit, "Butter", Note="salted")
    home.take_off("Lemons")
    home.take_off("Butter")
    with_signal(visit)
    visit.page.get_by_role("region", name="Lemons was removed from the list").wait_for()
    butter = visit.page.get_by_role("region", name="Butter was removed from the list")
    butter.wait_for()
    visit.picture("shopping-gone")
    assert visit.violations() == []
    assert set(home.listed()) == {"Tomatoes", "Oat milk"}
    butter.get_by_role("button", name="Add it again").click()
    visit.page.get_by_role("checkbox", name="Butter").wait_for()
    settled(visit)
    assert home.listed()["Butter"]["notes"] == "salted"


def test_it_opens_and_goes_on_when_the_server_stops_and_comes_back(home, shop):
    visit = home.visit
    shop.stop()
    try:
        reload(visit)
        visit.page.get_by_text("You’re offline").wait_for()
        add(visit, "Flat parsley")
        tick(visit, "Flat parsley")
        visit.page.get_by_text("2 changes are saved and will sync later.").wait_for()
        # Another part of Shopping is not kept, and says so.
        visit.page.get_by_role("link", name="Inventory").click()
        visit.page.get_by_text("This page isn’t available offline").wait_for()
        visit.page.get_by_role("link", name="Open shopping list").click()
        visit.page.get_by_text("2 changes are saved and will sync later.").wait_for()
    finally:
        shop.start()
    settled(visit)
    assert (home.listed()["Flat parsley"]["status"], home.listed()["Flat parsley"]["version"]) == ("purchased", 2)


def test_who_comes_next_at_the_same_browser_sees_nothing(visit, shop):
    window = visit("/", at=shop.address)
    email = newcomer()
    send(window, "/sign-up", name="Mara", email=email, password=PASSWORD)
    home = Home(window, call(window, "POST", "/families", {"name": "Mara’s"})["familyId"])
    home.thing("Surprise cake")
    kept(home)
    without_signal(window)
    add(window, "Candles")
    window.page.get_by_text("1 change is saved and will sync later.").wait_for()
    with_signal(window)
    # Somebody else signs in at the same browser, without signing out.
    window.page.context.clear_cookies()
    other = newcomer()
    window.open("/sign-up")
    for label, text in (("E-mail", other), ("Password", PASSWORD), ("Your name", "Noor")):
        window.page.get_by_label(label).first.fill(text)
    window.page.keyboard.press("Enter")
    window.page.wait_for_url(f"{shop.address}/")
    window.page.context.set_offline(True)
    window.page.goto(shop.address + home.page)
    window.page.get_by_text("No list on this device yet").wait_for()
    window.picture("shopping-nothing-kept")
    assert "Surprise cake" not in window.page.content()
    window.page.goto("about:blank")
    window.page.context.set_offline(False)
    # The first comes back, and what was theirs is theirs again.
    window.page.context.clear_cookies()
    sign_in(window, email)
    window.open(home.page)
    window.page.locator("#shopping[data-ready]").wait_for()
    without_signal(window)
    reload(window)
    assert sorted(pending(window)) == ["Candles", "Surprise cake"]
    nothing_heard(window)
