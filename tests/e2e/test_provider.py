"""Coming and going with an identity provider, in a real browser: no policy of a page is in the way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import open_visit
from tests.e2e.coming_in import PASSWORD, join
from tests.e2e.toys import Toy
from tests.identity_provider.signing_in import SECRET, provider
from tests.references import free_port

pytestmark = pytest.mark.needs("chromium", "axe-core", "oidc-provider")


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[tuple[str, str]]:
    """Where Potluck is, and the provider."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    with provider(origin) as issuer:
        toy = Toy(
            tmp_path_factory.mktemp("with-provider"),
            POTLUCK_ORIGIN=origin,
            POTLUCK_OIDC_ISSUER=issuer,
            POTLUCK_OIDC_CLIENT_ID="potluck",
            POTLUCK_OIDC_CLIENT_SECRET=SECRET,
            POTLUCK_OIDC_NAME="Our provider",
        )
        toy.port = port
        with toy:
            yield origin, issuer


def at_provider(page, who):
    page.get_by_label("Who are you?").fill(who)
    page.get_by_role("button", name="Sign in").click()


def test_a_person_comes_with_the_provider_confirms_and_leaves(browser, served):
    (origin, issuer), who = served, "ada"
    with open_visit(browser, origin) as seen:
        seen.elsewhere_too = issuer
        page = seen.page
        seen.open("/sign-in?next=/account")
        assert seen.violations() == []
        assert seen.squeezed() == []
        seen.picture("provider-sign-in")

        # there and back, and a seat for someone new
        page.get_by_role("button", name="Sign in with Our provider").click()
        at_provider(page, who)
        page.get_by_role("heading", name="Create an account").wait_for()
        assert seen.violations() == []
        assert seen.squeezed() == []
        seen.picture("provider-new-seat")
        page.get_by_role("button", name="Create account").click()
        page.wait_for_url(f"{origin}/account")
        expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
        assert seen.violations() == []
        seen.picture("provider-account", full_page=True)

        # a fresh sign-in takes the place of a password
        page.get_by_text("Change e-mail").click()
        page.locator("#email").get_by_role("button", name="Confirm with Our provider").click()
        at_provider(page, who)
        page.wait_for_url(f"{origin}/account#email")
        page.get_by_label("New e-mail").fill(f"{who}@example.com")
        assert seen.violations() == []
        seen.picture_of("#email", "provider-confirmed")
        page.get_by_role("button", name="Change e-mail").click()
        page.get_by_text(f"Your e-mail is now {who}@example.com").wait_for()

        # out, here and perhaps there
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(f"{origin}/signed-out")
        assert seen.violations() == []
        seen.picture("provider-signed-out")
        page.get_by_role("link", name="Sign out of Our provider").click()
        page.wait_for_url(f"{issuer}/session/end**")


def test_a_person_with_a_password_links_the_provider_and_comes_in_with_it(browser, served):
    origin, issuer = served
    with open_visit(browser, origin) as seen:
        seen.elsewhere_too = issuer
        page = seen.page
        join(seen, "Cleo of old")
        seen.open("/account")
        page.get_by_text("Link Our provider").click()
        page.locator("#link-password").fill(PASSWORD)
        assert seen.violations() == []
        seen.picture_of("#identities", "provider-linking")
        page.get_by_role("button", name="Link my Our provider account").click()
        at_provider(page, "cleo")
        page.get_by_text("Linked. You can now sign in with Our provider.").wait_for()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(f"{origin}/")
        seen.open("/sign-in")
        # The provider remembers them, and asks nothing.
        page.get_by_role("button", name="Sign in with Our provider").click()
        page.wait_for_url(f"{origin}/")
        page.get_by_role("link", name="Cleo of old, your account").wait_for()
