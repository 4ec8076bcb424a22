"""Polls in a browser: making, sharing, voting by touch, by drag, by keyboard and without a script; results live."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.booths import Booth, MadePoll, Office
from tests.e2e.browsing import Visit, open_visit, until_gathered
from tests.e2e.coming_in import join, send

pytestmark = pytest.mark.needs("chromium", "axe-core")

SECONDS = 1000
HEBREW, ARABIC = "חופשה בים", "رحلة إلى الجبل"


@pytest.fixture(scope="module")
def booth(tmp_path_factory) -> Iterator[Booth]:
    with Booth(tmp_path_factory.mktemp("booth")) as booth:
        yield booth


@pytest.fixture(scope="module")
def office(browser, booth) -> Iterator[Office]:
    """Nobody's: a program without cookies."""
    context = browser.new_context()
    yield Office(context.request, booth.address)
    context.close()


@pytest.fixture(scope="module")
def club(office) -> MadePoll:
    """Many votes, for tests that only look."""
    return office.club(expiresAt="2099-06-01T18:00:00Z")


@pytest.fixture
def window(visit, booth):
    return lambda path, *args, **options: visit(path, *args, at=booth.address, **options)


def is_ranked(page: Page, *names: str) -> None:
    """The ballot has come to this; a tap is a click only a moment later."""
    expect(page.locator("#ranked .choice-name")).to_have_text(names, use_inner_text=True)


def is_own_ranking(page: Page, *names: str) -> None:
    expect(page.locator(".own-ranking li")).to_have_text(names, use_inner_text=True)


def opened_as_admin(visit: Visit, poll: MadePoll, path: str = "/manage") -> None:
    send(visit, f"{poll.page}/manage", key=poll.admin_key)
    visit.open(poll.page + path)


def looked_at(seen: Visit, name: str, *themes: str) -> None:
    """Pictures of the page, and what axe says of it: in both themes, if it is not said in which."""
    screen = seen.named.partition("-")[0]
    # In the second theme nothing but the colours is another.
    for theme, only in zip(themes or ("light", "dark"), (None, "color-contrast"), strict=False):
        # Without motion, so that no colour is met halfway.
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        seen.named = f"{screen}-{theme}"
        assert seen.violations(only=only) == []
        seen.picture(f"polls-{name}", full_page=True)
    seen.page.emulate_media(color_scheme="light")
    assert seen.overflow() == 0
    seen.check()


# --- from the question to the vote -----------------------------------------------------------------------------------


