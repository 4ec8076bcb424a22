"""What was made or opened in a browser without an account, as its home page lists it."""

import re

from potluck.apps.shareables.pages.device import ANYONES_COOKIE, MOST_OPENED
from tests.apps.shareables.doors import ADMIN, VIEW
from tests.apps.shareables.test_pages import card_of, posted, shown
from tests.web.reading import BROWSER
from tests.web.suites import PASSWORD

SECTION = re.compile(r'<section aria-labelledby="here">.*?</section>', re.DOTALL)
ROW = re.compile(r'<span class="row-name[^"]*"><bdi>([^<]*)</bdi></span><span class="row-note num">([^<]*)</span>')
OLDER_THAN_A_SESSION = 8


def address(made):
    return f"/shareables/{made['shortId']}"


async def listed(browser):
    """The names on this device, with what is said about each."""
    section = SECTION.search(await shown(browser, "/shareables"))
    return [] if section is None else ROW.findall(section[0])


async def names(browser):
    return [name for name, _ in await listed(browser)]


async def signed_up(browser, name):
    account = {"name": name, "email": f"{name.lower()}@example.org", "password": PASSWORD}
    await posted(browser, "/sign-up", **account)


async def test_what_was_made_and_opened_here_is_listed_latest_first(calls):
    opened = await calls.poll(name="Where to?", expiresInDays=7)
    async with calls.from_address("192.0.2.1") as here, calls.from_address("192.0.2.2") as there:
        assert await listed(here) == []
        path, _ = await card_of(here, "/shareables", entity="checklist", name="Fair", lines="Table", days="1")
        await shown(here, address(opened))
        assert await listed(here) == [
            ("Where to?", f"Poll · {opened['shortId']} · 7 days left"),
            ("Fair", f"List · {path.rpartition('/')[2]} · 1 day left"),
        ]
        await shown(here, path)
        assert await names(here) == ["Fair", "Where to?"]
        assert await listed(there) == []


async def test_a_clone_is_listed_as_what_was_made(calls):
    async with calls.from_address("192.0.2.1") as here:
        path, _ = await card_of(here, "/shareables", entity="checklist", name="Fair", days="1")
        await card_of(here, f"{path}/clone", name="Winter fair", days="1")
        assert await names(here) == ["Winter fair", "Fair"]


async def test_what_is_forgotten_is_neither_listed_nor_unlocked(calls):
    made, other = await calls.guarded(), await calls.made(name="Open to all")
    async with calls.from_address("192.0.2.1") as here:
        await posted(here, f"{address(made)}/unlock", passcode=VIEW)
        await shown(here, address(made))
        await shown(here, address(other))
        section = SECTION.search(await shown(here, "/shareables"))[0]
        assert f'<form class="row-act" method="post" action="{address(made)}/leave">' in section
        left = await posted(here, f"{address(made)}/leave")
        assert "Forgotten on this device." in await shown(here, left.headers["location"])
        assert await names(here) == ["Open to all"]
        assert (await here.get(address(made), headers=BROWSER)).headers["location"] == f"{address(made)}/unlock"
        await posted(here, "/shareables/forget")
        assert await listed(here) == []
        # It is still there for everybody else.
        assert (await calls.seen(made))["name"] == "Packing"


async def test_what_asks_for_a_passcode_has_a_name_only_while_it_is_unlocked_here(calls):
    made = await calls.guarded(name="Secret party", expiresInDays=30)
    id, path = made["shortId"], address(made)
    async with calls.from_address("192.0.2.1") as here:
        await here.get(path, headers=BROWSER)
        await shown(here, f"{path}/unlock")
        assert await listed(here) == []
        await posted(here, f"{path}/unlock", passcode=VIEW)
        await shown(here, path)
        assert await listed(here) == [("Secret party", f"List · {id} · 30 days left")]
        new = {"view": "another view"}
        await calls.data("PUT", f"{path}/passcodes", new, by=made["adminToken"])
        assert await listed(here) == [(id, "List · passcode needed")]
        await posted(here, f"{path}/unlock", passcode="another view")
        await shown(here, path)
        assert await names(here) == ["Secret party"]
        calls.clock.forward(days=OLDER_THAN_A_SESSION)
        assert await listed(here) == [(id, "List · passcode needed")]
        assert "Secret party" not in await shown(here, "/shareables")


async def test_a_closed_one_has_a_name_for_its_admins_alone(calls):
    made = await calls.guarded(name="Secret party", expiresInDays=1)
    id, path = made["shortId"], address(made)
    async with calls.from_address("192.0.2.1") as viewer, calls.from_address("192.0.2.2") as admin:
        for browser, passcode in ((viewer, VIEW), (admin, ADMIN)):
            await posted(browser, f"{path}/unlock", passcode=passcode)
            await shown(browser, path)
        calls.clock.forward(days=1)
        assert await listed(viewer) == [(id, "List · Expired")]
        assert await listed(admin) == [("Secret party", f"List · {id} · Expired")]


