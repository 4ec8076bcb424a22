"""Whatever is refused has written nothing, and says all that is wrong with it."""

from uuid import uuid4

from potluck.people.throttling import PASSWORD_CHECKS
from potluck.web.people.tokens import TOKENS_OF_USER
from tests.web.people.doors import ANOTHER_PASSWORD, PASSWORD
from tests.web.suites import API

ACCOUNT = {"email": "ben@example.org", "password": PASSWORD, "name": "Ben"}
SECRET = f"plr_{'0' * 64}"

# Every call with a body: who may make it, a body that is right, and everything wrong with one that is not.
BODIES = [
    ("POST", "/accounts", False, ACCOUNT, {"email": "b", "password": "short", "name": " "}),
    ("POST", "/sessions", False, {"email": "ada@example.org", "password": PASSWORD}, {"email": 1, "password": None}),
    ("POST", "/password-resets", False, {"token": SECRET, "new": ANOTHER_PASSWORD}, {"token": [], "new": "x" * 129}),
    ("POST", "/invitations/look", False, {"token": "pli_"}, {"token": "x" * 201}),
    ("PATCH", "/me", True, {"name": "Countess", "version": 1}, {"name": "\x00", "version": 0}),
    ("PUT", "/me/password", True, {"current": PASSWORD, "new": ANOTHER_PASSWORD}, {"current": 5, "new": "short"}),
    ("PUT", "/me/email", True, {"email": "b@example.org", "password": PASSWORD}, {"email": "@", "password": {}}),
    ("POST", "/me/tokens", True, {"name": "Backup"}, {"name": "x" * 101}),
    ("POST", "/me/delete", True, {"password": PASSWORD}, {"password": "x" * 129}),
]
KNOWN_ONLY = [
    *((method, path, body) for method, path, known, body, _ in BODIES if known),
    ("GET", "/me", None),
    ("GET", "/me/tokens", None),
    ("GET", "/me/sessions", None),
    ("GET", "/me/export", None),
    ("DELETE", "/sessions/current", None),
    ("DELETE", f"/me/tokens/{uuid4()}", None),
    ("POST", "/me/sessions/end-others", None),
]


async def test_a_body_that_is_no_json_or_not_sent_as_json_is_refused(doors):
    ada = await doors.join()
    headers = {"authorization": f"Bearer {ada['token']}", "content-type": "application/json"}
    with doors.written() as written:
        for method, path, *_ in BODIES:
            for content, sent, status in (
                (b"{", headers, 400),
                (b"", headers, 400),
                (b"\xff\xfe", headers, 400),
                (b"{}", {**headers, "content-type": "text/plain"}, 415),
            ):
                answer = await doors.client.request(method, API + path, content=content, headers=sent)
                assert answer.status_code == status, (method, path, content, answer.text)
                assert answer.headers["content-type"].startswith("application/problem+json")
    assert written == []


async def test_all_wrong_fields_are_said_at_once(doors):
    ada = await doors.join()
    with doors.written() as written:
        for method, path, _, right, wrong in BODIES:
            answer = await doors.ask(method, path, {**wrong, "surprise": 1}, by=ada)
            assert answer.status_code == 422, (method, path, answer.text)
            found = {each["field"] for each in answer.json()["errors"]}
            assert found == {*wrong, "surprise"}, (method, path)
            missing = await doors.ask(method, path, {}, by=ada)
            required = set(right) - {"version", "name"} if path == "/me" else set(right)
            if required:
                assert {each["field"] for each in missing.json()["errors"]} == required, (method, path)
    assert written == []


async def test_a_name_that_cannot_be_shown_is_refused(doors):
    for name in ("", "   ", "\u200b", "a\nb", "\u2028", "\ue000", "x" * 101):
        answer = await doors.ask("POST", "/accounts", {**ACCOUNT, "name": name})
        assert (answer.status_code, [each["field"] for each in answer.json()["errors"]]) == (422, ["name"]), name


async def test_what_bounds_cannot_state_is_said_with_the_rest(doors):
    wrong = {"email": "b\u200b@example.org", "name": "a\u2060b", "password": "short"}
    answer = await doors.ask("POST", "/accounts", wrong)
    assert {each["field"]: each["message"] for each in answer.json()["errors"]} == {
        "email": "E-mail must be an address such as ada@example.org, of at most 254 characters",
        "name": "Name must not contain U+2060",
        "password": "Password must have 10 to 128 characters",
    }


async def test_nobody_and_who_is_no_longer_known_may_do_nothing(doors):
    ada = await doors.join()
    ended = (await doors.sign_in()).json()
    await doors.ask("DELETE", "/sessions/current", by=ended)
    with doors.written() as written:
        for method, path, body in KNOWN_ONLY:
            for by in (None, ended["token"], "pls_", f"plt_{'0' * 64}", "nonsense", ada["token"] + "0"):
                answer = await doors.ask(method, path, body, by=by)
                assert (answer.status_code, answer.json()["type"]) == (401, "/problems/not-signed-in"), (method, path)
                assert answer.headers["www-authenticate"].startswith("Bearer")
    assert written == []


