"""People over HTTP: everything that one can do with an account, by API."""

import asyncio
from uuid import UUID, uuid4

import pytest

from potluck.people.invitations import POTLUCK
from tests.web.people.doors import ANOTHER_PASSWORD, PASSWORD, doors_on
from tests.web.suites import API

HASHES = ("$argon2", "hash", "epoch")


async def test_sign_up_sign_in_change_everything_and_leave(doors):
    made = await doors.join(" Ada@Example.org ", "Ada")
    assert set(made) == {"userId", "email", "name", "token", "tokenExpiresAt"}
    assert (made["email"], made["name"], made["tokenExpiresAt"]) == (
        "Ada@Example.org",
        "Ada",
        "2040-01-31T12:00:00.000Z",
    )
    assert UUID(made["userId"]).version == 4

    opened = await doors.sign_in("ADA@example.org")
    assert opened.status_code == 201
    assert set(opened.json()) == {"token", "expiresAt"}
    there = opened.json()["token"]

    me = await doors.ask("GET", "/me", by=made)
    assert me.json() == {
        "userId": made["userId"],
        "email": "Ada@Example.org",
        "emailVerified": False,
        "hasPassword": True,
        "name": "Ada",
        "version": 1,
        "createdAt": "2040-01-01T12:00:00.000Z",
    }
    assert me.headers["etag"] == '"1"'

    renamed = await doors.ask("PATCH", "/me", {"name": " Countess ", "version": 1}, by=made)
    assert (renamed.status_code, renamed.json()["name"], renamed.json()["version"]) == (200, "Countess", 2)
    assert renamed.headers["etag"] == '"2"'

    moved = await doors.ask("PUT", "/me/email", {"email": "countess@example.org", "password": PASSWORD}, by=made)
    assert (moved.status_code, moved.json()["email"], moved.json()["version"]) == (200, "countess@example.org", 3)
    assert (await doors.ask("GET", "/me", by=there)).status_code == 401
    assert (await doors.sign_in("ada@example.org")).status_code == 401

    there = (await doors.sign_in("countess@example.org")).json()["token"]
    changed = await doors.ask("PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}, by=made)
    assert (changed.status_code, changed.json()) == (200, {"tokensLeft": 0})
    assert (await doors.ask("GET", "/me", by=there)).status_code == 401
    assert (await doors.sign_in("countess@example.org")).status_code == 401
    there = (await doors.sign_in("countess@example.org", ANOTHER_PASSWORD)).json()["token"]

    ended = await doors.ask("DELETE", "/sessions/current", by=there)
    assert (ended.status_code, ended.content) == (204, b"")
    assert (await doors.ask("GET", "/me", by=there)).status_code == 401

    gone = await doors.ask("POST", "/me/delete", {"password": ANOTHER_PASSWORD}, by=made)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await doors.ask("GET", "/me", by=made)).status_code == 401
    assert (await doors.sign_in("countess@example.org", ANOTHER_PASSWORD)).status_code == 401


async def test_changes_from_two_windows_of_one_browser_at_once_sign_nobody_out(doors):
    made = await doors.join("ada@example.org", "Ada")
    moved, renamed, token, *looks = await asyncio.gather(
        doors.ask("PUT", "/me/email", {"email": "countess@example.org", "password": PASSWORD}, by=made),
        doors.ask("PATCH", "/me", {"name": "Countess", "version": 1}, by=made),
        doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=made),
        *(doors.ask("GET", "/me", by=made) for _ in range(10)),
    )
    assert (moved.status_code, token.status_code) == (200, 201)
    # Whichever was second has seen an older version, or has started again.
    assert renamed.status_code in (200, 409)
    assert {each.status_code for each in looks} == {200}
    assert (await doors.ask("GET", "/me", by=made)).json()["email"] == "countess@example.org"


