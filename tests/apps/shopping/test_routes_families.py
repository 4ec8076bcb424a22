"""Families over HTTP: who makes them, who is in them, who comes and who goes."""

import asyncio
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


async def test_families_are_listed_by_name_in_parts(calls):
    ada = await calls.person()
    for name in ("éclair", "Zoe", "Eclair", "Adams"):
        data(await calls.ask("POST", "/families", {"name": name}, by=ada), 201)
    whole = [each["name"] for each in data(await calls.ask("GET", "/families", by=ada))["items"]]
    assert whole[0] == "Adams"
    assert whole[-1] == "Zoe"
    first = data(await calls.ask("GET", "/families?limit=3", by=ada))
    second = data(await calls.ask("GET", f"/families?limit=3&cursor={first['nextCursor']}", by=ada))
    assert [each["name"] for each in first["items"] + second["items"]] == whole
    assert second["nextCursor"] is None
    ben = await calls.person("Ben")
    problem(await calls.ask("GET", f"/families?limit=3&cursor={first['nextCursor']}", by=ben), 422, "invalid-fields")


async def test_an_admin_renames_the_family_of_the_version_that_they_saw(home):
    ben = await home.joined()
    problem(await home.ask("PATCH", "", {"name": "Byron"}), 428, "version-needed")
    problem(await home.ask("PATCH", "", {"name": "Byron", "version": 1}, by=ben), 403, "forbidden")
    renamed = data(await home.ask("PATCH", "", {"name": "Byron", "version": 1}))
    assert (renamed["name"], renamed["version"]) == ("Byron", 2)
    assert data(await home.ask("PATCH", "", {"version": 2})) == renamed
    stale = problem(await home.ask("PATCH", "", {"name": "King", "version": 1}), 409, "version-conflict")
    assert stale["current"] == renamed
    stale = problem(await home.ask("PATCH", "", {"name": "King"}, if_match='"1"'), 412, "precondition-failed")
    assert stale["current"] == renamed
    # Its own tag is a hash, which is no version.
    tag = (await home.ask("GET")).headers["etag"]
    problem(await home.ask("PATCH", "", {"name": "King"}, if_match=tag), 412, "precondition-failed")
    assert data(await home.ask("PATCH", "", {"name": "King"}, if_match='"2"'))["version"] == 3


async def test_a_deleted_family_is_gone_for_all_of_them(home):
    ben = await home.joined()
    problem(await home.ask("DELETE", by=ben), 403, "forbidden")
    problem(await home.ask("DELETE", if_match='"7"'), 412, "precondition-failed")
    data(await home.ask("DELETE", if_match='"1"'), 204)
    for person in (home.admin, ben):
        problem(await home.ask("GET", by=person), 404, "not-found")
        assert data(await home.calls.ask("GET", "/families", by=person))["items"] == []


async def test_admins_make_admins_and_the_last_one_stays(home):
    ben = await home.joined()
    members = data(await home.ask("GET", "/members"))
    assert members["items"] == [
        {"memberId": home.admin["userId"], "name": "Ada", "email": home.admin["email"], "role": "admin", "version": 1},
        {"memberId": ben["userId"], "name": "Ben", "email": ben["email"], "role": "member", "version": 1},
    ]
    own, other = f"/members/{home.admin['userId']}", f"/members/{ben['userId']}"
    problem(await home.ask("PATCH", own, {"role": "member", "version": 1}), 409, "last-admin")
    problem(await home.ask("DELETE", own), 409, "last-admin")
    problem(await home.ask("PATCH", other, {"role": "admin", "version": 1}, by=ben), 403, "forbidden")
    problem(await home.ask("DELETE", own, by=ben), 403, "forbidden")
    problem(await home.ask("PATCH", other, {"role": "admin"}), 428, "version-needed")
    answer = await home.ask("PATCH", other, {"role": "admin", "version": 1})
    assert data(answer)["role"] == "admin"
    assert answer.headers["etag"] == '"2"'
    stale = problem(await home.ask("PATCH", other, {"role": "member", "version": 1}), 409, "version-conflict")
    assert stale["current"] == data(answer)
    stale = problem(await home.ask("DELETE", other, if_match='"1"'), 412, "precondition-failed")
    assert stale["current"] == data(answer)
    # Both at once: one stays.
    left = await asyncio.gather(home.ask("DELETE", other), home.ask("DELETE", own, by=ben))
    assert sorted(each.status_code for each in left)[0] == 204
    assert sorted(each.status_code for each in left)[1] in (404, 409)
    stayed = [by for by in (home.admin, ben) if (await home.ask("GET", by=by)).status_code == 200]
    assert len(stayed) == 1


async def test_anyone_leaves(home):
    ben = await home.joined()
    added = await home.make("/shopping-list", name="Tea", by=ben)
    assert added["addedByName"] == "Ben"
    data(await home.ask("DELETE", f"/members/{ben['userId']}", by=ben), 204)
    problem(await home.ask("GET", by=ben), 404, "not-found")
    problem(await home.ask("DELETE", f"/members/{ben['userId']}"), 404, "not-found")
    left = data(await home.ask("GET", f"/shopping-list/{added['shoppingItemId']}"))
    assert (left["addedBy"], left["addedByName"]) == (ben["userId"], "Former member")


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


async def test_invitations_are_the_admins_and_are_withdrawn_or_over(home):
    ben = await home.joined()
    made = [await home.make("/invitations", role="member") for _ in range(3)]
    for method, path, body in (
        ("POST", "/invitations", {"role": "member"}),
        ("GET", "/invitations", None),
        ("DELETE", f"/invitations/{made[0]['id']}", None),
    ):
        problem(await home.ask(method, path, body, by=ben), 403, "forbidden")
    first = data(await home.ask("GET", "/invitations?limit=2"))
    second = data(await home.ask("GET", f"/invitations?limit=2&cursor={first['nextCursor']}"))
    assert len(first["items"]) == 2
    assert {each["id"] for each in first["items"] + second["items"]} == {each["id"] for each in made}
    data(await home.ask("DELETE", f"/invitations/{made[0]['id']}"), 204)
    problem(await home.ask("DELETE", f"/invitations/{made[0]['id']}"), 404, "not-found")
    problem(await home.ask("DELETE", f"/invitations/{uuid4()}"), 404, "not-found")
    eve = await home.calls.person("Eve")
    accept = home.calls.ask
    problem(await accept("POST", "/invitations/accept", {"token": made[0]["token"]}, by=eve), 410, "expired")
    home.calls.clock.forward(days=7)
    eve = data(await home.calls.ask("POST", "/sessions", {"email": eve["email"], "password": "correct horse"}), 201)
    problem(await accept("POST", "/invitations/accept", {"token": made[1]["token"]}, by=eve), 410, "expired")


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
