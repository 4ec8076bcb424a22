"""The API and the pages for admins; their rules are tested in tests/people/test_admins.py."""

from contextlib import asynccontextmanager

from potluck.web.people.administration import Decision, decide
from tests.people.operator_calls import operator_does
from tests.web.contract.wire import listening
from tests.web.contract.worlds import bearer_headers, book_of
from tests.web.people.doors import ANOTHER_PASSWORD, PASSWORD, doors_on
from tests.web.reading import BROWSER, Page
from tests.web.suites import API, client_at, problem

FROM_HERE = BROWSER | {"sec-fetch-site": "same-origin"}


async def promoted(doors, email="ada@example.org", name="Ada"):
    """Someone whom the operator has made an admin."""
    person = await doors.join(email, name)
    await operator_does(doors.core, decide, Decision(email=email, decided="promote"))
    return person


@asynccontextmanager
async def browser_of(doors, email="ada@example.org"):
    """A browser in which someone is signed in."""
    async with client_at(doors.application) as browser:
        signed_in = await browser.post(
            "/sign-in", data={"email": email, "password": PASSWORD}, headers=FROM_HERE, follow_redirects=False
        )
        assert signed_in.status_code == 303, signed_in.text
        yield browser


async def send(browser, path, **fields):
    return await browser.post(path, data=fields, headers=FROM_HERE, follow_redirects=False)


async def test_the_list_is_for_admins_alone(doors):
    ada, ben = await promoted(doors), await doors.join("ben@example.org", "Ben")
    listed = (await doors.ask("GET", "/people", by=ada)).json()
    assert [person["name"] for person in listed["items"]] == ["Ada", "Ben"]
    assert listed["items"][0] == {
        "userId": ada["userId"],
        "email": "ada@example.org",
        "name": "Ada",
        "status": "active",
        "admin": True,
        "createdAt": "2040-01-01T12:00:00.000Z",
        "signedInAt": "2040-01-01T12:00:00.000Z",
    }
    problem(await doors.ask("GET", "/people", by=ben), 404, "not-found")
    problem(await doors.ask("GET", "/people"), 401, "not-signed-in")
    found = (await doors.ask("GET", "/people?q=be", by=ada)).json()["items"]
    assert [person["userId"] for person in found] == [ben["userId"]]
    problem(await doors.ask("GET", "/people?status=gone", by=ada), 422, "invalid-fields")


async def test_whatever_is_searched_for_is_found_or_not(doors):
    await promoted(doors)
    async with browser_of(doors) as browser:
        for typed in ("@", "a@", "@b", "a@b@c", "@" * 200, "x" * 254, "a@" + "b." * 120, "#", "a #@b"):
            for path in ("/people", f"{API}/people"):
                answer = await browser.get(path, params={"q": typed})
                assert answer.status_code == 200, (typed, answer.text)


async def test_pages_of_the_list_follow_each_other(doors):
    ada = await promoted(doors)
    for number in range(4):
        await doors.join(f"p{number}@example.org", f"P{number}")
    names, cursor = [], ""
    while cursor is not None:
        page = (await doors.ask("GET", f"/people?limit=2{cursor and f'&cursor={cursor}'}", by=ada)).json()
        names += [person["name"] for person in page["items"]]
        cursor = page["nextCursor"]
    assert names == ["Ada", "P0", "P1", "P2", "P3"]


async def test_an_open_event_stream_ends_when_its_reader_is_disabled(doors):
    ada, ben = await promoted(doors), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    async with listening(doors.application, f"{API}{book.notes}/events", bearer_headers(ben)) as his:
        await his.until(begun=True)
        assert (await doors.ask("POST", f"/people/{ben['userId']}/disable", by=ada)).json()["status"] == "disabled"
        problem(await doors.ask("GET", book.notes, by=ben), 401, "not-signed-in")
        await book.add("Ben must not hear")
        await his.until(ended=True)
        assert his.events == []


