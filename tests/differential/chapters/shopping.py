"""Shopping by the API: families and who is in them, places, what is at home, and the list."""

from tests.differential.chapters.sweep import sweep
from tests.differential.script import Script, Who

NEVER = "00000000-0000-4000-8000-ffffffffffff"
LINE = "00000000-0000-4000-8000-0000000001{:02}"
THING = "00000000-0000-4000-8000-0000000002{:02}"


async def shopping(script: Script) -> None:
    ada, ben, cat, eve = [await script.person(name) for name in ("Ada", "Ben", "Cat", "Eve")]
    nobody = script.program("nobody")
    home = await families(ada, ben, cat, eve, nobody)
    grocer, pantry = await places(ada, ben, eve, home)
    await inventory(ada, ben, eve, home, grocer, pantry)
    await shopping_list(script, ada, ben, eve, home, grocer)
    await live(ada, ben, eve, home)
    ids = {
        "family_id": home.rpartition("/")[2], "store_id": grocer, "location_id": pantry, "item_id": THING.format(1),
        "shopping_item_id": LINE.format(1), "member_id": ben.user_id, "invitation_id": NEVER,
    }  # fmt: skip
    await sweep(script, ("/api/v1/families",), ids, {"nobody": (nobody, nobody), "stranger": (eve, eve)}, {})
    await leaving(script, ada, ben, cat, eve, nobody, home)


