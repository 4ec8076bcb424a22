"""The pages, as a browser without scripts uses them."""

import re

from tests.apps.shareables.doors import ADMIN, VIEW
from tests.web.reading import BROWSER
from tests.web.suites import PASSWORD

FROM_HERE = {**BROWSER, "sec-fetch-site": "same-origin"}


async def posted(browser, path, status=303, **fields):
    answer = await browser.post(path, data=fields, headers=FROM_HERE)
    assert answer.status_code == status, answer.text
    return answer


async def shown(browser, path, status=200):
    answer = await browser.get(path, headers=BROWSER)
    assert answer.status_code == status, (answer.status_code, answer.text)
    return answer.text


def id_on(card):
    return re.search(r'href="/shareables/([a-z]{3}-[a-z]{3}-[0-9]{5})"', card)[1]


async def test_a_list_is_laid_out_unlocked_ticked_and_looked_after(calls):
    async with calls.from_address("192.0.2.1") as maker, calls.from_address("192.0.2.2") as guest:
        assert "What goes on the table?" in await shown(maker, "/shareables/new")
        refused = await posted(maker, "/shareables", 422, entity="checklist", name="", lines="A")
        assert "Name must have 1 to 200 characters" in refused.text
        said = {"entity": "checklist", "name": "Fair", "lines": "Table\n\n Bunting \n", "days": "7"}
        card = (await posted(maker, "/shareables", 200, viewPasscode=VIEW, adminPasscode=ADMIN, **said)).text
        assert VIEW in card
        assert ADMIN in card
        path = f"/shareables/{id_on(card)}"
        page = await shown(maker, path)
        assert "Bunting" in page
        assert VIEW not in page
        assert ADMIN not in page

        # Somebody else types the id as they please, and is asked for the passcode.
        wrong = await posted(guest, "/shareables/open", 422, id="abc-def-123")
        assert "three letters, three letters and five digits" in wrong.text
        opened = await posted(guest, "/shareables/open", id=f"http://testserver{path.upper()}")
        assert opened.headers["location"] == path or opened.headers["location"] == f"/shareables/{path.rsplit('/')[-1]}"
        asked = await guest.get(path, headers=BROWSER)
        assert (asked.status_code, asked.headers["location"]) == (303, f"{path}/unlock")
        assert "Fair" not in await shown(guest, f"{path}/unlock")
        assert (
            "That is not one of the two passcodes" in (await posted(guest, f"{path}/unlock", 401, passcode="no")).text
        )
        await posted(guest, f"{path}/unlock", passcode=VIEW)
        page = await shown(guest, path)
        assert "Bunting" in page
        assert "Delete it now" not in page

        # They tick, and do nothing else.
        (table, bunting) = re.findall(rf'action="{path}/items/([0-9a-f-]+)/change"', page)
        await posted(guest, f"{path}/items/{table}/change", done="true")
        assert "1 of 2 done" in await shown(maker, path)
        await posted(guest, f"{path}/items/{table}/delete", 403)
        await posted(guest, f"{path}/settings", 403, name="Mine", version="1")

        await posted(maker, f"{path}/items", name="Lemonade")
        await posted(maker, f"{path}/items/{bunting}/move", by="-1")
        await posted(maker, f"{path}/items/{table}/delete")
        page = await shown(maker, path)
        assert page.index("Bunting") < page.index("Lemonade")
        assert "Table" not in page
        await posted(maker, f"{path}/settings", name="Summer fair", viewersCanTick="false", version="1")
        await posted(guest, f"{path}/items/{bunting}/change", 403, done="true")

        # With other passcodes the guest is out, and the maker is not.
        await posted(maker, f"{path}/passcodes", 422, view="x")
        await posted(maker, f"{path}/passcodes", view="another view", admin="another admin")
        assert "Summer fair" in await shown(maker, path)
        assert (await guest.get(path, headers=BROWSER)).headers["location"] == f"{path}/unlock"

        # When its time is over, viewers see that; the maker lays it out again, and takes this one away.
        await posted(guest, f"{path}/unlock", passcode="another view")
        calls.clock.forward(days=7)
        await posted(guest, f"{path}/unlock", passcode="another view")
        over = await shown(guest, path, 410)
        assert "This list has been cleared away" in over
        assert "Summer fair" not in over
        await posted(maker, f"{path}/unlock", passcode="another admin")
        assert "Kept until" in await shown(maker, path)
        clone = (await posted(maker, f"{path}/clone", 200, name="Winter fair", days="1", keepTicks="true")).text
        assert id_on(clone) not in path
        deleted = await posted(maker, f"{path}/delete")
        assert "It is gone" in await shown(maker, deleted.headers["location"])
        await shown(maker, path, 404)


