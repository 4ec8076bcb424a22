"""The identity provider, as it is asked: only by the issuer's own word, seldom, and never by a redirect."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from joserfc.jwk import ECKey
from joserfc.jws import serialize_compact

from potluck.people.errors import ProviderUnavailable, SignInFailed
from potluck.people.identity_provider import FRESH_SECONDS, KEPT_SECONDS, PAUSE_SECONDS, IdentityProvider
from potluck.settings import IdentityProviderSettings
from tests.people.assembly import Clock

ISSUER = "http://10.0.0.7/realm"
DISCOVERED = {
    "issuer": ISSUER,
    "authorization_endpoint": "https://login.example.org/auth?tenant=1",
    "token_endpoint": "https://login.example.org/token",
    "jwks_uri": "http://10.0.0.7/keys",
    "userinfo_endpoint": "https://login.example.org/me",
}


@dataclass
class Sent:
    status: int
    body: bytes


@dataclass
class Elsewhere:
    """What the provider answers at each address, and what it was asked."""

    answers: dict[str, Any]
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def send(self, url, most_bytes, *, method="GET", headers, body=None, checked=True):
        self.asked.append({"url": url, "method": method, "headers": headers, "body": body, "checked": checked})
        answer = self.answers.get(url)
        if answer is None:
            raise ConnectionError("nobody is there")
        if isinstance(answer, tuple):
            return Sent(*answer)
        return Sent(200, json.dumps(answer).encode())

    def urls(self):
        return [each["url"] for each in self.asked]


class World:
    def __init__(self, *, secret: str | None = "s&cret", **discovered: Any) -> None:
        self.clock = Clock()
        self.key = ECKey.generate_key("P-256", {"kid": "first"})
        document = DISCOVERED | discovered
        self.elsewhere = Elsewhere(
            {
                f"{ISSUER}/.well-known/openid-configuration": {k: v for k, v in document.items() if v is not None},
                DISCOVERED["jwks_uri"]: {"keys": [self.key.as_dict(private=False)]},
            }
        )
        settings = IdentityProviderSettings(
            issuer=ISSUER, client_id="pot luck", client_secret=secret, name="Home", audience="api"
        )
        self.provider = IdentityProvider(
            settings,
            "https://potluck.example",
            lambda *args, **options: self.elsewhere.send(*args, **options),
            self.clock,
        )

    @property
    def now(self) -> int:
        return int(self.clock().timestamp())

    def token(self, key: ECKey | None = None, **claims: Any) -> str:
        said = {"iss": ISSUER, "sub": "ada", "aud": "api", "exp": self.now + 10**6, "iat": self.now} | claims
        key = key or self.key
        return serialize_compact({"alg": "ES256", "kid": key.kid}, json.dumps(said), key)

    async def finish(self, answer: dict[str, str] | None = None, since: float | None = None, **claims: Any):
        """Come back with a code for which the provider gives this ID token."""
        begun = await self.provider.begin()
        id_token = self.token(**{"aud": "pot luck", "nonce": begun.nonce, **claims})
        self.elsewhere.answers.setdefault(
            DISCOVERED["token_endpoint"], {"id_token": id_token, "access_token": "opaque"}
        )
        answer = {"state": begun.state, "code": "a code", "iss": ISSUER} | (answer or {})
        return await self.provider.finish(
            answer, state=begun.state, nonce=begun.nonce, verifier=begun.verifier, since=since
        )


async def test_a_private_network_is_asked_at_the_issuer_s_own_address_alone():
    world = World()
    await world.finish(name="Ada", email="ada@example.org", email_verified=True)
    checked = {each["url"]: each["checked"] for each in world.elsewhere.asked}
    assert checked == {
        f"{ISSUER}/.well-known/openid-configuration": False,
        "http://10.0.0.7/keys": False,
        "https://login.example.org/token": True,
    }


async def test_a_client_with_a_secret_says_it_as_the_provider_prefers():
    redeemed = []
    for methods, secret in (
        (None, "s&cret"),
        (["client_secret_post"], "s&cret"),
        (["client_secret_basic", "none"], None),
    ):
        world = World(secret=secret, **({} if methods is None else {"token_endpoint_auth_methods_supported": methods}))
        await world.finish(name="Ada", email="ada@example.org")
        (asked,) = [each for each in world.elsewhere.asked if each["method"] == "POST"]
        redeemed.append((asked["headers"].get("Authorization"), b"client_secret=" in asked["body"]))
        assert b"code_verifier=" in asked["body"]
        assert b"redirect_uri=https%3A%2F%2Fpotluck.example%2Fsign-in%2Fcallback" in asked["body"]
    # Both parts are encoded before they are joined: RFC 6749, 2.3.1.
    assert redeemed == [("Basic cG90K2x1Y2s6cyUyNmNyZXQ=", False), (None, True), (None, False)]


async def test_name_and_address_are_those_of_the_id_token_or_else_of_the_user_info():
    world = World()
    said = await world.finish(name="Ada", email="ada@example.org", email_verified=True)
    assert (said.name, said.email, said.email_verified) == ("Ada", "ada@example.org", True)
    assert DISCOVERED["userinfo_endpoint"] not in world.elsewhere.urls()
    info = {"sub": "ada", "preferred_username": "ada7", "email": "ada@example.org", "email_verified": "true"}
    for answer, expected in (
        (info, ("ada7", "ada@example.org", True)),
        # The info of another person is nobody's.
        (info | {"sub": "eve"}, ("", "", False)),
        (info | {"email": 7, "email_verified": 1.5}, ("ada7", "", False)),
        ((500, b""), ("", "", False)),
        (None, ("", "", False)),
    ):
        world = World()
        world.elsewhere.answers[DISCOVERED["userinfo_endpoint"]] = answer
        said = await world.finish()
        assert (said.subject, said.name, said.email, said.email_verified) == ("ada", *expected)


async def test_a_part_of_a_verified_address_is_not_verified():
    host = "a" * 60 + "." + "b" * 60 + "." + "c" * 60 + "." + "d" * 60
    too_long = f"ada@{host}.example.org.another.example"
    said = await World().finish(name="Ada", email=too_long, email_verified=True)
    assert (too_long.startswith(said.email), said.email_verified) == (True, False)


@pytest.mark.parametrize(
    "discovered",
    [
        {"issuer": "https://evil.example"},
        {"issuer": f"{ISSUER}/"},
        {"token_endpoint": "http://login.example.org/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": "file:///etc/passwd"},
        {"end_session_endpoint": "javascript:alert(1)"},
        {"token_endpoint": None},
        {"token_endpoint": 7},
        {"authorization_endpoint": "https://[half/auth"},
        {"userinfo_endpoint": "https://[half/me"},
        {"end_session_endpoint": "https://"},
    ],
    ids=str,
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(discovered):
    with pytest.raises(ProviderUnavailable):
        await World(**discovered).provider.begin()


@pytest.mark.parametrize(
    "answer",
    [(302, b""), (404, b""), (200, b"<html>"), (200, b"[]"), (200, b'{"a": ' + b"[" * 50_000), None],
    ids=lambda answer: str(answer)[:20],
)
async def test_nor_is_one_that_does_not_describe_itself(answer):
    world = World()
    world.elsewhere.answers[f"{ISSUER}/.well-known/openid-configuration"] = answer
    for _ in range(5):
        with pytest.raises(ProviderUnavailable, match="Home cannot be reached just now"):
            await world.provider.begin()
    # Whoever presses the button again does not ask again.
    assert len(world.elsewhere.asked) == 1


async def test_it_is_asked_again_a_while_after_it_did_not_answer():
    world = World()
    address = f"{ISSUER}/.well-known/openid-configuration"
    answer = world.elsewhere.answers.pop(address)
    with pytest.raises(ProviderUnavailable):
        await world.provider.begin()
    world.elsewhere.answers[address] = answer
    world.clock.forward(seconds=PAUSE_SECONDS)
    assert (await world.provider.begin()).address.startswith("https://login.example.org/auth?tenant=1&response_type=")


async def test_refusing_many_in_that_while_remembers_nothing_of_them():
    world = World()
    world.elsewhere.answers.clear()
    for _ in range(100):
        with pytest.raises(ProviderUnavailable) as refused:
            await world.provider.bearer(world.token())
    # Frames that a traceback holds hold what was sent.
    assert len(refused.traceback) < 20


async def test_it_is_asked_again_after_the_only_one_who_waited_for_it_has_gone():
    world = World()
    asked = asyncio.Event()

    async def never(*args, **options):
        asked.set()
        await asyncio.Event().wait()

    send = world.elsewhere.send
    world.elsewhere.send = never
    waiting = asyncio.create_task(world.provider.begin())
    await asked.wait()
    waiting.cancel()
    await asyncio.wait((waiting,))
    world.elsewhere.send = send
    assert (await world.provider.begin()).state


@pytest.mark.parametrize(
    ("token_answer", "refusal"),
    [
        ((400, b'{"error": "invalid_grant"}'), SignInFailed),
        ((401, b"<html>"), SignInFailed),
        ((302, b""), ProviderUnavailable),
        ((500, b""), ProviderUnavailable),
        ((200, b"{}"), ProviderUnavailable),
        ((200, b'{"id_token": "a.b.c"}'), SignInFailed),
    ],
    ids=str,
)
async def test_a_code_that_is_not_redeemed_proves_nothing(token_answer, refusal):
    world = World()
    world.elsewhere.answers[DISCOVERED["token_endpoint"]] = token_answer
    with pytest.raises(refusal):
        await world.finish()


@pytest.mark.parametrize(
    "answer",
    [{"state": "another"}, {"iss": "https://evil.example"}, {"iss": ""}, {"error": "x"}, {"code": ""}],
    ids=str,
)
async def test_an_answer_that_is_not_to_our_question_is_not_redeemed(answer):
    world = World()
    with pytest.raises(SignInFailed):
        await world.finish(answer)
    assert DISCOVERED["token_endpoint"] not in world.elsewhere.urls()


async def test_a_provider_that_promises_to_name_itself_must():
    world = World(authorization_response_iss_parameter_supported=True)
    begun = await world.provider.begin()
    with pytest.raises(SignInFailed):
        await world.provider.finish({"state": begun.state, "code": "x"}, state=begun.state, nonce="", verifier="")


async def test_a_fresh_sign_in_was_after_it_was_asked_for():
    world = World()
    for auth_time, refused in ((world.now, False), (world.now - 59, False), (world.now - 61, True), (None, True)):
        world.elsewhere.answers.pop(DISCOVERED["token_endpoint"], None)
        claims = {} if auth_time is None else {"auth_time": auth_time}
        if refused:
            with pytest.raises(SignInFailed):
                await world.finish(since=world.now, **claims)
        else:
            assert (await world.finish(since=world.now, **claims)).authenticated_at == auth_time


async def test_a_provider_without_a_place_to_sign_out_offers_none():
    assert await World().provider.sign_out_address() is None
    there = World(end_session_endpoint="https://login.example.org/out")
    assert (await there.provider.sign_out_address()).startswith("https://login.example.org/out?client_id=pot+luck&")
    silent = World()
    silent.elsewhere.answers.clear()
    assert await silent.provider.sign_out_address() is None


# --- keys are fetched seldom ------------------------------------------------------------------------------------------


def times_keys_were_fetched(world):
    return world.elsewhere.urls().count(DISCOVERED["jwks_uri"])


async def test_keys_are_fetched_once_and_again_after_an_hour():
    world = World()
    token = world.token()
    for _ in range(3):
        assert (await world.provider.bearer(token))[0] == "ada"
    assert times_keys_were_fetched(world) == 1
    world.clock.forward(seconds=FRESH_SECONDS + 1)
    for _ in range(3):
        assert (await world.provider.bearer(token))[0] == "ada"
    assert times_keys_were_fetched(world) == 2


async def test_an_unknown_key_is_looked_for_at_most_twice_a_minute():
    world = World()
    await world.provider.bearer(world.token())
    made_up = [ECKey.generate_key("P-256", {"kid": str(number)}) for number in range(5)]
    for key in made_up:
        assert await world.provider.bearer(world.token(key)) is None
    assert times_keys_were_fetched(world) == 1
    world.clock.forward(seconds=PAUSE_SECONDS)
    for key in made_up:
        assert await world.provider.bearer(world.token(key)) is None
    assert times_keys_were_fetched(world) == 2


async def test_a_rotated_key_is_found_and_a_withdrawn_one_counts_no_more():
    world = World()
    old = world.token()
    await world.provider.bearer(old)
    second = ECKey.generate_key("P-256", {"kid": "second"})
    world.elsewhere.answers[DISCOVERED["jwks_uri"]] = {"keys": [second.as_dict(private=False)]}
    world.clock.forward(seconds=PAUSE_SECONDS)
    assert (await world.provider.bearer(world.token(second)))[0] == "ada"
    assert await world.provider.bearer(old) is None


async def test_while_the_keys_cannot_be_fetched_the_known_ones_count_for_a_day():
    world = World()
    token = world.token()
    await world.provider.bearer(token)
    del world.elsewhere.answers[DISCOVERED["jwks_uri"]]
    world.clock.forward(seconds=FRESH_SECONDS + 1)
    assert (await world.provider.bearer(token))[0] == "ada"
    world.clock.forward(seconds=KEPT_SECONDS)
    with pytest.raises(ProviderUnavailable):
        await world.provider.bearer(token)


async def test_a_token_counts_until_it_expires_or_its_key_may_have_been_withdrawn():
    world = World()
    assert await world.provider.bearer(world.token(exp=world.now + 60)) == ("ada", world.now + 60)
    assert await world.provider.bearer(world.token()) == ("ada", world.now + FRESH_SECONDS)


async def test_what_is_no_token_of_the_provider_asks_it_nothing():
    world = World()
    for token in ("", "plt_" + "0" * 64, "a.b.c", "x" * 20_000):
        assert await world.provider.bearer(token) is None
    assert world.elsewhere.asked == []
