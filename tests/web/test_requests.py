from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.requests import Request

from potluck.people.authentication import Principal
from potluck.people.idempotency import LONGEST_KEY
from potluck.validation.errors import ValidationError, camel
from potluck.web.errors import ERRORS, WrongMediaType
from potluck.web.http.problems import HttpProblem
from potluck.web.requests import LARGEST_BODY, Ids, body_of, idempotency_key, must_be_form, must_be_json

SECRET = b"s" * 32
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Client:
    """Sends a body in parts, and counts how many were taken."""

    def __init__(self, *parts: bytes, leaves: bool = False) -> None:
        self.parts = list(parts)
        self.leaves = leaves
        self.taken = 0

    async def __call__(self) -> Any:
        if not self.parts:
            return {"type": "http.disconnect"} if self.leaves else {"type": "http.request", "body": b""}
        self.taken += 1
        part = self.parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self.parts) or self.leaves}


def request(
    *headers: tuple[str, str],
    client: Client | None = None,
    method: str = "POST",
    target: str = "/api/v1/notes",
    values: dict[str, str] | None = None,
) -> Request:
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "path_params": values or {},
    }
    return Request(scope, client or Client())


def somebody() -> Principal:
    return Principal(kind="token", user_id=uuid4(), name="Ada", hash="0" * 64, session_epoch=1, expires_at=None)


# --- what a body is said to be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        JSON,
        {"content-type": "application/json; charset=utf-8"},
        {"content-type": "Application/JSON; charset=UTF-8"},
        {"content-type": 'application/json; charset="utf-8"'},
        {"content-type": "application/merge-patch+json"},
        {**JSON, "content-encoding": "identity"},
    ],
)
def test_json_is_taken(headers):
    must_be_json(request(*headers.items()))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        FORM,
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "application/jsonx"},
        {"content-type": "application/json; charset=latin-1"},
        {**JSON, "content-encoding": "gzip"},
    ],
)
def test_only_json_is_taken(headers):
    with pytest.raises(WrongMediaType):
        must_be_json(request(*headers.items()))
    assert ERRORS[WrongMediaType].problem.status == 415


def test_a_form_is_sent_as_browsers_send_one():
    must_be_form(request(*FORM.items()))
    must_be_form(request(("content-type", f"{FORM['content-type']}; charset=UTF-8")))
    for headers in ({}, JSON, {"content-type": "multipart/form-data; boundary=x"}):
        with pytest.raises(WrongMediaType):
            must_be_form(request(*headers.items()))


# --- the body itself -------------------------------------------------------------------------------------------------


async def test_a_body_may_come_in_parts():
    assert await body_of(request()) == b""
    assert await body_of(request(client=Client(b'{"title":', b' "Soup"}'))) == b'{"title": "Soup"}'
    assert len(await body_of(request(client=Client(b"x" * LARGEST_BODY)))) == LARGEST_BODY


async def test_a_body_that_is_said_to_be_too_large_is_not_read():
    client = Client(b"x")
    with pytest.raises(HttpProblem) as refused:
        await body_of(request(("content-length", str(LARGEST_BODY + 1)), client=client))
    assert refused.value.problem.status == 413
    assert client.taken == 0


async def test_a_body_is_read_no_further_than_it_may_be_large():
    client = Client(b"x" * 6, b"x" * 6, b"x" * 6)
    with pytest.raises(HttpProblem) as refused:
        # What it says of itself is not believed.
        await body_of(request(("content-length", "3"), client=client), largest=10)
    assert refused.value.problem.status == 413
    assert client.taken == 2


async def test_half_a_body_is_no_request():
    with pytest.raises(HttpProblem) as refused:
        await body_of(request(client=Client(b'{"title":', leaves=True)))
    assert refused.value.problem.status == 400


# --- names and values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "written"), [("name", "name"), ("store_id", "storeId"), ("seen_at_once", "seenAtOnce")]
)
def test_names_are_in_camel_case(name, written):
    assert camel(name) == written


def test_values_of_a_path_have_the_types_that_were_declared():
    note_id = uuid4()
    assert Ids({"note_id": UUID})(request(values={"note_id": str(note_id)})) == {"note_id": note_id}


def test_every_value_of_a_path_that_is_wrong_is_named_as_callers_write_it():
    with pytest.raises(ValidationError) as refused:
        Ids({"book_id": UUID, "note_id": UUID})(request(values={"book_id": "1", "note_id": "soup"}))
    assert [each.field for each in refused.value.errors] == ["bookId", "noteId"]


# --- doing it once ---------------------------------------------------------------------------------------------------


def key(*headers: tuple[str, str], by: Principal | None, body: bytes = b"{}", **options: Any) -> Any:
    return idempotency_key(request(*headers, **options), by, body, SECRET)


def test_without_a_key_nothing_is_done_once():
    assert key(by=somebody()) is None


def test_a_key_is_its_caller_s_and_stands_for_the_whole_request():
    ada = somebody()
    found = key(("idempotency-key", "k1"), by=ada)
    assert (found.caller, found.value) == (ada.user_id, "k1")
    assert key(("idempotency-key", "k1"), by=ada) == found
    others = [
        key(("idempotency-key", "k1"), by=ada, body=b"[]"),
        key(("idempotency-key", "k1"), by=ada, method="PATCH"),
        key(("idempotency-key", "k1"), by=ada, target="/api/v1/notes?draft=true"),
        key(("idempotency-key", "k1"), ("if-match", '"3"'), by=ada),
        key(("idempotency-key", "k1"), ("if-match", '"4"'), by=ada),
    ]
    assert len({each.request_hash for each in (found, *others)}) == 1 + len(others)


@pytest.mark.parametrize("keys", [("k1", "k1"), ("k1", "k2"), ("",), ("k" * (LONGEST_KEY + 1),)])
def test_a_key_that_is_none_is_refused(keys):
    with pytest.raises(ValidationError) as refused:
        key(*(("idempotency-key", each) for each in keys), by=somebody())
    assert [each.field for each in refused.value.errors] == ["Idempotency-Key"]


def test_whoever_is_not_signed_in_sends_a_key_that_nobody_else_has():
    chosen = uuid4()
    assert key(("idempotency-key", str(chosen).upper()), by=None).value == str(chosen)
    with pytest.raises(ValidationError):
        key(("idempotency-key", "k1"), by=None)