async def test_an_api_token_calls_for_its_owner_and_is_revoked(doors):
    ada = await doors.join()
    made = await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)
    assert (made.status_code, set(made.json())) == (201, {"id", "name", "token", "createdAt"})
    doors.clock.forward(minutes=1)
    later = (await doors.ask("POST", "/me/tokens", {"name": "Later"}, by=ada)).json()
    listed = await doors.ask("GET", "/me/tokens", by=ada)
    assert listed.json() == {
        "items": [
            {"id": later["id"], "name": "Later", "createdAt": "2040-01-01T12:01:00.000Z"},
            {"id": made.json()["id"], "name": "Backup", "createdAt": "2040-01-01T12:00:00.000Z"},
        ],
        "nextCursor": None,
        "position": None,
    }
    assert (await doors.ask("GET", "/me", by=made.json())).json()["userId"] == ada["userId"]
    assert (await doors.ask("POST", "/books", {"name": "Plans"}, by=made.json())).status_code == 201
    assert (await doors.ask("GET", "/me/export", by=made.json())).status_code == 200

    revoked = await doors.ask("DELETE", f"/me/tokens/{made.json()['id']}", by=ada)
    assert (revoked.status_code, revoked.content) == (204, b"")
    assert (await doors.ask("GET", "/me", by=made.json())).status_code == 401
    assert (await doors.ask("GET", "/me", by=later)).status_code == 200
    for gone in (made.json()["id"], uuid4()):
        assert (await doors.ask("DELETE", f"/me/tokens/{gone}", by=ada)).status_code == 404


async def test_who_changes_the_password_says_whether_programs_go_on(doors):
    ada = await doors.join()
    program = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    stays = {"current": PASSWORD, "new": ANOTHER_PASSWORD, "endTokens": False}
    for _ in range(2):
        changed = await doors.ask("PUT", "/me/password", stays, by=ada, idempotency_key="once")
        assert (changed.status_code, changed.json()) == (200, {"tokensLeft": 1})
    assert (await doors.ask("GET", "/me", by=program)).status_code == 200
    changed = await doors.ask("PUT", "/me/password", {"current": ANOTHER_PASSWORD, "new": PASSWORD}, by=ada)
    assert changed.json() == {"tokensLeft": 0}
    assert (await doors.ask("GET", "/me", by=program)).status_code == 401
    program = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    issued = await doors.issue_reset("ada@example.org")
    chosen = await doors.ask("POST", "/password-resets", {"token": issued, "new": ANOTHER_PASSWORD})
    assert chosen.status_code == 204
    assert (await doors.ask("GET", "/me", by=program)).status_code == 401


async def test_an_api_token_manages_neither_tokens_nor_password_nor_account(doors):
    ada = await doors.join()
    program = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    calls = [
        ("PATCH", "/me", {"name": "Mallory", "version": 1}),
        ("PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}),
        ("PUT", "/me/email", {"email": "mallory@example.org", "password": PASSWORD}),
        ("POST", "/me/delete", {"password": PASSWORD}),
        ("GET", "/me/tokens", None),
        ("POST", "/me/tokens", {"name": "Another"}),
        ("DELETE", f"/me/tokens/{program['id']}", None),
        ("GET", "/me/sessions", None),
        ("POST", "/me/sessions/end-others", None),
        ("DELETE", "/sessions/current", None),
    ]
    with doors.written() as written:
        for method, path, body in calls:
            answer = await doors.ask(method, path, body, by=program)
            assert (answer.status_code, answer.json()["type"]) == (403, "/problems/token-cannot"), (method, path)
    assert written == []


async def test_where_one_is_signed_in_is_listed_in_parts_and_ended_at_once(doors):
    ada = await doors.join()
    for _ in range(4):
        doors.clock.forward(minutes=1)
        there = (await doors.sign_in()).json()["token"]
    seen, cursor = [], ""
    while cursor is not None:
        query = f"?limit=2&cursor={cursor}" if cursor else "?limit=2"
        part = (await doors.ask("GET", f"/me/sessions{query}", by=ada)).json()
        seen += part["items"]
        cursor = part["nextCursor"]
    assert [each["createdAt"][14:16] for each in seen] == ["04", "03", "02", "01", "00"]
    assert [each["current"] for each in seen] == [False] * 4 + [True]
    assert set(seen[0]) == {"createdAt", "expiresAt", "current", "device"}
    assert {each["device"] for each in seen} == {"Python"}

    ended = await doors.ask("POST", "/me/sessions/end-others", by=ada)
    assert (ended.status_code, ended.content) == (204, b"")
    assert (await doors.ask("GET", "/me", by=there)).status_code == 401
    assert len((await doors.ask("GET", "/me/sessions", by=ada)).json()["items"]) == 1


async def test_no_answer_holds_a_hash(doors):
    ada = await doors.join()
    await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)
    await doors.invite("notes", "book", "member", UUID(ada["userId"]))
    answers = [await doors.ask("GET", path, by=ada) for path in ("/me", "/me/tokens", "/me/sessions")] + [
        await doors.ask("PATCH", "/me", {"version": 9}, by=ada)
    ]
    for answer in answers:
        assert not any(word in answer.text.lower() for word in HASHES), answer.text


