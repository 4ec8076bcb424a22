"""What a coach sees from the day the athlete chose: nothing of an earlier session, in any answer, page or event."""

from typing import Any

import pytest

from tests.apps.journal.gym import Gym, Person, data, problem
from tests.apps.journal.test_pages import look
from tests.web.reading import BROWSER
from tests.web.suites import ask, bearer

HERE = BROWSER | {"sec-fetch-site": "same-origin"}
CANARY = "quetzalcoatl"
EARLIER, TODAY = "2039-12-31T10:00:00Z", "2040-01-01T10:00:00Z"


@pytest.fixture
async def narrowed(embedded_gym: Gym) -> tuple[Gym, Person, Person, Any, Any]:
    """A journal with a session of yesterday and one of today, and a coach who sees sessions from today on."""
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    ana = await gym.person("Ana")
    await gym.link(mara, ana)
    old = await gym.add_entry(mara, shared=f"{CANARY} armbar", date=EARLIER, tags=[CANARY], durationMinutes=77)
    await gym.add_comment(old, ana, f"{CANARY} said Ana, kneebar")
    new = await gym.add_entry(mara, shared="armbar from guard", date=TODAY)
    await gym.link(mara, renzo, sees="fromToday")
    return gym, mara, renzo, old, new


async def test_a_coach_sees_sessions_from_the_chosen_day_on_and_nothing_earlier(narrowed):
    gym, mara, renzo, old, new = narrowed
    of = f"/athletes/{mara['userId']}/entries"
    listed = await gym.get(of, renzo)
    assert [each["entryId"] for each in listed["items"]] == [new["entryId"]]
    for narrower in ("?from=2039-01-01", "?from=2039-01-01&to=2039-12-31", "?minIntensity=1", f"?tag={CANARY}"):
        assert CANARY not in str(await gym.get(of + narrower, renzo))
    problem(await gym.ask("GET", f"/entries/{old['entryId']}", by=renzo), 404, "not-found")
    problem(await gym.ask("GET", f"/entries/{old['entryId']}/comments", by=renzo), 404, "not-found")
    problem(await gym.ask("POST", f"/entries/{old['entryId']}/comments", {"body": "x"}, by=renzo), 404, "not-found")
    assert await gym.found("armbar", renzo, mara) == [new["entryId"]]
    for word in (CANARY, "kneebar"):
        assert await gym.found(word, renzo, mara) == []
    stats = await gym.get(f"/stats?athleteId={mara['userId']}&from=2039-01-01&to=2040-01-01", renzo)
    assert stats["total"]["sessions"] == 1
    (athlete,) = (await gym.get("/athletes", renzo))["items"]
    assert (athlete["lastSession"]["entryId"], athlete["sharedFrom"]) == (new["entryId"], "2040-01-01T00:00:00.000Z")
    thread = data(await gym.ask("POST", "/ai/threads", {"scope": "shared", "athleteId": mara["userId"]}, by=renzo), 201)
    for question in (f"What about {CANARY}?", "kneebar", "How many sessions in 2039?", "armbar"):
        path = f"/ai/threads/{thread['threadId']}/messages"
        said = data(await gym.ask("POST", path, {"content": question}, by=renzo), 201)
        assert old["entryId"] not in str(said)
        assert "Ana" not in str(said)
        assert "77" not in said["content"]
    # The athlete, and a coach who sees everything, still do.
    assert await gym.found("kneebar", mara) == [old["entryId"]]


async def test_no_page_of_the_coach_has_anything_of_an_earlier_session(narrowed):
    gym, mara, renzo, old, _ = narrowed
    base = f"/journal/athletes/{mara['userId']}"
    for path in (
        base,
        f"{base}?q=armbar",
        f"{base}?from=2039-01-01",
        f"{base}/stats?span=52w",
        "/journal/athletes",
        "/",
    ):
        page = await look(gym, path, renzo)
        assert not any(each in page for each in (CANARY, old["entryId"], "said Ana")), path
    assert "You see what they share from 1 Jan on, and nothing earlier." in await look(gym, base, renzo)
    assert "Sees what you share from 1 Jan on" in await look(gym, "/journal/coaches", mara)
    await look(gym, f"/journal/entries/{old['entryId']}", renzo, 404)


async def test_an_entry_that_is_moved_before_the_day_goes_and_one_that_is_moved_after_it_comes(narrowed):
    gym, mara, renzo, old, new = narrowed
    of = f"/athletes/{mara['userId']}/entries"
    position = (await gym.get(of, renzo))["position"]
    await gym.change_entry(new, mara, date="2039-06-01T10:00:00Z")
    await gym.add_entry(mara, shared=CANARY, date="2039-06-02T10:00:00Z")
    told = await gym.get(f"{of}/changes?since={position}", renzo)
    assert [(each["event"], each["item"]["entryId"]) for each in told["changes"]] == [("deleted", new["entryId"])]
    problem(await gym.ask("GET", f"/entries/{new['entryId']}", by=renzo), 404, "not-found")
    await gym.change_entry(old, mara, date=TODAY, sections={"shared": "moved"})
    assert [each["entryId"] for each in (await gym.get(of, renzo))["items"]] == [old["entryId"]]


