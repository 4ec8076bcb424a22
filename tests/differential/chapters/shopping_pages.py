"""Shopping by its pages: the list, what is at home, the places, the family; and all of it for whoever may not."""

from tests.differential.script import PASSWORD, Script, Who

NEVER = "00000000-0000-4000-8000-ffffffffffff"
LINE = "00000000-0000-4000-8000-0000000004{:02}"


async def shopping_pages(script: Script) -> None:
    ada, ben, eve, nobody = (script.browser(name) for name in ("Ada", "Ben", "Eve", "nobody"))
    for who, name in ((ada, "Ada"), (ben, "Ben"), (eve, "Eve")):
        form = {"name": name, "email": f"{name.lower()}@example.org", "password": PASSWORD}
        await who.form(f"{name} signs up", "/sign-up", form)
    await nobody.page("shopping for nobody", "/shopping")
    await nobody.page("offline", "/shopping/offline")
    await ada.page("no family yet", "/shopping")
    await ada.submit("a family without a name", "/shopping/families", {"name": " "})
    await nobody.submit("a family of nobody", "/shopping/families", {"name": "X"})
    home = (await ada.submit("a family", "/shopping/families", {"name": "Lund <b>Street"})).location
    await ada.page("shopping", "/shopping")
    await ada.page("an empty list", home)
    await ada.call("an empty list with HEAD", "HEAD", home)
    await ada.page("an empty list, just joined", f"{home}?joined=yes")
    await ada.page("a family that never was", f"/shopping/{NEVER}")
    await ada.page("a family of a malformed id", "/shopping/home")

    store, location = await _places(ada, home)
    thing = await _inventory(ada, home, store, location)
    await _list(ada, home, store, thing)
    await _members(ada, ben, eve, home)
    await _refusals(ben, eve, nobody, home, store, location, thing)
    invited = await ada.submit("invite once more", f"{home}/invitations", {"role": "member"})
    await ben.form("hold it", "/invitation", {"invitation": invited.find(r"(pli_[0-9a-f]{64})")})
    await ben.submit("come in once more", "/shopping/invitation")
    his = (await ben.api("Ben's id, to be removed", "GET", "/me"))["userId"]
    await ada.submit("remove Ben", f"{home}/members/{his}/remove")
    await ada.submit("delete the family unsure", f"{home}/delete")
    await ada.submit("another family", "/shopping/families", {"name": "Second"})
    await ada.page("a list of two families", home)
    await ada.page("shopping of two families", "/shopping")
    await ada.page("home with families", "/")
    await ada.submit("delete the family", f"{home}/delete", {"sure": "on"})
    await ada.page("a list that is gone", home)
    await ada.page("shopping after it", "/shopping")


async def _places(ada: Who, home: str) -> tuple[str, str]:
    stores, locations = f"{home}/stores", f"{home}/locations"
    await ada.page("no stores", stores)
    found = []
    for path, kind, more in ((stores, "store", "address"), (locations, "location", "description")):
        await ada.submit(f"add a {kind} without a name", path, {"name": "", more: "By the <river>"})
        await ada.submit(f"add a {kind}", path, {"name": "Market", more: "By the <river>"})
        await ada.submit(f"add a {kind} twice", path, {"name": "market"})
        page = await ada.page(f"stores with a {kind}", stores)
        there = page.find(rf'href="({path}/[0-9a-f-]{{36}})"')
        await ada.page(f"a {kind}", there)
        await ada.submit(f"change a {kind}", there, {"name": "Grocer", more: "", "version": "1"})
        await ada.submit(f"change a {kind} by an old version", there, {"name": "Old", more: "Mine", "version": "1"})
        await ada.submit(f"change a {kind} wrongly", there, {"name": "", "version": "2"})
        await ada.page(f"a {kind} that never was", f"{path}/{NEVER}")
        await ada.submit(f"add a {kind} to delete", path, {"name": "Another"})
        page = await ada.page(f"stores with another {kind}", stores)
        another = page.find(rf'href="({path}/(?!{there.rsplit("/", 1)[-1]})[0-9a-f-]{{36}})"')
        await ada.submit(f"delete a {kind}", f"{another}/delete")
        await ada.submit(f"delete a {kind} again", f"{another}/delete")
        found.append(there)
    return found[0], found[1]


