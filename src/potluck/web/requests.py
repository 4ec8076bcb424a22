"""What endpoints read from a request: who calls, its path parameters, its body, its Idempotency-Key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from starlette.datastructures import Headers
from starlette.requests import Request

from potluck.people.authentication import Principal
from potluck.people.idempotency import LONGEST_KEY, IdempotencyKey, request_hash
from potluck.validation import path_value, schema_of
from potluck.validation.errors import FieldError, ValidationError, camel
from potluck.validation.types import UUID_TEXT, UuidType
from potluck.web.access import Access, Visitor
from potluck.web.declarations import LARGEST_BODY, parameters_of
from potluck.web.errors import BY_STATUS, WrongMediaType
from potluck.web.http.authentication import Authentication, by_cookie
from potluck.web.http.clients import header_value, header_values
from potluck.web.http.problems import HttpProblem

__all__ = [
    "LARGEST_BODY",
    "Ids",
    "body_of",
    "headers_of",
    "idempotency_key",
    "ids_of",
    "must_be_form",
    "must_be_json",
    "visitor_of",
]

FORM = "application/x-www-form-urlencoded"
JSON_TYPE = re.compile(r"application/(?:json|[a-z0-9!#$&^_.-]+\+json)")
UTF_8 = {"utf-8", "utf8"}
NOT_AS_JSON = "The body must be sent as application/json, in UTF-8 and without a content encoding"
KEY = b"idempotency-key"
# The server refuses any other Content-Length; the body itself is counted as it arrives.
STATED_LENGTH = re.compile("[0-9]+")
LONGEST_LENGTH = 20


async def visitor_of(
    request: Request, authentication: Authentication, access: type[Access] | None = None, *, anonymous: bool = False
) -> Visitor:
    """Who calls, with their headers: for an API call, only those that its access names.

    An `anonymous` call, or one by an anonymous access, looks up no session and no token.
    """
    anonymous = anonymous or (access is not None and access.anonymous)
    principal = None if anonymous else await authentication.principal(request)

    def client() -> str:
        return authentication.clients.client_of(request.scope)

    def origin() -> str:
        return authentication.clients.link_origin_of(request.scope)

    def last_event_id() -> str:
        return request.headers.get("last-event-id", "")

    def user_agent() -> str:
        return request.headers.get("user-agent", "")

    async def still() -> bool:
        return principal is None or await authentication.still(request, principal)

    by_page = access is None
    return Visitor(
        principal=principal,
        client=client,
        headers=request.headers if access is None else Headers(headers_of(request, access)) if access.headers else None,
        cookies=authentication.sealed_cookies(request, principal) if by_page else None,
        by_page=by_page,
        by_cookie=by_cookie(request),
        origin=origin,
        last_event_id=last_event_id,
        user_agent=user_agent,
        still=still,
    )


def headers_of(request: Request, access: type[Access]) -> dict[str, str]:
    """The request's values of the headers that an access names."""
    return {name: request.headers[name] for name in access.headers if name in request.headers}


class Ids:
    """Reads path parameters, each as strictly as a field of a body."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """`parameters` are their annotated types, by name."""
        self._types = {name: schema_of(kind) for name, kind in parameters.items()}
        self._uuids = frozenset(
            name for name, kind in self._types.items() if type(kind) is UuidType and kind.check is None
        )

    def __call__(self, request: Request) -> dict[str, Any]:
        """The values by name; ValidationError with every one that is wrong."""
        ids: dict[str, Any] = {}
        wrong: list[FieldError] = []
        for name, text in request.path_params.items():
            if name not in self._types:
                # Parameters without a declared type are for the endpoint itself.
                continue
            if name in self._uuids and UUID_TEXT.fullmatch(text):
                # A fast path: most parameters are valid UUIDs.
                ids[name] = UUID(text)
                continue
            value = path_value(self._types[name], camel(name), text)
            if isinstance(value, FieldError):
                wrong.append(value)
            else:
                ids[name] = value
        if wrong:
            raise ValidationError(*wrong)
        return ids


_ids_by_access: dict[type[Access], Ids] = {}


def ids_of(access: type[Access], request: Request) -> dict[str, Any]:
    """The path parameters that an access needs."""
    ids = _ids_by_access.get(access)
    if ids is None:
        ids = _ids_by_access[access] = Ids(parameters_of(access))
    return ids(request)


async def body_of(request: Request, largest: int = LARGEST_BODY) -> bytes:
    """The body, read no further than the limit."""
    stated = header_value(request.scope, b"content-length") or ""
    if STATED_LENGTH.fullmatch(stated) and int(stated[:LONGEST_LENGTH]) > largest:
        raise HttpProblem(BY_STATUS[413])
    parts: list[bytes] = []
    size = 0
    # Read from the ASGI messages, not by Starlette's stream: nearly every body is one message.
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            # The client is gone and the body incomplete, so nothing is done.
            raise HttpProblem(BY_STATUS[400])
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > largest:
            raise HttpProblem(BY_STATUS[413])
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def must_be_json(request: Request) -> None:
    """Raise WrongMediaType unless the body is declared as plain JSON in UTF-8."""
    content_type = header_value(request.scope, b"content-type")
    encoding = header_value(request.scope, b"content-encoding")
    if content_type == "application/json" and encoding is None:
        return
    kind, parameters = media_type_of(content_type or "")
    encoding = (encoding or "identity").strip().lower()
    charset = parameters.get("charset", "utf-8")
    if not JSON_TYPE.fullmatch(kind) or charset not in UTF_8 or encoding not in ("identity", ""):
        raise WrongMediaType(NOT_AS_JSON)


def must_be_form(request: Request) -> None:
    """Raise WrongMediaType unless the body is declared as a URL-encoded form."""
    if media_type_of(header_value(request.scope, b"content-type") or "")[0] != FORM:
        raise WrongMediaType(f"The form must be sent as {FORM}")


def media_type_of(header: str) -> tuple[str, dict[str, str]]:
    kind, *parts = header.split(";")
    named = (part.partition("=") for part in parts)
    return kind.strip().lower(), {name.strip().lower(): value.strip().strip('"').lower() for name, _, value in named}


def idempotency_key(
    request: Request, principal: Principal | None, body: bytes, secret: bytes, headers: Iterable[str] = ()
) -> IdempotencyKey | None:
    """The Idempotency-Key with a hash of the request, if it carries one; the hash reveals nothing without the secret.

    `headers` are those that decide access: with another value in one of them, it is another request.
    """
    keys = header_values(request.scope, KEY)
    if not keys:
        return None
    if len(keys) > 1:
        raise ValidationError(FieldError("Idempotency-Key", "Idempotency-Key is given more than once"))
    key = keys[0]
    if not 1 <= len(key) <= LONGEST_KEY:
        raise ValidationError(FieldError("Idempotency-Key", f"Idempotency-Key must have 1 to {LONGEST_KEY} characters"))
    target = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
    # If-Match is part of what was asked, and so is what admitted the caller.
    parts = [", ".join(header_values(request.scope, name.lower().encode())) for name in ("if-match", *sorted(headers))]
    content = b"\n".join([body, *(part.encode("latin-1", "replace") for part in parts)])
    hashed = request_hash(request.method, target, content, secret)
    return (
        IdempotencyKey.by_nobody(key, hashed) if principal is None else IdempotencyKey(principal.user_id, key, hashed)
    )
