"""Addresses on the public web: which URLs may be fetched."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
# Names on local networks, like every name without a dot.
LOCAL_NAMES = ("localhost", ".localhost", ".local", ".internal", ".home.arpa", ".lan", ".onion")
HOST = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
# The global unicast addresses of IPv6, without those that a gateway translates to IPv4, and the former site-local ones.
GLOBAL_IPV6 = ip_network("2000::/3")
# Reserved for network infrastructure; older Pythons call them global.
INFRASTRUCTURE_IPV4 = (ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"))
# Lower ports belong to other protocols, whose servers might act on the text of an HTTP request.
FIRST_FREE_PORT = 1024


class BadAddress(ConnectionError):
    """Why a URL is not fetched; shown to the person who entered it."""


def is_public(address: Address) -> bool:
    """Whether an address is on the public Internet: no private network, local machine or cloud metadata service."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        inside = [address.sixtofour, *(address.teredo or ())]
        if address not in GLOBAL_IPV6 or any(embedded is not None and not is_public(embedded) for embedded in inside):
            return False
    elif any(address in network for network in INFRASTRUCTURE_IPV4):
        return False
    return address.is_global and not address.is_multicast


def must_be_public(url: str) -> SplitResult:
    """The parts of a URL; BadAddress if its text alone shows that it is not on the public web."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadAddress("This is not an address") from None
    if parts.scheme not in PORTS or not host:
        raise BadAddress("The address must begin with http:// or https://")
    if port is not None and port not in PORTS.values() and port < FIRST_FREE_PORT:
        raise BadAddress("The address must not use a port of another protocol")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("The address must not contain a user name or password")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress("The address must contain only ASCII letters, digits and punctuation")
    try:
        literal = ip_address(host)
    except ValueError:
        if not HOST.fullmatch(host) or host.endswith(LOCAL_NAMES):
            raise BadAddress("The address must be on the Internet, not in a private network") from None
    else:
        if not is_public(literal):
            raise BadAddress("The address must be on the Internet, not in a private network")
    return parts