async def families(ada: Who, ben: Who, cat: Who, eve: Who, nobody: Who) -> str:
    await ada.api("no families", "GET", "/families")
    made = await ada.api("found a family", "POST", "/families", {"name": " Lovelace "}, idempotency_key="family")
    await ada.api("found a family once more", "POST", "/families", {"name": " Lovelace "}, idempotency_key="family")
    await ada.api("found another by the same key", "POST", "/families", {"name": "Others"}, idempotency_key="family")
    await ada.api("found a family without a name", "POST", "/families", {"name": "  "})
    await ada.api("found a family with a long name", "POST", "/families", {"name": "n" * 101})
    await ada.api("found a family with nothing", "POST", "/families", {})
    await nobody.api("found a family as nobody", "POST", "/families", {"name": "X"})
    await eve.api("a stranger founds one", "POST", "/families", {"name": "Eve's"})
    home = f"/families/{made['familyId']}"
    await ada.api("families", "GET", "/families")
    await ada.api("families with a bad limit", "GET", "/families?limit=0")
    await nobody.api("families of nobody", "GET", "/families")
    one = await ada.api("a family", "GET", home)
    await ada.api("a family unchanged", "GET", home, if_none_match=one.etag)
    await ada.api("a family with HEAD", "HEAD", home)
    await eve.api("a stranger's family", "GET", home)
    await ada.api("a family that never was", "GET", f"/families/{NEVER}")
    await ada.api("a family of a malformed id", "GET", "/families/home")
    await ada.api("rename a family without a version", "PATCH", home, {"name": "King"})
    await ada.api("rename a family", "PATCH", home, {"name": "King", "version": 1})
    await ada.api("rename a family by an old version", "PATCH", home, {"name": "Byron", "version": 1})
    await ada.api("rename a family by an old If-Match", "PATCH", home, {"name": "Byron"}, if_match='"1"')
    await ada.api("rename a family to what it is", "PATCH", home, {"name": "King"}, if_match='"2"')

    invitations = f"{home}/invitations"
    first = await ada.api("invite", "POST", invitations, {"role": "member"}, idempotency_key="invite")
    await ada.api("invite once more", "POST", invitations, {"role": "member"}, idempotency_key="invite")
    await ada.api("invite as something else", "POST", invitations, {"role": "owner"})
    await ada.api("invite with an address", "POST", invitations, {"role": "admin", "email": "dan@example.org"})
    await ada.api("invite with a bad address", "POST", invitations, {"role": "admin", "email": "dan"})
    await nobody.api("look at an invitation", "POST", "/invitations/look", {"token": first["token"]})
    await ben.api("come in", "POST", "/invitations/accept", {"token": first["token"]}, idempotency_key="in")
    await ben.api("come in once more", "POST", "/invitations/accept", {"token": first["token"]}, idempotency_key="in")
    await eve.api("come in by a used one", "POST", "/invitations/accept", {"token": first["token"]})
    second = await ada.api("invite another", "POST", invitations, {"role": "member"})
    await ben.api("come in who is in", "POST", "/invitations/accept", {"token": second["token"]})
    await cat.api("come in too", "POST", "/invitations/accept", {"token": second["token"]})
    third = await ada.api("invite a last one", "POST", invitations, {"role": "member"})
    await ada.api("invitations", "GET", invitations)
    await ben.api("invitations for a member", "GET", invitations)
    await eve.api("invitations for a stranger", "GET", invitations)
    await ben.api("invite as a member", "POST", invitations, {"role": "member"})
    await eve.api("invite as a stranger", "POST", invitations, {"role": "member"})
    await ben.api("withdraw as a member", "DELETE", f"{invitations}/{third['id']}")
    await ada.api("withdraw", "DELETE", f"{invitations}/{third['id']}", idempotency_key="withdraw")
    await ada.api("withdraw once more", "DELETE", f"{invitations}/{third['id']}", idempotency_key="withdraw")
    await ada.api("withdraw what is gone", "DELETE", f"{invitations}/{third['id']}")
    await ada.api("withdraw a malformed one", "DELETE", f"{invitations}/first")
    await eve.api("come in by a withdrawn one", "POST", "/invitations/accept", {"token": third["token"]})
    await ben.api("rename a family as a member", "PATCH", home, {"name": "Ben's", "version": 2})
    await ben.api("delete a family as a member", "DELETE", home)
    await eve.api("delete a family as a stranger", "DELETE", home)

    members = f"{home}/members"
    await ben.api("members", "GET", members)
    first_part = await ben.api("members in parts", "GET", f"{members}?limit=2")
    await ben.api("members, the second part", "GET", f"{members}?limit=2&cursor={first_part['nextCursor']}")
    await ada.api("members by another's cursor", "GET", f"{members}?limit=2&cursor={first_part['nextCursor']}")
    await eve.api("members for a stranger", "GET", members)
    await ben.api("make oneself an admin", "PATCH", f"{members}/{ben.user_id}", {"role": "admin", "version": 1})
    await ada.api("make Ben an admin", "PATCH", f"{members}/{ben.user_id}", {"role": "admin", "version": 1})
    await ada.api(
        "make Ben an admin by an old version", "PATCH", f"{members}/{ben.user_id}", {"role": "member", "version": 1}
    )
    await ada.api("make Ben an admin by no version", "PATCH", f"{members}/{ben.user_id}", {"role": "member"})
    await ada.api("make Ben something else", "PATCH", f"{members}/{ben.user_id}", {"role": "owner", "version": 2})
    await ada.api("make a stranger an admin", "PATCH", f"{members}/{eve.user_id}", {"role": "admin", "version": 1})
    await ada.api("make Ben a member", "PATCH", f"{members}/{ben.user_id}", {"role": "member"}, if_match='"2"')
    await ada.api("make the last admin a member", "PATCH", f"{members}/{ada.user_id}", {"role": "member", "version": 1})
    await ada.api("leave as the last admin", "DELETE", f"{members}/{ada.user_id}")
    await ben.api("remove an admin as a member", "DELETE", f"{members}/{ada.user_id}")
    await ada.api("remove by an old If-Match", "DELETE", f"{members}/{ben.user_id}", if_match='"1"')
    return home


