"""The API's own document: OpenAPI 3.1, from what the apps declare; and the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version as installed_version
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from starlette.responses import Response

from potluck.people.idempotency import LONGEST_KEY
from potluck.table import Entity
from potluck.validation import ObjectType, Schema, Schemas, SchemaType, schema_of
from potluck.validation.compound_types import without_null
from potluck.validation.errors import camel
from potluck.validation.schema_keywords import default_value
from potluck.validation.types import TextType
from potluck.web import api_page, errors
from potluck.web.actions import Actions
from potluck.web.api import API, Since
from potluck.web.cached_answers import Tagged
from potluck.web.declarations import Action, Declared, Listing, Read
from potluck.web.endpoints import Call, Endpoints
from potluck.web.entity_fields import kinds_of
from potluck.web.errors import Problem
from potluck.web.http.problems import PROBLEM_JSON
from potluck.web.http.responses import JsonResponse, not_modified
from potluck.web.inputs import DeclarationError, Input
from potluck.web.live import Changes
from potluck.web.live.positions import LONGEST_POSITION
from potluck.web.pagination import list_input
from potluck.web.versions import matches_etag, tag_of

JSON = "application/json"
EVENTS = "text/event-stream"
METHODS = ("get", "post", "put", "patch", "delete")
PLACES = ("path", "query", "header")

DESCRIPTION = """\
Everything that Potluck's pages can do, for programs. Send and expect JSON, with names in camelCase and times in ISO
8601, in UTC. Sign in with `POST /api/v1/sessions` and send the token as `Authorization: Bearer`, or create a personal
API token.

