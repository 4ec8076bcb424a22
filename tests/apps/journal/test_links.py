"""Links: asked for by invitation, accepted by the other side, ended at once; and what a coach then sees."""

import asyncio
from uuid import UUID, uuid4

import pytest

from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink
from potluck.table import put
from tests.apps.journal.gym import Gym, Person, data, problem
from tests.patience import until
from tests.web.suites import ask


async def asked(gym: Gym, by: Person, **who: str) -> str:
    made = data(await gym.ask("POST", "/links", who or {"coachEmail": "renzo@example.org"}, by=by), 201)
    return str(made["token"])


async def accepted(gym: Gym, token: str, by: Person):
    return await ask(gym.client, "POST", "/invitations/accept", {"token": token}, by=by)


async def links(gym: Gym, by: Person) -> list[tuple[str, str, str]]:
    return [(each["name"], each["role"], each["status"]) for each in (await gym.get("/links", by))["items"]]


async def test_a_link_is_two_rows_with_the_same_values(gym: Gym):
    mara, renzo = await gym.coached()
    assert await links(gym, mara) == [("Renzo", "coach", "active")]
    assert await links(gym, renzo) == [("Mara", "athlete", "active")]
    rows = await gym.dump()
    link = dict(rows[f"USER#{mara['userId']}", f"COACH#{renzo['userId']}"])
    mirror = dict(rows[f"USER#{renzo['userId']}", f"ATHLETE#{mara['userId']}"])
    for row in (link, mirror):
        del row["PK"], row["SK"]
    assert link == mirror


async def test_request_link_also_invites_athletes(gym: Gym):
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    token = await asked(gym, renzo, athleteEmail="mara@example.org")
    look = data(await ask(gym.client, "POST", "/invitations/look", {"token": token}, by=mara))
    assert (look["app"], look["place"], look["role"]) == ("journal", "Renzo", "athlete")
    data(await accepted(gym, token, mara))
    assert await links(gym, mara) == [("Renzo", "coach", "active")]
    assert [each["name"] for each in (await gym.get("/athletes", renzo))["items"]] == ["Mara"]


async def test_request_link_never_looks_up_the_address(gym: Gym):
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    answers = [
        data(await gym.ask("POST", "/links", {"coachEmail": email}, by=mara), 201)
        for email in (renzo["email"], "nobody@example.org")
    ]
    assert answers[0].keys() == answers[1].keys()
    found = await gym.get("/links", mara)
    assert found["items"] == []
    assert {each["email"] for each in found["invitations"]} == {renzo["email"], "nobody@example.org"}
    assert await gym.get("/links", renzo) == {"items": [], "invitations": []}
    for wrong in ({}, {"coachEmail": "a@example.org", "athleteEmail": "b@example.org"}):
        problem(await gym.ask("POST", "/links", wrong, by=mara), 422, "invalid-fields")


async def test_withdraw_request_ends_an_invitation(gym: Gym):
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    token = await asked(gym, mara)
    (invitation,) = (await gym.get("/links", mara))["invitations"]
    problem(await gym.ask("DELETE", f"/links/invitations/{invitation['id']}", by=renzo), 404, "not-found")
    data(await gym.ask("DELETE", f"/links/invitations/{invitation['id']}", by=mara), 204)
    problem(await accepted(gym, token, renzo), 410, "expired")


async def test_linking_again_reuses_the_link(gym: Gym):
    mara, renzo = await gym.coached()
    data(await accepted(gym, await asked(gym, mara), renzo))
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    assert await links(gym, mara) == [("Renzo", "coach", "revoked")]
    gym.clock.forward(seconds=1)
    tokens = [await asked(gym, mara), await asked(gym, renzo, athleteEmail="mara@example.org")]
    await asyncio.gather(accepted(gym, tokens[0], renzo), accepted(gym, tokens[1], mara))
    assert await links(gym, mara) == [("Renzo", "coach", "active")]
    assert len([key for key in await gym.dump() if key[1].startswith(("COACH#", "ATHLETE#"))]) == 2


async def test_a_person_has_a_limited_number_of_links(embedded_gym: Gym, monkeypatch: pytest.MonkeyPatch):
    gym = embedded_gym
    monkeypatch.setattr("potluck.apps.journal.links.MOST_LINKS", 1)
    mara, renzo = await gym.coached()
    for athlete, coach in ((mara, await gym.person("Ana")), (await gym.person("Bo"), renzo)):
        problem(await accepted(gym, await asked(gym, athlete), coach), 409, "too-many")
    data(await accepted(gym, await asked(gym, mara), renzo))


async def test_end_link_also_ends_older_invitations(gym: Gym):
    mara, renzo = await gym.coached()
    kept = await asked(gym, mara)
    gym.clock.forward(seconds=1)
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    problem(await accepted(gym, kept, renzo), 410, "expired")
    assert await links(gym, renzo) == [("Mara", "athlete", "revoked")]


