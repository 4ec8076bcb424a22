"""What callers get when something is refused or went wrong: a page for people, problem+json for programs."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get
from litestar.exceptions import HTTPException, NotFoundException, ValidationException
from litestar.params import FromPath
from litestar.response import Template
from litestar.types import ExceptionHandlersMap

from potluck.table.entity import Entity
from potluck.web.bodies import wrong_parameters
from potluck.web.errors import (
    BROKEN,
    BY_STATUS,
    ERRORS,
    PRECONDITION_FAILED,
    PROBLEMS,
    VERSION_CONFLICT,
    Kind,
    Problem,
    by_slug,
)
from potluck.web.versions import if_match

__all__ = ["PROBLEM_JSON", "Problems"]

PROBLEM_JSON = "application/problem+json"
API = "/api/"

HTMX = "hx-request"
# A piece of a page asked for a new one of itself, which a problem has not: it would vanish without a word.
INSTEAD_OF_THE_PAGE = {"hx-retarget": "#main", "hx-reselect": "#main", "hx-reswap": "outerHTML"}

log = logging.getLogger("potluck.web")

Views = Mapping[type[Any], Callable[[Any], Any]]
AnyRequest = Request[Any, Any, Any]


class Problems:
    """Every error that can leave a handler, put into an answer; and a page for each problem there is."""

    def __init__(self, errors: Mapping[type[Exception], Kind] | None = None, views: Views | None = None) -> None:
        self._kinds = {**ERRORS, **(errors or {})}
        self._views = dict(views or {})
        told = (kind.problem for kind in self._kinds.values())
        self.by_slug = by_slug((*PROBLEMS, *told))

    def handlers(self) -> ExceptionHandlersMap:
        return {HTTPException: self._by_framework, Exception: self._by_kind}

    def pages(self) -> Any:
        """`/problems/{slug}`: what a problem means, and what to do."""
        by_slug = self.by_slug

        @get("/problems/{slug:str}", include_in_schema=False, sync_to_thread=False)
        def problem(slug: FromPath[str]) -> Template:
            found = by_slug.get(slug)
            if found is None:
                raise NotFoundException
            return Template("problem_type.html", context={"problem": found})

        @get("/problems", include_in_schema=False, sync_to_thread=False)
        def problems() -> Template:
            listed = sorted(by_slug.values(), key=lambda each: (each.status, each.slug))
            return Template("problem_types.html", context={"problems": listed})

        return [problem, problems]

    # --- from errors to answers ---------------------------------------------------------------------------------

    def _by_kind(self, request: AnyRequest, error: Exception) -> Response[Any]:
        kind = next((self._kinds[each] for each in type(error).__mro__ if each in self._kinds), None)
        if kind is None:
            # Answered without a word about the inside; the log has it, under the number that the answer gives.
            log.error("request failed", exc_info=error, extra={"request_id": _request_id(request)})
            return self._answer(request, BROKEN, BROKEN.explanation)
        problem = kind.problem
        if problem is VERSION_CONFLICT and if_match(request) is not None:
            problem = PRECONDITION_FAILED
        detail = str(error) if kind.detail is None else kind.detail or problem.explanation
        members = dict(kind.members(error))
        if problem in (VERSION_CONFLICT, PRECONDITION_FAILED):
            members |= self._current(error)
        return self._answer(request, problem, detail, members, kind.headers(error))

    def _by_framework(self, request: AnyRequest, error: HTTPException) -> Response[Any]:
        if isinstance(error, ValidationException):
            return self._by_kind(request, wrong_parameters(error, request.route_handler))
        problem = BY_STATUS.get(error.status_code)
        if problem is None and error.status_code >= 500:
            return self._by_kind(request, error)
        problem = problem or BY_STATUS[400]
        return self._answer(request, problem, problem.explanation, headers=error.headers)

    def _current(self, error: Exception) -> dict[str, Any]:
        """The item as it is now, if it is known how it may be shown."""
        current = getattr(error, "current", None)
        view = self._views.get(type(current))
        if view is not None:
            return {"current": view(current)}
        # An entity has attributes that are nobody's business; what an app made for showing is shown.
        return {"current": current} if isinstance(current, msgspec.Struct) and not isinstance(current, Entity) else {}

    def _answer(
        self,
        request: AnyRequest,
        problem: Problem,
        detail: str,
        members: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response[Any]:
        headers = {**(headers or {}), "cache-control": "no-store"}
        # A browser asks for HTML by name; a program that takes anything is better served with JSON.
        wants_page = not request.scope["path"].startswith(API) and (
            request.accept.best_match([PROBLEM_JSON, MediaType.JSON, MediaType.HTML]) == MediaType.HTML
        )
        if wants_page:
            if HTMX in request.headers:
                headers |= INSTEAD_OF_THE_PAGE
            context = {"problem": problem, "detail": detail, "request_id": _request_id(request)}
            return Template("problem.html", context=context, status_code=problem.status, headers=headers)
        body = {
            "type": f"/problems/{problem.slug}",
            "title": problem.title,
            "status": problem.status,
            "detail": detail,
            "requestId": _request_id(request),
            **(members or {}),
        }
        return Response(msgspec.json.encode(body), media_type=PROBLEM_JSON, status_code=problem.status, headers=headers)


def _request_id(request: AnyRequest) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))
