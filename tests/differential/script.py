"""A scripted session over the whole suite, as browsers and programs call it, and what is noted of every answer.

It knows the suite from outside: addresses, forms, JSON. Of the inside it takes `suite_on`, which assembles one, and for
what an operator does the services of people. The chapters are in `chapters/`; each is played on a suite of its own.
"""

import asyncio
import contextlib
import csv
import io
import json
import os
import re
import secrets
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import SystemRandom
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlencode

import httpx

from potluck.engines import open_engine
from potluck.settings import Settings
from potluck.suite import APPS, core_on
from potluck.web.direct_calls import Direct
from potluck.web.outbound import Outbound
from potluck.web.people import MODULES
from tests.differential.elsewhere import fetched
from tests.differential.names import NAMED, Names
from tests.differential.pages import parts_of, read_page
from tests.differential.recording import Entry
from tests.patience import PATIENCE_SECONDS
from tests.people.assembly import Clock
from tests.toy import notes_app
from tests.web.suites import as_served, rows_left, suite_on

__all__ = ["API", "PASSWORD", "Answer", "Chapter", "Played", "Script", "Who", "play"]

RECORDED = (*APPS, notes_app)
API = "/api/v1"
ORIGIN = "http://testserver"
PASSWORD = "correct horse"
QUIET_SECONDS = 0.2

# Everything else that an answer carries is noted: these say when and how long, not what.
NOT_NOTED = frozenset({"content-length", "date", "server", "set-cookie"})
# Alike on nearly every answer, so noted together.
GUARDS = frozenset(
    {
        "content-security-policy",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
        "permissions-policy",
        "referrer-policy",
        "strict-transport-security",
        "x-content-type-options",
        "x-frame-options",
    }
)
# That they are there is noted, and nothing of what they say.
ONLY_PRESENT = {"last-modified": "<time>", "x-request-id": "<request id>"}

BROWSER = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "sec-fetch-site": "same-origin",
}

Chapter = Callable[["Script"], Awaitable[None]]


class Answer:
    """What came back, for the script to go on from; a part that is not there is `absent`, and the script goes on."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.text = "" if "zip" in response.headers.get("content-type", "") else response.text
        self.headers = response.headers

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.text)
        except ValueError:
            return None

    @property
    def etag(self) -> str:
        return str(self.headers.get("etag", '"absent"'))

    @property
    def location(self) -> str:
        return str(self.headers.get("location", "/absent"))

    def __getitem__(self, path: str) -> Any:
        """A member of the JSON: `answer["items.0.name"]`."""
        found = self.json
        for name in path.split("."):
            try:
                found = found[int(name)] if isinstance(found, list) else found[name]
            except (KeyError, IndexError, TypeError, ValueError):
                return "absent"
        return found

    def find(self, pattern: str) -> str:
        match = re.search(pattern, self.text)
        return "absent" if match is None else match[1]


class Script:
    """One chapter as it is played: who is there, what time it is, and what was noted."""

    def __init__(self, application: Any, clock: Clock, folder: Path, chapter: str) -> None:
        self.application = application
        self.clock = clock
        self.folder = folder
        self.chapter = chapter
        self.names = Names()
        self.entries: list[Entry] = []
        self.asked: list[tuple[str, str, bool]] = []
        """Method, path, and whether it was answered rather than refused, of every step."""
        self._stopped = False
        self._used: Counter[str] = Counter()
        self._clients: list[httpx.AsyncClient] = []

    def browser(self, name: str, origin: str = ORIGIN) -> "Who":
        """Somebody with a browser: cookies, and an address of their own, as too many from one are throttled."""
        return Who(self, f"{name}'s browser", self._client(origin), BROWSER)

    def program(self, name: str, token: str | None = None) -> "Who":
        """A program, with somebody's token or with none."""
        return Who(self, name, self._client(ORIGIN), {} if token is None else {"authorization": f"Bearer {token}"})

    async def person(self, name: str) -> "Who":
        """Somebody new, who calls by a token of their session."""
        who = self.program(name)
        made = await who.api(
            f"{name} signs up",
            "POST",
            "/accounts",
            {"email": f"{name.lower()}@example.org", "password": PASSWORD, "name": name},
        )
        who.user_id = made["userId"]
        who.token = made["token"]
        who.client.headers["authorization"] = f"Bearer {made['token']}"
        return who

    @contextlib.asynccontextmanager
    async def operator(self) -> AsyncIterator[Direct]:
        """The rules of people on the same store, as the command line calls them beside a server."""
        settings = Settings(data=self.folder / "data")
        engine = await open_engine(
            "embedded", path=settings.file, region=None, endpoint=None, prefix=settings.table_prefix
        )
        try:
            core = core_on(engine, settings, b"not used by these rules", self.clock)
            try:
                yield Direct(core, MODULES.subjects)
            finally:
                core.people.close()
        finally:
            await engine.close()

    def begin(self, label: str) -> str:
        """The step's own name; time goes on by a second with each, so that nothing is at the same time by chance."""
        self._used[label] += 1
        step = f"{self.chapter}/{label}" + (f" ({self._used[label]})" if self._used[label] > 1 else "")
        self.names.at(step.partition("/")[2])
        if not self._stopped:
            self.clock.forward(seconds=1)
        return step

    @contextlib.contextmanager
    def clock_stopped(self) -> Iterator[None]:
        self._stopped = True
        try:
            yield
        finally:
            self._stopped = False

    async def settled(self) -> None:
        """Wait until the consumers have caught up: nothing is written any more."""
        before = None
        while (rows := await rows_left(self.application.state.engine)) != before:
            before = rows
            await asyncio.sleep(QUIET_SECONDS)

    def note(self, entry: Entry) -> None:
        self.entries.append({name: value for name, value in entry.items() if value is not None})

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()

    def _client(self, origin: str) -> httpx.AsyncClient:
        address = f"10.0.{len(self._clients) // 200}.{len(self._clients) % 200 + 1}"
        application = as_served(self.application)
        transport = httpx.ASGITransport(application, client=(address, 40_000), raise_app_exceptions=False)
        self._clients.append(httpx.AsyncClient(transport=transport, base_url=origin))
        return self._clients[-1]


