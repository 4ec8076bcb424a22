"""The time zone is the device's wherever none is set, and what people choose stays."""

import re
from uuid import UUID

import pytest

from potluck.apps.journal.entities import UserProfile
from potluck.table import absent, put
from tests.apps.journal.gym import Gym, data
from tests.apps.journal.test_pages import FILLED, look, send

LATE = {"when": "2039-12-29T23:30", "timeZone": "Europe/Berlin"}
IN_BERLIN, IN_UTC = "2039-12-29T22:30:00.000Z", "2039-12-29T23:30:00.000Z"


async def test_someone_who_linked_a_coach_first_writes_in_their_own_time_zone(gym: Gym):
    mara, renzo = await gym.coached()
    for person in (mara, renzo):
        page = await look(gym, "/journal?write=1", person)
        assert "data-zone disabled" in page
        assert re.search(r"Times are in <span data-zone-said>UTC</span>", page)
        assert (await send(gym, "/journal/entries", person, **FILLED, **LATE)).status_code == 303
        (entry,) = (await gym.get("/entries", person))["items"]
        assert entry["date"] == IN_BERLIN
        assert (await gym.get("/profile", person))["timeZone"] == "Europe/Berlin"
        page = await look(gym, "/journal?write=1", person)
        assert "data-zone disabled" not in page
        assert re.search(r"Times are in <span data-zone-said>Europe/Berlin</span>", page)


@pytest.mark.parametrize("version", [1, 2])
async def test_utc_is_kept_by_people_who_chose_it_and_not_by_those_whom_a_link_gave_it(embedded_gym: Gym, version: int):
    """As rows from before are: a link wrote UTC at the first version, and a person's choice raised it."""
    gym = embedded_gym
    mara = await gym.person()
    before = UserProfile(
        user_id=UUID(mara["userId"]), name="Mara", time_zone="UTC", created_at=gym.clock(), version=version
    )
    await gym.core.store.transact(put(before, when=absent))
    await send(gym, "/journal/entries", mara, **FILLED, **LATE)
    (entry,) = (await gym.get("/entries", mara))["items"]
    assert entry["date"] == (IN_BERLIN if version == 1 else IN_UTC)
    zone = (await gym.get("/profile", mara))["timeZone"]
    assert zone == ("Europe/Berlin" if version == 1 else "UTC")


async def test_change_profile_prevails_over_the_devices_time_zone(gym: Gym):
    mara = await gym.person()
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Asia/Tokyo", "version": 1}, by=mara))
    await send(gym, "/journal/entries", mara, **FILLED, **LATE)
    (entry,) = (await gym.get("/entries", mara))["items"]
    assert entry["date"] == "2039-12-29T14:30:00.000Z"
    assert (await gym.get("/profile", mara))["timeZone"] == "Asia/Tokyo"


async def test_pages_ask_the_device_for_a_time_zone_until_there_is_one(gym: Gym):
    mara, renzo = await gym.coached()
    pages = ("/journal/entries", "/journal/athletes", "/journal/stats", f"/journal/athletes/{mara['userId']}")
    for path in pages:
        assert 'name="journal-zone-unset" content="1"' in await look(gym, path, renzo)
    data(await gym.ask("PATCH", "/profile", {"timeZone": "UTC", "version": 1}, by=renzo))
    for path in pages:
        assert "journal-zone-unset" not in await look(gym, path, renzo)


async def test_write_by_form_edits_the_entry_after_a_lost_answer(gym: Gym):
    mara = await gym.person()
    own_id = re.search(r'name="entryId" value="([^"]+)"', await look(gym, "/journal", mara))[1]
    for shared in ("Armbar.", "Armbar, twice."):
        await send(gym, "/journal/entries", mara, **FILLED, entryId=own_id, shared=shared)
    (entry,) = (await gym.get("/entries", mara))["items"]
    assert entry["sections"]["shared"] == "Armbar, twice."
