"""An admin looks after people, in a real browser."""

import subprocess

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import SCREENS, keep_picture, open_visit
from tests.e2e.coming_in import PASSWORD, newcomer, send, sign_in
from tests.e2e.toys import Toy
from tests.processes import POTLUCK

pytestmark = pytest.mark.needs("chromium", "axe-core")


def people_command(folder, *arguments):
    ran = subprocess.run(
        [*POTLUCK, "people", *arguments, "--data", str(folder)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def register(seen, email, name):
    assert send(seen, "/sign-up", name=name, email=email, password=PASSWORD) == "/sign-in?done=waiting"


def press(seen, name):
    """Press a button that asks whether one is sure, up to where the next page is there."""
    seen.page.once("dialog", lambda dialog: dialog.accept())
    seen.follow(seen.page.get_by_role("button", name=name, exact=True))


def looked_at(seen, name):
    """The page is for everyone: on a desk in the dark, and then on the phone that everything is done with."""
    for screen, theme in (("desk", "dark"), ("phone", "light")):
        width, height = SCREENS[screen]
        seen.page.set_viewport_size({"width": width, "height": height})
        # Without motion the colours are there at once.
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert seen.violations() == []
        assert seen.squeezed() == []
        keep_picture(seen.page, f"{name}-{screen}-{theme}", full_page=True)


def test_an_admin_approves_disables_and_deletes(browser, tmp_path):
    folder = tmp_path / "data"
    ada, ben, eve = newcomer(), newcomer(), newcomer()
    with (
        Toy(folder, POTLUCK_REGISTRATION="approval") as toy,
        open_visit(browser, toy.address) as seen,
        open_visit(browser, toy.address) as bens,
    ):
        page = seen.page
        for email, name in ((ada, "Ada Lovelace"), (ben, "Ben Abara"), (eve, "Eve")):
            register(seen, email, name)
        people_command(folder, "approve", ada)
        assert "is an admin now" in people_command(folder, "promote", ada)

        # Ben has to wait, and is told so once the password is right.
        bens.open("/sign-in?done=waiting")
        bens.page.get_by_text("You can sign in once an admin has approved it.").wait_for()
        assert bens.violations() == []
        bens.expected = "status of 403"
        bens.page.get_by_label("E-mail").fill(ben)
        bens.page.get_by_label("Password", exact=True).fill(PASSWORD)
        bens.page.get_by_role("button", name="Sign in", exact=True).click()
        bens.page.get_by_role("alert").get_by_text("Your account is waiting for approval").wait_for()

        # Ada finds both, approves one and declines the other.
        sign_in(seen, ada)
        seen.open("/account")
        seen.follow(page.get_by_role("link", name="Manage people"))
        looked_at(seen, "people-waiting")
        seen.follow(page.get_by_role("button", name="Approve Ben Abara"))
        page.get_by_text("Account approved.").wait_for()
        seen.follow(page.locator("main").get_by_role("link", name="Eve"))
        looked_at(seen, "person-waiting")
        press(seen, "Decline account")
        page.get_by_text("Account declined and deleted.").wait_for()
        sign_in(bens, ben)

        # Ben is found, disabled and enabled again.
        page.get_by_role("textbox", name="Find someone").fill("ben")
        seen.follow(page.get_by_role("button", name="Search"))
        expect(page.get_by_role("link", name="Ada Lovelace")).to_have_count(1)
        seen.follow(page.get_by_role("link", name="Ben Abara"))
        looked_at(seen, "person")
        press(seen, "Disable account")
        page.get_by_text("Account disabled.").wait_for()
        looked_at(seen, "person-disabled")
        bens.open("/account")
        assert bens.page.url.endswith("/sign-in?next=/account")
        seen.follow(page.get_by_role("button", name="Enable account"))
        bens.open("/account")
        bens.page.get_by_role("heading", name="Ben Abara").wait_for()

        # The only admin stays one; with another one, the role can go.
        seen.open("/people")
        seen.follow(page.get_by_role("link", name="Ada Lovelace").last)
        # The server of the tests counts one admin more, who is nobody.
        looked_at(seen, "person-own")

        # A link for a new password, shown once.
        seen.open("/people?q=ben")
        seen.follow(page.get_by_role("link", name="Ben Abara"))
        seen.expected = "status of 403"
        page.get_by_label("Your password").fill("wrong password")
        page.get_by_role("button", name="Create link").click()
        page.get_by_text("The password is wrong").wait_for()
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Create link").click()
        link = page.locator(".link-shown").inner_text()
        assert link.startswith(f"{toy.address}/reset#plr_")
        assert "plr_" not in page.url
        looked_at(seen, "person-link")

        # And gone.
        seen.open("/people?q=ben")
        seen.follow(page.get_by_role("link", name="Ben Abara"))
        seen.follow(page.get_by_role("link", name="Delete account"))
        looked_at(seen, "person-delete")
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_label("I’m sure: delete this account").check()
        seen.follow(page.get_by_role("button", name="Delete account", exact=True))
        page.get_by_text("Account deleted.").wait_for()
        bens.open("/account")
        assert bens.page.url.endswith("/sign-in?next=/account")
        assert ben not in people_command(folder, "list")