async def places(ada: Who, ben: Who, eve: Who, home: str) -> tuple[str, str]:
    made = {}
    for kind, field, more, long in (
        ("stores", "storeId", "address", 101),
        ("locations", "locationId", "description", 51),
    ):
        here = f"{home}/{kind}"
        await ada.api(f"no {kind}", "GET", here)
        one = await ada.api(
            f"add to {kind}", "POST", here, {"name": "Market", more: "By the river"}, idempotency_key=kind
        )
        await ada.api(
            f"add to {kind} once more", "POST", here, {"name": "Market", more: "By the river"}, idempotency_key=kind
        )
        await ada.api(f"add to {kind} twice the same", "POST", here, {"name": " market "})
        await ada.api(f"add to {kind} without a name", "POST", here, {"name": "", more: "x" * 201})
        await ada.api(f"add to {kind} a long name", "POST", here, {"name": "n" * long})
        await ada.api(f"add to {kind} by an id", "POST", here, {"name": "Corner", field: LINE.format(90)})
        await ada.api(f"add to {kind} by a taken id", "POST", here, {"name": "Other", field: LINE.format(90)})
        await ada.api(f"add to {kind} by a malformed id", "POST", here, {"name": "Other", field: "corner"})
        await ben.api(f"add to {kind} as a member", "POST", here, {"name": "Ben's"})
        await eve.api(f"add to {kind} as a stranger", "POST", here, {"name": "Eve's"})
        await ben.api(f"all {kind}", "GET", here)
        await ben.api(f"all {kind} in parts", "GET", f"{here}?limit=1")
        await ben.api(f"all {kind} by a bad cursor", "GET", f"{here}?cursor=bad")
        await eve.api(f"all {kind} for a stranger", "GET", here)
        there = f"{here}/{one[field]}"
        found = await ben.api(f"one of {kind}", "GET", there)
        await ben.api(f"one of {kind} unchanged", "GET", there, if_none_match=found.etag)
        await eve.api(f"one of {kind} for a stranger", "GET", there)
        await ben.api(f"one of {kind} that never was", "GET", f"{here}/{NEVER}")
        await ben.api(f"one of {kind} of a malformed id", "GET", f"{here}/market")
        await ada.api(
            f"change one of {kind}", "PATCH", there, {"name": "Grocer", "version": 1}, idempotency_key=f"c {kind}"
        )
        await ada.api(
            f"change one of {kind} once more",
            "PATCH",
            there,
            {"name": "Grocer", "version": 1},
            idempotency_key=f"c {kind}",
        )
        await ada.api(f"change one of {kind} to null", "PATCH", there, {more: None, "version": 2})
        await ada.api(f"change one of {kind} to a taken name", "PATCH", there, {"name": "Corner", "version": 3})
        await ada.api(f"change one of {kind} by an old version", "PATCH", there, {"name": "Old", "version": 1})
        await ada.api(f"change one of {kind} by no version", "PATCH", there, {"name": "Old"})
        await ada.api(f"change one of {kind} to a null name", "PATCH", there, {"name": None, "version": 3})
        await ben.api(f"change one of {kind} as a member", "PATCH", there, {"name": "Old", "version": 3})
        await eve.api(f"change one of {kind} as a stranger", "PATCH", there, {"name": "Old", "version": 3})
        await ben.api(f"delete one of {kind} as a member", "DELETE", f"{here}/{LINE.format(90)}")
        await ada.api(f"delete one of {kind} by an old version", "DELETE", there, if_match='"1"')
        await ada.api(f"delete one of {kind}", "DELETE", f"{here}/{LINE.format(90)}")
        await ada.api(f"delete one of {kind} that is gone", "DELETE", f"{here}/{LINE.format(90)}")
        made[kind] = one[field]
    return made["stores"], made["locations"]


