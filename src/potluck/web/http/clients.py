"""The client behind a request, and the origin it used; only proxies that the operator names are trusted."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from potluck.setting_types import DEFAULT_PORTS, Network, origin_named
from potluck.settings import Settings

log = logging.getLogger(__name__)

Address = IPv4Address | IPv6Address
Scope = Mapping[str, Any]
"""An ASGI scope, which is only read here."""
Peer = tuple[str, int | None]
"""The other end of a connection: an address and a port."""

UNKNOWN = "unknown"
# One subscriber gets a /64, and can switch between its addresses at will.
IPV6_CLIENT_BITS = 64
NO_HOST = "localhost"
# Origins on this machine, which browsers trust as they trust https.
LOCAL = re.compile(r"http://(?:(?:[^:/]+\.)?localhost|127(?:\.[0-9]+){3}|\[::1\])(?::[0-9]+)?")
# Names without a dot, and under the domains that are reserved for local networks. A number is no name: browsers take it
# for an IPv4 address, 134744072 and 0x8080808 for 8.8.8.8.
NEARBY = re.compile(
    r"https?://(?:(?!(?:[0-9]+|0x[0-9a-f]*)(?::|$))[^.:/\[\]]+|[^:/\[\]]+\.(?:localhost|local|lan|internal|home\.arpa|home|test))(?::[0-9]+)?"
)


@dataclass(frozen=True, slots=True)
class Clients:
    """Finds a request's client and origin, trusting the proxies that the operator named."""

    proxies: tuple[Network, ...] = ()
    origin: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Clients":
        return cls(settings.proxies, settings.origin)

    def client_of(self, scope: Scope) -> str:
        """The key that attempts are counted under: an IPv4 address, the /64 of an IPv6 address, or "unknown"."""
        peer = _peer(scope)
        if not self._trusted(peer):
            _note_unknown_proxy(peer, scope)
            return client_named(peer)
        return client_named(client_seen(peer, header_values(scope, b"x-forwarded-for"), self.proxies))

    def behind_connection(self, peer: Peer | None) -> str | None:
        """The key that a connection is counted under; None for a proxy, which has the requests of many clients."""
        address = _address(peer[0]) if peer else None
        return None if self._trusted(address) else client_named(address)

    def scheme_of(self, scope: Scope) -> str:
        """http or https, as the browser sees it."""
        if self.origin is not None:
            return self.origin.partition("://")[0]
        forwarded = self._forwarded(scope, b"x-forwarded-proto").lower()
        return forwarded if forwarded in DEFAULT_PORTS else _scheme(scope)

    def origin_of(self, scope: Scope) -> str:
        """Such as https://potluck.example: what an Origin header must equal."""
        if self.origin is not None:
            return self.origin
        scheme = self.scheme_of(scope)
        for host in (self._forwarded(scope, b"x-forwarded-host"), *header_values(scope, b"host")):
            origin = origin_named(scheme, host)
            if origin is not None:
                return origin
        return self._reached_at(scope)

    def link_origin_of(self, scope: Scope) -> str:
        """What links begin with that people pass on. Host is only believed where it cannot lead to a stranger's site:
        if it is the address that was reached, one in a private network, or a name that no public server has."""
        if self.origin is not None:
            return self.origin
        forwarded = origin_named(self.scheme_of(scope), self._forwarded(scope, b"x-forwarded-host"))
        if forwarded is not None:
            return forwarded
        origin, reached = self.origin_of(scope), self._reached_at(scope)
        return origin if origin == reached or NEARBY.fullmatch(origin) or _is_private(origin) else reached

    def _reached_at(self, scope: Scope) -> str:
        """The address of this end of the connection."""
        scheme = self.scheme_of(scope)
        server = scope.get("server")
        if server is None or server[1] is None:
            return f"{scheme}://{NO_HOST}"
        name = f"[{server[0]}]" if ":" in server[0] else server[0]
        return origin_named(scheme, f"{name}:{server[1]}") or f"{scheme}://{NO_HOST}"

    def _forwarded(self, scope: Scope, header: bytes) -> str:
        """What the nearest proxy says, the last value in the header; empty if it is not trusted."""
        if not self.proxies:
            return ""
        values = header_values(scope, header)
        return _last(values) if values and self._trusted(_peer(scope)) else ""

    def _trusted(self, address: Address | None) -> bool:
        return address is not None and _among(address, self.proxies)


_noted: set[Address] = set()
"""The one address that may be a proxy that the settings do not name; more lines would be of no use."""


def _note_unknown_proxy(peer: Address | None, scope: Scope) -> None:
    """Log once that requests came through what may be the operator's own proxy, so that all people are one client.

    Only for an address nearby: anyone can send the header.
    """
    if _noted or peer is None or not peer.is_private or header_value(scope, b"x-forwarded-for") is None:
        return
    _noted.add(peer)
    log.warning(
        "requests from %s are forwarded (X-Forwarded-For), and POTLUCK_PROXIES does not name it: if it is your "
        "proxy, set POTLUCK_PROXIES=%s. Until then all people behind it count as one client and share its rate limits",
        peer,
        peer,
    )


def client_seen(peer: Address | None, forwarded: Sequence[str], proxies: Sequence[Network]) -> Address | None:
    """Behind proxies, the right-most forwarded address that is not a proxy.

    Each proxy appends on the right what it saw; anything further to the left may have been made up by the client.
    """
    nearest = peer
    for text in reversed(",".join(forwarded).split(",")):
        if nearest is None or not _among(nearest, proxies):
            return nearest
        before = _address(text)
        if before is None:
            return nearest
        nearest = before
    return nearest


def client_named(address: Address | None) -> str:
    """The key that a client's attempts are counted under."""
    if address is None:
        return UNKNOWN
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((address.packed, IPV6_CLIENT_BITS), strict=False))


def _address(text: str) -> Address | None:
    """An address, also with a port or in brackets as some proxies write it; IPv4 mapped to IPv6 becomes IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        # Without the zone of a link-local address, which means something on this machine only.
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _is_private(origin: str) -> bool:
    """Whether the origin is an address in a private network, or of this machine."""
    address = _address(origin.partition("://")[2])
    return address is not None and address.is_private and not address.is_unspecified


def _among(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _peer(scope: Scope) -> Address | None:
    client = scope.get("client")
    return _address(client[0]) if client else None


def _scheme(scope: Scope) -> str:
    scheme = str(scope.get("scheme", "http"))
    return scheme if scheme in DEFAULT_PORTS else "http"


def header_values(scope: Scope, header: bytes) -> list[str]:
    """All values of a header; in latin-1, which can decode any byte."""
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def header_value(scope: Scope, header: bytes) -> str | None:
    """The first value of a header; None without it."""
    for name, value in scope["headers"]:
        if name == header:
            return str(value, "latin-1")
    return None


def _last(values: Sequence[str]) -> str:
    return values[-1].rpartition(",")[2].strip() if values else ""


def lacks_https(origin: str) -> bool:
    """Whether browsers deny this origin offline storage, because it is not a secure context."""
    return not origin.startswith("https://") and LOCAL.fullmatch(origin) is None
