"""The entries of the account's export open in a spreadsheet: a column for each field."""

import csv
import io
import zipfile

from tests.apps.journal.gym import Gym
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
