"""Library by the API: libraries, collections, books and videos, lending, sharing, search, look-up, files."""

from tests.differential.chapters.sweep import sweep
from tests.differential.elsewhere import ISBN, UNREACHABLE_ISBN
from tests.differential.script import Script, Who

__all__ = ["library"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
LIBRARY = "00000000-0000-4000-8000-0000000012{:02}"
COLLECTION = "00000000-0000-4000-8000-0000000013{:02}"
ITEM = "00000000-0000-4000-8000-0000000014{:02}"
GOODREADS = (
    "Book Id,Title,Author,ISBN,ISBN13,My Rating,Exclusive Shelf,Bookshelves\n"
    '1,"Tin (Metals, #2)",Ann Ore,"=""""","=""""",5,read,\n'
    "2,Unread,Ann Ore,,,0,to-read,to-read\n"
)


async def library(script: Script) -> None:
    ada, bo, eve = [await script.person(name) for name in ("Ada", "Bo", "Eve")]
    nobody = script.program("nobody")
    home = await _libraries(ada, bo)
    await _collections(ada, home)
    await script.settled()
    await _items(script, ada, home)
    await script.settled()
    await _lending(ada, home)
    await _shares(ada, bo, home)
    await _live(ada, home)
    await script.settled()
    await _finding(ada, bo, eve)
    await _files(script, ada, home)
    await ada.api("rename the account", "PATCH", "/me", {"name": "Ada L", "version": 1})
    await script.settled()
    await bo.api("libraries after it", "GET", "/libraries")
    await ada.api("export the account", "GET", "/me/export")
    ids = {
        "library_id": LIBRARY.format(1), "collection_id": COLLECTION.format(1), "item_id": ITEM.format(1),
        "email": "bo@example.org", "isbn": "no-isbn",
    }  # fmt: skip
    prefixes = tuple(f"/api/v1/{name}" for name in ("librar", "loans", "lookup"))
    outsiders = {"nobody": (nobody, nobody), "stranger": (eve, eve), "guest": (bo, bo)}
    await sweep(script, prefixes, ids, outsiders, {"owner": (ada, ada)})


async def _libraries(ada: Who, bo: Who) -> str:
    new = {"libraryName": " Hall <b> ", "description": "By the door", "libraryId": LIBRARY.format(1)}
    await ada.api("no libraries", "GET", "/libraries")
    await ada.api("a library", "POST", "/libraries", new, idempotency_key="library")
    await ada.api("a library once more", "POST", "/libraries", new, idempotency_key="library")
    await ada.api("a library by a taken id", "POST", "/libraries", new)
    await ada.api("a library of the same name", "POST", "/libraries", {"libraryName": "hall <B>"})
    await ada.api("a library without a name", "POST", "/libraries", {"libraryName": " "})
    await ada.api("a second library", "POST", "/libraries", {"libraryName": "Attic", "libraryId": LIBRARY.format(2)})
    home = f"/libraries/{LIBRARY.format(1)}"
    found = await ada.api("one library", "GET", home)
    await ada.api("one library unchanged", "GET", home, if_none_match=found.etag)
    await ada.api("one library with HEAD", "HEAD", home)
    await bo.api("one library for a stranger", "GET", home)
    await ada.api("rename", "PATCH", home, {"libraryName": "Hall", "description": None, "version": 1})
    await ada.api("rename by an old version", "PATCH", home, {"libraryName": "Old", "version": 1})
    await ada.api("rename by no version", "PATCH", home, {"libraryName": "Old"})
    await ada.api("rename to nothing", "PATCH", home, {"libraryName": "", "version": 2})
    await ada.api("rename to the other's", "PATCH", home, {"libraryName": "Attic", "version": 2})
    await ada.api("libraries in parts", "GET", "/libraries?limit=1")
    return home


async def _collections(ada: Who, home: str) -> None:
    here = f"{home}/collections"
    new = {"name": "Amber", "description": "Ten of them", "collectionId": COLLECTION.format(1)}
    await ada.api("a collection", "POST", here, new, idempotency_key="collection")
    await ada.api("a collection once more", "POST", here, new, idempotency_key="collection")
    await ada.api("a collection of the same name", "POST", here, {"name": " amber "})
    await ada.api("a collection without a name", "POST", here, {"name": ""})
    await ada.api("a second collection", "POST", here, {"name": "Metals", "collectionId": COLLECTION.format(2)})
    there = f"{here}/{COLLECTION.format(1)}"
    await ada.api("collections", "GET", here)
    await ada.api("one collection", "GET", there)
    await ada.api("a collection that never was", "GET", f"{here}/{NEVER}")
    await ada.api("rename a collection", "PATCH", there, {"name": "Amber, all", "version": 1})
    await ada.api("rename it by an old version", "PATCH", there, {"name": "Old", "version": 1})
    await ada.api("rename it to the other's", "PATCH", there, {"name": "Metals", "version": 2})


async def _items(script: Script, ada: Who, home: str) -> None:
    book = {
        "title": "Nine Princes", "authors": ["R. Z."], "isbn": "0-306-40615-2", "itemId": ITEM.format(1),
        "note": "Signed", "collectionId": COLLECTION.format(1),
    }  # fmt: skip
    await ada.api("a book", "POST", f"{home}/books", book, idempotency_key="book")
    await ada.api("a book once more", "POST", f"{home}/books", book, idempotency_key="book")
    await ada.api("a book by a taken id", "POST", f"{home}/books", book)
    await ada.api("a book of nothing", "POST", f"{home}/books", {})
    await ada.api("a wrong book", "POST", f"{home}/books", {"title": "", "isbn": "123", "pictureUrl": "ftp://x"})
    await ada.api("a book of no collection", "POST", f"{home}/books", {"title": "X", "collectionId": NEVER})
    for number, title in enumerate(("The Guns", "Zinc", "Ebb"), 2):
        inside = {"collectionId": COLLECTION.format(1)} if number == 2 else {}
        await ada.api("more books", "POST", f"{home}/books", {"title": title, "itemId": ITEM.format(number)} | inside)
    video = {
        "title": "Night Ferry",
        "directors": ["R. S."],
        "releaseYear": 1998,
        "duration": 104,
        "itemId": ITEM.format(9),
    }
    await ada.api("a video", "POST", f"{home}/videos", video)
    await ada.api("a wrong video", "POST", f"{home}/videos", {"title": "X", "releaseYear": 3000, "duration": 0})
    there = f"{home}/items/{ITEM.format(1)}"
    one = await ada.api("one item", "GET", there)
    await ada.api("one item unchanged", "GET", there, if_none_match=one.etag)
    await ada.api("items", "GET", f"{home}/items")
    await ada.api("items grouped", "GET", f"{home}/items?grouped=true")
    page = await ada.api("items in parts", "GET", f"{home}/items?limit=2")
    await ada.api("items, the second part", "GET", f"{home}/items?limit=2&cursor={page['nextCursor']}")
    await ada.api("all items", "GET", "/library-items?limit=3")
    version = one["version"]
    await ada.api("change an item", "PATCH", there, {"summary": "Of Amber", "version": version})
    await ada.api("change it by an old version", "PATCH", there, {"summary": "Old", "note": "Old", "version": version})
    await ada.api("change it by no version", "PATCH", there, {"summary": "Old"})
    await ada.api("change it wrongly", "PATCH", there, {"isbn": "1", "duration": 3, "version": version + 1})
    await ada.api("move it", "PATCH", f"{home}/items/{ITEM.format(3)}", {"libraryId": LIBRARY.format(2), "version": 1})
    await ada.api("move it to nowhere", "PATCH", f"{home}/items/{ITEM.format(4)}", {"libraryId": NEVER, "version": 1})
    order = f"{home}/collections/{COLLECTION.format(1)}/order"
    await ada.api("order", "PUT", order, {"itemIds": [ITEM.format(2), ITEM.format(1)]})
    await ada.api("order some", "PUT", order, {"itemIds": [NEVER]})
    await script.settled()
    await ada.api("no cover", "POST", f"{home}/items/{ITEM.format(4)}/cover")
    picture = {"pictureUrl": "https://pictures.example/x.png", "version": 1}
    await ada.api("a picture", "PATCH", f"{home}/items/{ITEM.format(4)}", picture)
    await script.settled()
    await ada.api("fetch a cover", "POST", f"{home}/items/{ITEM.format(4)}/cover")
    await ada.api("the cover", "GET", f"{home}/items/{ITEM.format(4)}/cover")
    await ada.api("no such cover", "GET", f"{home}/items/{NEVER}/cover")
    await ada.api("look up what has a title", "POST", f"{there}/look-up")
    await ada.api("a book by its ISBN", "POST", f"{home}/books", {"isbn": ISBN, "itemId": ITEM.format(7)})
    await ada.api(
        "a book that cannot be asked for", "POST", f"{home}/books", {"isbn": UNREACHABLE_ISBN, "itemId": ITEM.format(8)}
    )
    await ada.api("look up its title", "POST", f"{home}/items/{ITEM.format(8)}/look-up")


async def _lending(ada: Who, home: str) -> None:
    there = f"{home}/items/{ITEM.format(1)}"
    lent = {"to": "Ida", "until": "2040-02-01"}
    await ada.api("lend", "POST", f"{there}/lend", lent, idempotency_key="lend")
    await ada.api("lend once more", "POST", f"{there}/lend", lent, idempotency_key="lend")
    await ada.api("lend what is lent", "POST", f"{there}/lend", {"to": "Oz"})
    await ada.api("lend to nobody", "POST", f"{home}/items/{ITEM.format(2)}/lend", {"to": " "})
    await ada.api("lend another", "POST", f"{home}/items/{ITEM.format(2)}/lend", {"to": "Ida"})
    await ada.api("loans", "GET", "/loans")
    await ada.api("give back", "POST", f"{there}/return", idempotency_key="back")
    await ada.api("give back again", "POST", f"{there}/return")
    await ada.api("history", "GET", f"{there}/history")
    await ada.api("delete what is lent", "DELETE", f"{home}/items/{ITEM.format(2)}")
    await ada.api("delete an item by an old version", "DELETE", there, if_match='"1"')
    await ada.api("delete an item", "DELETE", f"{home}/items/{ITEM.format(8)}", idempotency_key="delete")
    await ada.api("delete an item once more", "DELETE", f"{home}/items/{ITEM.format(8)}", idempotency_key="delete")


async def _shares(ada: Who, bo: Who, home: str) -> None:
    shares = f"{home}/shares"
    invited = await ada.api("share", "POST", shares, {"email": "bo@example.org"})
    await ada.api("share with a bad address", "POST", shares, {"email": "bo"})
    await ada.api("share with oneself", "POST", shares, {"email": "ada@example.org"})
    await bo.api("look at it", "POST", "/invitations/look", {"token": invited["token"]})
    await bo.api("come in", "POST", "/invitations/accept", {"token": invited["token"]})
    await ada.api("shares", "GET", shares)
    await bo.api("shares for a guest", "GET", shares)
    await bo.api("libraries of a guest", "GET", "/libraries")
    await bo.api("a library for a guest", "GET", home)
    await bo.api("items for a guest", "GET", f"{home}/items")
    await bo.api("an item for a guest", "GET", f"{home}/items/{ITEM.format(2)}")
    await ada.api("share with somebody else", "POST", shares, {"email": "ida@example.org"})
    await ada.api("stop sharing", "DELETE", f"{shares}/ida@example.org", idempotency_key="stop")
    await ada.api("stop sharing again", "DELETE", f"{shares}/ida@example.org")
    await ada.api("leave one's own", "POST", f"{home}/leave")


async def _live(ada: Who, home: str) -> None:
    for label, here, change in (
        ("items", f"{home}/items", ("POST", f"{home}/books", {"title": "Followed", "itemId": ITEM.format(5)})),
        ("collections", f"{home}/collections", ("POST", f"{home}/collections", {"name": "Followed"})),
        ("loans", "/loans", ("POST", f"{home}/items/{ITEM.format(5)}/lend", {"to": "Oz"})),
    ):
        position = (await ada.api(f"{label} to follow", "GET", here))["position"]
        async with ada.listening(f"events of {label}", f"/api/v1{here}/events?since={position}") as stream:
            await stream.until(0)
            await ada.api(f"a change of {label}", *change)
            await stream.until(1)
        await ada.api(f"changes of {label}", "GET", f"{here}/changes?since={position}")
        await ada.api(f"changes of {label} since a bad place", "GET", f"{here}/changes?since=bad")


async def _finding(ada: Who, bo: Who, eve: Who) -> None:
    for query in ("q=princes", "q=prinses", "q=zinc", "q=", "q=x&limit=0", "q=nothing"):
        await ada.api(f"search {query}", "GET", f"/library-search?{query}")
    await bo.api("search of a guest", "GET", "/library-search?q=princes")
    await eve.api("search of a stranger", "GET", "/library-search?q=princes")
    for isbn in (ISBN, "0-306-40615-2", "9783161484100", UNREACHABLE_ISBN, "123"):
        await ada.api(f"look up {isbn}", "GET", f"/lookup/isbn/{isbn}")
    await ada.api("look up a film", "GET", "/lookup/video?title=Night%20Ferry")
    await ada.api("look up no film", "GET", "/lookup/video?title=Nothing")
    await ada.api("look up nothing", "GET", "/lookup/video")


async def _files(script: Script, ada: Who, home: str) -> None:
    for kind in ("csv", "json", "pdf"):
        await ada.api(f"export as {kind}", "GET", f"{home}/export?format={kind}")
    await ada.api("export", "GET", f"{home}/export")
    table = "title,authors,collection,order\nTin,Ann Ore; Bo,Metals,3\n,,,\nEbb,,,\n"
    for label, body in {
        "a table": {"text": table}, "nothing": {"text": ""}, "titles": {"text": "Lead\nIron\n", "format": "titles"},
        "ISBNs": {"text": f"{ISBN}\n9783161484100\nx\n", "format": "isbns"}, "Goodreads": {"text": GOODREADS},
        "columns": {"text": "a,b\nTin,Ann\n", "format": "csv", "columns": ["title", "authors"]},
        "wrong columns": {"text": "a,b\nTin,Ann\n", "format": "csv", "columns": ["title"]},
    }.items():  # fmt: skip
        await ada.api(f"look at {label}", "POST", f"{home}/import", body)
    await ada.api("import a table", "POST", f"{home}/import", {"text": table, "apply": True}, idempotency_key="import")
    await ada.api(
        "import it once more", "POST", f"{home}/import", {"text": table, "apply": True}, idempotency_key="import"
    )
    await ada.api("import it again", "POST", f"{home}/import", {"text": table, "apply": True})
    await script.settled()
    await ada.api("items that were imported", "GET", f"{home}/items")
    await ada.api("delete a collection", "DELETE", f"{home}/collections/{COLLECTION.format(2)}")
    await script.settled()
    await ada.api("delete it again", "DELETE", f"{home}/collections/{COLLECTION.format(2)}")
    await ada.api("delete a library where something is lent", "DELETE", home)
    await ada.api("delete a library", "DELETE", f"/libraries/{LIBRARY.format(2)}?force=true")
    await script.settled()
    await ada.api("libraries that are left", "GET", "/libraries")