async def inventory(ada: Who, ben: Who, eve: Who, home: str, grocer: str, pantry: str) -> None:
    here = f"{home}/inventory"
    rice = {
        "itemId": THING.format(1), "name": "Rice", "quantity": 1, "threshold": 2, "unit": "kg", "locationId": pantry,
        "preferredStoreId": grocer, "alternateStoreIds": [],
    }  # fmt: skip
    await ben.api("nothing at home", "GET", here)
    await ben.api("add a thing", "POST", here, rice, idempotency_key="rice")
    await ben.api("add a thing once more", "POST", here, rice, idempotency_key="rice")
    await ben.api("add another thing by the same key", "POST", here, rice | {"name": "Salt"}, idempotency_key="rice")
    await ben.api("add a thing by a taken id", "POST", here, rice)
    await ben.api("add a thing of the same name", "POST", here, {"name": "RICE"})
    await ben.api("add a thing with only a name", "POST", here, {"itemId": THING.format(2), "name": "Salt"})
    await ben.api(
        "add a wrong thing",
        "POST",
        here,
        {"name": " ", "quantity": -1, "threshold": 100_001, "unit": "u" * 51, "locationId": "x", "preferredStoreId": 1},
    )
    await ben.api(
        "add a thing of no store", "POST", here, {"name": "Tea", "preferredStoreId": NEVER, "locationId": NEVER}
    )
    await ben.api("add a thing of half a piece", "POST", here, {"name": "Tea", "quantity": 1.5})
    await ben.api("add a thing of unknown fields", "POST", here, {"name": "Tea", "colour": "green"})
    await eve.api("add a thing as a stranger", "POST", here, {"name": "Tea"})
    await ben.api("add a third thing", "POST", here, {"itemId": THING.format(3), "name": "Älpler", "quantity": 5})
    await ben.api("things", "GET", here)
    await ben.api("things that run low", "GET", f"{here}?lowStock=true")
    await ben.api("things that are kept", "GET", f"{here}?status=active")
    await ben.api("things of no status", "GET", f"{here}?status=lost")
    await ben.api("things that run perhaps low", "GET", f"{here}?lowStock=perhaps")
    part = await ben.api("things in parts", "GET", f"{here}?limit=2")
    await ben.api("things, the second part", "GET", f"{here}?limit=2&cursor={part['nextCursor']}")
    await ben.api("things by the cursor of others", "GET", f"{here}?limit=2&lowStock=true&cursor={part['nextCursor']}")
    await eve.api("things for a stranger", "GET", here)
    there = f"{here}/{THING.format(1)}"
    one = await ben.api("a thing", "GET", there)
    await ben.api("a thing unchanged", "GET", there, if_none_match=one.etag)
    await ben.api("a thing that never was", "GET", f"{here}/{NEVER}")
    await ben.api("a thing of a malformed id", "GET", f"{here}/rice")
    await eve.api("a thing for a stranger", "GET", there)
    await ben.api("change a thing", "PATCH", there, {"threshold": 3, "unit": None, "version": 1})
    await ben.api("change a thing by an old version", "PATCH", there, {"threshold": 4, "version": 1})
    await ben.api("change a thing by an old If-Match", "PATCH", there, {"threshold": 4}, if_match='"1"')
    await ben.api("change a thing by no version", "PATCH", there, {"threshold": 4})
    await ben.api("change a thing wrongly", "PATCH", there, {"quantity": None, "status": "lost", "version": 2})
    await ben.api("change a thing to another's name", "PATCH", there, {"name": "salt", "version": 2})
    await eve.api("change a thing as a stranger", "PATCH", there, {"threshold": 4, "version": 2})
    await ben.api(
        "put a thing away for good", "PATCH", f"{here}/{THING.format(3)}", {"status": "archived", "version": 1}
    )
    await ben.api("things that are archived", "GET", f"{here}?status=archived")
    await ben.api("use up", "POST", f"{there}/adjust", {"by": -1}, idempotency_key="adjust")
    await ben.api("use up once more", "POST", f"{there}/adjust", {"by": -1}, idempotency_key="adjust")
    await ben.api("use up more than there is", "POST", f"{there}/adjust", {"by": -5})
    await ben.api("fill up", "POST", f"{there}/adjust", {"by": 3})
    await ben.api("adjust by nothing", "POST", f"{there}/adjust", {"by": 0})
    await ben.api("adjust by too much", "POST", f"{there}/adjust", {"by": 100_001})
    await ben.api("adjust what never was", "POST", f"{here}/{NEVER}/adjust", {"by": 1})
    await eve.api("adjust as a stranger", "POST", f"{there}/adjust", {"by": 1})
    await eve.api("delete a thing as a stranger", "DELETE", there)
    await ben.api("delete a thing by an old version", "DELETE", there, if_match='"1"')
    await ben.api("delete a thing", "DELETE", f"{here}/{THING.format(3)}", idempotency_key="delete thing")
    await ben.api("delete a thing once more", "DELETE", f"{here}/{THING.format(3)}", idempotency_key="delete thing")
    await ben.api("delete a thing that is gone", "DELETE", f"{here}/{THING.format(3)}")


