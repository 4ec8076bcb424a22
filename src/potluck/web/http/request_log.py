"""The log: one JSON line for each request and each failure, without secrets or anything people wrote.

A line has the route, never the path: an id in a path may be a secret. It has an exception's type and traceback, never
its text, which may quote user input. Of other libraries' messages only the fixed template is kept.
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

from potluck.connections.asgi_extension import WHOLE
from potluck.engines import DynamoError
from potluck.metrics import REQUEST_SECONDS
from potluck.settings import Settings
from potluck.states import lasting

if TYPE_CHECKING:
    # Only for type checking: the parent of the workers does not import the framework.
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Writer = Callable[[bytes], None]

HTTP = "http"
REQUEST_ID_BYTES = 16
REQUEST_ID_LETTERS = 2 * REQUEST_ID_BYTES
IDS_AT_ONCE = 128
UNLOGGED_ROUTES = frozenset({"/livez", "/readyz"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})

BEGINNING = frozenset({"http.response.start", WHOLE})
WITH_CONTENT = frozenset({"http.response.body", WHOLE})

# More of a traceback, or of a chain of causes, adds nothing.
FRAMES = 40
CAUSES = 5
LONGEST_MESSAGE = 500
LONGEST_CODE = 60
# As a label of a metric, for the status of a request whose client was gone before it had one.
GONE = "gone"
# Made once: turning a number into a text takes a third of the time that counting a request does.
STATUS = {status: str(status) for status in range(100, 600)}

OURS = "potluck"
# Messages without arguments are known to be fixed sentences in these loggers only.
FIXED_SENTENCES = frozenset({"uvicorn.error"})

BROKEN = b'{"type":"/problems/broken","title":"Internal Server Error","status":500,"requestId":"%s"}'

current_request: ContextVar[str | None] = ContextVar("current_request", default=None)
_encode = msgspec.json.Encoder().encode
_request_ids: list[str] = []


def new_request_id() -> str:
    """128 random bits; a client cannot choose it."""
    if not _request_ids:
        # Many at once: the system call takes longer than everything else here.
        text = os.urandom(REQUEST_ID_BYTES * IDS_AT_ONCE).hex()
        _request_ids.extend(text[at : at + REQUEST_ID_LETTERS] for at in range(0, len(text), REQUEST_ID_LETTERS))
    return _request_ids.pop()


def write_line(line: bytes) -> None:
    """One write, so that lines of several workers do not mix; a closed log fails no request."""
    with suppress(OSError):
        os.write(2, line)


class ClientGone(BaseException):
    """The client disconnected before it had sent everything. Not an Exception: nothing failed, and no one waits."""


class RequestLog:
    """Middleware that gives each request an id, and writes its line when the response has ended."""

    def __init__(
        self, settings: Settings, write: Writer = write_line, headers: Callable[[Any, str], list[Any]] | None = None
    ) -> None:
        """`headers` gets a response's own headers and the path, and adds those that every response has."""
        self._every = settings.log == "requests"
        self._write = write
        self._headers = headers or (lambda own, path: [*own])

    def __call__(self, app: ASGIApp) -> ASGIApp:
        """The application, wrapped."""

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
            began = perf_counter()
            status = 0
            sent = 0

            async def sending(message: Message) -> None:
                nonlocal status, sent
                kind = message["type"]
                if kind in WITH_CONTENT:
                    sent += len(message.get("body", b""))
                if kind in BEGINNING:
                    status = message["status"]
                    labels = method, scope.get("path_template", ""), STATUS[status]
                    REQUEST_SECONDS.observe(perf_counter() - began, labels)
                    headers = self._headers(message.get("headers", ()), scope["path"])
                    headers.append((b"x-request-id", request_id.encode()))
                    message["headers"] = headers
                await send(message)

            async def receiving() -> Message:
                message = await receive()
                if message["type"] == "http.disconnect" and not status:
                    raise ClientGone
                return message

            failure: BaseException | None = None
            try:
                # Without a body to read, a disconnect is the application's business: an event stream waits for it.
                await app(scope, receiving if method in WITH_BODY else receive, sending)
            except ClientGone:
                pass
            except Exception as error:
                failure = error
                if status:
                    # The response has begun and is cut off here; the server closes the connection.
                    raise
                await _answer_broken(sending, request_id)
            except BaseException as ended:
                failure = ended
                raise
            finally:
                if not status:
                    REQUEST_SECONDS.observe(perf_counter() - began, (method, scope.get("path_template", ""), GONE))
                if self._every or failure is not None or (status >= 500 and not is_explained(status)):
                    self._write_line(request_id, method, scope.get("path_template"), status, sent, began, failure)

        return logged

    def answered(self, request_id: str, method: str, route: str, status: int, sent: int, began: float) -> None:
        """Count a request that was answered without calling the application, and write its line."""
        REQUEST_SECONDS.observe(perf_counter() - began, (method, route, STATUS[status]))
        if self._every:
            self._write_line(request_id, method, route, status, sent, began)

    def _write_line(
        self,
        request_id: str,
        method: str,
        route: str | None,
        status: int,
        sent: int,
        began: float,
        failure: BaseException | None = None,
    ) -> None:
        if route in UNLOGGED_ROUTES:
            return
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


