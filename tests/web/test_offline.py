"""What browsers save for when there is no network: pages that are declared, for the person that the response names."""

import json
import re
from collections.abc import AsyncIterator
from urllib.parse import urljoin

import httpx
import pytest

from potluck.suite import APPS
from potluck.web.http.application import Application
from tests.web.suites import bearer, signed_up, suite_on

PERSON, SAVED = "potluck-person", "potluck-offline"


@pytest.fixture
async def suite(tmp_path) -> AsyncIterator[tuple[httpx.AsyncClient, Application]]:
    async with suite_on(tmp_path, APPS) as (client, application):
        yield client, application


async def test_home_and_the_main_page_of_each_app_are_saved_for_who_is_signed_in(suite):
    client, _ = suite
    ada = await signed_up(client)
    for path in ("/", "/shareables", "/polls", "/library", "/journal"):
        page = await client.get(path, headers=bearer(ada))
        assert (page.headers[PERSON], page.headers["cache-control"]) == (ada["userId"], "no-store"), path
        assert 0 < int(page.headers[SAVED]) <= 30 * 24 * 3600


async def test_pages_with_secrets_and_refused_forms_are_not_saved(suite):
    client, _ = suite
    ada = await signed_up(client)
    for path in ("/account", "/account/delete", "/polls/new", "/library/sharing", "/sign-in", "/style", "/shopping"):
        assert SAVED not in (await client.get(path, headers=bearer(ada))).headers, path
    refused = await client.post("/library", data={"name": ""}, headers=bearer(ada))
    assert refused.status_code == 422
    assert SAVED not in refused.headers
    assert (await client.get("/sign-in")).headers[PERSON] == ""


async def test_everything_that_the_worker_caches_is_there_and_is_the_same_for_everyone(suite):
    client, _ = suite
    worker = await client.get("/worker.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert not re.search(r"^(im|ex)port ", worker.text, re.MULTILINE)
    known = json.loads(re.findall(r"const KNOWN = (.*);\n", worker.text)[0])
    assert known["shells"] == {"/shopping": "/shopping/offline"}
    ada = await signed_up(client)
    for page in (known["page"], *known["shells"].values()):
        shown = await client.get(page)
        assert PERSON not in shown.headers
        assert shown.text == (await client.get(page, headers=bearer(ada))).text
    for address in known["files"]:
        file = await client.get(address)
        assert file.status_code == 200, address
        for path in re.findall(r'(?:from|import) "(\.[^"]+)"', file.text if address.endswith(".js") else ""):
            assert urljoin(address, path) in known["files"]
    linked = re.findall(r'(?:src|href)="(/static/[^"#]+)', (await client.get(known["page"])).text)
    assert set(linked) <= set(known["files"])