async def _inventory(ada: Who, home: str, store: str, location: str) -> str:
    here = f"{home}/inventory"
    await ada.page("nothing at home", here)
    rice = {
        "name": "Rice", "quantity": "1", "threshold": "2", "unit": "kg", "locationId": location.rsplit("/", 1)[-1],
        "preferredStoreId": store.rsplit("/", 1)[-1],
    }  # fmt: skip
    await ada.submit("add a wrong thing", here, {"name": "", "quantity": "-1", "threshold": "x", "unit": "u" * 51})
    added = await ada.submit("add a thing", here, rice)
    thing = added.find(rf'href="({here}/[0-9a-f-]{{36}})"')
    await ada.submit("add a thing of no store", here, rice | {"name": "Salt", "preferredStoreId": NEVER})
    await ada.submit("add a second thing", here, {"name": "Salt", "quantity": "5", "threshold": "0"})
    await ada.page("a thing", thing)
    await ada.page("a thing that never was", f"{here}/{NEVER}")
    await ada.submit("change a thing", thing, rice | {"threshold": "3", "version": "1"})
    await ada.submit(
        "change a thing by an old version", thing, rice | {"name": "Old rice", "threshold": "9", "version": "1"}
    )
    await ada.submit("change a thing wrongly", thing, rice | {"quantity": "many", "version": "2"})
    await ada.submit("one more", f"{thing}/adjust", {"by": "1"})
    await ada.submit("one of nothing", f"{thing}/adjust", {"by": "x"})
    await ada.submit("a thing to the list", f"{thing}/to-list", {"quantity": "2"})
    await ada.submit("a thing to the list again", f"{thing}/to-list", {"quantity": "2"})
    await ada.submit("a thing to the list all the same", f"{thing}/to-list", {"quantity": "2", "allowDuplicate": "on"})
    await ada.submit("what runs low to the list", f"{here}/low-to-list")
    await ada.page("inventory after it", here)
    await ada.submit("archive", f"{thing}/keep", {"version": "3", "status": "archived"})
    await ada.page("inventory with an archive", here)
    await ada.submit("bring back by an old version", f"{thing}/keep", {"version": "2", "status": "active"})
    await ada.submit("bring back", f"{thing}/keep", {"version": "4", "status": "active"})
    await ada.submit("keep as nothing", f"{thing}/keep", {"version": "5", "status": "lost"})
    gone = await ada.submit("add a thing to delete", here, {"name": "Old flour", "quantity": "1", "threshold": "0"})
    gone_thing = gone.find(rf'href="({here}/[0-9a-f-]{{36}})"[^>]*>(?:(?!</a>).)*Old flour')
    await ada.submit("delete a thing", f"{gone_thing}/delete")
    await ada.submit("delete a thing again", f"{gone_thing}/delete")
    return thing


