"""Who may: every call by everybody, at every time of a shareable's life, as one table."""

import pytest

from potluck.apps.shareables.app import SUBJECTS
from tests.apps.shareables.doors import ADMIN, VIEW
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
    for each in (each for subject in SUBJECTS for each in subject.declared if each.path is not None):
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
        made = await calls.made(by=ada, **said)
        ids = [each["checklistItemId"] for each in (await calls.seen(made))["items"]]
        made |= {"items": ids, "item": ids[0], "vote": "", "key": ""}
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
