"""Shareables in a browser: laid out, opened by its id on another phone, unlocked, ticked live, cleared away, cloned."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.browsing import Visit
from tests.e2e.coming_in import FROM_HERE, join, send
from tests.e2e.picnics import Picnic

pytestmark = pytest.mark.needs("chromium", "axe-core")

VIEW, ADMIN = "ember-42", "trestle-table"
PACKING = ("Two tents, the green one and the one that leaks less", "Stove and three gas cartridges", "Head torches")


@pytest.fixture(scope="module")
def picnic(tmp_path_factory) -> Iterator[Picnic]:
    with Picnic(tmp_path_factory.mktemp("picnic")) as picnic:
        yield picnic


@pytest.fixture
def window(visit, picnic):
    return lambda path, *args, **options: visit(path, *args, at=picnic.address, **options)


def made(visit: Visit, **said: Any) -> dict[str, Any]:
    """Something on the table, laid out by the JSON door, where the typing is not what is looked at."""
    body = {"entity": "checklist", "name": "Campfire packing list", "adminPasscode": ADMIN, **said}
    if body["entity"] == "checklist":
        body.setdefault("items", [{"name": name} for name in PACKING])
    answer = visit.page.request.post(f"{visit.address}/api/v1/shareables", data=body, headers=FROM_HERE)
    assert answer.ok, answer.text()
    return answer.json()


def call(visit: Visit, method: str, path: str, token: str, body: Any = None) -> Any:
    """Ask the JSON door as somebody who is at no device here."""
    headers = {"authorization": f"Bearer {token}", "cookie": ""}
    answer = visit.page.request.fetch(
        f"{visit.address}/api/v1/shareables/{path}", method=method, data=body, headers=headers
    )
    assert answer.ok, answer.text()
    return answer.json() if answer.body() else None


def looked_at(seen: Visit, name: str = "", shown_in: str = "light") -> None:
    """For everyone, in both themes; and kept as a picture."""
    # In the second theme nothing but the colours is another.
    for theme, only in (("dark", None), ("light", "color-contrast")):
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert seen.violations(only=only) == [], name
        if name and theme == shown_in:
            seen.picture_of("body", f"shareables-{name}-{theme}")
    seen.page.emulate_media(reduced_motion="no-preference")
    assert seen.overflow() == 0
    seen.check()


def live(visit: Visit) -> None:
    expect(visit.page.locator("[data-live-badge]:not(.off)")).to_be_visible()


def row(visit: Visit, name: str) -> Locator:
    return visit.page.get_by_role("checkbox", name=name)


def all_sent(visit: Visit) -> None:
    """A tick is shown before it is sent; by now the server has every one."""
    expect(visit.page.locator("#contents .waiting")).to_have_count(0)


def test_a_list_goes_from_one_phone_to_another_and_is_ticked_live_on_both(window):
    maker = window("/shareables")
    looked_at(maker, "open")
    maker.follow(maker.page.locator("main").get_by_role("link", name="New list"))
    page = maker.page
    page.get_by_label("Name", exact=True).fill("Street party: who brings what")
    for name in ("Long table, four trestles", "Bunting", "Lemonade, the cloudy kind"):
        page.get_by_role("textbox", name="Items").fill(name)
        page.keyboard.press("Enter")
    expect(page.get_by_label("Item 3")).to_have_value("Lemonade, the cloudy kind")
    page.get_by_role("button", name="Remove Bunting").click()
    # A line that was typed and not entered is not lost.
    page.get_by_role("textbox", name="Items").fill("Bunting (Leo has the ladder)")
    page.get_by_text("Ask viewers for a passcode").click()
    page.get_by_label("View passcode").fill(VIEW)
    looked_at(maker, "new")
    maker.follow(page.get_by_role("button", name="Create list"))
    expect(page.get_by_role("heading", name="Your list is ready")).to_be_visible()
    looked_at(maker, "card")
    short_id = page.locator(".short-id [aria-hidden]").inner_text()
    passcode = page.locator(".pass code").last.inner_text()
    for secret in (VIEW, passcode):
        assert secret not in page.url
    # Shown once.
    page.reload()
    expect(page.get_by_role("heading", name="Share this list")).to_be_visible()
    assert passcode not in page.content()
    looked_at(maker, "card-later")
    maker.follow(page.get_by_role("link", name="Open list"))
    live(maker)

    guest = window("/shareables")
    box = guest.page.get_by_label("Code or link")
    box.fill(short_id[:-1])
    guest.expected = "status of 422"
    guest.follow(guest.page.get_by_role("button", name="Open"))
    expect(guest.page.get_by_text("1 digit is missing")).to_be_visible()
    looked_at(guest, "open-wrong")
    box = guest.page.get_by_label("Code or link")
    box.fill(short_id.upper().replace("-", " "))
    expect(guest.page.get_by_text(short_id)).to_be_visible()
    guest.follow(guest.page.get_by_role("button", name="Open"))
    expect(guest.page).to_have_url(re.compile("/unlock$"))
    assert "Street party" not in guest.page.content()
    looked_at(guest, "unlock")
    guest.expected = "status of 401"
    guest.page.get_by_role("textbox", name="Passcode").fill("ember42")
    guest.follow(guest.page.get_by_role("button", name="Unlock"))
    expect(guest.page.get_by_text("You have 4 tries left")).to_be_visible()
    looked_at(guest, "unlock-wrong", "dark")
    guest.page.get_by_role("textbox", name="Passcode").fill(VIEW)
    guest.follow(guest.page.get_by_role("button", name="Unlock"))
    expect(guest.page.get_by_text("2 people here now")).to_be_visible()
    expect(maker.page.get_by_text("2 people here now")).to_be_visible()
    assert "Street party" not in guest.page.title()
    guest.follow(guest.page.get_by_role("link", name="Manage list"))
    looked_at(guest, "manage")
    guest.follow(guest.page.get_by_role("link", name="Cancel"))
    expect(maker.page.get_by_text("2 people here now")).to_be_visible()
    row(guest, "Bunting").tap()
    expect(guest.page.get_by_text("1 of 3 done")).to_be_visible()
    # The other phone hears of it, and the other way round.
    expect(row(maker, "Bunting")).to_be_checked()
    expect(maker.page.get_by_text("Someone ticked Bunting")).to_be_visible()
    looked_at(maker, "list-admin", "dark")
    row(maker, "Long table").tap()
    expect(row(guest, "Long table")).to_be_checked()
    row(guest, "Bunting").tap()
    expect(row(maker, "Bunting")).not_to_be_checked()
    looked_at(guest, "list-viewer")
    # What the admin adds and renames is there at once.
    maker.page.get_by_role("textbox", name="Add an item").fill("Paper cups")
    maker.page.keyboard.press("Enter")
    expect(row(guest, "Paper cups")).to_be_visible()
    maker.follow(maker.page.get_by_role("link", name="Name and note"))
    looked_at(maker, "edit")
    maker.page.get_by_label("Name", exact=True).fill("Street party")
    maker.page.get_by_label("Viewers can tick items").uncheck()
    maker.follow(maker.page.get_by_role("button", name="Save changes"))
    expect(guest.page.get_by_role("heading", name="Street party", exact=True)).to_be_visible()
    expect(row(guest, "Paper cups")).to_have_count(0)
    expect(guest.page.locator("#contents .still")).to_have_count(4)


def test_a_list_is_cleared_away_in_time_and_laid_out_again(window):
    guest = window("/shareables")
    list_made = made(guest, viewPasscode=VIEW)
    path = f"/shareables/{list_made['shortId']}"
    admin = window("/shareables")
    for visit, passcode in ((guest, VIEW), (admin, ADMIN)):
        send(visit, f"{path}/unlock", passcode=passcode)
        visit.open(path)
        live(visit)
    row(guest, "Head torches").tap()
    expect(row(admin, "Head torches")).to_be_checked()
    # An admin lets it end in a moment, so late that a slow machine has heard of it before; then nobody does anything.
    soon = (datetime.now(UTC) + timedelta(seconds=5)).isoformat()
    call(admin, "PATCH", list_made["shortId"], list_made["adminToken"], {"expiresAt": soon, "version": 1})
    guest.expected = "status of 410"
    expect(guest.page.get_by_text("This list has expired")).to_be_visible()
    guest.page.wait_for_load_state()
    assert "Head torches" not in guest.page.content()
    looked_at(guest, "over")
    # So is the page of an admin another one, without being opened again.
    expect(admin.page.get_by_text("Use this list again")).to_be_visible()
    admin.page.wait_for_load_state()
    looked_at(admin, "expired", "dark")
    admin.page.get_by_role("radio", name="1 week").check()
    admin.page.get_by_label("Keep 1 tick").check()
    admin.follow(admin.page.get_by_role("button", name="Create copy"))
    expect(admin.page.get_by_role("heading", name="Save these passcodes")).to_be_visible()
    assert list_made["shortId"] not in admin.page.content()
    admin.follow(admin.page.get_by_role("link", name="Open list"))
    live(admin)
    expect(row(admin, "Head torches")).to_be_checked()


class Sorting:
    """A list that an admin puts in order, and a viewer who sees it."""

    def __init__(self, window: Callable[..., Visit], screen: str) -> None:
        self.admin = window("/shareables", screen)
        self.made = made(self.admin, items=[{"name": name} for name in ("A", "B", "C", "D")])
        path = f"/shareables/{self.made['shortId']}"
        send(self.admin, f"{path}/unlock", passcode=ADMIN)
        self.admin.open(path)
        live(self.admin)
        self.viewer = window(path)
        live(self.viewer)

    def grip(self, name: str) -> Locator:
        return self.admin.page.get_by_role("button", name=f"Move {name}, place")

    def is_now(self, *names: str) -> None:
        expect(self.admin.page.locator("#contents .row-name")).to_have_text(names)
        # The other window hears it from the server.
        expect(self.viewer.page.locator("#contents .row-name")).to_have_text(names)
        stored = call(self.admin, "GET", self.made["shortId"], self.made["adminToken"])["items"]
        assert [each["name"] for each in stored] == list(names)


def test_an_admin_puts_the_items_in_order_by_keyboard(window):
    sorting = Sorting(window, "desk")
    page = sorting.admin.page
    sorting.grip("C").focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="Move C, place 2 of 4")).to_be_focused()
    looked_at(sorting.admin, "held")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.locator("[data-announced]")).to_have_text("Dropped C, place 1 of 4.")
    sorting.is_now("C", "A", "B", "D")
    # Escape puts it back.
    page.keyboard.press("Space")
    page.keyboard.press("End")
    sorting.is_now("A", "B", "D", "C")
    page.keyboard.press("Escape")
    sorting.is_now("C", "A", "B", "D")
    sorting.admin.check()


def test_an_admin_puts_the_items_in_order_by_touch_and_by_the_handle(window):
    sorting = Sorting(window, "phone")
    page = sorting.admin.page
    sorting.grip("D").tap()
    page.get_by_role("button", name="Move D up").tap()
    sorting.is_now("A", "B", "D", "C")
    sorting.admin.picture("shareables-held")
    sorting.grip("D").tap()
    # Put down, its row is lower: what is measured next stays where it is.
    expect(sorting.grip("D")).to_have_attribute("aria-pressed", "false")
    handle, target = (sorting.grip(name).bounding_box() for name in "CA")
    assert handle is not None
    assert target is not None
    page.mouse.move(handle["x"] + 10, handle["y"] + 10)
    page.mouse.down()
    page.mouse.move(handle["x"] + 10, target["y"] + 5, steps=8)
    page.mouse.up()
    sorting.is_now("C", "A", "B", "D")
    sorting.admin.check()


def test_a_tick_without_signal_is_told_and_not_lost(window):
    guest = window("/shareables")
    found = made(guest)
    guest.open(f"/shareables/{found['shortId']}")
    live(guest)
    page = guest.page
    page.context.set_offline(True)
    row(guest, "Head torches").tap()
    row(guest, "Stove").tap()
    expect(page.get_by_text("2 ticks aren’t sent yet.")).to_be_visible()
    expect(page.locator(".unsent:visible")).to_have_count(2)
    looked_at_offline(guest)
    page.context.set_offline(False)
    expect(page.get_by_text("2 ticks aren’t sent yet.")).to_have_count(0)
    expect(page.get_by_text("2 of 3 done")).to_be_visible()
    all_sent(guest)
    done = {each["name"] for each in call(guest, "GET", found["shortId"], found["adminToken"])["items"] if each["done"]}
    assert done == {PACKING[1], PACKING[2]}
    # The server does not answer: the person tries again, and not the page, as it does when its stream comes back.
    live(guest)
    page.route("**/change", lambda route: route.abort())
    row(guest, "Stove").tap()
    expect(page.get_by_text("1 tick isn’t sent yet.")).to_be_visible()
    page.unroute("**/change")
    page.get_by_role("button", name="Try again").tap()
    expect(page.get_by_text("1 tick isn’t sent yet.")).to_have_count(0)
    expect(page.get_by_text("1 of 3 done")).to_be_visible()
    guest.without_network()


def looked_at_offline(visit: Visit) -> None:
    visit.picture_of("body", "shareables-list-offline-light")
    assert visit.violations() == []
    visit.without_network()


def test_a_poll_is_voted_in_and_its_results_follow_live(window):
    voter = window("/shareables")
    found = made(voter, entity="poll", name="Which song at the fire?", candidates=["Boat", "Bella ciao", "Leo’s"])
    path = f"/shareables/{found['shortId']}"
    voter.open(path)
    live(voter)
    looked_at(voter, "poll")
    voter.page.get_by_role("button", name="Rank Bella ciao next").tap()
    voter.page.get_by_role("button", name="Rank Boat next").tap()
    voter.follow(voter.page.get_by_role("button", name="Vote", exact=True))
    expect(voter.page.get_by_text("Thanks, your vote has been counted.")).to_be_visible()
    expect(voter.page.locator(".winner-name")).to_have_text("Bella ciao")
    live(voter)
    looked_at(voter, "results")
    for _ in range(2):
        call(voter, "POST", f"{found['shortId']}/votes", found["adminToken"], {"rankings": ["Boat"]})
    expect(voter.page.locator(".winner-name")).to_have_text("Boat")
    # Their own vote is found again, changed and taken back.
    voter.follow(voter.page.get_by_role("link", name="Vote"))
    voter.page.get_by_role("button", name="Move Boat up").tap()
    voter.follow(voter.page.get_by_role("button", name="Change vote"))
    expect(voter.page.get_by_text("Your vote has been changed.")).to_be_visible()
    voter.follow(voter.page.get_by_role("link", name="Vote"))
    voter.follow(voter.page.get_by_role("button", name="Withdraw vote"))
    expect(voter.page.get_by_text("Your vote has been withdrawn.")).to_be_visible()


def test_every_other_page_is_for_everyone(window):
    admin = window("/shareables", "desk")
    join(admin)
    made(admin, name="Summer fair, our stall", viewPasscode=VIEW)
    found = made(
        admin,
        note="Hut above Lindvik, Friday to Sunday. Bring what your row says, and one song.",
        items=[
            {"name": PACKING[0], "note": "poles are in the blue bag"},
            {"name": PACKING[1]},
            {"name": "Head torches", "note": "one each, and spare batteries"},
            {"name": "קומקום גדול", "note": "the big kettle, from Noa"},
        ],
    )
    path = f"/shareables/{found['shortId']}"
    admin.open("/shareables")
    expect(admin.page.get_by_role("link", name="Campfire packing list")).to_be_visible()
    looked_at(admin, "home-own")
    admin.open(path)
    live(admin)
    row(admin, "Head torches").click()
    expect(admin.page.get_by_text("1 of 4 done")).to_be_visible()
    looked_at(admin, "desk-list")
    item = admin.page.get_by_role("link", name="Edit Head torches").get_attribute("href")
    for address, name in (
        (item, "desk-item"),
        (f"{path}/items", "desk-add"),
        (f"{path}/passcodes", "desk-passcodes"),
        (f"{path}/clone", "desk-clone"),
        (f"{path}/delete", "desk-delete"),
        (f"{path}/share", "desk-card-later"),
        ("/shareables/polls/new", "desk-new-poll"),
    ):
        admin.open(address)
        looked_at(admin, name)
    admin.open(f"{path}/passcodes")
    admin.follow(admin.page.get_by_role("button", name="Generate passcode"))
    expect(admin.page.get_by_role("heading", name="Save this passcode")).to_be_visible()
    looked_at(admin, "desk-card", "dark")
    assert admin.buttons_on_paper() == []
    narrow = window(path, "narrow")
    live(narrow)
    looked_at(narrow, "narrow-list")
    assert narrow.squeezed() == []
    assert narrow.buttons_on_paper() == []
    narrow.open("/shareables/new")
    looked_at(narrow, "narrow-new")
    assert narrow.squeezed() == []


def test_without_a_script_everything_is_a_form(window):
    maker = window("/shareables/new", java_script_enabled=False)
    page = maker.page
    page.get_by_label("Name", exact=True).fill("Street party")
    page.get_by_role("textbox", name="Items").fill("Table\nBunting")
    maker.follow(page.get_by_role("button", name="Create list"))
    maker.follow(page.get_by_role("link", name="Open list"))
    maker.follow(page.get_by_role("checkbox", name="Bunting"))
    expect(page.get_by_role("checkbox", name="Bunting")).to_be_checked()
    maker.follow(page.get_by_role("link", name="Edit Bunting"))
    maker.follow(page.get_by_role("button", name="Move up"))
    expect(page.locator("#contents .row-name")).to_have_text(["Bunting", "Table"])
    page.get_by_role("textbox", name="Add an item").fill("Cups")
    maker.follow(page.get_by_role("button", name="Add item"))
    expect(page.locator("#contents .row-name")).to_have_text(["Bunting", "Table", "Cups"])


def test_who_has_the_phone_next_finds_and_changes_nothing_of_the_one_before(window):
    phone = window("/shareables")
    page = phone.page
    found = made(phone, viewPasscode=VIEW)
    path = f"/shareables/{found['shortId']}"
    send(phone, f"{path}/unlock", passcode=ADMIN)
    phone.open(path)
    live(phone)
    row(phone, "Head torches").tap()
    expect(page.get_by_text("1 of 3 done")).to_be_visible()
    all_sent(phone)
    other = page.context.new_page()
    other.goto(phone.address + path, wait_until="load")
    before = call(phone, "GET", found["shortId"], found["adminToken"])

    def nothing_is_here() -> None:
        asked, html = page.request, {"accept": "text/html"}
        for each in ("", "/share", "/edit", "/items", "/passcodes", "/clone", "/delete", "/unlock"):
            shown = asked.get(phone.address + path + each, headers=html).text()
            assert "Campfire" not in shown, each
            assert "Head torches" not in shown, each
        assert found["shortId"] not in asked.get(f"{phone.address}/shareables", headers=html).text()
        item = before["items"][0]["checklistItemId"]
        for each, fields in {
            f"/items/{item}/change": {"done": "true"},
            "/delete": {},
            "/settings": {"name": "Mine"},
        }.items():
            answer = asked.post(phone.address + path + each, form=fields, headers=FROM_HERE, max_redirects=0)
            assert answer.status == 401
        assert call(phone, "GET", found["shortId"], found["adminToken"]) == before

    phone.open("/shareables")
    looked_at(phone)
    phone.follow(page.get_by_role("button", name="Forget everything on this device"))
    expect(page.get_by_text("Everything you opened on this device is forgotten.")).to_be_visible()
    # Neither does the other window stay as it was, nor what "back" brings.
    other.wait_for_url(f"{phone.address}/shareables")
    assert "Head torches" not in other.content()
    nothing_is_here()
    page.goto(phone.address + path)
    expect(page).to_have_url(re.compile("/unlock$"))
    # The same for who was signed in, and signs out.
    join(phone)
    send(phone, f"{path}/unlock", passcode=ADMIN)
    phone.open(path)
    expect(row(phone, "Head torches")).to_be_checked()
    live(phone)
    send(phone, "/sign-out")
    # The page that was open hears of it; by then the browser has said all it has to say of that.
    expect(page).to_have_url(re.compile("/unlock$"))
    nothing_is_here()
    phone.forgive("status of 40")
    other.close()


def test_a_day_ends_after_the_hour_that_comes_twice(window):
    # In Chile, clocks go back at midnight: the last hour of that Saturday comes twice.
    maker = window("/shareables/new", timezone_id="America/Santiago")
    page = maker.page
    saturday = next(
        day
        for day in (datetime.now(UTC).date() + timedelta(days=number) for number in range(1, 364))
        if day.month == 4 and day.weekday() == 5
    )
    page.get_by_role("radio", name="Until a date").check()
    page.get_by_label("Last day").fill(saturday.isoformat())
    sunday = saturday + timedelta(days=1)
    assert page.locator("[name=expiresAt]").input_value() == f"{sunday}T03:59:59.000Z"


@pytest.mark.parametrize("scripts", [True, False])
def test_enter_in_the_name_does_not_publish_an_empty_list(window, scripts):
    maker = window("/shareables/new", java_script_enabled=scripts)
    page = maker.page
    page.get_by_label("Name", exact=True).fill("Street party")
    page.keyboard.press("Enter")
    if scripts:
        expect(page.get_by_role("textbox", name="Items")).to_be_focused()
        page.keyboard.type("Bunting")
    else:
        page.get_by_role("textbox", name="Items").fill("Bunting")
    expect(page).to_have_url(re.compile("/shareables/new$"))
    maker.follow(page.get_by_role("button", name="Create list"))
    expect(page).to_have_url(re.compile("/share$"))


def test_a_deleted_item_is_put_back_and_what_was_opened_is_listed_on_the_device(window):
    here = window("/shareables")
    found = made(here, viewPasscode=VIEW)
    other = made(
        here,
        entity="poll",
        name="A very long question: where do we all go for the long weekend?",
        candidates=["A", "B"],
    )
    path = f"/shareables/{found['shortId']}"
    here.open(f"/shareables/{other['shortId']}")
    here.open(f"{path}/unlock")
    here.page.get_by_label("Passcode", exact=True).fill(ADMIN)
    here.follow(here.page.get_by_role("button", name="Unlock"))
    live(here)
    here.follow(here.page.get_by_role("link", name=f"Edit {PACKING[1]}"))
    here.follow(here.page.get_by_role("button", name="Remove item"))
    live(here)
    expect(row(here, PACKING[1])).to_have_count(0)
    looked_at(here, "undo")
    here.follow(here.page.get_by_role("button", name="Undo"))
    live(here)
    expect(here.page.locator("#contents .row-name").nth(1)).to_have_text(PACKING[1])
    here.open("/shareables")
    expect(here.page.get_by_role("heading", name="On this device")).to_be_visible()
    looked_at(here, "on-this-device")
    here.follow(here.page.get_by_role("button", name="Forget Campfire packing list"))
    expect(here.page.get_by_role("link", name="Campfire packing list")).to_have_count(0)
    expect(here.page.get_by_role("link", name="A very long question")).to_be_visible()
