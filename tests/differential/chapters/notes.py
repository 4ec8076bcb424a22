"""The toy: notes in shared books, by the API and by pages."""

import re

from tests.differential.script import PASSWORD, Script

NOTE = "00000000-0000-4000-8000-00000000000{}"
NEVER = "00000000-0000-4000-8000-ffffffffffff"


async def notes(script: Script) -> None:
    ada, ben, eve = [await script.person(name) for name in ("Ada", "Ben", "Eve")]
    nobody = script.program("nobody")
    book = await ada.api("open a book", "POST", "/books", {"name": "Plans"}, idempotency_key="book")
    await ada.api("open a book once more", "POST", "/books", {"name": "Plans"}, idempotency_key="book")
    await ada.api("open another by the same key", "POST", "/books", {"name": "Others"}, idempotency_key="book")
    await ada.api("open a book without a name", "POST", "/books", {"name": ""})
    await nobody.api("open a book as nobody", "POST", "/books", {"name": "Plans"})
    here = f"/books/{book['bookId']}"
    one = await ada.api("a book", "GET", here)
    await ada.api("a book unchanged", "GET", here, if_none_match=one.etag)
    await ada.api("a book with HEAD", "HEAD", here)
    await ada.api("own books", "GET", "/books")
    await eve.api("a stranger's books", "GET", "/books")
    await nobody.api("books of nobody", "GET", "/books")
    await eve.api("a stranger's look", "GET", here)
    await eve.api("a stranger's rename", "PATCH", here, {"name": "Mine", "version": 1})
    await ada.api("a book that never was", "GET", f"/books/{NEVER}")
    await ada.api("a book of a malformed id", "GET", "/books/plans")
    await ada.api("a book of an upper-case id", "GET", f"/books/{NEVER.upper()}")
    await ada.api("rename without a version", "PATCH", here, {"name": "More plans"})
    await ada.api("rename", "PATCH", here, {"name": "More plans", "version": 1})
    await ada.api("rename by an old version", "PATCH", here, {"name": "Old plans", "version": 1})
    await ada.api("rename by an old If-Match", "PATCH", here, {"name": "Old plans"}, if_match='"1"')
    await ada.api("rename by If-Match", "PATCH", here, {"name": "Other plans"}, if_match='"2"')
    await ada.api("rename by two versions", "PATCH", here, {"name": "Other plans", "version": 1}, if_match='"3"')
    await ada.api("rename by no version at all", "PATCH", here, {"name": "Other plans"}, if_match="three")
    await ada.api("rename to what it is", "PATCH", here, {"name": "Other plans", "version": 3})

    await ada.api("let Ben in", "PUT", f"{here}/members/{ben.user_id}")
    await ada.api("let Ben in again", "PUT", f"{here}/members/{ben.user_id}")
    await ben.api("let somebody in who is not an admin", "PUT", f"{here}/members/{eve.user_id}")
    await eve.api("let oneself in", "PUT", f"{here}/members/{eve.user_id}")
    await ada.api("let nobody in", "PUT", f"{here}/members/{NEVER}")
    await ada.api("put the last admin out", "DELETE", f"{here}/members/{ada.user_id}")
    await ben.api("put an admin out who is no admin", "DELETE", f"{here}/members/{ada.user_id}")

    listed = await ada.api("notes of an empty book", "GET", f"{here}/notes")
    since = listed["position"]
    # Recorded when a position was still good for everybody in the book: a step of its own would be a difference.
    his = (await ben.client.get(f"/api/v1{here}/notes")).json()["position"]
    for number in range(1, 4):
        await ada.api(
            f"add note {number}",
            "POST",
            f"{here}/notes",
            {"title": f"Note {number}", "noteId": NOTE.format(number), "text": "Text", "private": "Mine"},
            idempotency_key=f"note {number}",
        )
    await ada.api(
        "add a note once more",
        "POST",
        f"{here}/notes",
        {"title": "Note 9", "noteId": NOTE.format(9)},
        idempotency_key="9",
    )
    await ada.api(
        "add a note once more",
        "POST",
        f"{here}/notes",
        {"title": "Note 9", "noteId": NOTE.format(9)},
        idempotency_key="9",
    )
    await ada.api("add a note under a taken id", "POST", f"{here}/notes", {"title": "Again", "noteId": NOTE.format(1)})
    await ada.api("add a wrong note", "POST", f"{here}/notes", {"title": "", "noteId": "x", "text": "t" * 5001})
    await eve.api("add a note as a stranger", "POST", f"{here}/notes", {"title": "Hello"})
    await nobody.api("add a note as nobody", "POST", f"{here}/notes", {"title": "Hello"})
    await ben.api("add a note as a member", "POST", f"{here}/notes", {"title": "Ben's", "noteId": NOTE.format(8)})
    await ada.api("all notes", "GET", f"{here}/notes")
    await ben.api("all notes as another sees them", "GET", f"{here}/notes")
    await ada.api("all notes of one author", "GET", f"{here}/notes?author={ben.user_id}")
    await ada.api("all notes of nobody", "GET", f"{here}/notes?author=ben")
    first = await ada.api("first part", "GET", f"{here}/notes?limit=2")
    await ada.api("second part", "GET", f"{here}/notes?limit=2&cursor={first['nextCursor']}")
    await ben.api("somebody else's cursor", "GET", f"{here}/notes?limit=2&cursor={first['nextCursor']}")
    await ada.api("bad cursor", "GET", f"{here}/notes?cursor=bad")
    await ada.api("empty cursor", "GET", f"{here}/notes?cursor=")
    for limit in ("0", "101", "many", "-1", "1.5", ""):
        await ada.api(f"limit {limit}", "GET", f"{here}/notes?limit={limit}")
    await ada.api("limit said twice", "GET", f"{here}/notes?limit=1&limit=2")
    await ada.api("unknown parameter", "GET", f"{here}/notes?colour=red")
    await eve.api("a stranger's list", "GET", f"{here}/notes")

    note = f"{here}/notes/{NOTE.format(1)}"
    one = await ada.api("one note", "GET", note)
    await ada.api("one note unchanged", "GET", note, if_none_match=one.etag)
    await ada.api("one note unchanged among others", "GET", note, if_none_match=f'"x", {one.etag}')
    await ben.api("one note as another sees it", "GET", note, if_none_match=one.etag)
    await ada.api("a note that never was", "GET", f"{here}/notes/{NEVER}")
    await eve.api("a note for a stranger", "GET", note)
    await ada.api("change a note", "PATCH", note, {"title": "Changed", "version": 1}, idempotency_key="change")
    await ada.api(
        "change a note once more", "PATCH", note, {"title": "Changed", "version": 1}, idempotency_key="change"
    )
    await ben.api("change a note of another", "PATCH", note, {"private": "Ben's", "version": 2})
    await ada.api("change a note by an old version", "PATCH", note, {"title": "Old", "version": 1})
    await ada.api("change a note by no version", "PATCH", note, {"title": "Old"})
    await eve.api("change a note as a stranger", "PATCH", note, {"title": "Eve's", "version": 2})
    await ada.api("change nothing of a note", "PATCH", note, {"version": 2})
    await ada.api("change a note to null", "PATCH", note, {"title": None, "version": 2})
    await ada.api("changes since the beginning", "GET", f"{here}/notes/changes?since={since}")
    await ben.api("changes for another", "GET", f"{here}/notes/changes?since={his}")
    await ada.api("changes since nothing", "GET", f"{here}/notes/changes")
    await ada.api("changes since a bad place", "GET", f"{here}/notes/changes?since=bad")
    await eve.api("changes for a stranger", "GET", f"{here}/notes/changes?since={since}")
    await eve.api("events for a stranger", "GET", f"{here}/notes/events")
    await nobody.api("events for nobody", "GET", f"{here}/notes/events")
    await ada.api("events since a bad place", "GET", f"{here}/notes/events?since=bad")
    async with ben.listening("events", f"/api/v1{here}/notes/events?since={his}") as stream:
        await stream.until(6)
        await ada.api(
            "a note while somebody listens", "POST", f"{here}/notes", {"title": "Live", "noteId": NOTE.format(7)}
        )
        await stream.until(7)
        await ada.api("deleted while somebody listens", "DELETE", f"{here}/notes/{NOTE.format(7)}")
        await stream.until(8)
    async with ben.listening("events until put out", f"/api/v1{here}/notes/events") as stream:
        await stream.until(0)
        await ada.api("put Ben out", "DELETE", f"{here}/members/{ben.user_id}")
        await ada.api("a note after Ben", "POST", f"{here}/notes", {"title": "Later", "noteId": NOTE.format(6)})
        await stream.until_ended()
    await ada.api("put Ben out again", "DELETE", f"{here}/members/{ben.user_id}")
    await ben.api("a removed member's look", "GET", here)
    await ben.api("a removed member's note", "POST", f"{here}/notes", {"title": "Hello"})
    await ben.api("a removed member's changes", "GET", f"{here}/notes/changes?since={since}")
    await ada.api("delete a note by an old version", "DELETE", note, if_match='"1"')
    await eve.api("delete a note as a stranger", "DELETE", note)
    await ada.api("delete a note", "DELETE", note, idempotency_key="delete")
    await ada.api("delete a note once more", "DELETE", note, idempotency_key="delete")
    await ada.api("delete a note that is gone", "DELETE", note)
    script.clock.forward(hours=25)
    await ada.api("changes since a day ago", "GET", f"{here}/notes/changes?since={since}")
    await ada.api("by a key of the day before", "POST", "/books", {"name": "Anew"}, idempotency_key="book")