async def test_the_answer_to_a_sign_in_says_what_is_in_the_way(tmp_path):
    async with doors_on(tmp_path, registration="approval") as doors:
        waiting = await doors.ask("POST", "/accounts", {"email": "b@example.org", "password": PASSWORD, "name": "B"})
        assert waiting.status_code == 201
        assert (waiting.json()["token"], waiting.json()["tokenExpiresAt"]) == (None, None)
        problem(await doors.sign_in("b@example.org"), 403, "account-waiting")
        problem(await doors.sign_in("b@example.org", ANOTHER_PASSWORD), 401, "wrong-credentials")
        await operator_does(doors.core, decide, Decision(email="b@example.org", decided="approve"))
        token = (await doors.sign_in("b@example.org")).json()["token"]
        await operator_does(doors.core, decide, Decision(email="b@example.org", decided="disable"))
        problem(await doors.sign_in("b@example.org"), 403, "account-disabled")
        problem(await doors.ask("GET", "/me", by=token), 401, "not-signed-in")


async def test_an_admin_finds_who_waits_on_the_home_page(tmp_path):
    async with doors_on(tmp_path, registration="approval") as doors:
        for email in ("ada@example.org", "ben@example.org"):
            await doors.ask("POST", "/accounts", {"email": email, "password": PASSWORD, "name": "A name"})
        for decided in ("approve", "promote"):
            await operator_does(doors.core, decide, Decision(email="ada@example.org", decided=decided))
        async with browser_of(doors) as browser:
            home = Page((await browser.get("/", headers=BROWSER)).text)
            assert "1 person is waiting for approval" in home.words
            assert "/people" in {link["href"] for link in home.all("a")}
            await operator_does(doors.core, decide, Decision(email="ben@example.org", decided="approve"))
            assert "waiting for approval" not in Page((await browser.get("/", headers=BROWSER)).text).words
        async with browser_of(doors, "ben@example.org") as browser:
            await doors.ask("POST", "/accounts", {"email": "c@example.org", "password": PASSWORD, "name": "C"})
            assert "waiting for approval" not in Page((await browser.get("/", headers=BROWSER)).text).words


async def test_the_pages_show_an_admin_what_can_be_done_and_say_what_cannot(doors):
    await promoted(doors)
    ben = await doors.join("ben@example.org", "Ben")
    person = f"/people/{ben['userId']}"
    async with browser_of(doors) as browser:
        account = Page((await browser.get("/account", headers=BROWSER)).text)
        assert "/people" in {link["href"] for link in account.all("a")}
        listed = await browser.get("/people", headers=BROWSER)
        assert person in {link["href"] for link in Page(listed.text).all("a")}
        assert (await browser.get(person, headers=BROWSER)).status_code == 200
        # Not active, so no admin.
        assert (await send(browser, f"{person}/disable")).headers["location"] == person
        refused = await send(browser, f"{person}/promote")
        assert refused.status_code == 409
        assert "only an active account can be an admin" in Page(refused.text).words
        assert (await send(browser, f"{person}/enable")).headers["location"] == person
        made = await send(browser, f"{person}/reset", password=PASSWORD)
        assert made.status_code == 200
        assert "/reset#plr_" in made.text
        unsure = await send(browser, f"{person}/delete", password=PASSWORD)
        assert unsure.status_code == 422
        assert "Tick the box" in Page(unsure.text).words
        assert (await send(browser, f"{person}/delete", password=PASSWORD, sure="on")).headers["location"] == "/people"
        assert (await browser.get(person, headers=BROWSER)).status_code == 404


async def test_who_is_no_admin_finds_neither_page_nor_link(doors):
    ada = await promoted(doors)
    await doors.join("ben@example.org", "Ben")
    async with browser_of(doors, "ben@example.org") as browser:
        account = Page((await browser.get("/account", headers=BROWSER)).text)
        assert "/people" not in {link["href"] for link in account.all("a")}
        for path in ("/people", f"/people/{ada['userId']}", f"/people/{ada['userId']}/delete"):
            assert (await browser.get(path, headers=BROWSER)).status_code == 404
        for change in ("approve", "decline", "disable", "enable", "promote", "demote", "reset", "delete"):
            answer = await send(browser, f"/people/{ada['userId']}/{change}", password=PASSWORD, sure="on")
            assert answer.status_code == 404, change


async def test_who_was_deleted_is_not_found_any_more(doors):
    ada, ben = await promoted(doors), await doors.join("ben@example.org", "Ben")
    path, body = f"/people/{ben['userId']}/delete", {"password": PASSWORD}
    assert (await doors.ask("POST", path, body, by=ada)).status_code == 204
    problem(await doors.ask("POST", path, body, by=ada), 404, "not-found")
    assert (await doors.ask("GET", f"/people/{ben['userId']}", by=ada)).status_code == 404
