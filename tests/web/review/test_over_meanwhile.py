"""Whoever was signed out while they asked is shown nothing more of the account."""

import pytest

from potluck.people.errors import AccountGone, SessionOver
from potluck.web.assets import assets_of
from potluck.web.people.access import OwnAccount
from tests.people.assembly import PASSWORD
from tests.web.reading import BROWSER
from tests.web.suites import client_at

FORM = {"sec-fetch-site": "same-origin", **BROWSER}


async def test_a_form_that_came_too_late_does_not_show_the_account_again(doors, monkeypatch):
    await doors.join()
    forms = {
        "/account/name": {"name": "Eve", "version": "1"},
        "/account/email": {"email": "eve@example.org", "password": PASSWORD},
        "/account/password": {"current": PASSWORD, "new": "battery staple"},
        "/account/delete": {"password": PASSWORD, "sure": "on"},
    }
    async with client_at(doors.application) as browser:
        signed_in = {"email": "ada@example.org", "password": PASSWORD}
        assert (await browser.post("/sign-in", data=signed_in, headers=FORM)).status_code == 303
        for over in (SessionOver, AccountGone):
            for address, filled in forms.items():

                def refuse(*_, over=over, **__):
                    raise over

                monkeypatch.setattr(OwnAccount, "apply" if address == "/account/name" else "confirmed", refuse)
                answer = await browser.post(address, data=filled, headers=FORM)
                assert answer.status_code == 401, address
                assert "ada@example.org" not in answer.text, address


@pytest.mark.parametrize("signed_in", [True, False])
async def test_no_answer_is_kept_by_a_cache_unless_it_says_so(doors, signed_in):
    """An app may answer with anything: what says nothing about it is taken for somebody's own."""
    ada = await doors.join()
    by = {"authorization": f"Bearer {ada['token']}"} if signed_in else {}
    for address in ("/problems", "/problems/not-found", "/notes", "/nowhere", "/account"):
        answer = await doors.client.get(address, headers={**BROWSER, **by})
        assert answer.headers["cache-control"] == "no-store", address
    assert "max-age" in (await doors.client.get(assets_of([]).address("people.css"))).headers["cache-control"]