async def shopping_list(script: Script, ada: Who, ben: Who, eve: Who, home: str, grocer: str) -> None:
    here = f"{home}/shopping-list"
    cake = {
        "shoppingItemId": LINE.format(1), "name": " Cake ", "storeId": grocer, "quantity": 1, "unit": "big",
        "notes": "For Sarah",
    }  # fmt: skip
    await ben.api("an empty list", "GET", here)
    await ben.api("add a line", "POST", here, cake, idempotency_key="cake")
    await ben.api("add a line once more", "POST", here, cake, idempotency_key="cake")
    await ben.api("add another line by the same key", "POST", here, cake | {"name": "Pie"}, idempotency_key="cake")
    await ben.api("add a line by a taken id", "POST", here, cake | {"name": "Pie"})
    await ben.api("add a line without a name", "POST", here, {})
    await ben.api("add a wrong line", "POST", here, {"name": "", "quantity": 0, "unit": "u" * 51, "notes": "n" * 501})
    await ben.api("add a line of no store", "POST", here, {"name": "Pie", "storeId": NEVER})
    await ben.api("add a line of no thing", "POST", here, {"itemId": NEVER})
    await ben.api("add a line with a line end", "POST", here, {"name": "Pie and cake\n"})
    await eve.api("add a line as a stranger", "POST", here, {"name": "Pie"})
    await ben.api(
        "add a thing to the list", "POST", here, {"itemId": THING.format(1), "shoppingItemId": LINE.format(2)}
    )
    await ben.api("add a thing that is on it", "POST", here, {"itemId": THING.format(1)})
    await ben.api(
        "add a thing that is on it all the same",
        "POST",
        here,
        {"itemId": THING.format(1), "allowDuplicate": True, "shoppingItemId": LINE.format(3), "quantity": None},
    )
    await ben.api("add a name that is on it", "POST", here, {"name": "cake", "shoppingItemId": LINE.format(4)})
    bulk = await ben.api(
        "paste", "POST", f"{here}/bulk", {"lines": "2 kg tea\n\nmilk\n3 x rice"}, idempotency_key="paste"
    )
    await ben.api(
        "paste once more", "POST", f"{here}/bulk", {"lines": "2 kg tea\n\nmilk\n3 x rice"}, idempotency_key="paste"
    )
    await ben.api("paste nothing", "POST", f"{here}/bulk", {"lines": "\n"})
    await ben.api("paste too long a line", "POST", f"{here}/bulk", {"lines": "tea\n" + "n" * 101})
    await ben.api("paste too many lines", "POST", f"{here}/bulk", {"lines": "tea\n" * 101})
    await eve.api("paste as a stranger", "POST", f"{here}/bulk", {"lines": "tea"})
    await ben.api("the list", "GET", here)
    await ben.api("what is to be bought", "GET", f"{here}?status=pending")
    await ben.api("what is to be bought at a store", "GET", f"{here}?storeId={grocer}")
    await ben.api("what is to be bought anywhere", "GET", f"{here}?storeId=unassigned")
    await ben.api("what is to be bought at a malformed store", "GET", f"{here}?storeId=grocer")
    await ben.api("the list of no status", "GET", f"{here}?status=lost")
    part = await ben.api("the list in parts", "GET", f"{here}?limit=2")
    await ben.api("the list, the second part", "GET", f"{here}?limit=2&cursor={part['nextCursor']}")
    await ben.api("the list by a bad cursor", "GET", f"{here}?cursor={part['nextCursor']}x")
    await ben.api("the list with an unknown parameter", "GET", f"{here}?colour=red")
    await eve.api("the list for a stranger", "GET", here)
    there = f"{here}/{LINE.format(1)}"
    one = await ben.api("a line", "GET", there)
    await ben.api("a line unchanged", "GET", there, if_none_match=one.etag)
    await ben.api("a line that never was", "GET", f"{here}/{NEVER}")
    await ben.api("a line of a malformed id", "GET", f"{here}/cake")
    await eve.api("a line for a stranger", "GET", there)
    await ben.api(
        "change a line", "PATCH", there, {"quantity": 2, "notes": None, "version": 1}, idempotency_key="change"
    )
    await ben.api(
        "change a line once more",
        "PATCH",
        there,
        {"quantity": 2, "notes": None, "version": 1},
        idempotency_key="change",
    )
    await ben.api("change a line by an old version", "PATCH", there, {"name": "Pie", "version": 1})
    await ben.api("change a line by an old If-Match", "PATCH", there, {"name": "Pie"}, if_match='"1"')
    await ben.api("change a line by two versions", "PATCH", there, {"name": "Pie", "version": 1}, if_match='"2"')
    await ben.api("change a line by no version", "PATCH", there, {"name": "Pie"})
    await ben.api(
        "change a line wrongly", "PATCH", there, {"name": None, "quantity": "2", "storeId": "x", "version": 2}
    )
    await ben.api("change a line to no store", "PATCH", there, {"storeId": NEVER, "version": 2})
    await eve.api("change a line as a stranger", "PATCH", there, {"name": "Pie", "version": 2})
    status = f"{there}/status"
    await ben.api("tick without a version", "PATCH", status, {"status": "purchased"})
    await ben.api("tick", "PATCH", status, {"status": "purchased", "version": 2}, idempotency_key="tick")
    await ben.api("tick once more", "PATCH", status, {"status": "purchased", "version": 2}, idempotency_key="tick")
    await ben.api("tick what is ticked", "PATCH", status, {"status": "purchased", "version": 3})
    await ben.api("tick by an old version", "PATCH", status, {"status": "pending", "version": 1})
    await ben.api("tick by an old If-Match", "PATCH", status, {"status": "pending"}, if_match='"1"')
    await ben.api("tick as something else", "PATCH", status, {"status": "lost", "version": 3})
    await eve.api("tick as a stranger", "PATCH", status, {"status": "pending", "version": 3})
    await ben.api("untick", "PATCH", status, {"status": "pending"}, if_match='"3"')
    await ben.api("tick a thing", "PATCH", f"{here}/{LINE.format(2)}/status", {"status": "purchased", "version": 1})
    await ben.api(
        "untick a thing that is on it", "PATCH", f"{here}/{LINE.format(2)}/status", {"status": "pending", "version": 2}
    )
    await ben.api("put away what is not bought", "POST", f"{there}/restock", {})
    await ben.api("put away", "POST", f"{here}/{LINE.format(2)}/restock", {"quantity": 2}, idempotency_key="restock")
    await ben.api(
        "put away once more", "POST", f"{here}/{LINE.format(2)}/restock", {"quantity": 2}, idempotency_key="restock"
    )
    await ben.api("put away what is put away", "POST", f"{here}/{LINE.format(2)}/restock", {"quantity": 2})
    await ben.api("put away too little", "POST", f"{here}/{LINE.format(2)}/restock", {"quantity": 0})
    await ben.api("put away without a body", "POST", f"{here}/{LINE.format(3)}/restock")
    await eve.api("put away as a stranger", "POST", f"{here}/{LINE.format(2)}/restock", {})
    await ben.api("tick another", "PATCH", status, {"status": "purchased", "version": 4})
    await ben.api("what was bought", "GET", f"{here}?status=purchased")
    cleared = await ben.api("clear", "POST", f"{here}/clear-purchased", idempotency_key="clear")
    await ben.api("clear once more", "POST", f"{here}/clear-purchased", idempotency_key="clear")
    await ben.api("clear nothing", "POST", f"{here}/clear-purchased")
    await eve.api("clear as a stranger", "POST", f"{here}/clear-purchased")
    await eve.api("undo as a stranger", "POST", f"{home}/undo", {"undoToken": cleared["undoToken"]})
    await ben.api("undo", "POST", f"{home}/undo", {"undoToken": cleared["undoToken"]}, idempotency_key="undo")
    await ben.api("undo once more", "POST", f"{home}/undo", {"undoToken": cleared["undoToken"]}, idempotency_key="undo")
    await ben.api("undo again", "POST", f"{home}/undo", {"undoToken": cleared["undoToken"]})
    await ben.api("undo what never was", "POST", f"{home}/undo", {"undoToken": NEVER})
    await ben.api("undo nothing", "POST", f"{home}/undo", {"undoToken": "x"})
    await ben.api("delete a line by an old version", "DELETE", there, if_match='"1"')
    await eve.api("delete a line as a stranger", "DELETE", there)
    await ben.api("delete a line", "DELETE", f"{here}/{LINE.format(4)}", idempotency_key="delete")
    await ben.api("delete a line once more", "DELETE", f"{here}/{LINE.format(4)}", idempotency_key="delete")
    await ben.api("delete a line that is gone", "DELETE", f"{here}/{LINE.format(4)}")
    await ben.api("delete a pasted line", "DELETE", f"{here}/{bulk['items.0.shoppingItemId']}", if_match='"1"')
    script.clock.forward(days=7)
    await ben.api("a line bought a week ago", "GET", there)
    await ben.api("the list after a week", "GET", here)


