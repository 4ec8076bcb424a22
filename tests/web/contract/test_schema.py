"""The whole API as its own document describes it, asked with what schemathesis makes of that: nothing breaks, and every
answer is one that the document tells of.

The suite works in a loop of its own thread, because schemathesis makes its requests one after the other.
"""

import asyncio
import contextlib
import math
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.engine_targets import EMBEDDED
from tests.patience import PATIENCE_SECONDS
from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of, world_on


def trimmed(value: Any) -> Any:
    """What a body means: space around its texts counts for nothing, so a text may be longer by it than it may be."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return {name: trimmed(each) for name, each in value.items()}
    return [trimmed(each) for each in value] if isinstance(value, list) else value


def wrong_data_is_refused(context: Any, response: Any, case: Any) -> bool | None:
    return negative_data_rejection(context, response, case) if trimmed(case.body) == case.body else None


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    wrong_data_is_refused,
]
# So many requests for each call that there is, made of what the schema takes and of what it does not.
EXAMPLES = 6
SOAK_EXAMPLES = 400
# Calls that end what the others are asked by.
ENDING = {"/api/v1/me/delete", "/api/v1/sessions/current", "/api/v1/me/sessions/end-others"}


@dataclass
class Running:
    """The suite in its thread."""

    loop: asyncio.AbstractEventLoop
    doors: Any
    ada: dict[str, Any]
    ids: dict[str, str]

    def ask(self, request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path
        coroutine = sent(self.doors.application, request.method, target, request.headers.raw, request.read())
        answer = asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE_SECONDS)
        told = httpx.Response(answer.status, headers=answer.headers, content=answer.body, request=request)
        told.elapsed = timedelta(0)
        return told


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("schema")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(PATIENCE_SECONDS)

    stack = contextlib.AsyncExitStack()

    async def begin():
        doors = await stack.enter_async_context(world_on(EMBEDDED, folder))
        ada = await doors.join()
        book = await book_of(doors, ada)
        note = await book.add()
        token = (await doors.ask("POST", "/me/tokens", {"name": "A token"}, by=ada)).json()
        ids = {"bookId": book.book_id, "noteId": note["noteId"], "userId": ada["userId"], "tokenId": token["id"]}
        document = (await doors.client.get("/schema/openapi.json")).json()
        return Running(loop, doors, ada, ids), document

    try:
        yield run(begin())
    finally:
        run(stack.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_SECONDS)
        loop.close()


def asked_of(running, operation, mode, examples, seconds, signed_in):
    """Ask so many times, or as often as there is time for; what is asked is the same in every run."""
    until = time.monotonic() + seconds
    asked = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case):
        if time.monotonic() > until:
            return
        for name in case.path_parameters or {}:
            # More often than not it is about something that there is, unless it is meant to be wrong.
            if mode.is_positive and len(asked) % 4 and name in running.ids:
                case.path_parameters[name] = running.ids[name]
        kwargs = case.as_transport_kwargs(base_url="http://testserver")
        kwargs.pop("timeout", None)
        data = kwargs.pop("data", None)
        if data is not None:
            kwargs["content"] = data
        if signed_in:
            kwargs["headers"] = {**dict(kwargs["headers"]), **dict(bearer_headers(running.ada))}
        try:
            request = httpx.Request(**kwargs)
        except (httpx.InvalidURL, UnicodeEncodeError, TypeError):
            return
        answer = running.ask(request)
        asked.append(answer.status_code)
        # The document tells of the stream as the text that it is; schemathesis would hold each event against that.
        streams = answer.headers.get("content-type", "").startswith("text/event-stream")
        case.validate_response(
            answer, checks=[each for each in CHECKS if each is not response_schema_conformance or not streams]
        )
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"

    ask()
    return asked


def without_security(document):
    """The document for somebody who is known already, so that no credentials are made up."""
    paths = {
        path: {method: {**each, "security": []} for method, each in methods.items()}
        for path, methods in document["paths"].items()
    }
    return {**document, "security": [], "paths": paths}


def walk(running, document, examples, seconds):
    found: dict[str, list[int]] = {}
    for signed_in in (True, False):
        schema = schemathesis.openapi.from_dict(without_security(document) if signed_in else document)
        for result in schema.get_all_operations():
            operation = result.ok()
            if signed_in and operation.path in ENDING:
                continue
            name = f"{operation.label} {'by Ada' if signed_in else 'by nobody'}"
            found[name] = []
            for mode in GenerationMode:
                # Where everything is taken there is nothing to make that is not.
                with contextlib.suppress(Unsatisfiable):
                    # Who is nobody is mostly told just that.
                    times = max(1, examples // (2 if signed_in else 4))
                    found[name] += asked_of(running, operation, mode, times, seconds, signed_in)
    return found


def test_whatever_is_made_of_the_document_is_answered_as_the_document_says(running):
    suite, document = running
    found = walk(suite, document, EXAMPLES, seconds=math.inf)
    assert len(found) >= 2 * len(document["paths"]) - len(ENDING)
    # Not only refusals: what the document asks for can be done.
    assert sum(status < 300 for statuses in found.values() for status in statuses) > 20
    assert all(statuses for statuses in found.values()), [name for name, statuses in found.items() if not statuses]


@pytest.mark.soak
def test_whatever_is_made_of_the_document_at_length(running):
    suite, document = running
    walk(suite, document, SOAK_EXAMPLES, seconds=60.0)
