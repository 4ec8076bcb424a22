"""The pages, as a browser without scripts uses them."""

import re

from potluck.people.errors import NoRoom
from tests.apps.shareables.doors import ADMIN, VIEW
from tests.patience import until
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


async def card_of(browser, path, **fields):
    """Send a form that lays something out: the address of what it made, and its card as it is shown then."""
    answer = await posted(browser, path, **fields)
    assert answer.headers["location"].endswith("/share")
    return answer.headers["location"].removesuffix("/share"), await shown(browser, answer.headers["location"])


async def test_a_list_is_laid_out_unlocked_ticked_and_looked_after(calls):
    async with calls.from_address("192.0.2.1") as maker, calls.from_address("192.0.2.2") as guest:
        assert "New list" in await shown(maker, "/shareables/new")
        refused = await posted(maker, "/shareables", 422, name="", lines="A")
        assert "Please enter a name of up to 200 characters." in refused.text
        said = {"name": "Fair", "lines": "Table\n\n Bunting \n", "days": "7", "asks": "true"}
        path, card = await card_of(maker, "/shareables", viewPasscode=VIEW, adminPasscode=ADMIN, **said)
        assert "2 items" in card
        assert "Your list is ready" in card
        assert VIEW in card
        assert ADMIN in card
        # Once.
        card = await shown(maker, f"{path}/share")
        assert VIEW not in card
        assert ADMIN not in card
        page = await shown(maker, path)
        assert "Bunting" in page
        assert VIEW not in page
        assert ADMIN not in page

        # Somebody else types the id as they please, and is asked for the passcode.
        wrong = await posted(guest, "/shareables/open", 422, id="abc-def-123")
        assert "like kfm-tre-40718. 2 digits are missing." in wrong.text
        await posted(guest, "/shareables/open", 422, id="x" * 2_001)
        none = await posted(guest, "/shareables/open", 404, id="zzz-zzz-00000")
        assert "There’s no list or poll with this code" in none.text
        opened = await posted(guest, "/shareables/open", id=f"http://testserver{path.upper()}")
        assert opened.headers["location"] == path or opened.headers["location"] == f"/shareables/{path.rsplit('/')[-1]}"
        asked = await guest.get(path, headers=BROWSER)
        assert (asked.status_code, asked.headers["location"]) == (303, f"{path}/unlock")
        assert "Fair" not in await shown(guest, f"{path}/unlock")
        assert (
            "That’s not the right passcode. You have 4 tries left before a pause."
            in (await posted(guest, f"{path}/unlock", 401, passcode="no")).text
        )
        await posted(guest, f"{path}/unlock", passcode=VIEW)
        page = await shown(guest, path)
        assert "Bunting" in page
        assert f'href="{path}/delete"' not in page

        # They tick, and do nothing else.
        (table, bunting) = re.findall(rf'action="{path}/items/([0-9a-f-]+)/change"', page)
        await posted(guest, f"{path}/items/{table}/change", done="true")
        assert "1 of 2 done" in await shown(maker, path)
        await posted(guest, f"{path}/items/{table}/delete", 403)
        await posted(guest, f"{path}/settings", 403, name="Mine", version="1")

        await posted(maker, f"{path}/items", name="Lemonade")
        assert "Please enter a name" in (await posted(maker, f"{path}/items", 422, name=" ")).text
        await posted(maker, f"{path}/items/{bunting}/move", by="-1")
        await posted(maker, f"{path}/items/{table}/delete")
        page = await shown(maker, path)
        assert page.index("Bunting") < page.index("Lemonade")
        assert "Table" not in page
        await posted(maker, f"{path}/items/{bunting}/edit", name="Bunting", note="Leo has the ladder", version="1")
        changed = await posted(maker, f"{path}/items/{bunting}/edit", 409, name="Flags", version="1")
        assert "You and someone else both changed" in changed.text
        (version,) = re.findall(r'name="version" value="(\d+)"', await shown(maker, f"{path}/edit"))
        settings = {"name": "Summer fair", "viewersCanTick": "false", "version": version}
        too_late = await posted(maker, f"{path}/settings", 422, until="2999-01-01", **settings)
        assert "at most a year ahead" in too_late.text
        await posted(maker, f"{path}/settings", **settings)
        assert "Only admins can tick items on this list." in await shown(guest, path)
        await posted(guest, f"{path}/items/{bunting}/change", 403, done="true")

        # With other passcodes the guest is out, and the maker is not.
        await posted(maker, f"{path}/passcodes", 422, view="x")
        _, card = await card_of(maker, f"{path}/passcodes", view="another view", admin="another admin")
        assert "another view" in card
        assert "another admin" in card
        assert "is ready" not in card
        assert "Passcodes changed" in card
        assert "Summer fair" in await shown(maker, path)
        assert (await guest.get(path, headers=BROWSER)).headers["location"] == f"{path}/unlock"

        # When its time is over, viewers see that; the maker lays it out again, and takes this one away.
        await posted(guest, f"{path}/unlock", passcode="another view")
        calls.clock.forward(days=7)
        await posted(guest, f"{path}/unlock", passcode="another view")
        over = await shown(guest, path, 410)
        assert "This list has expired" in over
        assert "Summer fair" not in over
        await posted(maker, f"{path}/unlock", passcode="another admin")
        assert "Only admins can see this until" in await shown(maker, path)
        clone, card = await card_of(maker, f"{path}/clone", name="Winter fair", days="1", keepTicks="true")
        assert clone != path
        # It asks for passcodes as the first did, and for others.
        assert "Save these passcodes" in card
        assert "Winter fair" in await shown(maker, clone)
        assert "will be deleted for everyone" in await shown(maker, f"{path}/delete")
        deleted = await posted(maker, f"{path}/delete")
        assert "Deleted for everyone." in await shown(maker, deleted.headers["location"])
        assert "There’s no list or poll with this code" in await shown(maker, path, 404)


