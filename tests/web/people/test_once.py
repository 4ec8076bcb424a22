"""The same request again, fifty times at once if need be, is done once; a secret is told once."""

import asyncio
from uuid import UUID, uuid4

import pytest

from potluck.people.entities import Account
from tests.people.assembly import WRAPPERS
from tests.web.people.doors import ANOTHER_PASSWORD, PASSWORD, doors_on

AT_ONCE = 50


def rows_of_kind(rows, kind):
    return [
        row
        for table in rows.values()
        for row in table
        if kind in (row.get("entityType") or row.get("kind", {})).values()
    ]


@pytest.mark.parametrize("wrapper", WRAPPERS)
async def test_fifty_of_the_same_request_make_one_row_and_are_answered_alike(tmp_path, wrapper):
    wrap = WRAPPERS[wrapper] or (lambda engine: engine)
    async with doors_on(tmp_path, wrap=wrap) as doors:
        ada = await doors.join()
        book = (await doors.ask("POST", "/books", {"name": "Plans"}, by=ada)).json()["bookId"]
        answers = await asyncio.gather(
            *(
                doors.ask("POST", f"/books/{book}/notes", {"title": "Once"}, by=ada, idempotency_key="one note")
                for _ in range(AT_ONCE)
            )
        )
        told = {(each.status_code, each.content, each.headers["etag"]) for each in answers}
        assert len(told) == 1
        assert answers[0].status_code == 201
        assert len(rows_of_kind(await doors.rows(), "Note")) == 1


async def test_fifty_who_make_one_token_make_one_and_its_secret_is_told_once(doors):
    ada = await doors.join()
    answers = await asyncio.gather(
        *(
            doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada, idempotency_key="a token")
            for _ in range(AT_ONCE)
        )
    )
    made = [each for each in answers if each.status_code == 201]
    refused = [each.json() for each in answers if each.status_code == 409]
    assert (len(made), len(refused)) == (1, AT_ONCE - 1)
    assert {(each["type"], each["made"]) for each in refused} == {("/problems/already-done", made[0].json()["id"])}
    assert not any("plt_" in repr(each) for each in refused)
    assert len(rows_of_kind(await doors.rows(), "ApiToken")) == 1


async def test_an_account_and_a_session_are_made_once_and_their_secrets_told_once(doors):
    body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
    for path, sent in (("/accounts", body), ("/sessions", {"email": "ada@example.org", "password": PASSWORD})):
        key = str(uuid4())
        first = await doors.ask("POST", path, sent, idempotency_key=key)
        assert first.status_code == 201
        user_id = first.json().get("userId") or user_id  # noqa: F821 - the account comes first
        with doors.written() as written:
            again = await doors.ask("POST", path, sent, idempotency_key=key)
        assert (again.status_code, again.json()["type"]) == (409, "/problems/already-done")
        assert again.json()["made"] == user_id
        assert first.json()["token"] not in again.text
        assert written == []
        other = await doors.ask("POST", path, {**sent, "password": ANOTHER_PASSWORD}, idempotency_key=key)
        assert (other.status_code, other.json()["type"]) == (422, "/problems/key-reused")
    # Who asks as nobody is met by nobody else's key.
    named = await doors.ask(
        "POST", "/sessions", {"email": "ada@example.org", "password": PASSWORD}, idempotency_key="x"
    )
    assert (named.status_code, named.json()["errors"][0]["field"]) == (422, "Idempotency-Key")


async def test_who_is_signed_in_already_registers_or_signs_in_as_nobody_too(doors):
    ada = await doors.join()
    body = {"email": "ada@example.org", "password": PASSWORD}
    again = await doors.ask("POST", "/sessions", body, by=ada, idempotency_key=str(uuid4()))
    assert again.status_code == 201
    another = {"email": "ben@example.org", "password": PASSWORD, "name": "Ben"}
    assert (await doors.ask("POST", "/accounts", another, by=ada, idempotency_key=str(uuid4()))).status_code == 201


async def test_every_change_of_an_account_is_answered_again_and_done_once(doors):
    ada = await doors.join()
    token = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    calls = [
        ("DELETE", f"/me/tokens/{token['id']}", None),
        ("PATCH", "/me", {"name": "Countess", "version": 1}),
        ("PATCH", "/me", {"name": "Countess", "version": 2}),
        ("PUT", "/me/email", {"email": "countess@example.org", "password": PASSWORD}),
        ("PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}),
        ("POST", "/me/sessions/end-others", None),
    ]
    for number, (method, path, body) in enumerate(calls):
        first = await doors.ask(method, path, body, by=ada, idempotency_key=f"call {number}")
        assert first.status_code in (200, 204), first.text
        with doors.written() as written:
            again = await doors.ask(method, path, body, by=ada, idempotency_key=f"call {number}")
        assert written == []
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again.headers.get("etag") == first.headers.get("etag")


async def test_a_reset_is_redeemed_once_and_answered_again(doors):
    ada = await doors.join()
    issued = await doors.issue_reset("ada@example.org")
    body, key = {"token": issued, "new": ANOTHER_PASSWORD}, str(uuid4())
    answers = await asyncio.gather(
        *(doors.ask("POST", "/password-resets", body, idempotency_key=key) for _ in range(5))
    )
    assert {each.status_code for each in answers} == {204}
    account = await doors.core.store.one(Account.by_id(UUID(ada["userId"])))
    assert account.session_epoch == 2


async def test_what_is_kept_of_a_request_does_not_tell_its_password(doors):
    from potluck.people.idempotency import request_hash

    key = str(uuid4())
    body = b'{"email":"ada@example.org","password":"correct horse","name":"Ada"}'
    made = await doors.client.post(
        "/api/v1/accounts", content=body, headers={"content-type": "application/json", "idempotency-key": key}
    )
    assert made.status_code == 201
    (kept,) = rows_of_kind(await doors.rows(), "IdempotentAnswer")
    # Whoever has the database and guesses the password cannot check the guess without the suite's secret.
    assert kept["requestHash"]["S"] != request_hash("POST", "/api/v1/accounts", body + b"\n")
    assert set(kept) & {"body", "headers"} <= {"headers"}


GUESSED = "not this one either"


@pytest.mark.parametrize(
    ("method", "path", "right", "guess"),
    [
        ("POST", "/sessions", {"email": "ada@example.org", "password": PASSWORD}, {"password": GUESSED}),
        ("POST", "/accounts", {"email": "b@example.org", "password": PASSWORD, "name": "B"}, {"password": GUESSED}),
        ("PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}, {"current": GUESSED}),
        ("PUT", "/me/email", {"email": "c@example.org", "password": PASSWORD}, {"password": GUESSED}),
    ],
)
async def test_who_guesses_what_a_key_was_used_with_is_throttled_like_everybody(doors, method, path, right, guess):
    """Whether a key is known with other words tells whether these are the same: each such answer is an attempt."""
    by = await doors.join() if path != "/accounts" else None
    by = by if path.startswith("/me") else None
    key = str(uuid4())
    assert (await doors.ask(method, path, right, by=by, idempotency_key=key)).status_code in (200, 201, 204)
    told = [(await doors.ask(method, path, right | guess, by=by, idempotency_key=key)).status_code for _ in range(61)]
    assert set(told) == {422, 429}
    assert told == sorted(told)
    # Nor is somebody told who has tried too often, and says the same at last.
    assert (await doors.ask(method, path, right, by=by, idempotency_key=key)).status_code == 429
    doors.clock.forward(minutes=15)
    again = await doors.ask(method, path, right, by=by, idempotency_key=key)
    assert again.status_code == (409 if path in ("/sessions", "/accounts") else 200)
