"""One JSON line for each request and each thing that went wrong, with nothing in it that is anybody's.

A line says which route it was, never which path: an id in a path may open something. Of an exception it has the kind
and the places it came through, never the text: it may quote what a person wrote. Of what other libraries log, only the
fixed part of a message is kept.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.engines import DynamoError
from potluck.settings import Settings

if TYPE_CHECKING:
    # Only their names: whoever starts the workers has no use for the framework itself.
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "JsonLines",
    "RequestLog",
    "described",
    "log_what_nobody_awaited",
    "logging_in_lines",
    "new_request_id",
    "write_line",
]

Writer = Callable[[bytes], None]

HTTP = "http"
REQUEST_ID_BYTES = 16
REQUEST_ID_LETTERS = 2 * REQUEST_ID_BYTES
IDS_AT_ONCE = 128
UNLOGGED_ROUTES = frozenset({"/healthz", "/readyz"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})

# More of a traceback, or of a chain of causes, tells nothing new.
FRAMES = 40
CAUSES = 5
LONGEST_MESSAGE = 500
LONGEST_CODE = 60

OURS = "potluck"
# Its messages are fixed sentences where they have no arguments; nobody else's are known to be.
FIXED_SENTENCES = frozenset({"uvicorn.error"})

BROKEN = b'{"type":"/problems/broken","title":"Internal Server Error","status":500,"requestId":"%s"}'

current_request: ContextVar[str | None] = ContextVar("current_request", default=None)
_encode = msgspec.json.Encoder().encode
_request_ids: list[str] = []


def new_request_id() -> str:
    """128 random bits. Nobody chooses one: what a client sends under this name is neither believed nor repeated."""
    if not _request_ids:
        # Many at once: asking the system takes longer than everything else here.
        text = os.urandom(REQUEST_ID_BYTES * IDS_AT_ONCE).hex()
        _request_ids.extend(text[at : at + REQUEST_ID_LETTERS] for at in range(0, len(text), REQUEST_ID_LETTERS))
    return _request_ids.pop()


def write_line(line: bytes) -> None:
    """One write, so that the lines of several workers do not mix; a log that is gone stops nobody's request."""
    with suppress(OSError):
        os.write(2, line)


class ClientGone(BaseException):
    """The client left before it had sent everything. No Exception: there is nobody to answer, and nothing failed."""