async def test_a_poll_begun_in_the_polls_app_goes_on_where_it_gets_a_passcode(calls):
    async with calls.from_address("192.0.2.1") as maker, calls.from_address("192.0.2.2") as guest:
        assert 'href="/polls/new"' in await shown(maker, "/shareables")
        typed = {
            "title": "Where to?",
            "candidates": "Lake | two hours by train\nHut",
            "seats": "1",
            "method": "schulze",
        }
        # What the other form asks besides is left behind.
        begun = (await posted(maker, "/shareables/polls/new", 200, voterPolicy="codes", **typed)).text
        for text in (
            'value="Where to?"',
            "Lake | two hours by train\nHut",
            'value="schulze" checked',
            'name="asks" checked',
        ):
            assert text in begun
        passcodes = {"asks": "true", "viewPasscode": VIEW, "adminPasscode": ADMIN}
        refused = await posted(maker, "/shareables/polls", 422, title="", candidates="Lake", seats="x", **passcodes)
        for sentence in (
            "Please enter a question of up to 200",
            "There must be 2 to 100",
            "Please enter a number from 1 to the number of options.",
        ):
            assert sentence in refused.text
        equal = await posted(maker, "/shareables/polls", 422, **typed, **passcodes | {"viewPasscode": ADMIN})
        assert "Use two different passcodes." in equal.text
        path, card = await card_of(maker, "/shareables/polls", **typed, **passcodes)
        assert "Your poll is ready" in card
        assert VIEW in card
        await posted(guest, f"{path}/unlock", passcode=VIEW)
        ballot = await shown(guest, path)
        assert "two hours by train" in ballot
        assert "Every option is compared with every other" in ballot


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


async def counted(browser, path, text):
    """Wait until the results say so: for a count that takes longer than two seconds their reader does not."""

    async def said():
        return text in await shown(browser, f"{path}/results")

    await until(said)


async def test_a_poll_is_voted_in_once_by_each_browser(calls):
    made = await calls.poll("Lake", "Hut", name="Where to?")
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as guest:
        assert "Lake" in await shown(guest, path)
        await posted(guest, f"{path}/vote", **{"rank-1": "2", "rank-2": "1"})
        # The longer a count took, the later is the next.
        calls.clock.forward(minutes=5)
        page = await shown(guest, f"{path}/results")
        assert "Thanks, your vote has been counted." in page
        assert '<h2 class="winner-name" id="win"><bdi>Hut</bdi>' in page
        again = await posted(guest, f"{path}/vote", **{"rank-1": "1"})
        assert "Your first vote counts." in await shown(guest, again.headers["location"])
        # Their own they may change, and take back.
        assert "Change vote" in await shown(guest, path)
        wrong = await posted(guest, f"{path}/vote/change", 422, **{"rank-1": "1", "rank-2": "1"})
        assert "have the same number, 1." in wrong.text
        await posted(guest, f"{path}/vote/change", **{"rank-1": "1"})
        calls.clock.forward(minutes=5)
        await counted(guest, path, '<h2 class="winner-name" id="win"><bdi>Lake</bdi>')
        assert "Lake" in (await guest.get(f"{path}/results.csv", headers=BROWSER)).text
        assert "Lake" in (await guest.get(f"{path}/ballots?format=csv", headers=BROWSER)).text
        await posted(guest, f"{path}/vote/withdraw")
        calls.clock.forward(minutes=5)
        await counted(guest, path, "0 votes")