async def test_an_invitation_cannot_be_accepted_by_its_sender(gym: Gym):
    mara = await gym.person("Mara")
    problem(await accepted(gym, await asked(gym, mara), mara), 409, "own-invitation")


async def test_a_pending_link_gives_no_access_until_accept_link(gym: Gym):
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    entry = await gym.add_entry(mara, shared="armbar")
    said = {"requested_by": "athlete", "created_at": gym.clock(), "updated_at": gym.clock()}
    ids = {"athlete_id": UUID(mara["userId"]), "coach_id": UUID(renzo["userId"])}
    await gym.core.store.transact(*(put(kind(**ids, **said)) for kind in (CoachAthleteLink, AthleteCoachLink)))
    problem(await gym.ask("GET", f"/entries/{entry['entryId']}", by=renzo), 404, "not-found")
    problem(await gym.ask("POST", f"/links/{renzo['userId']}/accept", by=mara), 409, "link-not-asked-for")
    assert await links(gym, mara) == [(None, "coach", "pending")]
    done = data(await gym.ask("POST", f"/links/{mara['userId']}/accept", by=renzo))
    assert (done["name"], done["role"], done["status"]) == ("Mara", "athlete", "active")
    assert (await gym.get(f"/entries/{entry['entryId']}", renzo))["sections"] == {"shared": "armbar"}
    again = data(await gym.ask("POST", f"/links/{mara['userId']}/accept", by=renzo))
    assert again["status"] == "active"


async def test_a_person_who_never_accepted_is_not_named_after_end_link(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo, ana = [await gym.person(name) for name in ("Mara", "Renzo", "Ana")]
    await gym.link(mara, ana)
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Europe/Lisbon", "version": 1}, by=renzo))
    said = {"requested_by": "athlete", "created_at": gym.clock(), "updated_at": gym.clock()}
    ids = {"athlete_id": UUID(mara["userId"]), "coach_id": UUID(renzo["userId"])}
    await gym.core.store.transact(*(put(kind(**ids, **said)) for kind in (CoachAthleteLink, AthleteCoachLink)))
    for other in (renzo, ana):
        data(await gym.ask("DELETE", f"/links/{other['userId']}", by=mara), 204)
    assert set(await links(gym, mara)) == {(None, "coach", "revoked"), ("Ana", "coach", "revoked")}
    assert await links(gym, renzo) == [("Mara", "athlete", "revoked")]


async def test_add_comment_does_not_reuse_an_id(gym: Gym):
    mara, renzo = await gym.coached()
    ana = await gym.person("Ana")
    await gym.link(mara, ana)
    entry = await gym.add_entry(mara, shared="armbar")
    path, chosen = f"/entries/{entry['entryId']}/comments", str(uuid4())
    sent = {"body": "Hips first.", "commentId": chosen}
    at_once = await asyncio.gather(*(gym.ask("POST", path, sent, by=by) for by in (renzo, ana, renzo)))
    assert sorted(each.status_code for each in at_once) == [201, 409, 409]
    gym.clock.forward(seconds=1)
    problem(await gym.ask("POST", path, sent, by=ana), 409, "already-exists")
    assert len((await gym.get(path, mara))["items"]) == 1
    assert (await gym.get(f"/entries/{entry['entryId']}", mara))["comments"] == 1


async def test_end_link_can_end_one_of_two_directions(gym: Gym):
    mara, renzo = await gym.coached()
    await gym.link(renzo, mara)
    in_body = await gym.ask("DELETE", f"/links/{renzo['userId']}", {"role": "coach"}, by=mara)
    problem(in_body, 422, "invalid-fields")
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}?role=coach", by=mara), 204)
    assert sorted(await links(gym, mara)) == [("Renzo", "athlete", "active"), ("Renzo", "coach", "revoked")]
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    assert {status for _, _, status in await links(gym, renzo)} == {"revoked"}


async def test_entries_of_athlete_shows_a_coach_only_what_is_shared(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="armbar", private="knee", tags=["mount"])
    listed = await gym.ask("GET", f"/athletes/{mara['userId']}/entries", by=renzo)
    seen = await gym.ask("GET", f"/entries/{entry['entryId']}", by=renzo)
    assert data(listed)["items"] == [data(seen)]
    assert data(seen)["sections"] == {"shared": "armbar"}
    assert data(seen).keys().isdisjoint({"private", "version", "updatedAt"})
    gym.clock.forward(minutes=5)
    await gym.change_entry(entry, mara, sections={"private": "the other knee"})
    after = await gym.ask("GET", f"/entries/{entry['entryId']}", by=renzo)
    assert (after.content, after.headers["etag"]) == (seen.content, seen.headers["etag"])
    again = await gym.ask("GET", f"/athletes/{mara['userId']}/entries", by=renzo)
    assert again.headers["etag"] == listed.headers["etag"]
    (athlete,) = (await gym.get("/athletes", renzo))["items"]
    assert (athlete["name"], athlete["lastSession"]["shared"]) == ("Mara", "armbar")
    for method, body in (("PATCH", {"version": 2, "sections": {}}), ("DELETE", None)):
        problem(await gym.ask(method, f"/entries/{entry['entryId']}", body, by=renzo), 403, "forbidden")