async def live(ada: Who, ben: Who, eve: Who, home: str) -> None:
    for kind in ("shopping-list", "inventory", "stores", "locations", "members"):
        here = f"{home}/{kind}"
        since = (await ben.api(f"{kind} to follow", "GET", here))["position"]
        if kind == "members":
            change = ("PATCH", f"{here}/{ben.user_id}", {"role": "admin", "version": 3})
            back = ("PATCH", f"{here}/{ben.user_id}", {"role": "member", "version": 4})
        else:
            change = ("POST", here, {"name": "Followed"})
            back = None
        async with ben.listening(f"events of {kind}", f"/api/v1{here}/events?since={since}") as stream:
            await stream.until(0)
            made = await ada.api(f"a change of {kind}", *change)
            await stream.until(1)
            names = {"shopping-list": "shoppingItemId", "inventory": "itemId", "stores": "storeId"}
            if back is None:
                back = ("DELETE", f"{here}/{made[names.get(kind, 'locationId')]}", None)
            await ada.api(f"another change of {kind}", *back)
            await stream.until(2)
        await ben.api(f"changes of {kind}", "GET", f"{here}/changes?since={since}")
        await ben.api(f"changes of {kind} since nothing", "GET", f"{here}/changes")
        await ben.api(f"changes of {kind} since a bad place", "GET", f"{here}/changes?since=bad")
        await eve.api(f"changes of {kind} for a stranger", "GET", f"{here}/changes?since={since}")
        await eve.api(f"events of {kind} for a stranger", "GET", f"{here}/events")
        async with ben.listening(
            f"events of {kind} from a bad place", f"/api/v1{here}/events", last_event_id="bad"
        ) as bad:
            await bad.until(1)