async def test_a_page_says_nothing_to_whoever_previews_its_link_or_searches_for_it(calls):
    made = await calls.made(name="Secret party", note="At mine")
    answer = await calls.client.get(f"/shareables/{made['shortId']}", headers=BROWSER)
    assert answer.headers["x-robots-tag"] == "noindex"
    assert answer.headers["referrer-policy"] == "same-origin"
    head = answer.text.partition("</head>")[0]
    assert "Secret party" not in head
    assert "At mine" not in head
    assert 'name="robots" content="noindex"' in head


PREVIEWS = (
    "WhatsApp/2.23.20.0",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "TelegramBot (like TwitterBot)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Macintosh) AppleWebKit/601.2.4 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
    "http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.example/)",
    "Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
    "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/",
    "Viber/13.3.0",
    "Iframely/1.3.1 (+https://iframely.com/docs/about)",
)
PEOPLE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1",
    "Mozilla/5.0 (Linux; Android 9; CUBOT P30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0 Mobile Safari/537.36",
)


async def test_a_messenger_that_previews_a_link_is_shown_neither_name_nor_content(calls):
    listed = await calls.made(["Two tents"], name="Secret party", note="At mine")
    poll = await calls.poll("Two tents", "A hut", name="Secret party", note="At mine")
    paths = [
        *("/shareables/zzz-zzz-00000", f"/shareables/{listed['shortId']}", f"/shareables/{listed['shortId']}/share"),
        *(f"/shareables/{poll['shortId']}{part}" for part in ("", "/share", "/results")),
    ]
    for preview in PREVIEWS:
        for path in paths:
            answer = await calls.client.get(path, headers=BROWSER | {"user-agent": preview})
            assert answer.status_code == 200
            assert "<title>Shareables · Potluck</title>" in answer.text, (preview, path)
            assert not [each for each in ("Secret party", "At mine", "Two tents") if each in answer.text], (
                preview,
                path,
            )
            assert "set-cookie" not in answer.headers
    for person in PEOPLE:
        answer = await calls.client.get(f"/shareables/{listed['shortId']}", headers=BROWSER | {"user-agent": person})
        assert "Two tents" in answer.text, person


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
        assert f'href="{path}/delete"' in await shown(device, path)
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
        assert f'href="{path}/delete"' in await shown(device, path)


async def test_a_store_without_room_is_no_pause_after_wrong_passcodes(calls, monkeypatch):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}/unlock"

    def no_room(*, stranger):
        raise NoRoom(stranger)

    monkeypatch.setattr(calls.application.state.core.storage_quota, "must_have_room", no_room)
    async with calls.from_address("192.0.2.1") as device:
        page = (await posted(device, path, 503, passcode=VIEW)).text
    assert "There is no room for more just now" in page
    assert "data-pause" not in page


async def test_who_has_the_device_next_finds_nothing_once_it_has_forgotten(calls):
    made = await calls.guarded()
    poll = await calls.poll("Lake", "Hut", name="Where to?")
    path, voting = (f"/shareables/{each['shortId']}" for each in (made, poll))
    async with calls.from_address("192.0.2.1") as device:
        await posted(device, f"{path}/unlock", passcode=ADMIN)
        await posted(device, f"{voting}/vote", **{"rank-1": "1"})
        assert "Change vote" in await shown(device, voting)
        kept = list(device.cookies.jar)
        forgotten = await posted(device, "/shareables/forget")
        assert "on this device is forgotten." in await shown(device, forgotten.headers["location"])

        async def nothing_is_here():
            assert (await device.get(path, headers=BROWSER)).headers["location"] == f"{path}/unlock"
            assert (await device.get(f"{path}/share", headers=BROWSER)).headers["location"] == f"{path}/unlock"
            await posted(device, f"{path}/settings", 401, name="Mine", version="1")
            assert "Change vote" not in await shown(device, voting)
            changed = await posted(device, f"{voting}/vote/change", **{"rank-2": "1"})
            assert changed.headers["location"] == voting

        await nothing_is_here()
        # Nor with what was in the browser besides the number that opened it.
        for cookie in kept:
            if not cookie.name.endswith("-browser"):
                device.cookies.jar.set_cookie(cookie)
        await nothing_is_here()
        results = await calls.client.get(f"{voting}/results", headers=BROWSER)
        assert "1 vote" in results.text


async def test_whoever_has_no_session_any_more_is_led_to_the_passcode(calls):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    for page in ("edit", "items", "passcodes", "clone", "delete"):
        assert f'href="{path}/unlock"' in await shown(calls.client, f"{path}/{page}", 401)
