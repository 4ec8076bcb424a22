"""Secrets are long, say what they are for, and are known by their hashes."""

import re

from potluck.people.secrets import SecretKind, hash_of, kind_of, matches, new_id, new_secret


def test_a_secret_says_what_it_is_for_and_has_256_random_bits():
    for kind in SecretKind:
        secret = new_secret(kind)
        assert re.fullmatch(f"{kind.value}_[0-9a-f]{{64}}", secret)
        assert kind_of(secret) is kind
    assert len({new_secret(SecretKind.SESSION) for _ in range(100)}) == 100


def test_secrets_and_ids_come_from_the_given_source():
    def zeros(size: int) -> bytes:
        return bytes(size)

    assert new_secret(SecretKind.INVITATION, zeros) == "pli_" + "00" * 32
    assert str(new_id(zeros)) == "00000000-0000-4000-8000-000000000000"
    assert new_id().version == 4


def test_what_was_never_a_secret_of_ours_has_no_kind():
    for text in ("", "pls", "PLS_00", "plx_00", "_", "pls_" + "0" * 200, "pls_ä", "Basic 00"):
        assert kind_of(text) is None


def test_a_secret_is_known_by_its_hash():
    secret = new_secret(SecretKind.SESSION)
    assert re.fullmatch("[0-9a-f]{64}", hash_of(secret))
    assert matches(secret, hash_of(secret))
    assert not matches(secret, hash_of(secret + "0"))
    assert hash_of("\ud800")
