"""Export and import: the same journal again, and nobody can be impersonated by a file."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.apps.journal.gym import METRICS, Gym, Person, data, gym_on, problem
from tests.engine_targets import EMBEDDED
from tests.patience import until
from tests.web.suites import PASSWORD, ask

WORDS = ("armbar", "guard", "mount", "hips", "frames", "knee", "underhook", "slow", "late", "left", "again")


async def exported(gym: Gym, by: Person) -> Any:
    answer = await gym.ask("GET", "/export", by=by)
    day = answer.json()["exportedAt"][:10]
    assert answer.headers["content-disposition"] == f'attachment; filename="Journal {day}.json"'
    return data(answer)


async def imported(gym: Gym, file: Any, by: Person) -> Any:
    return data(await gym.ask("POST", "/import", file, by=by))


def same(file: Any) -> Any:
    """What an import gives again: entries, conversations and messages, without what others said."""
    entries = [{name: each[name] for name in each if name != "comments"} for each in file["entries"]]
    threads = [{name: each[name] for name in each if name != "threadId"} for each in file["threads"]]
    return entries, sorted(threads, key=json.dumps)


def made_up(count: int) -> list[Any]:
    chance = random.Random(3)
    entries = []
    for number in range(count):
        day = f"20{10 + number % 28:02}-{number % 12 + 1:02}-{number % 28 + 1:02}"
        at = f"{day}T18:{number % 60:02}:00.{number % 1000:03}Z"
        text = " ".join(chance.choices(WORDS, k=12))
        entries.append(
            {
                "entryId": f"00000000-0000-4000-8000-{number:012x}",
                "date": at,
                "createdAt": at,
                "updatedAt": at,
                "sections": {"private": text[::-1], "shared": text},
                "sessionMetrics": METRICS | {"rounds": number % 10},
                "version": number % 5 + 1,
            }
        )
    return entries


async def a_journal(gym: Gym) -> tuple[Person, Person, Any]:
    mara, renzo = await gym.coached()
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Europe/Lisbon", "aiConsent": True, "version": 1}, by=mara))
    entry = await gym.add_entry(mara, shared="Lost the underhook.", private="Knee.", date="2039-11-03T18:30:00Z")
    await gym.add_entry(mara, shared="Frames.", tags=["half guard"])
    await gym.add_comment(entry, renzo, "Hips first.\nThen frames.")
    await gym.add_comment(entry, mara, "I will try.")
    for scope in ("private", "shared"):
        thread = data(await gym.ask("POST", "/ai/threads", {"scope": scope}, by=mara), 201)["threadId"]
        for question in ("underhook", "How many hours in total hours?"):
            data(await gym.ask("POST", f"/ai/threads/{thread}/messages", {"content": question}, by=mara), 201)
    return mara, renzo, await exported(gym, mara)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["beside the first", "on another server"])
async def test_import_journal_into_an_empty_account_restores_the_export(gym: Gym, tmp_path: Path, elsewhere: bool):
    _, renzo, file = await a_journal(gym)
    if elsewhere:
        (tmp_path / "other").mkdir()
        async with gym_on(EMBEDDED, tmp_path / "other") as other:
            mara = await other.person("Mara")
            counts = await imported(other, file, mara)
            assert counts["links"] == 0
            assert same(await exported(other, mara)) == same(file)
            return
    twin = await gym.person("Twin")
    counts = await imported(gym, file, twin)
    assert counts == {"entries": 2, "comments": 2, "threads": 2, "messages": 8, "links": 1, "alreadyHere": 0}
    again = await exported(gym, twin)
    ids = {old["entryId"]: new["entryId"] for old, new in zip(file["entries"], again["entries"], strict=True)}
    assert ids.keys().isdisjoint(ids.values()), "those ids are another's"
    moved = json.dumps(file)
    for old, new in ids.items():
        moved = moved.replace(old, new)
    assert same(again) == same(json.loads(moved))
    assert again["profile"]["timeZone"] == "Europe/Lisbon"
    assert not again["profile"]["aiConsent"]
    # What others said is a quotation by whoever imports; what one said oneself is as it was.
    bodies = {each["body"]: each["coachId"] for entry in again["entries"] for each in entry["comments"]}
    assert bodies == {
        "Renzo wrote on 1 January 2040:\n> Hips first.\n> Then frames.": twin["userId"],
        "I will try.": twin["userId"],
    }
    (asks,) = [each for each in (await gym.get("/links", renzo))["items"] if each["userId"] == twin["userId"]]
    assert (asks["name"], asks["status"], asks["role"]) == ("Twin", "pending", "athlete")
    problem(await gym.ask("GET", f"/athletes/{twin['userId']}/entries", by=renzo), 404, "not-found")
    assert await gym.found("underhook", twin) == [ids[file["entries"][1]["entryId"]]]
    repeated = await imported(gym, file, twin)
    assert (repeated["alreadyHere"], repeated["entries"], repeated["threads"], repeated["links"]) == (4, 0, 0, 0)
    assert await exported(gym, twin) == again | {"exportedAt": (await exported(gym, twin))["exportedAt"]}


@pytest.mark.parametrize("count", [200, pytest.param(5_000, marks=pytest.mark.soak)])
async def test_import_journal_restores_thousands_of_entries(tmp_path: Path, count: int):
    profile = {"userId": "00000000-0000-4000-8000-0000000000aa", "name": "Mara"}
    file = {
        "format": "roll-model-journal",
        "version": 1,
        "exportedAt": "2039-01-01T00:00:00Z",
        "profile": profile,
        "entries": made_up(count),
    }
    async with gym_on(EMBEDDED, tmp_path) as gym:
        mara, other = await gym.person("Mara"), await gym.person("Other")
        assert (await imported(gym, file, mara))["entries"] == count
        first = await exported(gym, mara)
        assert len(first["entries"]) == count
        data(await ask(gym.client, "POST", "/me/delete", {"password": PASSWORD}, by=mara), 204)
        assert (await imported(gym, first, other))["entries"] == count
        second = await exported(gym, other)
        assert second["entries"] == first["entries"]


async def test_a_file_may_be_larger_than_other_bodies_but_not_without_end(embedded_gym: Gym):
    gym = embedded_gym
    mara, _, file = await a_journal(gym)
    (entry,) = file["entries"][:1]
    long = entry["sections"] | {"private": "word " * 3_900}
    many = [entry | {"sections": long, "entryId": f"00000000-0000-4000-8000-{each:012x}"} for each in range(80)]
    assert (await imported(gym, file | {"entries": many}, mara))["entries"] == 80
    assert len(json.dumps(many)) > 1_500_000
    problem(await gym.ask("POST", "/import", file | {"entries": many * 7}, by=mara), 413, "too-large")


async def test_import_journal_refuses_other_files_and_writes_nothing(embedded_gym: Gym):
    gym = embedded_gym
    _, _, file = await a_journal(gym)
    twin = await gym.person("Twin")
    before = await gym.dump()
    file["entries"][0]["sessionMetrics"]["intensity"] = 11
    file["entries"][1]["date"] = "2050-01-01T00:00:00Z"
    wrong = problem(await gym.ask("POST", "/import", file, by=twin), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == ["entries[0].sessionMetrics.intensity"]
    file["entries"][0]["sessionMetrics"]["intensity"] = 1
    wrong = problem(await gym.ask("POST", "/import", file, by=twin), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == ["entries[1].date"]
    problem(await gym.ask("POST", "/import", {"format": "x"}, by=twin), 422, "invalid-fields")
    assert await gym.dump() == before


async def test_import_journal_names_duplicate_ids_and_writes_nothing(embedded_gym: Gym):
    gym = embedded_gym
    _, _, file = await a_journal(gym)
    twin = await gym.person("Twin")
    before = await gym.dump()
    number, commented = next((n, each) for n, each in enumerate(file["entries"]) if each["comments"])
    commented["comments"] = commented["comments"][:1] * 2
    file["threads"][0]["messages"] = file["threads"][0]["messages"][:1] * 2
    wrong = problem(await gym.ask("POST", "/import", file, by=twin), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == [
        f"entries[{number}].comments[1].commentId",
        "threads[0].messages[1].messageId",
    ]
    assert await gym.dump() == before


async def test_import_journal_keeps_private_messages_out_of_shared_conversations(embedded_gym: Gym):
    gym = embedded_gym
    _, _, file = await a_journal(gym)
    (shared,) = [each for each in file["threads"] if each["scope"] == "shared"]
    shared["messages"][0] |= {"content": "of the knee", "visibilityScope": "private"}
    twin = await gym.person("Twin")
    assert (await imported(gym, file, twin))["messages"] == 7
    assert "of the knee" not in json.dumps(await exported(gym, twin))


async def test_import_journal_splits_long_quotations(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo, _ = await a_journal(gym)
    entry = (await gym.get("/entries", mara))["items"][0]
    body = "\n".join("x" * number for number in range(88))[:4_000].strip()
    await gym.add_comment(entry, renzo, body)
    twin = await gym.person("Twin")
    await imported(gym, await exported(gym, mara), twin)
    entries = (await exported(gym, twin))["entries"]
    said = [each["body"] for entry in entries for each in entry["comments"] if "xxx" in each["body"]]
    assert len(said) == 2
    quoted = [line.removeprefix("> ") for each in said for line in each.split("\n")[1:]]
    assert "".join(quoted) == body.replace("\n", "")


async def test_forget_leaves_nothing_of_an_account(gym: Gym):
    mara, renzo, _ = await a_journal(gym)
    about = {"scope": "shared", "athleteId": mara["userId"]}
    thread = data(await gym.ask("POST", "/ai/threads", about, by=renzo), 201)["threadId"]
    data(await gym.ask("POST", f"/ai/threads/{thread}/messages", {"content": "underhook"}, by=renzo), 201)
    archive = await ask(gym.client, "GET", "/me/export", by=mara)
    assert archive.status_code == 200
    data(await ask(gym.client, "POST", "/me/delete", {"password": PASSWORD}, by=mara), 204)

    async def gone() -> bool:
        rows = await gym.dump()
        return not any(mara["userId"] in json.dumps(row) or "underhook" in json.dumps(row) for row in rows.values())

    await until(gone)
    assert [key for key in await gym.dump() if key[1] != "PROFILE"] == []
    assert (await gym.get("/athletes", renzo))["items"] == []


async def test_forget_keeps_comments_on_other_peoples_entries(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara)
    await gym.add_comment(entry, renzo)
    data(await ask(gym.client, "POST", "/me/delete", {"password": PASSWORD}, by=renzo), 204)
    (comment,) = (await gym.get(f"/entries/{entry['entryId']}/comments", mara))["items"]
    assert (comment["body"], comment["name"]) == ("Hips first.", None)
    assert await gym.get("/links", mara) == {"items": [], "invitations": []}
