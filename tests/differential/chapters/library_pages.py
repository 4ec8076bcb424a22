"""Library by its pages: shelves, adding, items, lending, collections, sharing, search, files."""

import re

from tests.differential.chapters.sweep import sweep
from tests.differential.elsewhere import ISBN, UNREACHABLE_ISBN
from tests.differential.script import PASSWORD, Script, Who

__all__ = ["library_pages"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"


async def library_pages(script: Script) -> None:
    ada, bo, eve, nobody = (script.browser(name) for name in ("Ada", "Bo", "Eve", "nobody"))
    for who, name in ((ada, "Ada"), (bo, "Bo"), (eve, "Eve")):
        form = {"name": name, "email": f"{name.lower()}@example.org", "password": PASSWORD}
        await who.form(f"{name} signs up", "/sign-up", form)
    await nobody.page("libraries of nobody", "/library")
    await ada.page("no libraries", "/library")
    await ada.form("a library without a name", "/library", {"libraryName": " "})
    made = await ada.submit("a library", "/library", {"libraryName": "Hall <b>", "description": "By the door"})
    home = made.location.partition("?")[0]
    await ada.form("a library of the same name", "/library", {"libraryName": "Hall <b>"})
    await ada.submit("a second library", "/library", {"libraryName": "Attic"})
    await _adding(ada, home)
    await script.settled()
    shelf = await ada.page("a shelf", home)
    # The one that was added by its title, in the order of the shelf.
    item = shelf.find(rf'href="({home}/items/[0-9a-f-]{{36}})"')
    await _items(script, ada, home, item)
    collection = await _collections(script, ada, home)
    await _sharing(script, ada, bo, home)
    await _looks(ada, bo, home)
    await script.settled()
    await _live(ada, home, item, collection)
    await _files(script, ada, home)
    await ada.page("the suite's home", "/")
    ids = {
        "library_id": home.rpartition("/")[2], "item_id": item.rpartition("/")[2],
        "collection_id": collection.rpartition("/")[2],
    }  # fmt: skip
    outsiders = {"nobody": (nobody, nobody), "stranger": (eve, eve), "guest": (bo, bo)}
    await sweep(script, ("/library",), ids, outsiders, {"owner": (ada, ada)})
    await ada.submit("delete the library", f"{home}/delete", {"force": "true"})
    await ada.page("a library that is gone", home)


async def _adding(ada: Who, home: str) -> None:
    add = f"{home}/add"
    await ada.page("add page", add)
    for label, query in {
        "known": f"isbn={ISBN}", "unknown": "isbn=9783161484100", "unreachable": f"isbn={UNREACHABLE_ISBN}",
        "wrong": "isbn=123", "by hand": "hand=1&isbn=9783161484100&title=X", "film": "kind=video&title=Night+Ferry",
        "picked film": "kind=video&title=Night+Ferry&pick=603", "no film": "kind=video&title=Nothing",
    }.items():  # fmt: skip
        await ada.page(f"add page, {label}", f"{add}?{query}")
    await ada.submit("add by ISBN", f"{add}/isbn", {"isbn": ISBN})
    await ada.form("add by a wrong ISBN", f"{add}/isbn", {"isbn": "123"})
    await ada.form("add by an unknown ISBN", f"{add}/isbn", {"isbn": "9783161484100"})
    await ada.form("add by no ISBN", f"{add}/isbn")
    book = {"kind": "book", "title": "Ebb <b>", "people": "Ann Ore; Bo", "note": "Signed", "summary": "Short"}
    await ada.submit("add by hand", f"{add}/hand", book)
    await ada.form("add by hand wrongly", f"{add}/hand", book | {"title": "", "isbn": "123", "pictureUrl": "ftp://x"})
    video = {"kind": "video", "title": "Night Ferry", "people": "R. S.", "releaseYear": "1998", "duration": "104"}
    await ada.submit("add a video", f"{add}/hand", video)
    await ada.form("add a video wrongly", f"{add}/hand", video | {"releaseYear": "x", "duration": "0"})
    for title in ("Tin", "Zinc", "Ash"):
        await ada.form("add more", f"{add}/hand", {"kind": "book", "title": title})


async def _items(script: Script, ada: Who, home: str, item: str) -> None:
    await ada.page("an item", item)
    await ada.page("an item that never was", f"{home}/items/{NEVER}")
    await ada.submit("lend", f"{item}/lend", {"to": "Ida", "until": "2040-01-10"})
    await ada.form("lend what is lent", f"{item}/lend", {"to": "Oz"})
    await ada.form("lend to nobody", f"{item}/lend", {"to": ""})
    await ada.page("what is lent", "/library/lent")
    script.clock.forward(days=20)
    await ada.page("what is overdue", "/library/lent")
    await ada.page("an overdue item", item)
    await ada.page("a shelf with what is lent", f"{home}?look=list")
    await ada.submit("back", f"{item}/back")
    await ada.submit("lend again", f"{item}/lend-again", {"to": "Ida"})
    await ada.submit("back on the list", f"{item}/back-on-list")
    await ada.submit("lend it again", f"{item}/lend", {"to": "Ida"})
    await ada.submit("return", f"{item}/return")
    await ada.form("return again", f"{item}/return")
    page = await ada.page("edit page", f"{item}/edit")
    version = page.find(r'name="version" value="(\d+)"')
    edited = {"title": "Ash, again", "people": "Ann Ore", "note": "Torn", "version": version}
    await ada.submit("edit", f"{item}/edit", edited)
    await ada.form("edit by an old version", f"{item}/edit", edited | {"title": "Old", "note": "Old"})
    await ada.form("edit wrongly", f"{item}/edit", edited | {"title": "", "isbn": "x", "version": "99"})
    await ada.form("no cover", f"{item}/cover")
    page = await ada.page("edit page again", f"{item}/edit")
    version = page.find(r'name="version" value="(\d+)"')
    await ada.submit(
        "a picture", f"{item}/edit", edited | {"pictureUrl": "https://pictures.example/x.png", "version": version}
    )
    await script.settled()
    await ada.submit("fetch a cover", f"{item}/cover")
    await ada.form("look up its title", f"{item}/look-up")
    page = await ada.page("move page", f"{item}/move")
    version = page.find(r'name="version" value="(\d+)"')
    here = home.rpartition("/")[2]
    await ada.submit(
        "move into a collection", f"{item}/move", {"where": here, "collection": "Metals", "version": version}
    )
    await script.settled()
    await ada.form("move by an old version", f"{item}/move", {"where": here, "order": "1", "version": version})
    await ada.form("move to nowhere", f"{item}/move", {"where": NEVER, "version": "99"})
    await ada.page("delete page", f"{item}/delete")
    shelf = await ada.page("a shelf after all that", home)
    others = [
        path
        for path in dict.fromkeys(re.findall(rf'href="({home}/items/[0-9a-f-]{{36}})"', shelf.text))
        if path != item
    ]
    await ada.form("lend another", f"{others[0]}/lend", {"to": "Oz"})
    await ada.form("delete what is lent", f"{others[0]}/delete")
    await ada.submit("delete it all the same", f"{others[0]}/delete", {"force": "true"})
    await script.settled()
    await ada.form("delete what is gone", f"{others[0]}/delete")


async def _collections(script: Script, ada: Who, home: str) -> str:
    page = await ada.page("group page", f"{home}/group")
    ids = list(dict.fromkeys(re.findall(r'value="([0-9a-f-]{36})"', page.text)))
    await ada.form("group nothing", f"{home}/group", {"name": "Amber"})
    await ada.form("group without a name", f"{home}/group", {"name": "", "itemIds": ids[:2]})
    await ada.submit("group", f"{home}/group", {"name": "Amber", "itemIds": ids[:2]})
    await script.settled()
    shelf = await ada.page("a shelf with a collection", f"{home}?look=list")
    collection = shelf.find(rf'href="({home}/collections/[0-9a-f-]{{36}})"')
    page = await ada.page("a collection", collection)
    version = page.find(r'name="version" value="(\d+)"')
    await ada.submit("rename it", f"{collection}/rename", {"name": "Amber, all", "version": version})
    await script.settled()
    await ada.form("rename it by an old version", f"{collection}/rename", {"name": "Old", "version": version})
    await ada.form("rename it to nothing", f"{collection}/rename", {"name": "", "version": "99"})
    inside = list(dict.fromkeys(re.findall(r'id="row-([0-9a-f-]{36})"', page.text)))
    await ada.submit("order it", f"{collection}/order", {"itemIds": [*reversed(inside)]})
    await script.settled()
    await ada.form("order nothing", f"{collection}/order", {"itemIds": NEVER})
    await ada.page("a collection that never was", f"{home}/collections/{NEVER}")
    return collection


async def _sharing(script: Script, ada: Who, bo: Who, home: str) -> None:
    await ada.page("sharing", "/library/sharing")
    await ada.page("shares", f"{home}/shares")
    await ada.form("share with a bad address", f"{home}/shares", {"email": "bo"})
    shared = await ada.form("share", f"{home}/shares", {"email": "bo@example.org"})
    await bo.form("hold", "/invitation", {"invitation": shared.find(r"(pli_[0-9a-f]{64})")})
    await bo.page("the invitation", "/invitation")
    await bo.submit("come in", "/library/invitation")
    await ada.page("sharing with somebody", "/library/sharing")
    await ada.form("share with another", f"{home}/shares", {"email": "ida@example.org"})
    await ada.submit("stop sharing", f"{home}/shares/stop", {"email": "ida@example.org"})
    await ada.form("stop sharing again", f"{home}/shares/stop", {"email": "ida@example.org"})
    await bo.page("libraries of a guest", "/library")


async def _looks(ada: Who, bo: Who, home: str) -> None:
    for look in ("spines", "covers", "list", "sideways"):
        await ada.page(f"as {look}", f"{home}?look={look}")
    await bo.page("for a guest", home)
    await ada.page("titles", "/library/titles")
    await bo.page("titles of a guest", "/library/titles")
    for query in ("?q=tin", "?q=tinn", "", "?q=nothing", "?q=a&shown=60"):
        await ada.page(f"search{query}", f"/library/search{query}")
    await bo.page("search of a guest", "/library/search?q=zinc")
    await ada.page("a drawn book", "/library/spine?title=Tin&people=Ann")
    await ada.page("a drawn film", "/library/spine?kind=video&title=Ferry")
    page = await ada.page("settings", f"{home}/settings")
    version = page.find(r'name="version" value="(\d+)"')
    await ada.submit("change the settings", f"{home}/settings", {"libraryName": "Hall", "version": version})
    await ada.form("change them by an old version", f"{home}/settings", {"libraryName": "Old", "version": version})
    await ada.form("change them wrongly", f"{home}/settings", {"libraryName": "", "version": "99"})


async def _live(ada: Who, home: str, item: str, collection: str) -> None:
    number = 0
    for label, path in (
        ("the list", f"{home}/list/events"), ("spines", f"{home}/spines/events"), ("covers", f"{home}/covers/events"),
        ("a collection", f"{collection}/volumes/events"), ("what is lent", "/library/lent/events"),
    ):  # fmt: skip
        async with ada.listening(f"events of {label}", path) as stream:
            await stream.until(0)
            number += 1
            if label == "a collection":
                page = await ada.page("a collection to follow", collection)
                (first, *_) = dict.fromkeys(re.findall(rf'href="({home}/items/[0-9a-f-]{{36}})"', page.text))
                await ada.form("a change of a collection", f"{first}/lend", {"to": "Oz"})
            elif label == "what is lent":
                await ada.form("a change of what is lent", f"{item}/lend", {"to": "Oz"})
            else:
                await ada.form(f"a change of {label}", f"{home}/add/hand", {"kind": "book", "title": f"New {number}"})
            await stream.until(1)


async def _files(script: Script, ada: Who, home: str) -> None:
    here = f"{home}/import"
    await ada.page("import page", here)
    table = "title,authors,collection,order\nLead,Ann Ore; Bo,Metals,3\n,,,\nEbb <b>,,,\n"
    for label, fields in {
        "a table": {"text": table, "name": "books.csv"}, "nothing": {"text": ""}, "titles": {"text": "Lead\nIron\n"},
        "unknown columns": {"text": "a,b\nTin,Ann\n"}, "ISBNs": {"text": f"{ISBN}\n9783161484100\n"},
        "chosen columns": {"text": "a,b\nTin,Ann\n", "format": "csv", "columns": ["title", "authors"]},
        "a wrong format": {"text": "Tin", "format": "pdf"},
    }.items():  # fmt: skip
        await ada.form(f"look at {label}", here, fields)
    await ada.submit("import", f"{here}/apply", {"text": table, "name": "books.csv"})
    await ada.form("import nothing", f"{here}/apply", {"text": ""})
    await script.settled()