async def test_a_browser_that_signs_out_or_leaves_forgets_its_cookie_and_a_program_has_none(doors):
    ada = await doors.join()
    by_program = await doors.ask("DELETE", "/sessions/current", by=ada)
    assert "set-cookie" not in by_program.headers
    for method, path, body in (
        ("DELETE", "/sessions/current", None),
        ("POST", "/me/delete", {"password": PASSWORD}),
    ):
        token = (await doors.sign_in()).json()["token"]
        refused = await doors.ask(method, path, body, cookie=f"potluck={token}")
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/cross-site")
        done = await doors.ask(method, path, body, cookie=f"potluck={token}", sec_fetch_site="same-origin")
        assert done.status_code == 204
        taken_away = done.headers["set-cookie"].lower()
        assert taken_away.startswith(("potluck=;", 'potluck="";'))
        assert "max-age=0" in taken_away


# --- who may register ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("registration", ["closed", "invited"])
async def test_where_registration_is_not_open_nobody_registers_uninvited(tmp_path, registration):
    async with doors_on(tmp_path, registration=registration) as doors:
        body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
        with doors.written() as written:
            refused = await doors.ask("POST", "/accounts", body)
            assert (refused.status_code, refused.json()["type"]) == (403, "/problems/registration-closed")
            made_up = {**body, "invitation": f"pli_{'0' * 64}"}
            assert (await doors.ask("POST", "/accounts", made_up)).status_code == (
                410 if registration == "invited" else 403
            )
        assert written == []


async def test_an_invited_person_looks_and_registers_once(tmp_path):
    async with doors_on(tmp_path, registration="invited") as doors:
        invitation = await doors.invite_newcomer()
        looked = await doors.ask("POST", "/invitations/look", {"token": invitation})
        assert looked.status_code == 200
        assert looked.json() == {
            "app": POTLUCK,
            "place": None,
            "role": "newcomer",
            "invitedBy": None,
            "expiresAt": "2040-01-08T12:00:00.000Z",
        }
        body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada", "invitation": invitation}
        ada = await doors.ask("POST", "/accounts", body)
        assert ada.status_code == 201
        again = await doors.ask("POST", "/accounts", {**body, "email": "ben@example.org"})
        assert (again.status_code, again.json()["type"]) == (410, "/problems/expired")
        assert (await doors.ask("POST", "/invitations/look", {"token": invitation})).status_code == 410


async def test_an_invitation_to_a_place_says_what_its_app_says(doors):
    ada = await doors.join()
    book = (await doors.ask("POST", "/books", {"name": "Plans"}, by=ada)).json()["bookId"]
    made = await doors.invite("notes", book, "member", UUID(ada["userId"]))
    looked = (await doors.ask("POST", "/invitations/look", {"token": made.secret})).json()
    assert (looked["app"], looked["place"], looked["role"]) == ("notes", "Plans", "member")
    assert looked["invitedBy"] == "Ada"
    elsewhere = await doors.invite("elsewhere", "secret-id", "member", UUID(ada["userId"]))
    looked = await doors.ask("POST", "/invitations/look", {"token": elsewhere.secret})
    assert looked.json()["place"] is None
    assert "secret-id" not in looked.text
    for wrong in ("", "pli_", f"pli_{'0' * 64}", ada["token"]):
        assert (await doors.ask("POST", "/invitations/look", {"token": wrong})).status_code == 410


async def test_every_call_is_described(doors):
    document = (await doors.client.get("/schema/openapi.json")).json()
    calls = {f"{method.upper()} {path.removeprefix(API)}" for path, at in document["paths"].items() for method in at}
    assert calls >= {
        "POST /accounts",
        "POST /sessions",
        "DELETE /sessions/current",
        "GET /me",
        "PATCH /me",
        "PUT /me/password",
        "PUT /me/email",
        "POST /me/tokens",
        "GET /me/tokens",
        "DELETE /me/tokens/{tokenId}",
        "GET /me/export",
        "POST /me/delete",
        "GET /me/sessions",
        "POST /me/sessions/end-others",
        "POST /password-resets",
        "POST /invitations/look",
    }