class RequestLog:
    """Gives each request its id, and writes its line when the answer is over; for an event stream, that is its end."""

    def __init__(
        self, settings: Settings, write: Writer = write_line, headers: Callable[[Any, str], list[Any]] | None = None
    ) -> None:
        """`headers` adds to an answer's own, at a path, what every answer carries; here, because each passes here."""
        self._every = settings.log == "requests"
        self._write = write
        self._headers = headers or (lambda own, path: [*own])

    def __call__(self, app: ASGIApp) -> ASGIApp:
        """The application, with this around it."""

        async def logged(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != HTTP:
                await app(scope, receive, send)
                return
            method = str(scope.get("method"))
            if method not in METHODS:
                method = "other"
            request_id = new_request_id()
            scope.setdefault("state", {})["request_id"] = request_id
            current_request.set(request_id)
            header = (b"x-request-id", request_id.encode())
            began = perf_counter()
            status = 0
            sent = 0

            async def sending(message: Message) -> None:
                nonlocal status, sent
                if message["type"] == "http.response.body":
                    sent += len(message.get("body", b""))
                elif message["type"] == "http.response.start":
                    status = message["status"]
                    headers = self._headers(message.get("headers", ()), scope["path"])
                    headers.append(header)
                    message["headers"] = headers
                await send(message)

            async def receiving() -> Message:
                message = await receive()
                if message["type"] == "http.disconnect" and not status:
                    raise ClientGone
                return message

            failure: BaseException | None = None
            try:
                # Without a body to wait for, the application may ask on its own whether the client is still there.
                await app(scope, receiving if method in WITH_BODY else receive, sending)
            except ClientGone:
                pass
            except Exception as error:
                failure = error
                if status:
                    # The answer is cut off where it stands; whoever serves this closes the connection.
                    raise
                await _answer_broken(sending, request_id)
            except BaseException as ended:
                failure = ended
                raise
            finally:
                route = scope.get("path_template")
                if (self._every or status >= 500 or failure is not None) and route not in UNLOGGED_ROUTES:
                    line: dict[str, Any] = {
                        "time": _now(),
                        "level": "error" if status >= 500 or isinstance(failure, Exception) else "info",
                        "event": "request",
                        "requestId": request_id,
                        "method": method,
                        "route": route,
                        "status": status or None,
                        "milliseconds": round((perf_counter() - began) * 1000, 3),
                        "bytes": sent,
                        "worker": os.getpid(),
                    }
                    if isinstance(failure, Exception):
                        line["error"] = described(failure)
                    self._write(_encode(line) + b"\n")

        return logged


async def _answer_broken(send: Send, request_id: str) -> None:
    """For what even the application's own answer to a failure failed at."""
    body = BROKEN % request_id.encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


# --- what the rest of the process has to say -------------------------------------------------------------------------


@contextmanager
def logging_in_lines(settings: Settings, write: Writer = write_line) -> Iterator[None]:
    """Meanwhile everything that this process logs, whoever's it is, becomes such lines."""
    every = settings.log == "requests"
    root = logging.getLogger()
    levels = {
        root: logging.WARNING,
        logging.getLogger(OURS): logging.INFO if every else logging.WARNING,
        # What a stranger sends that is no HTTP is no problem of ours.
        logging.getLogger("uvicorn.error"): logging.WARNING if every else logging.ERROR,
    }
    handlers, before = root.handlers[:], {logger: logger.level for logger in levels}
    root.handlers[:] = [JsonLines(write)]
    for logger, level in levels.items():
        logger.setLevel(level)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        for logger, level in before.items():
            logger.setLevel(level)


def log_what_nobody_awaited(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The event loop's own report of a failure: its usual text shows arguments and results."""
    error = context.get("exception")
    logging.getLogger("potluck.loop").error("a failure that nobody awaited", exc_info=error)


class JsonLines(logging.Handler):
    """Writes log records as JSON lines."""

    def __init__(self, write: Writer = write_line) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(_encode(_line(record)) + b"\n")
        except Exception:
            # Not the standard handler's complaint, which would print the record's arguments.
            self._write(b'{"level":"error","event":"log","message":"a record could not be written"}\n')


def _line(record: logging.LogRecord) -> dict[str, Any]:
    line: dict[str, Any] = {
        "time": _now(record.created),
        "level": record.levelname.lower(),
        "event": "log",
        "logger": record.name,
        "worker": record.process,
    }
    message = _message(record)
    if message:
        line["message"] = message
    else:
        line["at"] = f"{_place(record.pathname)}:{record.lineno}"
    request_id = getattr(record, "request_id", None) or current_request.get()
    if request_id:
        line["requestId"] = request_id
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        line["error"] = described(error)
    return line


def _message(record: logging.LogRecord) -> str:
    if not isinstance(record.msg, str):
        return type(record.msg).__qualname__ if isinstance(record.msg, BaseException) else ""
    if record.name.partition(".")[0] == OURS:
        return _our_words(record.msg, record.args)[:LONGEST_MESSAGE]
    # With arguments the text is a fixed template; without, somebody may have put values into it already.
    if record.args or record.name in FIXED_SENTENCES:
        return record.msg.partition("\n")[0][:LONGEST_MESSAGE]
    return ""


def _our_words(text: str, arguments: Any) -> str:
    """Our own message with its arguments, but of an exception only the kind."""
    if not arguments:
        return text
    given = arguments if isinstance(arguments, tuple) else (arguments,)
    try:
        return text % tuple(_Kind(each) if isinstance(each, BaseException) else each for each in given)
    except (TypeError, ValueError):
        return text


class _Kind:
    """Stands for an exception where its text must not."""

    def __init__(self, error: BaseException) -> None:
        self._name = type(error).__qualname__

    def __str__(self) -> str:
        return self._name

    __repr__ = __str__


# --- exceptions ------------------------------------------------------------------------------------------------------


def described(error: BaseException, causes: int = CAUSES) -> dict[str, Any]:
    """What kind of exception it is and which way it came, without a word of its text.

    A class whose texts are made of nothing but our own words may say so by `safe_to_log = True` in its own body; a
    class derived from it has to say it again.
    """
    kind = type(error)
    told: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__qualname__}"}
    if kind.__dict__.get("safe_to_log") is True:
        told["message"] = str(error)[:LONGEST_MESSAGE]
    code = _code(error)
    if code is not None:
        told["code"] = code
    told["frames"] = [
        f"{_place(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}"
        for frame, line in list(traceback.walk_tb(error.__traceback__))[-FRAMES:]
    ]
    if causes and isinstance(error, BaseExceptionGroup):
        told["exceptions"] = [described(each, causes - 1) for each in error.exceptions[:CAUSES]]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if causes and cause is not None:
        told["cause"] = described(cause, causes - 1)
    return told


def _code(error: BaseException) -> str | None:
    """What the service or the system calls it: a word from a fixed list."""
    if isinstance(error, DynamoError):
        return error.code if error.code.isidentifier() and len(error.code) <= LONGEST_CODE else None
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno)
    return None


# Frames name files as one finds them in the source, not where this machine keeps them.
_ROOTS = sorted(
    {str(Path(__file__).parents[3]), str(Path(os.__file__).parent), *(path for path in sys.path if path)},
    key=len,
    reverse=True,
)


def _place(file: str) -> str:
    for root in _ROOTS:
        if file.startswith(root + os.sep):
            return file[len(root) + 1 :]
    return os.path.basename(file)


def _now(timestamp: float | None = None) -> str:
    now = datetime.now(UTC) if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    return now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
