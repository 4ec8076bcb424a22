"""Who may: every call, page and form by everybody, at every time of a shareable's life, as one table."""

import contextlib

import pytest

from potluck.apps.shareables.access import Editor, Keeper, Participant, Reader
from potluck.apps.shareables.app import ShareablesApp
from potluck.web.declarations import Page
from tests.apps.shareables.doors import ADMIN, VIEW
from tests.web.contract.wire import listening
from tests.web.reading import BROWSER
from tests.web.suites import PASSWORD

# Nobody shows nothing. A token of another is as good as none; so is one whose passcode was replaced.
CALLERS = ("nobody", "viewer", "admin", "of another", "maker", "stranger")
YEAR = 365

# nobody, viewer, admin, of another, maker, stranger
VIEWERS = {
    "open": (401, "ok", "ok", 401, "ok", 401),
    "expired": (401, 410, "ok", 401, "ok", 401),
    "replaced": (401, 401, 401, 401, "ok", 401),
}
TAKES_PART = VIEWERS | {"expired": (401, 410, 410, 401, 410, 401)}
ADMINS_ALWAYS = VIEWERS | {"open": (401, 403, "ok", 401, "ok", 401)}
ADMINS = ADMINS_ALWAYS | {"expired": (401, 410, 410, 401, 410, 401)}
# A passcode opens it at every time; who sends none of them is told so.
ANYONE = dict.fromkeys(("open", "expired", "replaced"), (401,) * 6)

ITEM = "/items/{item}"
OF_CHECKLIST = {
    ("GET", ""): (None, VIEWERS),
    ("PATCH", ""): ({"name": "Packed", "version": 1}, ADMINS),
    ("PUT", "/passcodes"): ({"view": "another-one"}, ADMINS),
    ("POST", "/sessions"): ({"passcode": "none of them"}, ANYONE),
    ("POST", "/items"): ({"name": "Rope"}, ADMINS),
    ("PATCH", ITEM): ({"done": True, "version": 1}, TAKES_PART),
    ("PATCH", ITEM + "?edited"): ({"name": "Rope", "version": 1}, ADMINS),
    ("DELETE", ITEM): (None, ADMINS),
    ("POST", "/items/restore"): ({"checklistItemId": "{deleted}"}, ADMINS),
    ("PUT", "/items/order"): ({"itemIds": "{items}"}, ADMINS),
    ("GET", "/changes"): (None, VIEWERS),
    ("GET", "/events"): (None, VIEWERS),
    ("POST", "/clone"): ({}, ADMINS_ALWAYS),
    ("DELETE", ""): (None, ADMINS_ALWAYS),
}
OF_POLL = {
    ("GET", ""): (None, VIEWERS),
    ("POST", "/votes"): ({"rankings": ["Hut"]}, TAKES_PART),
    ("PUT", "/votes/{vote}"): ({"rankings": ["Sea"]}, TAKES_PART),
    ("DELETE", "/votes/{vote}"): (None, TAKES_PART),
    ("GET", "/results"): (None, VIEWERS),
    ("GET", "/results.csv"): (None, VIEWERS),
    ("GET", "/ballots"): (None, VIEWERS),
    ("POST", "/clone"): ({}, ADMINS_ALWAYS),
    ("DELETE", ""): (None, ADMINS_ALWAYS),
}
TIMES = ("open", "expired", "replaced", "purged")


def test_every_call_is_in_the_table():
    declared = set()
    for each in (each for subject in ShareablesApp.subjects for each in subject.declared if each.path is not None):
        if "{short_id}" in each.path:
            declared.add((getattr(each, "method", "GET"), each.path.partition("{short_id}")[2]))
    known = {
        (method, path.partition("?")[0].format(item="{checklist_item_id}", vote="{vote_id}"))
        for method, path in OF_CHECKLIST | OF_POLL
    }
    assert known == declared


@pytest.mark.parametrize("kind", ["checklist", "poll"])
@pytest.mark.parametrize("time", TIMES)
async def test_who_may(calls, kind, time):
    for name in ("Ada", "Eve"):
        await calls.person(name)
    for (method, path), (body, expected) in (OF_CHECKLIST if kind == "checklist" else OF_POLL).items():
        answered, made = [], None
        for caller in CALLERS:
            if made is None:
                made, tokens = await _made(calls, kind)
                await _by_then(calls, made, time, tokens["maker"])
            sent = dict(body or {})
            if path == "" and time == "replaced":
                sent |= {"version": 2} if "version" in sent else {}
            if "itemIds" in sent:
                sent["itemIds"] = made["items"][::-1]
            if "checklistItemId" in sent:
                sent["checklistItemId"] = made["deleted"]
            address = f"/shareables/{made['shortId']}{path.partition('?')[0].format(**made)}"
            if path == "/events":
                async with calls.listening(address, tokens[caller]) as stream:
                    await stream.until(1)
                    answered.append(stream.status)
            else:
                answer = await calls.ask(
                    method, address, sent if body is not None else None, by=tokens[caller], x_edit_key=made["key"]
                )
                answered.append(answer.status_code)
                if method != "GET" and answer.is_success:
                    # What was done to it would be in the way of the next.
                    made = None
            # Later, so that a wrong passcode is not one too many.
            calls.clock.forward(seconds=61)
        wanted = (404,) * len(CALLERS) if time == "purged" else expected[time]
        ok = ["ok" if 200 <= each < 300 else each for each in answered]
        assert ok == list(wanted), (method, path)


