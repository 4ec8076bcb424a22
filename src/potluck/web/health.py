"""Health checks: `/livez` asks whether this process answers, `/readyz` whether the suite can be used."""

import asyncio

from starlette.responses import JSONResponse, Response

from potluck.engines import Engine, offered_by
from potluck.people.entities import SecretCheck
from potluck.states import lasting
from potluck.web.endpoints import Call, Endpoints
from potluck.web.http.responses import NO_STORE

ANSWER_SECONDS = 2.0
DAMAGED = "store is damaged"

READ = SecretCheck.of_store().request().body

health = Endpoints()


async def answers(engine: Engine) -> bool:
    """Whether the engine answers a cheap question in good time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            # A row that every store has; a process need not be allowed to list tables.
            await engine.call("GetItem", READ)
    except Exception:
        # The health check only asks whether it answers; the engine's own log says why not.
        return False
    return True


@health.get("/livez", public=True)
async def livez(call: Call) -> Response:
    """Whatever the engine does, a process that answers need not be restarted."""
    return JSONResponse({"status": "alive"}, 200, NO_STORE)


@health.get("/readyz", public=True)
async def readyz(call: Call) -> Response:
    """Whether lists answer: they wait until the tables' logs are followed."""
    follows = await call.core.live.follows_all(ANSWER_SECONDS)
    report = "ready" if follows and await answers(call.core.engine) else "not ready"
    is_damaged = offered_by(call.core.engine, "is_damaged")
    if is_damaged is not None and is_damaged():
        report = DAMAGED
    states = [state.name for state in lasting()]
    status = {"status": report, "engine": call.core.settings.engine, "states": states}
    return JSONResponse(status, 200 if report == "ready" else 503, NO_STORE)
