"""Entries: what an athlete writes down, how it is found again, and that its words go with it."""

import asyncio
from uuid import UUID, uuid4

import pytest

from potluck.apps.journal.entities import Comment
from potluck.apps.journal.keywords import WORDS_AT_ONCE
from potluck.table import absent
from tests.apps.journal.gym import METRICS, Gym, data, problem
from tests.patience import until


async def test_add_entry_writes_the_entry_its_meta_and_its_words_together(gym: Gym):
    mara = await gym.person()
    entry = await gym.add_entry(mara, shared="Armbar from guard", private="Knee hurts", tags=["half guard"])
    assert (entry["version"], entry["date"]) == (1, "2040-01-01T12:00:00.000Z")
    keys = await gym.dump()
    athlete, entry_id, at = mara["userId"], entry["entryId"], "2040-01-01T12:00:00.000Z"
    words = ["armbar", "from", "gi", "guard", "half"]
    assert {key for key in keys if not key[1].startswith(("PROFILE", "COACH"))} == {
        (f"USER#{athlete}", f"ENTRY#{at}#{entry_id}"),
        (f"ENTRY#{entry_id}", "META"),
        *((f"USER#{athlete}", f"KW#{word}#TS#{at}#ENTRY#{entry_id}") for word in words),
        *((f"USER_PRIVATE#{athlete}", f"KW#{word}#TS#{at}#ENTRY#{entry_id}") for word in ["hurts", "knee"]),
    }


async def test_own_entries_are_newest_first_and_filtered_by_day_tag_gi_and_intensity(gym: Gym):
    mara = await gym.person()
    old = await gym.add_entry(mara, date="2039-03-01T18:00:00Z", tags=["Guard"], intensity=3)
    new = await gym.add_entry(mara, date="2039-03-02T18:00:00Z", giOrNoGi="no-gi", intensity=9)
    ids = [new["entryId"], old["entryId"]]

    async def listed(query: str = "") -> list[str]:
        return [each["entryId"] for each in (await gym.get(f"/entries{query}", mara))["items"]]

    assert await listed() == ids
    assert await listed("?from=2039-03-02") == ids[:1]
    assert await listed("?to=2039-03-01") == ids[1:]
    assert await listed("?tag=guard") == ids[1:]
    assert await listed("?giOrNoGi=no-gi") == ids[:1]
    assert await listed("?minIntensity=4&from=2039-01-01") == ids[:1]
    page = await gym.get("/entries?limit=1", mara)
    rest = await gym.get(f"/entries?limit=1&cursor={page['nextCursor']}", mara)
    assert [each["entryId"] for each in (*page["items"], *rest["items"])] == ids
    wrong = problem(await gym.ask("GET", "/entries?from=2039-03-02&to=2039-03-01", by=mara), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == ["to"]


async def test_change_entry_needs_the_current_version_and_changes_the_words(gym: Gym):
    mara = await gym.person()
    entry = await gym.add_entry(mara, shared="armbar", private="knee", tags=["mount"])
    after = await gym.change_entry(entry, mara, sections={"shared": "kimura"}, sessionMetrics={"rounds": 2})
    assert after["sections"] == {"shared": "kimura", "private": "knee"}
    assert after["sessionMetrics"] == METRICS | {"rounds": 2, "tags": ["mount"]}
    assert after["version"] == 2
    assert {word for kind, word in await gym.words() if kind == "USER"} == {"kimura", "mount", "gi"}
    stale = await gym.ask("PATCH", f"/entries/{entry['entryId']}", {"version": 1, "date": entry["date"]}, by=mara)
    assert problem(stale, 409, "version-conflict")["current"] == after
    none = await gym.ask("PATCH", f"/entries/{entry['entryId']}", {"sections": {}}, by=mara)
    problem(none, 428, "version-needed")
    same = await gym.change_entry(after, mara, sections={"shared": "kimura"})
    assert same == after


async def test_change_entry_moves_an_entry_to_another_date(gym: Gym):
    mara = await gym.person()
    entry = await gym.add_entry(mara, shared="armbar")
    moved = await gym.change_entry(entry, mara, date="2039-12-01T09:30:00Z")
    assert (moved["date"], moved["version"]) == ("2039-12-01T09:30:00.000Z", 2)
    assert (await gym.get("/entries", mara))["items"] == [moved]
    assert await gym.get(f"/entries/{entry['entryId']}", mara) == moved
    assert await gym.found("armbar", mara) == [entry["entryId"]]
    again = await gym.change_entry(moved, mara, sections={"shared": "mount"})
    assert again["version"] == 3
    late = await gym.ask("PATCH", f"/entries/{entry['entryId']}", {"version": 1, "date": entry["date"]}, by=mara)
    problem(late, 409, "version-conflict")


async def test_of_concurrent_change_entry_calls_one_succeeds(gym: Gym):
    mara = await gym.person()
    entry = await gym.add_entry(mara)
    changes = [
        {"date": "2039-12-01T09:30:00Z"},
        {"sections": {"shared": "mount"}},
        {"date": "2039-12-02T09:30:00Z"},
        {"sections": {"shared": "guard"}},
    ]
    path = f"/entries/{entry['entryId']}"
    answers = await asyncio.gather(*(gym.ask("PATCH", path, {"version": 1, **each}, by=mara) for each in changes))
    assert sorted(each.status_code for each in answers) == [200, 409, 409, 409]
    (done,) = (each.json() for each in answers if each.status_code == 200)
    assert (await gym.get("/entries", mara))["items"] == [done]
    wanted = {"gi", *done["sections"]["shared"].split()}

    async def indexed() -> bool:
        return {word for _, word in await gym.words()} == wanted

    # The consumer of the table's changes writes these rows.
    await until(indexed)


async def test_delete_entry_leaves_nothing_behind(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="armbar", private="knee")
    await gym.add_comment(entry, renzo)
    data(await gym.ask("DELETE", f"/entries/{entry['entryId']}", by=mara), 204)
    problem(await gym.ask("GET", f"/entries/{entry['entryId']}", by=mara), 404, "not-found")
    problem(await gym.ask("GET", f"/entries/{entry['entryId']}/comments", by=renzo), 404, "not-found")

    async def gone() -> bool:
        return not any(entry["entryId"] in part for key in await gym.dump() for part in key)

    await until(gone)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"sections": {"hidden": "x"}}, {"sections.hidden"}),
        (
            {"sessionMetrics": {**METRICS, "intensity": 11, "rounds": -1}},
            {"sessionMetrics.intensity", "sessionMetrics.rounds"},
        ),
        ({"sessionMetrics": {**METRICS, "durationMinutes": 0}}, {"sessionMetrics.durationMinutes"}),
        (
            {"sessionMetrics": {**METRICS, "durationMinutes": 1_441, "rounds": 101, "giOrNoGi": "nogi"}},
            {"sessionMetrics.durationMinutes", "sessionMetrics.rounds", "sessionMetrics.giOrNoGi"},
        ),
        ({"sessionMetrics": {**METRICS, "tags": ["x"] * 21}}, {"sessionMetrics.tags"}),
        ({"sessionMetrics": {**METRICS, "tags": ["", "x" * 41]}}, {"sessionMetrics.tags[0]", "sessionMetrics.tags[1]"}),
        (
            {"sections": {"private": "x" * 20_001, "shared": "x" * 20_001}},
            {"sections.private", "sections.shared"},
        ),
        ({"date": "2040-01-03T12:00:00Z"}, {"date"}),
        ({"date": "1812-01-03T12:00:00Z"}, {"date"}),
    ],
)  # fmt: skip
async def test_add_entry_refuses_values_beyond_their_bounds(embedded_gym: Gym, body, fields):
    mara = await embedded_gym.person()
    said = {"sections": {}, "sessionMetrics": METRICS} | body
    wrong = problem(await embedded_gym.ask("POST", "/entries", said, by=mara), 422, "invalid-fields")
    assert {each["field"] for each in wrong["errors"]} == fields
    assert await embedded_gym.dump() == {}


