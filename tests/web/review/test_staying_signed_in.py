"""A browser that is used stays signed in for as long as its session does, which is longer with every use."""

import re

from tests.people.assembly import PASSWORD
from tests.web.suites import client_at

DAY = 24 * 3600
FORM = {"sec-fetch-site": "same-origin"}


async def test_the_cookie_outlasts_a_session_that_is_used(doors):
    """The session is 30 days from its last use: a cookie of 30 days from the first would end before it."""
    await doors.join()
    async with client_at(doors.application) as browser:
        signed_in = await browser.post(
            "/sign-in", data={"email": "ada@example.org", "password": PASSWORD}, headers=FORM
        )
        (cookie,) = signed_in.headers.get_list("set-cookie")
        (kept,) = re.findall(r"max-age=([0-9]+)", cookie, re.IGNORECASE)
        assert int(kept) > 300 * DAY
        for _ in range(12):
            doors.clock.forward(days=29)
            assert (await browser.get("/account")).status_code == 200
        doors.clock.forward(days=31)
        assert (await browser.get("/account")).status_code == 303
