import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar
from uuid import UUID

import httpx
import pytest
from msgspec import Meta, Struct
from openapi_spec_validator import validate
from starlette.responses import Response

from potluck.settings import Settings
from potluck.suite import APPS
from potluck.table import Entity, Query, Table, Version, absent, delete, get, put, query
from potluck.validation import decode
from potluck.validation.errors import camel
from potluck.validation.field_types import Integer, Text
from potluck.web import openapi
from potluck.web.access import Anyone, SignedIn
from potluck.web.actions import Actions
from potluck.web.endpoints import Site
from potluck.web.errors import Forbidden
from potluck.web.http.application import Application
from potluck.web.http.authentication import Authentication
from potluck.web.http.clients import Clients
from potluck.web.http.problems import Problems
from potluck.web.http.router import Router
from potluck.web.inputs import UNSET, DeclarationError, Edit, Input, New, Unset
from potluck.web.layout import Templates
from potluck.web.views import View, computed
from potluck.web.writes import Writes
from tests.toy import NotesApp
from tests.toy.books import books, members
from tests.toy.notes import notes as toy_notes
from tests.web.reading import Page
from tests.web.suites import API, client_at, suite_on

Title = Annotated[str, Text(1, 100, kind="raw"), Meta(description="What it is `called`.")]

table = Table("Notes", "PK", "SK", type_attribute="kind", names="camel")


class Note(Entity, table=table, type="Note", key=("NOTES", "NOTE#{note_id}")):
    note_id: UUID
    title: Title
    quantity: Annotated[int, Integer(1, 999)] = 1
    version: Version = 1

    @get(consistent=True)
    def by_id(note_id: UUID) -> None:
        """What does this note say?"""

    @query(consistent=True)
    def every() -> None:
        """Which notes are there?"""


class NoteShown(View[Note]):
    note_id: UUID
    title: str

    @computed
    def pinned(note: Note) -> bool:
        return False

    @computed
    def secret(note: Note) -> str | Unset:
        return UNSET


class NewNote(New[Note]):
    """A note to be made."""

    title: Title
    note_id: UUID | Unset = UNSET
    quantity: Annotated[int, Integer(1, 999)] = 1


class NoteChange(Edit[Note]):
    title: Title | Unset = UNSET


class Search(Input):
    words: Annotated[str, Text(1, 50, kind="raw"), Meta(description="Words in the `title`.")] | Unset = UNSET
    colours: Annotated[list[str], Text(0, 20, kind="raw")] | None = None


class Totals(Struct, rename="camel"):
    total_notes: int


class Session(Struct, rename="camel"):
    token: str


class HasKey(Anyone):
    headers: ClassVar = {"X-Key": "The key of the `door`."}


def totals(shown: Sequence[Any]) -> Totals:
    return Totals(len(shown))


notes = Actions(SignedIn, Note.by_id, NoteShown, api="/notes", tag="Notes")
others = Actions(SignedIn, api="", tag="The others")


@notes.create()
async def add(at: SignedIn, new: NewNote) -> Writes[Note]:
    """Add a note. Its title is kept as it was typed."""
    note = at.make(new)
    return Writes(note, put(note, when=absent))


@notes.list(live=lambda at: Note.every(), also=totals, order=lambda note: (note.title,))
def listed(at: SignedIn, wanted: Search) -> Query[Note]:
    """The notes, the latest first."""
    return Note.every()


@notes.read()
async def one(at: SignedIn, note: Note) -> Note:
    """One note."""
    return note


@notes.read("/text", media_type="text/plain")
async def text(at: SignedIn, note: Note) -> Response:
    """The text of a note."""
    return Response(note.title)


@notes.change(Forbidden)
async def change(at: SignedIn, note: Note, change: NoteChange) -> Writes[Note]:
    """Edit a note."""
    return at.apply(note, change)


@notes.delete()
async def remove(at: SignedIn, note: Note) -> Writes[None]:
    """Delete a note."""
    return Writes(None, delete(note))


@notes.action("POST", "/copies", input_optional=True)
async def copy(at: SignedIn, note: Note, wanted: Search) -> Writes[list[Note]]:
    """Copy a note."""
    return Writes([note])


@others.action("POST", "/sessions", status=201, secret=True)
async def sign_in(at: HasKey, new: NewNote) -> Writes[Session]:
    """Sign in."""
    return Writes(Session("secret"))