async def test_what_no_longer_exists_is_dropped(calls):
    made, kept = await calls.made(name="Gone soon"), await calls.made(name="Stays")
    async with calls.from_address("192.0.2.1") as here:
        for each in (made, kept):
            await shown(here, address(each))
        await calls.data("DELETE", address(made), None, 204, by=made["adminToken"])
        before = here.cookies.get(ANYONES_COOKIE.name)
        assert await names(here) == ["Stays"]
        assert here.cookies.get(ANYONES_COOKIE.name) != before
        await calls.data("DELETE", address(kept), None, 204, by=kept["adminToken"])
        # Pressed on a page from before it was deleted.
        await posted(here, f"{address(kept)}/leave")
        await posted(here, f"{address(kept)}/leave", 404)
        assert await listed(here) == []
        assert here.cookies.get(ANYONES_COOKIE.name) is None


async def test_an_id_that_was_only_typed_is_not_listed(calls):
    guarded = await calls.guarded()
    async with calls.from_address("192.0.2.1") as here:
        await posted(here, "/shareables/open", 404, id="zzz-zzz-00000")
        await shown(here, "/shareables/zzz-zzz-00001", 404)
        await posted(here, "/shareables/open", id=guarded["shortId"])
        await posted(here, f"{address(guarded)}/unlock", 401, passcode="none of them")
        assert await listed(here) == []
        here.cookies.set(ANYONES_COOKIE, guarded["shortId"].replace("-", ""), path="/shareables")
        assert await listed(here) == []


async def test_the_list_is_bounded_and_fits_into_a_cookie(calls):
    made = [await calls.guarded(name=f"List {number}") for number in range(MOST_OPENED + 2)]
    async with calls.from_address("192.0.2.1") as here:
        for each in made:
            await posted(here, f"{address(each)}/unlock", passcode=VIEW)
            await shown(here, address(each))
        assert await names(here) == [f"List {number}" for number in range(MOST_OPENED + 1, 1, -1)]
        assert len(here.cookies.get(ANYONES_COOKIE.name)) < 3_000
        # Opening the latest again writes no cookie.
        assert "set-cookie" not in (await here.get(address(made[-1]), headers=BROWSER)).headers


async def test_nobody_who_signs_in_is_shown_what_another_opened_here(calls):
    made, other = await calls.made(name="Surprise for Ada"), await calls.made(name="Ada's choir")
    async with calls.from_address("192.0.2.1") as here:
        await shown(here, address(made))
        await signed_up(here, "Ada")
        page = await shown(here, "/shareables")
        assert "Surprise" not in page
        assert "1 list or poll was opened on this device before you signed in." in page
        await shown(here, address(other))
        assert await names(here) == ["Ada&#39;s choir"]
        await posted(here, "/sign-out")
        assert await listed(here) == []
        await signed_up(here, "Eve")
        page = await shown(here, "/shareables")
        assert not [each for each in ("Surprise", "choir", "before you signed in") if each in page]
        await posted(here, "/shareables/adopt")
        assert await listed(here) == []
        await posted(here, "/sign-out")
        await posted(here, "/sign-in", email="ada@example.org", password=PASSWORD)
        assert await names(here) == ["Ada&#39;s choir"]


async def test_who_signs_up_after_making_lists_takes_them_along_by_saying_so(calls):
    made = await calls.guarded(name="Packing")
    async with calls.from_address("192.0.2.1") as here:
        await posted(here, f"{address(made)}/unlock", passcode=VIEW)
        await shown(here, address(made))
        await card_of(here, "/shareables", entity="checklist", name="Fair", days="1")
        await signed_up(here, "Ada")
        assert "2 lists and polls were opened on this device" in await shown(here, "/shareables")
        await posted(here, "/shareables/adopt")
        assert await names(here) == ["Fair", "Packing"]
        assert "before you signed in" not in await shown(here, "/shareables")
        await posted(here, f"{address(made)}/leave")
        assert await names(here) == ["Fair"]
        await posted(here, "/sign-out")
        assert await listed(here) == []


async def test_what_someone_made_signed_in_is_listed_once(calls):
    async with calls.from_address("192.0.2.1") as here:
        await signed_up(here, "Ada")
        path, _ = await card_of(here, "/shareables", entity="checklist", name="Fair", days="1")
        await shown(here, path)
        page = await shown(here, "/shareables")
        assert page.count("<bdi>Fair</bdi>") == 1
        assert await listed(here) == []
