"""The calls that Litestar still serves, for the API's document; gone when it is."""

import re
from collections.abc import Iterator
from typing import Any, Literal, cast

from litestar import Litestar, MediaType, Response
from litestar.enums import ParamType
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from potluck.web import openapi
from potluck.web.api import API
from potluck.web.bodies import is_body
from potluck.web.openapi import EVENTS, IF_NONE_MATCH, METHODS, Call
from potluck.web.parameters import camel, dependencies_of, parameters_of
from potluck.web.schema.types import without_null

__all__ = ["calls_in"]


def calls_in(app: Litestar) -> Iterator[Call]:
    """Every call of the API that one of its handlers answers."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute) or not route.path.startswith(f"{API}/"):
            continue
        path = re.sub(r"{([^:}]+)[^}]*}", lambda found: f"{{{camel(found[1])}}}", route.path)
        for handler in route.route_handlers:
            if handler.resolve_include_in_schema():
                yield from (
                    _call(each.lower(), path, handler) for each in handler.http_methods if each.lower() in METHODS
                )


def _call(method: str, path: str, handler: HTTPRouteHandler) -> Call:
    summary, _, description = " ".join((handler.fn.__doc__ or "").split()).partition(". ")
    tag = (handler.resolve_tags() or [path.removeprefix(f"{API}/").partition("/")[0].capitalize()])[0]
    name = camel(handler.fn.__name__)
    if isinstance(handler.operation_id, str):
        name = handler.operation_id.removeprefix(tag.lower())
    body = handler.parsed_data_field
    has_body = body is not None and is_body(body.annotation)
    parameters = [
        openapi.Parameter(
            name=each.name,
            place=cast("Literal['path', 'query', 'header']", each.place.value),
            type=without_null(each.shape),
            required=each.required,
            default=each.default,
            description=each.description or openapi.COMMON.get(each.name),
        )
        for each in parameters_of(handler)
        if each.place is not ParamType.PATH or f"{{{each.name}}}" in path
    ]
    stated = handler.media_type
    media_type = stated.value if isinstance(stated, MediaType) else stated or MediaType.JSON.value
    return Call(
        method=method,
        path=path,
        tag=tag,
        name=name,
        summary=handler.summary or summary.rstrip("."),
        description=description,
        needs_principal="caller" in dependencies_of(handler),
        parameters=parameters,
        body=body.annotation if has_body and body is not None else None,
        body_optional=has_body and handler.parsed_fn_signature.parameters["data"].has_default,
        status=handler.status_code or 200,
        answer=_answer(handler),
        media_type=EVENTS if path.endswith("/events") else media_type,
        tagged=any(each.name == IF_NONE_MATCH.name for each in parameters),
        problems=frozenset(handler.opt.get("problems", ())),
    )


def _answer(handler: HTTPRouteHandler) -> Any:
    """What is answered with, without the None that stands for 304; None itself, if nothing is."""
    found = handler.parsed_return_field
    if found.is_subclass_of(Response):
        if not found.inner_types:
            return Any
        found = found.inner_types[0]
    if found.is_optional:
        held = [each.annotation for each in found.inner_types if each.annotation is not type(None)]
        return held[0] if len(held) == 1 else found.annotation
    return None if found.annotation in (None, type(None)) else found.annotation