async def _list(ada: Who, home: str, store: str, thing: str) -> None:
    here = f"{home}/list"
    first, second = LINE.format(1), LINE.format(2)
    await ada.submit("add nothing", here, {"lines": ""})
    await ada.submit("add a line", here, {"lines": "2 l milk <b>", "shoppingItemId": first})
    await ada.submit(
        "add it twice by one page", here, {"lines": "2 l milk <b>", "shoppingItemId": first, "allowDuplicate": "on"}
    )
    await ada.submit("add what is on it", here, {"lines": "milk <b>", "shoppingItemId": second})
    await ada.submit(
        "add what is on it all the same", here, {"lines": "milk <b>", "shoppingItemId": second, "allowDuplicate": "on"}
    )
    await ada.submit("add several", here, {"lines": "tea\n3 eggs", "storeId": store.rsplit("/", 1)[-1]})
    await ada.submit("add a long line", here, {"lines": "n" * 101})
    await ada.submit("add several with a long line", here, {"lines": "tea\n" + "n" * 101})
    await ada.submit("add a thing by its name", here, {"lines": "salt"})
    await ada.submit("add an offer", here, {"itemId": thing.rsplit("/", 1)[-1]})
    await ada.page("the list", home)
    await ada.page("the list of a store", f"{home}?store={store.rsplit('/', 1)[-1]}")
    await ada.page("the list of any store", f"{home}?store=unassigned")
    line = f"{here}/{first}"
    await ada.page("a line", line)
    await ada.page("a line that never was", f"{here}/{NEVER}")
    await ada.submit(
        "change a line", line, {"name": "Milk", "quantity": "3", "unit": "l", "notes": "Fresh", "version": "1"}
    )
    await ada.submit(
        "change a line by an old version", line, {"name": "Oat milk", "quantity": "1", "notes": "Old", "version": "1"}
    )
    await ada.submit("change a line wrongly", line, {"name": "", "quantity": "0", "version": "2"})
    await ada.submit("count", f"{line}/quantity", {"quantity": "4", "version": "2"})
    await ada.submit("count by an old version", f"{line}/quantity", {"quantity": "9", "version": "1"})
    await ada.submit("count to nothing", f"{line}/quantity", {"quantity": "0", "version": "3"})
    await ada.submit("tick", f"{line}/status", {"status": "purchased", "version": "3"})
    await ada.submit("tick by an old version", f"{line}/status", {"status": "pending", "version": "1"})
    await ada.submit("tick as nothing", f"{line}/status", {"status": "lost", "version": "4"})
    await ada.submit("tick the other", f"{here}/{second}/status", {"status": "purchased", "version": "1"})
    await ada.submit("put away what is not bought", f"{line}/restock")
    await ada.submit("put away what is no thing", f"{here}/{second}/restock")
    offer = {"itemId": thing.rsplit("/", 1)[-1], "shoppingItemId": LINE.format(3), "allowDuplicate": "on"}
    await ada.submit("add a thing to put away", here, offer)
    third = (await ada.page("the list with a thing", home)).find(
        rf'action="({here}/(?!{first}|{second})[0-9a-f-]{{36}})/status"'
    )
    await ada.submit("buy it", f"{third}/status", {"status": "purchased", "version": "1"})
    await ada.submit("put it away", f"{third}/restock")
    cleared = await ada.submit("clear", f"{here}/clear-purchased")
    token = cleared.find(r'name="undoToken" value="([^"]+)"')
    await ada.submit("undo", f"{here}/undo", {"undoToken": token})
    await ada.submit("undo again", f"{here}/undo", {"undoToken": token})
    await ada.submit("undo nothing", f"{here}/undo", {"undoToken": "x"})
    await ada.submit("delete a line", f"{here}/{second}/delete")
    await ada.submit("delete a line again", f"{here}/{second}/delete")


