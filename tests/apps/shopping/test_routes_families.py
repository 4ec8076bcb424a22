"""Families over HTTP: who makes them, who is in them, who comes and who goes."""

from uuid import UUID, uuid4

import pytest

from tests.apps.shopping.calls import data, one_suite, problem
from tests.people.operator_calls import invite, invite_newcomer

suite, calls, home = one_suite()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_whoever_makes_a_family_is_its_admin(calls):
    ada = await calls.person()
    answer = await calls.ask("POST", "/families", {"name": " Lovelace "}, by=ada)
    family = data(answer, 201)
    assert {key: family[key] for key in ("name", "role", "memberCount", "createdBy", "version")} == {
        "name": "Lovelace",
        "role": "admin",
        "memberCount": 1,
        "createdBy": ada["userId"],
        "version": 1,
    }
    assert family["createdAt"].endswith("Z")
    path = f"/families/{family['familyId']}"
    one = await calls.ask("GET", path, by=ada)
    assert data(one) == family
    assert one.headers["etag"] == answer.headers["etag"]
    assert (await calls.ask("GET", path, by=ada, if_none_match=one.headers["etag"])).status_code == 304
    assert data(await calls.ask("GET", "/families", by=ada)) == {
        "items": [family],
        "nextCursor": None,
        "position": None,
    }
    assert data(await calls.ask("GET", "/families", by=await calls.person("Ben")))["items"] == []
    problem(await calls.ask("GET", path), 401, "not-signed-in")


async def test_the_members_are_listed_and_the_last_admin_stays(home):
    ben = await home.joined()
    members = data(await home.ask("GET", "/members"))
    assert members["items"] == [
        {"memberId": home.admin["userId"], "name": "Ada", "email": home.admin["email"], "role": "admin", "version": 1},
        {"memberId": ben["userId"], "name": "Ben", "email": ben["email"], "role": "member", "version": 1},
    ]
    own = f"/members/{home.admin['userId']}"
    problem(await home.ask("PATCH", own, {"role": "member", "version": 1}), 409, "last-admin")
    problem(await home.ask("DELETE", own), 409, "last-admin")


async def test_an_invitation_lets_one_person_in(home):
    calls = home.calls
    invited = await home.make("/invitations", role="admin", email="ben@example.org")
    assert invited["url"] == f"http://testserver/invitation#{invited['token']}"
    assert set(invited) == {"id", "token", "url", "expiresAt"}
    (shown,) = data(await home.ask("GET", "/invitations"))["items"]
    assert {key: shown[key] for key in ("id", "role", "email", "invitedBy", "expiresAt")} == {
        "id": invited["id"],
        "role": "admin",
        "email": "ben@example.org",
        "invitedBy": home.admin["userId"],
        "expiresAt": invited["expiresAt"],
    }
    assert invited["token"] not in str(shown)
    ben, eve = await calls.person("Ben"), await calls.person("Eve")
    accept = {"token": invited["token"]}
    looked = data(await calls.ask("POST", "/invitations/look", accept, by=ben))
    assert (looked["app"], looked["place"], looked["role"]) == ("shopping", "Lovelace", "admin")
    assert looked["invitedBy"] == home.admin["name"]
    problem(await calls.ask("POST", "/invitations/accept", accept), 401, "not-signed-in")
    # The person who made it does not use it up.
    problem(await calls.ask("POST", "/invitations/accept", accept, by=home.admin), 409, "own-invitation")
    assert data(await calls.ask("POST", "/invitations/accept", accept, by=ben)) == {"familyId": home.family_id}
    problem(await calls.ask("POST", "/invitations/accept", accept, by=eve), 410, "expired")
    assert data(await home.ask("GET", by=ben))["role"] == "admin"
    assert data(await home.ask("GET", "/invitations"))["items"] == []
    problem(await calls.ask("POST", "/invitations/accept", {"token": "pli_nothing"}, by=eve), 410, "expired")


async def test_everything_wrong_with_an_invitation_is_told_at_once(home):
    answer = await home.ask("POST", "/invitations", {"role": "cook", "email": "b\u200b@example.org"})
    assert [each["field"] for each in problem(answer, 422, "invalid-fields")["errors"]] == ["role", "email"]


async def test_an_invitation_to_something_else_opens_no_family(home):
    """The operator's, to register; and one of an app that is not here."""
    core, ben = home.calls.core, await home.calls.person("Ben")
    elsewhere = await invite(core, "attic", home.family_id, "admin", UUID(home.admin["userId"]))
    for secret in (await invite_newcomer(core), elsewhere.secret):
        accepted = await home.calls.ask("POST", "/invitations/accept", {"token": secret}, by=ben)
        problem(accepted, 410, "expired")
    problem(await home.ask("GET", by=ben), 404, "not-found")


async def test_each_is_done_once(home):
    """The same key gives the first answer again; of what held a secret, only what was made."""
    calls = home.calls
    key = str(uuid4())
    again = [
        data(await calls.ask("POST", "/families", {"name": "Twice"}, by=home.admin, idempotency_key=key), 201)
        for _ in range(2)
    ]
    assert again[0] == again[1]
    assert len(data(await calls.ask("GET", "/families", by=home.admin))["items"]) == 2
    problem(
        await calls.ask("POST", "/families", {"name": "Else"}, by=home.admin, idempotency_key=key), 422, "key-reused"
    )
    renaming = {"name": "Byron", "version": 1}
    renamed = [data(await home.ask("PATCH", "", renaming, idempotency_key="rename")) for _ in range(2)]
    assert renamed[0] == renamed[1]
    invited = data(await home.ask("POST", "/invitations", {"role": "member"}, idempotency_key="invite"), 201)
    repeated = problem(
        await home.ask("POST", "/invitations", {"role": "member"}, idempotency_key="invite"), 409, "already-done"
    )
    assert repeated["made"] == invited["id"]
    ben = await calls.person("Ben")
    accept = {"token": invited["token"]}
    for _ in range(2):
        answer = await calls.ask("POST", "/invitations/accept", accept, by=ben, idempotency_key="come in")
        assert data(answer) == {"familyId": home.family_id}
    role = {"role": "admin", "version": 1}
    changed = [
        data(await home.ask("PATCH", f"/members/{ben['userId']}", role, idempotency_key="role")) for _ in range(2)
    ]
    assert changed[0] == changed[1]
    for _ in range(2):
        data(await home.ask("DELETE", f"/members/{ben['userId']}", idempotency_key="out"), 204)
    second = await home.make("/invitations", role="member")
    for _ in range(2):
        data(await home.ask("DELETE", f"/invitations/{second['id']}", idempotency_key="withdraw"), 204)
    for _ in range(2):
        data(await home.ask("DELETE", "", idempotency_key="the end"), 204)
