"""Shareables by the API: checklists and polls, passcodes, items, votes, clones, expiry."""

from typing import Any

from tests.differential.chapters.sweep import sweep
from tests.differential.script import Script, Who

__all__ = ["shareables"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
NOTHING = "zzz-zzz-99999"
KEY = "00000000-0000-4000-8000-0000000006{:02}"
ITEM = "00000000-0000-4000-8000-0000000007{:02}"
VIEW, ADMIN = "lemonade", "trestle-table"
LAKE, HUT, CAMP = "Lake cabin", "Mountain hut", "Seaside camp"
# No two pairs are won alike: what a lot decides is different in every run.
UNTIED = ([LAKE, HUT], [LAKE, HUT], [LAKE, HUT], [LAKE, CAMP], [HUT, LAKE], [HUT, LAKE], [CAMP, HUT])


async def shareables(script: Script) -> None:
    anyone = script.program("anyone")
    ada, eve = await script.person("Ada"), await script.person("Eve")
    listed = {
        "entity": "checklist", "name": " Packing <b> ", "note": "By <Friday>", "viewPasscode": VIEW,
        "adminPasscode": ADMIN, "items": [{"name": "Tents", "checklistItemId": ITEM.format(1)}, {"name": "Stove"}],
    }  # fmt: skip
    made = await anyone.api("a checklist", "POST", "/shareables", listed, idempotency_key=KEY.format(1))
    await anyone.api("a checklist once more", "POST", "/shareables", listed, idempotency_key=KEY.format(1))
    await anyone.api(
        "another by the same key", "POST", "/shareables", listed | {"name": "X"}, idempotency_key=KEY.format(1)
    )
    await _wrong_ones(anyone, listed)
    here = f"/shareables/{made['shortId']}"
    admin = {"authorization": f"Bearer {made['adminToken']}"}
    await anyone.api("without a passcode", "GET", here)
    await anyone.api("with a made-up token", "GET", here, authorization="Bearer plu_" + "0" * 64)
    found = await anyone.api("as its admin", "GET", here, **admin)
    await anyone.api("unchanged", "GET", here, if_none_match=found.etag, **admin)
    await anyone.api("with HEAD", "HEAD", here, **admin)
    await anyone.api("by another spelling", "GET", here.upper().replace("/SHAREABLES", "/shareables"), **admin)
    await anyone.api("that never was", "GET", f"/shareables/{NOTHING}", **admin)
    await anyone.api("of a malformed id", "GET", "/shareables/packing", **admin)
    viewer = await _unlocking(script, here)
    await _items(anyone, here, admin, viewer, found["items.1.checklistItemId"])
    await _settings(anyone, here, admin, viewer)
    await _live(anyone, here, admin)
    poll = await _poll(script, anyone, eve)
    await _clones(anyone, here, poll, admin, viewer)
    await _own(ada, eve)

    own = await ada.api("a short list", "POST", "/shareables", listed | {"expiresInDays": 1})
    there = f"/shareables/{own['shortId']}"
    seen = await anyone.api("unlock it", "POST", f"{there}/sessions", {"passcode": VIEW})
    script.clock.forward(days=2)
    over = {"authorization": f"Bearer {seen['token']}"}
    await anyone.api("an expired one", "GET", there)
    await anyone.api("an expired one for a viewer", "GET", there, **over)
    await anyone.api("tick in an expired one", "PATCH", f"{there}/items/{ITEM.format(1)}", {"done": True}, **over)
    await ada.api("an expired one for its maker", "GET", there)
    await ada.api("add to an expired one", "POST", f"{there}/items", {"name": "X"})
    await ada.api("clone an expired one", "POST", f"{there}/clone")
    await ada.api("delete an expired one", "DELETE", there)

    another = await anyone.api("a checklist for everyone to try", "POST", "/shareables", listed)
    vote = await anyone.api("a vote to try", "POST", f"{poll}/votes", {"rankings": [LAKE]})
    ids = {"short_id": another["shortId"], "checklist_item_id": ITEM.format(1), "vote_id": vote["id"]}
    keeper = script.program("its admin", another["adminToken"])
    await sweep(
        script,
        ("/api/v1/shareables",),
        ids,
        {"nobody": (anyone, anyone), "Eve": (eve, eve)},
        {"admin": (keeper, keeper)},
    )
    ids["short_id"] = poll.rpartition("/")[2]
    await sweep(script, ("/api/v1/shareables/{short_id}",), ids, {"anyone in a poll": (anyone, anyone)}, {})
    await anyone.api("delete", "DELETE", here, idempotency_key=KEY.format(9), **admin)
    await anyone.api("delete once more", "DELETE", here, idempotency_key=KEY.format(9), **admin)
    await anyone.api("that is gone", "GET", here, **admin)


async def _wrong_ones(anyone: Who, listed: dict[str, Any]) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "of nothing": {},
        "of a cake": {"entity": "cake", "name": "X"},
        "without a name": listed | {"name": " "},
        "with candidates": listed | {"candidates": [LAKE, HUT], "seats": 2},
        "of two ends": listed | {"expiresInDays": 3, "expiresAt": "2040-02-01T00:00:00Z"},
        "of the past": listed | {"expiresAt": "2039-01-01T00:00:00Z"},
        "of the far future": listed | {"expiresAt": "2045-01-01T00:00:00Z"},
        "of no days": listed | {"expiresInDays": 0},
        "with equal passcodes": listed | {"adminPasscode": VIEW},
        "with a short passcode": listed | {"viewPasscode": "abc"},
        "of twin items": listed | {"items": [{"name": "A", "checklistItemId": ITEM.format(1)}] * 2},
        "of too many items": listed | {"items": [{"name": "A"}] * 91},
        "as a poll without candidates": {"entity": "poll", "name": "X"},
        "as a poll with items": {"entity": "poll", "name": "X", "candidates": [LAKE, HUT], "items": []},
    }
    for label, body in wrong.items():
        await anyone.api(f"a checklist {label}", "POST", "/shareables", body)