def test_a_poll_is_made_shared_and_voted_on_by_touch(window):
    seen = window("/polls/new")
    page = seen.page
    # The page is ready to be typed into.
    page.keyboard.type("Where does the club go in June?")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Options, one per line")).to_be_focused()
    page.get_by_label("Options, one per line").fill(
        f"Lake cabin | two hours by train\nMountain hut\n{HEBREW}\n{ARABIC}"
    )
    seen.follow(page.get_by_role("button", name="Create poll"), by="tap")
    page.get_by_role("heading", name="Your poll is ready").wait_for()
    # Shown once: the next look at the page has it no more.
    admin_link = page.locator(".copyable code").inner_text()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/polls/[0-9a-f-]{36}/manage#pla_[0-9a-f]{64}", admin_link)
    looked_at(seen, "share-fresh")
    page.reload()
    assert page.locator(".copyable").count() == 0
    seen.follow(page.get_by_role("link", name="Cast your vote"), by="tap")

    page.locator("#unranked .choice", has_text="Mountain hut").tap()
    page.locator("#unranked .choice", has_text=ARABIC).tap()
    page.locator("#unranked .choice", has_text="Lake cabin").tap()
    is_ranked(page, "Mountain hut", ARABIC, "Lake cabin")
    expect(page.get_by_role("status").filter(has_text="Lake cabin is now number 3 of 3.")).to_have_count(1)
    page.get_by_role("button", name=f"Remove {ARABIC} from your ranking").tap()
    page.get_by_role("button", name="Move Lake cabin up").tap()
    is_ranked(page, "Lake cabin", "Mountain hut")
    looked_at(seen, "ballot")
    seen.follow(page.get_by_role("button", name="Vote", exact=True), by="tap")
    page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()
    is_own_ranking(page, "Lake cabin", "Mountain hut")
    edit_link = page.locator(".copyable code").inner_text()
    assert "/mine#ple_" in edit_link
    looked_at(seen, "thanks")
    page.get_by_role("link", name="See results").tap()
    expect(page.locator(".winner-name")).to_have_text("Lake cabin")

    # The links open elsewhere what they opened here, and the key stays out of the address and of the history.
    elsewhere = window("/polls", "desk")
    elsewhere.page.goto(edit_link)
    elsewhere.page.get_by_role("button", name="Change vote").wait_for()
    elsewhere.page.wait_for_load_state()
    assert "#" not in elsewhere.page.url
    is_ranked(elsewhere.page, "Lake cabin", "Mountain hut")
    looked_at(elsewhere, "ballot-change", "light")
    elsewhere.page.get_by_role("button", name="Move Mountain hut up").click()
    elsewhere.page.get_by_role("button", name="Change vote").click()
    expect(elsewhere.page.locator("#toasts")).to_have_text("Your vote has been changed.")
    elsewhere.page.goto(admin_link)
    elsewhere.page.get_by_role("button", name="Close poll").wait_for()
    elsewhere.page.get_by_role("button", name="Recount votes").click()
    elsewhere.page.get_by_text("The recount matches: 1 vote").wait_for()
    elsewhere.follow(elsewhere.page.get_by_role("button", name="Close poll"))
    elsewhere.page.get_by_text("The poll is closed, and its results are final").wait_for()
    looked_at(elsewhere, "manage-closed")
    # Whoever comes to vote now sees what came of it.
    page.goto(page.url.removesuffix("/results"))
    expect(page.locator(".winner-name")).to_have_text("Mountain hut")
    expect(page.get_by_text("Final", exact=True)).to_have_count(1)


def test_a_vote_by_keyboard_alone(window, office):
    poll = office.poll()
    page = window(poll.page, "desk").page

    def tab_to(name: str) -> None:
        for _ in range(40):
            if page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''") == name:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never came to {name}")

    tab_to("Rank Seaside camp next")
    page.keyboard.press("Enter")
    # The next one has the focus: pressing on ranks on.
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    is_ranked(page, "Seaside camp", "City weekend", "Barbecue at home")
    page.locator("body").press("Home")
    tab_to("Move Barbecue at home up")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    is_ranked(page, "Barbecue at home", "Seaside camp", "City weekend")
    expect(page.locator("[data-announced]")).to_have_text("Barbecue at home is now number 1 of 3.")
    # Where it is at the end of its way, the button stays under the finger.
    assert page.evaluate("document.activeElement.getAttribute('aria-disabled')") == "true"
    page.keyboard.press("Delete")
    is_ranked(page, "Seaside camp", "City weekend")
    while (
        page.evaluate("document.activeElement.textContent.trim()") != "Vote"
        or page.evaluate("document.activeElement.tagName") != "BUTTON"
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()
    is_own_ranking(page, "Seaside camp", "City weekend")


def test_candidates_are_dragged_into_place(window, office):
    poll = office.poll()
    page = window(poll.page, "desk").page

    def drag(name: str, y: float) -> None:
        box = page.locator(".choice", has_text=name).locator(".place").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 30, (box["y"] + y) / 2, steps=4)
        page.mouse.move(box["x"] + 30, y, steps=4)
        page.mouse.up()

    def middle(selector: str) -> float:
        box = page.locator(selector).bounding_box()
        return float(box["y"] + box["height"] / 2)

    drag("City weekend", middle("[data-nothing]"))
    is_ranked(page, "City weekend")
    drag("Lake cabin", middle("#ranked .choice") - 25)
    is_ranked(page, "Lake cabin", "City weekend")
    drag("City weekend", middle("#ranked .choice:first-child") - 25)
    is_ranked(page, "City weekend", "Lake cabin")
    drag("City weekend", middle("#unranked .choice:last-child"))
    is_ranked(page, "Lake cabin")
    expect(page.locator("[data-announced]")).to_have_text("City weekend is not ranked.")
    page.get_by_role("button", name="Vote", exact=True).click()
    page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()
    is_own_ranking(page, "Lake cabin")


