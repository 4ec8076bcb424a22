"""Who sent a request: what a proxy says counts only if it is one of ours, and nothing that a client writes counts."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.settings import Settings
from potluck.web.http.clients import UNKNOWN, Clients, client_named

PROXY = "10.0.0.1"
BEHIND = Clients(proxies=(ip_network("10.0.0.0/8"), ip_network("fd00::/8")))
ALONE = Clients()


def scope(peer=("203.0.113.9", 5000), scheme="http", server=("127.0.0.1", 8000), **headers):
    return {
        "type": "http",
        "client": peer,
        "scheme": scheme,
        "server": server,
        "headers": [
            (name.replace("_", "-").encode(), value.encode("latin-1"))
            for name, values in headers.items()
            for value in (values if isinstance(values, list) else [values])
        ],
    }


def forwarded(*values, peer=(PROXY, 5000)):
    return scope(peer, x_forwarded_for=list(values))


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        (("203.0.113.9", 5000), "203.0.113.9"),
        (("::ffff:203.0.113.9", 5000), "203.0.113.9"),
        (("2001:db8:1:2:3:4:5:6", 5000), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff::", 5000), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 5000), "fe80::/64"),
        (None, UNKNOWN),
        (("", 0), UNKNOWN),
        (("/run/potluck.sock", None), UNKNOWN),
    ],
)
def test_a_client_is_its_ipv4_address_or_its_ipv6_network(peer, client):
    assert ALONE.client_of(scope(peer)) == client


@pytest.mark.parametrize(
    ("said", "client"),
    [
        (["198.51.100.7"], "198.51.100.7"),
        (["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
        (["1.1.1.1", "198.51.100.7"], "198.51.100.7"),
        (["198.51.100.7, 10.9.9.9"], "198.51.100.7"),
        (["198.51.100.7, fd00::5, 10.9.9.9"], "198.51.100.7"),
        (["198.51.100.7:4711"], "198.51.100.7"),
        (["[2001:db8::7]:4711"], "2001:db8::/64"),
        (["2001:db8::7"], "2001:db8::/64"),
        (["10.2.2.2, 10.9.9.9"], "10.2.2.2"),
        (["unknown"], PROXY),
        (["198.51.100.7, nonsense"], PROXY),
        ([""], PROXY),
        ([], PROXY),
    ],
)
def test_behind_a_proxy_it_is_the_right_most_address_that_is_no_proxy(said, client):
    assert BEHIND.client_of(forwarded(*said)) == client


addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)
anything = st.lists(st.one_of(addresses, st.sampled_from([PROXY, "fd00::1"]), st.text(max_size=20)), max_size=6).map(
    lambda parts: ", ".join(parts).encode("latin-1", "replace").decode("latin-1")
)


def is_proxy(text):
    address = ip_address(text)
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in BEHIND.proxies)


@given(peer=addresses.filter(lambda text: not is_proxy(text)), forged=st.lists(anything, max_size=3))
def test_nothing_that_a_stranger_forwards_changes_anything(peer, forged):
    plain = scope((peer, 5000), host="potluck.example")
    told = scope(
        (peer, 5000),
        host="potluck.example",
        x_forwarded_for=forged,
        x_forwarded_proto=["https"],
        x_forwarded_host=["evil.example"],
    )
    for clients in (BEHIND, ALONE):
        assert clients.client_of(told) == clients.client_of(plain)
        assert clients.scheme_of(told) == "http"
        assert clients.origin_of(told) == "http://potluck.example"


@given(real=addresses.filter(lambda text: not is_proxy(text)), forged=st.lists(anything, max_size=3))
def test_what_a_client_sends_to_our_proxy_does_not_change_who_it_is(real, forged):
    assert BEHIND.client_of(forwarded(*forged, real)) == BEHIND.client_of(scope((real, 5000)))
    joined = ", ".join([*forged, real])
    assert BEHIND.client_of(forwarded(joined)) == BEHIND.client_of(scope((real, 5000)))


@given(address=st.ip_addresses(v=6), other=st.integers(0, 2**64 - 1))
def test_all_of_a_network_is_one_client(address, other):
    neighbour = IPv6Address((int(address) >> 64 << 64) | other)
    assert client_named(address) == client_named(neighbour)
    assert client_named(address) != client_named(IPv6Address(int(address) ^ (1 << 64)))
    assert client_named(IPv4Address(0)) == "0.0.0.0"


def test_a_proxy_says_by_which_address_it_was_reached():
    told = scope((PROXY, 5000), host="backend:8000", x_forwarded_proto="https", x_forwarded_host="Potluck.Example:443")
    assert BEHIND.scheme_of(told) == "https"
    assert BEHIND.origin_of(told) == "https://potluck.example"
    # The nearest proxy adds on the right.
    added = scope((PROXY, 5000), x_forwarded_proto="https, http", x_forwarded_host="evil.example, potluck.example")
    assert BEHIND.origin_of(added) == "http://potluck.example"


@pytest.mark.parametrize("nonsense", ["", "a b", "x/../y", "a@b", "[::1", "evil.example\r\nx: y", "ä.example"])
def test_what_is_no_host_is_passed_over(nonsense):
    assert ALONE.origin_of(scope(host=nonsense)) == "http://127.0.0.1:8000"
    told = scope((PROXY, 5000), host="potluck.example", x_forwarded_host=nonsense, x_forwarded_proto="gopher")
    assert BEHIND.origin_of(told) == "http://potluck.example"


def test_without_any_proxy_it_goes_by_the_request():
    assert ALONE.origin_of(scope(host="Localhost:8000")) == "http://localhost:8000"
    assert ALONE.origin_of(scope(host="potluck.example:443", scheme="https")) == "https://potluck.example"
    assert ALONE.origin_of(scope(server=("::1", 80))) == "http://[::1]"
    assert ALONE.origin_of(scope(server=None)) == "http://localhost"


def test_an_origin_that_is_set_has_the_last_word():
    clients = Clients.of(Settings(origin="https://potluck.example"))
    for told in (scope(host="evil.example"), scope((PROXY, 1), x_forwarded_host="evil.example")):
        assert clients.origin_of(told) == "https://potluck.example"
        assert clients.scheme_of(told) == "https"


def test_connections_are_counted_by_client_and_those_of_a_proxy_are_everybodys():
    clients = Clients(proxies=(ip_network("10.0.0.0/8"),))
    assert clients.behind_connection(("192.0.2.1", 1234)) == "192.0.2.1"
    assert clients.behind_connection(("2001:db8::5", 1234)) == "2001:db8::/64"
    assert clients.behind_connection(("10.1.2.3", 1234)) is None
    assert clients.behind_connection(None) == "unknown"


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8000", "8.8.8.8", "[2600::1]:80", "127.0.0.1.evil.example"),
        *("local.evil.example", "134744072", "134744072:8000", "0x8080808", "0X8080808"),
    ],
)
def test_links_never_begin_with_a_public_host_that_a_request_merely_claims(host):
    assert ALONE.link_origin_of(scope(host=host)) == "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8000",
        "127.0.0.1:8000",
        "192.168.1.5:8000",
        "[fd00::1]:8000",
        "nas",
        "nas2",
        "nas.local:8000",
        "a.home.arpa",
    ],
)
def test_links_begin_with_the_name_that_is_used_in_a_private_network(host):
    assert ALONE.link_origin_of(scope(host=host)) == f"http://{host}"


def test_links_begin_with_what_the_operator_or_their_proxy_says():
    clients = Clients.of(Settings(origin="https://potluck.example"))
    assert clients.link_origin_of(scope(host="evil.example")) == "https://potluck.example"
    told = scope((PROXY, 5000), host="evil.example", x_forwarded_host="potluck.example")
    assert BEHIND.link_origin_of(told) == "http://potluck.example"
    for nonsense in (scope((PROXY, 5000), host="evil.example", x_forwarded_host="a b"), scope(host="evil.example")):
        assert BEHIND.link_origin_of(nonsense) == "http://127.0.0.1:8000"
