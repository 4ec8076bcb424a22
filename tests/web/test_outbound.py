"""Requests to other hosts: never into a private network, whatever a name, a redirect or a resolver says."""

import asyncio
from ipaddress import ip_address

import pytest

from potluck.validation.public_addresses import BadAddress, is_public, must_be_public
from potluck.web.outbound import Outbound, Unreachable
from tests.elsewhere import Said, another_host
from tests.patience import PATIENCE_SECONDS


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::1",
    ],
)  # fmt: skip
def test_an_address_of_the_internet_is_public(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "2002:7f00:1::1", "2002:a00:1::", "64:ff9b::7f00:1", "2001:db8::1", "64:ff9b:1::7f00:1",
        "fec0::1", "::127.0.0.1", "5f00::1", "192.0.0.8", "192.88.99.1",
    ],
)  # fmt: skip
def test_an_address_of_somebody_s_own_network_is_not(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://covers.example/1.jpg", "file:///etc/passwd", "javascript:alert(1)", "covers.example/1.jpg", "", "http://",
        "http://localhost/1.jpg", "http://router/1.jpg", "http://nas.local/1.jpg", "http://metadata.google.internal/",
        "http://127.0.0.1/1.jpg", "http://[::1]/1.jpg", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest",
        "http://0x7f000001/", "http://2130706433/", "http://127.1/", "http://0177.0.0.1/", "http://10.0.0.1:80/",
        "http://user@covers.example/", "http://user:pw@covers.example/", "http://covers.example:99999/",
        "http://covers.example\\@127.0.0.1/", "http://cov ers.example/", "http://covers.example/\u00e9", "http://./",
        "http://covers.example\n.evil/", "https://exam_ple.onion/", "http://covers.example:25/", "http://8.8.8.8:0/",
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_refused_by_its_text(url):
    with pytest.raises(BadAddress):
        must_be_public(url)


@pytest.mark.parametrize(
    "url", ["http://covers.example/1.jpg", "https://covers.example:8443/a?b=c", "http://8.8.8.8/x", "http://a.b-c.de"]
)
def test_an_address_of_the_web_is_taken(url):
    assert must_be_public(url).scheme in ("http", "https")


def outbound(names, permitted=("127.0.0.1",), **options):
    """Names lead where it is said; besides the Internet, these addresses are permitted."""
    looked = []

    def resolve(host, port):
        looked.append(host)
        found = names[host]
        return found.pop(0) if isinstance(found[0], list) else found

    made = Outbound(
        permits=lambda each: is_public(each) or str(each) in permitted,
        resolve=resolve,
        **{"seconds": PATIENCE_SECONDS, **options},
    )
    return made, looked


async def test_what_is_there_is_fetched_by_the_address_that_was_looked_at():
    with another_host(lambda path: Said(b"hello", media_type="text/plain")) as host:
        # A name that leads inside the next time it is asked for: it is asked for once.
        out, looked = outbound({"covers.example": [["127.0.0.1"], ["10.0.0.1"]]})
        found = await out.get(host.address("/1.jpg?a=b", "covers.example"), 100)
        assert (found.status, found.media_type, found.body) == (200, "text/plain", b"hello")
        assert looked == ["covers.example"]
        assert host.asked == ["covers.example /1.jpg?a=b"]
        with pytest.raises(BadAddress):
            await out.get(host.address("/1.jpg", "covers.example"), 100)
        assert len(host.asked) == 1


@pytest.mark.parametrize("found", [["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"], ["fe80::1%eth0"]])
async def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(found):
    out, _ = outbound({"covers.example": found}, permitted=())
    with pytest.raises(BadAddress):
        await out.get("http://covers.example/1.jpg", 100)


@pytest.mark.parametrize(
    "target",
    [
        "http://inside.example/",
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "//localhost/",
        "file:///etc/passwd",
    ],
)
async def test_a_redirect_is_looked_at_like_the_first(target):
    with another_host(lambda path: Said(status=302, location=target)) as host:
        out, _ = outbound({"covers.example": ["127.0.0.1"], "inside.example": ["192.168.0.1"]})
        with pytest.raises(BadAddress):
            await out.get(host.address("/1.jpg", "covers.example"), 100)
        assert len(host.asked) == 1


@pytest.mark.parametrize("target", ["http://127.0.0.2/", "http://169.254.169.254/latest", "file:///etc/passwd"])
async def test_an_address_that_the_operator_chose_leads_to_no_other_at_home(target):
    with another_host(lambda path: Said(b"there") if path == "/2" else Said(status=302, location=target)) as host:
        out, _ = outbound({"127.0.0.1": ["127.0.0.1"], "127.0.0.2": ["127.0.0.2"]}, permitted=())
        with pytest.raises(BadAddress):
            await out.get(host.address("/1"), 100, checked=False)
        target = "/2"
        assert (await out.get(host.address("/1"), 100, checked=False)).body == b"there"


async def test_redirects_are_followed_but_not_for_ever():
    def answer(path):
        return Said(b"there") if path == "/3" else Said(status=302, location=f"/{int(path[1:]) + 1}")

    with another_host(answer) as host:
        out, _ = outbound({"covers.example": ["127.0.0.1"]})
        assert (await out.get(host.address("/1", "covers.example"), 100)).body == b"there"
        with pytest.raises(Unreachable):
            await out.get(host.address("/4", "covers.example"), 100)


async def test_too_much_too_slow_and_nobody_there_is_unreachable():
    with another_host(lambda path: None if path == "/slow" else Said(b"x" * 101)) as host:
        out, _ = outbound({"covers.example": ["127.0.0.1"]})
        with pytest.raises(Unreachable, match=r"^it has more than 100 bytes$"):
            await out.get(host.address("/large", "covers.example"), 100)
        hurried, _ = outbound({"covers.example": ["127.0.0.1"]}, seconds=0.5)
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(Unreachable):
                await hurried.get(host.address("/slow", "covers.example"), 1_000_000)
        assert (await out.get(host.address("/large", "covers.example"), 101)).body == b"x" * 101
    with pytest.raises(Unreachable):
        await out.get(host.address("/large", "covers.example"), 100)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_is_sent_to_one_address_follows_no_redirect(method):
    answers = {"/token": Said(b"moved", 307, location="/elsewhere"), "/elsewhere": Said(b"there")}
    with another_host(answers.get) as host:
        out, _ = outbound({"127.0.0.1": ["127.0.0.1"]}, permitted=())
        body = b"code=secret" if method == "POST" else None
        answer = await out.send(
            host.address("/token"), 100, method=method, headers={"Authorization": "Basic x"}, body=body, checked=False
        )
        assert (answer.status, answer.body) == (307, b"moved")
        assert host.asked == ["127.0.0.1 /token"]
        assert host.sent == ([("Basic x", b"code=secret")] if method == "POST" else [])


async def test_what_is_sent_goes_into_no_private_network_unless_it_is_the_operator_s_choice():
    with another_host(lambda path: Said(b"there")) as host:
        out, _ = outbound({"127.0.0.1": ["127.0.0.1"], "auth.example": ["127.0.0.1"]}, permitted=())
        for address in (host.address("/token"), host.address("/token", "auth.example")):
            with pytest.raises(BadAddress):
                await out.send(address, 100, headers={})
        assert host.asked == []
        assert (await out.send(host.address("/token"), 100, headers={}, checked=False)).body == b"there"
