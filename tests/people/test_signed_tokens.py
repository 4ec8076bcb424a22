"""Signed tokens: only a published key of the right kind counts, and only what the token says for us, here and now."""

import hmac
import json
from base64 import urlsafe_b64encode

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry, serialize_compact
from msgspec import UNSET
from msgspec.structs import replace

from potluck.people.signed_tokens import (
    InvalidToken,
    PublishedKeys,
    TokenClaims,
    UnknownKey,
    must_be_access_token,
    must_be_id_token,
)

ISSUER, CLIENT, NONCE, NOW = "https://auth.example.org", "potluck", "n" * 64, 2_000_000_000
EVERY_ALGORITHM = JWSRegistry(
    algorithms=["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA", "Ed25519", "HS256", "none"]
)

CLAIMS = {"iss": ISSUER, "sub": "ada", "aud": CLIENT, "exp": NOW + 300, "iat": NOW, "nonce": NONCE}

pytestmark = pytest.mark.filterwarnings("ignore:EdDSA is deprecated")


class Keys:
    """What takes a while to make, and so is not made at import."""

    def __init__(self):
        self.rsa = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
        self.other_rsa = RSAKey.generate_key(2048, {"kid": "rsa"})
        self.ec = ECKey.generate_key("P-256", {"kid": "ec"})
        self.wide_ec = ECKey.generate_key("P-384", {"kid": "wide"})
        self.ed = OKPKey.generate_key("Ed25519", {"kid": "ed"})
        self.shared = OctKey.generate_key(256, {"kid": "shared"})
        self.everything = published(self.rsa, self.ec, self.wide_ec, self.ed)


@pytest.fixture(scope="module")
def keys():
    return Keys()


def published(*keys, **members):
    return PublishedKeys(json.dumps({"keys": [key.as_dict(private=False) | members for key in keys]}).encode())


def signed(key, alg, claims=CLAIMS, **header):
    header = {"alg": alg, "kid": key.kid} | header
    return serialize_compact(
        {name: value for name, value in header.items() if value is not None},
        json.dumps(claims),
        key,
        registry=EVERY_ALGORITHM,
    )


def part(value):
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("key", "alg"), [("rsa", "RS256"), ("rsa", "PS256"), ("ec", "ES256"), ("ed", "EdDSA"), ("ed", "Ed25519")]
)
def test_a_token_by_a_published_key_is_verified(keys, key, alg):
    assert keys.everything.verified(signed(getattr(keys, key), alg)).sub == "ada"


def test_a_token_that_names_no_key_is_verified_if_only_one_can_have_signed_it(keys):
    assert published(keys.rsa, keys.ec).verified(signed(keys.ec, "ES256", kid=None)).sub == "ada"
    with pytest.raises(InvalidToken, match="which of several keys"):
        published(keys.rsa, keys.other_rsa).verified(signed(keys.rsa, "RS256", kid=None))


def unsigned(alg, signature="", claims=CLAIMS, **header):
    return f"{part({'alg': alg, 'kid': 'rsa'} | header)}.{part(claims)}.{signature}"


def nested(member):
    """A token whose header takes more depth to read than Python has."""
    header = b'{"alg": "RS256", "' + member + b'": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    return f"{urlsafe_b64encode(header).decode().rstrip('=')}.{part(CLAIMS)}.c2ln"


def by_the_public_key(keys):
    """The public key as a shared secret, which anyone has."""
    text = unsigned("HS256").rstrip(".")
    made = hmac.digest(keys.rsa.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(made).decode().rstrip('=')}"