async def test_change_link_changes_what_a_coach_sees_at_any_time(narrowed):
    gym, mara, renzo, old, new = narrowed
    of, link = f"/athletes/{mara['userId']}/entries", f"/links/{renzo['userId']}"
    widened = data(await gym.ask("PATCH", link, {"sees": "everything"}, by=mara))
    assert widened["sharedFrom"] is None
    assert [each["entryId"] for each in (await gym.get(of, renzo))["items"]] == [new["entryId"], old["entryId"]]
    position = (await gym.get(of, renzo))["position"]
    about = {"scope": "shared", "athleteId": mara["userId"]}
    thread = data(await gym.ask("POST", "/ai/threads", about, by=renzo), 201)
    path = f"/ai/threads/{thread['threadId']}/messages"
    assert CANARY in data(await gym.ask("POST", path, {"content": CANARY}, by=renzo), 201)["content"]
    data(await gym.ask("PATCH", link, {"sees": "fromToday"}, by=mara))
    assert [each["entryId"] for each in (await gym.get(of, renzo))["items"]] == [new["entryId"]]
    # What was said and logged before is not told any more.
    assert CANARY not in str((await gym.get(path, renzo))["items"][1])
    assert CANARY not in (await gym.ask("GET", f"{of}/changes?since={position}", by=renzo)).text
    assert {each["sharedFrom"] for each in (await gym.get("/links", renzo))["items"]} == {"2040-01-01T00:00:00.000Z"}
    # It is the athlete's to choose.
    problem(await gym.ask("PATCH", f"/links/{mara['userId']}", {"sees": "everything"}, by=renzo), 404, "not-found")
    problem(await gym.ask("PATCH", link, {"sees": "some"}, by=mara), 422, "invalid-fields")
    data(await gym.ask("DELETE", link, by=mara), 204)
    problem(await gym.ask("PATCH", link, {"sees": "everything"}, by=mara), 404, "not-found")


async def test_the_day_is_the_athletes_and_that_of_the_invitation(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Asia/Tokyo", "version": 1}, by=mara))
    body = {"coachEmail": "coach@example.org", "sees": "fromToday"}
    made = data(await gym.ask("POST", "/links", body, by=mara), 201)
    assert (await gym.get("/links", mara))["invitations"][0]["sees"] == "fromToday"
    gym.clock.forward(days=3)
    data(await ask(gym.client, "POST", "/invitations/accept", {"token": made["token"]}, by=renzo))
    (link,) = (await gym.get("/links", mara))["items"]
    assert link["sharedFrom"] == "2039-12-31T15:00:00.000Z"
    wrong = {"athleteEmail": "a@example.org", "sees": "fromToday"}
    problem(await gym.ask("POST", "/links", wrong, by=renzo), 422, "invalid-fields")


async def test_the_page_of_an_invitation_says_from_which_day_on_the_coach_sees_sessions(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    body = {"coachEmail": "coach@example.org", "sees": "fromToday"}
    made = data(await gym.ask("POST", "/links", body, by=mara), 201)
    carried = await gym.client.post("/invitation", data={"invitation": made["token"]}, headers=bearer(renzo) | HERE)
    cookies = "; ".join(f"{name}={value}" for name, value in carried.cookies.items())
    page = await gym.client.get("/invitation", headers=bearer(renzo) | HERE | {"cookie": cookies})
    assert "Coach, sees sessions from 1 January 2040 on." in page.text


async def test_an_athlete_who_is_invited_by_a_coach_chooses_before_anything_is_shared(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    made = data(await gym.ask("POST", "/links", {"athleteEmail": "a@example.org"}, by=renzo), 201)
    carried = await gym.client.post("/invitation", data={"invitation": made["token"]}, headers=bearer(mara) | HERE)
    cookies = "; ".join(f"{name}={value}" for name, value in carried.cookies.items())
    asked = await gym.client.post(
        "/journal/invitation", data={"sees": ""}, headers=bearer(mara) | HERE | {"cookie": cookies}
    )
    assert asked.status_code == 200
    assert "Share with <bdi>Renzo</bdi>" in asked.text
    assert (await gym.get("/links", mara))["items"] == []
    shared = await gym.client.post(
        "/journal/invitation", data={"sees": "fromToday"}, headers=bearer(mara) | HERE | {"cookie": cookies}
    )
    assert shared.headers["location"] == "/journal/coaches"
    assert (await gym.get("/links", mara))["items"][0]["sharedFrom"] == "2040-01-01T00:00:00.000Z"
