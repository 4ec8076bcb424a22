"""Servers on loopback that speak as OpenAI's and Anthropic's do, and answer what a test tells them to."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KEY", "ModelServer", "model_server"]

KEY = "sk-canary-of-the-key"


@dataclass
class ModelServer:
    port: int = 0
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    """Path, headers and body of every call."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    raw: bytes | None = None
    says: Callable[[Any], Any] = lambda asked: {"answer": "Nothing to say.", "citations": []}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self) -> Any:
        """The last question, with its passages."""
        return json.loads(self.requests[-1][2]["messages"][-1]["content"])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in head[1:] if each)}
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            path = head[0].split()[1]
            self.requests.append((path, headers, body))
            if self.hangs:
                # Until whoever asked gives up.
                await reader.read()
                return
            said = self.says(json.loads(body["messages"][-1]["content"]))
            text = said if isinstance(said, str) else json.dumps(said)
            shaped: Any = (
                {"content": [{"type": "text", "text": text}]}
                if path.endswith("/messages")
                else {"choices": [{"message": {"role": "assistant", "content": text}}]}
            )
            answer = json.dumps(shaped).encode() if self.raw is None else self.raw
            named = {"content-length": str(len(answer)), "connection": "close", **self.headers}
            lines = [f"HTTP/1.1 {self.status} OK", *(f"{name}: {value}" for name, value in named.items())]
            writer.write("\r\n".join([*lines, "", ""]).encode() + answer)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    made = ModelServer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
