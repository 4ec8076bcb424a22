"""Follow one request through the code: `python tools/request_walk.py` lists the files that it passes, in order.

The request checks off an item of a shopping list, on the whole suite, after others have warmed it up.
"""

import asyncio
import json
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src" / "potluck"
API = "/api/v1"

ABOVE_THE_STORE = ("apps", "web", "people")
LAYERS = (*ABOVE_THE_STORE, "store", "table", "engines", "dynamo")
# What puts them together is none of them: its files count, but a function that it passed on leads to no other layer.
ASSEMBLY = "suite"
ASSEMBLING = ("__init__.py", "commands", "settings.py", "suite.py")
# Python 3.12 runs most of these as part of their function, 3.11 as functions of their own.
PARTS_OF_FUNCTIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})

WALKS = 3
SETTLING_SECONDS = 0.2


@dataclass
class Walk:
    """What of ours a request passes."""

    functions: set[CodeType] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)
    """Each with its layer, in the order in which they are first passed."""
    layers: list[str] = field(default_factory=list)
    """Those that run, one after the other: going into a function, and coming back to where it was called."""

    def files_in(self, layers: Iterable[str]) -> list[str]:
        return [file for file, layer in self.files.items() if layer in layers]

    def layers_in(self, layers: Iterable[str]) -> list[str]:
        """The way through these layers alone, whatever is called from them in between."""
        return [layer for layer, _ in groupby(each for each in self.layers if each in layers)]


walking: ContextVar[bool] = ContextVar("walking", default=False)


class Tracer:
    """Follows whatever runs in the request's own context, and the threads that work for it.

    The threads count for functions and files only: what they do goes on beside the way of the request.
    """

    def __init__(self) -> None:
        self.walk: Walk | None = None
        self.main = threading.get_ident()
        self.places: dict[CodeType, tuple[str, str] | None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        here = threading.get_ident() == self.main
        if self.walk is None or event not in ("call", "return") or (here and not walking.get()):
            return
        place = self.place(frame.f_code)
        if place is None:
            return
        file, layer = place
        self.walk.functions.add(frame.f_code)
        self.walk.files.setdefault(file, layer)
        if here:
            self.walk.layers.append(layer)

    def place(self, code: CodeType) -> tuple[str, str] | None:
        """The file of ours that code is in, and its layer."""
        if code not in self.places:
            file = Path(code.co_filename)
            ours = file.is_relative_to(SOURCE) and code.co_name not in PARTS_OF_FUNCTIONS
            self.places[code] = (str(file.relative_to(SOURCE)), layer_of(file)) if ours else None
        return self.places[code]


def layer_of(file: Path) -> str:
    """Its folder; of the modules beside those, what assembles them is above, and the rest is the store with its own."""
    first = file.relative_to(SOURCE).parts[0]
    if first in LAYERS:
        return first
    return ASSEMBLY if first in ASSEMBLING else "store"


@contextmanager
def traced() -> Iterator[Tracer]:
    """Follow this thread and those that are started in here."""
    tracer = Tracer()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        yield tracer
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def asked(application: Any, method: str, path: str, token: str = "", body: Any = None) -> Any:
    """Call the application as a server would, without a socket."""
    raw = b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
    headers.append((b"content-length", str(len(raw)).encode()))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 40_000),
        "server": ("testserver", 80),
        "state": {},
    }
    status, answer = 0, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, answer
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            answer += message.get("body", b"")

    await application(scope, receive, send)
    assert 200 <= status < 300, (method, path, status, answer)
    return json.loads(answer)


async def walked() -> Walk:
    """One status change of an item on a shopping list, on the whole suite, after others have warmed it up."""
    from potluck.settings import Settings
    from potluck.suite import assembled

    with tempfile.TemporaryDirectory() as folder, traced() as tracer:
        async with assembled(Settings(data=Path(folder))) as application:
            account = {"email": "ada@example.org", "password": "correct horse battery", "name": "Ada"}
            token = (await asked(application, "POST", f"{API}/accounts", "", account))["token"]
            family = (await asked(application, "POST", f"{API}/families", token, {"name": "Walked"}))["familyId"]
            items = f"{API}/families/{family}/shopping-list"
            store = await asked(application, "POST", f"{API}/families/{family}/stores", token, {"name": "Grocer"})
            new = {"name": "Milk", "storeId": store["storeId"]}
            item = (await asked(application, "POST", items, token, new))["shoppingItemId"]
            versions = count(1)

            async def tick(status: str) -> None:
                change = {"status": status, "version": next(versions)}
                await asked(application, "PATCH", f"{items}/{item}/status", token, change)

            async def followed() -> Walk:
                await tick("pending")
                # What the writes before it woke up has its own way, and is not to be on this one.
                await asyncio.sleep(SETTLING_SECONDS)
                walk = tracer.walk = Walk()
                context = copy_context()
                context.run(walking.set, True)
                await asyncio.get_running_loop().create_task(tick("purchased"), context=context)
                tracer.walk = None
                return walk

            await tick("purchased")
            # Threads also work for others, if they happen to write: the walk with the least has only its own.
            return min([await followed() for _ in range(WALKS)], key=lambda walk: len(walk.functions))


def main() -> None:
    walk = asyncio.run(walked())
    for number, (passed, layer) in enumerate(walk.files.items(), 1):
        print(f"{number:3} {layer:8} {passed}")
    above = walk.layers_in(ABOVE_THE_STORE)
    print(f"\nAbove the store: {' > '.join(above)}")
    print(f"{len(walk.files_in((ASSEMBLY, *ABOVE_THE_STORE)))} files above the store, {len(walk.files)} in all")
    print(f"{len(walk.functions)} functions, {len(walk.layers_in(LAYERS)) - 1} layer changes")


if __name__ == "__main__":
    main()