def test_a_finger_drags_by_the_grip_and_scrolls_elsewhere(window, office):
    poll = office.poll()
    page = window(poll.page).page
    for name in ("Lake cabin", "Mountain hut", "Seaside camp"):
        page.locator("#unranked .choice", has_text=name).tap()
    # What is measured below stays where it is.
    is_ranked(page, "Lake cabin", "Mountain hut", "Seaside camp")
    fingers = page.context.new_cdp_session(page)

    def slide(name: str, part: str, to: str) -> None:
        box = page.locator(".choice", has_text=name).locator(part).bounding_box()
        end = page.locator(".choice", has_text=to).bounding_box()["y"] + 4
        x, y = box["x"] + 20, box["y"] + box["height"] / 2
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for step in range(1, 6):
            now = y + (end - y) * step / 5
            fingers.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": now}]})
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    slide("Seaside camp", ".place", "Lake cabin")
    is_ranked(page, "Seaside camp", "Lake cabin", "Mountain hut")
    slide("Mountain hut", ".choice-main", "Seaside camp")
    is_ranked(page, "Seaside camp", "Lake cabin", "Mountain hut")


def test_without_a_script_numbers_say_the_same(window, office):
    poll = office.poll()
    seen = window(poll.page, java_script_enabled=False)
    page = seen.page
    seen.expected = "status of 422"
    page.get_by_label("Seaside camp", exact=True).select_option("1")
    page.get_by_label("Lake cabin", exact=True).select_option("1")
    page.get_by_role("button", name="Vote", exact=True).click()
    page.get_by_text("Lake cabin and Seaside camp have the same number, 1.").wait_for()
    page.get_by_label("Lake cabin", exact=True).select_option("2")
    page.get_by_role("button", name="Vote", exact=True).click()
    page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()
    is_own_ranking(page, "Seaside camp", "Lake cabin")
    page.get_by_role("link", name="See results").click()
    expect(page.locator(".winner-name")).to_have_text("Seaside camp")


# --- results ---------------------------------------------------------------------------------------------------------


def test_results_come_in_while_one_looks_at_a_round(window, office, club):
    poll = office.club()
    watching = window(f"{poll.page}/results?round=2", "desk")
    page = watching.page
    watching.live()
    page.get_by_text("How votes are counted").click()
    page.get_by_role("link", name="Round 3", exact=True).click()
    expect(page.locator("[aria-current=step]")).to_have_text("3")
    expect(page).to_have_url(re.compile(r"\?round=3$"))
    assert "City weekend" not in page.locator("#rounds .bars").first.inner_text()

    voting = window(poll.page)
    for name in ("Mountain hut", "Lake cabin"):
        voting.page.locator("#unranked .choice", has_text=name).tap()
    voting.page.get_by_role("button", name="Vote", exact=True).tap()
    voting.page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()
    expect(page.get_by_text("42 votes")).to_be_visible()
    for _ in range(3):
        office.vote(poll, 1)
    expect(page.get_by_text("45 votes")).to_be_visible()
    expect(page.locator(".winner-name")).to_have_text("Mountain hut")
    # Round and fold are as they were left.
    assert page.locator("[aria-current=step]").inner_text() == "3"
    assert page.locator(".lots").is_visible()
    watching.live()
    office.call("POST", f"{poll.api}/close", x_admin_key=poll.admin_key)
    expect(page.get_by_text("Final", exact=True)).to_be_visible()


