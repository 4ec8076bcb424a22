"""Whether keys can meet, as the templates tell, against keys that are written."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from potluck.table import OrNull, Seconds
from potluck.table.design.shapes import can_be_between, can_begin, can_equal, segments, template_segments
from potluck.table.fields import plan_fields
from potluck.table.keys import Component, KeyTemplate


class Ware(msgspec.Struct, kw_only=True):
    id: UUID
    name: Annotated[str, Meta(min_length=1, max_length=10)]
    code: Annotated[str, Meta(min_length=2, max_length=3)]
    state: Literal["open", "closed", "A"]
    place: Annotated[int, Meta(ge=0, le=999)]
    balance: Annotated[int, Meta(ge=-99, le=99)]
    price: Decimal
    new: bool
    at: Seconds
    day: date
    seller: OrNull[UUID]


FIELDS = plan_fields(Ware)
VALUES = {
    "id": st.integers(0, 3).map(lambda number: UUID(int=number)),
    "name": st.text('aAz0 "#-', min_size=1, max_size=10)
    | st.sampled_from(["A", "open", "NONE", "true", "005", "-95", "2024-01-01"]),
    "code": st.text('aAz0 "#', min_size=2, max_size=3),
    "state": st.sampled_from(["open", "closed", "A"]),
    "place": st.integers(0, 999),
    "balance": st.integers(-99, 99),
    "price": st.decimals(-99, 99, places=2),
    "new": st.booleans(),
    "at": st.datetimes(datetime(2024, 1, 1), datetime(2024, 1, 3), timezones=st.just(UTC)),
    "day": st.dates(date(2024, 1, 1), date(2024, 1, 3)),
    "seller": st.none() | st.integers(0, 3).map(lambda number: UUID(int=number)),
}
TEXTS = [
    "A#{id}",
    "A#{id}#B",
    "{id}",
    "{id:hex}",
    "{name}",
    "A#{name}",
    "{name}#A",
    "A#{name:folded}#{place:03}",
    "A#{code}#{place:03}",
    "{state}#{id}",
    "A#{state}",
    "{place}",
    "{place:03}",
    "{balance:02}",
    "{price:02.2}",
    "A{new}",
    "{new}#{day}",
    "{day}#{id}",
    "{at}",
    "{seller|NONE}#{state}",
    "AB#{id}",
    "A",
    "A#",
    "NONE#open",
]
TEMPLATES = [KeyTemplate.parse(text, FIELDS, "test") for text in TEXTS]
SEGMENTS = {template.text: template_segments(template, FIELDS) for template in TEMPLATES}


def key(data: st.DataObject, template: KeyTemplate) -> str:
    written = template.encode({name: data.draw(VALUES[name]) for name in template.fields} if template.fields else {})
    assert written is not None
    return written


def beginning(template: KeyTemplate, count: int) -> list[str | Component]:
    """The first components with the literals around them."""
    parts: list[str | Component] = [template.literals[0]]
    for component, literal in zip(template.components[:count], template.literals[1:], strict=False):
        parts += [component, literal]
    return parts


@given(st.data(), st.sampled_from(TEMPLATES), st.sampled_from(TEMPLATES))
def test_keys_that_are_equal_were_told_to_be_able_to(data, one, other):
    if key(data, one) == key(data, other):
        assert can_equal(SEGMENTS[one.text], SEGMENTS[other.text])


@given(st.data(), st.sampled_from(TEMPLATES), st.sampled_from(TEMPLATES))
def test_a_key_that_begins_so_was_told_to_be_able_to(data, one, other):
    count = data.draw(st.integers(0, len(one.components)))
    given_values = {name: data.draw(VALUES[name]) for name in one.fields[:count]}
    if key(data, other).startswith(one.prefix(given_values, count)):
        assert can_begin(segments(beginning(one, count), FIELDS), SEGMENTS[other.text])


@given(st.data(), st.sampled_from(TEMPLATES), st.sampled_from(["", "A", "A#", "A#0", "a", "0"]), st.text("A#0az~$"))
def test_a_key_between_two_others_was_told_to_be_able_to(data, template, low, high):
    if low <= key(data, template) <= high and template.literal_prefix:
        assert can_be_between(low, high, SEGMENTS[template.text])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{name}", "A"),
        ("{name}", "{new}"),
        ("A#{name}", "A#{state}"),
        ("A#{name}", "A#{code}"),
        ("{name}", "{place:03}"),
        ("{name}", "{balance:02}"),
        ("{state}", "A"),
        ("{seller|NONE}#{state}", "NONE#open"),
        ("{seller|NONE}", "{id}"),
        ("{place}", "{place:03}"),
    ],
)
def test_keys_that_can_meet_are_told_to(one, other):
    shapes = [template_segments(KeyTemplate.parse(text, FIELDS, "test"), FIELDS) for text in (one, other)]
    assert can_equal(*shapes)
    assert can_equal(*reversed(shapes))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A#{id}", "A#{state}"),  # no id is one of the choices
        ("A#{id}", "A#{id}#B"),
        ("{id}", "{id:hex}"),
        ("{place:03}", "{balance:02}"),
        ("{new}#{day}", "{state}#{id}"),
        ("{at}", "{id}"),
        ("{seller|NONE}#{state}", "{state}#{id}"),
        ("A#{id}", "AB#{id}"),
        ("A#", "A"),
    ],
)
def test_keys_that_never_meet_are_told_apart(one, other):
    assert not can_equal(SEGMENTS[one], SEGMENTS[other])
    assert not can_equal(SEGMENTS[other], SEGMENTS[one])


@pytest.mark.parametrize(
    ("prefix", "template"),
    [("A#", "AB#{id}"), ("AB#", "A#{id}"), ("A#B", "A#{id}"), ("open#", "{id}#A"), ("A#x#", "A#{name}"), ("B", "A")],
)
def test_prefixes_that_no_key_has_are_told_apart(prefix, template):
    parsed = template_segments(KeyTemplate.parse(template, FIELDS, "test"), FIELDS)
    assert not can_begin(segments([prefix], FIELDS), parsed)


@pytest.mark.parametrize(("prefix", "template"), [("A#f", "A#{id}"), ("o", "{state}#{id}"), ("A#xy", "A#{name}")])
def test_prefixes_that_only_some_values_have_count(prefix, template):
    assert can_begin(segments([prefix], FIELDS), SEGMENTS[template])


@pytest.mark.parametrize(("low", "high"), [("B", "C"), ("A$", "Z"), ("", "A"), ("A#g", "A#z")])
def test_ranges_that_hold_no_key_are_told_apart(low, high):
    assert not can_be_between(low, high, SEGMENTS["A#{id}"])
