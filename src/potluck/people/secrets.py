"""Secrets that a person or a program holds, and the hashes that the table has instead."""

from enum import StrEnum
from hashlib import sha256
from random import Random, SystemRandom
from uuid import UUID

SYSTEM_RANDOM: Random = SystemRandom()

SECRET_BYTES = 32
LONGEST_SECRET = 100


class SecretKind(StrEnum):
    """What a secret is for, by its prefix: a person who finds one in a file knows what to revoke."""

    SESSION = "pls"
    API_TOKEN = "plt"
    INVITATION = "pli"
    PASSWORD_RESET = "plr"


KINDS: dict[str, SecretKind] = {kind.value: kind for kind in SecretKind}


def new_secret(kind: SecretKind, random: Random = SYSTEM_RANDOM) -> str:
    """256 random bits, safe in a link, a header or a cookie."""
    # In hexadecimal: a "-" or "_" at the end is easily lost when a link is copied.
    return f"{kind}_{random.randbytes(SECRET_BYTES).hex()}"


def kind_of(secret: str) -> SecretKind | None:
    """The kind of secret this could be; None if it cannot be one of ours."""
    if len(secret) > LONGEST_SECRET or not secret.isascii():
        return None
    return KINDS.get(secret.partition("_")[0]) if "_" in secret else None


def hash_of(secret: str) -> str:
    """What is stored of a secret. It is long and random, so a fast hash is enough."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_id(random: Random = SYSTEM_RANDOM) -> UUID:
    """A UUID of version 4."""
    return UUID(bytes=random.randbytes(16), version=4)