async def leaving(script: Script, ada: Who, ben: Who, cat: Who, eve: Who, nobody: Who, home: str) -> None:
    members = f"{home}/members"
    async with ben.listening("events until removed", f"/api/v1{home}/shopping-list/events") as stream:
        await stream.until(0)
        await ada.api("remove Ben", "DELETE", f"{members}/{ben.user_id}", idempotency_key="remove")
        await ada.api("a line without Ben", "POST", f"{home}/shopping-list", {"name": "Secret"})
        await stream.until_ended()
    await ada.api("remove Ben once more", "DELETE", f"{members}/{ben.user_id}", idempotency_key="remove")
    await ada.api("remove Ben who is gone", "DELETE", f"{members}/{ben.user_id}")
    for path in ("", "/members", "/shopping-list", "/inventory", "/stores", "/locations", "/invitations"):
        await ben.api(f"a removed member's look at {path or 'the family'}", "GET", f"{home}{path}")
        await nobody.api(f"nobody's look at {path or 'the family'}", "GET", f"{home}{path}")
    await ben.api("a removed member's line", "POST", f"{home}/shopping-list", {"name": "Hello"})
    await ben.api("a removed member's repeat", "POST", f"{home}/shopping-list/clear-purchased", idempotency_key="clear")
    await ben.api(
        "a removed member's tick",
        "PATCH",
        f"{home}/shopping-list/{LINE.format(3)}/status",
        {"status": "purchased", "version": 1},
    )
    await nobody.api("nobody's line", "POST", f"{home}/shopping-list", {"name": "Hello"})
    await nobody.api(
        "nobody's tick", "PATCH", f"{home}/shopping-list/{LINE.format(3)}/status", {"status": "purchased", "version": 1}
    )
    await ben.api("a removed member's families", "GET", "/families")
    await ada.api("members who are left", "GET", members)
    await cat.api("leave", "DELETE", f"{members}/{cat.user_id}")
    await cat.api("a look after leaving", "GET", home)
    await ada.api("delete a family by an old version", "DELETE", home, if_match='"1"')
    await ada.api("delete a family", "DELETE", home, idempotency_key="end")
    await ada.api("delete a family once more", "DELETE", home, idempotency_key="end")
    await ada.api("delete a family that is gone", "DELETE", home)
    await ada.api("a family that is gone", "GET", home)
    await ada.api("families after all", "GET", "/families")
