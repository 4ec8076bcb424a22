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
    entry = await gym.add_entry(
        mara, shared="=Armbar", private="Knee", tags=["mount", "guard"], rounds=4, date="2039-12-01T20:30:00Z"
    )
    await gym.add_comment(entry, renzo, "Hips first.")
    profile = await gym.get("/profile", mara)
    zone = {"timeZone": "Asia/Tokyo", "version": profile["version"]}
    data(await gym.ask("PATCH", "/profile", zone, by=mara))
    answer = await ask(gym.client, "GET", "/me/export", by=mara)
    text = zipfile.ZipFile(io.BytesIO(answer.content)).read("journal/entries.csv").decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    wanted = ("date", "time", "duration", "intensity", "rounds", "gi", "tags", "shared", "private")
    assert [row[each] for each in wanted] == [
        *("2039-12-02", "05:30", "90", "7", "4", "gi", "mount, guard", "'=Armbar", "Knee"),
    ]
    assert row["comments"] == "Renzo (2040-01-01 12:00:00 UTC): Hips first."
    assert row["createdAt (UTC)"] == row["updatedAt (UTC)"] == "2040-01-01 12:00:00"
    assert row["entryId"] == entry["entryId"]


async def test_import_journal_takes_an_accounts_export(embedded_gym: Gym):
    gym = embedded_gym
    mara, ana = await gym.person("Mara"), await gym.person("Ana")
    entry = await gym.add_entry(mara, shared="Armbar", private="Knee", tags=["mount"])
    await gym.add_comment(entry, mara, "Hips first.")
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