@others.action("POST", "/look", idempotent=False)
async def look(at: Anyone, new: NewNote) -> Writes[Session]:
    """Look at what would be made."""
    return Writes(Session("secret"))


SUBJECTS = [notes, others]


def application() -> Application:
    templates = Templates(())
    settings = Settings(data=Path("nowhere"))
    # Nobody is signed in, so nobody asks the authenticator.
    authentication = Authentication(None, Clients.of(settings), bytes(32))  # type: ignore[arg-type]
    problems = Problems(templates)
    router = Router()
    site = Site(None, authentication, templates, problems)  # type: ignore[arg-type]
    openapi.pages(lambda: openapi.document(SUBJECTS)).add_to(router, site)
    return Application(router, authentication, problems, {})


class Client:
    """Asks one request at a time, for tests that wait for nothing."""

    def __init__(self) -> None:
        self.application = application()

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with client_at(self.application) as client:
                return await client.get(path, headers=headers)

        return asyncio.run(ask())


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def document(client) -> dict[str, Any]:
    answer = client.get("/schema/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-cache"
    found: dict[str, Any] = answer.json()
    return found


def operation(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"][path][method]
    return found


def names(found: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["in"] for each in found.get("parameters", ())}


def schema_named(document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The schema that an answer's JSON refers to."""
    ref = answer["content"]["application/json"]["schema"]["$ref"]
    found: dict[str, Any] = document["components"]["schemas"][ref.rpartition("/")[2]]
    return found


# --- the document -----------------------------------------------------------------------------------------------------


def test_the_document_is_openapi_and_has_every_call_that_is_declared(document):
    validate(document)
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == {
        "/api/v1/notes",
        "/api/v1/notes/events",
        "/api/v1/notes/changes",
        "/api/v1/notes/{noteId}",
        "/api/v1/notes/{noteId}/text",
        "/api/v1/notes/{noteId}/copies",
        "/api/v1/sessions",
        "/api/v1/look",
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
        "pattern": r"\S",
        "description": "What it is `called`.",
    }
    assert schema["properties"]["quantity"] == {"type": "integer", "minimum": 1, "maximum": 999, "default": 1}
    assert schema["properties"]["noteId"]["format"] == "uuid"
    copying = operation(document, "post", "/api/v1/notes/{noteId}/copies")
    assert copying["requestBody"]["required"] is False


def test_answers_have_every_field_that_is_always_there(document):
    assert document["components"]["schemas"]["NoteShown"]["required"] == ["noteId", "title", "pinned"]
    assert "secret" in document["components"]["schemas"]["NoteShown"]["properties"]
    page = schema_named(document, operation(document, "get", "/api/v1/notes")["responses"]["200"])
    assert page["required"] == ["items", "totalNotes", "nextCursor", "position"]
    shown = {"$ref": "#/components/schemas/NoteShown"}
    assert page["properties"]["items"] == {"type": "array", "items": shown}
    one = operation(document, "get", "/api/v1/notes/{noteId}")["responses"]["200"]
    assert one["content"] == {"application/json": {"schema": shown}}
    copied = schema_named(document, operation(document, "post", "/api/v1/notes/{noteId}/copies")["responses"]["200"])
    assert copied["properties"] == {"items": {"type": "array", "items": shown}}
    made = schema_named(document, operation(document, "post", "/api/v1/sessions")["responses"]["201"])
    assert made["required"] == ["token"]


def test_answers_that_are_not_json_are_told_by_their_media_type(document):
    text = operation(document, "get", "/api/v1/notes/{noteId}/text")["responses"]["200"]
    assert text["content"].keys() == {"text/plain"}
    events = operation(document, "get", "/api/v1/notes/events")["responses"]["200"]
    assert events["content"].keys() == {"text/event-stream"}
    assert "content" not in operation(document, "delete", "/api/v1/notes/{noteId}")["responses"]["204"]


def test_parameters_are_those_of_the_path_the_input_the_access_and_the_kind_of_call(document):
    def taken(method: str, path: str) -> dict[str, str]:
        return names(operation(document, method, f"/api/v1{path}"))

    noted, once = {"noteId": "path"}, {"Idempotency-Key": "header"}
    known, seen = {"If-None-Match": "header"}, {"If-Match": "header"}
    searched = {"words": "query", "colours": "query"}
    assert taken("get", "/notes") == {"cursor": "query", "limit": "query"} | searched | known
    assert taken("post", "/notes") == once
    assert taken("get", "/notes/{noteId}") == noted | known
    assert taken("get", "/notes/{noteId}/text") == noted | known
    assert taken("patch", "/notes/{noteId}") == noted | once | seen
    assert taken("delete", "/notes/{noteId}") == noted | once | seen
    assert taken("get", "/notes/events") == {"since": "query", "Last-Event-ID": "header"}
    assert taken("get", "/notes/changes") == {"since": "query"}
    assert taken("post", "/sessions") == once | {"X-Key": "header"}
    assert taken("post", "/look") == {}
    in_list = {each["name"]: each for each in operation(document, "get", "/api/v1/notes")["parameters"]}
    assert in_list["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
    assert in_list["colours"]["schema"]["type"] == "array"
    assert in_list["words"]["description"] == "Words in the `title`."
    assert not any(each["required"] for each in in_list.values())
    (since,) = operation(document, "get", "/api/v1/notes/changes")["parameters"]
    assert since["required"] is True


def test_only_what_has_a_version_is_deleted_by_it():
    document = openapi.document([books, members, toy_notes])
    path = "/api/v1/books/{bookId}"
    assert "If-Match" in names(operation(document, "delete", f"{path}/notes/{{noteId}}"))
    assert "If-Match" not in names(operation(document, "delete", f"{path}/members/{{userId}}"))


def test_every_call_tells_what_can_go_wrong(document):
    for methods in document["paths"].values():
        for found in methods.values():
            assert found["responses"]["default"] == {"$ref": "#/components/responses/Problem"}
    changing = operation(document, "patch", "/api/v1/notes/{noteId}")["responses"]
    assert changing.keys() == {
        "200",
        "400",
        "401",
        "403",
        "404",
        "409",
        "412",
        "413",
        "415",
        "422",
        "428",
        "429",
        "default",
    }
    for path in ("/api/v1/notes", "/api/v1/notes/{noteId}"):
        answers = operation(document, "get", path)["responses"]
        assert "ETag" in answers["200"]["headers"]
        assert "304" in answers
    signing_in = operation(document, "post", "/api/v1/sessions")["responses"]
    assert signing_in["409"] == {"$ref": "#/components/responses/already-done"}
    problem = document["components"]["responses"]["Problem"]["content"]
    assert problem == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_whoever_needs_a_right_can_be_refused_by_its_problem():
    renaming = operation(openapi.document([books]), "patch", "/api/v1/books/{bookId}")["responses"]
    assert renaming["403"] == {"$ref": "#/components/responses/forbidden"}


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


def test_calls_of_a_list_that_can_be_followed_are_named_after_it(document):
    events, changes = (operation(document, "get", f"/api/v1/notes/{each}") for each in ("events", "changes"))
    assert (events["operationId"], changes["operationId"]) == ("notesListedEvents", "notesListedChanges")
    assert events["summary"] == "Stream changes to the notes"


def test_two_calls_cannot_have_the_same_name():
    again = Actions(SignedIn, Note.by_id, NoteShown, api="/notes-again", tag="Notes")
    again.list()(listed)
    with pytest.raises(DeclarationError, match="notesListed"):
        openapi.document([*SUBJECTS, again])


async def test_every_address_of_the_api_is_in_the_document(tmp_path):
    """The suite's, with every app."""
    async with suite_on(tmp_path, [*APPS, NotesApp]) as (client, application):
        document = (await client.get("/schema/openapi.json")).json()
        validate(document)
        served = {
            (method.lower(), re.sub(r"{(\w+)}", lambda found: f"{{{camel(found[1])}}}", path))
            for method, path in application.router.addresses()
            if path.startswith(API)
        }
        assert served
        assert served <= {(method, path) for path, methods in document["paths"].items() for method in methods}
        assert (await client.get("/schema")).status_code == 200


def test_no_host_is_named(document):
    assert document["servers"] == [{"url": "/"}]
    assert not re.search(r"https?://", json.dumps(document))


def test_the_document_is_the_same_at_every_start():
    """Whatever order the interpreter has its sets in."""
    script = (
        "import hashlib, msgspec, warnings; warnings.simplefilter('ignore')\n"
        "from potluck.web import openapi\nfrom tests.web.test_openapi import SUBJECTS\n"
        "print(hashlib.sha256(msgspec.json.encode(openapi.document(SUBJECTS))).hexdigest())"
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
    assert "whole number from 1 to 999; 1 by default" in page
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
