"""Lines as people type or paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.apps.shopping.line_parser import ShoppingLine, line_errors, read_lines


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2 milk\nbread", [("milk", 2, None), ("bread", None, None)]),
        ("  12   eggs  ", [("eggs", 12, None)]),
        ("2x milk", [("milk", 2, None)]),
        ("2 x milk", [("milk", 2, None)]),
        ("3 × tea", [("tea", 3, None)]),
        ("500 g flour", [("flour", 500, "g")]),
        ("500g flour", [("flour", 500, "g")]),
        ("2 L milk", [("milk", 2, "l")]),
        ("2 lemons", [("lemons", 2, None)]),
        ("2 grapes", [("grapes", 2, None)]),
        (
            "- bread\n* 2 milk\n• tea\n[ ] salt\n[x] 3 eggs\n- [ ] rice\n☐ oats",
            [
                ("bread", None, None),
                ("milk", 2, None),
                ("tea", None, None),
                ("salt", None, None),
                ("eggs", 3, None),
                ("rice", None, None),
                ("oats", None, None),
            ],
        ),
        ("7", [("7", None, None)]),
        ("7up", [("7up", None, None)]),
        ("500g", [("500g", None, None)]),
        ("0 milk", [("0 milk", None, None)]),
        ("02 milk", [("02 milk", None, None)]),
        ("100000 beans", [("beans", 100_000, None)]),
        ("100001 beans", [("100001 beans", None, None)]),
        ("1234567 beans", [("1234567 beans", None, None)]),
        ("1.5 l milk", [("1.5 l milk", None, None)]),
        ("-5 degrees", [("-5 degrees", None, None)]),
        ("\r\n\r\nbread\r\n \r\n", [("bread", None, None)]),
        ("", []),
        ("- \n* ", [("-", None, None), ("*", None, None)]),
    ],
)
def test_a_line_is_a_name_with_perhaps_an_amount_in_front(text, read):
    assert [(line.name, line.quantity, line.unit) for line in read_lines(text)] == read


def test_a_line_knows_its_number():
    assert [line.number for line in read_lines("a\n\nb\n")] == [1, 3]


def test_what_cannot_be_added_is_told_by_line():
    assert line_errors([ShoppingLine(1, "a"), ShoppingLine(4, "x" * 101)]) == ["Line 4: Name must be 1-100 characters"]
    assert line_errors([ShoppingLine(1, "x" * 100)]) == []


@given(st.text())
def test_whatever_is_pasted_is_read_as_names_without_space_around_them(text):
    for line in read_lines(text):
        assert line.name
        assert line.name == line.name.strip()
        assert line.quantity is None or 1 <= line.quantity <= 100_000