async def test_whoever_leaves_is_out(calls):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as guest:
        await posted(guest, f"{path}/unlock", passcode=VIEW)
        cookie = guest.cookies.get("potluck-share", path=path)
        await shown(guest, path)
        await posted(guest, f"{path}/leave")
        assert (await guest.get(path, headers=BROWSER)).status_code == 303
        guest.cookies.set("potluck-share", cookie, path=path)
        assert (await guest.get(path, headers=BROWSER)).status_code == 303


async def test_a_poll_is_voted_in_once_by_each_browser(calls):
    made = await calls.poll("Lake", "Hut", name="Where to?")
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as guest:
        assert "Lake" in await shown(guest, path)
        await posted(guest, f"{path}/vote", **{"rank-1": "2", "rank-2": "1"})
        calls.clock.forward(seconds=5)
        assert "1 vote; ahead: <bdi>Hut</bdi>" in await shown(guest, path)
        again = await posted(guest, f"{path}/vote", 409, **{"rank-1": "1"})
        assert "You have voted in this poll already" in again.text


async def test_a_page_says_nothing_to_whoever_previews_its_link_or_searches_for_it(calls):
    made = await calls.made(name="Secret party", note="At mine")
    answer = await calls.client.get(f"/shareables/{made['shortId']}", headers=BROWSER)
    assert answer.headers["x-robots-tag"] == "noindex"
    assert answer.headers["referrer-policy"] == "same-origin"
    head = answer.text.partition("</head>")[0]
    assert "Secret party" not in head
    assert "At mine" not in head
    assert 'name="robots" content="noindex"' in head


async def test_a_maker_who_is_signed_in_sees_theirs_and_a_short_id_in_any_spelling_leads_there(calls):
    ada = await calls.person()
    made = await calls.made(by=ada, name="Mine")
    headers = BROWSER | {"authorization": f"Bearer {ada['token']}"}
    home = (await calls.client.get("/shareables", headers=headers)).text
    assert f'href="/shareables/{made["shortId"]}"' in home
    other = await calls.client.get(f"/shareables/{made['shortId'].upper()}", headers=BROWSER)
    assert (other.status_code, other.headers["location"]) == (303, f"/shareables/{made['shortId']}")


async def test_who_signs_out_leaves_nothing_unlocked_on_the_device(calls):
    await calls.person("Ada")
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as device:
        await posted(device, "/sign-in", email="ada@example.org", password=PASSWORD)
        await posted(device, f"{path}/unlock", passcode=ADMIN)
        assert "Delete it now" in await shown(device, path)
        await posted(device, "/sign-out")
        asked = await device.get(path, headers=BROWSER)
        assert (asked.status_code, asked.headers["location"]) == (303, f"{path}/unlock")
        await posted(device, f"{path}/delete", 401)
        # Nor does the next who signs in there find it; who had it does.
        await calls.person("Eve")
        await posted(device, "/sign-in", email="eve@example.org", password=PASSWORD)
        assert (await device.get(path, headers=BROWSER)).status_code == 303
        await posted(device, "/sign-out")
        await posted(device, "/sign-in", email="ada@example.org", password=PASSWORD)
        assert "Delete it now" in await shown(device, path)
