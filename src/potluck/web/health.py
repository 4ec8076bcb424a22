"""Whether the process is well, for whoever watches it."""

import asyncio

from litestar import MediaType, Response, get
from litestar.datastructures import State
from litestar.status_codes import HTTP_200_OK, HTTP_503_SERVICE_UNAVAILABLE

from potluck.engines import Engine

__all__ = ["answers", "healthz", "readyz"]

ANSWER_SECONDS = 2.0


async def answers(engine: Engine) -> bool:
    """Whether the engine answers a cheap question in good time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await engine.call("ListTables", {"Limit": 1})
    except Exception:
        # Whatever went wrong, the watcher's question is only whether; the engine's own log says why.
        return False
    return True


@get("/healthz", media_type=MediaType.JSON)
async def healthz(state: State) -> Response[dict[str, str]]:
    return await _report(state, well="ok", unwell="engine does not answer")


@get("/readyz", media_type=MediaType.JSON)
async def readyz(state: State) -> Response[dict[str, str]]:
    return await _report(state, well="ready", unwell="not ready")


async def _report(state: State, well: str, unwell: str) -> Response[dict[str, str]]:
    answering = await answers(state.engine)
    return Response(
        {"status": well if answering else unwell, "engine": state.settings.engine},
        status_code=HTTP_200_OK if answering else HTTP_503_SERVICE_UNAVAILABLE,
        headers={"cache-control": "no-store"},
    )