async def test_times_in_other_zones_are_returned_in_utc(embedded_gym: Gym):
    gym = embedded_gym
    mara = await gym.person()
    made = await gym.add_entry(mara, date="2039-03-09T18:00:00+02:00")
    assert made["date"] == "2039-03-09T16:00:00.000Z"
    changed = await gym.change_entry(made, mara, date="2039-03-10T00:30:00+02:00")
    assert changed["date"] == "2039-03-09T22:30:00.000Z" == (await gym.get("/entries", mara))["items"][0]["date"]
    early = {"sections": {}, "sessionMetrics": METRICS, "date": "1900-01-01T00:00:00+14:00"}
    problem(await gym.ask("POST", "/entries", early, by=mara), 422, "invalid-fields")


async def test_add_entry_does_not_reuse_an_id(embedded_gym: Gym):
    gym = embedded_gym
    mara, eve, chosen = await gym.person(), await gym.person("Eve"), str(uuid4())
    said = {"sections": {"private": "mine"}, "sessionMetrics": METRICS, "entryId": chosen}
    assert data(await gym.ask("POST", "/entries", said, by=mara), 201)["entryId"] == chosen
    problem(await gym.ask("POST", "/entries", said | {"sections": {}}, by=eve), 409, "already-exists")
    assert (await gym.get(f"/entries/{chosen}", mara))["sections"]["private"] == "mine"
    # Nor is it somebody's while comments are left of an entry that had it.
    left = Comment(entry_id=uuid4(), comment_id=uuid4(), coach_id=UUID(eve["userId"]), created_at=gym.clock(), body="?")
    await gym.core.store.put(left, when=absent)
    problem(await gym.ask("POST", "/entries", said | {"entryId": str(left.entry_id)}, by=mara), 409, "already-exists")


async def test_an_entry_of_thousands_of_words_is_found_by_each_of_them(gym: Gym):
    mara = await gym.person()
    many = [f"w{number}" for number in range(3_000)]
    entry = await gym.add_entry(mara, shared=" ".join(many))
    assert len(await gym.words()) >= WORDS_AT_ONCE

    async def words(wanted: set[str]) -> bool:
        return {word for _, word in await gym.words()} == wanted

    await until(lambda: words({*many, "gi"}))
    assert await gym.found("w2999", mara) == [entry["entryId"]]
    fewer = await gym.change_entry(entry, mara, sections={"shared": " ".join(many[:10])})
    # At once, though rows of words that are gone may still be there.
    assert await gym.found("w2999", mara) == []
    await gym.change_entry(fewer, mara, sections={"shared": " ".join(many[:12])})
    await until(lambda: words({*many[:12], "gi"}))
    assert await gym.found("w11", mara) == [entry["entryId"]]
