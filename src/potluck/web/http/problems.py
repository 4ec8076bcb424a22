"""What callers get when something is refused or went wrong: a page for people, problem+json for programs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from potluck.table.entity import Entity
from potluck.validation.encoding import encode
from potluck.web.errors import (
    BROKEN,
    ERRORS,
    PRECONDITION_FAILED,
    PROBLEMS,
    VERSION_CONFLICT,
    Problem,
    ProblemError,
    by_slug,
)
from potluck.web.http.responses import html
from potluck.web.layout import Templates
from potluck.web.versions import if_match

PROBLEM_JSON = "application/problem+json"
API = "/api/"


log = logging.getLogger("potluck.web")


class HttpProblem(Exception):
    """A request that HTTP itself has a problem with: no such address, no such method, a body that is too large."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem.explanation)
        self.problem = problem
        self.headers = dict(headers or {})


class ProblemAnswer(NamedTuple):
    """An error as callers see it."""

    problem: Problem
    detail: str
    members: Mapping[str, Any]
    headers: Mapping[str, str]


class Problems:
    """Turns every error that can leave an endpoint into a response."""

    def __init__(self, templates: Templates, declared: tuple[Problem, ...] = ()) -> None:
        """`declared` are the problems that apps declare with their rules."""
        self._templates = templates
        self.by_slug = by_slug((*PROBLEMS, *declared))

    def refusal(self, error: Exception) -> ProblemAnswer | None:
        """The error as callers see it; None for a bug of ours."""
        if isinstance(error, ProblemError):
            return ProblemAnswer(error.problem, str(error), _shown(error.members), error.headers)
        if isinstance(error, HttpProblem):
            return ProblemAnswer(error.problem, str(error), {}, error.headers)
        kind = next((ERRORS[base] for base in type(error).__mro__ if base in ERRORS), None)
        if kind is None:
            return None
        detail = str(error) if kind.detail is None else kind.detail or kind.problem.explanation
        members = dict(kind.members(error))
        if kind.problem is VERSION_CONFLICT:
            members |= _shown({"current": getattr(error, "current", None)})
        return ProblemAnswer(kind.problem, detail, members, kind.headers(error))

    def answer(self, request: Request, error: Exception) -> ASGIApp:
        refusal = self.refusal(error)
        if refusal is None:
            # The response reveals no internals; the log has them, under the request id that the response gives.
            log.error("request failed", exc_info=error, extra={"request_id": _request_id(request)})
            refusal = ProblemAnswer(BROKEN, BROKEN.explanation, {}, {})
        problem = refusal.problem
        if problem is VERSION_CONFLICT and if_match(request) is not None:
            problem = PRECONDITION_FAILED
        headers = {**refusal.headers, "cache-control": "no-store"}
        if not request.scope["path"].startswith(API) and wants_html(request.headers.get("accept", "")):
            context = {
                "problem": problem,
                "detail": refusal.detail,
                "request_id": _request_id(request),
                "way_in": error.way_in if isinstance(error, ProblemError) else None,
            }
            return html(self._templates.render(request, "problem.html", context), problem.status, headers)
        body = problem.body(refusal.detail, _request_id(request)) | dict(refusal.members)
        return Response(encode(body), problem.status, headers, PROBLEM_JSON)


def wants_html(accept: str) -> bool:
    """Whether an Accept header prefers HTML: a browser asks for it by name; a program that takes anything gets JSON."""
    best, is_html = 0.0, False
    for choice in accept.split(","):
        kind, *parameters = (part.strip().lower() for part in choice.split(";"))
        quality = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            weight = float(quality)
        except ValueError:
            weight = 0.0
        if weight > best:
            best, is_html = weight, kind in ("text/html", "text/*")
    return is_html


def _shown(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that may be shown: a view may, but an entity has private attributes."""
    return {name: member for name, member in members.items() if member is not None and not isinstance(member, Entity)}


def _request_id(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))