async def _made(calls, kind):
    """One that lasts for five days, with an item or a vote in it; and what each caller shows."""
    ada, eve = [await _signed_in(calls, name) for name in ("ada", "eve")]
    said = {"viewPasscode": VIEW, "adminPasscode": ADMIN, "expiresInDays": 5}
    another = await calls.made(by=eve)
    if kind == "checklist":
        made = await calls.made(["Tents", "Stove", "Rope"], by=ada, **said)
        *ids, deleted = [each["checklistItemId"] for each in (await calls.seen(made))["items"]]
        await calls.data("DELETE", f"/shareables/{made['shortId']}/items/{deleted}", None, 204, by=ada)
        made |= {"items": ids, "item": ids[0], "deleted": deleted, "vote": "", "key": ""}
    else:
        made = await calls.poll(by=ada, **said)
        voting = f"/shareables/{made['shortId']}/votes"
        vote = await calls.data("POST", voting, {"rankings": ["Lake"]}, 201, by=made["adminToken"])
        made |= {"vote": vote["id"], "key": vote["editKey"], "item": ""}
    return made, {
        "nobody": None,
        "viewer": await calls.token(made, VIEW),
        "admin": await calls.token(made, ADMIN),
        "of another": another["adminToken"],
        "maker": ada,
        "stranger": eve,
    }


async def _signed_in(calls, name):
    said = {"email": f"{name}@example.org", "password": PASSWORD}
    return (await calls.data("POST", "/sessions", said, 201))["token"]


async def _by_then(calls, made, time, maker):
    # A session lasts for seven days.
    if time == "expired":
        calls.clock.forward(days=5)
    elif time == "purged":
        calls.clock.forward(days=5 + YEAR)
    elif time == "replaced":
        new = {"view": "another view", "admin": "another admin"}
        await calls.data("PUT", f"/shareables/{made['shortId']}/passcodes", new, by=maker)


# --- pages and forms --------------------------------------------------------------------------------------------------

# What a declaration says of who may.
BY_ACCESS = {
    Editor: ADMINS,
    Keeper: ADMINS_ALWAYS,
    Participant: TAKES_PART,
    Reader: VIEWERS,
}
# Whoever has the id: they come to the page that asks for the passcode, or stay there.
TO_UNLOCK = dict.fromkeys(("open", "expired", "replaced"), ("ok",) * 6)
OPEN_TO_ALL = {
    ("GET", "/unlock"): TO_UNLOCK,
    ("POST", "/unlock"): ANYONE,
    ("GET", "/manage"): TO_UNLOCK,
    ("POST", "/manage"): ANYONE,
    ("POST", "/leave"): TO_UNLOCK,
}
# What is sent, so that it is done and not only judged. A form that is not here is sent empty.
FILLED_IN = {
    "/settings": {"name": "Packed", "version": "{version}"},
    "/unlock": {"passcode": "none of them"},
    "/manage": {"passcode": "none of them"},
    "/passcodes": {"view": "another-one"},
    "/vote": {"rank-1": "1"},
    "/items": {"name": "Rope"},
    "/items/order": {"itemIds": "{items}"},
    "/items/{checklist_item_id}/change": {"done": "true"},
    "/items/{checklist_item_id}/edit": {"name": "Rope", "version": "1"},
    "/items/{checklist_item_id}/move": {"by": "1"},
}
# What was done by these would be in the way of the next.
IN_THE_WAY = ("/passcodes", "/delete", "/leave")
# A form that was judged was let in; what is wrong with it is another matter.
LET_IN = {200, 409, 422, 428}
TOLD = ("Packing", "Tents", "Lake")


def _page_rows():
    """Every page and form of a shareable: method, path, what it is of, and who may."""
    for declared in (each for subject in ShareablesApp.subjects for each in subject.declared):
        page = declared.address if isinstance(declared, Page) else getattr(declared, "form_path", None)
        if page is not None and "{short_id}" in page:
            method, path = "GET" if isinstance(declared, Page) else "POST", page.partition("{short_id}")[2]
            allowed = next((BY_ACCESS[each] for each in declared.access.__mro__ if each in BY_ACCESS), None)
            if allowed is None:
                allowed = OPEN_TO_ALL[method, path]
            if declared.rule.__name__ == "change_item" and page.endswith("/edit"):
                # Whoever may look may tick; the rest is for admins, which the rule says.
                allowed = ADMINS
            yield method, path, declared.access.kinds, allowed


