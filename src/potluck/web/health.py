"""Whether the process is well, for whoever watches it."""

import asyncio

from starlette.responses import JSONResponse, Response

from potluck.engines import Engine
from potluck.web.endpoints import Call, Endpoints
from potluck.web.http.responses import NO_STORE

__all__ = ["answers", "health"]

ANSWER_SECONDS = 2.0

health = Endpoints()


async def answers(engine: Engine) -> bool:
    """Whether the engine answers a cheap question in good time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await engine.call("ListTables", {"Limit": 1})
    except Exception:
        # The health check only asks whether it answers; the engine's own log says why not.
        return False
    return True


@health.get("/healthz", public=True)
async def healthz(call: Call) -> Response:
    return await _report(call, well="ok", unwell="engine does not answer")


@health.get("/readyz", public=True)
async def readyz(call: Call) -> Response:
    return await _report(call, well="ready", unwell="not ready")


async def _report(call: Call, well: str, unwell: str) -> Response:
    answering = await answers(call.core.engine)
    status = {"status": well if answering else unwell, "engine": call.core.settings.engine}
    return JSONResponse(status, 200 if answering else 503, NO_STORE)
