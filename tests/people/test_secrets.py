"""Secrets are long, say what they are for, and are known by their hashes."""

import re
from random import Random

from potluck.people.secrets import SecretKind, hash_of, kind_of, new_id, new_secret


def test_a_secret_says_what_it_is_for_and_has_256_random_bits():
    for kind in SecretKind:
        secret = new_secret(kind)
        assert re.fullmatch(f"{kind.value}_[0-9a-f]{{64}}", secret)
        assert kind_of(secret) is kind
    assert len({new_secret(SecretKind.SESSION) for _ in range(100)}) == 100


def test_secrets_and_ids_come_from_the_given_source():
    class Zeros(Random):
        def randbytes(self, n: int) -> bytes:
            return bytes(n)

    assert new_secret(SecretKind.INVITATION, Zeros()) == "pli_" + "00" * 32
    assert str(new_id(Zeros())) == "00000000-0000-4000-8000-000000000000"
    assert new_id().version == 4


def test_what_was_never_a_secret_of_ours_has_no_kind():
    for text in ("", "pls", "PLS_00", "plx_00", "_", "pls_" + "0" * 200, "pls_ä", "Basic 00"):
        assert kind_of(text) is None


def test_a_secret_is_known_by_its_hash():
    secret = new_secret(SecretKind.SESSION)
    assert re.fullmatch("[0-9a-f]{64}", hash_of(secret))
    assert hash_of("\ud800")
