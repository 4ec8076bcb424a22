"""Requests to other hosts: bounded in size and time, and never into a private network.

A name is resolved once, all its addresses are checked, and the connection is made to one of those: so DNS rebinding
gains nothing. Each redirect is checked in the same way.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import SplitResult, urljoin, urlsplit

from potluck.validation.public_addresses import PORTS, Address, BadAddress, is_public, must_be_public

Resolve = Callable[[str, int], Iterable[str]]

SECONDS = 10.0
AT_ONCE = 4
MOST_REDIRECTS = 3
CHUNK = 64 * 1024
OWN_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "Potluck", "Connection": "close"}
REDIRECTS = {301, 302, 303, 307, 308}


class Unreachable(ConnectionError):
    """The other host does not answer, or too late, or with too much."""


@dataclass(frozen=True, slots=True)
class Fetched:
    status: int
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class _Request:
    method: Literal["GET", "POST"]
    headers: Mapping[str, str]
    body: bytes | None = None
    follows: bool = False
    """Whether redirects are followed."""


def _resolved(host: str, port: int) -> Iterable[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Outbound:
    """Fetches from other hosts, a few at once, each in a thread."""

    def __init__(
        self,
        *,
        permits: Callable[[Address], bool] = is_public,
        resolve: Resolve = _resolved,
        seconds: float = SECONDS,
        at_once: int = AT_ONCE,
    ) -> None:
        self._permits = permits
        self._resolve = resolve
        self._seconds = seconds
        self._slots = asyncio.Semaphore(at_once)

    async def get(self, url: str, most_bytes: int, *, accept: str = "*/*", checked: bool = True) -> Fetched:
        """Fetch a URL. BadAddress if it leads into a private network; Unreachable if it cannot be fetched.

        `checked=False` is for a URL that the operator chose, which may be in a private network; a redirect from it
        may lead there only on the same host.
        """
        request = _Request("GET", {"Accept": accept}, follows=True)
        async with self._slots:
            return await asyncio.to_thread(self._fetch, request, url, most_bytes, checked)

    async def send(
        self,
        url: str,
        most_bytes: int,
        *,
        method: Literal["GET", "POST"] = "GET",
        headers: Mapping[str, str],
        body: bytes | None = None,
        checked: bool = True,
    ) -> Fetched:
        """Send what another host must not get: these headers and this body. It is sent to this URL alone.

        A redirect is not followed, but is the response.
        """
        request = _Request(method, headers, body)
        async with self._slots:
            return await asyncio.to_thread(self._fetch, request, url, most_bytes, checked)

    def _fetch(self, request: _Request, url: str, most_bytes: int, checked: bool) -> Fetched:
        deadline = time.monotonic() + self._seconds
        for _ in range(MOST_REDIRECTS + 1):
            parts = must_be_public(url) if checked else urlsplit(url)
            assert parts.hostname is not None
            port = parts.port or PORTS[parts.scheme]
            try:
                address = self._address(parts.hostname, port, checked)
                result = self._one(parts, port, address, most_bytes, request, deadline)
            except (BadAddress, Unreachable):
                raise
            except (OSError, HTTPException, UnicodeError) as error:
                raise Unreachable(f"{parts.hostname} does not answer: {error!r}") from error
            if isinstance(result, Fetched):
                return result
            url = urljoin(url, result)
            checked = checked or urlsplit(url).netloc != parts.netloc
        raise Unreachable("it leads from one address to the next")

    def _address(self, host: str, port: int, checked: bool) -> str:
        addresses = [address.partition("%")[0] for address in self._resolve(host, port)]
        if not addresses:
            raise Unreachable(f"{host} has no address")
        if checked and not all(self._permits(ip_address(address)) for address in addresses):
            raise BadAddress("The address must be on the Internet, not in a private network")
        return addresses[0]

    def _one(
        self, parts: SplitResult, port: int, address: str, most_bytes: int, request: _Request, deadline: float
    ) -> Fetched | str:
        """The response, or the target of its redirect."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        kind = _Tls if parts.scheme == "https" else _PlainConnection
        connection = kind(str(parts.hostname), port, address, left)
        # The timeout applies to each read; a response that trickles in byte by byte is ended by this timer.
        watch = threading.Timer(left, _shut, (connection,))
        watch.daemon = True
        watch.start()
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(request.method, path, request.body, {**OWN_HEADERS, **request.headers})
            answer = connection.getresponse()
            if request.follows and answer.status in REDIRECTS and (target := answer.headers.get("location")):
                return target
            body = _body(answer, most_bytes)
            if time.monotonic() >= deadline:
                # Cut off by the timer, and not over.
                raise TimeoutError
            return Fetched(answer.status, answer.headers.get_content_type(), body)
        finally:
            watch.cancel()
            connection.close()


def _body(answer: HTTPResponse, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(CHUNK):
        size += len(part)
        if size > most_bytes:
            raise Unreachable(f"it has more than {most_bytes:,} bytes")
        parts.append(part)
    return b"".join(parts)


class _PlainConnection(HTTPConnection):
    """A connection to the address that was checked, whatever its name resolves to now."""

    def __init__(self, host: str, port: int, address: str, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self.opened: socket.socket | None = None

    def connect(self) -> None:
        self.sock = self.opened = socket.create_connection((self._address, self.port), self.timeout)


class _Tls(HTTPSConnection):
    def __init__(self, host: str, port: int, address: str, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self.opened: socket.socket | None = None

    def connect(self) -> None:
        plain = self.opened = socket.create_connection((self._address, self.port), self.timeout)
        context: Any = self._context  # type: ignore[attr-defined]
        self.sock = self.opened = context.wrap_socket(plain, server_hostname=self.host)


def _shut(connection: _PlainConnection | _Tls) -> None:
    # Not `sock`, which the connection gives away with a response that ends when it is closed.
    if connection.opened is not None:
        with suppress(OSError):
            connection.opened.shutdown(socket.SHUT_RDWR)
