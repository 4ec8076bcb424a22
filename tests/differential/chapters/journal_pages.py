"""Journal by its pages: writing, the timeline, coaches and athletes, questions, statistics, settings, files."""

from tests.differential.chapters.journal import pending_link
from tests.differential.chapters.sweep import sweep
from tests.differential.script import PASSWORD, Script, Who

__all__ = ["journal_pages"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
ENTRY = "00000000-0000-4000-8000-0000000010{:02}"
COMMENT = "00000000-0000-4000-8000-0000000011{:02}"
FILLED = {
    "durationMinutes": "75", "intensity": "6", "rounds": "4", "giOrNoGi": "no-gi", "tags": ["", "mount"],
    "shared": "Armbar <b>.", "private": "Knee.", "newTags": "Open mat, guard", "when": "2039-12-30T00:30",
}  # fmt: skip


async def journal_pages(script: Script) -> None:
    mara, renzo, eve, nobody = (script.browser(name) for name in ("Mara", "Renzo", "Eve", "nobody"))
    for who, name in ((mara, "Mara"), (renzo, "Renzo"), (eve, "Eve")):
        form = {"name": name, "email": f"{name.lower()}@example.org", "password": PASSWORD}
        await who.form(f"{name} signs up", "/sign-up", form)
        who.user_id = (await who.api(f"{name}'s id", "GET", "/me"))["userId"]
    await mara.page("write", "/journal")
    await mara.page("an empty timeline", "/journal/entries")
    await mara.page("empty statistics", "/journal/stats")
    await mara.page("no athletes", "/journal/athletes")
    await mara.page("no coaches", "/journal/coaches")
    await mara.page("nothing to ask", "/journal/ask")
    await _entries(script, mara)
    await _people(script, mara, renzo, eve)
    await _comments(mara, renzo)
    await _live(mara, renzo)
    await script.settled()
    await _reading(mara, renzo)
    await _questions(mara, renzo, eve)
    await _settings(mara, eve)
    await mara.page("the suite's home", "/")
    await renzo.page("the suite's home of a coach", "/")

    thread = await mara.form("a thread to try", "/journal/ask", {"content": "mount", "scope": "private"})
    ids = {
        "entry_id": ENTRY.format(1), "comment_id": COMMENT.format(1), "athlete_id": mara.user_id,
        "user_id": renzo.user_id, "thread_id": thread.location.rpartition("/")[2].partition("#")[0],
    }  # fmt: skip
    outsiders = {"nobody": (nobody, nobody), "stranger": (eve, eve), "coach": (renzo, renzo)}
    await sweep(script, ("/journal",), ids, outsiders, {"athlete": (mara, mara)})


async def _entries(script: Script, mara: Who) -> None:
    here = "/journal/entries"
    filled = FILLED | {"entryId": ENTRY.format(1)}
    await mara.form("write nothing", here, {})
    await mara.form("write without numbers", here, filled | {"intensity": "", "durationMinutes": "x"})
    await mara.form("write of no day", here, filled | {"when": "yesterday"})
    await mara.form("write of the future", here, filled | {"when": "2044-01-01T10:00"})
    await mara.submit("write it", here, filled | {"timeZone": "Asia/Tokyo"})
    await mara.submit("write it twice", here, filled | {"timeZone": "Asia/Tokyo"})
    for number, day in enumerate(("2039-12-20T18:00", "2039-11-02T09:15", "2039-06-02T09:15"), 2):
        more = {
            "entryId": ENTRY.format(number),
            "when": day,
            "shared": f"Session {number}",
            "intensity": str(2 * number),
        }
        await mara.form("write more", here, FILLED | more)
    for query in ("", "?tag=mount&giOrNoGi=no-gi&minIntensity=6", "?minIntensity=9", "?from=2039-02-01&to=2039-01-01",
                  "?before=2039-12-01", "?downTo=2039-11-01", "?q=armbar"):  # fmt: skip
        await mara.page(f"timeline{query}", f"{here}{query}")
    there = f"{here}/{ENTRY.format(1)}"
    await mara.page("an entry", there)
    await mara.page("an entry that never was", f"{here}/{NEVER}")
    await mara.page("edit page", f"{there}/edit")
    edited = FILLED | {"shared": "Armbar, twice.", "version": "1", "newTags": ""}
    await mara.submit("edit", f"{there}/edit", edited)
    await mara.form("edit by an old version", f"{there}/edit", edited | {"private": "Old.", "tags": ""})
    await mara.form("edit wrongly", f"{there}/edit", edited | {"rounds": "-1", "version": "2"})
    await mara.submit("delete", f"{here}/{ENTRY.format(4)}/delete")
    await mara.form("delete again", f"{here}/{ENTRY.format(4)}/delete")


async def _people(script: Script, mara: Who, renzo: Who, eve: Who) -> None:
    await mara.form("ask nobody", "/journal/coaches/ask", {"coachEmail": ""})
    asked = await mara.form("ask a coach", "/journal/coaches/ask", {"coachEmail": "renzo@example.org"})
    page = await mara.page("coaches who were asked", "/journal/coaches")
    withdraw = page.find(r'action="(/journal/coaches/invitations/[^"]+/withdraw)"')
    await mara.submit("withdraw", withdraw)
    await mara.form("withdraw again", withdraw)
    asked = await mara.form(
        "ask again", "/journal/coaches/ask", {"coachEmail": "renzo@example.org", "sees": "fromToday"}
    )
    secret = asked.find(r"/invitation#(pli_\w+)")
    await renzo.form("hold", "/invitation", {"invitation": secret})
    await renzo.page("the invitation", "/invitation")
    await renzo.submit("come in", "/journal/invitation")
    await mara.page("coaches", "/journal/coaches")
    await renzo.page("athletes", "/journal/athletes")
    await renzo.page("an athlete from today", f"/journal/athletes/{mara.user_id}")
    await mara.submit("let them see everything", f"/journal/coaches/{renzo.user_id}/sees", {"sees": "everything"})
    await mara.form("let them see nonsense", f"/journal/coaches/{renzo.user_id}/sees", {"sees": "x"})
    await renzo.form("ask no athlete", "/journal/athletes/ask", {"athleteEmail": "x"})
    asked = await renzo.form("ask an athlete", "/journal/athletes/ask", {"athleteEmail": "eve@example.org"})
    await eve.form("hold another", "/invitation", {"invitation": asked.find(r"/invitation#(pli_\w+)")})
    await eve.page("the invitation of a coach", "/invitation")
    await eve.submit("be somebody's athlete", "/journal/invitation")
    await eve.submit("be it and say what they see", "/journal/invitation", {"sees": "everything"})
    await eve.submit("end it", f"/journal/coaches/{renzo.user_id}/end", {"role": "coach"})
    await eve.form("end it again", f"/journal/coaches/{renzo.user_id}/end", {"role": "coach"})
    await pending_link(script, mara.user_id, eve.user_id)
    await mara.page("coaches with somebody who asks", "/journal/coaches")
    await mara.form("accept wrongly", f"/journal/coaches/{eve.user_id}/accept", {"role": "x"})
    await mara.submit("accept", f"/journal/coaches/{eve.user_id}/accept", {"role": "coach"})
    await mara.submit("end that, too", f"/journal/coaches/{eve.user_id}/end", {"role": "coach"})


async def _comments(mara: Who, renzo: Who) -> None:
    there = f"/journal/entries/{ENTRY.format(1)}"
    await renzo.page("an athlete's entry", there)
    await renzo.page("edit an athlete's entry", f"{there}/edit")
    await renzo.form("comment with nothing", f"{there}/comments", {"body": " "})
    await renzo.submit("comment", f"{there}/comments", {"body": "Hips <first>.", "commentId": COMMENT.format(1)})
    page = await mara.page("an entry with a comment", there)
    until = page.find(r'name="until" value="([^"]+)"')
    await mara.page("timeline with a comment", "/journal/entries")
    await mara.submit("have seen", f"{there}/seen", {"until": until})
    comment = f"{there}/comments/{COMMENT.format(1)}"
    await renzo.page("edit a comment", comment)
    await mara.page("edit another's comment", comment)
    await renzo.submit("change a comment", f"{comment}/edit", {"body": "Hips.", "version": "1"})
    await renzo.form("change it by an old version", f"{comment}/edit", {"body": "Old.", "version": "1"})
    await renzo.form("change it wrongly", f"{comment}/edit", {"body": "", "version": "2"})
    await mara.submit("hide it", f"{comment}/visibility", {"visibility": "hiddenByAthlete"})
    await renzo.page("an entry whose comment is hidden", there)
    await mara.submit("show it", f"{comment}/visibility", {"visibility": "visible"})
    await mara.submit("answer", f"{there}/comments", {"body": "Thanks.", "commentId": COMMENT.format(2)})
    await mara.submit("delete a comment", f"{there}/comments/{COMMENT.format(2)}/delete")
    await renzo.page("an athlete", f"/journal/athletes/{mara.user_id}")
    until = "2040-01-01T12:00:00Z"
    await renzo.submit("have looked", f"/journal/athletes/{mara.user_id}/seen", {"until": until})


async def _live(mara: Who, renzo: Who) -> None:
    entry = f"/journal/entries/{ENTRY.format(1)}"
    version = 2
    for label, who, path in (
        ("entries", mara, "/journal/entries/events"),
        ("an athlete's entries", renzo, f"/journal/athletes/{mara.user_id}/entries/events"),
    ):
        async with who.listening(f"events of {label}", path) as stream:
            await stream.until(0)
            edited = FILLED | {"shared": f"Armbar, for {label}.", "version": str(version), "newTags": ""}
            version += 1
            await mara.form(f"a change of {label}", f"{entry}/edit", edited)
            await stream.until(1)
    async with mara.listening("events of comments", f"{entry}/comments/events") as stream:
        await stream.until(0)
        await renzo.form("a new comment", f"{entry}/comments", {"body": "More.", "commentId": COMMENT.format(3)})
        await stream.until(1)


async def _reading(mara: Who, renzo: Who) -> None:
    for query in ("", "?from=2039-12-01&to=2039-12-31", "?from=2040-01-01&to=2039-01-01", "?from=x"):
        await mara.page(f"statistics{query}", f"/journal/stats{query}")
    await renzo.page("an athlete's statistics", f"/journal/athletes/{mara.user_id}/stats")
    await mara.page("search", "/journal/entries?q=armbar")
    await renzo.page("search an athlete's", f"/journal/athletes/{mara.user_id}?q=armbar")
    await renzo.page("search an athlete's private words", f"/journal/athletes/{mara.user_id}?q=knee")
    await renzo.page("athletes to look at", "/journal/athletes")


async def _questions(mara: Who, renzo: Who, eve: Who) -> None:
    await mara.page("ask page", "/journal/ask")
    await mara.form("ask nothing", "/journal/ask", {"content": ""})
    began = await mara.submit("ask", "/journal/ask", {"content": "Where is the armbar?", "scope": "private"})
    thread = began.location.partition("#")[0]
    await mara.submit("ask more", thread, {"content": "And the mount?"})
    await mara.form("ask nothing more", thread, {"content": " "})
    await eve.page("a stranger's thread", thread)
    await renzo.page("ask page about an athlete", f"/journal/ask?athleteId={mara.user_id}")
    await renzo.submit("ask about an athlete", "/journal/ask", {"content": "armbar knee", "athleteId": mara.user_id})
    await eve.submit("ask about a stranger", "/journal/ask", {"content": "armbar", "athleteId": mara.user_id})
    await mara.page("threads", "/journal/ask")
    await mara.submit("delete a thread", f"{thread}/delete")
    await mara.page("a thread that is gone", thread)


async def _settings(mara: Who, eve: Who) -> None:
    page = await mara.page("settings", "/journal/settings")
    version = page.find(r'name="version" value="(\d+)"')
    await mara.submit(
        "change the settings", "/journal/settings/profile", {"timeZone": "Europe/Oslo", "version": version}
    )
    await mara.form(
        "change them by an old version", "/journal/settings/profile", {"timeZone": "UTC", "version": version}
    )
    await mara.form("change them wrongly", "/journal/settings/profile", {"timeZone": "Moon/Sea", "version": "9"})
    file = (await mara.form("export", "/journal/settings/export")).text
    await eve.page("import page", "/journal/settings/import")
    await eve.form("look at a file", "/journal/settings/import", {"file": file})
    await eve.form("import it", "/journal/settings/import", {"file": file, "sure": "true"})
    await eve.form("import it again", "/journal/settings/import", {"file": file, "sure": "true"})
    for label, broken in (("nothing", ""), ("half a file", "{"), ("no journal", "{}")):
        await eve.form(f"import {label}", "/journal/settings/import", {"file": broken})
    await eve.form("import what is broken", "/journal/settings/import", {"file": file.replace('"no-gi"', '"pyjamas"')})