def test_without_a_stream_the_results_are_read_again_and_the_label_says_when(window, office):
    poll = office.poll()
    office.vote(poll, 0)
    seen = window("/polls")
    seen.page.clock.install(time=datetime(2026, 6, 1, 11, 0, tzinfo=UTC))
    # However long the test takes, no more time goes by than it says.
    seen.page.clock.pause_at(datetime(2026, 6, 1, 12, 0, tzinfo=UTC))
    seen.page.route("**/results/events*", lambda route: route.abort())
    seen.open(f"{poll.page}/results")
    label = seen.page.locator("[data-live-badge]")
    # Until nothing was heard for half a minute, it may still come about.
    seen.page.clock.fast_forward(31 * SECONDS)
    expect(label).to_have_text("Updated 12:00")
    office.vote(poll, 1)
    # The page reads once, because its clock is paused.
    office.wait_for_count(poll, 2)
    seen.page.clock.fast_forward(5 * 60 * SECONDS)
    expect(seen.page.get_by_text("2 votes")).to_be_visible()
    expect(label).to_have_text("Updated 12:05")
    # A page that is left tries no more.
    seen.page.goto("about:blank")
    seen.without_network()


def test_the_rounds_are_stepped_through_by_keyboard(window, club):
    page = window(f"{club.page}/results").page
    expect(page.locator("[aria-current=step]")).to_have_text("1")
    assert page.locator("#rounds .sentence b").all_inner_texts()[0] == "Barbecue at home"
    page.get_by_role("link", name="Next round").focus()
    for number in ("2", "3", "4"):
        page.keyboard.press("Enter")
        expect(page.locator("[aria-current=step]")).to_have_text(number)
    assert page.locator("#rounds .sentence b").all_inner_texts() == ["Lake cabin", "Lake cabin"]


def test_the_deciding_round_and_the_closest_pairs_are_in_sight_on_a_phone(window, office):
    names = [f"Option {letter}" for letter in "ABCDEFGHIJKL"]
    poll = office.poll(names)
    # Each option has one vote more than the next, so that they leave one by one.
    for place in range(len(names)):
        for _ in range(len(names) - place):
            office.vote(poll, place)
    page = window(f"{poll.page}/results").page
    table = page.get_by_role("region", name="Votes by round, scrolls sideways")
    table.scroll_into_view_if_needed()
    box, last = table.bounding_box(), table.locator("thead th").last.bounding_box()
    assert last["x"] + last["width"] <= box["x"] + box["width"] + 1
    # The names stay in sight too.
    first = table.locator("tbody th").first.bounding_box()
    assert first["x"] >= box["x"] - 1
    pairs = page.get_by_role("region", name="Head to head, scrolls sideways")
    assert pairs.evaluate("region => region.scrollWidth - region.clientWidth") <= 1


def test_quick_taps_each_step_on(window, club):
    page = window(f"{club.page}/results").page
    page.get_by_text("As a table").tap()
    waiting = []
    page.route("**/results?round=*", lambda route: waiting.append(route))
    after = page.get_by_role("link", name="Next round")
    for _ in range(3):
        after.tap()
    until_gathered(page, waiting, 3)
    # Nobody waits any more for what the first two would have shown.
    waiting.pop().continue_()
    expect(page.locator("[aria-current=step]")).to_have_text("4")
    assert page.locator("#flow .moves").is_visible()


def in_seconds(seconds: int) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def test_everyone_sees_at_its_time_that_a_poll_is_closed_whichever_process_serves_them(window, visit, booth, office):
    poll = office.poll()
    office.vote(poll, 1, 0)
    with Booth(booth.folder) as other:
        seen = [window(f"{poll.page}/results"), visit(f"{poll.page}/results", at=other.address)]
        for each in seen:
            each.live()
            each.page.evaluate("window.sameAsBefore = true")
        # So late that it is in the future on a slow machine, too, when it is read.
        office.call("POST", f"{poll.api}/reopen", {"expiresAt": in_seconds(8)}, x_admin_key=poll.admin_key)
        for each in seen:
            expect(each.page.get_by_text("Final", exact=True)).to_be_visible()
            expect(each.page.get_by_text("Elected in round 1")).to_be_visible()
            assert each.page.evaluate("window.sameAsBefore")
        # Before its server stops, which the page would tell the console.
        seen[1].page.goto("about:blank")


