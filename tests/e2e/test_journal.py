"""The journal in a browser: written on a phone, read by a coach, drawn, asked, and left behind by nobody."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.browsing import Visit
from tests.e2e.coming_in import FROM_HERE, join, send, sign_in
from tests.e2e.gyms import GymServer
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.needs("chromium", "axe-core")

SECRET = "Knee again after the third round"
METRICS = {"durationMinutes": 90, "intensity": 7, "rounds": 6, "giOrNoGi": "gi", "tags": ["half guard"]}


@pytest.fixture(scope="module")
def gym(tmp_path_factory) -> Iterator[GymServer]:
    with GymServer(tmp_path_factory.mktemp("gym")) as gym:
        yield gym


@pytest.fixture
def window(visit, gym):
    return lambda path, *args, **options: visit(path, *args, at=gym.address, **options)


def call(visit: Visit, method: str, path: str, body: Any = None) -> Any:
    """Ask the JSON door as this window's person, where the typing is not what is looked at."""
    answer = visit.page.request.fetch(
        f"{visit.address}/api/v1/journal{path}", method=method, data=body, headers=FROM_HERE
    )
    assert answer.ok, answer.text()
    return answer.json() if answer.body() else None


def trained(visit: Visit, weeks: int = 12) -> None:
    """Some weeks of training, up to yesterday."""
    for day in range(weeks * 7, 0, -3):
        when = datetime.now(UTC) - timedelta(days=day)
        metrics = METRICS | {
            "durationMinutes": 60 + 15 * (day // 3 % 4),
            "intensity": 4 + day // 3 % 6,
            "giOrNoGi": ("gi", "no-gi", "both")[day // 3 % 3],
            "tags": [("half guard", "open mat", "takedowns")[day // 3 % 3]],
        }
        said = {"shared": f"Session {day}. Lost the underhook, left side.", "private": SECRET if day % 2 else ""}
        call(visit, "POST", "/entries", {"sections": said, "sessionMetrics": metrics, "date": when.isoformat()})


def looked_at(seen: Visit, name: str = "", shown_in: str = "light") -> None:
    """For everyone, in both themes, also on a very narrow phone; and kept as a picture."""
    for theme, only in (("dark", None), ("light", "color-contrast")):
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert seen.violations(only=only) == [], name
        if name and theme == shown_in:
            seen.picture_of("body", f"journal-{name}-{theme}")
    seen.page.emulate_media(reduced_motion="no-preference")
    size = seen.page.viewport_size
    seen.page.set_viewport_size({"width": 320, "height": 640})
    assert seen.overflow() == 0, name
    assert overlapping(seen) == [], name
    seen.page.set_viewport_size(size)
    assert seen.overflow() == 0
    seen.check()


def overlapping(seen: Visit) -> list[str]:
    """What can be touched and lies over something else that can."""
    return seen.page.evaluate(
        """() => {
          const aside = ".ask-box, .save-bar.stays, details:not([open])";
          const shown = (each) => each.checkVisibility() && !each.closest(aside);
          const all = [...document.querySelectorAll("main :is(a, button, input, textarea, select)")].filter(shown);
          const boxes = all.map((each) => [each, each.getBoundingClientRect()]);
          const found = [];
          for (const [one, a] of boxes)
            for (const [other, b] of boxes)
              if (one !== other && !one.contains(other) && !other.contains(one) && a.width > 1 && b.width > 1
                && a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom
                && !one.closest(".find") && !other.closest(".stepper"))
                found.push(`${one.outerHTML.slice(0, 80)} over ${other.outerHTML.slice(0, 80)}`);
          return found;
        }"""
    )


def stepper(visit: Visit, name: str) -> Locator:
    return visit.page.get_by_role("group", name=name)


def is_kept(visit: Visit, words: str) -> None:
    """The draft on this device has these words: the page said that it keeps one when the first were typed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while words not in visit.page.evaluate(
        """async () => {
          const { src } = document.querySelector("script[src$='/entry-form.js']");
          const { load } = await import(new URL("drafts.js", src));
          const { keyOf } = await import(new URL("sealing.js", src));
          const key = await keyOf(document.getElementById("entry-form").dataset.draftKey);
          return JSON.stringify(await load("new", key));
        }"""
    ):
        assert time.monotonic() < deadline, words
        visit.page.wait_for_timeout(20)


def stored(visit: Visit) -> str:
    """All that this browser keeps in its storage."""
    return visit.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")


def test_an_entry_is_written_on_a_phone_and_a_draft_survives_a_reload(window):
    phone = window("/", timezone_id="Europe/Lisbon")
    email = join(phone)
    page = phone.page
    phone.open("/journal")
    looked_at(phone, "first")
    # How hard it was is for the person to say; nothing of what was typed is lost when that is forgotten.
    stepper(phone, "Time on the mat").get_by_role("button", name="more").tap()
    page.get_by_role("textbox", name="Shared").fill("Kept half guard.")
    phone.expected = "status of 422"
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    expect(page.get_by_text("Choose how hard it was")).to_be_visible()
    looked_at(phone, "refused")
    page.get_by_role("radio", name="7", exact=True).check()
    page.get_by_placeholder("Another tag").fill("Half guard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="Half guard")).to_be_checked()
    page.get_by_role("textbox", name="Private").fill(f"{SECRET}. ")
    page.get_by_role("textbox", name="Private").press_sequentially("Did not say.")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    is_kept(phone, "Did not say.")
    # Sealed: whoever looks into the browser reads nothing.
    assert "potluck-draft-journal-" in stored(phone)
    for word in (SECRET, "Kept half guard"):
        assert word not in stored(phone)
    phone.open("/journal")
    expect(page.get_by_text("Draft from")).to_be_visible()
    expect(page.get_by_role("textbox", name="Private")).to_have_value(f"{SECRET}. Did not say.")
    expect(page.get_by_role("radio", name="7", exact=True)).to_be_checked()
    expect(page.get_by_role("checkbox", name="Half guard")).to_be_checked()
    expect(stepper(phone, "Time on the mat").locator("input")).to_have_value("65")
    looked_at(phone, "draft")
    # Offline the entry waits on the device, and is sent as soon as there is a network.
    page.context.set_offline(True)
    page.get_by_role("button", name="Save entry").tap()
    expect(page.get_by_text("1 entry isn’t sent yet.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Private")).to_have_value("")
    page.context.set_offline(False)
    expect(page.get_by_text("Entry saved.")).to_be_visible()
    phone.without_network()
    phone.open("/journal/entries")
    expect(page.get_by_role("heading", name="This week")).to_be_visible()
    assert "potluck-draft" not in stored(phone)
    # The device said where it is.
    assert call(phone, "GET", "/profile")["timeZone"] == "Europe/Lisbon"
    looked_at(phone, "timeline-first")

    phone.follow(page.get_by_role("link", name="65 min"), by="tap")
    expect(page.get_by_text("Only you")).to_be_visible()
    looked_at(phone, "entry-own")
    phone.follow(page.get_by_role("link", name="Edit entry"), by="tap")
    looked_at(phone, "edit")
    entry = call(phone, "GET", "/entries")["items"][0]
    elsewhere = {"version": 1, "sections": {"shared": "Changed on the laptop."}}
    call(phone, "PATCH", f"/entries/{entry['entryId']}", elsewhere)
    page.get_by_role("textbox", name="Shared").fill("Kept half guard against the bigger ones.")
    phone.expected = "status of 409"
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    expect(page.get_by_text("Changed on the laptop.")).to_be_visible()
    looked_at(phone, "clash")
    page.get_by_role("radio", name="Yours").check()
    phone.follow(page.get_by_role("button", name="Save", exact=True), by="tap")
    expect(page.get_by_text("Kept half guard against the bigger ones.")).to_be_visible()
    assert "potluck-draft" not in stored(phone)

    # On a shared device: who signs out is told of the draft, and takes it along.
    phone.open("/journal")
    page.get_by_role("textbox", name="Private").fill("Mine alone")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    phone.open("/account")
    page.get_by_role("button", name="Sign out", exact=True).tap()
    expect(page.get_by_text("1 change isn’t sent yet")).to_be_visible()
    phone.follow(page.get_by_role("button", name="Sign out anyway"), by="tap")
    assert "potluck-draft" not in stored(phone)
    # A session that ended without that leaves only bytes that open for nobody else.
    sign_in(phone, email)
    phone.open("/journal")
    page.get_by_role("textbox", name="Private").fill("Mine alone")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    send(phone, "/sign-out")
    join(phone, "Noor Haddad")
    phone.open("/journal")
    expect(page.get_by_role("textbox", name="Private")).to_have_value("")
    assert "Mine alone" not in stored(phone)
    sign_in(phone, email)
    phone.open("/journal")
    expect(page.get_by_role("textbox", name="Private")).to_have_value("Mine alone")
    page.get_by_role("button", name="Start over").tap()
    expect(page.get_by_role("textbox", name="Private")).to_have_value("")
    expect(page.locator("[data-draft-said]")).to_have_text("")
    assert f"potluck-draft-journal-{page.locator('body').get_attribute('data-person')}" not in stored(phone)


def test_what_was_refused_and_what_is_typed_after_it_survive(window):
    phone = window("/", timezone_id="Europe/Berlin")
    join(phone)
    page = phone.page
    phone.open("/journal")
    shared, private = (page.get_by_role("textbox", name=name) for name in ("Shared", "Private"))
    shared.fill("Kept half guard.")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    phone.forgiven += ["status of 422"]
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    expect(page.get_by_text("Choose how hard it was")).to_be_visible()
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    # What was refused is kept, though nothing was typed since.
    phone.open("/journal")
    expect(shared).to_have_value("Kept half guard.")
    # What is typed after a refusal survives a reload of that page, which sends the form again.
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    private.fill("Typed after the refusal")
    is_kept(phone, "Typed after the refusal")
    page.reload()
    expect(page.get_by_text("Draft from")).to_be_visible()
    expect(private).to_have_value("Typed after the refusal")
    expect(shared).to_have_value("Kept half guard.")
    page.get_by_role("radio", name="7", exact=True).check()
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    phone.without_network()
    expect(page.get_by_text("Entry saved.")).to_be_visible()
    assert "potluck-draft" not in stored(phone)

    # Of an edit that was begun before the entry was changed elsewhere, nothing is thrown away either.
    entry = call(phone, "GET", "/entries")["items"][0]
    phone.open(f"/journal/entries/{entry['entryId']}/edit")
    shared.fill("Typed on the train")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    call(phone, "PATCH", f"/entries/{entry['entryId']}", {"version": 1, "sections": {"shared": "From the laptop."}})
    phone.open(f"/journal/entries/{entry['entryId']}/edit")
    expect(page.get_by_text("The saved version has changed since then")).to_be_visible()
    expect(shared).to_have_value("Typed on the train")
    phone.expected = "status of 409"
    phone.follow(page.get_by_role("button", name="Save entry"), by="tap")
    expect(page.get_by_text("From the laptop.")).to_be_visible()
    page.get_by_role("radio", name="Yours").check()
    phone.follow(page.get_by_role("button", name="Save", exact=True), by="tap")
    expect(page.get_by_text("Typed on the train")).to_be_visible()
    assert "potluck-draft" not in stored(phone)


def test_a_comment_being_typed_survives_a_reload_and_a_refusal(window):
    phone = window("/", timezone_id="Europe/Berlin")
    join(phone)
    page = phone.page
    entry = call(phone, "POST", "/entries", {"sections": {"shared": "Guard"}, "sessionMetrics": METRICS})
    address = f"/journal/entries/{entry['entryId']}"
    phone.open(address)
    comment = page.get_by_role("textbox", name="Your comment")
    comment.fill("Hips first")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    assert "Hips first" not in stored(phone)
    page.reload()
    expect(comment).to_have_value("Hips first")
    comment.fill("x" * 4001)
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    phone.expected = "status of 422"
    phone.follow(page.get_by_role("button", name="Add comment"), by="tap")
    expect(page.get_by_text("Please write 1 to 4,000 characters.")).to_be_visible()
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    phone.open(address)
    expect(comment).to_have_value("x" * 4001)
    comment.fill("Hips first, then the grip")
    phone.follow(page.get_by_role("button", name="Add comment"), by="tap")
    expect(page.get_by_text("Comment added.")).to_be_visible()
    expect(comment).to_have_value("")
    assert "potluck-draft" not in stored(phone)
    phone.follow(page.get_by_role("link", name="Edit", exact=True), by="tap")
    field = page.get_by_role("textbox", name="Your comment")
    field.fill("Hips, then grip")
    expect(page.get_by_text("Draft kept on this device")).to_be_visible()
    page.reload()
    expect(field).to_have_value("Hips, then grip")
    phone.follow(page.get_by_role("button", name="Save comment"), by="tap")
    expect(page.get_by_text("Comment saved.")).to_be_visible()
    assert "potluck-draft" not in stored(phone)


def test_the_device_says_the_time_zone_of_someone_who_linked_first(window):
    coach = window("/", timezone_id="America/New_York")
    join(coach)
    athlete = window("/", timezone_id="Europe/Berlin")
    join(athlete)
    made = call(athlete, "POST", "/links", {"coachEmail": "coach@example.org"})
    answer = coach.page.request.fetch(
        f"{coach.address}/api/v1/invitations/accept", method="POST", data={"token": made["token"]}, headers=FROM_HERE
    )
    assert answer.ok
    page = athlete.page
    athlete.open("/journal")
    page.get_by_text("Another day or time").tap()
    expect(page.get_by_text("Times are in Europe/Berlin.")).to_be_visible()
    page.get_by_label("Date and time").fill("2024-07-01T23:30")
    page.get_by_role("radio", name="7", exact=True).check()
    athlete.follow(page.get_by_role("button", name="Save entry"), by="tap")
    assert call(athlete, "GET", "/entries")["items"][0]["date"] == "2024-07-01T21:30:00.000Z"
    assert call(athlete, "GET", "/profile")["timeZone"] == "Europe/Berlin"
    # A coach who never writes an entry has one, too.
    coach.open("/journal/athletes")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while call(coach, "GET", "/profile")["timeZone"] != "America/New_York":
        assert time.monotonic() < deadline
        coach.page.wait_for_timeout(50)


def test_a_coach_is_linked_comments_and_is_hidden(window):
    athlete = window("/")
    join(athlete)
    trained(athlete, 3)
    athlete.open("/journal/coaches")
    looked_at(athlete, "coaches-none")
    athlete.page.get_by_label("E-mail").fill("renzo@example.org")
    athlete.follow(athlete.page.get_by_role("button", name="Invite"), by="tap")
    link = athlete.page.locator(".link-shown code").inner_text()
    looked_at(athlete, "coaches-link")

    coach = window("/", "desk")
    join(coach, "Renzo Alves")
    coach.page.goto(link, wait_until="load")
    come_in = coach.page.get_by_role("button", name="Join")
    # The link has sent itself, and its page is not the one that is waited for.
    come_in.wait_for()
    coach.follow(come_in)
    expect(coach.page.get_by_role("heading", name="Your athletes")).to_be_visible()
    looked_at(coach, "athletes")
    coach.follow(coach.page.get_by_role("link", name="Mara Okafor"))
    assert SECRET not in coach.page.content()
    looked_at(coach, "athlete")
    hears_what_is_shared(coach, athlete)
    coach.page.get_by_role("searchbox").fill("knee")
    coach.page.keyboard.press("Enter")
    expect(coach.page.get_by_text("No entry or comment has those words")).to_be_visible()
    coach.page.get_by_role("searchbox").fill("underhook")
    coach.page.keyboard.press("Enter")
    expect(coach.page.locator("mark").first).to_have_text("underhook")
    coach.follow(coach.page.locator(".entry-link").first)
    path = coach.page.url.removeprefix(coach.address)
    assert SECRET not in coach.page.content()

    athlete.open("/journal/entries")
    athlete.live()
    coach.live()
    coach.page.get_by_label("Your comment").fill("Hips first.")
    coach.follow(coach.page.get_by_role("button", name="Add comment"))
    looked_at(coach, "entry-coach")
    # It is on the athlete's phone at once, and new until looked at.
    expect(athlete.page.get_by_text("1 new comment")).to_be_visible()
    looked_at(athlete, "timeline-new")
    with athlete.page.expect_response(re.compile("/seen$")):
        athlete.open(path)
    athlete.live()
    assert call(athlete, "GET", path.removeprefix("/journal"))["newComments"] == 0
    expect(athlete.page.get_by_text("Hips first.")).to_be_visible()
    athlete.follow(athlete.page.get_by_role("button", name="Hide"), by="tap")
    expect(athlete.page.get_by_text("Hidden by you. Renzo Alves and you still see it.")).to_be_visible()
    looked_at(athlete, "comment-hidden", "dark")
    expect(coach.page.get_by_text("The athlete has hidden this.")).to_be_visible()
    coach.follow(coach.page.get_by_role("link", name="Edit"))
    looked_at(coach, "comment-edit")
    coach.page.get_by_label("Your comment").fill("Hips first, always.")
    coach.follow(coach.page.get_by_role("button", name="Save"))
    expect(athlete.page.get_by_text("Hips first, always.")).to_be_visible()

    athletes = f"/journal/athletes/{call(athlete, 'GET', '/profile')['userId']}"
    coach.open(f"{athletes}/stats")
    looked_at(coach, "athlete-stats")
    coach.open(athletes)
    coach.live()
    athlete.open("/journal/coaches")
    looked_at(athlete, "coaches")
    athlete.page.get_by_text("Stop sharing with Renzo Alves").tap()
    athlete.follow(athlete.page.get_by_role("button", name="Stop sharing", exact=True), by="tap")
    # Nothing of it stays on the screen.
    expect(coach.page.get_by_text("This is no longer shared with you.")).to_be_visible()
    expect(coach.page.get_by_text("No athletes yet")).to_be_visible()
    coach.page.goto(coach.address + path)
    expect(coach.page.get_by_text("Hips first")).to_have_count(0)
    # Nor does an entry stay that its athlete has deleted in another window.
    athlete.open(path)
    athlete.live()
    call(athlete, "DELETE", path.removeprefix("/journal"))
    expect(athlete.page.get_by_role("heading", name="Not found")).to_be_visible()
    for each in (athlete, coach):
        each.forgive("status of 40")


def hears_what_is_shared(coach: Visit, athlete: Visit) -> None:
    """What the athlete writes comes onto the coach's page by itself; of what is private, not even that it changed."""
    coach.live()
    read_again: list[str] = []
    coach.page.on("response", lambda answer: read_again.append(answer.url) if answer.url == coach.page.url else None)
    (first, *_) = call(athlete, "GET", "/entries")["items"]
    private = {"version": first["version"], "sections": {"private": f"{SECRET}, and worse."}}
    call(athlete, "PATCH", f"/entries/{first['entryId']}", private)
    new = {"sections": {"shared": "While you look."}, "sessionMetrics": METRICS}
    entry = call(athlete, "POST", "/entries", new)
    row = coach.page.locator(".entry-row", has_text="While you look.")
    expect(row.get_by_text("new", exact=True)).to_be_visible()
    expect(coach.page.get_by_role("heading", name="This week")).to_be_visible()
    assert len(read_again) == 1
    call(athlete, "DELETE", f"/entries/{entry['entryId']}")
    expect(row).to_have_count(0)
    coach.live()


def test_a_year_is_drawn_found_and_asked(window):
    phone = window("/")
    join(phone)
    trained(phone)
    page = phone.page
    phone.open("/journal/stats")
    for said in ("Hours by week: 26 weeks", "How hard, on average by week"):
        expect(page.get_by_role("img", name=re.compile(said))).to_be_visible()
    expect(page.get_by_role("grid", name=re.compile("Training by day, .*: 28 days with training"))).to_be_visible()
    page.get_by_text("Show as a table").first.click()
    expect(page.get_by_role("region", name="Days, as a table").get_by_role("row")).to_have_count(29)
    looked_at(phone, "stats")
    phone.follow(page.get_by_role("link", name="A year", exact=True), by="tap")
    expect(page.get_by_role("heading", name="Hours per month")).to_be_visible()
    expect(page.get_by_role("grid", name=re.compile("Training by day"))).to_have_count(2)
    looked_at(phone, "stats-year", "dark")
    # A day opens, touched or by keyboard: three days ago, by way of the week before.
    day = page.locator("[data-day]:not(.h0)").last
    phone.follow(day, by="tap")
    expect(page.locator(".entry-row")).to_have_count(1)
    page.go_back()
    last = (datetime.now(UTC) - timedelta(days=3)).date()
    today = page.locator("[data-days] [tabindex='0']").last
    today.focus()
    for key in ("Home", "End", "ArrowLeft", *["ArrowUp"] * 3, "ArrowRight"):
        page.keyboard.press(key)
    focused = page.locator("[data-day]:focus")
    expect(focused).to_have_accessible_name(re.compile(f"{last:%A} {last.day} {last:%B}: 1 session, .* load"))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"from={last}&to={last}")
    phone.follow(page.get_by_role("link", name=re.compile("Tap to remove")), by="tap")
    phone.follow(page.get_by_role("link", name="No-gi", exact=True), by="tap")
    expect(page.locator(".entry-facts", has_text=re.compile("Gi$"))).to_have_count(0)
    page.get_by_role("searchbox").fill("knee")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator(".pocket mark").first).to_have_text("Knee")
    looked_at(phone, "search")
    phone.open("/journal/entries")
    more = page.get_by_role("link", name=re.compile("^Show "))
    weeks = page.locator("#weeks > section").count()
    more.tap()
    expect(page.locator("#weeks > section")).not_to_have_count(weeks)
    looked_at(phone, "timeline")
    # What is shown stays shown when something changes, and all of it is brought up to date.
    phone.live()
    weeks = page.locator("#weeks > section").count()
    oldest = call(phone, "GET", "/entries?limit=100")["items"][-1]
    page.locator("#weeks .entry-link").last.focus()
    call(phone, "PATCH", f"/entries/{oldest['entryId']}", {"version": 1, "sections": {"shared": "Elsewhere."}})
    expect(page.locator("#weeks .entry-link").last).to_contain_text("Elsewhere.")
    expect(page.locator("#weeks .entry-link").last).to_be_focused()
    expect(page.locator("#weeks > section")).to_have_count(weeks)

    phone.open("/journal/ask")
    looked_at(phone, "ask")
    page.get_by_role("button", name="How many hours in March?").tap()
    expect(page.get_by_label("Your question")).to_have_value("How many hours in March?")
    page.get_by_label("Your question").fill("When do I lose the underhook?")
    phone.follow(page.get_by_role("button", name="Ask", exact=True), by="tap")
    expect(page.get_by_text("Answered on this server. Quotes are word for word.")).to_be_visible()
    page.get_by_role("link", name="Citation 2").tap()
    cited = page.locator("details.cite").nth(1)
    expect(cited.locator("mark")).to_have_text(re.compile("Lost the underhook, left side."))
    looked_at(phone, "thread")
    page.get_by_placeholder("Ask about your training").fill("Anything about wristlocks?")
    phone.follow(page.get_by_role("button", name="Ask", exact=True), by="tap")
    expect(page.get_by_text("Nothing in the entries matches “wristlocks”.")).to_be_visible()
    cited.locator("summary").tap()
    phone.follow(cited.get_by_role("link", name="Open entry"), by="tap")
    expect(page.get_by_text("Lost the underhook, left side.")).to_be_visible()


def test_a_journal_is_taken_along_and_taken_in(window, tmp_path):
    desk = window("/", "desk")
    join(desk)
    trained(desk, 1)
    desk.open("/journal/settings")
    looked_at(desk, "settings")
    with desk.page.expect_download() as coming:
        desk.page.get_by_role("button", name="Export journal").click()
    file = tmp_path / "journal.json"
    coming.value.save_as(file)
    expect(desk.page.get_by_text("Saved to your downloads")).to_be_visible()
    other = window("/", "phone")
    join(other, "Ida Berg")
    other.open("/journal/settings/import")
    looked_at(other, "import")
    other.expected = "status of 422"
    no_journal = {"name": "a.json", "mimeType": "application/json", "buffer": b"{}"}
    other.page.get_by_label("Journal file", exact=True).set_input_files(no_journal)
    expect(other.page.get_by_text("This file is not a journal export.")).to_be_visible()
    other.expected = "status of 4"
    cut_off = {"name": "journal.json", "mimeType": "application/json", "buffer": file.read_bytes()[:-100]}
    other.page.get_by_label("Journal file", exact=True).set_input_files(cut_off)
    expect(other.page.get_by_text("The file is cut off: it ends in the middle of entry")).to_be_visible()
    other.page.get_by_label("Journal file", exact=True).set_input_files(file)
    expect(other.page.get_by_role("heading", name="Mara Okafor’s journal")).to_be_visible()
    looked_at(other, "import-preview")
    assert call(other, "GET", "/entries")["items"] == []
    other.page.get_by_role("button", name="Import journal").tap()
    expect(other.page.get_by_text("Import finished")).to_be_visible()
    other.follow(other.page.get_by_role("link", name="Open timeline"), by="tap")
    expect(other.page.locator(".entry-row")).to_have_count(3)