def is_explained(status: int) -> bool:
    """Whether a state explains this status, which has lines of its own: one for each request would only repeat it."""
    return status in (500, 503) and any(state.refuses for state in lasting())


async def _answer_broken(send: Send, request_id: str) -> None:
    """The response when even the application's error handling failed."""
    body = BROKEN % request_id.encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


# --- everything else that is logged ----------------------------------------------------------------------------------


@contextmanager
def logging_in_lines(settings: Settings, write: Writer = write_line) -> Iterator[None]:
    """While it lasts, everything this process logs, by any library, is written as JSON lines."""
    every = settings.log == "requests"
    root = logging.getLogger()
    levels = {
        root: logging.WARNING,
        logging.getLogger(OURS): logging.INFO if every else logging.WARNING,
        # Requests that are not HTTP at all are no problem of ours.
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


def log_unhandled_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Replaces the event loop's exception handler, whose text shows arguments and results."""
    error = context.get("exception")
    logging.getLogger("potluck.loop").error("an unhandled exception in a task", exc_info=error)


class JsonLines(logging.Handler):
    """Writes log records as JSON lines."""

    def __init__(self, write: Writer = write_line) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(_encode(_line(record)) + b"\n")
        except Exception:
            # Not logging's own handleError, which would print the record's arguments.
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
    state = getattr(record, "state", None)
    if state is not None:
        line["state"] = state
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
    # With arguments the text is a fixed template; without, values may be part of it already.
    if record.args or record.name in FIXED_SENTENCES:
        return record.msg.partition("\n")[0][:LONGEST_MESSAGE]
    return ""


def _our_words(text: str, arguments: Any) -> str:
    """Our own message with its arguments; an exception among them is reduced to its type."""
    if not arguments:
        return text
    values = arguments if isinstance(arguments, tuple) else (arguments,)
    try:
        return text % tuple(_Kind(value) if isinstance(value, BaseException) else value for value in values)
    except (TypeError, ValueError):
        return text


class _Kind:
    """Formats an exception as its type's name."""

    def __init__(self, error: BaseException) -> None:
        self._name = type(error).__qualname__

    def __str__(self) -> str:
        return self._name

    __repr__ = __str__


# --- exceptions ------------------------------------------------------------------------------------------------------


def described(error: BaseException, causes: int = CAUSES) -> dict[str, Any]:
    """The exception's type and traceback, without its text.

    A class whose texts contain nothing but our own words may set `safe_to_log = True` in its own body; a subclass has
    to set it again.
    """
    kind = type(error)
    description: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__qualname__}"}
    if kind.__dict__.get("safe_to_log") is True:
        description["message"] = str(error)[:LONGEST_MESSAGE]
    code = _code(error)
    if code is not None:
        description["code"] = code
    description["frames"] = [
        f"{_place(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}"
        for frame, line in list(traceback.walk_tb(error.__traceback__))[-FRAMES:]
    ]
    if causes and isinstance(error, BaseExceptionGroup):
        description["exceptions"] = [described(member, causes - 1) for member in error.exceptions[:CAUSES]]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if causes and cause is not None:
        description["cause"] = described(cause, causes - 1)
    return description


def _code(error: BaseException) -> str | None:
    """The error code of DynamoDB or of the system: a word from a fixed list."""
    if isinstance(error, DynamoError):
        return error.code if error.code.isidentifier() and len(error.code) <= LONGEST_CODE else None
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno)
    return None


# Frames name files relative to the source or the library, not by where they are on this machine.
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