def test_whoever_waits_for_results_that_are_shown_later_need_not_ask_again(window, office):
    poll = office.poll(expiresAt="2099-06-01T18:00:00Z", resultsVisibility="afterClose")
    seen = window("/polls")
    seen.page.clock.install(time=datetime(2099, 6, 1, 17, 59, 30, tzinfo=UTC))
    seen.open(f"{poll.page}/results", 403)
    seen.page.get_by_text("Results will show up here when the poll is closed.").wait_for()
    with seen.page.expect_request(f"**{poll.page}/results"):
        seen.page.clock.run_for(32 * SECONDS)


def test_a_poll_is_opened_again_until_a_time_by_the_person_s_own_clock(window, office):
    poll = office.poll()
    office.call("POST", f"{poll.api}/close", x_admin_key=poll.admin_key)
    seen = window("/polls", timezone_id="America/New_York")
    opened_as_admin(seen, poll)
    page = seen.page
    seen.expected = "status of 422"
    page.get_by_label("New closing date").fill("2020-06-01T18:00")
    # The page that comes takes what is typed next for what it had shown, until its script has run.
    seen.follow(page.get_by_role("button", name="Reopen poll"), by="tap")
    page.get_by_text("Choose a day and a time in the future.").wait_for()
    expect(page.get_by_label("New closing date")).to_have_value("2020-06-01T18:00")
    looked_at(seen, "manage-reopen-refused")
    page.get_by_label("New closing date").fill("2098-06-01T18:00")
    page.get_by_role("button", name="Reopen poll").tap()
    page.get_by_text("The poll is open again.").wait_for()
    found = office.call("GET", poll.api)
    assert (found["status"], found["expiresAt"]) == ("open", "2098-06-01T22:00:00.000Z")


def test_without_a_script_the_time_that_is_typed_is_the_one_that_counts(window, office):
    poll = office.poll(expiresAt="2098-06-01T18:00:30Z")
    seen = window("/polls", java_script_enabled=False)
    opened_as_admin(seen, poll, "/edit")
    seen.page.get_by_label("Closing date").fill("2098-07-01T10:00")
    seen.page.get_by_role("button", name="Save changes").click()
    seen.page.get_by_text("Poll saved.").wait_for()
    assert office.call("GET", poll.api)["expiresAt"] == "2098-07-01T10:00:00.000Z"
    scripted = window("/polls", timezone_id="America/New_York")
    opened_as_admin(scripted, poll, "/edit")
    expect(scripted.page.get_by_label("Closing date")).to_have_value("2098-07-01T06:00")
    scripted.page.get_by_label("Question").fill("And then?")
    scripted.page.get_by_role("button", name="Save changes").click()
    scripted.page.get_by_text("Poll saved.").wait_for()
    assert office.call("GET", poll.api)["expiresAt"] == "2098-07-01T10:00:00.000Z"


