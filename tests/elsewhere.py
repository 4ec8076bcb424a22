"""Another host, on loopback: answers that are made up, and what it was asked."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

__all__ = ["Elsewhere", "Said", "another_host"]


class Said(NamedTuple):
    body: bytes = b""
    status: int = 200
    media_type: str = "application/json"
    location: str | None = None


class Elsewhere(NamedTuple):
    port: int
    asked: list[str]
    """Each path that was asked for, with the Host that was named."""
    sent: list[tuple[str, bytes]]
    """What came with each POST: its Authorization, and its body."""

    def address(self, path: str = "", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@contextlib.contextmanager
def another_host(answer: Callable[[str], Said | None]) -> Iterator[Elsewhere]:
    """A server that answers each path so; None leaves the connection open and says one byte after the other."""
    asked: list[str] = []
    sent: list[tuple[str, bytes]] = []
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.headers['host'].partition(':')[0]} {self.path}")
            said = answer(self.path)
            if said is None:
                self.send_response(200)
                self.end_headers()
                with contextlib.suppress(OSError):
                    while not closing.wait(0.05):
                        self.wfile.write(b".")
                return
            self.send_response(said.status)
            if said.location is not None:
                self.send_header("location", said.location)
            self.send_header("content-type", said.media_type)
            self.send_header("content-length", str(len(said.body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(said.body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            sent.append((self.headers["authorization"], body))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Elsewhere(server.server_address[1], asked, sent)
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