async def _unlocking(script: Script, here: str) -> dict[str, str]:
    guest, guesser = script.program("a guest"), script.program("a guesser")
    opened = await guest.api("unlock", "POST", f"{here}/sessions", {"passcode": VIEW})
    await guest.api("unlock as an admin", "POST", f"{here}/sessions", {"passcode": ADMIN})
    await guest.api("unlock with nothing", "POST", f"{here}/sessions", {})
    await guest.api("unlock what never was", "POST", f"/shareables/{NOTHING}/sessions", {"passcode": VIEW})
    for _ in range(6):
        await guesser.api("unlock wrongly", "POST", f"{here}/sessions", {"passcode": "no"})
    viewer = {"authorization": f"Bearer {opened['token']}"}
    await guest.api("as a viewer", "GET", here, **viewer)
    return viewer


async def _items(anyone: Who, here: str, admin: dict[str, str], viewer: dict[str, str], stove: str) -> None:
    items, tents = f"{here}/items", f"{here}/items/{ITEM.format(1)}"
    await anyone.api("tick without a version", "PATCH", tents, {"done": True}, **viewer)
    await anyone.api("tick as a viewer", "PATCH", tents, {"done": True, "version": 1}, **viewer)
    await anyone.api("tick by an old version", "PATCH", tents, {"done": False, "version": 1}, **viewer)
    await anyone.api("untick", "PATCH", tents, {"done": False, "version": 2}, **viewer)
    await anyone.api("edit as a viewer", "PATCH", tents, {"name": "Tent", "version": 3}, **viewer)
    await anyone.api("edit", "PATCH", tents, {"name": "Tent", "note": "Big", "version": 3}, **admin)
    await anyone.api("edit by an old version", "PATCH", tents, {"name": "Tents", "version": 2}, **admin)
    await anyone.api("edit wrongly", "PATCH", tents, {"name": "", "note": "n" * 2001, "version": 4}, **admin)
    await anyone.api("edit an item that never was", "PATCH", f"{items}/{NEVER}", {"name": "X", "version": 1}, **admin)
    new = {"name": "Lamp", "checklistItemId": ITEM.format(2)}
    await anyone.api("add an item", "POST", items, new, idempotency_key=KEY.format(2), **admin)
    await anyone.api("add an item once more", "POST", items, new, idempotency_key=KEY.format(2), **admin)
    await anyone.api("add an item by a taken id", "POST", items, new, **admin)
    await anyone.api("add an item without a name", "POST", items, {"name": ""}, **admin)
    await anyone.api("add an item as a viewer", "POST", items, {"name": "X"}, **viewer)
    order = [ITEM.format(2), ITEM.format(1), stove]
    await anyone.api("order", "PUT", f"{items}/order", {"itemIds": order}, **admin)
    await anyone.api("order again", "PUT", f"{items}/order", {"itemIds": order}, **admin)
    await anyone.api("order some", "PUT", f"{items}/order", {"itemIds": order[:2]}, **admin)
    await anyone.api("order as a viewer", "PUT", f"{items}/order", {"itemIds": order}, **viewer)
    await anyone.api("delete an item as a viewer", "DELETE", f"{items}/{ITEM.format(2)}", **viewer)
    await anyone.api("delete an item by If-Match", "DELETE", tents, if_match='"4"', **admin)
    await anyone.api("restore the first", "POST", f"{items}/restore", {"checklistItemId": ITEM.format(1)}, **admin)
    await anyone.api("delete an item", "DELETE", f"{items}/{ITEM.format(2)}", idempotency_key=KEY.format(3), **admin)
    await anyone.api(
        "delete it once more", "DELETE", f"{items}/{ITEM.format(2)}", idempotency_key=KEY.format(3), **admin
    )
    await anyone.api("delete what is gone", "DELETE", f"{items}/{ITEM.format(2)}", **admin)
    restore = {"checklistItemId": ITEM.format(2)}
    await anyone.api("restore as a viewer", "POST", f"{items}/restore", restore, **viewer)
    await anyone.api("restore", "POST", f"{items}/restore", restore, **admin)
    await anyone.api("restore again", "POST", f"{items}/restore", restore, **admin)
    await anyone.api("restore nothing", "POST", f"{items}/restore", {}, **admin)