@pytest.mark.parametrize(
    "token_by",
    [
        lambda keys: signed(keys.other_rsa, "RS256"),
        lambda keys: signed(keys.rsa, "RS512"),
        lambda keys: signed(keys.wide_ec, "ES384"),
        lambda keys: signed(keys.shared, "HS256"),
        by_the_public_key,
        lambda keys: signed(keys.rsa, "RS256", kid="ec"),
        lambda keys: signed(keys.rsa, "RS256", claims={"iss": ISSUER}),
        lambda keys: signed(keys.rsa, "RS256", claims=[]),
        lambda keys: signed(keys.rsa, "RS256", claims=CLAIMS | {"exp": "never"}),
        # It brings a key along, or says where one is.
        lambda keys: signed(keys.other_rsa, "RS256", jwk=keys.other_rsa.as_dict(private=False)),
        lambda keys: signed(keys.other_rsa, "RS256", jku="https://evil.example/keys"),
        # The signature of another token.
        lambda keys: unsigned("RS256", signed(keys.rsa, "RS256").rpartition(".")[2], CLAIMS | {"sub": "eve"}),
        lambda keys: unsigned("none", signed(keys.rsa, "RS256").rpartition(".")[2]),
        lambda keys: unsigned("RS256"),
        lambda keys: unsigned("none"),
        lambda keys: unsigned("None"),
        lambda keys: unsigned("RS256", "x", crit=["exp"]),
        lambda keys: unsigned("RS256", "x", kid=7),
        lambda keys: unsigned("RS256", "x" * 20_000),
        lambda keys: nested(b"crit"),
        lambda keys: nested(b"anything"),
        lambda keys: "",
        lambda keys: "..",
        lambda keys: "a.b.c",
        lambda keys: "é.b.c",
    ],
)
def test_any_other_token_is_not(keys, token_by):
    with pytest.raises(InvalidToken):
        keys.everything.verified(token_by(keys))


def test_a_key_that_is_not_published_is_told_from_a_wrong_signature(keys):
    with pytest.raises(UnknownKey):
        published(keys.ec).verified(signed(keys.rsa, "RS256"))
    with pytest.raises(InvalidToken) as refused:
        published(keys.other_rsa).verified(signed(keys.rsa, "RS256"))
    assert not isinstance(refused.value, UnknownKey)


def test_a_key_is_used_only_as_it_says(keys):
    assert published(keys.other_rsa, alg="PS256").verified(signed(keys.other_rsa, "PS256")).sub == "ada"
    for members in ({"alg": "PS256"}, {"use": "enc"}, {"key_ops": ["encrypt"]}):
        with pytest.raises(UnknownKey):
            published(keys.other_rsa, **members).verified(signed(keys.other_rsa, "RS256"))


def test_keys_that_cannot_be_read_are_left_out_and_a_private_part_is_not_needed(keys):
    broken = [{"kty": "RSA", "kid": "ec"}, {"kty": "EC", "crv": "P-256", "x": "?", "y": "?"}, {}, keys.shared.as_dict()]
    misdescribed = [{"kty": "RSA", "key_ops": 7}, {"kty": ["RSA"], "crv": {}}]
    document = {"keys": [*broken, *misdescribed, keys.ec.as_dict(private=True)]}
    assert PublishedKeys(json.dumps(document).encode()).verified(signed(keys.ec, "ES256")).sub == "ada"
    too_deep = b'{"keys": [{"x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}]}"
    for unreadable in (b"", b"[]", b'{"keys": {}}', b"\xff", too_deep):
        with pytest.raises(InvalidToken):
            PublishedKeys(unreadable)


# --- what a token says ------------------------------------------------------------------------------------------------

GOOD = TokenClaims(iss=ISSUER, sub="ada", aud=CLIENT, exp=NOW + 300, iat=NOW, nonce=NONCE)


def is_id_token(**claims):
    must_be_id_token(replace(GOOD, **claims), issuer=ISSUER, client_id=CLIENT, nonce=NONCE, now=NOW)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "another"], "azp": CLIENT},
        {"azp": CLIENT},
        # Clocks may differ by a minute.
        {"exp": NOW - 59.0},
        {"iat": NOW + 60.0},
        {"nbf": NOW + 60.0},
        {"sub": "a" * 255},
    ],
    ids=str,
)
def test_an_id_token_for_us_is_taken(claims):
    is_id_token(**claims)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://auth.example.org/"},
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"aud": []},
        {"aud": ["another"]},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"exp": NOW - 60.0},
        {"iat": NOW + 61.0},
        {"iat": UNSET},
        {"nbf": NOW + 61.0},
        {"nonce": "m" * 64},
        {"nonce": ""},
        {"nonce": "é"},
        {"nonce": UNSET},
        {"sub": ""},
        {"sub": "a" * 256},
        {"sub": "adä"},
        {"sub": "a\nb"},
    ],
    ids=str,
)
def test_any_other_id_token_is_not(claims):
    with pytest.raises(InvalidToken):
        is_id_token(**claims)


def test_an_access_token_is_for_its_audience():
    must_be_access_token(GOOD, issuer=ISSUER, audience=CLIENT, now=NOW)
    for claims, audience in ((GOOD, "api"), (replace(GOOD, iss="https://evil.example"), CLIENT)):
        with pytest.raises(InvalidToken):
            must_be_access_token(claims, issuer=ISSUER, audience=audience, now=NOW)
