import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec
import pytest
from litestar import Litestar, Response, Router, delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.testing import TestClient
from openapi_spec_validator import validate

from potluck.people.authentication import Principal
from potluck.web import layout, openapi
from potluck.web.bodies import UNSET, Body, Meta, StrictBody, UnsetType, check_parameters, decode
from potluck.web.dishes import DISHES
from potluck.web.errors import FORBIDDEN
from potluck.web.given import Givers, given_to
from tests.web.reading import Page

V = TypeVar("V")
NOTE = "/notes/{note_id:str}"


class NewNote(Body):
    """A note to be made."""

    title: Annotated[str, Meta(min_length=1, max_length=100, description="What it is `called`.")]
    note_id: UUID | UnsetType = UNSET
    quantity: Annotated[int, Meta(ge=1, le=999)] = 1


class NoteChange(Body):
    version: Annotated[int, Meta(ge=1, le=10**15)] | UnsetType = UNSET
    title: Annotated[str, Meta(min_length=1, max_length=100)] | UnsetType = UNSET


class NoteShown(msgspec.Struct, rename="camel"):
    note_id: UUID
    title: str
    pinned: bool = False


class Listed(msgspec.Struct, Generic[V], rename="camel"):
    items: list[V]
    next_cursor: str | None = None


def part(
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 50, cursor: Annotated[str | None, QueryParameter()] = None
) -> int:
    return limit


@post("/notes", tags=["Notes"])
async def add(data: JSONBody[NewNote], caller: NamedDependency[str], once: NamedDependency[str]) -> Response[NoteShown]:
    """Add a note. Its title is kept as it was typed."""
    raise NotImplementedError


@get("/notes", tags=["Notes"])
async def listed(caller: NamedDependency[str], part: NamedDependency[int]) -> Listed[NoteShown]:
    """The notes, the latest first."""
    raise NotImplementedError


@get(NOTE, tags=["Notes"])
async def one(note_id: FromPath[UUID], caller: NamedDependency[str]) -> Response[NoteShown | None]:
    """One note."""
    raise NotImplementedError


@patch(NOTE, tags=["Notes"], problems=(FORBIDDEN,))
async def change(note_id: FromPath[UUID], data: JSONBody[NoteChange], caller: NamedDependency[str]) -> NoteShown:
    """Change a note."""
    raise NotImplementedError


@delete(NOTE, tags=["Notes"], if_match=True)
async def remove(note_id: FromPath[UUID], caller: NamedDependency[str]) -> None:
    """Delete a note."""


@get("/notes/events", tags=["Notes"])
async def events(caller: NamedDependency[str]) -> Response[Any]:
    """The changes of notes, as they happen."""
    raise NotImplementedError


@post("/sessions", tags=["People"])
async def sign_in(data: JSONBody[NewNote]) -> NoteShown:
    """Sign in."""
    raise NotImplementedError


@get("/about", include_in_schema=True)
async def about() -> str:
    """A page."""
    return ""


class Nobody(Givers):
    """Nobody is signed in."""

    def __init__(self) -> None:
        pass

    async def visitor(self, request: Any) -> Principal | None:
        return None


def application() -> Litestar:
    def known() -> str:
        return "Ada"

    def once() -> str:
        return "key"

    return Litestar(
        [
            Router("/api/v1", route_handlers=[add, listed, one, change, remove, events, sign_in]),
            about,
            *(given_to(page, {}, Nobody()) for page in openapi.pages()),
            layout.static_files(),
        ],
        dependencies={
            "caller": Provide(known, sync_to_thread=False),
            "once": Provide(once, sync_to_thread=False),
            "part": Provide(part, sync_to_thread=False),
        },
        dto=StrictBody,
        return_dto=None,
        before_request=check_parameters,
        template_config=layout.templates(DISHES),
        openapi_config=None,
        logging_config=None,
    )


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient[Litestar]]:
    with TestClient(application()) as client:
        yield client


@pytest.fixture(scope="module")
def document(client) -> dict[str, Any]:
    answer = client.get("/schema/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def operation(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"][path][method]
    return found


def names(found: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["in"] for each in found.get("parameters", ())}


# --- the document -----------------------------------------------------------------------------------------------------


def test_the_document_is_openapi_and_tells_of_the_api_alone(document):
    validate(document)
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == {
        "/api/v1/notes",
        "/api/v1/notes/{noteId}",
        "/api/v1/notes/events",
        "/api/v1/sessions",
    }