async def _settings(anyone: Who, here: str, admin: dict[str, str], viewer: dict[str, str]) -> None:
    await anyone.api("rename as a viewer", "PATCH", here, {"name": "Mine", "version": 1}, **viewer)
    changed = await anyone.api("rename", "PATCH", here, {"name": "Packing", "note": None, "version": 1}, **admin)
    await anyone.api("rename by an old version", "PATCH", here, {"name": "Old", "version": 1}, **admin)
    await anyone.api("rename by no version", "PATCH", here, {"name": "Old"}, **admin)
    await anyone.api("rename to nothing", "PATCH", here, {"name": "", "version": 2}, **admin)
    await anyone.api("an end in the past", "PATCH", here, {"expiresAt": "2039-01-01T00:00:00Z", "version": 2}, **admin)
    later = {"expiresAt": "2040-06-01T00:00:00+02:00"}
    await anyone.api("a later end by If-Match", "PATCH", here, later, if_match=changed.etag, **admin)
    changed = await anyone.api("a later end", "PATCH", here, later | {"version": changed["version"]}, **admin)
    await anyone.api(
        "only admins tick", "PATCH", here, {"viewersCanTick": False, "version": changed["version"]}, **admin
    )
    tents = f"{here}/items/{ITEM.format(1)}"
    await anyone.api("tick where viewers may not", "PATCH", tents, {"done": True, "version": 4}, **viewer)
    await anyone.api("tick as an admin", "PATCH", tents, {"done": True, "version": 4}, **admin)
    passcodes = f"{here}/passcodes"
    await anyone.api("passcodes as a viewer", "PUT", passcodes, {"view": "another view"}, **viewer)
    await anyone.api("equal passcodes", "PUT", passcodes, {"view": "the same", "admin": "the same"}, **admin)
    await anyone.api("the admin's passcode for viewers", "PUT", passcodes, {"view": ADMIN}, **admin)
    await anyone.api("another view passcode", "PUT", passcodes, {"view": "another view"}, **admin)
    await anyone.api("a viewer by the old passcode", "GET", here, **viewer)
    await anyone.api("no view passcode", "PUT", passcodes, {"view": None}, **admin)
    await anyone.api("without a passcode where none is asked", "GET", here)


async def _live(anyone: Who, here: str, admin: dict[str, str]) -> None:
    position = (await anyone.api("where changes go on from", "GET", f"{here}/changes", **admin))["position"]
    async with anyone.listening("events", f"/api/v1{here}/events?since={position}", **admin) as stream:
        await stream.until(0)
        await anyone.api("a change", "PATCH", f"{here}/items/{ITEM.format(1)}", {"done": False, "version": 5}, **admin)
        await stream.until(2)
    await anyone.api("changes", "GET", f"{here}/changes?since={position}", **admin)
    await anyone.api("changes since a bad place", "GET", f"{here}/changes?since=bad", **admin)
    await anyone.api("events since a bad place", "GET", f"{here}/events?since=bad", **admin)


