"""The account's export of a journal opens in a spreadsheet, and can be imported again."""

import csv
import io
import json
import zipfile

from tests.apps.journal.gym import Gym, data, problem
from tests.web.suites import ask


async def test_entries_have_a_column_for_each_field(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.entry(
        mara, shared="=Armbar", private="Knee", tags=["mount", "guard"], rounds=4, date="2039-12-01T10:00:00Z"
    )
    await gym.comment(entry, renzo, "Hips first.")
    answer = await ask(gym.client, "GET", "/me/export", by=mara)
    text = zipfile.ZipFile(io.BytesIO(answer.content)).read("journal/entries.csv").decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    wanted = ("date", "duration", "intensity", "rounds", "gi", "tags", "shared", "private")
    assert [row[each] for each in wanted] == [
        *("2039-12-01T10:00:00.000Z", "90", "7", "4", "gi", "mount, guard", "'=Armbar", "Knee"),
    ]
    assert "Hips first." in row["comments"]
    assert row["entryId"] == entry["entryId"]


async def test_the_journal_in_the_accounts_export_can_be_imported(embedded_gym: Gym):
    gym = embedded_gym
    mara, ana = await gym.person("Mara"), await gym.person("Ana")
    entry = await gym.entry(mara, shared="Armbar", private="Knee", tags=["mount"])
    await gym.comment(entry, mara, "Hips first.")
    answer = await ask(gym.client, "GET", "/me/export", by=mara)
    file = json.loads(zipfile.ZipFile(io.BytesIO(answer.content)).read("journal.json"))
    data(await gym.ask("DELETE", f"/entries/{entry['entryId']}", by=mara), 204)
    assert data(await gym.ask("POST", "/import/preview", file, by=ana))["name"] == "Mara"
    imported = data(await gym.ask("POST", "/import", file, by=ana))
    assert (imported["entries"], imported["comments"]) == (1, 1)
    (again,) = (await gym.get("/entries", ana))["items"]
    assert (again["sections"], again["sessionMetrics"]) == (entry["sections"], entry["sessionMetrics"])
    nobodys = {name: rows for name, rows in file.items() if name != "profiles"}
    problem(await gym.ask("POST", "/import", nobodys, by=ana), 422, "invalid-fields")