async def test_what_the_rules_refuse_is_named_and_nothing_is_written(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = (await doors.ask("POST", "/books", {"name": "Plans"}, by=ada)).json()["bookId"]
    await doors.ask("PUT", f"/books/{book}/members/{ben['userId']}", by=ada)
    bens = (await doors.ask("POST", "/me/tokens", {"name": "Ben's"}, by=ben)).json()["id"]
    right, wrong = PASSWORD, "wrong horse!"
    refused = [
        ("POST", "/accounts", {**ACCOUNT, "email": " BEN@example.org"}, 409, "email-taken"),
        ("POST", "/sessions", {"email": "ada@example.org", "password": wrong}, 401, "wrong-credentials"),
        ("POST", "/password-resets", {"token": SECRET, "new": ANOTHER_PASSWORD}, 410, "expired"),
        ("POST", "/password-resets", {"token": "", "new": ANOTHER_PASSWORD}, 410, "expired"),
        ("POST", "/invitations/look", {"token": "pli_"}, 410, "expired"),
        ("PATCH", "/me", {"name": "Countess"}, 428, "version-needed"),
        ("PATCH", "/me", {"name": "Countess", "version": 7}, 409, "version-conflict"),
        ("PUT", "/me/password", {"current": wrong, "new": ANOTHER_PASSWORD}, 403, "wrong-password"),
        ("PUT", "/me/email", {"email": "ben@example.org", "password": right}, 409, "email-taken"),
        ("PUT", "/me/email", {"email": "c@example.org", "password": wrong}, 403, "wrong-password"),
        ("POST", "/me/delete", {"password": wrong}, 403, "wrong-password"),
        ("POST", "/me/delete", {"password": right}, 409, "still-needed"),
        ("DELETE", f"/me/tokens/{bens}", None, 404, "not-found"),
        ("DELETE", "/me/tokens/not-a-uuid", None, 422, "invalid-fields"),
        ("GET", "/me/tokens?limit=0", None, 422, "invalid-fields"),
        ("GET", "/me/sessions?cursor=forged", None, 422, "invalid-fields"),
        ("GET", "/me?unknown=1", None, 422, "invalid-fields"),
        ("PUT", "/me", {"name": "Ada"}, 405, "method-not-allowed"),
        ("GET", "/me/nothing", None, 404, "not-found"),
    ]
    with doors.written() as written:
        for method, path, body, status, slug in refused:
            answer = await doors.ask(method, path, body, by=ada)
            assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{slug}"), (method, path)
            assert answer.json()["requestId"] == answer.headers["x-request-id"]
    assert written == []
    # What is done, is seen to be written.
    with doors.written() as written:
        assert (await doors.ask("PATCH", "/me", {"name": "Countess", "version": 1}, by=ada)).status_code == 200
    assert len(written) == 1
    needed = await doors.ask("POST", "/me/delete", {"password": right}, by=ada)
    assert needed.json()["places"] == ["Plans"]


async def test_a_cursor_is_good_for_its_owner_and_its_list_alone(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    for name in ("One", "Two"):
        await doors.ask("POST", "/me/tokens", {"name": name}, by=ada)
    cursor = (await doors.ask("GET", "/me/tokens?limit=1", by=ada)).json()["nextCursor"]
    assert (await doors.ask("GET", f"/me/tokens?limit=1&cursor={cursor}", by=ada)).json()["nextCursor"] is None
    for path, by in (("/me/tokens", ben), ("/me/sessions", ada)):
        assert (await doors.ask("GET", f"{path}?cursor={cursor}", by=by)).status_code == 422


async def test_there_is_room_for_only_so_many_tokens(doors):
    ada = await doors.join()
    for _ in range(TOKENS_OF_USER):
        assert (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).status_code == 201
    with doors.written() as written:
        full = await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)
    assert (full.status_code, full.json()["type"], full.json()["atMost"]) == (409, "/problems/too-many", TOKENS_OF_USER)
    assert written == []


async def test_guessing_the_password_of_someone_signed_in_is_throttled(doors):
    ada = await doors.join()
    for _ in range(PASSWORD_CHECKS.amount):
        assert (await doors.ask("POST", "/me/delete", {"password": "wrong horse!"}, by=ada)).status_code == 403
    with doors.written() as written:
        for method, path, body in (
            ("POST", "/me/delete", {"password": PASSWORD}),
            ("PUT", "/me/email", {"email": "c@example.org", "password": PASSWORD}),
            ("PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}),
        ):
            refused = await doors.ask(method, path, body, by=ada)
            assert (refused.status_code, refused.json()["type"]) == (429, "/problems/throttled")
            assert int(refused.headers["retry-after"]) > 0
    assert written == []
