"""The identity provider: OpenID Connect's authorization code flow with PKCE, and tokens for the API.

What the provider publishes, its endpoints and its keys, is fetched from the issuer that the operator named and kept for
an hour. A token that names an unknown key makes us look for new keys, at most once in half a minute.
"""

from __future__ import annotations

import asyncio
import logging
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Generic, Literal, Protocol, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
from msgspec import Struct

from potluck.people.errors import ProviderUnavailable, SignInFailed
from potluck.people.fields import LONGEST_EMAIL, LONGEST_NAME
from potluck.people.secrets import SYSTEM_RANDOM
from potluck.people.signed_tokens import (
    InvalidToken,
    PublishedKeys,
    TokenClaims,
    UnknownKey,
    header_of,
    must_be_access_token,
    must_be_id_token,
)
from potluck.settings import IdentityProviderSettings
from potluck.store import Clock

log = logging.getLogger("potluck.people")

CALLBACK = "/sign-in/callback"
"""Where the provider sends people back to, on POTLUCK_ORIGIN."""
SIGNED_OUT = "/signed-out"
DISCOVERY = "/.well-known/openid-configuration"
SCOPE = "openid profile email"
LARGEST_DOCUMENT = 256 * 1024
SECRET_BYTES = 32
# After the first, a document is fetched anew, and used meanwhile; after the second, it is used no more.
FRESH_SECONDS = 3600
KEPT_SECONDS = 24 * 3600
# Between two attempts to fetch a document, by any callers.
PAUSE_SECONDS = 30
# How long before we asked for a fresh sign-in the provider's clock may say that it was.
CLOCKS_DIFFER_SECONDS = 60

T = TypeVar("T")