def test_every_page_is_in_the_table_and_the_table_has_no_others():
    rows = [(method, path) for method, path, _, _ in _page_rows()]
    assert OPEN_TO_ALL.keys() <= set(rows)
    assert len(set(rows)) == len(rows) >= 26
    assert FILLED_IN.keys() <= {path for method, path in rows if method == "POST"}


@pytest.mark.parametrize("kind", ["checklist", "poll"])
@pytest.mark.parametrize("time", TIMES)
async def test_who_may_on_pages(calls, kind, time):
    async with contextlib.AsyncExitStack() as browsers:
        browser = {}
        for number, caller in enumerate((*CALLERS, "keeper")):
            browser[caller] = await browsers.enter_async_context(calls.from_address(f"192.0.2.{number}"))
            browser[caller].headers.update({**BROWSER, "sec-fetch-site": "same-origin"})
        for name in ("Ada", "Eve"):
            await calls.person(name)
        made = None
        for method, path, kinds, expected in _page_rows():
            if kind not in kinds:
                # It is not even there for those who may everything.
                expected = dict.fromkeys(TIMES, (404, 404))
            answered = []
            for caller in CALLERS if kind in kinds else ("nobody", "maker"):
                if made is None:
                    made = await _made_for_pages(calls, kind, time, browser)
                    before = await _rows_of(calls, made)
                status = await _asked(calls, browser[caller], method, path, made)
                answered.append("ok" if status in LET_IN else status)
                if method == "POST" and status not in LET_IN:
                    assert await _rows_of(calls, made) == before, (path, caller)
                elif method == "POST":
                    before = await _rows_of(calls, made)
                    made = None if path.endswith(IN_THE_WAY) else made
                if path in ("/unlock", "/manage"):
                    # So that a wrong passcode is not one too many.
                    calls.clock.forward(seconds=61)
            wanted = (404,) * len(answered) if time == "purged" else expected[time]
            assert answered == list(wanted), (method, path)


async def _asked(calls, browser, method, path, made):
    """How it ends, wherever it leads: 401 for whoever is asked for the passcode, and nothing is told who is refused."""
    at = f"/shareables/{made['shortId']}"
    address = at + path.format(checklist_item_id=made["item"])
    if path == "/events":
        cookie = browser.build_request("GET", address).headers.get("cookie", "")
        async with listening(calls.application, address, [("cookie", cookie), *BROWSER.items()]) as stream:
            await stream.until(1)
            return stream.status
    sent = {
        name: made["items"] if text == "{items}" else text.format(**made)
        for name, text in FILLED_IN.get(path, {}).items()
    }
    form = {"content-type": "application/x-www-form-urlencoded"}
    sending = {"data": sent, "headers": form} if method == "POST" else {}
    answer = await browser.request(method, address, follow_redirects=True, **sending)
    status = answer.status_code
    if answer.history and answer.url.path == f"{at}/unlock":
        status = 401
    if status not in LET_IN:
        assert not [each for each in TOLD if each in answer.text], address
    return status


async def _made_for_pages(calls, kind, time, browser):
    """One that lasts for five days, and every browser with what it has of it by then."""
    # Later, so that so many sign-ins are not one too many.
    calls.clock.forward(seconds=61)
    made, tokens = await _made(calls, kind)
    at = f"/shareables/{made['shortId']}"
    for caller, email in (("maker", "ada@example.org"), ("stranger", "eve@example.org")):
        await _sent(browser[caller], "/sign-in", email=email, password=PASSWORD)
    for caller, passcode in (("viewer", VIEW), ("admin", ADMIN)):
        await _sent(browser[caller], f"{at}/unlock", passcode=passcode)
    # One may bring the cookie of a list where they are admin, by whatever address.
    another = await calls.guarded()
    await _sent(browser["keeper"], f"/shareables/{another['shortId']}/unlock", passcode=ADMIN)
    for cookie in browser["keeper"].cookies.jar:
        if cookie.path == f"/shareables/{another['shortId']}":
            browser["of another"].cookies.set(cookie.name, cookie.value, domain=cookie.domain, path=at)
    await _by_then(calls, made, time, tokens["maker"])
    return {**made, "items": made.get("items", [])[::-1], "version": 2 if time == "replaced" else 1}


async def _rows_of(calls, made):
    """What is stored of it and in it, but for sessions."""
    found = []
    for pk, sk in (("shareable#", "01#"), ("checklist_item#", "01#")):
        key = {":pk": {"S": pk + made["shortId"].replace("-", "")}, ":sk": {"S": sk}}
        asked = {"KeyConditionExpression": "pk = :pk AND begins_with(sk, :sk)", "ExpressionAttributeValues": key}
        found += (await calls.engine.call("Query", {"TableName": "Shareables", **asked}))["Items"]
    return found


async def _sent(browser, path, **fields):
    assert (await browser.post(path, data=fields)).status_code == 303
