"""Coming, being here and leaving, in a real browser."""

import json
import os
import subprocess
import zipfile

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import open_visit
from tests.e2e.coming_in import PASSWORD, join, newcomer, send, sign_in
from tests.e2e.toys import Toy
from tests.processes import POTLUCK

pytestmark = pytest.mark.needs("chromium", "axe-core")

ANOTHER = "battery staple"


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def send_by(seen, name):
    """Press a button that leads to another page, up to where that one is there."""
    seen.follow(seen.page.get_by_role("button", name=name, exact=True))


@pytest.mark.parametrize("screen", ["phone", "desk"])
def test_a_person_comes_stays_and_leaves(visit, screen, tmp_path):
    seen = visit("/", screen, accept_downloads=True, permissions=["clipboard-read", "clipboard-write"])
    page, email = seen.page, newcomer()

    # sign up, wrong first
    page.get_by_role("link", name="Create an account").click()
    seen.expected = "status of 422"
    page.get_by_label("E-mail").fill("mara")
    page.get_by_label("Password", exact=True).fill("short")
    press(page, "Create account")
    page.get_by_text("Please enter an e-mail address").wait_for()
    expect(page.get_by_label("E-mail")).to_be_focused()
    assert page.get_by_label("E-mail").input_value() == "mara"
    assert page.get_by_label("Password", exact=True).input_value() == ""
    seen.picture("sign-up-wrong")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(page, "Show password")
    assert page.get_by_label("Password", exact=True).get_attribute("type") == "text"
    page.get_by_label("Your name").fill("Mara Okafor")
    press(page, "Create account")
    page.get_by_role("heading", name="Mara Okafor").wait_for()
    page.wait_for_load_state()
    assert page.get_by_role("heading", level=1).inner_text() != "Hello, Mara Okafor" or _before_dawn(page)

    # out, and in again with a wrong password first
    page.get_by_role("link", name="Mara Okafor, your account").click()
    press(page, "Sign out")
    page.get_by_role("link", name="Sign in").first.click()
    seen.expected = "status of 401"
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill("wrong password")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("The e-mail address or the password is wrong").wait_for()
    assert page.get_by_label("E-mail").input_value() == email
    assert page.get_by_label("Password", exact=True).input_value() == ""
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{seen.address}/")

    # another name, in place
    seen.follow(page.get_by_role("link", name="Mara Okafor, your account"))
    page.evaluate("window.stayed = true")
    page.get_by_role("textbox", name="Your name").fill("Mara")
    press(page, "Change name")
    page.get_by_text("People now see you as Mara.").wait_for()
    assert page.evaluate("window.stayed") is True
    expect(page.locator(".done", has_text="People now see you as Mara.")).to_be_focused()

    # a token, made, copied and revoked
    page.get_by_label("Token name").fill("Kitchen display")
    press(page, "Create token")
    token = page.locator(".pass code").inner_text()
    assert token.startswith("plt_")
    seen.picture_of("#tokens", "token")
    press(page, "Copy: Kitchen display")
    page.get_by_text("Token copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == token
    bearer = {"authorization": f"Bearer {token}"}
    assert page.request.get(f"{seen.address}/api/v1/me", headers=bearer).json()["name"] == "Mara"
    page.once("dialog", lambda dialog: dialog.accept())
    press(page, "Revoke Kitchen display")
    page.get_by_text("Revoked. The token no longer works.").wait_for()
    assert page.request.get(f"{seen.address}/api/v1/me", headers=bearer).status == 401

    # everything, taken along
    with page.expect_download() as coming:
        press(page, "Download everything")
    page.get_by_text("Saved to your downloads").wait_for()
    coming.value.save_as(tmp_path / "everything.zip")
    with zipfile.ZipFile(tmp_path / "everything.zip") as file:
        assert file.testzip() is None
        assert email in file.read("people.json").decode()
        assert json.loads(file.read("manifest.json"))

    # and gone
    seen.follow(page.get_by_role("link", name="Delete account"))
    seen.expected = "status of 403"
    page.get_by_label("Your password").fill("wrong password")
    page.get_by_label("I’m sure: delete everything").check()
    press(page, "Delete account")
    page.get_by_text("The password is wrong").wait_for()
    assert page.get_by_label("I’m sure: delete everything").is_checked()
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Delete account")
    page.get_by_role("heading", name="Your account is deleted").wait_for()
    assert page.context.cookies() == []
    seen.expected = "status of 401"
    answer = page.request.post(f"{seen.address}/api/v1/sessions", data={"email": email, "password": PASSWORD})
    assert answer.status == 401


def _before_dawn(page):
    return page.evaluate("new Date().getHours()") < 5


def test_another_password_or_address_puts_every_other_browser_out(visit):
    here, there = visit("/"), visit("/", "desk")
    email = join(here)
    sign_in(there, email)
    there.open("/account")
    here.open("/account")
    page = here.page
    page.locator("summary", has_text="Change password").click()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill(ANOTHER)
    press(page, "Change password")
    page.get_by_text("You’re signed out everywhere else.").wait_for()
    there.open("/account")
    assert there.page.url.endswith("/sign-in?next=/account")
    page.get_by_text("You’re not signed in anywhere else.").wait_for()

    fresh = newcomer()
    sign_in(there, email, ANOTHER)
    page.locator("summary", has_text="Change e-mail").click()
    page.get_by_label("New e-mail").fill(fresh)
    page.locator("#email-password").fill(ANOTHER)
    press(page, "Change e-mail")
    page.get_by_text(f"Your e-mail is now {fresh}.").wait_for()
    there.open("/account")
    assert there.page.url.endswith("/sign-in?next=/account")

    # Signed in there again, under the new address; the page here lists both, and ends the other.
    sign_in(there, fresh, ANOTHER)
    here.open("/account")
    press(page, "Sign out everywhere else")
    page.get_by_text("You’re now signed in only on this device.").wait_for()
    there.open("/account")
    assert there.page.url.endswith("/sign-in?next=/account")


def test_a_name_that_changed_in_two_windows_shows_both(visit):
    here, there = visit("/"), visit("/")
    sign_in(there, join(here))
    for window in (here, there):
        window.open("/account")
    here.page.get_by_role("textbox", name="Your name").fill("Mara here")
    press(here.page, "Change name")
    here.page.get_by_text("People now see you as Mara here.").wait_for()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Mara here")
    expect(here.page.get_by_role("link", name="Mara here, your account")).to_have_count(1)
    there.expected = "status of 409"
    there.page.get_by_role("textbox", name="Your name").fill("Mara there")
    press(there.page, "Change name")
    expect(there.page.get_by_role("heading", name="You also changed your name")).to_be_focused()
    assert there.violations() == []
    there.picture_of("#name", "name-twice")
    there.page.get_by_role("radio", name="Mara there").check()
    press(there.page, "Save")
    there.page.get_by_text("People now see you as Mara there.").wait_for()


def test_who_was_signed_out_elsewhere_is_told_so_where_they_press_a_button(visit):
    """The page does not lose the piece that was to change; it says what happened, and leads to where one signs in."""
    here, there = visit("/"), visit("/")
    email = join(here)
    sign_in(there, email)
    for window in (here, there):
        window.open("/account")
    press(there.page, "Sign out everywhere else")
    there.page.get_by_text("You’re now signed in only on this device.").wait_for()
    here.expected = "status of 401"
    here.page.get_by_role("textbox", name="Your name").fill("Mara here")
    press(here.page, "Change name")
    here.page.get_by_role("heading", name="You’re not signed in").wait_for()
    here.page.locator("main").get_by_role("link", name="Sign in").click()
    here.page.get_by_role("heading", name="Sign in").wait_for()


# --- links with secrets ----------------------------------------------------------------------------------------------


def asked_for(seen):
    """Every address that the window asks for from now on."""
    asked = []
    seen.page.on("request", lambda request: asked.append(request.url))
    return asked


def test_a_link_with_a_secret_leaves_no_trace_of_it(visit):
    seen = visit("/")
    asked = asked_for(seen)
    secret = "plr_" + "0123456789abcdef" * 4
    seen.page.goto(f"{seen.address}/reset#{secret}")
    field = seen.page.locator("input[name=token]")
    seen.page.locator("[data-from-link]").wait_for(state="hidden")
    assert field.input_value() == secret
    assert seen.page.url == f"{seen.address}/reset"
    seen.expected = "status of 410"
    seen.page.get_by_label("New password").fill(ANOTHER)
    press(seen.page, "Set password")
    # It was never one; the field is there, to try another.
    seen.page.get_by_text("This link is not valid, or no longer").wait_for()
    expect(field).to_be_visible()

    seen.page.goto(f"{seen.address}/invitation#pli_{'0' * 64}")
    seen.page.get_by_text("This invitation is not valid, or no longer").wait_for()
    assert seen.page.url == f"{seen.address}/invitation"
    assert [url for url in asked if "plr_" in url.partition("#")[0] or "pli_" in url.partition("#")[0]] == []


def test_who_is_invited_sees_to_what_signs_up_and_comes_back(visit):
    here, there = visit("/"), visit("/", "desk")
    join(here, "Ida")
    here.open(send(here, "/notes", name="Campfire"))
    press(here.page, "Invite somebody")
    link = here.page.locator(".copyable code").inner_text()
    there.page.goto(there.address + link)
    there.page.get_by_role("heading", name="Campfire").wait_for()
    there.page.wait_for_load_state()
    assert there.page.url == f"{there.address}/invitation"
    assert there.violations() == []
    there.picture("invited")
    there.page.get_by_role("link", name="Create an account").click()
    there.page.get_by_label("Your name").fill("Mara")
    there.page.get_by_label("E-mail").fill(newcomer())
    there.page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(there.page, "Create account")
    press(there.page, "Join")
    there.page.get_by_role("heading", name="Campfire").wait_for()
    there.page.get_by_label("Add a note").first.fill("Guitar")
    there.page.keyboard.press("Enter")
    there.page.locator(".row-name", has_text="Guitar").wait_for()


def test_the_operators_links_let_one_in_and_back_in(browser, tmp_path):
    environment = {"POTLUCK_REGISTRATION": "invited"}

    def told(toy, *command):
        asked = [*POTLUCK, *command, "--data", str(toy.folder)]
        kept = {**os.environ, **environment, "POTLUCK_ORIGIN": toy.address}
        return subprocess.run(asked, env=kept, check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    email = newcomer()
    with Toy(tmp_path, **environment) as toy, open_visit(browser, toy.address) as seen:
        page = seen.page
        page.goto(told(toy, "invite"))
        page.get_by_label("Your name").fill("Mara")
        assert page.get_by_label("Invitation").is_hidden()
        page.get_by_label("E-mail").fill(email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        press(page, "Create account")
        page.get_by_role("heading", name="Mara").wait_for()
        # Forgotten, a while later.
        page.goto(told(toy, "reset-password", email))
        page.get_by_label("New password").fill(ANOTHER)
        press(page, "Set password")
        page.get_by_text("Your new password is set. Sign in with it.").wait_for()
        page.get_by_label("E-mail").fill(email)
        page.get_by_label("Password", exact=True).fill(ANOTHER)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Mara").wait_for()


def test_without_scripts_everything_is_a_form_and_secrets_are_copied_by_hand(visit):
    seen = visit("/sign-up", java_script_enabled=False)
    page, email = seen.page, newcomer()
    page.get_by_label("Your name").fill("Mara Okafor")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    send_by(seen, "Create account")
    page.get_by_role("heading", name="Hello, Mara Okafor").wait_for()
    seen.open("/account")
    page.get_by_role("textbox", name="Your name").fill("Mara")
    send_by(seen, "Change name")
    expect(page.get_by_text("People now see you as Mara.")).to_be_visible()
    page.get_by_label("Token name").fill("Script")
    send_by(seen, "Create token")
    assert page.locator(".pass code").inner_text().startswith("plt_")
    send_by(seen, "Revoke Script")
    expect(page.get_by_text("Revoked.")).to_be_visible()
    with page.expect_download() as coming:
        press(page, "Download everything")
    assert coming.value.suggested_filename.endswith(".zip")
    send_by(seen, "Sign out")
    seen.expected = "status of 410"
    seen.open("/reset")
    page.get_by_label("Code").fill("plr_" + "0" * 64)
    page.get_by_label("New password").fill(ANOTHER)
    seen.expected = "status of 410"
    send_by(seen, "Set password")
    expect(page.get_by_text("This link is not valid, or no longer")).to_be_visible()


# --- by keyboard alone -----------------------------------------------------------------------------------------------


def reach(page, selector, most=60):
    """Press Tab until this has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def test_a_keyboard_is_enough(visit):
    seen = visit("/sign-up", "desk")
    page, email = seen.page, newcomer()
    page.keyboard.type(email)
    for field, text, presses in (("password", PASSWORD, 1), ("name", "Mara Okafor", 2)):
        reach(page, f"input[name={field}]", presses)
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{seen.address}/")
    reach(page, ".me a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/account")
    reach(page, "#name-field")
    page.keyboard.press("Control+A")
    page.keyboard.type("Mara")
    page.keyboard.press("Enter")
    # The focus is on what was said, and goes on from there.
    expect(page.locator(".done", has_text="People now see you as Mara.")).to_be_focused()
    reach(page, "#password summary")
    page.keyboard.press("Enter")
    reach(page, "#current", 1)
    page.keyboard.type(PASSWORD)
    reach(page, "#new", 2)
    page.keyboard.type(ANOTHER)
    page.keyboard.press("Enter")
    expect(page.locator(".done", has_text="Your new password is set.")).to_be_focused()
    reach(page, "#token-name")
    page.keyboard.type("Script")
    page.keyboard.press("Enter")
    expect(page.locator("[autofocus]", has=page.locator(".pass code"))).to_be_focused()
    page.once("dialog", lambda dialog: dialog.accept())
    reach(page, "#tokens .danger")
    page.keyboard.press("Enter")
    expect(page.locator(".done", has_text="Revoked.")).to_be_focused()
    reach(page, "#leave a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/delete")
    reach(page, "#password")
    page.keyboard.type(ANOTHER)
    reach(page, ".tick", 2)
    page.keyboard.press("Space")
    reach(page, "button.danger", 1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/goodbye")


# --- what waits at home ----------------------------------------------------------------------------------------------


def test_home_greets_by_the_persons_own_clock(visit):
    seen = visit("/", timezone_id="Pacific/Auckland")
    join(seen)
    seen.page.clock.set_fixed_time("2026-11-13T07:30:00Z")
    seen.open("/")
    seen.page.get_by_role("heading", name="Good evening, Mara Okafor").wait_for()
    send(seen, "/notes", name="Campfire")
    seen.open("/")
    assert seen.page.get_by_text("1 thing is waiting for you.").is_visible()
    seen.page.get_by_role("navigation", name="Your apps").get_by_role("link", name="Notes").click()
    seen.page.wait_for_url("**/notes")
