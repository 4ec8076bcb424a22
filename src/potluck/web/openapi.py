"""The API's own document: OpenAPI 3.1, from the handlers and the shapes that they hold callers to; and its page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version as installed_version
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Request, Response, get
from litestar.enums import ParamType
from litestar.handlers import HTTPRouteHandler
from litestar.response import Template
from litestar.routes import HTTPRoute

from potluck.people.authentication import Principal
from potluck.web import api_page, errors
from potluck.web.bodies import is_body
from potluck.web.errors import Problem
from potluck.web.layout import page
from potluck.web.parameters import Parameter, camel, dependencies_of, parameters_of
from potluck.web.schemas import Schema, Schemas
from potluck.web.shapes import Nullable
from potluck.web.versions import tag_of, unchanged

__all__ = ["document", "pages"]

API = "/api/v1"
PROBLEM_JSON = "application/problem+json"
EVENTS = "text/event-stream"
METHODS = ("get", "post", "put", "patch", "delete")

DESCRIPTION = """\
Everything that Potluck's pages can do, for programs. Send and expect JSON, with names in camelCase and times in ISO
8601, in UTC. Sign in with `POST /api/v1/sessions` and send the token as `Authorization: Bearer`, or make a personal API
token.

Unknown fields and unknown parameters are refused, and so is a field that is given twice. When fields are wrong, the
answer lists all of them in `errors`, and nothing was written. Errors are `application/problem+json` (RFC 9457), and the
page at their `type` explains them. Every answer carries `X-Request-Id`."""

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 has it.",
    "properties": {
        "type": {"type": "string", "description": "The address of a page that explains this kind of problem."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What went wrong this time."},
        "requestId": {"type": "string", "description": "Whom to ask about it knows it by this."},
        "errors": {
            "type": "array",
            "description": "All wrong fields at once.",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "description": "Such as `quantity`, or `items[2].name`."},
                    "message": {"type": "string"},
                },
                "required": ["field", "message"],
            },
        },
        "current": {"description": "The item as it is now, where the request was of an older version."},
    },
    "required": ["type", "title", "status", "detail", "requestId"],
}

SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of a session, or a personal API token.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-potluck",
        "description": "What a browser that signed in carries; its name is `potluck` on plain http."
        " Whatever changes something must come from Potluck's own pages.",
    },
}
KNOWN_CALLER: list[dict[str, list[str]]] = [{"bearer": []}, {"cookie": []}]

REQUEST_ID = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
COMPONENT_HEADERS = {
    "X-Request-Id": {"description": "By which the request is found in the log.", "schema": {"type": "string"}},
    "ETag": {
        "description": "For `If-None-Match`; for `If-Match`, if it is a version.",
        "schema": {"type": "string"},
    },
}


@dataclass(frozen=True, slots=True)
class Call:
    """One method at one address."""

    method: str
    path: str
    handler: HTTPRouteHandler

    @property
    def parameters(self) -> list[Parameter]:
        """Those of this address; a handler may be at several."""
        return [
            each
            for each in parameters_of(self.handler)
            if each.place is not ParamType.PATH or f"{{{each.name}}}" in self.path
        ]

    @property
    def body(self) -> Any:
        declared = self.handler.parsed_data_field
        return declared.annotation if declared is not None and is_body(declared.annotation) else None

    @property
    def body_optional(self) -> bool:
        """Whether the call can do without its body: the handler has a default for it."""
        return self.handler.parsed_fn_signature.parameters["data"].has_default

    @property
    def answer(self) -> Any:
        """What is answered with, without the None that stands for 304; None itself, if nothing is."""
        found = self.handler.parsed_return_field
        if found.is_subclass_of(Response):
            if not found.inner_types:
                return Any
            found = found.inner_types[0]
        if found.is_optional:
            held = [each.annotation for each in found.inner_types if each.annotation is not type(None)]
            return held[0] if len(held) == 1 else found.annotation
        return None if found.annotation in (None, type(None)) else found.annotation

    @property
    def takes(self) -> frozenset[str]:
        return frozenset(each.name for each in self.parameters)


def pages() -> list[HTTPRouteHandler]:
    """`/schema` for people, `/schema/openapi.json` for programs; worked out once, when first asked for."""
    made: dict[int, tuple[bytes, str, dict[str, Any]]] = {}

    def of(app: Litestar) -> tuple[bytes, str, dict[str, Any]]:
        if id(app) not in made:
            told = document(app)
            raw = msgspec.json.format(msgspec.json.encode(told), indent=2)
            made[id(app)] = (raw, tag_of(raw), api_page.shown(told))
        return made[id(app)]

    @get("/schema/openapi.json", include_in_schema=False, sync_to_thread=False)
    def openapi_json(request: Request[Any, Any, Any]) -> Response[Any]:
        raw, tag, _ = of(request.app)
        return unchanged(request, tag) or Response(
            raw, media_type=MediaType.JSON, headers={"etag": tag, "cache-control": "no-cache"}
        )

    @get("/schema", include_in_schema=False, sync_to_thread=False)
    def schema(request: Request[Any, Any, Any], visitor: Principal | None) -> Template:
        return page("api.html", visitor, **of(request.app)[2])

    return [openapi_json, schema]


def document(app: Litestar) -> dict[str, Any]:
    """The same for the same handlers, byte for byte, whenever and wherever it is made."""
    calls = sorted(_calls(app), key=lambda call: (call.path, METHODS.index(call.method)))
    schemas = Schemas(kind for call in calls for kind in (call.body, call.answer, *_stated(call)) if kind is not None)
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method] = _operation(call, schemas)
    _check_ids(operation for path in paths.values() for operation in path.values())
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
        "security": KNOWN_CALLER,
        "tags": [{"name": name} for name in sorted({tag for call in calls for tag in _tags(call)})],
        "paths": paths,
        "components": {
            "schemas": dict(sorted({**schemas.components, "Problem": PROBLEM_SCHEMA}.items())),
            "responses": {"Problem": _problem_answer("Anything else that went wrong.")} | _shared_answers(calls),
            "headers": COMPONENT_HEADERS,
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _calls(app: Litestar) -> Iterator[Call]:
    for route in app.routes:
        if not isinstance(route, HTTPRoute) or not route.path.startswith(f"{API}/"):
            continue
        path = re.sub(r"{([^:}]+)[^}]*}", lambda found: f"{{{camel(found[1])}}}", route.path)
        for handler in route.route_handlers:
            if handler.resolve_include_in_schema():
                yield from (
                    Call(method.lower(), path, handler) for method in handler.http_methods if method.lower() in METHODS
                )


def _operation(call: Call, schemas: Schemas) -> dict[str, Any]:
    # Its first sentence is what a call is listed by.
    summary, _, description = " ".join((call.handler.fn.__doc__ or "").split()).partition(". ")
    told: dict[str, Any] = {
        "tags": _tags(call),
        "summary": call.handler.summary or summary.rstrip("."),
    }
    if described := call.handler.description or description:
        told["description"] = described
    told["operationId"] = _operation_id(call)
    if call.handler.deprecated:
        told["deprecated"] = True
    needs = _security(call)
    if needs != KNOWN_CALLER:
        told["security"] = needs
    if parameters := [_parameter(each, schemas) for each in sorted(call.parameters, key=_order)]:
        told["parameters"] = parameters
    if call.body is not None:
        told["requestBody"] = {
            "required": not call.body_optional,
            "content": {MediaType.JSON.value: {"schema": schemas.of_body(call.body)}},
        }
    told["responses"] = dict(sorted(_responses(call, schemas).items())) | {
        "default": {"$ref": "#/components/responses/Problem"}
    }
    return told


def _tags(call: Call) -> list[str]:
    return sorted(call.handler.resolve_tags() or [call.path.removeprefix(f"{API}/").partition("/")[0].capitalize()])


def _operation_id(call: Call) -> str:
    """From the tag and the function, which both have readable names: "notesAdd"."""
    if isinstance(call.handler.operation_id, str):
        return call.handler.operation_id
    tag = camel("_".join(re.findall(r"\w+", _tags(call)[0].lower())))
    name = camel(call.handler.fn.__name__)
    return f"{tag}{name[:1].upper()}{name[1:]}"


def _check_ids(operations: Iterable[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for each in operations:
        if each["operationId"] in seen:
            raise ValueError(f"Two calls are named {each['operationId']}: give one of them another operation_id")
        seen.add(each["operationId"])


def _security(call: Call) -> list[dict[str, list[str]]]:
    """As the handler says; else, whoever is given the caller cannot be called by nobody."""
    if call.handler.security is not None:
        return [dict(each) for each in call.handler.security]
    return KNOWN_CALLER if "caller" in dependencies_of(call.handler) else []


def _order(parameter: Parameter) -> tuple[int, str]:
    return [ParamType.PATH, ParamType.QUERY, ParamType.HEADER, ParamType.COOKIE].index(parameter.place), parameter.name


def _parameter(parameter: Parameter, schemas: Schemas) -> dict[str, Any]:
    # What is not given is left out; null cannot be written there.
    shape = parameter.shape.inner if isinstance(parameter.shape, Nullable) else parameter.shape
    schema = schemas.of_shape(shape)
    if parameter.default is not None:
        schema |= {"default": msgspec.to_builtins(parameter.default)}
    described = parameter.description or COMMON.get(parameter.name)
    return {
        "name": parameter.name,
        "in": parameter.place.value,
        **({"description": described} if described else {}),
        "required": parameter.required,
        "schema": schema,
    }


# What a call that says nothing of its own answers with.
SUCCESSES = {
    ("get", 200): "What was asked for.",
    ("post", 201): "It was made.",
    ("put", 200): "As it is now.",
    ("patch", 200): "As it is now.",
}

COMMON = {
    "limit": "How many at most.",
    "cursor": "The `nextCursor` of the part before; without, the first part.",
    "since": "The position after which to begin: the `position` of a list, or of the answer before.",
}


# --- answers ----------------------------------------------------------------------------------------------------------


def _stated(call: Call) -> list[Any]:
    return [spec.data_container for spec in (call.handler.responses or {}).values() if spec.data_container]


def _responses(call: Call, schemas: Schemas) -> dict[str, Any]:
    told: dict[str, Any] = {str(call.handler.status_code): _success(call, schemas)}
    if "If-None-Match" in call.takes:
        told["304"] = {"description": "It is as it was.", "headers": REQUEST_ID | _header("ETag")}
    by_status: dict[int, list[Problem]] = {}
    for problem in sorted(_problems(call), key=lambda each: (each.status, each.slug)):
        by_status.setdefault(problem.status, []).append(problem)
    for status, problems in by_status.items():
        told[str(status)] = (
            {"$ref": f"#/components/responses/{problems[0].slug}"}
            if len(problems) == 1
            else _problem_answer(" ".join(map(_said, problems)), problems)
        )
    for status, spec in (call.handler.responses or {}).items():
        content = {} if spec.data_container is None else {"schema": schemas.of_answer(spec.data_container)}
        told[str(status)] = {"description": spec.description, "content": {str(spec.media_type): content}}
    return told


def _success(call: Call, schemas: Schemas) -> dict[str, Any]:
    headers = REQUEST_ID | (_header("ETag") if "If-None-Match" in call.takes else {})
    if call.path.endswith("/events"):
        described = (
            "Events as they happen: `id` is a position, `event` is created, updated or deleted (or reset, if the"
            " position is too old), `data` is the item as the caller may see it."
        )
        return {"description": described, "headers": headers, "content": {EVENTS: {"schema": {"type": "string"}}}}
    described = call.handler.response_description or SUCCESSES.get((call.method, call.handler.status_code), "Done.")
    if call.answer is None:
        return {"description": described, "headers": headers}
    stated = call.handler.media_type
    media = stated.value if isinstance(stated, MediaType) else stated or MediaType.JSON.value
    binary = call.handler.content_media_type
    content = {binary: {}} if binary else {media: {"schema": schemas.of_answer(call.answer)}}
    return {"description": described, "headers": headers, "content": content}


def _header(name: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"}}


def _problems(call: Call) -> set[Problem]:
    """What follows from what the handler takes, and what it says can happen besides, as `problems` in its decorator."""
    found: set[Problem] = set(call.handler.opt.get("problems", ()))
    if _security(call) == KNOWN_CALLER:
        found.add(errors.NOT_SIGNED_IN)
    if call.body is not None:
        found |= {errors.NOT_JSON, errors.TOO_LARGE, errors.WRONG_MEDIA_TYPE}
    if call.body is not None or call.parameters:
        found.add(errors.INVALID_FIELDS)
    if any(each.place is ParamType.PATH for each in call.parameters):
        found.add(errors.NOT_FOUND)
    if "If-Match" in call.takes:
        found.add(errors.PRECONDITION_FAILED)
        if call.method != "delete":
            found |= {errors.VERSION_CONFLICT, errors.VERSION_NEEDED}
    if "Idempotency-Key" in call.takes:
        found.add(errors.KEY_REUSED)
    return found


def _shared_answers(calls: list[Call]) -> dict[str, Any]:
    """Most problems come alone under their status, and are told once."""
    found = {problem for call in calls for problem in _problems(call)}
    ordered = sorted(found, key=lambda each: each.slug)
    return {each.slug: _problem_answer(_said(each), [each]) for each in ordered}


def _said(problem: Problem) -> str:
    return f"**{problem.title}**: {problem.explanation}"


def _problem_answer(described: str, problems: Iterable[Problem] = ()) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/Problem"}}
    examples = {
        each.slug: {
            "summary": each.title,
            "value": {
                "type": f"/problems/{each.slug}",
                "title": each.title,
                "status": each.status,
                "detail": each.explanation,
                "requestId": sha256(each.slug.encode()).hexdigest()[:32],
            },
        }
        for each in problems
    }
    if examples:
        content["examples"] = examples
    return {"description": described, "headers": REQUEST_ID, "content": {PROBLEM_JSON: content}}
