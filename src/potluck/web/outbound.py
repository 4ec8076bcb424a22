"""Requests to other hosts: bounded in size and time, and never into a private network.

A name is resolved once, all its addresses are checked, and the connection is made to one of those: so DNS rebinding
gains nothing. Each redirect is checked in the same way.
"""

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

__all__ = ["BadAddress", "Fetched", "Outbound", "Unreachable", "is_public", "must_be_public"]

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Iterable[str]]

SECONDS = 10.0
AT_ONCE = 4
MOST_REDIRECTS = 3
CHUNK = 64 * 1024
PORTS = {"http": 80, "https": 443}
REDIRECTS = {301, 302, 303, 307, 308}
# Names of local networks; a name without a dot is one, too.
AT_HOME = ("localhost", ".localhost", ".local", ".internal", ".home.arpa", ".lan", ".onion")
HOST = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
# Of IPv6, what is given out to anybody. It leaves out the addresses by which a gateway leads to an IPv4 one, and those
# that were once for sites.
GIVEN_OUT = ip_network("2000::/3")
# Of IPv4, what is for the machinery of networks; not every Python knows it.
OF_NETWORKS = (ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"))
# Lower ports belong to services that speak other protocols, and might act on what an HTTP request says.
FIRST_FREE_PORT = 1024


class BadAddress(ValueError):
    """Why nothing is fetched from an address, for whoever gave it."""


class Unreachable(Exception):
    """The other host does not answer, or too late, or with too much."""


@dataclass(frozen=True, slots=True)
class Fetched:
    status: int
    media_type: str
    body: bytes


def is_public(address: Address) -> bool:
    """Whether an address is on the public Internet: no private network, local machine or cloud metadata service."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        inside = [address.sixtofour, *(address.teredo or ())]
        if address not in GIVEN_OUT or any(each is not None and not is_public(each) for each in inside):
            return False
    elif any(address in each for each in OF_NETWORKS):
        return False
    return address.is_global and not address.is_multicast


def must_be_public(url: str) -> SplitResult:
    """The parts of a URL; BadAddress if its text alone shows that it is not on the public web."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadAddress("This is no address") from None
    if parts.scheme not in PORTS or not host:
        raise BadAddress("The address must begin with http:// or https://")
    if port is not None and port not in PORTS.values() and port < FIRST_FREE_PORT:
        raise BadAddress("The address must not name a port of something else than the web")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("The address must not have a name or a password in it")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress("The address must be written with letters, digits and signs of ASCII")
    try:
        literal = ip_address(host)
    except ValueError:
        if not HOST.fullmatch(host) or host.endswith(AT_HOME):
            raise BadAddress("The address must be one of the Internet, not of a private network") from None
    else:
        if not is_public(literal):
            raise BadAddress("The address must be one of the Internet, not of a private network")
    return parts


def _resolved(host: str, port: int) -> Iterable[str]:
    return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


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
        async with self._slots:
            return await asyncio.to_thread(self._get, url, most_bytes, accept, checked)

    def _get(self, url: str, most_bytes: int, accept: str, checked: bool) -> Fetched:
        deadline = time.monotonic() + self._seconds
        for _ in range(MOST_REDIRECTS + 1):
            parts = must_be_public(url) if checked else urlsplit(url)
            assert parts.hostname is not None
            port = parts.port or PORTS[parts.scheme]
            try:
                address = self._address(parts.hostname, port, checked)
                found = self._one(parts, port, address, most_bytes, accept, deadline)
            except (OSError, HTTPException, UnicodeError) as error:
                raise Unreachable(f"{parts.hostname} does not answer: {error!r}") from error
            if isinstance(found, Fetched):
                return found
            url = urljoin(url, found)
            checked = checked or urlsplit(url).netloc != parts.netloc
        raise Unreachable("it leads from one address to the next")

    def _address(self, host: str, port: int, checked: bool) -> str:
        found = [each.partition("%")[0] for each in self._resolve(host, port)]
        if not found:
            raise Unreachable(f"{host} has no address")
        if checked and not all(self._permits(ip_address(each)) for each in found):
            raise BadAddress("The address must be one of the Internet, not of a private network")
        return found[0]

    def _one(
        self, parts: SplitResult, port: int, address: str, most_bytes: int, accept: str, deadline: float
    ) -> Fetched | str:
        """The response, or the target of its redirect."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        kind = _Tls if parts.scheme == "https" else _Plain
        connection = kind(str(parts.hostname), port, address, left)
        # The timeout applies to each read; a response that trickles in byte by byte is ended by this timer.
        watch = threading.Timer(left, _shut, (connection,))
        watch.daemon = True
        watch.start()
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "Potluck", "Connection": "close"}
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            if answer.status in REDIRECTS and (target := answer.headers.get("location")):
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


class _Plain(HTTPConnection):
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


def _shut(connection: _Plain | _Tls) -> None:
    # Not `sock`, which the connection gives away with a response that ends when it is closed.
    if connection.opened is not None:
        with suppress(OSError):
            connection.opened.shutdown(socket.SHUT_RDWR)
