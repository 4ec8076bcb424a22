"""What an import says about a file that is wrong: which entry, of which day, and what; and that one is cut off."""

import json
from typing import Any

import pytest

from potluck.apps.journal.files import JournalFile
from potluck.validation import decode
from potluck.validation.errors import BodyNotJson, ValidationError
from tests.apps.journal.gym import METRICS, Gym, Person, data, problem
from tests.apps.journal.test_pages import send
from tests.web.suites import bearer

OWNER = "10000000-0000-4000-8000-000000000000"
TIME = "2039-03-12T23:30:00Z"


def entry(number: int, **metrics: Any) -> Any:
    times = dict.fromkeys(("date", "createdAt", "updatedAt"), TIME)
    sections = {"shared": 'Guard [passing] {and} "fram\u00e9s"', "private": ""}
    name = f"20000000-0000-4000-8000-{number:012}"
    return {"entryId": name, **times, "sections": sections, "sessionMetrics": METRICS | metrics, "comments": []}


def journal(count: int = 5) -> Any:
    profile = {"userId": OWNER, "name": "Mara", "timeZone": "Europe/Lisbon"}
    return {"profile": profile, "links": [], "entries": [entry(number) for number in range(count)], "threads": []}


def messages(file: Any) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        decode(JournalFile, json.dumps(file).encode())
    return [each.message for each in refused.value.errors]


def unreadable(raw: bytes) -> str:
    with pytest.raises(BodyNotJson) as refused:
        decode(JournalFile, raw)
    return str(refused.value)


def test_every_error_names_its_entry_and_its_day():
    file = journal(119)
    file["entries"][3]["sessionMetrics"]["intensity"] = 11
    file["entries"][3]["mood"] = "good"
    file["entries"][7]["date"] = "yesterday"
    file["entries"][8]["comments"] = [{"commentId": "x", "coachId": OWNER, "createdAt": TIME, "body": "Hips first."}]
    file["entries"][9] = "a session"
    file["links"] = [{"userId": OWNER, "role": "coach", "status": "active", "createdAt": TIME, "updatedAt": 5}]
    file["profile"]["name"] = ""
    assert messages(file) == [
        "Profile: name must have 1 to 100 characters",
        "Link 1 of 1: time of the last change must be a time such as 2024-03-09T18:00:00Z",
        "Entry 4 of 119 (12 March 2039): intensity must be a whole number from 1 to 10",
        "Entry 4 of 119 (12 March 2039): there is no field “mood”",
        "Entry 8 of 119: date must be a time such as 2024-03-09T18:00:00Z",
        "Entry 9 of 119 (12 March 2039), comment 1: invalid comment ID format",
        "Entry 9 of 119 (12 March 2039), comment 1: visibility must be 'visible' or 'hiddenByAthlete'",
        "Entry 10 of 119: this is not an entry",
    ]


def test_the_day_of_an_entry_is_its_owners():
    file = journal(1)
    file["entries"][0]["sessionMetrics"]["rounds"] = -1
    file["profile"]["timeZone"] = "Asia/Tokyo"
    assert messages(file) == ["Entry 1 of 1 (13 March 2039): rounds must be a whole number from 0 to 100"]


def test_errors_number_conversations_and_messages():
    message = {"messageId": OWNER, "role": "robot", "content": "?", "visibilityScope": "shared", "createdAt": TIME}
    times = {"createdAt": TIME, "lastActiveAt": TIME}
    thread = {"threadId": OWNER, "title": "", "scope": "shared", **times, "messages": [message]}
    assert messages({**journal(), "threads": [thread]}) == [
        "Conversation 1 of 1, message 1: role must be 'user' or 'assistant'"
    ]


async def test_import_journal_names_the_entry_of_impossible_times_and_duplicate_ids(embedded_gym: Gym):
    mara = await embedded_gym.person("Mara")
    file = journal()
    file["entries"][1]["date"] = "2050-01-01T00:00:00Z"
    comment = {"commentId": OWNER, "coachId": OWNER, "createdAt": TIME, "body": "Hips.", "visibility": "visible"}
    file["entries"][2]["comments"] = [comment, comment]
    wrong = problem(await embedded_gym.ask("POST", "/import", file, by=mara), 422, "invalid-fields")
    assert [(each["field"], each["message"]) for each in wrong["errors"]] == [
        ("entries[2].comments[1].commentId", "Entry 3 of 5 (12 March 2039), comment 2: comment id appears twice"),
        ("entries[1].date", "Entry 2 of 5 (1 January 2050): date must be between 1900 and now"),
    ]


def test_a_truncated_file_is_called_cut_off():
    raw = json.dumps(journal(), ensure_ascii=False).encode()
    for end in range(1, len(raw)):
        assert unreadable(raw[:end]).startswith("The file is cut off: it ends "), raw[:end]
    second = raw.index(b'{"entryId"', raw.index(b'{"entryId"') + 1)
    within = "The file is cut off: it ends in the middle of entry 2. Download it again."
    assert unreadable(raw[: second + 1]) == unreadable(raw[: raw.index("é".encode(), second) + 1]) == within
    assert unreadable(raw[: second - 1]) == "The file is cut off: it ends after entry 1. Download it again."
    assert "in the middle of the profile" in unreadable(raw[:40])


@pytest.mark.parametrize(
    "raw", [b"PK\x03\x04", b"date,duration\n2039-01-01,90\n", b'{"entries": [}]', b'{"a": nope, "b": [']
)
def test_anything_else_is_not_the_export_of_a_journal(raw):
    assert unreadable(raw) == "This is not the export of a journal"


async def test_the_page_says_the_same(embedded_gym: Gym):
    gym = embedded_gym
    mara = await gym.person("Mara")
    file = journal(30)
    for each in file["entries"]:
        each["sessionMetrics"]["intensity"] = 11

    async def refused(text: str, by: Person = mara) -> str:
        answer = await send(gym, "/journal/settings/import", by, file=text)
        assert answer.status_code == 422
        return answer.text

    page = await refused(json.dumps(file))
    assert "Nothing was imported, because the file has errors" in page
    assert "Entry 1 of 30 (12 March 2039): intensity must be a whole number from 1 to 10" in page
    assert (page.count("intensity must be"), page.count("and 10 more")) == (20, 1)
    assert "it ends in the middle of entry 30. Download it again." in await refused(json.dumps(file)[:-40])
    assert "This is not the export of a journal" in await refused('{"lists": []}')
    answer = await gym.client.post(
        "/api/v1/journal/import/preview",
        content=json.dumps(file)[:-40],
        headers={**bearer(mara), "content-type": "application/json"},
    )
    detail = problem(answer, 400, "not-json")["detail"]
    assert detail == "The file is cut off: it ends in the middle of entry 30. Download it again."


async def test_an_older_export_of_an_account_is_imported(embedded_gym: Gym):
    mara = await embedded_gym.person("Mara")
    file = journal()
    file["profile"] = [file["profile"]]
    assert data(await embedded_gym.ask("POST", "/import/preview", file, by=mara))["name"] == "Mara"
    assert data(await embedded_gym.ask("POST", "/import", file, by=mara))["entries"] == 5
    problem(await embedded_gym.ask("POST", "/import", {**file, "profile": []}, by=mara), 422, "invalid-fields")
    twice = {**file, "profile": file["profile"] * 2}
    problem(await embedded_gym.ask("POST", "/import", twice, by=mara), 422, "invalid-fields")