async def _members(ada: Who, ben: Who, eve: Who, home: str) -> None:
    here = f"{home}/members"
    await ada.page("members", here)
    await ada.submit("invite to a bad address", f"{home}/invitations", {"role": "member", "email": "ben"})
    await ada.submit("invite as nothing", f"{home}/invitations", {"role": "owner"})
    invited = await ada.submit("invite", f"{home}/invitations", {"role": "member", "email": "ben@example.org"})
    await ben.form("hold", "/invitation", {"invitation": invited.find(r"(pli_[0-9a-f]{64})")})
    await ben.page("the invitation", "/invitation")
    await ben.submit("come in", "/shopping/invitation")
    await ada.submit("invite another", f"{home}/invitations", {"role": "admin"})
    page = await ada.page("members and an invitation", here)
    invitation = page.find(rf'action="({home}/invitations/[0-9a-f-]{{36}}/withdraw)"')
    await ben.page("members for a member", here)
    await ben.submit("withdraw as a member", invitation)
    await ada.submit("withdraw", invitation)
    await ada.submit("withdraw again", invitation)
    me = await ben.api("Ben's id", "GET", "/me")
    member = f"{here}/{me['userId']}"
    await ada.submit("make Ben an admin", f"{member}/role", {"role": "admin", "version": "1"})
    await ada.submit("make Ben a member by an old version", f"{member}/role", {"role": "member", "version": "1"})
    await ada.submit("make Ben a member", f"{member}/role", {"role": "member", "version": "2"})
    await ada.submit("make Ben nothing", f"{member}/role", {"role": "owner", "version": "3"})
    mine = (await ada.api("Ada's id", "GET", "/me"))["userId"]
    await ada.submit("make the last admin a member", f"{here}/{mine}/role", {"role": "member", "version": "1"})
    await ada.submit("leave as the last admin", f"{here}/{mine}/remove")
    await ada.submit("rename", f"{home}/name", {"name": "Lund Street 7", "version": "1"})
    await ada.submit("rename by an old version", f"{home}/name", {"name": "Old", "version": "1"})
    await ada.submit("rename to nothing", f"{home}/name", {"name": " ", "version": "2"})


async def _refusals(ben: Who, eve: Who, nobody: Who, home: str, store: str, location: str, thing: str) -> None:
    """Every page and form of a family, for a member, a stranger and nobody; then for who was a member."""
    line = f"{home}/list/{LINE.format(1)}"
    pages = (home, line, f"{home}/inventory", thing, f"{home}/stores", store, location, f"{home}/members")
    everything = {
        "name": "Theirs", "version": "1", "lines": "Milk", "status": "purchased", "quantity": "2", "role": "member",
        "by": "1", "undoToken": NEVER, "threshold": "1",
    }  # fmt: skip
    admins = (store, f"{store}/delete", location, f"{location}/delete", f"{home}/stores", f"{home}/locations",
              f"{home}/invitations", f"{home}/name", f"{home}/delete", f"{home}/members/{NEVER}/role",
              f"{home}/members/{NEVER}/remove")  # fmt: skip
    forms = (f"{home}/list", f"{line}/status", f"{line}/quantity", f"{line}/restock", f"{home}/list/clear-purchased",
             f"{home}/list/undo", line, f"{line}/delete", f"{home}/inventory", f"{thing}/adjust", f"{thing}/to-list",
             f"{home}/inventory/low-to-list", thing, f"{thing}/keep", f"{thing}/delete")  # fmt: skip

    def label(path: str) -> str:
        told = (
            path.replace(home, "")
            .replace(store[len(home) :], "/stores/{id}")
            .replace(location[len(home) :], "/locations/{id}")
        )
        return (
            told.replace(thing[len(home) :], "/inventory/{id}").replace(LINE.format(1), "{id}").replace(NEVER, "{id}")
            or "/"
        )

    for path in pages:
        await ben.page(f"member: {label(path)}", path)
        await eve.page(f"stranger: {label(path)}", path)
        await nobody.page(f"nobody: {label(path)}", path)
    for path in admins:
        await ben.form(f"member sends {label(path)}", path, everything)
    for path in (*admins, *forms):
        await eve.form(f"stranger sends {label(path)}", path, everything)
        await nobody.form(f"nobody sends {label(path)}", path, everything)
    me = (await ben.api("Ben's id, to leave", "GET", "/me"))["userId"]
    await ben.submit("leave", f"{home}/members/{me}/remove")
    for path in pages:
        await ben.page(f"former member: {label(path)}", path)
    await ben.submit("former member sends a line", f"{home}/list", everything)