# --- every page ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(office, club) -> dict[str, str]:
    """Addresses of what visitors meet, by name."""
    one, three, none = office.poll(), office.poll(), office.poll(description="Vote before Friday, please.")
    office.vote(one, 1)
    for ballot in ((0, 1), (1, 0), (2,)):
        office.vote(three, *ballot)
    hundred = office.poll([f"Candidate number {number}" for number in range(1, 101)], "Who of a hundred?")
    for voter in range(60):
        office.vote(hundred, *((voter * 7 + step * step * 3) % 100 for step in (1, 2, 3, 5)))
    # Look-alikes for the eye, but other letters: a Latin and a Cyrillic one.
    names = (HEBREW, ARABIC, "Пирог", "Pирог", "日本料理", "👩‍🍳 Chef’s table", "Smörgåsbord, " + "long " * 17)
    mixed = office.poll(names, "مرحبا: where do we eat?", description="שורה אחת\nand another")
    for ballot in ((0, 1, 2), (1, 0), (1, 4), (6, 0), (2, 3, 0), (5, 6)):
        office.vote(mixed, *ballot)
    seats = office.club(seats=2)
    mixed_seats = office.poll(names, "Three of them?", seats=3)
    for ballot in ((6, 0), (6, 1), (6, 4), (6, 2), (6,), (0, 1, 2), (1, 0), (2, 3, 0), (5, 6, 4)):
        office.vote(mixed_seats, *ballot)
    hundred_seats = office.poll([f"Candidate number {number}" for number in range(1, 101)], "Twenty?", seats=20)
    for voter in range(60):
        office.vote(hundred_seats, *((voter * voter + step * 11) % 100 for step in range(1, 6)))
    secret = office.poll(resultsVisibility="afterClose")
    return {
        "polls": "/polls",
        "new": "/polls/new",
        "ballot-none": none.page,
        "share": f"{club.page}/share",
        "results": f"{club.page}/results",
        "results-round": f"{club.page}/results?round=2",
        "results-none": f"{none.page}/results",
        "results-one": f"{one.page}/results",
        "results-three": f"{three.page}/results",
        "results-hundred": f"{hundred.page}/results?round=3",
        "results-mixed": f"{mixed.page}/results",
        "results-seats": f"{seats.page}/results",
        "results-seats-mixed": f"{mixed_seats.page}/results?round=1",
        "results-seats-hundred": f"{hundred_seats.page}/results?round=1",
        "results-seats-scottish": f"{mixed_seats.page}/results?method=scottish-stv",
        "results-schulze": f"{club.page}/results?method=schulze",
        "results-pairs": f"{club.page}/results?method=ranked-pairs",
        "ballot-mixed": mixed.page,
        "ballot-hundred": hundred.page,
        "ballot-accounts": office.poll(voterPolicy="accounts").page,
        "ballot-codes": office.poll(voterPolicy="codes").page,
        "hidden": f"{secret.page}/results",
        "key": f"{club.page}/manage",
        "mine": f"{club.page}/mine",
    }


PAGES = ("polls", "new", "ballot-none", "share", "results", "hidden", "key", "mine")
# The same pages in other states: the layout is the same, so one window sees what is new in each.
STATES = {
    "results-round": ("desk", "dark"),
    "results-none": ("phone", "light"),
    "results-one": ("phone", "dark"),
    "results-three": ("phone", "light"),
    "results-hundred": ("phone", "light"),
    "results-mixed": ("phone", "dark"),
    "results-seats": ("phone", "light"),
    "results-seats-mixed": ("phone", "light"),
    "results-seats-hundred": ("phone", "dark"),
    "results-seats-scottish": ("phone", "light"),
    "results-schulze": ("desk", "light"),
    "results-pairs": ("desk", "dark"),
    "ballot-mixed": ("phone", "light"),
    "ballot-hundred": ("phone", "dark"),
    "ballot-accounts": ("phone", "light"),
    "ballot-codes": ("phone", "dark"),
}


@pytest.fixture(scope="module")
def kept_windows(browser, booth) -> Iterator[dict[str, Visit]]:
    with ExitStack() as opened:
        yield {
            screen: opened.enter_context(open_visit(browser, booth.address, screen))
            for screen in ("phone", "desk", "narrow")
        }


@pytest.mark.parametrize("screen", ["phone", "desk"])
@pytest.mark.parametrize("name", PAGES)
def test_what_visitors_meet_is_accessible_in_both_themes(kept_windows, everything, name, screen):
    kept_windows[screen].open(everything[name], 403 if name == "hidden" else 200)
    looked_at(kept_windows[screen], name)