def test_bodies_are_told_with_their_bounds_and_take_nothing_else(document):
    body = operation(document, "post", "/api/v1/notes")["requestBody"]
    assert body["required"] is True
    assert body["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/NewNote"}}}
    schema = document["components"]["schemas"]["NewNote"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["title"]
    assert schema["properties"]["title"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 100,
        "description": "What it is `called`.",
    }
    assert schema["properties"]["quantity"] == {"type": "integer", "minimum": 1, "maximum": 999, "default": 1}
    assert schema["properties"]["noteId"]["format"] == "uuid"


def test_answers_have_every_field_that_is_always_there(document):
    schemas = document["components"]["schemas"]
    assert schemas["NoteShown"]["required"] == ["noteId", "title", "pinned"]
    assert schemas["NoteShownListed"]["required"] == ["items", "nextCursor"]
    answer = operation(document, "get", "/api/v1/notes")["responses"]["200"]
    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/NoteShownListed"}


def test_parameters_are_those_that_handlers_and_what_they_depend_on_take(document):
    assert names(operation(document, "get", "/api/v1/notes")) == {"cursor": "query", "limit": "query"}
    assert names(operation(document, "post", "/api/v1/notes")) == {"Idempotency-Key": "header"}
    assert names(operation(document, "get", "/api/v1/notes/{noteId}")) == {"noteId": "path", "If-None-Match": "header"}
    assert names(operation(document, "patch", "/api/v1/notes/{noteId}")) == {"noteId": "path", "If-Match": "header"}
    assert names(operation(document, "delete", "/api/v1/notes/{noteId}")) == {"noteId": "path", "If-Match": "header"}
    assert names(operation(document, "get", "/api/v1/notes/events")) == {"since": "query", "Last-Event-ID": "header"}
    (limit,) = (each for each in operation(document, "get", "/api/v1/notes")["parameters"] if each["name"] == "limit")
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}


def test_every_call_tells_what_can_go_wrong(document):
    for methods in document["paths"].values():
        for found in methods.values():
            assert found["responses"]["default"] == {"$ref": "#/components/responses/Problem"}
    changing = operation(document, "patch", "/api/v1/notes/{noteId}")["responses"]
    assert changing.keys() == {"200", "400", "401", "403", "404", "409", "412", "413", "415", "422", "428", "default"}
    assert "304" in operation(document, "get", "/api/v1/notes/{noteId}")["responses"]
    problem = document["components"]["responses"]["Problem"]["content"]
    assert problem == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_who_must_be_known_is_told(document):
    assert document["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["components"]["securitySchemes"].keys() == {"bearer", "cookie"}
    assert "security" not in operation(document, "post", "/api/v1/notes")
    assert operation(document, "post", "/api/v1/sessions")["security"] == []


def test_calls_have_names_and_the_first_sentence_of_what_they_do(document):
    adding = operation(document, "post", "/api/v1/notes")
    assert adding["operationId"] == "notesAdd"
    assert adding["tags"] == ["Notes"]
    assert adding["summary"] == "Add a note"
    assert adding["description"] == "Its title is kept as it was typed."


def test_two_calls_cannot_have_the_same_name():
    @get("/notes/all", tags=["Notes"], name="again")
    async def listed() -> str:
        return ""

    app = application()
    app.register(Router("/api/v1", route_handlers=[listed]))
    with pytest.raises(ValueError, match="notesListed"):
        openapi.document(app)


def test_no_host_is_named(document):
    assert document["servers"] == [{"url": "/"}]
    assert not re.search(r"https?://", json.dumps(document))


def test_the_document_is_the_same_at_every_start(client):
    """Whatever order the interpreter has its sets in."""
    script = (
        "import hashlib, msgspec, warnings; warnings.simplefilter('ignore')\n"
        "from potluck.web import openapi\nfrom tests.web.test_openapi import application\n"
        "print(hashlib.sha256(msgspec.json.encode(openapi.document(application()))).hexdigest())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE)
        for seed in ("1", "2")
    ]
    found = {each.communicate(timeout=60)[0] for each in started}
    assert len(found) == 1
    assert found != {b""}


def test_whoever_has_it_is_not_sent_it_again(client):
    tag = client.get("/schema/openapi.json").headers["etag"]
    assert client.get("/schema/openapi.json", headers={"if-none-match": tag}).status_code == 304


# --- its page ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(client) -> str:
    answer = client.get("/schema")
    assert answer.status_code == 200
    return str(answer.text)


def test_the_page_has_every_call_with_its_fields_bounds_and_answers(page, document):
    for path, methods in document["paths"].items():
        for method, found in methods.items():
            assert f'id="{found["operationId"]}"' in page
            assert f'href="#{found["operationId"]}"' in page
            assert method.upper() in page
        assert path.rpartition("/")[2].strip("{}") in page
    assert "text, 1 to 100 characters" in page
    assert "whole number from 1 to 999; 1 if left out" in page
    assert 'href="/problems/version-conflict"' in page


def test_every_link_within_the_page_leads_somewhere_and_nothing_leads_to_other_hosts(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert not re.search(r'(?:href|src|action)="(?:https?:)?//', page)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)


def test_the_example_of_a_call_is_one_that_works(page, document):
    commands = [each["data-copy"] or "" for each in Page(page).all("button") if "curl" in (each.get("data-copy") or "")]
    assert len(commands) == sum(len(methods) for methods in document["paths"].values())
    (adding,) = (each for each in commands if '/api/v1/notes"' in each and " -d " in each)
    assert '"Authorization: Bearer $TOKEN"' in adding
    assert decode(NewNote, re.findall(r"-d '(.+)'", adding)[0].encode()) == NewNote(title="Soup")
