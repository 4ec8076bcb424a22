"""Which characters text may have: none that end a line, hide or reorder; all that scripts and emoji need."""

import sys
import unicodedata
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.validation import Schemas, decode
from potluck.validation.characters import one_line, seen, several_lines, with_line_ends
from potluck.validation.errors import ValidationError
from potluck.validation.field_types import Text
from potluck.web.inputs import Input

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

READABLE = [
    "Milk",
    "Milch für Ünal",
    "می\u200cخواهم",  # Persian: a joiner makes another word
    "ක්\u200dරි",  # Sinhala
    "សូម\u200bអរគុណ",  # Khmer keyboards put this between words
    "a \u200fשלום\u200e b",  # marks of direction
    "牛乳\u3000１本",
    "dix\u00a0€",
    "葛\U000e0100飾",  # how a name is written in Japan
    "❤\ufe0f",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    ENGLAND,
    "\u1100\u1160\u11a8",  # old Korean needs its filler
    "\u0604\u0661",
    "e\u0301",
    "\U0001fae8\U0001fadc",  # emoji that older Pythons do not know
    "\u1820\u180e\u1820",
    "\u1820\u180b",
    "അവന്\u200d",  # Malayalam: a joiner ends the word
    "র\u200d\u09cdয\u09be",  # Bengali
    "ไทย\u200bแลนด์",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
    "\U0001f469\U0001f3fd\u200d\U0001f373",
    "\U0001f642\u200d\u2194\ufe0f",
    "Room 1\ufe0f\u20e3",
    "©\ufe0f",
    "\u2801\u2800\u2803",  # a space between words in Braille
    "\u05d0\u05b7\u034f\u05b0",
    "\U00013000\U00013430\U00013001",
]

WRONG_IN_ONE_LINE = {
    "must be one line": ["a\nb", "a\rb", "a\r\nb", "a\x85b", "a\u2028b", "a\u2029b"],
    "must not contain U+0000": ["a\0", "\0"],
    "must not contain U+0009": ["a\tb"],
    "must not contain U+001B": ["\x1b[2Ja"],
    "must not contain U+009F": ["a\x9f"],
    "must not contain U+202E": ["a\u202eb"],
    "must not contain U+202A": ["\u202aa"],
    "must not contain U+2066": ["\u2066a\u2069"],
    "must not contain U+00AD": ["Butter\u00admilch"],
    "must not contain U+FEFF": ["\ufeffa"],
    "must not contain U+2060": ["a\u2060b"],
    "must not contain U+E000": ["a\ue000"],
    "must not contain U+FFFF": ["a\uffff"],
    "must not contain U+1FFFE": ["\U0001fffe"],
    "must not contain U+10FFFF": ["\U0010ffff"],
    "must not contain U+D800": ["a\ud800"],
    "must not contain U+E0061": ["a\U000e0061", f"{ENGLAND}\U000e0061", "\U0001f3f4\U000e0061\U000e007f"],
    # Where no script and no emoji needs them, one name would pass for another.
    "must not contain U+200B": ["Ada\u200b", "\u200bAda", "A\u200bda", "ไทย\u200b", "ไทย\u200b\u200bไทย", "牛\u200b乳"],
    "must not contain U+200C": ["Ada\u200c", "Auf\u200clage", "\u0645\u200c", "\u0645\u200c\u200c\u0645"],
    "must not contain U+200D": ["A\u200dda", "\u200dAda", "\U0001f469\u200d", "\U0001f469\u200dA"],
    "must not contain U+200E": ["Ada\u200e"],
    "must not contain U+200F": ["Ada\u200f Lovelace"],
    "must not contain U+FE0F": ["Ada\ufe0f", "Room 1\ufe0f"],
    "must not contain U+FE00": ["Ada\ufe00"],
    "must not contain U+E0100": ["Ada\U000e0100"],
    "must not contain U+034F": ["A\u034fda"],
    "must not contain U+180E": ["Ada\u180e"],
    "must not contain U+2800": ["Ada\u2800", "\u2801\u2800"],
    "must not contain U+3164": ["Ada\u3164"],
    "must not contain U+FFA0": ["Ada\uffa0"],
    "must not contain U+115F": ["Ada\u115f"],
    "must not contain U+1160": ["Ada\u1160"],
    "must not contain U+17B4": ["Ada\u17b4"],
    "must not contain U+13430": ["Ada\U00013430"],
    "must have a visible character": [
        *("\u200b", "\u200d\u200c", "\ufe0f", "\u0301", "\u0301\u0302", "\u3164", "\u2800", "\u115f\u1160", "\u200e"),
        *("\uffa0", "\u034f", "\U000e0100", "\u00a0\u200b"),
    ],
}


