"""The pages of the journal without a script: forms as browsers send them, and what they are answered with."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from potluck.apps.journal.aggregation import CountedSession, statistics_of
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.pages.charts import Levels, drawn_heat, drawn_hours, drawn_intensity, drawn_split
from potluck.settings import AssistantSettings
from tests.apps.journal.gym import Gym, Person, data, gym_on
from tests.apps.journal.model_servers import KEY, model_server
from tests.apps.journal.test_private import pending_with
from tests.engine_targets import EMBEDDED
from tests.web.reading import BROWSER, fields_of
from tests.web.suites import ask, bearer

FILLED = {"durationMinutes": "75", "intensity": "6", "rounds": "4", "giOrNoGi": "no-gi", "tags": ["", "mount"]}


async def look(gym: Gym, path: str, by: Person, status: int = 200) -> str:
    answer = await gym.client.get(path, headers=bearer(by) | BROWSER)
    assert answer.status_code == status, answer.text
    return answer.text


async def send(gym: Gym, path: str, by: Person, **fields: Any) -> httpx.Response:
    return await gym.client.post(path, data=fields, headers=bearer(by) | BROWSER)


async def test_write_by_form_and_change_by_form_write_an_entry_once(gym: Gym):
    mara = await gym.person()
    page = await look(gym, "/journal", mara)
    own_id = re.search(r'name="entryId" value="([^"]+)"', page)[1]
    said = {"shared": "Armbar.", "private": "Knee.", "newTags": "Open mat, mount", "entryId": own_id}
    wrong = await send(gym, "/journal/entries", mara, **(FILLED | said | {"intensity": "", "when": "yesterday"}))
    assert wrong.status_code == 422
    assert "Choose how hard it was" in wrong.text
    assert "Enter a day and a time" not in wrong.text, "told when the numbers are right"
    assert all(each in wrong.text for each in ("Armbar.", "Knee.", own_id))
    wrong = await send(gym, "/journal/entries", mara, **(FILLED | said | {"when": "yesterday"}))
    assert "Enter a day and a time" in wrong.text
    future = await send(gym, "/journal/entries", mara, **(FILLED | said | {"when": "2044-01-01T10:00"}))
    assert "The session cannot be in the future" in future.text
    # Sent twice, it is one entry; the zone that the device said counts for what was typed.
    said |= {"when": "2039-12-30T00:30", "timeZone": "Asia/Tokyo"}
    for _ in range(2):
        saved = await send(gym, "/journal/entries", mara, **(FILLED | said))
        assert (saved.status_code, saved.headers["location"]) == (303, "/journal/entries?draft=new")
    (entry,) = (await gym.get("/entries", mara))["items"]
    assert (entry["date"], entry["entryId"]) == ("2039-12-29T15:30:00.000Z", own_id)
    assert entry["sessionMetrics"]["tags"] == ["mount", "Open mat"]
    assert (await gym.get("/profile", mara))["timeZone"] == "Asia/Tokyo"
    assert "Knee." in await look(gym, "/journal/entries?tag=mount&giOrNoGi=no-gi&minIntensity=6", mara)
    assert "No matching sessions" in await look(gym, "/journal/entries?minIntensity=7", mara)
    assert "must not come before" in await look(gym, "/journal/entries?from=2039-02-01&to=2039-01-01", mara)

    one = f"/journal/entries/{own_id}"
    form = FILLED | {"tags": "", "when": "2039-12-30T00:30", "shared": "Armbar, twice.", "private": "Knee."}
    await gym.change_entry(entry, mara, sections={"private": "Knee, and shoulder."})
    clash = await send(gym, f"{one}/edit", mara, **form, version="1")
    assert clash.status_code == 409
    assert all(each in clash.text for each in ("Knee, and shoulder.", "Armbar, twice.", 'name="version" value="2"'))
    # What was changed elsewhere meanwhile is kept; the tags that were taken away here are gone.
    chosen = fields_of(clash.text, f"{one}/edit") | {"keep:shared": "mine", "keep:tags": "mine"}
    assert (await send(gym, f"{one}/edit", mara, **chosen)).status_code == 303
    assert "Entry saved." in await look(gym, one, mara)
    changed = await gym.get(f"/entries/{own_id}", mara)
    assert (changed["date"], changed["sessionMetrics"]["tags"]) == (entry["date"], [])
    assert (await send(gym, f"{one}/delete", mara)).headers["location"] == "/journal/entries"
    assert "Entry deleted, with its comments." in await look(gym, "/journal/entries", mara)
    assert (await gym.get("/entries", mara))["items"] == []
    # An id that is somebody else's is not taken from them.
    theirs = await gym.add_entry(await gym.person("Ana"), shared="Hers.")
    assert (await send(gym, "/journal/entries", mara, **(FILLED | {"entryId": theirs["entryId"]}))).status_code == 303
    (own,) = (await gym.get("/entries", mara))["items"]
    assert own["entryId"] != theirs["entryId"]


async def test_an_entry_that_waited_on_a_device_does_not_undo_an_edit_made_elsewhere(embedded_gym: Gym):
    mara = await embedded_gym.person()
    own_id = str(uuid4())
    sent = FILLED | {"shared": "Armbar.", "entryId": own_id, "version": "1", "when": "2039-12-30T00:30"}
    address, by = "/journal/entries", bearer(mara) | {"accept": "application/json"}

    async def deliver() -> int:
        return (await embedded_gym.client.post(address, data=sent, headers=by)).status_code

    # The answer was lost, so it is sent again.
    assert [await deliver(), await deliver()] == [204, 204]
    edit = sent | {"shared": "Armbar, and a sweep."}
    assert (await send(embedded_gym, f"{address}/{own_id}/edit", mara, **edit)).status_code == 303
    assert await deliver() == 409
    (entry,) = (await embedded_gym.get("/entries", mara))["items"]
    assert (entry["sections"]["shared"], entry["version"]) == ("Armbar, and a sweep.", 2)


async def test_coaches_and_athletes_are_linked_and_parted_by_forms(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    wrong = await send(gym, "/journal/coaches/ask", mara, coachEmail="")
    assert (wrong.status_code, 'id="coach-email-error"' in wrong.text) == (422, True)
    asked = await send(gym, "/journal/coaches/ask", mara, coachEmail="renzo@example.org")
    assert asked.status_code == 200
    secret = re.search(r"/invitation#(pli_\w+)", asked.text)[1]
    listed = await look(gym, "/journal/coaches", mara)
    assert secret not in listed
    withdraw = re.search(r'action="(/journal/coaches/invitations/[^"]+/withdraw)"', listed)[1]
    assert (await send(gym, withdraw, mara)).headers["location"] == "/journal/coaches"
    assert "Invitation withdrawn." in await look(gym, "/journal/coaches", mara)
    assert (await send(gym, withdraw, mara)).status_code == 404
    asked = await send(gym, "/journal/athletes/ask", renzo, athleteEmail="mara@example.org")
    token = {"token": re.search(r"/invitation#(pli_\w+)", asked.text)[1]}
    data(await ask(gym.client, "POST", "/invitations/accept", token, by=mara))
    assert "Sees everything you share, including earlier sessions" in await look(gym, "/journal/coaches", mara)
    assert "Mara" in await look(gym, "/journal/athletes", renzo)
    narrowed = await send(gym, f"/journal/coaches/{renzo['userId']}/sees", mara, sees="fromToday")
    assert narrowed.headers["location"] == "/journal/coaches"
    assert "Saved." in await look(gym, "/journal/coaches", mara)
    ended = await send(gym, f"/journal/coaches/{renzo['userId']}/end", mara, role="coach")
    assert ended.headers["location"] == "/journal/coaches"
    await look(gym, f"/journal/athletes/{mara['userId']}", renzo, 404)
    # Somebody asks, and is refused or accepted.
    for answer, words in (("end", "You’re no longer linked"), ("accept", "You’re linked now")):
        asking = await gym.person("Sibel")
        await pending_with(gym, mara, asking)
        assert "asks to be your coach" in await look(gym, "/journal/coaches", mara)
        done = await send(gym, f"/journal/coaches/{asking['userId']}/{answer}", mara, role="coach")
        assert done.headers["location"] == "/journal/coaches"
        assert words in await look(gym, "/journal/coaches", mara)


async def test_who_answered_is_told_and_private_words_need_consent(tmp_path: Path):
    async with model_server() as server:
        settings = AssistantSettings(provider="openai", url=server.url, model="m", key=KEY)
        async with gym_on(EMBEDDED, tmp_path, assistant=settings) as gym:
            mara, renzo = await gym.coached()
            entry = await gym.add_entry(mara, shared="Lost the underhook. Kept guard.", private="Underhook fear.")
            await gym.add_comment(entry, renzo, "The underhook comes from the hips.")
            await gym.change_entry(entry, mara, sections={"shared": "Lost the underhook. Kept guard well."})
            began = await send(gym, "/journal/ask", mara, content="Where is the underhook?", scope="private")
            thread = began.headers["location"]
            page = await look(gym, thread, mara)
            assert "Answered on this server. Quotes are word for word." in page
            assert "<mark>Lost the underhook.</mark> Kept guard well." in page
            assert page.count("</svg>private</span>") == 1
            assert page.count("</svg><bdi>Renzo</bdi></span>") == 1
            assert server.requests == []
            assert "Private text and the assistant" in page
            agreed = await send(gym, "/journal/settings/profile", mara, aiConsent="true", version="1")
            assert agreed.headers["location"] == "/journal/settings"
            server.says = lambda asked: {"answer": "From <b>half guard</b>. http://evil.example/", "citations": []}
            assert (await send(gym, thread, mara, content="And where from?")).headers["location"] == f"{thread}#last"
            page = await look(gym, thread, mara)
            assert "outside this server" in page
            assert "evil.example" not in page
            assert "Underhook fear." in json.dumps(server.requests)
            server.status = 500
            await send(gym, thread, mara, content="underhook")
            assert "The remote assistant didn’t answer, so the built-in one did." in await look(gym, thread, mara)
            assert (await send(gym, thread, mara, content="")).status_code == 422
            # A coach asks about what is shared, and about nobody else's.
            about = await send(gym, "/journal/ask", renzo, content="underhook", athleteId=mara["userId"])
            assert "fear" not in await look(gym, about.headers["location"], renzo)
            assert "About <bdi>Mara</bdi>" in await look(gym, about.headers["location"], renzo)
            own = await send(gym, "/journal/ask", renzo, content="underhook", athleteId=str(uuid4()))
            assert "Nothing in the entries matches" in await look(gym, own.headers["location"], renzo)
            assert (await send(gym, f"{thread}/delete", mara)).status_code == 303
            await look(gym, thread, mara, 404)


async def test_a_file_is_pasted_looked_at_and_taken_in_without_a_script(embedded_gym: Gym):
    gym = embedded_gym
    mara, ida = await gym.person("Mara"), await gym.person("Ida")
    for day in (1, 2):
        await gym.add_entry(mara, shared=f"Session {day}", private="Knee.", date=f"2039-12-0{day}T18:00:00Z")
    file = (await send(gym, "/journal/settings/export", mara)).text
    preview = await send(gym, "/journal/settings/import", ida, file=file)
    assert "<bdi>Mara</bdi>’s journal, 1 Dec 2039 to 2 Dec 2039" in preview.text
    assert (await gym.get("/entries", ida))["items"] == []
    asked = data(await gym.ask("POST", "/import/preview", json.loads(file), by=ida))
    assert (asked["entries"], asked["alreadyHere"]) == (2, 0)
    done = await send(gym, "/journal/settings/import", ida, file=file, sure="true")
    assert "Import finished" in done.text
    assert len((await gym.get("/entries", ida))["items"]) == 2
    asked = data(await gym.ask("POST", "/import/preview", json.loads(file), by=ida))
    assert (asked["entries"], asked["alreadyHere"]) == (0, 2)
    for broken in ("", "{", "{}", file.replace('"gi"', '"pyjamas"')):
        refused = await send(gym, "/journal/settings/import", ida, file=broken)
        assert refused.status_code == 422, broken
    assert "Entry 1 of 2 (2 December 2039): gi must be" in refused.text


# --- drawings ---------------------------------------------------------------------------------------------------------

NOON = datetime(2039, 12, 30, 12, tzinfo=UTC)


def session(days_ago: int, minutes: int = 60, hard: int = 5, worn: Any = "gi") -> CountedSession:
    metrics = SessionMetrics(duration_minutes=minutes, intensity=hard, rounds=3, gi_or_no_gi=worn, tags=["mount"])
    return CountedSession(NOON - timedelta(days=days_ago), metrics)


def test_what_is_drawn_says_the_numbers_that_it_draws():
    today = NOON.date()
    sessions = [session(day, 30 + day, 1 + day % 10, ("gi", "no-gi", "both")[day % 3]) for day in range(0, 182, 7)]
    found = statistics_of(sessions, today - timedelta(days=181), today, UTC, "UTC")
    levels = Levels(found.days)
    quarters = [list(levels.by_day.values()).count(level) for level in (1, 2, 3, 4)]
    assert max(quarters) - min(quarters) <= 2
    heat = drawn_heat(found, levels, today, today)
    assert len(heat.rows) == len(sessions)
    assert heat.picture.today is not None
    assert sum(each.level > 0 for each in heat.picture.days) == len(sessions)
    assert drawn_heat(found, levels, today - timedelta(days=7), today).picture.today is None
    # Every day is told by its date, with the year if that is another; and so is a row of the table.
    assert [each.date for each in heat.picture.days if each.level][::-1] == list(heat.days)
    before = drawn_heat(found, levels, date(today.year, 1, 2), today).picture.days[-3]
    assert before.title == f"{before.date:%A}, 31 December {today.year - 1}: rest"
    hours = drawn_hours(found)
    drawn = sum(each.height for each in hours.picture.columns)
    highest = max(hours.picture.columns, key=lambda each: each.height)
    assert abs(highest.height / drawn - max(each.minutes for each in found.weeks) / found.total.minutes) < 0.01
    said, parts = drawn_split(found)
    assert sum(share for _, share in parts) == 100
    assert said.startswith("Gi ")
    hard = drawn_intensity(found)
    assert hard is not None
    assert len(hard.picture.points) == len([each for each in found.weeks if each.sessions])
    nothing = statistics_of([], date(2039, 1, 1), today, UTC, "UTC")
    assert drawn_intensity(nothing) is None
    assert drawn_split(nothing) == ("", [])
    assert drawn_hours(nothing).rows[0][1:] == ("0", "0")


async def test_what_is_new_is_marked_until_a_form_says_that_it_was_looked_at(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    gym.clock.forward(seconds=1)
    entry = await gym.add_entry(mara, "Armbar.")
    await gym.add_comment(entry, renzo)
    athlete = f"/journal/athletes/{mara['userId']}"
    for path, looked_at, by, marked in (
        (athlete, athlete, renzo, '<span class="badge">new</span>'),
        ("/journal/entries", f"/journal/entries/{entry['entryId']}", mara, "1 new comment</span>"),
    ):
        assert marked in await look(gym, path, by)
        assert ("1 new</span>" in await look(gym, "/journal/athletes", renzo)) == (by is renzo)
        until = re.search(r'name="until" value="([^"]+)"', await look(gym, looked_at, by))[1]
        done = await send(gym, f"{looked_at}/seen", by, until=until)
        assert (done.status_code, done.headers["location"]) == (303, looked_at)
        assert marked not in await look(gym, path, by)
        assert "Mark as seen" not in await look(gym, looked_at, by)


async def test_a_timeline_is_read_again_as_far_back_as_it_is_shown(embedded_gym: Gym):
    gym = embedded_gym
    mara = await gym.person()
    for week in range(30):
        await gym.add_entry(
            mara, date=f"{datetime(2039, 12, 30, tzinfo=UTC) - timedelta(weeks=week):%Y-%m-%dT%H:%M:%SZ}"
        )
    weeks = re.compile(r'<section class="week" id="week-([-\d]+)"')
    first = weeks.findall(await look(gym, "/journal/entries", mara))
    more = weeks.findall(await look(gym, f"/journal/entries?before={first[-1]}", mara))
    assert (len(first), len(more)) == (20, 10)
    assert weeks.findall(await look(gym, f"/journal/entries?downTo={more[4]}", mara)) == [*first, *more[:5]]
    assert weeks.findall(await look(gym, "/journal/entries?downTo=never", mara)) == first


async def test_an_entrys_page_with_the_key_of_drafts_and_comments_of_others_is_not_compressed(embedded_gym: Gym):
    mara = await embedded_gym.person()
    own_id = fields_of(await look(embedded_gym, "/journal", mara), "/journal/entries")["entryId"]
    await send(embedded_gym, "/journal/entries", mara, **FILLED, entryId=own_id, shared="Armbar.")
    accepts = bearer(mara) | BROWSER | {"accept-encoding": "br"}
    answer = await embedded_gym.client.get(f"/journal/entries/{own_id}", headers=accepts)
    assert "data-draft-key=" in answer.text
    assert "content-encoding" not in answer.headers
    assert answer.headers["cache-control"] == "no-store, no-transform"


async def test_athletes_page_shows_the_last_session_or_the_time_since(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    assert "No sessions yet" in await look(gym, "/journal/athletes", renzo)
    days = (gym.clock() - timedelta(days=ago) for ago in (28, 27))
    await gym.add_entry(mara, "Armbar.", date=f"{next(days):%Y-%m-%dT%H:%M:%SZ}")
    page = await look(gym, "/journal/athletes", renzo)
    assert "No session for 4 weeks" in page
    assert "“Armbar.”" not in page
    await gym.add_entry(mara, "Kimura.", date=f"{next(days):%Y-%m-%dT%H:%M:%SZ}")
    page = await look(gym, "/journal/athletes", renzo)
    assert "“Kimura.”" in page
    assert "No session for" not in page
