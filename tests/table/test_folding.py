"""Folded text finds what people mean, and sorts without surprises next to "#"."""

import sys
import unicodedata

import pytest

from potluck.table.keys import folding
from potluck.table.keys.folding import FOLDED_BYTES_PER_CHARACTER, fold

# Not assigned, private, or half of a pair: no fold knows them, and each takes four bytes at most.
UNKNOWN = {"Cn", "Co", "Cs"}


def every_known_character() -> list[str]:
    return [each for each in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(each) not in UNKNOWN]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Chroniques de Dragonlance", "chroniques_de_dragonlance"),
        ("  Dragons d'un\tcrépuscule \n d'automne ", "dragons_d'un_crepuscule_d'automne"),
        ("ÉCOLE", "ecole"),
        ("E\u0301cole", "ecole"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Đà Nẵng", "đa_nang"),
        ("#1 Hits!", "1_hits_"),
        ('"Heroes"', "_heroes_"),
        ("a # b", "a_b"),
        ("nul\0", "nul_"),
        ("#", ""),
        ("  ", ""),
        ("", ""),
        ("\u0301", ""),
    ],
)
def test_accents_case_and_spacing_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize("text", ["が", "कु", "ไม้", "한국어", "≠", "東京"])
def test_marks_that_make_another_letter_stay(text: str) -> None:
    assert fold(text) == unicodedata.normalize("NFC", text)


def test_different_letters_are_not_one() -> None:
    assert fold("か") != fold("が")
    assert fold("क") != fold("कु")


def test_whatever_the_character_its_fold_is_short_sorts_after_the_separator_and_is_folded_already() -> None:
    longest = 0
    for character in every_known_character():
        folded = fold(character)
        longest = max(longest, len(folded.encode()))
        assert all(each > "#" for each in folded), hex(ord(character))
        assert not set(folded) & set("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), hex(ord(character))
        assert fold(folded) == folded, hex(ord(character))
    assert longest == FOLDED_BYTES_PER_CHARACTER


def test_a_cut_fits_and_ends_with_a_whole_character() -> None:
    assert fold("abcdefgh", 8) == "abcde"
    assert fold("abcde", 8) == "abcde"
    assert fold("abcd\U0001f600x", 8) == "abcd\U0001f600"
    assert fold("abcde\U0001f600", 8) == "abcde"
    assert fold("abc", 3) == ""


def test_a_cut_never_turns_the_order_around() -> None:
    # A cut that kept "a" where "é" does not fit would put "xxxxxxxa" behind "xxxxxxxà…".
    narrow, wide = "xxxxxxxz", "xxxxxxx\u0436"
    assert fold(narrow) < fold(wide)
    for most in range(4, 16):
        assert fold(narrow, most) <= fold(wide, most)


def test_only_names_are_cached_and_no_longer_text_that_would_fill_the_memory() -> None:
    folding._folded.cache_clear()
    name, longer = "É" * folding.LONGEST_NAME, "É" * (folding.LONGEST_NAME + 1)
    for _ in range(2):
        assert (fold(name), fold(longer)) == ("e" * len(name), "e" * len(longer))
    assert folding._folded.cache_info()[:2] == (1, 1)
