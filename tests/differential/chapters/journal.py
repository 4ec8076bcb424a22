"""Journal by the API: entries, comments, coaches, search, statistics, questions, export and import."""

import json
from typing import Any

from tests.differential.chapters.sweep import sweep
from tests.differential.script import Script, Who

__all__ = ["journal", "pending_link"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
ENTRY = "00000000-0000-4000-8000-0000000008{:02}"
COMMENT = "00000000-0000-4000-8000-0000000009{:02}"
METRICS = {"durationMinutes": 60, "intensity": 5, "rounds": 3, "giOrNoGi": "gi", "tags": ["mount", "Open mat"]}


async def journal(script: Script) -> None:
    mara, renzo, eve = [await script.person(name) for name in ("Mara", "Renzo", "Eve")]
    nobody = script.program("nobody")
    await mara.api("profile", "GET", "/journal/profile")
    await mara.api("change the profile", "PATCH", "/journal/profile", {"timeZone": "Asia/Tokyo", "version": 1})
    await mara.api("change it by an old version", "PATCH", "/journal/profile", {"aiConsent": True, "version": 1})
    await mara.api("change it wrongly", "PATCH", "/journal/profile", {"timeZone": "Moon/Sea", "version": 2})
    await mara.api("change it by no version", "PATCH", "/journal/profile", {"aiConsent": True})
    await _entries(mara)
    await _links(mara, renzo, eve)
    await _comments(script, mara, renzo, eve)
    await _live(mara, renzo)
    await script.settled()
    await _questions(script, mara, renzo, eve)
    await _files(mara, eve)

    await mara.api("rename the account", "PATCH", "/me", {"name": "Mara B", "version": 1})
    await script.settled()
    await renzo.api("athletes after it", "GET", "/journal/athletes")
    asking = await script.person("Sibel")
    await pending_link(script, mara.user_id, asking.user_id)
    await mara.api("links with somebody who asks", "GET", "/journal/links")
    await mara.api("accept", "POST", f"/journal/links/{asking.user_id}/accept", {"role": "coach", "sees": "fromToday"})
    await mara.api("accept again", "POST", f"/journal/links/{asking.user_id}/accept", {"role": "coach"})
    await mara.api("accept nobody", "POST", f"/journal/links/{NEVER}/accept", {"role": "coach"})
    await mara.api("export with HEAD", "HEAD", "/journal/export")
    await mara.api("export the account", "GET", "/me/export")

    thread = await mara.api("a thread to try", "POST", "/journal/ai/threads", {"scope": "private"})
    invited = await mara.api("an invitation to try", "POST", "/journal/links", {"coachEmail": "x@example.org"})
    ids = {
        "entry_id": ENTRY.format(1), "comment_id": COMMENT.format(1), "athlete_id": mara.user_id,
        "user_id": renzo.user_id, "thread_id": thread["threadId"], "invitation_id": invited["id"],
    }  # fmt: skip
    outsiders = {"nobody": (nobody, nobody), "stranger": (eve, eve), "coach": (renzo, renzo)}
    await sweep(script, ("/api/v1/journal",), ids, outsiders, {"athlete": (mara, mara)})
    await renzo.api("a look after it ended", "GET", f"/journal/athletes/{mara.user_id}/entries")


async def pending_link(script: Script, athlete_id: str, coach_id: str) -> None:
    """A coach asks, as stores from before invitations have it."""
    now = f"{script.clock():%Y-%m-%dT%H:%M:%S}.000Z"
    said = {"status": "pending", "requestedBy": "coach", "createdAt": now, "updatedAt": now}
    attributes = {name: {"S": value} for name, value in said.items()}
    for kind, owner, other in (("COACH", athlete_id, coach_id), ("ATHLETE", coach_id, athlete_id)):
        keys = {"PK": {"S": f"USER#{owner}"}, "SK": {"S": f"{kind}#{other}"}}
        await script.application.state.engine.call("PutItem", {"TableName": "RollModel", "Item": keys | attributes})


async def _entries(mara: Who) -> None:
    here = "/journal/entries"
    new = {"sections": {"shared": "Armbar <b>.", "private": "Knee."}, "sessionMetrics": METRICS}
    first = new | {"entryId": ENTRY.format(1), "date": "2039-12-29T15:30:00Z"}
    await mara.api("no entries", "GET", here)
    await mara.api("an entry", "POST", here, first, idempotency_key="entry")
    await mara.api("an entry once more", "POST", here, first, idempotency_key="entry")
    await mara.api("another by the same key", "POST", here, new, idempotency_key="entry")
    await mara.api("an entry by a taken id", "POST", here, first)
    await mara.api("an entry of nothing", "POST", here, {})
    wrong = {"durationMinutes": 0, "intensity": 11, "rounds": -1, "giOrNoGi": "pyjamas", "tags": ["", "t" * 100]}
    await mara.api("a wrong entry", "POST", here, {"sections": {"shared": 1}, "sessionMetrics": wrong, "date": "soon"})
    await mara.api("an entry of the future", "POST", here, new | {"date": "2044-01-01T00:00:00Z"})
    for number, (text, hard, worn) in enumerate((("Kimura from guard", 8, "no-gi"), ("Open mat", 3, "both")), 2):
        metrics = METRICS | {"intensity": hard, "giOrNoGi": worn, "tags": ["guard"] if number == 2 else []}
        sections = {"shared": text, "private": "Underhook fear."}
        more = {"entryId": ENTRY.format(number), "date": f"2039-12-{20 + number}T18:00:00+01:00"}
        await mara.api("more entries", "POST", here, more | {"sections": sections, "sessionMetrics": metrics})
    there = f"{here}/{ENTRY.format(1)}"
    one = await mara.api("one entry", "GET", there)
    await mara.api("one entry unchanged", "GET", there, if_none_match=one.etag)
    await mara.api("one entry with HEAD", "HEAD", there)
    await mara.api("an entry that never was", "GET", f"{here}/{NEVER}")
    await mara.api("an entry of a malformed id", "GET", f"{here}/today")
    page = await mara.api("entries in parts", "GET", f"{here}?limit=2")
    await mara.api("entries, the second part", "GET", f"{here}?limit=2&cursor={page['nextCursor']}")
    for query in (
        "tag=mount", "giOrNoGi=no-gi", "minIntensity=6", "from=2039-12-22&to=2039-12-25",
        "from=2040-01-01&to=2039-01-01",
        "giOrNoGi=pyjamas", "minIntensity=x", "cursor=bad", "colour=red",
    ):  # fmt: skip
        await mara.api(f"entries by {query}", "GET", f"{here}?{query}")
    await mara.api("change an entry", "PATCH", there, {"sections": {"private": "Knee, better."}, "version": 1})
    await mara.api("change it by an old version", "PATCH", there, {"sections": {"shared": "Old."}, "version": 1})
    await mara.api("change it by an old If-Match", "PATCH", there, {"sections": {"shared": "Old."}}, if_match='"1"')
    await mara.api("change it by no version", "PATCH", there, {"sections": {"shared": "Old."}})
    await mara.api("change it wrongly", "PATCH", there, {"sessionMetrics": {"intensity": 0}, "version": 2})
    metrics = {"sessionMetrics": {"tags": ["mount"], "rounds": 4}, "date": "2039-12-28T15:30:00Z", "version": 2}
    await mara.api("change its numbers", "PATCH", there, metrics, idempotency_key="numbers")
    await mara.api("change its numbers once more", "PATCH", there, metrics, idempotency_key="numbers")
    await mara.api("delete an entry by an old version", "DELETE", there, if_match='"1"')
    await mara.api("an entry to delete", "POST", here, new | {"entryId": ENTRY.format(9)})
    await mara.api("delete an entry", "DELETE", f"{here}/{ENTRY.format(9)}", idempotency_key="delete")
    await mara.api("delete an entry once more", "DELETE", f"{here}/{ENTRY.format(9)}", idempotency_key="delete")
    await mara.api("delete what is gone", "DELETE", f"{here}/{ENTRY.format(9)}")


async def _links(mara: Who, renzo: Who, eve: Who) -> None:
    links = "/journal/links"
    await mara.api("no links", "GET", links)
    invited = await mara.api("ask a coach", "POST", links, {"coachEmail": "renzo@example.org"})
    await mara.api("ask nobody", "POST", links, {})
    await mara.api("ask two at once", "POST", links, {"coachEmail": "a@b.c", "athleteEmail": "a@b.c"})
    await mara.api("ask a bad address", "POST", links, {"coachEmail": "renzo"})
    await mara.api("links that were asked for", "GET", links)
    await mara.api("withdraw", "DELETE", f"{links}/invitations/{invited['id']}", idempotency_key="withdraw")
    await mara.api("withdraw again", "DELETE", f"{links}/invitations/{invited['id']}")
    await renzo.api("accept what was withdrawn", "POST", "/invitations/accept", {"token": invited["token"]})
    invited = await mara.api("ask a coach for less", "POST", links, {"coachEmail": "r@b.c", "sees": "fromToday"})
    await renzo.api("look at it", "POST", "/invitations/look", {"token": invited["token"]})
    await mara.api("accept one's own", "POST", "/invitations/accept", {"token": invited["token"]})
    await renzo.api("come in", "POST", "/invitations/accept", {"token": invited["token"]})
    await renzo.api("come in again", "POST", "/invitations/accept", {"token": invited["token"]})
    await mara.api("links", "GET", links)
    await renzo.api("links of a coach", "GET", links)
    await renzo.api("athletes", "GET", "/journal/athletes")
    there = f"/journal/athletes/{mara.user_id}/entries"
    await renzo.api("an athlete's entries from today", "GET", there)
    await mara.api("let them see everything", "PATCH", f"{links}/{renzo.user_id}", {"sees": "everything"})
    await mara.api("let them see nonsense", "PATCH", f"{links}/{renzo.user_id}", {"sees": "nothing"})
    await mara.api("let nobody see", "PATCH", f"{links}/{NEVER}", {"sees": "everything"})
    await renzo.api("an athlete's entries", "GET", there)
    await renzo.api("an athlete's entries by a tag", "GET", f"{there}?tag=mount&limit=1")
    await renzo.api("an athlete's entry", "GET", f"/journal/entries/{ENTRY.format(1)}")
    await renzo.api(
        "change an athlete's", "PATCH", f"/journal/entries/{ENTRY.format(1)}", {"version": 3, "sections": {}}
    )
    await renzo.api("have looked", "POST", f"{there}/seen", {"until": "2040-01-01T12:00:00Z"})
    await renzo.api("have looked wrongly", "POST", f"{there}/seen", {"until": "x"})
    await renzo.api("athletes after looking", "GET", "/journal/athletes")
    invited = await renzo.api("ask an athlete", "POST", links, {"athleteEmail": "eve@example.org"})
    await eve.api("be somebody's athlete", "POST", "/invitations/accept", {"token": invited["token"]})
    await eve.api("end it", "DELETE", f"{links}/{renzo.user_id}?role=coach", idempotency_key="end")
    await eve.api("end it once more", "DELETE", f"{links}/{renzo.user_id}?role=coach", idempotency_key="end")
    await eve.api("end nothing", "DELETE", f"{links}/{NEVER}")


async def _comments(script: Script, mara: Who, renzo: Who, eve: Who) -> None:
    here = f"/journal/entries/{ENTRY.format(1)}/comments"
    new = {"body": "Hips <first>.", "commentId": COMMENT.format(1)}
    await renzo.api("comment", "POST", here, new, idempotency_key="comment")
    await renzo.api("comment once more", "POST", here, new, idempotency_key="comment")
    await renzo.api("comment by a taken id", "POST", here, new)
    await renzo.api("comment with nothing", "POST", here, {"body": " "})
    await mara.api("comment on one's own", "POST", here, {"body": "Thanks.", "commentId": COMMENT.format(2)})
    await mara.api("comments", "GET", here)
    await renzo.api("comments of a coach", "GET", f"{here}?limit=1")
    await eve.api("comments for a stranger", "GET", here)
    there = f"{here}/{COMMENT.format(1)}"
    await renzo.api("change a comment", "PATCH", there, {"body": "Hips.", "version": 1})
    await renzo.api("change it by an old version", "PATCH", there, {"body": "Old.", "version": 1})
    await renzo.api("change it by no version", "PATCH", there, {"body": "Old."})
    await mara.api("change another's", "PATCH", there, {"body": "Mine.", "version": 2})
    await mara.api("hide it", "PATCH", there, {"visibility": "hiddenByAthlete", "version": 2})
    await renzo.api("hide one's own", "PATCH", there, {"visibility": "visible", "version": 3})
    await renzo.api("comments when one is hidden", "GET", here)
    await mara.api("show it", "PATCH", there, {"visibility": "visible", "version": 3})
    await mara.api("entries with comments", "GET", "/journal/entries")
    await mara.api("have seen", "POST", f"/journal/entries/{ENTRY.format(1)}/seen", {"until": "2040-01-01T12:30:00Z"})
    await mara.api("have seen nothing", "POST", f"/journal/entries/{NEVER}/seen", {})
    await mara.api("delete another's comment", "DELETE", there)
    await mara.api("delete a comment", "DELETE", f"{here}/{COMMENT.format(2)}", idempotency_key="delete comment")
    await mara.api("delete a comment again", "DELETE", f"{here}/{COMMENT.format(2)}")


async def _live(mara: Who, renzo: Who) -> None:
    entry = f"/journal/entries/{ENTRY.format(2)}"
    number = 3
    for label, here, change in (
        ("entries", "/journal/entries", ("PATCH", entry, "sections")),
        ("an athlete's entries", f"/journal/athletes/{mara.user_id}/entries", ("PATCH", entry, "sections")),
        ("comments", f"{entry}/comments", ("POST", f"{entry}/comments", "body")),
    ):
        by = renzo if "athlete" in label else mara
        position = (await by.api(f"{label} to follow", "GET", here))["position"]
        async with by.listening(f"events of {label}", f"/api/v1{here}/events?since={position}") as stream:
            await stream.until(0)
            method, path, _ = change
            version = (await mara.api(f"the entry before a change of {label}", "GET", entry))["version"]
            text = f"Kimura from guard, {number}"
            body: dict[str, Any] = {"sections": {"shared": text}, "version": version}
            if method == "POST":
                body = {"body": text, "commentId": COMMENT.format(number)}
            number += 1
            await mara.api(f"a change of {label}", method, path, body)
            await stream.until(1)
        await by.api(f"changes of {label}", "GET", f"{here}/changes?since={position}")
        await by.api(f"changes of {label} since a bad place", "GET", f"{here}/changes?since=bad")


async def _questions(script: Script, mara: Who, renzo: Who, eve: Who) -> None:
    for query in ("q=kimura", "q=knee", "q=hips", "q=kimur", "q=", "limit=1"):
        await mara.api(f"search {query}", "GET", f"/journal/search?{query}")
    await renzo.api("search an athlete's", "GET", f"/journal/search?q=kimura&athleteId={mara.user_id}")
    await renzo.api("search an athlete's private words", "GET", f"/journal/search?q=knee&athleteId={mara.user_id}")
    await eve.api("search a stranger's", "GET", f"/journal/search?q=kimura&athleteId={mara.user_id}")
    for query in ("", "?from=2039-12-01&to=2039-12-31", "?from=2040-01-01&to=2039-01-01", "?from=x"):
        await mara.api(f"stats{query}", "GET", f"/journal/stats{query}")
    await renzo.api("stats of an athlete", "GET", f"/journal/stats?athleteId={mara.user_id}")
    await eve.api("stats of a stranger", "GET", f"/journal/stats?athleteId={mara.user_id}")
    threads = "/journal/ai/threads"
    made = await mara.api("a thread", "POST", threads, {"scope": "private", "title": "Guard"}, idempotency_key="thread")
    await mara.api(
        "a thread once more", "POST", threads, {"scope": "private", "title": "Guard"}, idempotency_key="thread"
    )
    await mara.api("a thread of nothing", "POST", threads, {"scope": "all"})
    about = await renzo.api("about an athlete", "POST", threads, {"scope": "shared", "athleteId": mara.user_id})
    await eve.api("about a stranger", "POST", threads, {"scope": "shared", "athleteId": mara.user_id})
    await mara.api("threads", "GET", threads)
    there = f"{threads}/{made['threadId']}"
    await mara.api("ask", "POST", f"{there}/messages", {"content": "Where is the kimura?"}, idempotency_key="ask")
    await mara.api(
        "ask once more", "POST", f"{there}/messages", {"content": "Where is the kimura?"}, idempotency_key="ask"
    )
    await mara.api("ask what nothing knows", "POST", f"{there}/messages", {"content": "Heel hooks?"})
    await mara.api("ask nothing", "POST", f"{there}/messages", {"content": " "})
    await renzo.api(
        "ask about an athlete", "POST", f"{threads}/{about['threadId']}/messages", {"content": "knee kimura"}
    )
    await mara.api("messages", "GET", f"{there}/messages")
    await eve.api("messages of a stranger", "GET", f"{there}/messages")
    await mara.api("delete a thread", "DELETE", there)
    await mara.api("delete a thread again", "DELETE", there)


async def _files(mara: Who, eve: Who) -> None:
    file = (await mara.api("export", "GET", "/journal/export")).json
    await eve.api("look at a file", "POST", "/journal/import/preview", file)
    await eve.api("look at nothing", "POST", "/journal/import/preview", {})
    await eve.api("import", "POST", "/journal/import", file)
    await eve.api("import again", "POST", "/journal/import", file)
    await eve.api("entries that were imported", "GET", "/journal/entries")
    broken = json.loads(json.dumps(file).replace('"gi"', '"pyjamas"'))
    await eve.api("import what is broken", "POST", "/journal/import", broken)
    await eve.api("import nothing", "POST", "/journal/import", {"format": "other"})
