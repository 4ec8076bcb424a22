"""Tags fold case and “both” counts as either, wherever sessions are filtered or counted; and no session is ahead."""

from datetime import timedelta
from uuid import UUID

import pytest

from potluck.apps.journal.app import JournalApp
from tests.apps.journal.gym import Gym, data, problem
from tests.apps.journal.test_home_card import principal
from tests.apps.journal.test_pages import FILLED, look, send
from tests.web.reading import BROWSER
from tests.web.suites import bearer


async def test_tags_fold_case_everywhere_alike(gym: Gym):
    mara, renzo = await gym.coached()
    one = await gym.add_entry(mara, tags=["Half Guard", "half guard", "HALF GUARD"])
    assert one["sessionMetrics"]["tags"] == ["Half Guard"]
    other = await gym.add_entry(mara, tags=["half guard"])
    third = await gym.add_entry(mara, tags=["half guard"])
    for tag in ("half+guard", "HALF+guard"):
        found = (await gym.get(f"/entries?tag={tag}", mara))["items"]
        assert {each["entryId"] for each in found} == {each["entryId"] for each in (one, other, third)}
    for by, of in ((mara, ""), (renzo, f"?athleteId={mara['userId']}")):
        assert (await gym.get(f"/stats{of}", by))["topTags"] == [{"tag": "half guard", "sessions": 3}]
    changed = await gym.change_entry(other, mara, sessionMetrics={"tags": ["Mount", "MOUNT"]})
    assert changed["sessionMetrics"]["tags"] == ["Mount"]
    page = await look(gym, "/journal/entries?tag=HALF+GUARD", mara)
    assert page.count("selected. Tap to remove.") == 1
    await send(gym, "/journal/entries", mara, **(FILLED | {"tags": ["", "mount"]}), newTags="Mount, Open mat")
    newest = (await gym.get("/entries", mara))["items"]
    assert ["mount", "Open mat"] in [each["sessionMetrics"]["tags"] for each in newest]


async def test_a_session_with_both_counts_as_gi_and_as_no_gi(gym: Gym):
    mara, renzo = await gym.coached()
    ids = {worn: (await gym.add_entry(mara, giOrNoGi=worn))["entryId"] for worn in ("gi", "no-gi", "both")}
    for path, by in (("/entries", mara), (f"/athletes/{mara['userId']}/entries", renzo)):
        for wanted, expected in (("gi", {"gi", "both"}), ("no-gi", {"no-gi", "both"}), ("both", {"both"})):
            found = (await gym.get(f"{path}?giOrNoGi={wanted}", by))["items"]
            assert {each["entryId"] for each in found} == {ids[each] for each in expected}


@pytest.mark.parametrize(("ahead", "is_fine"), [(timedelta(minutes=10), True), (timedelta(hours=3), False)])
async def test_add_entry_refuses_sessions_hours_in_the_future(embedded_gym: Gym, ahead: timedelta, is_fine: bool):
    gym = embedded_gym
    mara = await gym.person()
    when = gym.clock() + ahead
    body = {"sections": {}, "sessionMetrics": {"durationMinutes": 60, "intensity": 5, "rounds": 3, "giOrNoGi": "gi"}}
    answer = await gym.ask("POST", "/entries", body | {"date": when.isoformat()}, by=mara)
    form = await send(gym, "/journal/entries", mara, **FILLED, when=f"{when:%Y-%m-%dT%H:%M}")
    if is_fine:
        data(answer, 201)
        assert form.status_code == 303
        return
    wrong = problem(answer, 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == ["date"]
    assert form.status_code == 422
    assert "The session cannot be in the future. Check the date, the time and your time zone" in form.text
    entry = await gym.add_entry(mara)
    moved = {"version": 1, "date": when.isoformat()}
    problem(await gym.ask("PATCH", f"/entries/{entry['entryId']}", moved, by=mara), 422, "invalid-fields")


async def test_the_home_of_a_coach_is_what_athletes_wrote(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    card = JournalApp(gym.core).home_card
    gym.clock.forward(minutes=1)
    entry = await gym.add_entry(mara, shared="Armbar from guard", private="Knee hurts")
    await gym.add_entry(mara, shared="Guard", date="2039-12-31T10:00:00Z")
    shown = await card(principal(renzo))
    assert shown.fact == "1 athlete"
    (waiting,) = shown.waiting
    assert waiting[:3] == (
        "Mara wrote 2 entries",
        "“Armbar from guard”",
        f"/journal/athletes/{mara['userId']}",
    )
    assert (await card(principal(mara))).waiting == []
    home = await gym.client.get("/journal", headers=bearer(renzo) | BROWSER)
    assert (home.status_code, home.headers["location"]) == (303, "/journal/athletes")
    assert "How was training?" in await look(gym, "/journal?write=1", renzo)
    # A form of theirs that is refused is shown again.
    refused = await send(gym, "/journal/entries", renzo, **(FILLED | {"intensity": ""}))
    assert (refused.status_code, "Choose how hard it was" in refused.text) == (422, True)
    data(await gym.ask("POST", f"/athletes/{mara['userId']}/entries/seen", {}, by=renzo), 204)
    assert (await card(principal(renzo))).waiting == []
    await gym.add_entry(renzo)
    assert "How was training?" in await look(gym, "/journal", renzo)
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    gym.clock.forward(minutes=1)
    await gym.change_entry(entry, mara, sections={"shared": "More"})
    assert (await card(principal(renzo))).waiting == []


async def test_the_page_asks_before_end_link(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    page = await look(gym, "/journal/coaches", mara)
    end = page.index(f"/journal/coaches/{UUID(renzo['userId'])}/end")
    # The button is inside of what has to be opened, which says what happens.
    opened = page.rindex("<details", 0, end)
    assert "</details>" not in page[opened:end]
    assert "They will no longer see anything." in page[end : page.index("</details>", end)]