async def test_account_renamed_changes_the_name_in_links(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    data(await ask(gym.client, "PATCH", "/me", {"name": "Mara O.", "version": 1}, by=mara))

    async def told() -> bool:
        return await links(gym, renzo) == [("Mara O.", "athlete", "active")]

    await until(told)


@pytest.mark.parametrize("change", ["hide", "revoke"])
async def test_change_comment_hides_a_comment_from_other_readers(gym: Gym, change: str):
    mara, renzo = await gym.coached()
    ana = await gym.person("Ana")
    await gym.link(mara, ana)
    entry = await gym.add_entry(mara)
    comment = await gym.add_comment(entry, ana, "Everything all right at home?")
    path = f"/entries/{entry['entryId']}/comments"
    assert [each["body"] for each in (await gym.get(path, renzo))["items"]] == ["Everything all right at home?"]
    assert (await gym.get(f"/entries/{entry['entryId']}", renzo))["comments"] == 1
    if change == "revoke":
        data(await gym.ask("POST", path, {"body": "!"}, by=renzo, idempotency_key="once"), 201)
        data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
        problem(await gym.ask("GET", path, by=renzo), 404, "not-found")
        problem(await gym.ask("POST", path, {"body": "?"}, by=renzo), 404, "not-found")
        # Nor is it said again what was answered while they were linked.
        problem(await gym.ask("POST", path, {"body": "!"}, by=renzo, idempotency_key="once"), 404, "not-found")
        return
    hiding = {"visibility": "hiddenByAthlete", "version": 1}
    problem(await gym.ask("PATCH", f"{path}/{comment['commentId']}", hiding, by=renzo), 403, "forbidden")
    data(await gym.ask("PATCH", f"{path}/{comment['commentId']}", hiding, by=mara))
    assert (await gym.get(path, renzo))["items"] == []
    assert (await gym.get(f"/entries/{entry['entryId']}", renzo))["comments"] == 0
    problem(await gym.ask("PATCH", f"{path}/{comment['commentId']}", hiding, by=renzo), 404, "not-found")
    for who in (mara, ana):
        (seen,) = (await gym.get(path, who))["items"]
        assert (seen["visibility"], seen["name"], seen["mine"]) == ("hiddenByAthlete", "Ana", who is ana)
    words = {"body": "Rest well.", "version": 2}
    problem(await gym.ask("PATCH", f"{path}/{comment['commentId']}", words, by=mara), 403, "forbidden")
    data(await gym.ask("PATCH", f"{path}/{comment['commentId']}", words, by=ana))
    problem(await gym.ask("DELETE", f"{path}/{comment['commentId']}", by=mara), 403, "forbidden")
    data(await gym.ask("DELETE", f"{path}/{comment['commentId']}", by=ana), 204)
    assert (await gym.get(path, mara))["items"] == []


async def test_live_updates_contain_only_what_the_caller_sees(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="armbar", private="knee")
    entries, comments = f"/athletes/{mara['userId']}/entries", f"/entries/{entry['entryId']}/comments"
    since = {path: (await gym.get(path, renzo))["position"] for path in (entries, comments)}
    own, on_own = [(await gym.get(path, mara))["position"] for path in ("/entries", comments)]

    async def heard(path: str, position: str, by: Person, last: str) -> list[str]:
        """What a caller hears up to this; a list may be told again what it has already."""

        async def told() -> list[str]:
            found = await gym.get(f"{path}/changes?since={position}", by)
            events = [f"{each['event']} {said_of(each['item'])}" for each in found["changes"]]
            return events[: events.index(last) + 1] if last in events else []

        return [each for each in await until(told) if not each.startswith("created")]

    def said_of(item: dict) -> str:
        return item["body"] if "body" in item else item["sections"]["shared"]

    secret = await gym.change_entry(entry, mara, sections={"private": "the other knee"})
    await gym.change_entry(secret, mara, sections={"shared": "kimura"})
    assert await heard("/entries", own, mara, "updated kimura") == ["updated armbar", "updated kimura"]
    assert await heard(entries, since[entries], renzo, "updated kimura") == ["updated kimura"]
    comment = await gym.add_comment(entry, renzo)
    assert await heard(comments, on_own, mara, "created Hips first.") == []
    ana = await gym.person("Ana")
    await gym.link(mara, ana)
    position = (await gym.get(comments, ana))["position"]
    hiding = {"visibility": "hiddenByAthlete", "version": 1}
    data(await gym.ask("PATCH", f"{comments}/{comment['commentId']}", hiding, by=mara))
    # Whoever hears of it late is not told what was said.
    assert await heard(comments, position, ana, "deleted ") == ["deleted "]
    assert b"Hips" not in (await gym.ask("GET", f"{comments}/changes?since={position}", by=ana)).content
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    problem(await gym.ask("GET", f"{entries}/changes?since={since[entries]}", by=renzo), 404, "not-found")
