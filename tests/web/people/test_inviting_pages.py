"""Pages that ask for an address say that nothing is sent, give a link, and never tell whether it has an account."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from potluck.apps.journal.app import JournalApp
from potluck.apps.library.app import LibraryApp
from potluck.apps.shopping.app import ShoppingApp
from tests.web.suites import ask, bearer, data, signed_up, suite_on

Where = Callable[[httpx.AsyncClient, Any], Awaitable[tuple[str, str, str]]]
"""The page with the form, the address it posts to, and the name of the field."""


async def to_a_family(client: httpx.AsyncClient, ada: Any) -> tuple[str, str, str]:
    family = data(await ask(client, "POST", "/families", {"name": "Home"}, by=ada), 201)["familyId"]
    return f"/shopping/{family}/members", f"/shopping/{family}/invitations", "email"


async def as_a_coach(client: httpx.AsyncClient, ada: Any) -> tuple[str, str, str]:
    return "/journal/coaches", "/journal/coaches/ask", "coachEmail"


async def as_an_athlete(client: httpx.AsyncClient, ada: Any) -> tuple[str, str, str]:
    return "/journal/athletes", "/journal/athletes/ask", "athleteEmail"


async def to_a_library(client: httpx.AsyncClient, ada: Any) -> tuple[str, str, str]:
    library = data(await ask(client, "POST", "/libraries", {"libraryName": "Living room"}, by=ada), 201)["libraryId"]
    return f"/library/{library}/shares", f"/library/{library}/shares", "email"


APPS = [ShoppingApp, JournalApp, LibraryApp]


@pytest.mark.parametrize("where", [to_a_family, as_a_coach, as_an_athlete, to_a_library])
async def test_a_page_that_invites_says_that_nothing_is_sent_and_gives_a_link_to_pass_on(tmp_path, where):
    async with suite_on(tmp_path, APPS) as (client, _):
        ada, ben = await signed_up(client), await signed_up(client, "ben@example.org", "Ben")
        by = bearer(ada) | {"accept": "text/html"}
        page, form, field = await where(client, ada)
        before = (await client.get(page, headers=by)).text
        assert "We never send e-mail. You get a link to pass on yourself." in before
        answers = []
        for email in (ben["email"], "nobody@example.org"):
            sent = {field: email} | ({"role": "member"} if where is to_a_family else {})
            made = await client.post(form, data=sent, headers=by)
            assert made.status_code == 200, made.text
            assert "We didn’t send this link, and can’t show it again" in made.text
            (link,) = set(re.findall(r'data-copy="([^"]+)"', made.text))
            assert re.fullmatch(r"http://testserver/invitation#pli_[\w-]+", link)
            assert re.findall(r'data-share="([^"]+)" data-share-title="[^"]+"', made.text) == [link]
            assert "js/page.js" in made.text
            answers.append(without_what_differs(made.text, link, email))
            await withdrawn(client, ada, made.text, by)
        assert answers[0] == answers[1], "nobody learns whether the address has an account"


def without_what_differs(text: str, link: str, email: str) -> str:
    secret = link.partition("#")[2]
    for each in (secret, email, email.replace("@", "%40")):
        text = text.replace(each, "")
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", text)


async def withdrawn(client: httpx.AsyncClient, ada: Any, text: str, by: dict[str, str]) -> None:
    """Ends the invitation, so that the next page lists as many."""
    stop = re.search(r'action="(/library/[^"]+/shares/stop)"><input type="hidden" name="email" value="([^"]+)"', text)
    if stop is not None:
        assert (await client.post(stop[1], data={"email": stop[2]}, headers=by)).status_code == 303
        return
    found = re.findall(r'action="([^"]+/withdraw)"', text)
    assert len(found) == 1
    assert (await client.post(found[0], headers=by)).status_code == 303
    # The flash message: with a cookie, requests would have to name their origin.
    client.cookies.clear()
