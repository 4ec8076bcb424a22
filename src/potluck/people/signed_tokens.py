"""Signed JSON web tokens: the signature, by a key that the issuer has published, and then what the token says.

Free of I/O: keys and the time are given. What an InvalidToken says is for the log of the operator, not for the caller.
"""

from __future__ import annotations

import warnings
from binascii import Error as BadBase64
from binascii import a2b_base64
from hmac import compare_digest
from typing import Any

import msgspec
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import JWKRegistry, Key
from joserfc.jws import JWSRegistry, deserialize_compact
from msgspec import UNSET, Struct, UnsetType

# Each needs a key of its own kind. Neither "none" nor an algorithm with a shared secret: the published keys are public.
KEY_TYPES = {
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    # Two names of one algorithm, the first of them of late discouraged.
    "EdDSA": ("OKP", "Ed25519"),
    "Ed25519": ("OKP", "Ed25519"),
}
REGISTRY = JWSRegistry(algorithms=list(KEY_TYPES))
warnings.filterwarnings("ignore", "EdDSA is deprecated", SecurityWarning)
LONGEST_TOKEN = 16_000
LONGEST_SUBJECT = 255
# Clocks of two machines differ.
LEEWAY_SECONDS = 60


class InvalidToken(ValueError):
    """The token proves nothing."""


class UnknownKey(InvalidToken):
    """It names a key that is not among those that were published."""


class TokenHeader(Struct, frozen=True):
    alg: str
    kid: str | UnsetType = UNSET
    crit: Any = UNSET


class TokenClaims(Struct, frozen=True):
    """What a token says about someone; only what is used here."""

    iss: str
    sub: str
    aud: str | list[str]
    exp: float
    iat: float | UnsetType = UNSET
    nbf: float | UnsetType = UNSET
    nonce: str | UnsetType = UNSET
    azp: str | UnsetType = UNSET
    auth_time: float | UnsetType = UNSET
    # Shown to the person and never relied on, so they may be anything.
    name: Any = None
    preferred_username: Any = None
    email: Any = None
    email_verified: Any = None

    @property
    def audiences(self) -> list[str]:
        return [self.aud] if isinstance(self.aud, str) else self.aud


class PublishedKeys:
    """The keys in a JWK set that a token can be signed with; others are left out, also those that cannot be read."""

    def __init__(self, document: bytes) -> None:
        try:
            keys = msgspec.json.decode(document, type=_KeySet).keys
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidToken(f"the key set cannot be read: {error}") from None
        self._keys = [key for data in keys if (key := _signing_key(data)) is not None]

    def verified(self, token: str) -> TokenClaims:
        """What the token says, if one of these keys has signed it; UnknownKey if it names another."""
        key = self._key_for(header_of(token))
        try:
            signed = deserialize_compact(token, key, registry=REGISTRY)
            return msgspec.json.decode(signed.payload, type=TokenClaims)
        except (JoseError, ValueError, msgspec.MsgspecError, RecursionError) as error:
            raise InvalidToken(f"the token cannot be verified: {error!r}") from None

    def _key_for(self, header: TokenHeader) -> Key:
        fitting = [key for key in self._keys if _fits(key, header)]
        if not fitting:
            raise UnknownKey("none of the published keys is the one that the token names")
        if len(fitting) > 1:
            raise InvalidToken("the token does not say which of several keys has signed it")
        return fitting[0]


class _KeySet(Struct, frozen=True):
    keys: list[dict[str, Any]]


def header_of(token: str) -> TokenHeader:
    """The header of what looks like a signed token; InvalidToken for anything else, at hardly any cost."""
    if len(token) > LONGEST_TOKEN or token.count(".") != 2 or not token.isascii():
        raise InvalidToken("it is not a signed token")
    encoded = token.partition(".")[0].replace("-", "+").replace("_", "/")
    try:
        header = msgspec.json.decode(a2b_base64(encoded + "=" * (-len(encoded) % 4)), type=TokenHeader)
    except (BadBase64, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InvalidToken("its header cannot be read") from None
    if header.alg not in KEY_TYPES:
        raise InvalidToken(f"it is signed with {header.alg[:20]!r}; accepted are {', '.join(KEY_TYPES)}")
    if header.crit is not UNSET:
        raise InvalidToken("it has extensions that must be understood")
    return header


def must_be_current(claims: TokenClaims, issuer: str, now: float) -> None:
    """InvalidToken unless the issuer is this one and the token is valid now."""
    if claims.iss != issuer:
        raise InvalidToken(f"it is by {claims.iss[:200]!r}, not by {issuer!r}")
    if now >= claims.exp + LEEWAY_SECONDS:
        raise InvalidToken("it has expired")
    begins = [moment for moment in (claims.iat, claims.nbf) if isinstance(moment, float)]
    if any(moment > now + LEEWAY_SECONDS for moment in begins):
        raise InvalidToken("it is from the future; compare the clocks of both machines")
    if not 1 <= len(claims.sub) <= LONGEST_SUBJECT or not claims.sub.isascii() or not claims.sub.isprintable():
        raise InvalidToken("its subject is not 1 to 255 printable ASCII characters")


def must_be_id_token(claims: TokenClaims, *, issuer: str, client_id: str, nonce: str, now: float) -> None:
    """InvalidToken unless it is an ID token for this client, made for the sign-in with this nonce."""
    must_be_current(claims, issuer, now)
    if client_id not in claims.audiences:
        raise InvalidToken("it is for another client")
    if claims.azp is UNSET and len(claims.audiences) > 1:
        raise InvalidToken("it is for several clients, and does not say which of them asked for it")
    if claims.azp is not UNSET and claims.azp != client_id:
        raise InvalidToken("another client asked for it")
    if claims.iat is UNSET:
        raise InvalidToken("it does not say when it was issued")
    if claims.nonce is UNSET or not compare_digest(claims.nonce.encode(), nonce.encode()):
        raise InvalidToken("it was made for another sign-in")


def must_be_access_token(claims: TokenClaims, *, issuer: str, audience: str, now: float) -> None:
    """InvalidToken unless it is meant for this audience."""
    must_be_current(claims, issuer, now)
    if audience not in claims.audiences:
        raise InvalidToken("it is for another audience")


def _signing_key(data: dict[str, Any]) -> Key | None:
    if (data.get("kty"), data.get("crv")) not in KEY_TYPES.values() or data.get("use", "sig") != "sig":
        return None
    try:
        if "verify" not in (data.get("key_ops") or ["verify"]):
            return None
        return JWKRegistry.import_key({name: value for name, value in data.items() if name in PUBLIC_MEMBERS})
    except (JoseError, ValueError, TypeError, KeyError):
        return None


# What makes up a public key: of one that was published with its private part by mistake, that part is not read.
PUBLIC_MEMBERS = frozenset({"kty", "kid", "use", "alg", "n", "e", "crv", "x", "y"})


def _fits(key: Key, header: TokenHeader) -> bool:
    known = key.as_dict(private=False)
    named = header.kid is UNSET or known.get("kid") == header.kid
    fits = (known["kty"], known.get("crv")) == KEY_TYPES[header.alg]
    return named and fits and known.get("alg", header.alg) == header.alg