Unknown fields and unknown parameters are refused, and so is a field that is sent twice. If fields are invalid, the
answer lists all of them in `errors`, and nothing was written. Errors are `application/problem+json` (RFC 9457), and the
page at their `type` explains them. Every answer carries `X-Request-Id`."""

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "An error, as in RFC 9457.",
    "properties": {
        "type": {"type": "string", "description": "The address of a page that explains this kind of problem."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What went wrong this time."},
        "requestId": {"type": "string", "description": "Quote this id when reporting the problem."},
        "errors": {
            "type": "array",
            "description": "All invalid fields.",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "description": "Such as `quantity`, or `items[2].name`."},
                    "message": {"type": "string"},
                },
                "required": ["field", "message"],
            },
        },
        "current": {"description": "The current item, if the request was based on an older version."},
    },
    "required": ["type", "title", "status", "detail", "requestId"],
}

SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of a session, or a personal API token; where a passcode opens something, the"
        " token that it gave.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-potluck",
        "description": "The session cookie of a browser; its name is `potluck` on plain http."
        " Requests that change something must come from Potluck's own pages.",
    },
}
# OpenAPI describes how a token is sent in the security of a call, not as a parameter.
AUTHORIZATION = "Authorization"
SIGNED_IN: list[dict[str, list[str]]] = [{"bearer": []}, {"cookie": []}]

REQUEST_ID = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
ETAG = {"ETag": {"$ref": "#/components/headers/ETag"}}
COMPONENT_HEADERS = {
    "X-Request-Id": {"description": "The id of the request in the log.", "schema": {"type": "string"}},
    "ETag": {
        "description": "For `If-None-Match`; for `If-Match`, if it is a version.",
        "schema": {"type": "string"},
    },
}

# Parameters that mean the same in every call.
COMMON = {
    "limit": "The most items to return.",
    "cursor": "The `nextCursor` of the previous page; without it, the first page.",
    "since": "The position to continue after: the `position` of a list, or of the previous answer.",
}

# The default descriptions of successful answers.
SUCCESSES = {
    ("get", 200): "The requested resource.",
    ("post", 201): "Created.",
    ("put", 200): "The updated resource.",
    ("patch", 200): "The updated resource.",
}
OF_EVENTS = (
    "Events as they happen: `id` is a position, `event` is created, updated or deleted (or reset, if the"
    " position is too old), `data` is the item as the caller may see it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallParameter:
    """A parameter of a call: in the path, the query or a header."""

    name: str
    """As callers write it."""
    place: Literal["path", "query", "header"]
    type: SchemaType
    required: bool = False
    default: Any = None
    description: str | None = None


IDEMPOTENCY_KEY = CallParameter(
    name="Idempotency-Key",
    place="header",
    type=TextType(least=1, most=LONGEST_KEY),
    description="A repeated request with the same key gets the first answer and is not executed again; stored for"
    " 24 hours. From callers who are not signed in, a UUID.",
)
IF_MATCH = CallParameter(
    name="If-Match", place="header", type=TextType(), description='The version that was seen, as its ETag: `"3"`.'
)
IF_NONE_MATCH = CallParameter(
    name="If-None-Match",
    place="header",
    type=TextType(),
    description="The ETag of a previous answer; 304 if nothing has changed.",
)
SINCE = CallParameter(
    name="since",
    place="query",
    type=TextType(most=LONGEST_POSITION),
    description="The position to continue after: the `position` of a list, or the id of an event.",
)
LAST_EVENT_ID = CallParameter(
    name="Last-Event-ID",
    place="header",
    type=TextType(most=LONGEST_POSITION),
    description="The id of the last event that was seen; browsers send it by themselves. It comes before `since`.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedCall:
    """One method at one address, as the document describes it."""

    method: str
    path: str
    tag: str
    name: str
    """Its name within its tag, in camelCase."""
    summary: str
    description: str = ""
    needs_principal: bool = True
    takes_token: bool = False
    """Whether a token may be sent, although signing in is optional."""
    parameters: Sequence[CallParameter] = ()
    body: Any = None
    body_optional: bool = False
    status: int = 200
    answer: Any = None
    """The type of the answer; None if there is none."""
    or_answer: Any = None
    """An alternative type of the answer, depending on the request."""
    media_type: str = JSON
    tagged: bool = False
    """Whether the answer carries an ETag."""
    problems: frozenset[Problem] = frozenset()
    """Declared problems, besides those that follow from the other attributes."""

    @property
    def id(self) -> str:
        """From the tag and the rule, which both have readable names: "notesAdd"."""
        tag = camel("_".join(re.findall(r"\w+", self.tag.lower())))
        return f"{tag}{self.name[:1].upper()}{self.name[1:]}"

    @property
    def all_problems(self) -> set[Problem]:
        """Every problem that the call can be answered with, except those that any call can."""
        takes = {parameter.name for parameter in self.parameters}
        problems = {*self.problems, errors.INVALID_FIELDS}
        if self.needs_principal:
            problems.add(errors.NOT_SIGNED_IN)
        if self.body is not None:
            problems |= {errors.NOT_JSON, errors.TOO_LARGE, errors.WRONG_MEDIA_TYPE}
        if any(parameter.place == "path" for parameter in self.parameters):
            problems.add(errors.NOT_FOUND)
        if IF_MATCH.name in takes:
            problems.add(errors.PRECONDITION_FAILED)
            if self.method != "delete":
                problems |= {errors.VERSION_CONFLICT, errors.VERSION_NEEDED}
        if IDEMPOTENCY_KEY.name in takes:
            problems.add(errors.KEY_REUSED)
        return problems


# --- from declarations to calls ---------------------------------------------------------------------------------------


def calls_of(subjects: Iterable[Actions[Any]]) -> list[DocumentedCall]:
    """Every call that these subjects declare."""
    return [
        call
        for subject in subjects
        for declaration in subject.declared
        if declaration.path is not None
        for call in _calls(declaration)
    ]


def _calls(declared: Declared) -> Iterator[DocumentedCall]:
    if isinstance(declared, Action):
        yield _action(declared)
    elif isinstance(declared, Read):
        yield _read(declared)
    elif isinstance(declared, Listing):
        yield _list(declared)
        if declared.live is not None:
            sent = {"answer": str, "media_type": EVENTS}
            streams = _problems(declared, errors.THROTTLED)
            yield _changes(
                declared, "events", "Stream changes to the {}", [SINCE, LAST_EVENT_ID], problems=streams, **sent
            )
            yield _changes(
                declared, "changes", "List changes to the {} since a position", _query(Since), answer=Changes
            )


def _action(action: Action) -> DocumentedCall:
    headers = [*([IDEMPOTENCY_KEY] if action.idempotent else []), *([IF_MATCH] if action.takes_if_match else [])]
    answer = _answer(action, action.answer)
    query = _query(action.input) if action.input_in_query else []
    return DocumentedCall(
        **_common(action, [*query, *headers]),
        **_said(action),
        method=action.method.lower(),
        body=None if action.input_in_query else action.input,
        body_optional=action.input_optional,
        status=action.status,
        answer=answer,
        tagged=_is_entity(action.answer),
        problems=_problems(
            action,
            *([errors.ALREADY_DONE] if action.secret else []),
            *([errors.THROTTLED] if action.counts else []),
        ),
    )


def _read(read: Read) -> DocumentedCall:
    answer = _answer(read, read.answer)
    # An event stream has no ETag; everything else that is read has one, files too.
    tagged = read.tagged and read.media_type != EVENTS
    headers = [IF_NONE_MATCH] if tagged else [LAST_EVENT_ID] if read.media_type == EVENTS else []
    return DocumentedCall(
        **_common(read, [*_query(read.input), *headers]),
        **_said(read),
        method="get",
        answer=answer,
        media_type=read.media_type,
        tagged=tagged,
        problems=_problems(read, *([errors.THROTTLED] if read.media_type == EVENTS else [])),
    )


def _list(listing: Listing) -> DocumentedCall:
    return DocumentedCall(
        **_common(listing, [*_query(list_input(listing.input)), IF_NONE_MATCH]),
        **_said(listing),
        method="get",
        answer=_page_of(_view(listing), listing.also),
        or_answer=None if listing.shows is None else _page_of(listing.shows, None),
        tagged=True,
        problems=_problems(listing),
    )


def _changes(
    listing: Listing, below: str, summary: str, parameters: Iterable[CallParameter], **answer: Any
) -> DocumentedCall:
    """How a live list is followed: by an event stream, or by polling."""
    answer.setdefault("problems", _problems(listing))
    return DocumentedCall(
        **_common(listing, parameters, f"/{below}"),
        name=f"{camel(listing.name)}{below.capitalize()}",
        summary=summary.format(_words(listing)),
        method="get",
        **answer,
    )


def _common(declared: Declared, parameters: Iterable[CallParameter], below: str = "") -> dict[str, Any]:
    """What the calls of every rule have: the path, who may call it, and the parameters."""
    path = f"{API}{declared.path}{below}"
    in_path = [
        CallParameter(name=camel(name), place="path", type=schema_of(declared.parameters[name]), required=True)
        for name in re.findall(r"{(\w+)}", path)
    ]
    headers = [
        CallParameter(name=name, place="header", type=TextType(), description=described)
        for name, described in declared.access.headers.items()
        if name != AUTHORIZATION
    ]
    return {
        "path": re.sub(r"{(\w+)}", lambda match: f"{{{camel(match[1])}}}", path),
        "tag": declared.subject.tag or str(declared.path).strip("/").partition("/")[0].capitalize(),
        "needs_principal": declared.access.needs_principal,
        "takes_token": AUTHORIZATION in declared.access.headers,
        # An access may name a header that calls of this kind take anyway.
        "parameters": list(
            {(parameter.place, parameter.name): parameter for parameter in (*headers, *in_path, *parameters)}.values()
        ),
    }


def _said(declared: Declared) -> dict[str, Any]:
    """The name of the rule, and its docstring: the first sentence is the summary of the call."""
    summary, _, description = " ".join((declared.rule.__doc__ or "").split()).partition(". ")
    return {"name": camel(declared.name), "summary": summary.rstrip("."), "description": description}


def _words(listing: Listing) -> str:
    """What a list is of: `/families/{family_id}/shopping-list` is the shopping list."""
    written_out = [part for part in str(listing.path).strip("/").split("/") if not part.startswith("{")]
    return written_out[-1].replace("-", " ")


def _query(kind: type[Input] | None) -> list[CallParameter]:
    """The fields of an input as query parameters."""
    if kind is None:
        return []
    expected = schema_of(kind)
    assert isinstance(expected, ObjectType)
    return [
        CallParameter(
            name=field.name,
            place="query",
            # A query parameter is left out instead of being null.
            type=without_null(field.type),
            required=field.required,
            default=None if field.default in (msgspec.NODEFAULT, msgspec.UNSET) else field.default,
            description=field.type.description or COMMON.get(field.name),
        )
        for field in expected.fields.values()
    ]


def _problems(declared: Declared, *others: Problem) -> frozenset[Problem]:
    # Ids of nothing are counted where no account is needed.
    guessed = [errors.THROTTLED] if "{" in str(declared.path) and not declared.access.needs_principal else []
    return frozenset({*declared.problems, *map(errors.problem_of, declared.access.refusals()), *guessed, *others})


def _is_entity(kind: Any) -> bool:
    kinds = kinds_of(kind)
    return bool(kinds) and all(issubclass(kind, Entity) for kind in kinds)


def _is_response(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Response)


def _answer(declared: Declared, kind: Any) -> Any:
    """The type of what callers are shown; Any for a response that the rule makes itself."""
    if kind in (None, type(None)):
        return None
    if _is_entity(kind):
        return _view(declared)
    if get_origin(kind) in (Union, UnionType):
        # A rule that may return a response of its own, a file or a redirect, is described by its other answers.
        shown = [_answer(declared, alternative) for alternative in get_args(kind) if not _is_response(alternative)]
        return Union[tuple(shown)] if shown else Any  # noqa: UP007 - of as many as there are
    if _is_response(kind):
        return Any
    if get_origin(kind) is list and _is_entity(get_args(kind)[0]):
        return _items_of(_view(declared))
    return kind


def _view(declared: Declared) -> Any:
    return declared.subject.view_for(declared.access).cls


@cache
def _page_of(view: Any, also: Callable[..., Any] | None) -> type[Any]:
    """The type of a page of a list."""
    more: type[Any] | None = None if also is None else _returned(also)
    if also is not None and more is None:
        raise DeclarationError(f"{view.__name__}: annotate what `also` returns; the API document needs it")
    fields = [] if more is None else [(field.name, field.type) for field in msgspec.structs.fields(more)]
    # In JSON they keep the names that their own struct gives them.
    renamed = {} if more is None else {field.name: field.encode_name for field in msgspec.structs.fields(more)}
    renamed |= {"next_cursor": "nextCursor"}
    return msgspec.defstruct(
        f"{view.__name__}Page",
        [("items", list[view]), *fields, ("next_cursor", str | None), ("position", str | None)],
        rename=renamed,
        module=view.__module__,
        namespace={"__doc__": "A page of a list."},
    )


def _returned(function: Any) -> Any:
    """The annotated return type. Only this one is evaluated: the others may name imports for the type checker alone."""
    stated = function.__annotations__.get("return")
    return eval(stated, function.__globals__) if isinstance(stated, str) else stated


@cache
def _items_of(view: Any) -> type[Any]:
    """The type of an answer with several things."""
    return msgspec.defstruct(f"{view.__name__}Items", [("items", list[view])], module=view.__module__)


# --- from calls to the document ---------------------------------------------------------------------------------------


def document(subjects: Iterable[Actions[Any]]) -> dict[str, Any]:
    """The document: the same for the same declarations, byte for byte."""
    calls = sorted(calls_of(subjects), key=lambda call: (call.path, METHODS.index(call.method)))
    _check_ids(calls)
    sent = (kind for call in calls for kind in (call.body, call.answer, call.or_answer))
    schemas = Schemas(kind for kind in sent if kind not in (None, Any))
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method] = _operation(call, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Potluck",
            "summary": "Small apps for the people around a table.",
            "description": DESCRIPTION,
            "version": installed_version("potluck"),
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": SIGNED_IN,
        "tags": [{"name": name} for name in sorted({call.tag for call in calls})],
        "paths": paths,
        "components": {
            "schemas": dict(sorted({**schemas.components, "Problem": PROBLEM_SCHEMA}.items())),
            "responses": {"Problem": _problem_answer("Any other error.")} | _shared_answers(calls),
            "headers": COMPONENT_HEADERS,
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _check_ids(calls: Iterable[DocumentedCall]) -> None:
    seen: set[str] = set()
    for call in calls:
        if call.id in seen:
            raise DeclarationError(f"Two calls are named {call.id}: give one of the rules another name")
        seen.add(call.id)


def _operation(call: DocumentedCall, schemas: Schemas) -> dict[str, Any]:
    operation: dict[str, Any] = {"tags": [call.tag], "summary": call.summary}
    if call.description:
        operation["description"] = call.description
    operation["operationId"] = call.id
    if not call.needs_principal:
        operation["security"] = [{}, *SIGNED_IN] if call.takes_token else []
    ordered = sorted(call.parameters, key=lambda parameter: (PLACES.index(parameter.place), parameter.name))
    if ordered:
        operation["parameters"] = [_parameter(parameter, schemas) for parameter in ordered]
    if call.body is not None:
        operation["requestBody"] = {
            "required": not call.body_optional,
            "content": {JSON: {"schema": schemas.of_input(call.body)}},
        }
    operation["responses"] = dict(sorted(_responses(call, schemas).items())) | {
        "default": {"$ref": "#/components/responses/Problem"}
    }
    return operation


def _parameter(parameter: CallParameter, schemas: Schemas) -> dict[str, Any]:
    schema = parameter.type.json_schema(schemas)
    if parameter.default is not None:
        schema |= {"default": default_value(parameter.default)}
    return {
        "name": parameter.name,
        "in": parameter.place,
        **({"description": parameter.description} if parameter.description else {}),
        "required": parameter.required,
        "schema": schema,
    }


# --- answers ----------------------------------------------------------------------------------------------------------


def _responses(call: DocumentedCall, schemas: Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {str(call.status): _success(call, schemas)}
    if any(parameter.name == IF_NONE_MATCH.name for parameter in call.parameters):
        responses["304"] = {"description": "Not modified.", "headers": REQUEST_ID | ETAG}
    by_status: dict[int, list[Problem]] = {}
    for problem in sorted(call.all_problems, key=lambda listed: (listed.status, listed.slug)):
        by_status.setdefault(problem.status, []).append(problem)
    for status, problems in by_status.items():
        responses[str(status)] = (
            {"$ref": f"#/components/responses/{problems[0].slug}"}
            if len(problems) == 1
            else _problem_answer(" ".join(map(_explained, problems)), problems)
        )
    return responses


def _success(call: DocumentedCall, schemas: Schemas) -> dict[str, Any]:
    headers = REQUEST_ID | (ETAG if call.tagged else {})
    if call.media_type == EVENTS:
        return {"description": OF_EVENTS, "headers": headers, "content": {EVENTS: {"schema": {"type": "string"}}}}
    described = SUCCESSES.get((call.method, call.status), "Done.")
    if call.answer is None:
        return {"description": described, "headers": headers}
    schema = {} if call.answer is Any else schemas.of_answer(call.answer)
    if call.or_answer is not None:
        schema = {"oneOf": [schema, schemas.of_answer(call.or_answer)]}
    return {"description": described, "headers": headers, "content": {call.media_type: {"schema": schema}}}


def _shared_answers(calls: Iterable[DocumentedCall]) -> dict[str, Any]:
    """Each problem as a shared response: most are the only one under their status in a call."""
    problems = {problem for call in calls for problem in call.all_problems}
    ordered = sorted(problems, key=lambda problem: problem.slug)
    return {problem.slug: _problem_answer(_explained(problem), [problem]) for problem in ordered}


def _explained(problem: Problem) -> str:
    return f"**{problem.title}**: {problem.explanation}"


def _problem_answer(described: str, problems: Iterable[Problem] = ()) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/Problem"}}
    examples = {
        problem.slug: {
            "summary": str(problem.title),
            "value": problem.body(problem.explanation, sha256(problem.slug.encode()).hexdigest()[:32]),
        }
        for problem in problems
    }
    if examples:
        content["examples"] = examples
    return {"description": described, "headers": REQUEST_ID, "content": {PROBLEM_JSON: content}}


# --- where it is served -----------------------------------------------------------------------------------------------


def pages(make: Callable[[], Mapping[str, Any]]) -> Endpoints:
    """`/schema` for people, `/schema/openapi.json` for programs; made once, when first asked for."""
    schema = Endpoints()

    @cache
    def rendered() -> tuple[Tagged, dict[str, Any]]:
        document = dict(make())
        raw = msgspec.json.format(msgspec.json.encode(document), indent=2)
        answer = Tagged(tag_of(raw), raw)
        answer.headers.append((b"cache-control", b"no-cache"))
        return answer, api_page.shown(document)

    @schema.get("/schema/openapi.json")
    async def openapi_json(call: Call) -> JsonResponse:
        answer, _ = rendered()
        return not_modified(answer.tag) if matches_etag(call.request, answer.tag) else answer

    @schema.get("/schema")
    async def api(call: Call) -> Response:
        return call.page("api.html", origin=call.visitor.origin, **rendered()[1])

    return schema