@pytest.mark.parametrize("text", READABLE)
def test_what_scripts_and_emoji_need_stays(text):
    assert one_line(text) is several_lines(text) is None


@pytest.mark.parametrize("wrong", WRONG_IN_ONE_LINE)
def test_what_ends_the_line_hides_or_reorders_is_named(wrong):
    assert {one_line(text) for text in WRONG_IN_ONE_LINE[wrong]} == {wrong}


def test_several_lines_may_have_tabs_line_ends_and_what_is_harmless_in_prose():
    assert several_lines("a\tb\n\nc \u2068שלום\u2069 Butter\u00admilch") is None
    wrong = [
        "\0",
        "\x0b",
        "\x1b",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202a",
        "\u202e",
        "\ufff9",
        "\ue000",
        "\ud800",
        "\U000e0061",
    ]
    assert [several_lines(f"a\n{each}") for each in wrong] == [f"must not contain U+{ord(each):04X}" for each in wrong]


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=8))
def test_one_line_is_what_python_takes_for_one_with_something_printable_in_it(text):
    if one_line(text) is not None:
        return
    assert len(text.splitlines()) <= 1
    text.encode()
    assert several_lines(text) is None
    assert not text or any(each.isprintable() or unicodedata.category(each) == "Cn" for each in seen(text).strip())


def test_of_the_characters_that_are_not_printable_only_these_are_taken():
    taken = {
        f"{code:04X}"
        for code in range(sys.maxunicode + 1)
        if not (each := chr(code)).isprintable()
        and unicodedata.category(each) not in ("Zs", "Cn")
        and one_line(f"a{each}") is None
    }
    # Signs that are seen, which Unicode counts among the formats.
    numbers = {"0600", "0601", "0602", "0603", "0604", "0605", "06DD", "0890", "0891", "08E2", "110BD", "110CD"}
    abbreviation = {"070F"}
    assert taken == numbers | abbreviation


def test_no_letter_of_europe_or_east_asia_is_followed_by_anything_that_is_not_seen():
    letters = "aZéßЖωあ한"
    unseen = [chr(code) for code in range(sys.maxunicode + 1) if not seen(chr(code))]
    assert len(unseen) > 280
    taken = {f"{each} U+{ord(hidden):04X}" for each in letters for hidden in unseen if one_line(each + hidden) is None}
    assert taken == set()
    assert all(several_lines("a" + hidden) is None for hidden in unseen)


class Noted(Input):
    name: Annotated[str, Text(1, 5, "Name must have 1 to 5 characters")]
    note: Annotated[str, Text(0, 5, "Note can have 5 characters", kind="lines")] | None = None


def test_space_is_trimmed_and_line_ends_become_one_before_bounds_are_held():
    made = decode(Noted, b'{"name": "\\n\\u2028 Ada \\t", "note": " a\\r\\nb\\rc\\r\\n"}')
    assert (made.name, made.note) == ("Ada", "a\nb\nc")
    assert decode(Noted, b'{"name": "Ada", "note": "\\r\\n"}').note is None


def test_errors_name_the_field_and_what_is_wrong_with_it():
    with pytest.raises(ValidationError) as refused:
        decode(Noted, b'{"name": "a\\u202eb", "note": "a\\u0000"}')
    assert [(each.field, each.message) for each in refused.value.errors] == [
        ("name", "Name must not contain U+202E"),
        ("note", "Note must not contain U+0000"),
    ]
    with pytest.raises(ValidationError, match="Name must have 1 to 5 characters"):
        decode(Noted, b'{"name": "abcdef"}')


def test_the_rule_is_told_in_the_schema():
    schemas = Schemas([Noted])
    schemas.of_input(Noted)
    name, note = schemas.components["Noted"]["properties"].values()
    assert name["description"].startswith("One line with at least one visible character")
    assert note["anyOf"][0]["description"].startswith("Line ends become U+000A")


def test_line_ends_become_line_feeds():
    assert with_line_ends("a\r\nb\n\rc\x85d\u2028e\u2029") == "a\nb\n\nc\nd\ne\n"
