"""Addresses on the public web: what a URL must look like before anything is fetched from it."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
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
