from typing import Annotated, Any

import pytest
from litestar import Litestar, Request, Response, post
from litestar.exceptions import ValidationException
from litestar.params import JSONBody
from litestar.testing import TestClient

from potluck.people.errors import InvalidFields
from potluck.web.bodies import Body, Meta, StrictBody, wrong_parameters
from potluck.web.errors import BodyNotJson, WrongMediaType


class Circle(Body, tag="circle"):
    radius: Annotated[float, Meta(gt=0, le=10)]


class Square(Body, tag="square"):
    side: Annotated[int, Meta(ge=1, le=10)]


class Note(Body):
    title: Annotated[str, Meta(min_length=1, max_length=100)]


@post("/notes")
async def add(data: JSONBody[Note]) -> dict[str, str]:
    return {"title": data.title}


@post("/drawings")
async def draw(data: JSONBody[Circle | Square]) -> dict[str, str]:
    return {"drawn": type(data).__name__}


@post("/loose")
async def loose(data: JSONBody[dict[str, Any]]) -> dict[str, Any]:
    return data


def told(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    if isinstance(error, ValidationException):
        error = wrong_parameters(error, request.route_handler)
    statuses = {BodyNotJson: 400, WrongMediaType: 415, InvalidFields: 422}
    return Response({"detail": str(error)}, status_code=statuses.get(type(error), 500))


@pytest.fixture(scope="module")
def client():
    app = Litestar(
        [add, draw, loose],
        dto=StrictBody,
        return_dto=None,
        exception_handlers={Exception: told},
        openapi_config=None,
        logging_config=None,
    )
    with TestClient(app) as client:
        yield client


def test_a_handler_that_declares_a_body_is_given_it(client):
    assert client.post("/notes", json={"title": "Soup"}).json() == {"title": "Soup"}
    assert client.post("/drawings", json={"type": "square", "side": 2}).json() == {"drawn": "Square"}
    assert client.post("/notes", json={"title": ""}).status_code == 422
    assert client.post("/notes", content=b"{", headers={"content-type": "application/json"}).status_code == 400


def test_an_empty_body_is_not_json(client):
    assert client.post("/notes").status_code == 400


def test_a_handler_that_declares_something_else_is_left_alone(client):
    assert client.post("/loose", json={"a": {"b": 1}}).json() == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json"}, 201),
        ({"content-type": "application/json; charset=utf-8"}, 201),
        ({"content-type": "Application/JSON; charset=UTF-8"}, 201),
        ({"content-type": "application/merge-patch+json"}, 201),
        ({"content-type": "application/json", "content-encoding": "identity"}, 201),
        ({}, 415),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": "application/jsonx"}, 415),
        ({"content-type": "application/json; charset=latin-1"}, 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
    ],
)
def test_only_json_is_taken(client, headers, status):
    assert client.post("/notes", content=b'{"title": "Soup"}', headers=headers).status_code == status
