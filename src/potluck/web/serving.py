"""Running an application on uvicorn, and saying in words where it can be reached."""

import sys
from contextlib import suppress
from socket import socket

import uvicorn
from litestar.types import ASGIApp

__all__ = ["serve"]

# Open event streams must not keep a stopped server alive.
GRACE_SECONDS = 5


class AnnouncingServer(uvicorn.Server):
    """Prints its address once it can be reached there, not before."""

    def __init__(self, config: uvicorn.Config, keeps: str) -> None:
        super().__init__(config)
        self.keeps = keeps

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            print(f"\n  Potluck is on the table: http://{f'[{host}]' if ':' in host else host}:{port}")
            print(f"  Everything it knows is in {self.keeps}")
            print("  Ctrl+C stops it.\n", flush=True)


def serve(application: ASGIApp, host: str, port: int, keeps: str) -> bool:
    """Serve until told to stop; whether it ever started."""
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        loop="asyncio" if sys.platform == "win32" else "uvloop",
        http="httptools",
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = AnnouncingServer(config, keeps)
    # Having stopped gracefully, uvicorn passes the Ctrl+C on; it was the way to stop, not a failure.
    with suppress(KeyboardInterrupt):
        server.run()
    return server.started