async def notes_pages(script: Script) -> None:
    ada, ben, nobody = (script.browser(name) for name in ("Ada", "Ben", "nobody"))
    for who, name in ((ada, "Ada"), (ben, "Ben")):
        form = {"name": name, "email": f"{name.lower()}@example.org", "password": PASSWORD}
        await who.form(f"{name} signs up", "/sign-up", form)
    await nobody.page("books of nobody", "/notes")
    await ada.page("no books", "/notes")
    await ada.submit("a book without a name", "/notes", {"name": ""})
    await nobody.submit("a book of nobody", "/notes", {"name": "Plans"})
    opened = await ada.submit("a book", "/notes", {"name": "Plans <b>&"})
    book = opened.location
    await ada.page("books", "/notes")
    live = (await ada.page("an empty book", book)).find(r'data-live="([^"]+)"')
    await ben.page("a book of a stranger", book)
    await nobody.page("a book for nobody", book)
    await ada.page("a book of a malformed id", "/notes/plans")
    await ada.submit("a note", f"{book}/notes", {"title": "First <script>"})
    page = await ada.page("a book with a note", book)
    note = f"{book}/notes/" + page.find(r'id="note-([0-9a-f-]{36})"')
    await ada.submit("a note without a title", f"{book}/notes", {"title": ""})
    await ada.form("a note without a title, by htmx", f"{book}/notes", {"title": ""}, hx_request="true")
    await ada.form("a note, by htmx", f"{book}/notes", {"title": "Second"}, hx_request="true")
    await ben.submit("a note of a stranger", f"{book}/notes", {"title": "Mine"})
    await ben.form("a note of a stranger, by htmx", f"{book}/notes", {"title": "Mine"}, hx_request="true")
    await nobody.form("a note of nobody, by htmx", f"{book}/notes", {"title": "Mine"}, hx_request="true")
    await ada.submit("retitle", note, {"title": "First again", "version": "1"})
    await ada.submit("retitle by an old version", note, {"title": "First before", "version": "1"})
    await ada.submit(
        "retitle by an old version, by htmx", note, {"title": "First before", "version": "1"}, hx_request="true"
    )
    await ada.form("retitle, by htmx", note, {"title": "First at last", "version": "2"}, hx_request="true")
    await ada.form("retitle to nothing, by htmx", note, {"title": "", "version": "3"}, hx_request="true")
    await ada.submit("retitle without a version", note, {"title": "X"})
    await ben.form("retitle as a stranger", note, {"title": "Mine", "version": "3"}, hx_request="true")
    async with ada.listening("events of a book", live) as stream:
        await stream.until(4)
        await ada.submit("a note while the page is open", f"{book}/notes", {"title": "Live"})
        await stream.until(5)
    await ben.page("events for a stranger", live)
    await ada.form("delete, by htmx", f"{note}/delete", hx_request="true")
    await ada.submit("delete again", f"{note}/delete")
    # Notes are listed by their ids, which are random: only one is left to be looked at.
    left = await ada.client.get(book, headers={"accept": "text/html"})
    (other,) = re.findall(r'id="note-([0-9a-f-]{36})"(?:(?!id="note-).)*?>Second<', left.text, re.DOTALL)
    await ada.submit("delete", f"{book}/notes/{other}/delete")
    await ben.submit("invite as a stranger", f"{book}/invitations")
    invited = await ada.submit("invite", f"{book}/invitations")
    secret = invited.find(r"(pli_[0-9a-f]{64})")
    await ben.form("hold the invitation", "/invitation", {"invitation": secret})
    await ben.page("the invitation", "/invitation")
    await ben.submit("come in", "/notes/invitation")
    await ben.page("the book one came into", book)
    await ben.submit("come in again", "/notes/invitation")
    await ben.page("home with a book", "/")
    await ada.submit("a book of another name, at last", "/notes", {"name": "Others"})
    await ben.page("books of two", "/notes")
    await ada.page("account of somebody with books", "/account")
    await ada.submit("delete the account of a last admin", "/account/delete", {"password": PASSWORD, "sure": "on"})
