"""The suite as one ASGI application: routes each request to its endpoint, and turns errors into responses."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from potluck.web.errors import BY_STATUS
from potluck.web.http.authentication import Authentication
from potluck.web.http.compression import compressed
from potluck.web.http.problems import HttpProblem, Problems
from potluck.web.http.request_log import RequestLog
from potluck.web.http.router import Router
from potluck.web.translation import ENGLISH_ALONE, Languages, speak


class Application:
    """Answers requests by the router's endpoints; `state` is for the server that runs it."""

    def __init__(
        self,
        router: Router,
        authentication: Authentication,
        problems: Problems,
        state: Mapping[str, Any],
        log: RequestLog | None = None,
        languages: Languages = ENGLISH_ALONE,
    ) -> None:
        """`log` wraps every request, those that find no endpoint included."""
        self.router = router
        self.authentication = authentication
        self.problems = problems
        self._languages = languages
        self.state = SimpleNamespace(**state)
        self._serve: ASGIApp = self._answer if log is None else log(self._answer)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._serve(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = Request(scope, receive, send)
        if self._languages.several:
            speak(self._languages.of_request(scope))
        route = self.router.find(scope["path"])
        try:
            if route is None:
                raise HttpProblem(BY_STATUS[404])
            if scope["method"] == "OPTIONS":
                await Response(status_code=204, headers={"allow": route.allowed})(scope, receive, send)
                return
            self.authentication.must_be_same_origin(request)
            answering = route.endpoint(scope["method"])
            if answering is None:
                raise HttpProblem(BY_STATUS[405], {"allow": route.allowed})
            scope["path_params"], scope["path_template"] = answering.values, answering.path
            response = await compressed(scope, await answering.endpoint(request))
        except Exception as error:
            response = self.problems.answer(request, error)
        await response(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
