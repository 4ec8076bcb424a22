"""What a kept answer belongs to: everything that decided it, for every rule of every app."""

import re
from typing import Any, cast
from uuid import UUID

import pytest
from starlette.requests import Request

from potluck.people.authentication import Principal
from potluck.people.idempotency import StoredAnswer
from potluck.settings import Settings
from potluck.suite import opened
from potluck.web.api import Api
from potluck.web.declarations import Action
from potluck.web.runner import ActionResult
from tests.toy import NotesApp
from tests.web.people.access_world import people

SOMEBODY = Principal(kind="session", user_id=UUID(int=7), name="Ada", hash="0" * 64, session_epoch=1, expires_at=None)
KEY = str(UUID(int=5))
# Of what has no UUID.
IDS = {"short_id": "abc-def-12345"}


class Asked:
    """Instead of the runner: notes under which key each request would be kept."""

    core = None

    async def perform(self, action, visitor, ids, sent, key):
        self.key = key
        return ActionResult(None, None, None, StoredAnswer(status=204))


class Known:
    """Instead of authentication: everybody is one person, or nobody."""

    clients = None

    def __init__(self, principal):
        self._principal = principal

    async def principal(self, request):
        return self._principal


@pytest.fixture
async def actions(tmp_path):
    async with opened(Settings(data=tmp_path)) as (core, apps):
        made = [*apps, people(core), NotesApp(core)]
        subjects = {id(subject): subject for app in made for subject in app.subjects}.values()
        yield [each for subject in subjects for each in subject.declared if isinstance(each, Action) and each.path]


async def kept_under(action, *headers, method="", path="", body=b"{}", by=SOMEBODY):
    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "method": method or action.method,
        "path": path or action.path,
        "query_string": b"",
        "headers": [(b"idempotency-key", KEY.encode()), *((name.lower().encode(), value) for name, value in headers)],
        "path_params": {name: IDS.get(name, str(UUID(int=9))) for name in re.findall(r"{(\w+)}", action.path)},
    }
    asked = Asked()
    endpoint = Api(cast(Any, asked), cast(Any, Known(by)), b"secret").action(action)
    await endpoint(Request(scope, receive))
    return asked.key


async def test_a_kept_answer_belongs_to_all_that_decided_it(actions):
    kept = [each for each in actions if each.idempotent]
    assert len(kept) > 40
    for action in kept:
        first = await kept_under(action)
        assert await kept_under(action) == first
        others = {
            "method": await kept_under(action, method="POST" if action.method != "POST" else "PUT"),
            "path": await kept_under(action, path=f"{action.path}/x"),
            "body": await kept_under(action, body=b"{ }"),
            "a version": await kept_under(action, ("If-Match", b'"1"')),
            "another version": await kept_under(action, ("If-Match", b'"2"')),
            **{
                f"{name} {value!r}": await kept_under(action, (name, value))
                for name in action.access.headers
                for value in (b"pla_1", b"pla_2")
            },
        }
        hashes = [first.request_hash, *(each.request_hash for each in others.values())]
        assert len(set(hashes)) == len(hashes), (action.name, others)
        if not action.access.anonymous and not action.access.needs_principal:
            assert (await kept_under(action, by=None)).caller == "anonymous"


async def test_a_key_in_one_header_is_not_that_in_another(actions):
    """Nor is the end of the body the beginning of a header."""
    several = [each for each in actions if each.idempotent and each.access.headers]
    assert len(several) > 5
    for action in several:
        (name, *_) = action.access.headers
        assert await kept_under(action, (name, b"1")) != await kept_under(action, ("If-Match", b"1"))
        assert await kept_under(action, (name, b"1"), body=b"{}") != await kept_under(action, body=b"{}\n1")
