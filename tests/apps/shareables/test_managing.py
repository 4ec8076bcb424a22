"""The way to the admin passcode, from every page that a viewer sees."""

import pytest

from tests.apps.shareables.doors import ADMIN, VIEW
from tests.apps.shareables.test_pages import posted, shown
from tests.web.reading import BROWSER


async def managed(browser, path, page):
    """Follow "Manage" from this page and enter the admin passcode: the page of the list or poll as an admin sees it."""
    assert f'href="{path}/manage"' in await shown(browser, f"{path}{page}")
    assert "Enter the admin passcode" in await shown(browser, f"{path}/manage")
    answer = await posted(browser, f"{path}/manage", passcode=ADMIN)
    assert answer.headers["location"] == path
    return await shown(browser, path)


@pytest.mark.parametrize(("kind", "page"), [("list", ""), ("poll", ""), ("poll", "/results")])
async def test_an_open_list_or_poll_leads_its_admin_to_the_passcode(calls, kind, page):
    made = await (calls.made if kind == "list" else calls.poll)(adminPasscode=ADMIN)
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as browser:
        assert f'href="{path}/delete"' in await managed(browser, path, page)
        # An admin has no use for it.
        assert f'href="{path}/manage"' not in await shown(browser, f"{path}{page}")
        assert (await browser.get(f"{path}/manage", headers=BROWSER)).headers["location"] == path


async def test_a_viewer_becomes_an_admin_without_forgetting_the_view_passcode_first(calls):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as browser:
        await posted(browser, f"{path}/unlock", passcode=VIEW)
        refused = await posted(browser, f"{path}/manage", 403, passcode=VIEW)
        assert "That’s the view passcode. Enter the admin passcode." in refused.text
        assert (
            "That’s not the admin passcode. You have 4 tries left"
            in (await posted(browser, f"{path}/manage", 401, passcode="no")).text
        )
        # Whatever was tried, they still see the list.
        assert "Tents" in await shown(browser, path)
        assert f'href="{path}/manage"' in await shown(browser, f"{path}/edit", 403)
        assert f'href="{path}/delete"' in await managed(browser, path, "")


async def test_an_admin_reaches_an_expired_list(calls):
    made = await calls.made(adminPasscode=ADMIN)
    path = f"/shareables/{made['shortId']}"
    calls.clock.forward(days=31)
    async with calls.from_address("192.0.2.1") as browser:
        assert f'href="{path}/manage"' in await shown(browser, path, 410)
        await posted(browser, f"{path}/manage", passcode=ADMIN)
        assert "Only admins can see this until" in await shown(browser, path)


@pytest.mark.parametrize("role", ["view", "admin"])
async def test_someone_whose_passcode_was_replaced_is_told_so(calls, role):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    told = "The passcode was changed. Ask for the new one."
    token = await calls.token(made, VIEW if role == "view" else ADMIN)
    async with calls.from_address("192.0.2.1") as browser:
        await posted(browser, f"{path}/unlock", passcode=VIEW if role == "view" else ADMIN)
        assert told not in await shown(browser, f"{path}/unlock")
        await calls.data("PUT", f"{path}/passcodes", {role: "another one"}, by=made["adminToken"])
        asked = await browser.get(path, headers=BROWSER)
        assert asked.headers["location"] == f"{path}/unlock"
        assert told in await shown(browser, f"{path}/unlock")
        refused = await calls.ask("GET", path, by=token)
        assert (refused.status_code, refused.json()["detail"]) == (401, told)
        await posted(browser, f"{path}/unlock", passcode="another one")
        assert told not in await shown(browser, f"{path}/unlock")
    # Someone who never gave a passcode is not told what happened to it.
    assert told not in (await calls.ask("GET", path)).text


async def test_an_admin_of_an_open_list_whose_passcode_was_replaced_is_told_so(calls):
    made = await calls.made(adminPasscode=ADMIN)
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as browser:
        await posted(browser, f"{path}/manage", passcode=ADMIN)
        await calls.data("PUT", f"{path}/passcodes", {"admin": "another one"}, by=made["adminToken"])
        assert "Tents" in await shown(browser, path)
        assert "The passcode was changed. Ask for the new one." in await shown(browser, f"{path}/manage")
        assert "The passcode was changed. Ask for the new one." in await shown(browser, f"{path}/edit", 401)
