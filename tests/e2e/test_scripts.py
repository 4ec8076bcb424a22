"""What the small scripts do, and what is left without them."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.browsing import until_gathered
from tests.e2e.coming_in import join

pytestmark = pytest.mark.needs("chromium", "axe-core")

SECONDS = 1000


def test_a_toast_leaves_after_eight_seconds(visit):
    seen = visit("/style")
    page = seen.page
    seen.stop_the_clock()
    page.reload()
    page.get_by_role("button", name="Show toast").click()
    toast = page.locator("#toasts .toast")
    page.clock.run_for(7 * SECONDS)
    assert toast.count() == 1
    page.mouse.move(0, 0)
    page.clock.run_for(2 * SECONDS)
    assert toast.count() == 0


def test_a_toast_waits_while_it_has_the_focus(visit):
    seen = visit("/style/shopping")
    page = seen.page
    seen.stop_the_clock()
    page.reload()
    page.get_by_role("button", name="Show toast").click()
    undo = page.locator("#toasts").get_by_role("button", name="Undo")
    undo.focus()
    page.clock.run_for(60 * SECONDS)
    assert undo.count() == 1
    seen.picture("toast")
    page.keyboard.press("Tab")
    page.clock.run_for(10 * SECONDS)
    assert undo.count() == 0


def test_a_chosen_theme_is_kept_and_does_not_flash(visit):
    seen = visit("/", theme="light")
    page = seen.page

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    page.get_by_role("radio", name="Dark").check(force=True)
    dark = ground()
    assert dark != light
    # Before the body is there, so before anything is drawn.
    page.add_init_script(
        """
        new MutationObserver(() => {
          if (document.body) window.first ??= document.documentElement.dataset.theme ?? "device";
        }).observe(document, { childList: true, subtree: true });
        """
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"
    assert ground() == dark
    assert page.get_by_role("radio", name="Dark").is_checked()
    assert page.locator("meta[name=theme-color][media=all]").get_attribute("content") == "#25201c"
    page.get_by_role("radio", name="Device").check(force=True)
    assert ground() == light
    assert page.evaluate("localStorage.length") == 0


def test_no_signal_is_said_and_taken_back(visit):
    seen = visit("/style/shopping")
    banner = seen.page.locator("#banners").get_by_text("You’re offline")
    seen.check()
    seen.page.context.set_offline(True)
    banner.wait_for()
    seen.picture("no-signal")
    seen.page.context.set_offline(False)
    banner.wait_for(state="detached")
    seen.without_network()


def test_copying_says_so(visit):
    page = visit("/style", permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("button", name="Copy link").click()
    page.locator("#toasts").get_by_text("Link copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "https://potluck.example/s/kfm-tre-40718"


def test_copying_works_where_browsers_offer_no_clipboard(visit):
    page = visit("/style").page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    page.get_by_role("button", name="Copy: View passcode").click()
    page.locator("#toasts").get_by_text("View passcode copied.").wait_for()
    assert page.evaluate("window.copied") == "ember-42"


def test_more_rows_come_in_place(visit):
    page = visit("/style").page
    rows = page.locator("#things > li")
    assert rows.count() == 3
    for expected in (6, 9):
        page.locator("#things-more").get_by_role("link", name="More").click()
        rows.nth(expected - 1).wait_for()
    page.locator("#things-more a").wait_for(state="detached")
    assert rows.count() == 9
    assert rows.last.inner_text() == "Butter"


def test_more_is_pressed_twice_and_comes_once(visit):
    page = visit("/style").page
    rows = page.locator("#things > li")
    with page.expect_response("**/style?page=2"):
        page.locator("#things-more a").evaluate("(link) => { for (let time = 0; time < 3; time += 1) link.click(); }")
    page.locator('#things-more a[href="/style?page=3"]').wait_for()
    page.wait_for_load_state("networkidle")
    assert rows.count() == 6


def test_a_form_that_is_under_way_is_not_sent_again_and_leaves_what_is_typed_meanwhile(visit):
    window = visit("/")
    join(window)
    window.open("/notes")
    page = window.page
    page.get_by_label("Open a book").first.fill("Kitchen")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notes/*")
    window.live()
    held: list[Route] = []
    page.route("**/notes/*/notes", lambda route: route.continue_() if held else held.append(route))
    field = page.get_by_label("Add a note").first
    field.fill("Lemons")
    for _ in range(3):
        page.keyboard.press("Enter")
    field.fill("Tomatoes")
    until_gathered(page, held)
    held[0].continue_()
    page.locator("#notes > li").first.wait_for()
    # The stream may bring the row before the answer does.
    page.locator("#adding:not([aria-busy])").wait_for()
    assert field.input_value() == "Tomatoes"
    page.keyboard.press("Enter")
    page.locator("#notes > li", has_text="Tomatoes").wait_for()
    assert sorted(page.locator("#notes > li .row-name").all_inner_texts()) == ["Lemons", "Tomatoes"]
    expect(field).to_have_value("")


def test_the_apps_are_one_fold_away_on_a_phone_and_in_a_row_on_a_desk(visit):
    phone = visit("/style/shopping")
    phone.page.locator("summary", has_text="Shopping").click()
    phone.picture("switch")
    menu = phone.page.locator(".switch ul").bounding_box()
    assert menu is not None
    assert menu["x"] + menu["width"] <= 390
    for leave in (lambda: phone.page.keyboard.press("Escape"), lambda: phone.page.mouse.click(385, 400)):
        leave()
        expect(phone.page.locator(".switch ul")).to_be_hidden()
        expect(phone.page.locator(".switch summary")).to_be_focused()
        phone.page.keyboard.press("Enter")
    phone.page.get_by_role("navigation", name="All apps").get_by_role("link", name="Polls").click()
    phone.page.wait_for_url("**/style/polls")
    desk = visit("/style/shopping", "desk").page
    assert desk.get_by_role("navigation", name="Apps", exact=True).get_by_role("link").all_inner_texts() == [
        "Shareables",
        "Shopping",
        "Journal",
        "Polls",
        "Library",
    ]
    assert desk.locator(".switch").is_hidden()


def test_without_scripts_forms_still_work_and_nothing_idle_is_shown(visit):
    seen = visit("/style", java_script_enabled=False)
    page = seen.page
    assert page.get_by_role("button", name="Copy link").is_hidden()
    assert page.locator(".theme").is_hidden()
    assert page.locator("input[name=parsley]").get_attribute("type") == "number"
    assert page.locator("input[name=parsley]").is_visible()
    page.get_by_role("link", name="More").click()
    page.wait_for_url("**/style?page=2")
    assert page.locator("#things > li").first.inner_text() == "Dish soap"
    seen.picture("without-scripts")