async def _poll(script: Script, anyone: Who, eve: Who) -> str:
    asked = {
        "entity": "poll", "name": "Where to?", "candidates": [LAKE, HUT, CAMP], "method": "irv", "maxRankings": 2,
        "candidateDescriptions": {LAKE: "Cold"}, "expiresInDays": 90,
    }  # fmt: skip
    made = await anyone.api("a poll", "POST", "/shareables", asked)
    await anyone.api("a poll of one", "POST", "/shareables", asked | {"candidates": [LAKE]})
    await anyone.api("a poll by dice", "POST", "/shareables", asked | {"method": "dice", "seats": 0})
    poll = f"/shareables/{made['shortId']}"
    votes = f"{poll}/votes"
    await anyone.api("look at a poll", "GET", poll)
    await anyone.api("results before a vote", "GET", f"{poll}/results")
    first = await anyone.api("vote", "POST", votes, {"rankings": [LAKE]}, idempotency_key=KEY.format(4))
    await anyone.api("vote once more", "POST", votes, {"rankings": [LAKE]}, idempotency_key=KEY.format(4))
    await anyone.api("vote by a key", "POST", votes, {"rankings": [HUT], "voterKey": "browser 1"})
    await anyone.api("vote by a key again", "POST", votes, {"rankings": [HUT], "voterKey": "browser 1"})
    await anyone.api("vote for too many", "POST", votes, {"rankings": [LAKE, HUT, CAMP]})
    await anyone.api("vote for a stranger", "POST", votes, {"rankings": ["Moon"]})
    own, key = f"{votes}/{first['id']}", {"x_edit_key": first["editKey"]}
    await anyone.api("change a vote", "PUT", own, {"rankings": [LAKE, HUT]}, **key)
    await anyone.api("change a vote without the key", "PUT", own, {"rankings": [HUT]})
    await anyone.api("change a vote wrongly", "PUT", own, {"rankings": ["Moon"]}, **key)
    await anyone.api("withdraw a vote without the key", "DELETE", own)
    await anyone.api("withdraw a vote", "DELETE", own, **key)
    for rankings in UNTIED:
        await anyone.quietly(1, "POST", f"/api/v1{votes}", json={"rankings": rankings})
    position = (await anyone.api("where a poll goes on from", "GET", f"{poll}/changes"))["position"]
    async with anyone.listening("events of a poll", f"/api/v1{poll}/events?since={position}") as stream:
        await stream.until(0)
        await eve.api("a vote while somebody looks", "POST", votes, {"rankings": [LAKE]})
        await stream.until(2)
    await anyone.api("changes of a poll", "GET", f"{poll}/changes?since={position}")
    await script.settled()
    for method in ("irv", "schulze", "borda", "dice"):
        await anyone.api(f"results by {method}", "GET", f"{poll}/results?method={method}")
    await anyone.api("results as a table", "GET", f"{poll}/results.csv")
    for kind in ("blt", "csv", "json", "pdf"):
        await anyone.api(f"ballots as {kind}", "GET", f"{poll}/ballots?format={kind}")
    admin = {"authorization": f"Bearer {made['adminToken']}"}
    await anyone.api("clone a poll", "POST", f"{poll}/clone", **admin)
    await anyone.api("rename a poll", "PATCH", poll, {"name": "Where?", "version": 1}, **admin)
    await anyone.api("an item for a poll", "POST", f"{poll}/items", {"name": "X"})
    return poll


async def _clones(anyone: Who, here: str, poll: str, admin: dict[str, str], viewer: dict[str, str]) -> None:
    await anyone.api("clone as a viewer", "POST", f"{here}/clone", {"name": "Mine"})
    await anyone.api("clone", "POST", f"{here}/clone", idempotency_key=KEY.format(5), **admin)
    await anyone.api("clone once more", "POST", f"{here}/clone", idempotency_key=KEY.format(5), **admin)
    asked = {"name": "Next year", "keepTicks": True, "viewPasscode": "next year", "expiresInDays": 3}
    await anyone.api("clone with its ticks", "POST", f"{here}/clone", asked, **admin)
    await anyone.api("clone wrongly", "POST", f"{here}/clone", {"name": "", "expiresInDays": 999}, **admin)
    await anyone.api("clone a poll", "POST", f"{poll}/clone", **admin)


async def _own(ada: Who, eve: Who) -> None:
    for number in range(3):
        await ada.api("one's own", "POST", "/shareables", {"entity": "checklist", "name": f"Own {number}"})
    page = await ada.api("one's list", "GET", "/shareables?limit=2")
    await ada.api("one's list, the second part", "GET", f"/shareables?limit=2&cursor={page['nextCursor']}")
    await ada.api("one's list by a bad cursor", "GET", "/shareables?cursor=bad")
    await eve.api("another's list", "GET", "/shareables")
    there = f"/shareables/{page['items.0.shortId']}"
    await ada.api("one's own by the account", "PATCH", there, {"name": "Renamed", "version": 1})
    await eve.api("another's own", "PATCH", there, {"name": "Mine", "version": 1})
