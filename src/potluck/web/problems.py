"""What callers get when something is not there or went wrong: a page for people, problem+json for programs."""

import logging
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException
from litestar.response import Template
from litestar.types import ExceptionHandlersMap

__all__ = ["handlers"]

PROBLEM = "application/problem+json"

log = logging.getLogger("potluck.web")

WORDS = {
    HTTPStatus.NOT_FOUND: (
        "Nothing on this plate",
        "There is no page at this address. It may have moved, or never was.",
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: ("Not like this", "This address exists, but does not take that kind of request."),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        "Something broke here",
        "It is our mistake, not yours. It has been written down.",
    ),
}


def refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    return _answer(request, HTTPStatus(error.status_code), error.headers)


def broken(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Answer without a word about the inside; the log has it, under the id that the answer gives."""
    incident = uuid4().hex
    log.error("request %s to %s failed", incident, request.url.path, exc_info=error)
    return _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, None, incident)


def _answer(
    request: Request[Any, Any, Any], status: HTTPStatus, headers: Any = None, incident: str | None = None
) -> Response[Any]:
    title, detail = WORDS.get(status, (status.phrase, status.description or status.phrase))
    if incident:
        detail += f" Number {incident}."
    # A browser asks for HTML by name; a program that takes anything is better served with JSON.
    if request.accept.best_match([PROBLEM, MediaType.JSON, MediaType.HTML]) == MediaType.HTML:
        return Template("problem.html", context={"title": title, "detail": detail}, status_code=status, headers=headers)
    return Response(
        {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail},
        media_type=PROBLEM,
        status_code=status,
        headers=headers,
    )


def handlers() -> ExceptionHandlersMap:
    return {HTTPException: refused, Exception: broken}