@pytest.mark.parametrize(("name", "screen", "theme"), [(name, *window) for name, window in STATES.items()])
def test_every_state_of_a_page_is_accessible(kept_windows, everything, name, screen, theme):
    kept_windows[screen].open(everything[name])
    looked_at(kept_windows[screen], name, theme)


@pytest.mark.soak
@pytest.mark.parametrize("screen", ["phone", "desk"])
@pytest.mark.parametrize("name", STATES)
def test_every_state_of_a_page_is_accessible_in_every_window(kept_windows, everything, name, screen):
    kept_windows[screen].open(everything[name])
    looked_at(kept_windows[screen], name)


@pytest.mark.parametrize(
    "name", ["results", "results-hundred", "results-mixed", "results-seats-mixed", "ballot-mixed", "share", "new"]
)
def test_a_page_fits_narrow_windows(kept_windows, everything, name):
    kept_windows["narrow"].open(everything[name])
    assert kept_windows["narrow"].squeezed() == []
    assert name not in ("results", "share") or kept_windows["narrow"].buttons_on_paper() == []
    kept_windows["narrow"].picture(f"polls-{name}")


def test_whoever_made_polls_looks_after_them(window, office):
    seen = window("/polls")
    join(seen)
    seen.open("/polls")
    looked_at(seen, "own-none", "dark")
    made = send(seen, "/polls", title="What do we cook?", candidates="Soup\nStew", voterPolicy="codes")
    send(seen, "/polls", title="And when?", candidates="Friday\nSaturday")
    poll = made.removesuffix("/share")
    seen.open("/polls")
    # Both were made within a second, and newest first is to the second.
    assert sorted(seen.page.locator(".row-name").all_inner_texts()) == ["And when?", "What do we cook?"]
    looked_at(seen, "own")
    seen.open(f"{poll}/edit")
    looked_at(seen, "edit")
    seen.page.get_by_label("Options, one per line").fill("Soup\nsoup")
    seen.expected = "status of 422"
    seen.follow(seen.page.get_by_role("button", name="Save changes"))
    seen.page.get_by_text("“soup” looks like “Soup”: names must differ").wait_for()
    looked_at(seen, "edit-refused", "light")
    seen.page.get_by_label("Options, one per line").fill("Soup\nStew\nSalad")
    seen.page.get_by_role("button", name="Save changes").click()
    seen.page.get_by_text("Poll saved.").wait_for()
    seen.page.get_by_label("Number of codes").fill("4")
    seen.follow(seen.page.get_by_role("button", name="Create codes"))
    seen.page.get_by_text("4 codes, shown once").wait_for()
    code = seen.page.locator(".codes code").first.inner_text()
    looked_at(seen, "codes")

    guest = window(poll)
    guest.page.locator("#unranked .choice", has_text="Stew").tap()
    guest.page.get_by_label("Your code").fill("0000-0000-0000")
    guest.expected = "status of 403"
    guest.follow(guest.page.get_by_role("button", name="Vote", exact=True), by="tap")
    guest.page.get_by_text("This poll requires one of its codes").wait_for()
    # What was chosen is still there.
    is_ranked(guest.page, "Stew")
    looked_at(guest, "ballot-code-refused", "dark")
    guest.page.get_by_label("Your code").fill(code.lower())
    guest.page.get_by_role("button", name="Vote", exact=True).tap()
    guest.page.get_by_role("heading", name="Thanks, your vote has been counted").wait_for()

    seen.open(f"{poll}/edit")
    seen.page.get_by_text("Voting has started").wait_for()
    seen.open(f"{poll}/delete")
    looked_at(seen, "delete")
    seen.page.get_by_role("button", name="Delete poll").click()
    seen.page.wait_for_url("**/polls")
    expect(seen.page.locator("#toasts")).to_have_text("Poll and votes deleted.")
    assert seen.page.locator(".row-name").all_inner_texts() == ["And when?"]
