"""A device that two people share: page by page, what the second one finds of the first, and can change."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.e2e.booths import MadePoll, Office
from tests.e2e.browsing import NO_NETWORK, Visit
from tests.e2e.coming_in import join, send, sign_in
from tests.e2e.shops import Home, call
from tests.e2e.tables import Table

pytestmark = pytest.mark.needs("chromium", "axe-core")

MARA, CAKE, OWN = "Mara Okafor", "Surprise cake", "Mara asks"


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Iterator[Table]:
    with Table(tmp_path_factory.mktemp("table")) as table:
        yield table


class Device:
    """What Mara has done on it, and where it would be seen."""

    def __init__(self, visit: Visit, office: Office) -> None:
        self.visit, self.office = visit, office
        self.email = join(visit, MARA)
        self.home = Home(visit, call(visit, "POST", "/families", {"name": "Lund Street 7"})["familyId"])
        self.home.thing(CAKE)
        call(visit, "POST", "/me/tokens", {"name": "Kitchen display"})
        self.own = call(visit, "POST", "/polls", {"title": OWN, "candidates": ["Yes", "No"]})["id"]
        self.polls = [
            office.poll(["Cabin", "Hut"], title, resultsVisibility="afterVote", voterPolicy=policy)
            for title, policy in (("Of accounts", "accounts"), ("Of everybody", "open"))
        ]
        for poll in self.polls:
            visit.open(poll.page)
            send(visit, f"{poll.page}/vote", **{"rank-2": "1"})
            send(visit, f"{poll.page}/manage", key=poll.admin_key)
        self.pages = {
            "/": MARA,
            "/account": self.email,
            "/account/delete": self.email,
            "/shopping": CAKE,
            self.home.page: CAKE,
            f"{self.home.page}/list/{self.home.ids[CAKE]}": CAKE,
            f"{self.home.page}/inventory": "Lund Street 7",
            f"{self.home.page}/stores": "Lund Street 7",
            f"{self.home.page}/members": self.email.partition("@")[0],
            "/polls": OWN,
            f"/polls/{self.own}/manage": "Close the poll",
            f"/polls/{self.own}/edit": "Save",
            f"/polls/{self.own}/delete": "Delete poll",
            **{
                f"{poll.page}{path}": words
                for poll in self.polls
                for path, words in {
                    "": "You can change your vote while the poll is open.",
                    "/thanks": 'id="own"',
                    "/results": "Hut",
                    "/share": ">Manage<",
                    "/manage": "Close the poll",
                    "/delete": "Delete poll",
                }.items()
            },
        }

    def found(self) -> list[str]:
        """The pages that show what is hers, as the server makes them for this browser."""
        asked, html = self.visit.page.request, {"accept": "text/html"}
        return [
            path
            for path, words in self.pages.items()
            if words in asked.get(self.visit.address + path, headers=html).text()
        ]

    def tampered(self) -> None:
        """What a second person might send from the pages they can open."""
        request, here = self.visit.page.request, {"sec-fetch-site": "same-origin"}
        for poll in self.polls:
            for path, fields in {
                "vote/change": {"rank-1": "1"},
                "vote/withdraw": {},
                "close": {},
                "delete": {},
                "codes": {"count": "1"},
            }.items():
                request.post(f"{self.visit.address}{poll.page}/{path}", form=fields, headers=here, max_redirects=0)

    def votes(self) -> list[tuple[int, list[str], str]]:
        """How the polls stand."""

        def told(poll: MadePoll) -> Any:
            return self.office.call("GET", f"{poll.api}/results", X_Admin_Key=poll.admin_key)

        return [(each["votes"], each["winners"], each["status"]) for each in map(told, self.polls)]


def test_who_comes_next_finds_and_changes_nothing_of_the_one_before(visit, table, playwright_office):
    window = visit("/", at=table.address)
    device = Device(window, playwright_office(table.address))
    page = window.page
    window.open(device.home.page)
    window.until_kept()
    assert device.found() == list(device.pages)
    before = device.votes()
    assert before == [(1, ["Hut"], "live")] * 2
    # Another window of hers, and her account in this one.
    other = page.context.new_page()
    other.goto(window.address + device.home.page, wait_until="load")
    other.get_by_text(CAKE).first.wait_for()
    window.open("/account")
    page.get_by_text("Change password").first.click()
    window.picture_of("#password", "account-tokens-asked")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url(f"{window.address}/")
    # Neither stays open, nor comes back.
    other.wait_for_url(f"{window.address}/", wait_until="load")
    assert CAKE not in other.content()
    page.go_back(wait_until="load")
    assert device.email not in page.content()
    cached = page.evaluate(
        "(path) => fetch(path, { cache: 'force-cache' }).then((answer) => answer.status)",
        f"/api/v1{device.home.api}/shopping-list",
    )
    assert cached == 401
    kept = {each["name"]: each["value"] for each in page.context.cookies()}
    assert "potluck" not in kept
    assert not re.search("pl[a-z]_[0-9a-f]{64}", "".join(kept.values()))

    def nothing_is_here() -> None:
        assert device.found() == []
        # Drawn by its script, from what it keeps.
        page.goto(window.address + device.home.page, wait_until="load")
        assert CAKE not in page.content()
        device.tampered()
        assert device.votes() == before

    nothing_is_here()
    # In a window of its own, which is closed whatever the browser shows there.
    without_signal = page.context.new_page()
    page.context.set_offline(True)
    try:
        without_signal.goto(window.address + device.home.page)
    except PlaywrightError as nothing_opens:
        assert "ERR_INTERNET_DISCONNECTED" in str(nothing_opens)  # noqa: PT017
    else:
        without_signal.get_by_text("No list on this device yet").wait_for()
        assert CAKE not in without_signal.content()
    without_signal.close()
    page.context.set_offline(False)
    join(window, "Noor Haddad")
    nothing_is_here()
    # It is a ballot like any other to who comes next, and their own vote is theirs.
    window.page.goto(window.address + device.polls[0].page)
    window.picture("ballot-of-the-next-one")
    send(window, f"{device.polls[0].page}/vote", **{"rank-1": "1"})
    send(window, "/sign-out")
    # Who was there before finds what is hers again, where nobody has put their own in its place.
    sign_in(window, device.email)
    missing = set(device.pages) - set(device.found())
    assert missing <= {f"{device.polls[0].page}{path}" for path in ("", "/thanks")}
    other.close()
    # What a browser says of pages that are not there, or not theirs, or without a network.
    window.forgive(f"status of 40|{NO_NETWORK}")


@pytest.fixture
def playwright_office(visit):
    """The JSON door, asked by nobody who is at the device."""

    def made(address: str) -> Office:
        return Office(visit("/", at=address).page.request, address)

    return made
