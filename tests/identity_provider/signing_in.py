"""People with a browser who sign in at a real identity provider, and the suite that they come back to."""

import contextlib
import html
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx

from potluck.settings import IdentityProviderSettings
from potluck.web.app import Core
from tests.people.assembly import Clock
from tests.references import oidc_provider
from tests.web.made_apps import app_with
from tests.web.reading import BROWSER
from tests.web.suites import API, ORIGIN, as_served, suite_on

__all__ = [
    "AUDIENCE",
    "CALLBACK",
    "PEOPLE",
    "Browser",
    "Potluck",
    "changed",
    "configuration",
    "potluck_with",
    "provider",
    "tokens_for",
]

CALLBACK = "/sign-in/callback"
AUDIENCE = "https://potluck.example/api"
SECRET = "a secret that only the two of them know"
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True},
    "ben": {"name": "Ben", "email": "ben@example.org", "email_verified": False},
    "cleo": {},
    # As long as a provider lets it be.
    'd"o"' + "r" * 250: {"name": "É" * 5000, "email": "é" * 5000 + "@example.org", "email_verified": True},
}


def configuration(*origins: str) -> str:
    """The people and the clients of the provider; it sends people back to these origins."""
    back = {
        "redirect_uris": [origin + CALLBACK for origin in origins],
        "post_logout_redirect_uris": [f"{origin}/signed-out" for origin in origins],
        "response_types": ["code"],
        "grant_types": ["authorization_code"],
    }
    clients = [
        {"client_id": "potluck", "client_secret": SECRET, **back},
        {"client_id": "public", "token_endpoint_auth_method": "none", **back},
        {"client_id": "another", "token_endpoint_auth_method": "none", **back},
        {"client_id": "EdDSA", "token_endpoint_auth_method": "none", "id_token_signed_response_alg": "EdDSA", **back},
        # What no provider should do, and some offer.
        {"client_id": "hs256", "client_secret": SECRET, "id_token_signed_response_alg": "HS256", **back},
    ]
    return json.dumps({"people": PEOPLE, "clients": clients, "claimsInIdToken": False, "seconds": 300})


@contextlib.contextmanager
def provider(*origins: str) -> Iterator[str]:
    """The issuer, in a process of its own until the block ends."""
    with oidc_provider(configuration(*origins or (ORIGIN,))) as running:
        yield running.endpoint


class Browser:
    """One browser, which goes to the suite in this process and to the provider at its port."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(urljoin(ORIGIN, path))

    async def post(self, path: str, **fields: str) -> httpx.Response:
        # A browser says what it sends also of a form without fields.
        headers = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}
        return await self.client.post(urljoin(ORIGIN, path), content=urlencode(fields), headers=headers)

    async def begin(self, path: str = "/sign-in/provider", **fields: str) -> str:
        """Press a button that leads to the provider; the address it leads to."""
        page = await self.post(path, **fields)
        assert page.status_code == 200, page.status_code
        found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
        assert found is not None, page.url
        return html.unescape(found[1])

    async def at_provider(self, address: str, who: str | None = "ada") -> str:
        """Sign in there, or press cancel; the address that leads back to Potluck, which is not asked yet."""
        answer = await self.client.get(address)
        while True:
            while answer.is_redirect:
                back = urljoin(str(answer.url), answer.headers["location"])
                if urlsplit(back).path == CALLBACK:
                    return back
                answer = await self.client.get(back)
            assert answer.status_code == 200, answer.text
            answer = await self.client.post(answer.url, data={"cancel": "yes"} if who is None else {"login": who})

    async def sign_in(self, who: str | None = "ada", **fields: str) -> httpx.Response:
        """Sign in with the provider; what Potluck answers."""
        return await self.get(await self.at_provider(await self.begin(**fields), who))

    async def settle(self, who: str = "ada", **fields: str) -> None:
        """Sign in for the first time, and make the account."""
        assert (await self.sign_in(who)).headers["location"] == "/sign-in/new"
        made = await self.post("/sign-in/new", **{"name": who.title(), "email": f"{who}@example.org", **fields})
        assert made.status_code == 303, made.text

    def kept(self) -> httpx.Cookies:
        """A copy of its cookies, for a browser that keeps what it was told to delete."""
        return httpx.Cookies(self.client.cookies)

    def leave_provider(self) -> None:
        """Be nobody at the provider."""
        self.client.cookies.clear("127.0.0.1")

    async def me(self) -> dict[str, Any] | None:
        """Whom Potluck knows this browser as."""
        answer = await self.get(f"{API}/me")
        found: dict[str, Any] | None = answer.json() if answer.status_code == 200 else None
        return found


def changed(address: str, **query: str | None) -> str:
    """The address with other parameters; None takes one out."""
    parts = urlsplit(address)
    parameters: dict[str, str | None] = dict(parse_qsl(parts.query)) | query
    left = {name: value for name, value in parameters.items() if value is not None}
    return parts._replace(query=urlencode(left)).geturl()


@dataclass
class Potluck:
    """The suite with the provider, a clock that can be moved, and browsers."""

    application: Any
    core: Core
    clock: Clock
    opened: contextlib.AsyncExitStack

    async def browser(self, address: str = "10.0.0.1") -> Browser:
        inside = httpx.ASGITransport(app=as_served(self.application), client=(address, 40_000))
        mounts = {ORIGIN: inside}
        client = httpx.AsyncClient(mounts=mounts, headers=BROWSER, trust_env=False)
        return Browser(await self.opened.enter_async_context(client))


@contextlib.asynccontextmanager
async def potluck_with(
    issuer: str,
    folder: Path,
    client_id: str = "potluck",
    client_secret: str | None = None,
    audience: str | None = AUDIENCE,
    **options: Any,
) -> AsyncIterator[Potluck]:
    """The suite with this provider, at the time that the provider has."""
    clock, cores = Clock(), []
    clock.now = datetime.now(UTC)
    secret = client_secret or (SECRET if client_id in ("potluck", "hs256") else None)
    settings = IdentityProviderSettings(
        issuer=issuer, client_id=client_id, client_secret=secret, name="Our provider", audience=audience
    )

    def looking(core: Core) -> Any:
        cores.append(core)
        return app_with("looking")(core)

    options = {"origin": ORIGIN, "oidc": settings, **options}
    async with (
        suite_on(folder, (looking,), clock=clock, **options) as (_, application),
        contextlib.AsyncExitStack() as opened,
    ):
        yield Potluck(application, cores[0], clock, opened)


async def tokens_for(browser: Browser, issuer: str, who: str, audience: str = AUDIENCE) -> dict[str, str]:
    """What a program gets that a person has allowed to call for them: `access_token` and `id_token`."""
    verifier = "v" * 64
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "client_id": "another",
        "response_type": "code",
        "redirect_uri": ORIGIN + CALLBACK,
        "scope": "openid",
        "resource": audience,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    browser.leave_provider()
    back = await browser.at_provider(f"{issuer}/auth?{urlencode(asked)}", who)
    form = {
        "grant_type": "authorization_code",
        "client_id": "another",
        "redirect_uri": ORIGIN + CALLBACK,
        "resource": audience,
        "code": dict(parse_qsl(urlsplit(back).query))["code"],
        "code_verifier": verifier,
    }
    answer = await browser.client.post(f"{issuer}/token", data=form)
    assert answer.status_code == 200, answer.text
    found: dict[str, str] = answer.json()
    return found
