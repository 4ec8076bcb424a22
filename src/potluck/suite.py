"""The assembly: settings become an engine, the engine and the doors become one ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.datastructures import State

from potluck.engines import open_engine
from potluck.settings import Settings
from potluck.web import health, layout, problems, security, style
from potluck.web.welcome import welcome

__all__ = ["assemble"]


def assemble(settings: Settings) -> Litestar:
    """The whole suite as one application; the engine is open while it runs, and closed after it."""
    if settings.engine == "embedded":
        # Made here, so that a folder that cannot be made is known before the server starts.
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)

    @asynccontextmanager
    async def engine(app: Litestar) -> AsyncIterator[None]:
        app.state.engine = await open_engine(
            settings.engine,
            path=settings.file,
            region=settings.region,
            endpoint=settings.endpoint,
            prefix=settings.table_prefix,
        )
        try:
            yield
        finally:
            await app.state.engine.close()

    return Litestar(
        route_handlers=[welcome, style.style, style.hue, health.healthz, health.readyz, layout.static_files()],
        lifespan=[engine],
        state=State({"settings": settings}),
        template_config=layout.templates(),
        exception_handlers=problems.handlers(),
        before_send=[security.add_headers],
        # The API, and the page that describes it, come with the first app; the framework's own loads from other hosts.
        openapi_config=None,
        logging_config=None,
    )
