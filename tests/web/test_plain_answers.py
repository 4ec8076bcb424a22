"""The shorter way of an answer ends where the framework's own does."""

from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pytest
from litestar import MediaType, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import Cookie, ResponseHeader
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR
from litestar.testing import create_test_client

from potluck.web.plain_answers import PlainAnswer, plain


class Told(msgspec.Struct, rename="camel"):
    note_id: int
    path: Any = None


def nothing() -> None:
    pass


ANSWERS = {
    "a struct": Told(1),
    "a response": Response(Told(1), headers={"ETag": '"1"'}),
    "a list": Response([Told(1), Told(2)]),
    "a status": Response({"a": 1}, status_code=202),
    "nothing": Response(None, status_code=304, headers={"etag": '"1"'}),
    "text": Response("hello", media_type=MediaType.TEXT),
    "bytes": Response(b'{"a":1}', media_type=MediaType.JSON),
    "another kind of JSON": Response({"a": 1}, media_type="application/problem+json"),
    "a cookie": Response(Told(1), cookies=[Cookie(key="k", value="v")]),
    "a background": Response(Told(1), background=BackgroundTask(nothing)),
    "a type of its own": Response(Told(1), headers={"content-type": "application/x-told"}),
    "what JSON has no form for": Response(Told(1, PurePosixPath("/a"))),
    "a number": Response({"a": Decimal("1.5")}),
    "what nobody can encode": Response(Told(1, object())),
}


@pytest.mark.parametrize("method", [get, post])
@pytest.mark.parametrize("said", ANSWERS)
def test_both_ways_answer_alike(said, method):
    answer = ANSWERS[said]

    @method("/framework", response_headers=[ResponseHeader(name="x-more", value="1")])
    async def with_headers() -> Any:
        return answer

    @method("/plain", response_headers=[ResponseHeader(name="x-more", value="1")])
    async def with_headers_plainly() -> Any:
        return plain(answer)

    @method("/bare/framework")
    async def bare() -> Any:
        return answer

    @method("/bare/plain")
    async def bare_plainly() -> Any:
        return plain(answer)

    handlers = [with_headers, with_headers_plainly, bare, bare_plainly]
    with create_test_client(handlers, raise_server_exceptions=False) as client:
        for place in ("", "/bare"):
            ours, theirs = (client.request(method.__name__, f"{place}/{way}") for way in ("plain", "framework"))
            assert ours.status_code == theirs.status_code
            if ours.status_code == HTTP_500_INTERNAL_SERVER_ERROR:
                continue  # its text has the way that it came
            assert ours.content == theirs.content
            assert ours.headers.multi_items() == theirs.headers.multi_items()


def test_only_what_is_sure_to_be_json_goes_the_shorter_way():
    assert isinstance(plain(Told(1)), PlainAnswer)
    assert isinstance(plain(Response(Told(1))), PlainAnswer)
    for other in ("text", b"bytes", None, [1], object()):
        assert plain(other) is other