class Response(Protocol):
    """What another host answered."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class Send(Protocol):
    """Sends a request to this address alone; ConnectionError if there is no answer.

    `checked=False`: the address may be in a private network.
    """

    def __call__(
        self,
        url: str,
        most_bytes: int,
        *,
        method: Literal["GET", "POST"] = "GET",
        headers: Mapping[str, str],
        body: bytes | None = None,
        checked: bool = True,
    ) -> Awaitable[Response]: ...


class Authorization(Struct, frozen=True):
    """A sign-in that has begun: where the person is sent, and what the browser keeps until they come back."""

    address: str
    state: str
    nonce: str
    verifier: str


class ProvenIdentity(Struct, frozen=True, kw_only=True):
    """Who the provider says that someone is. Only issuer and subject identify them."""

    issuer: str
    subject: str
    name: str = ""
    email: str = ""
    email_verified: bool = False
    authenticated_at: float | None = None
    """When they last proved it to the provider, in seconds since 1970; None if it does not say."""


class _Metadata(Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(Struct, frozen=True):
    id_token: str
    access_token: str = ""


class _TokenError(Struct, frozen=True):
    error: str = "no error is named"


class _UserInfo(Struct, frozen=True):
    sub: str
    name: Any = None
    preferred_username: Any = None
    email: Any = None
    email_verified: Any = None


class IdentityProvider:
    """The provider that the operator configured, as people sign in at it."""

    def __init__(self, settings: IdentityProviderSettings, origin: str, send: Send, clock: Clock) -> None:
        """`origin` is where people reach Potluck."""
        self.name, self.issuer = settings.name, settings.issuer
        self._settings = settings
        self._origin = origin
        self._send = send
        self._clock = clock
        self._metadata = _Published(self._load_metadata, clock)
        self._keys = _Published(self._load_keys, clock)

    # --- signing in ---------------------------------------------------------------------------------------------------

    async def begin(self, *, fresh: bool = False) -> Authorization:
        """Begin a sign-in; `fresh` asks the provider to have the person prove again who they are."""
        metadata = await self._metadata.get()
        state, nonce, verifier = (SYSTEM_RANDOM.randbytes(SECRET_BYTES).hex() for _ in range(3))
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._origin + CALLBACK,
            "scope": SCOPE,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **({"prompt": "login", "max_age": "0"} if fresh else {}),
        }
        return Authorization(_with_query(metadata.authorization_endpoint, query), state, nonce, verifier)

    async def finish(
        self, answer: Mapping[str, str], *, state: str, nonce: str, verifier: str, since: float | None = None
    ) -> ProvenIdentity:
        """Who came back with this answer to the sign-in that began so; SignInFailed if it does not prove that.

        `since` is when a fresh sign-in was asked for: an older one does not count.
        """
        metadata = await self._metadata.get()
        if not state or not compare_digest(answer.get("state", "").encode(), state.encode()):
            raise SignInFailed(self.name)
        # RFC 9207: the answer of another provider must not be taken for this one's.
        said = answer.get("iss")
        if said != self.issuer and (said is not None or metadata.authorization_response_iss_parameter_supported):
            log.warning("a sign-in came back from %.200r instead of %r", said, self.issuer)
            raise SignInFailed(self.name)
        if "error" in answer or not answer.get("code"):
            if answer.get("error") != "access_denied":
                log.warning("%s refused a sign-in: %.100r", self.issuer, answer.get("error", "it sent no code"))
            raise SignInFailed(self.name, cancelled=True)
        tokens = await self._redeem(metadata, answer["code"], verifier)
        try:
            claims = await self._verified(tokens.id_token)
            must_be_id_token(
                claims, issuer=self.issuer, client_id=self._settings.client_id, nonce=nonce, now=self._now()
            )
        except InvalidToken as error:
            log.warning("an ID token of %s is not valid: %s", self.issuer, error)
            raise SignInFailed(self.name) from None
        signed_in_at = claims.auth_time if isinstance(claims.auth_time, float) else None
        if since is not None and (signed_in_at is None or signed_in_at < since - CLOCKS_DIFFER_SECONDS):
            log.warning("%s did not ask someone to sign in again, or does not say when it did", self.issuer)
            raise SignInFailed(self.name)
        return await self._described(metadata, claims, tokens.access_token, signed_in_at)

    async def sign_out_address(self) -> str | None:
        """Where people can sign out at the provider too; None if it has no such place, or does not answer now."""
        try:
            metadata = await self._metadata.get()
        except ProviderUnavailable:
            return None
        if metadata.end_session_endpoint is None:
            return None
        back = self._origin + SIGNED_OUT
        # `logout_uri` is what Cognito calls the other parameter.
        query = {"client_id": self._settings.client_id, "post_logout_redirect_uri": back, "logout_uri": back}
        return _with_query(metadata.end_session_endpoint, query)

    # --- the API ------------------------------------------------------------------------------------------------------

    async def bearer(self, token: str) -> tuple[str, float] | None:
        """The subject of an access token for the API, and until when it counts; None for anything else.

        Asks the provider nothing, unless its keys are not known yet or the token names a new one.
        """
        audience = self._settings.audience
        if audience is None:
            return None
        try:
            header_of(token)
            claims = await self._verified(token)
            must_be_access_token(claims, issuer=self.issuer, audience=audience, now=self._now())
        except InvalidToken:
            return None
        # A key that was withdrawn counts no longer than until the keys are fetched again.
        return claims.sub, min(claims.exp, self._now() + FRESH_SECONDS)

    # --- what the provider answers ------------------------------------------------------------------------------------

    async def _verified(self, token: str) -> TokenClaims:
        keys = await self._keys.get()
        try:
            return keys.verified(token)
        except UnknownKey:
            newer = await self._keys.newer()
            if newer is keys:
                raise
        return newer.verified(token)

    async def _redeem(self, metadata: _Metadata, code: str, verifier: str) -> _Tokens:
        """The tokens for a code, which can be redeemed once."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._origin + CALLBACK,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        client_id, secret = self._settings.client_id, self._settings.client_secret
        if secret is not None and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            credentials = f"{quote_plus(client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = f"Basic {b64encode(credentials.encode()).decode()}"
        else:
            form |= {"client_id": client_id} | ({} if secret is None else {"client_secret": secret})
        response = await self._ask(
            metadata.token_endpoint, method="POST", headers=headers, body=urlencode(form).encode()
        )
        if 400 <= response.status < 500:
            log.warning("%s did not redeem a code: %.100s", self.issuer, _error_in(response.body))
            raise SignInFailed(self.name)
        return self._read(response, _Tokens, metadata.token_endpoint)

    async def _described(
        self, metadata: _Metadata, claims: TokenClaims, access_token: str, signed_in_at: float | None
    ) -> ProvenIdentity:
        """The identity with name and address: those in the ID token or, where that is short, in the user's info."""
        said: TokenClaims | _UserInfo = claims
        lacking = not _text(claims.email) or not _text(claims.name)
        if lacking and metadata.userinfo_endpoint is not None and access_token:
            # They only fill a form in, so the person can come in without them.
            with suppress(ProviderUnavailable, SignInFailed):
                response = await self._ask(
                    metadata.userinfo_endpoint,
                    headers={"Authorization": f"Bearer {access_token}", "Accept": "application/json"},
                )
                info = self._read(response, _UserInfo, metadata.userinfo_endpoint)
                if info.sub == claims.sub:
                    said = info
        email = _text(said.email)
        return ProvenIdentity(
            issuer=claims.iss,
            subject=claims.sub,
            name=(_text(said.name) or _text(said.preferred_username))[:LONGEST_NAME],
            email=email[:LONGEST_EMAIL],
            # Cognito's user info has a text here. A part of an address is another address.
            email_verified=said.email_verified in (True, "true") and len(email) <= LONGEST_EMAIL,
            authenticated_at=signed_in_at,
        )

    async def _load_metadata(self) -> _Metadata:
        url = self.issuer.removesuffix("/") + DISCOVERY
        metadata = self._read(await self._ask(url, headers={"Accept": "application/json"}), _Metadata, url)
        if metadata.issuer != self.issuer:
            log.error("POTLUCK_OIDC_ISSUER is %r, but the provider calls itself %.200r", self.issuer, metadata.issuer)
            raise ProviderUnavailable(self.name, PAUSE_SECONDS)
        named = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri)
        optional = (metadata.userinfo_endpoint, metadata.end_session_endpoint)
        for address in (*named, *(address for address in optional if address is not None)):
            if not _is_address(address):
                log.error("%s names an endpoint that is no address: %.200r", self.issuer, address)
                raise ProviderUnavailable(self.name, PAUSE_SECONDS)
            if not address.startswith("https://") and not self._is_at_issuer(address):
                log.error("%s names an endpoint without https: %.200r", self.issuer, address)
                raise ProviderUnavailable(self.name, PAUSE_SECONDS)
        return metadata

    async def _load_keys(self) -> PublishedKeys:
        metadata = await self._metadata.get()
        response = await self._ask(metadata.jwks_uri, headers={"Accept": "application/json"})
        try:
            if response.status != 200:
                raise InvalidToken(f"{metadata.jwks_uri} answers {response.status}")
            return PublishedKeys(response.body)
        except InvalidToken as error:
            log.error("the keys of %s: %s", self.issuer, error)
            raise ProviderUnavailable(self.name, PAUSE_SECONDS) from None

    async def _ask(
        self,
        url: str,
        *,
        method: Literal["GET", "POST"] = "GET",
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Response:
        try:
            # The issuer itself may be in a private network; what it names elsewhere may not.
            checked = not self._is_at_issuer(url)
            return await self._send(url, LARGEST_DOCUMENT, method=method, headers=headers, body=body, checked=checked)
        except ConnectionError as error:
            log.warning("the identity provider does not answer at %s: %s", url, error)
            raise ProviderUnavailable(self.name, PAUSE_SECONDS) from None

    def _read(self, response: Response, kind: type[T], url: str) -> T:
        if response.status != 200:
            log.error("the identity provider answers %s at %s; redirects are not followed", response.status, url)
            raise ProviderUnavailable(self.name, PAUSE_SECONDS)
        try:
            return msgspec.json.decode(response.body, type=kind)
        except (msgspec.MsgspecError, RecursionError) as error:
            log.error("the identity provider answers what cannot be read at %s: %s", url, error)
            raise ProviderUnavailable(self.name, PAUSE_SECONDS) from None

    def _is_at_issuer(self, url: str) -> bool:
        address, issuer = urlsplit(url), urlsplit(self.issuer)
        return (address.scheme, address.netloc) == (issuer.scheme, issuer.netloc)

    def _now(self) -> float:
        return self._clock().timestamp()


class _Published(Generic[T]):
    """A document that the provider publishes: fetched once, kept, and fetched anew now and then."""

    def __init__(self, load: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._load = load
        self._clock = clock
        self._lock = asyncio.Lock()
        self._document: T | None = None
        self._loaded_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._refusal: Exception | None = None

    async def get(self) -> T:
        """The document; ProviderUnavailable if there is none that may still be used."""
        if self._document is None or self._seconds_since(self._loaded_at) > KEPT_SECONDS:
            async with self._lock:
                await self._try()
        elif self._seconds_since(self._loaded_at) > FRESH_SECONDS and not self._lock.locked():
            # One caller waits for the new one; others go on with the old one, and so does this one if there is none.
            with suppress(ProviderUnavailable):
                await self.newer()
        assert self._document is not None
        return self._document

    async def newer(self) -> T:
        """The document, fetched anew unless someone has just tried."""
        async with self._lock:
            with suppress(ProviderUnavailable):
                await self._try()
        assert self._document is not None
        return self._document

    async def _try(self) -> None:
        if self._seconds_since(self._tried_at) < PAUSE_SECONDS:
            if self._refusal is not None:
                # Each raise would add to the traceback of the last one, and keep what those callers had sent.
                raise self._refusal.with_traceback(None)
            return
        self._tried_at = self._clock()
        try:
            self._document = await self._load()
        except Exception as refusal:
            self._refusal = refusal
            raise
        except BaseException:
            # The caller has gone, and nothing was learned: the next one tries.
            self._tried_at = None
            raise
        self._loaded_at, self._refusal = self._clock(), None

    def _seconds_since(self, moment: datetime | None) -> float:
        """How long ago it was; also after a clock was set back."""
        return float("inf") if moment is None else abs((self._clock() - moment).total_seconds())


def _is_address(text: str) -> bool:
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _error_in(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_TokenError).error
    except (msgspec.MsgspecError, RecursionError):
        return "its answer cannot be read"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