class Who:
    """Somebody who calls."""

    user_id = "absent"
    token = "absent"

    def __init__(self, script: Script, name: str, client: httpx.AsyncClient, headers: Mapping[str, str]) -> None:
        self.script = script
        self.name = name
        self.client = client
        client.headers.update(headers)

    async def api(self, label: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Call under /api/v1 with JSON, or with bytes as they are; headers with _ for -."""
        return await self.call(label, method, API + path, body, **headers)

    async def page(self, label: str, path: str, **headers: str) -> Answer:
        return await self.call(label, "GET", path, **headers)

    async def form(self, label: str, path: str, fields: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Send a form, as a browser does."""
        headers = {"content_type": "application/x-www-form-urlencoded"} | headers
        return await self.call(label, "POST", path, urlencode(fields or {}, doseq=True).encode(), **headers)

    async def call(self, label: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        step = self.script.begin(label)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent: dict[str, Any] = {}
        if isinstance(body, bytes):
            sent["content"] = body
        elif body is not None:
            sent["json"] = body
        # Names of ids in what is asked are those that earlier steps gave.
        asked = self._asked(method, path, named, body)
        async with asyncio.timeout(PATIENCE_SECONDS):
            response = await self.client.request(method, path, headers=named, **sent)
        self.script.note({"step": step} | asked | self._answered(method, response))
        to_sign_in = response.headers.get("location", "").startswith("/sign-in?next=")
        self.script.asked.append((method, path.partition("?")[0], response.status_code < 400 and not to_sign_in))
        return Answer(response)

    async def submit(self, label: str, path: str, fields: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Send a form and follow where it leads, as a browser does: the last page, with the form's location."""
        sent = await self.form(label, path, fields, **headers)
        if sent.status != 303:
            return sent
        page = await self.page(f"{label}, then", sent.location)
        page.headers["location"] = sent.location
        return page

    async def upload(self, label: str, path: str, files: Any, fields: Mapping[str, Any] | None = None) -> Answer:
        """Send a form with files."""
        request = self.client.build_request("POST", path, files=files, data=fields)
        body = request.read().replace(request.headers["content-type"].partition("boundary=")[2].encode(), b"BOUNDARY")
        return await self.call(label, "POST", path, body, content_type="multipart/form-data; boundary=BOUNDARY")

    async def quietly(self, times: int, method: str, path: str, **sent: Any) -> None:
        """Ask so often, without a note of it."""
        for _ in range(times):
            await self.client.request(method, path, **sent)

    @contextlib.asynccontextmanager
    async def listening(self, label: str, path: str, **headers: str) -> AsyncIterator["Stream"]:
        """Open an event stream, and note at the end what came."""
        step = self.script.begin(label)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = self._asked("GET", path, named, None)
        request = self.client.build_request("GET", path, headers=named)
        stream = Stream(self.script.application, request)
        try:
            yield stream
        finally:
            await stream.leave()
            self.script.names.at(step.partition("/")[2])
            if stream.status < 400:
                answered = {"status": stream.status} | self._headers(httpx.Headers(stream.headers))
                answered |= self._events(stream)
            else:
                answered = self._answered(
                    "GET", httpx.Response(stream.status, headers=stream.headers, content=stream.body)
                )
            self.script.note({"step": step} | asked | answered)
            self.script.asked.append(("GET", path.partition("?")[0], stream.status < 400))

    # --- what is noted ------------------------------------------------------------------------------------------------

    def _asked(self, method: str, path: str, headers: Mapping[str, str], body: Any) -> Entry:
        names = self.script.names
        noted: Entry = {"by": self.name, "request": f"{method} {names.text(path)}"}
        if headers:
            noted["request headers"] = {
                name: names.tag(names.text(value)) if name.startswith("if-") else names.text(value)
                for name, value in sorted(headers.items())
            }
        if isinstance(body, bytes):
            text = body.decode("utf-8", "replace")
            if "urlencoded" in headers.get("content-type", ""):
                noted["form"] = [[name, names.text(value)] for name, value in parse_qsl(text, keep_blank_values=True)]
            else:
                noted["sent"] = names.text(text[:200]) + (f"… ({len(body)} bytes)" if len(text) > 200 else "")
        elif body is not None:
            noted["sent"] = _shortened(names.json(body))
        return noted

    def _answered(self, method: str, response: httpx.Response) -> Entry:
        noted: Entry = {"status": response.status_code}
        kind = response.headers.get("content-type", "").partition(";")[0]
        body = self._body(kind, response)
        noted |= self._headers(response.headers)
        if method == "HEAD":
            noted["has content-length"] = "content-length" in response.headers
        return noted | body

    def _headers(self, headers: httpx.Headers) -> Entry:
        names = self.script.names
        found: dict[str, str] = {}
        guards: dict[str, str] = {}
        cookies = []
        for name, value in sorted(headers.multi_items()):
            if name == "set-cookie":
                first, *rest = value.split("; ")
                name, _, secret = first.partition("=")
                value = "<value>" if secret.strip('"') else ""
                cookies.append("; ".join([f"{names.text(name, 'cookie')}={value}", *sorted(rest, key=str.lower)]))
            elif name in GUARDS:
                guards[name] = value
            elif name in ONLY_PRESENT:
                found[name] = ONLY_PRESENT[name]
            elif name == "allow":
                # Methods are a set, and come in another order from every process.
                found[name] = ", ".join(sorted(value.split(", ")))
            elif name == "etag":
                found[name] = names.tag(value)
            elif name not in NOT_NOTED:
                found[name] = names.text(value, name)
        noted: Entry = {"headers": found, "guards": guards}
        if cookies:
            noted["cookies"] = [names.text(each) for each in sorted(cookies)]
        return noted

    def _body(self, kind: str, response: httpx.Response) -> Entry:
        names = self.script.names
        if not response.content:
            return {}
        if kind.endswith("json"):
            try:
                return {"json": names.json(response.json())}
            except ValueError:
                return {"text": names.text(response.text).split("\n")}
        if kind == "text/html":
            around, main = parts_of(read_page(response.text, names.text, names.json))
            return {"around": around, "html": main}
        if kind == "application/zip":
            return {"zip": self._zip(response.content)}
        if kind in ("text/css", "text/javascript", "application/javascript") or not kind.startswith("text/"):
            return {"text": ["<a file>"]}
        return {"text": names.text(response.text).split("\n")}

    def _zip(self, content: bytes) -> Entry:
        """What is in an export: JSON with its lists in any order, tables by their heads and how long they are."""
        noted: Entry = {}
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            for name in sorted(opened.namelist()):
                text = opened.read(name).decode()
                shown = self.script.names.text(name)
                if name.endswith(".json"):
                    noted[shown] = _in_any_order(self.script.names.json(json.loads(text)))
                elif name.endswith(".csv"):
                    rows = list(csv.reader(io.StringIO(text)))
                    noted[shown] = {"head": rows[0] if rows else [], "rows": len(rows) - 1}
                else:
                    noted[shown] = self.script.names.text(text).split("\n")
        return noted

    def _events(self, stream: "Stream") -> Entry:
        noted = []
        for block in stream.blocks:
            event: dict[str, Any] = {}
            for line in block.split("\n"):
                name, _, value = line.partition(": ")
                if not name or line.startswith(":"):
                    continue
                if name == "id":
                    event["id"] = "<position>"
                elif name == "data" and value.startswith(("{", "[")):
                    event["data"] = self.script.names.json(json.loads(value))
                elif name == "data":
                    event.setdefault("data", []).append(value)
                else:
                    event[name] = self.script.names.text(value)
            if isinstance(data := event.get("data"), list) and all(isinstance(each, str) for each in data):
                event["data"] = read_page("\n".join(data), self.script.names.text, self.script.names.json)
            # Where to go on from is told now and then without an event; how often depends on how busy the machine is.
            if event.keys() - {"id"}:
                noted.append(event)
        return {"events": noted}


class Stream:
    """An open event stream, read as it comes."""

    def __init__(self, application: Any, request: httpx.Request) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self._ended = False
        self._news = asyncio.Event()
        self._gone = asyncio.Event()
        self._asked = False
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": ("10.1.0.1", 40_000),
            "server": (request.url.host, 80),
        }
        self._task = asyncio.create_task(application(scope, self._receive, self._send))
        self._task.add_done_callback(lambda _: self._end())

    @property
    def blocks(self) -> list[str]:
        """Whole events; what only keeps the line open is none."""
        whole = self.body.decode().replace("\r\n", "\n").split("\n\n")[:-1]
        return [block for block in whole if any(not line.startswith(":") for line in block.split("\n") if line)]

    @property
    def events(self) -> int:
        return sum(any(line.startswith("event:") for line in block.split("\n")) for block in self.blocks)

    async def until(self, events: int) -> None:
        """Wait until it has begun, for so many events, or for the end; what never comes is missing in what is noted."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (self.events < events or not self.blocks) and not self._ended:
                    self._news.clear()
                    await self._news.wait()

    async def until_ended(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not self._ended:
                    self._news.clear()
                    await self._news.wait()

    async def leave(self) -> None:
        self._gone.set()
        done, _ = await asyncio.wait([self._task], timeout=PATIENCE_SECONDS)
        if not done:
            self._task.cancel()

    def _end(self) -> None:
        self._ended = True
        self._news.set()

    async def _receive(self) -> Any:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        elif not self._gone.is_set():
            self.body += message.get("body", b"")
            self._ended = not message.get("more_body", False)
        self._news.set()


def _shortened(told: Any) -> Any:
    match told:
        case dict():
            return {key: _shortened(value) for key, value in told.items()}
        case list() if len(told) > 30:
            return [*map(_shortened, told[:3]), f"… ({len(told)} of them)"]
        case list():
            return [_shortened(each) for each in told]
        case str() if len(told) > 300:
            return f"{told[:20]}… ({len(told)} characters)"
    return told


def _in_any_order(told: Any) -> Any:
    match told:
        case dict():
            return {key: _in_any_order(value) for key, value in told.items()}
        case list():
            return sorted((_in_any_order(each) for each in told), key=_order)
    return told


def _order(item: Any) -> str:
    return NAMED.sub("", json.dumps(item, sort_keys=True))


class IdsInOrder(SystemRandom):
    """Random bytes, of which those for an id are greater than those before: by their ids, things are in one order."""

    def __init__(self) -> None:
        self._numbers = count(0x10000000)

    def randbytes(self, n: int) -> bytes:
        return next(self._numbers).to_bytes(4) + os.urandom(12) if n == 16 else os.urandom(n)


@dataclass(frozen=True)
class Played:
    entries: list[Entry]
    asked: list[tuple[str, str, bool]]
    addresses: frozenset[tuple[str, str]]
    """Every method and path that the suite answers."""


async def play(chapter: str, told: Chapter, folder: Path, **options: Any) -> Played:
    """Play a chapter on a new suite. A chapter that cannot go on says so in its last entry."""
    clock = Clock()
    with patch.object(Outbound, "get", fetched), patch.object(secrets, "_sysrand", IdsInOrder()):
        return await _played(chapter, told, folder, clock, options)


async def _played(chapter: str, told: Chapter, folder: Path, clock: Clock, options: dict[str, Any]) -> Played:
    async with suite_on(folder, RECORDED, clock=clock, **options) as (_, application):
        script = Script(application, clock, folder, chapter)
        try:
            await told(script)
        except Exception as broken:
            script.note({"step": f"{chapter}/cannot go on", "error": f"{type(broken).__name__}: {broken}"})
        finally:
            await script.close()
        return Played(script.entries, script.asked, frozenset(application.router.addresses()))
