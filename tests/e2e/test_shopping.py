"""Shopping in a browser: every page, what is done on them by hand, by keyboard and without a script, and two phones."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit, keep_picture, open_visit
from tests.e2e.coming_in import join, send
from tests.e2e.shops import Home, Shop, call, family_of, one_more

pytestmark = pytest.mark.needs("chromium", "axe-core")

# What the element that has the focus is called.
FOCUSED = "(({ ariaLabel, innerText, id }) => ariaLabel || innerText || id)(document.activeElement)"


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture(scope="module")
def kitchen(browser, shop) -> Iterator[Home]:
    """A family of three with everything in it, for tests that only look."""
    with (
        open_visit(browser, shop.address) as mara,
        open_visit(browser, shop.address) as leo,
        open_visit(browser, shop.address) as noor,
    ):
        home = family_of(mara)
        for visit, name in ((leo, "Leo Lund"), (noor, "Noor Haddad")):
            join(visit, name)
            home.let_in(visit)
        for store in ("Green Corner", "Bakery Lund", "Asia Market"):
            home.store(store)
        places = {
            name: call(mara, "POST", f"{home.api}/locations", {"name": name})["locationId"]
            for name in ("Pantry", "Cellar")
        }
        pantry, corner = places["Pantry"], home.stores["Green Corner"]
        home.at_home("Coffee beans", 1, 3, unit="bags", locationId=pantry, preferredStoreId=corner)
        home.at_home("Dishwasher tabs", 4, 20, locationId=pantry)
        for name, quantity in (("Bananas", 5), ("Yoghurt", 4), ("Dish soap", 2), ("Eggs", 12)):
            home.ids[f"{name} at home"] = home.at_home(name, quantity, 1, locationId=pantry)
        home.thing("Lemons", "Green Corner", noor, quantity=4, notes="unwaxed")
        home.thing("Flat parsley", "Green Corner")
        home.thing("Tomatoes", "Green Corner", leo, quantity=6, notes="on the vine")
        home.thing("Cardamom buns", "Bakery Lund", leo, quantity=8, notes="if they still have them")
        home.thing("Cat food, the one she actually eats", "", noor, quantity=12)
        home.thing("Oat milk", "", quantity=3, unit="litres", notes="the blue one")
        for name, by in (("Butter", leo), ("Sourdough", mara)):
            bought = home.thing(name, "", by, quantity=2)
            call(by, "PATCH", f"{home.api}/shopping-list/{bought}/status", {"status": "purchased", "version": 1})
        call(mara, "POST", f"{home.api}/invitations", {"role": "member", "email": "ida@example.org"})
        home.ids["Pantry"] = pantry
        yield home


def pages_of(home: Home) -> dict[str, str]:
    return {
        "list": home.page,
        "item": f"{home.page}/list/{home.ids['Oat milk']}",
        "inventory": f"{home.page}/inventory",
        "thing": f"{home.page}/inventory/{home.ids['Eggs at home']}",
        "stores": f"{home.page}/stores",
        "store": f"{home.page}/stores/{home.stores['Green Corner']}",
        "location": f"{home.page}/locations/{home.ids['Pantry']}",
        "members": f"{home.page}/members",
    }


def same_person(visit: Visit, home: Home) -> None:
    """The window becomes the one of whoever made the family."""
    visit.page.context.add_cookies(home.visit.page.context.cookies())


def sent(visit: Visit) -> None:
    """Nothing waits any more."""
    visit.page.locator('#shopping[data-ready][data-waiting="0"]').wait_for()


def pending(visit: Visit) -> list[str]:
    return visit.page.locator("[data-groups] .row-name").all_inner_texts()


def add(visit: Visit, text: str) -> None:
    visit.page.get_by_label("Add to the list").first.fill(text)
    visit.page.keyboard.press("Enter")


def ticked(visit: Visit, name: str) -> None:
    visit.page.get_by_role("checkbox", name=name, exact=True).click()
    visit.page.locator("#toasts", has_text=f"{name} purchased").wait_for()


# --- every page ------------------------------------------------------------------------------------------------------


def again(visit: Visit, *rules: str) -> list[str]:
    """What axe, which is on the page already, finds once the page looks different; by these rules, or by all."""
    options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": list(rules)} if rules else {})
    found = visit.page.evaluate("(options) => axe.run(options).then((results) => results.violations)", options)
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


def test_every_page_is_for_everyone(visit, shop, kitchen):
    # Without motion: colours are as they are, also right after a change.
    window = visit("/", at=shop.address, reduced_motion="reduce")
    same_person(window, kitchen)
    found = {}
    for name, path in pages_of(kitchen).items():
        window.page.emulate_media(color_scheme="light")
        window.page.set_viewport_size({"width": 390, "height": 844})
        window.open(path)
        if name == "list":
            window.live()
        window.picture(f"shopping-{name}")
        found[name, "phone"] = window.violations()
        assert window.overflow() <= 0, name
        window.page.emulate_media(color_scheme="dark")
        found[name, "phone, dark"] = again(window, "color-contrast")
        window.page.set_viewport_size({"width": 1280, "height": 900})
        found[name, "desk, dark"] = again(window, "color-contrast")
        window.page.emulate_media(color_scheme="light")
        found[name, "desk"] = again(window)
        assert window.overflow() <= 0, name
        if name in ("list", "inventory", "members"):
            keep_picture(window.page, f"shopping-{name}-desk-light")
        if name == "list":
            window.page.set_viewport_size({"width": 390, "height": 844})
            window.page.emulate_media(color_scheme="dark")
            keep_picture(window.page, "shopping-list-phone-dark")
    assert {place: wrong for place, wrong in found.items() if wrong} == {}
    assert len(found) == 4 * len(pages_of(kitchen))


def test_narrow_and_large_type_keep_every_page_within_its_window(visit, shop, kitchen):
    window = visit("/", "narrow", at=shop.address)
    same_person(window, kitchen)
    # At several tables, one can go from one to another.
    call(kitchen.visit, "POST", "/families", {"name": "Mat club kitchen"})
    for name, path in pages_of(kitchen).items():
        window.open(path)
        assert window.squeezed() == [], name
    window.open(kitchen.page)
    window.picture("shopping-list")
    assert window.buttons_on_paper() == []
    # Printed, it says how many.
    window.page.emulate_media(media="print")
    assert window.page.locator(".thing-count output").first.is_visible()


# --- coming in -------------------------------------------------------------------------------------------------------


def test_a_first_family_then_a_guest_by_a_link_and_a_second_table(visit, shop):
    mara, leo = visit("/", at=shop.address), visit("/", "desk", at=shop.address)
    join(mara)
    mara.open("/shopping")
    assert mara.violations() == []
    mara.picture("shopping-first")
    # The first item makes the household, and the field has the focus.
    mara.page.keyboard.type("Milk")
    mara.page.keyboard.press("Enter")
    mara.page.get_by_role("checkbox", name="Milk").wait_for()
    mara.page.get_by_role("button", name="Bread").wait_for()
    mara.picture("shopping-first-item")
    mara.page.get_by_role("link", name="Invite someone").click()
    mara.page.get_by_role("button", name="Create link").click()
    shown = mara.page.get_by_role("group", name="The link, shown once")
    shown.wait_for()
    assert mara.violations() == []
    mara.picture_of("#invite", "shopping-invited")
    link = shown.locator("code").inner_text()
    mara.page.reload()
    join(leo, "Leo Lund")
    # What stands behind # sends itself, and the page goes on to the next.
    leo.page.goto(f"{leo.address}{urlsplit(link).path}#{urlsplit(link).fragment}")
    leo.page.get_by_role("button", name="Join").click()
    leo.page.get_by_text("You’re in.").wait_for()
    # A member looks; admins manage.
    leo.open(urlsplit(leo.page.url).path + "/members")
    assert leo.page.get_by_role("heading", name="Invite someone").count() == 0
    leo.page.get_by_label("Household name").fill("The cabin")
    leo.follow(leo.page.get_by_role("button", name="Create household"))
    switch = leo.page.get_by_role("navigation", name="Your households")
    switch.wait_for()
    assert switch.get_by_role("link").all_inner_texts() == ["Mara’s household", "The cabin"]
    leo.live()
    assert leo.violations() == []
    leo.picture("shopping-two-families")
    leo.follow(switch.get_by_role("link", name="Mara’s household"))
    leo.open("/shopping")
    assert leo.page.get_by_role("link", name="Mara’s household").get_attribute("aria-current") == "page"


def test_the_last_admin_is_told_why_they_stay(visit, shop):
    mara, leo = visit("/", at=shop.address), visit("/", at=shop.address)
    home = family_of(mara)
    join(leo, "Leo Lund")
    home.let_in(leo)
    mara.open(f"{home.page}/members")
    mara.page.get_by_label("Options for Mara Okafor").click()
    mara.page.get_by_text("You’re the last one who can manage this.").wait_for()
    mara.page.get_by_label("Options for Leo Lund").click()
    mara.picture("shopping-last-admin")
    mara.page.get_by_role("button", name="Change role to Admin").click()
    mara.page.get_by_text("The role of Leo Lund is now Admin.").wait_for()
    # He was faster: now she is the last one, whatever her page shows.
    mara.page.get_by_label("Options for Mara Okafor").click()
    me = call(leo, "GET", "/me")["userId"]
    send(leo, f"{home.page}/members/{me}/remove")
    mara.expected = "status of 409"
    mara.page.get_by_role("button", name="Leave household").click()
    mara.page.get_by_text("A household needs an admin.").wait_for()
    assert mara.violations() == []


# --- the list --------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(visit, shop) -> Home:
    home = family_of(visit("/", at=shop.address))
    home.store("Green Corner")
    home.thing("Lemons", "Green Corner", quantity=4)
    home.thing("Oat milk")
    return home


def test_two_phones_side_by_side_are_live(visit, shop, home):
    here, there = home.visit, visit("/", at=shop.address)
    join(there, "Leo Lund")
    home.let_in(there)
    for window in (here, there):
        window.open(home.page)
        window.live()
    add(here, "3 tomatoes")
    there.page.get_by_role("checkbox", name="tomatoes").wait_for()
    there.page.get_by_text("Mara").first.wait_for()
    ticked(there, "Lemons")
    here.page.locator("[data-purchased-rows] .row-name", has_text="Lemons").wait_for(state="attached")
    one_more(here, "Oat milk").click()
    there.page.get_by_role("group", name="Quantity of Oat milk").get_by_text("2", exact=True).wait_for()
    there.page.get_by_role("link", name="Edit Oat milk").click()
    there.page.get_by_role("dialog").get_by_label("Store").select_option("Green Corner")
    there.picture("shopping-changing")
    assert there.violations() == []
    there.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    here.page.locator("section", has_text="Green Corner").get_by_role("checkbox", name="Oat milk").wait_for()
    there.page.get_by_role("link", name="Edit tomatoes").click()
    there.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    # Until then, another one offers to undo the tick.
    undo = there.page.locator("#toasts", has_text="tomatoes removed").get_by_role("button", name="Undo")
    # A toast stays while somebody is on it, also longer than we take.
    undo.hover()
    here.page.get_by_role("checkbox", name="tomatoes").wait_for(state="detached")
    for window in (here, there):
        expect(window.page.locator("[data-groups] .row-name")).to_have_text(["Oat milk"])
    here.picture("shopping-two-phones")
    # Undone, it is back on both.
    undo.click()
    here.page.get_by_role("checkbox", name="tomatoes").wait_for()
    # Taken off the family, it hears no more.
    there.expected = "status of 404"
    send(here, f"{home.page}/members/{call(there, 'GET', '/me')['userId']}/remove")
    add(here, "Secret plans")
    there.page.get_by_text("You no longer have access to this household").wait_for()
    assert "Secret plans" not in there.page.content()


def test_nothing_moves_between_a_touch_and_its_click(home):
    page = home.visit.page
    # However long the test takes, the finger is not down for long.
    home.visit.stop_the_clock()
    home.visit.open(home.page)
    home.visit.live()
    state = str(page.locator('script[src*="/list.js"]').get_attribute("src")).replace("list.js", "state.js")

    def heard_of(name: str) -> None:
        """Somebody else added it, and the page knows."""
        told = [state, home.thing(name, "Green Corner")]
        page.wait_for_function("async ([state, id]) => (await import(state)).page.items.has(id)", arg=told)

    change = page.get_by_role("link", name="Edit Oat milk")
    change.hover()
    page.mouse.down()
    before = change.bounding_box()
    heard_of("Above it")
    assert change.bounding_box() == before
    page.mouse.up()
    page.clock.run_for(1)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Store").wait_for()
    page.get_by_role("checkbox", name="Above it", include_hidden=True).wait_for(state="attached")
    dialog.get_by_role("button", name="Close").click()
    # Who holds on for longer does not tap, and sees what is new.
    change.hover()
    page.mouse.down()
    heard_of("Later")
    assert page.get_by_role("checkbox", name="Later").count() == 0
    page.clock.run_for(1_000)
    page.get_by_role("checkbox", name="Later").wait_for()
    page.mouse.up()


def test_a_store_that_somebody_made_meanwhile_is_known_and_not_lost_by_an_edit(home):
    """On a page that has been open since before there was such a store."""
    page = home.visit.page
    home.visit.open(home.page)
    home.visit.live()
    home.store("Night Market")
    home.thing("Star anise", "Night Market")
    page.get_by_role("link", name="Edit Star anise").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_label("Store").locator("option:checked").inner_text() == "Night Market"
    dialog.get_by_label("Note").fill("whole")
    dialog.get_by_role("button", name="Save").click()
    page.locator(".row-note", has_text="whole").wait_for()
    sent(home.visit)
    told = home.listed()["Star anise"]
    assert (told["notes"], told["storeName"]) == ("whole", "Night Market")


def test_the_box_takes_several_lines_and_knows_what_is_at_home(home):
    visit = home.visit
    home.at_home("Coffee beans", 1, 3, unit="bags", preferredStoreId=home.stores["Green Corner"])
    visit.open(home.page)
    visit.live()
    add(visit, "- 2 milk\n500 g flour\n\nbread")
    visit.page.get_by_role("checkbox", name="bread").wait_for()
    visit.page.get_by_label("Add to the list").first.press_sequentially("cof")
    visit.page.get_by_role("list", name="Suggestions").get_by_role("button").click()
    visit.page.get_by_role("checkbox", name="Coffee beans").wait_for()
    sent(visit)
    listed = home.listed()
    told = {
        name: (listed[name]["quantity"], listed[name]["unit"]) for name in ("milk", "flour", "bread", "Coffee beans")
    }
    assert told == {"milk": (2, None), "flour": (500, "g"), "bread": (None, None), "Coffee beans": (None, "bags")}
    assert listed["Coffee beans"]["storeName"] == "Green Corner"
    # The same once more: added to the one that is there, or both kept.
    add(visit, "2 coffee beans")
    twice = visit.page.get_by_role("region", name="Coffee beans is already on the list")
    twice.wait_for()
    visit.picture("shopping-duplicate")
    assert visit.violations() == []
    twice.get_by_role("button", name="Make it 3 bags").click()
    visit.page.get_by_role("group", name="Quantity of Coffee beans").get_by_text("3", exact=True).wait_for()
    # By store, and only there.
    visit.page.get_by_role("link", name="Show only this store: Green Corner").click()
    assert pending(visit) == ["Coffee beans", "Lemons"]
    assert visit.page.locator("[data-count]").inner_text() == "2 of 6 items"
    add(visit, "Parsley")
    visit.page.get_by_role("checkbox", name="Parsley").wait_for()
    visit.page.get_by_role("link", name="Show all stores").click()
    assert len(pending(visit)) == 7
    # Bought, put away, cleared, and cleared undone.
    ticked(visit, "Coffee beans")
    sent(visit)
    visit.page.locator("summary", has_text="Purchased").click()
    visit.page.get_by_role("button", name="Restock Coffee beans").click()
    visit.page.get_by_text("Coffee beans restocked. You have 4 bags.").wait_for()
    visit.picture("shopping-purchased")
    visit.page.get_by_role("button", name="Clear purchased").click()
    with visit.page.expect_response("**/undo"):
        visit.page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.page.get_by_role("checkbox", name="Coffee beans", checked=True).wait_for()
    assert home.listed()["Coffee beans"]["status"] == "purchased"


def test_the_box_says_how_many_it_took_and_stays_within_its_window(home):
    visit = home.visit
    visit.open(home.page)
    visit.live()
    add(visit, "Mint\nLemons\nSage")
    # Lemons are there already, so it is asked about them.
    visit.page.get_by_role("region", name="Lemons is already on the list").wait_for()
    expect(visit.page.locator("#toasts")).to_have_text("2 items added")
    add(visit, "x" * 130)
    visit.page.get_by_role("alert").get_by_text("Use up to 100 characters per item.").wait_for()
    assert visit.overflow() == 0


def test_the_list_by_keyboard_alone(home):
    visit = home.visit
    visit.open(home.page)
    visit.live()

    def to(name: str) -> None:
        for _ in range(60):
            if name in visit.page.evaluate(FOCUSED):
                return
            visit.page.keyboard.press("Tab")
        raise AssertionError(name)

    to("add")
    visit.page.keyboard.type("Tomatoes")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("checkbox", name="Tomatoes").wait_for()
    to("Lemons")
    visit.page.keyboard.press("Space")
    # A toast stays while somebody is on it, also longer than we take.
    visit.page.locator("#toasts", has_text="Lemons purchased").hover()
    # The focus goes on to what stands there now.
    visit.page.locator("[data-purchased-rows] .row-name", has_text="Lemons").wait_for(state="attached")
    focused = visit.page.locator(":focus")
    expect(focused).to_have_attribute("role", "checkbox")
    to("One more")
    expect(focused).to_have_css("opacity", "1")
    to("Edit Oat milk")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("dialog").wait_for()
    to("edit-unit")
    visit.page.keyboard.type("litres")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("dialog").wait_for(state="hidden")
    expect(focused).to_have_attribute("aria-label", re.compile("Edit Oat milk"))
    to("Undo")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("checkbox", name="Lemons", checked=False).wait_for()
    # Whoever undoes it by key goes on where it is again.
    expect(visit.page.get_by_role("checkbox", name="Lemons")).to_be_focused()
    sent(visit)
    assert home.listed()["Oat milk"]["unit"] == "litres"


def test_everything_works_without_a_script(visit, shop):
    window = visit("/", at=shop.address, java_script_enabled=False)
    home = family_of(window)
    home.store("Green Corner")
    home.at_home("Coffee beans", 1, 3, preferredStoreId=home.stores["Green Corner"])
    window.open(home.page)
    page = window.page
    page.locator("#add").fill("Lemons")
    window.follow(page.get_by_role("button", name="Add to the list"))
    page.get_by_text("Lemons added").wait_for()
    window.follow(one_more(window, "Lemons"))
    window.follow(page.get_by_role("button", name="Coffee beans"))
    window.follow(page.get_by_role("checkbox", name="Lemons"))
    page.get_by_text("Lemons purchased").wait_for()
    window.follow(page.get_by_role("button", name="Undo"))
    assert sorted(pending(window)) == ["Coffee beans", "Lemons"]
    window.expected = "status of 409"
    page.locator("#add").fill("2 lemons")
    window.follow(page.get_by_role("button", name="Add to the list"))
    window.follow(page.get_by_role("button", name="Make it 4"))
    assert home.listed()["Lemons"]["quantity"] == 4
    # Two at once: the slower sees both sides.
    window.follow(page.get_by_role("link", name="Edit Lemons"))
    home.ids["Lemons"] = home.listed()["Lemons"]["shoppingItemId"]
    home.change("Lemons", quantity=9)
    page.get_by_role("spinbutton", name="Quantity").fill("5")
    window.follow(page.get_by_role("button", name="Save"))
    page.get_by_role("heading", name="Which version do you want to keep?").wait_for()
    page.get_by_role("radio", name="Yours").check()
    window.follow(page.get_by_role("button", name="Save"))
    page.get_by_text("Lemons saved").wait_for()
    assert home.listed()["Lemons"]["quantity"] == 5
    window.follow(page.get_by_role("link", name="Inventory"))
    window.follow(page.get_by_role("button", name="One more"))
    window.follow(page.get_by_role("link", name="Coffee beans"))
    page.get_by_text("1 item on the list is linked to it and stays there.").wait_for()
    window.follow(page.get_by_role("button", name="Delete item"))
    page.get_by_text("Item deleted. What’s on the list stays there.").wait_for()
    assert home.listed()["Coffee beans"]["itemId"] is None


# --- what is at home, and where ---------------------------------------------------------------------------------------


def test_what_runs_low_is_on_the_list_by_one_touch(home):
    visit = home.visit
    for name, quantity in (("Coffee beans", 1), ("Rice", 2), ("Eggs", 12)):
        home.at_home(name, quantity, 3)
    visit.open(f"{home.page}/inventory")
    low = visit.page.get_by_role("list", name="Running low")
    assert low.locator(".row-name").all_inner_texts() == ["Coffee beans", "Rice"]
    visit.page.get_by_role("button", name="Add Rice to the list").click()
    visit.page.get_by_text("Rice added to the list").wait_for()
    more = visit.page.get_by_role("group", name="In stock: Coffee beans").get_by_role("button", name="One more")
    more.click()
    visit.page.get_by_role("group", name="In stock: Coffee beans").get_by_text("2", exact=True).wait_for()
    assert visit.page.evaluate("document.activeElement.getAttribute('aria-label')") == "One more"
    more.dblclick()
    visit.page.get_by_role("list", name="In stock").get_by_text("Coffee beans").wait_for()
    assert visit.violations() == []
    # Typed, it may be any number.
    visit.page.get_by_role("link", name="Rice").click()
    visit.page.get_by_label("In stock").get_by_role("spinbutton").fill("0")
    visit.follow(visit.page.get_by_role("button", name="Save"))
    home.at_home("Soy sauce", 2, 2, unit="bottles")
    visit.open(home.page)
    visit.live()
    visit.page.get_by_role("checkbox", name="Rice").wait_for()
    low = visit.page.get_by_role("region", name="Running low")
    sauce, rice = low.get_by_role("listitem").all()
    assert sauce.inner_text().split() == ["Soy", "sauce", "2", "bottles", "left,", "low", "at", "2"]
    assert rice.inner_text().split() == ["Rice", "none", "left,", "low", "at", "3", "already", "on", "the", "list"]
    add(visit, "soy sauce")
    expect(sauce.get_by_text("already on the list")).to_be_visible()
    expect(low.get_by_role("button")).to_be_hidden()


def test_a_name_that_is_taken_is_said_beside_its_field(home):
    visit = home.visit
    visit.open(f"{home.page}/stores")
    visit.expected = "status of 409"
    visit.page.locator("#store-name").fill("green corner")
    visit.page.get_by_role("button", name="Add store").click()
    visit.page.get_by_text("“green corner” already exists").wait_for()
    assert visit.page.locator("#store-name").get_attribute("aria-invalid") == "true"
    assert visit.violations() == []
    visit.picture("shopping-name-taken")


def test_over_plain_http_the_page_says_what_offline_needs(visit, shop, home):
    named = re.sub("127.0.0.1", "kitchen.test", shop.address)
    answer = home.visit.page.request.get(
        f"{shop.address}{home.page}", headers={"host": urlsplit(named).netloc, "accept": "text/html"}
    )
    assert "doesn’t use https" in answer.text()
    home.visit.open(home.page)
    assert "doesn’t use https" not in home.visit.page.content()
