"""Collation: the order in which people look up titles."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.table.keys.collation import collate
from potluck.table.keys.folding import fold

IN_ORDER = [
    "7", "Les 9 princes", "The 39 Steps", "101 Ways", "1984", "2001", "100000000000 Stars",
    "Æon", "Aeroplane", "...and Justice for All", "Apollo 9", "Apollo 10", "Apollo 013", "As I Lay Dying",
    "L’Été", "L'Étranger", "Être", "Foo", "The Foo", "Foo Bar", '"Foo" Fighters', "Foo Fighterz", "I, Robot", "Lodz",
    "Łódź", "Lzz", "Odyssey", "Øen", "Œuvres", "Ole", "Der Prozess", "¿Qué?", "“Surely You’re Joking”", "The",
    "'Tis", "Die Verwandlung", "Het Zand", "村上",
]  # fmt: skip


def test_titles_sort_as_on_a_shelf() -> None:
    shuffled = random.Random(3).sample(IN_ORDER, len(IN_ORDER))
    assert sorted(shuffled, key=collate) == IN_ORDER


@pytest.mark.parametrize("text", ["The", "A", "L'", "A.I.", "Thermal", "Lestat", "Una", "O'Brien"])
def test_what_only_looks_like_an_article_stays(text: str) -> None:
    assert collate(text).startswith(fold(text)[0])


@pytest.mark.parametrize(
    ("one", "other"), [("Foo", "The Foo"), ("Foo", "«Foo»"), ("Lodz", "Łódź"), ("7", "007"), ("Foo", "$Foo")]
)
def test_names_that_sort_alike_are_still_two(one: str, other: str) -> None:
    assert collate(one).split("$")[0] == collate(other).split("$")[0]
    assert collate(one) != collate(other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_names_are_one_exactly_if_they_fold_alike(one: str, other: str) -> None:
    assert (collate(one) == collate(other)) == (fold(one) == fold(other))


@given(st.text(max_size=40))
def test_every_character_sorts_after_the_separator(text: str) -> None:
    assert all(character > "#" for character in collate(text))


@given(st.text(max_size=60), st.text(max_size=60), st.integers(8, 40))
def test_cut_texts_keep_their_order(one: str, other: str, most: int) -> None:
    first, second = sorted((one, other), key=lambda text: collate(text).encode())
    cut = [collate(each, most).encode() for each in (first, second)]
    assert cut == sorted(cut)
    assert all(len(each) <= most for each in cut)
