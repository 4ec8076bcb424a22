"""Keys tell all values apart, are read back whole, and what is found by them is what comparing the values finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from potluck.table.fields import InKeys, Limits, Milliseconds, Seconds, plan_fields
from potluck.table.keys import KeyPlan, KeyTemplate
from potluck.table.keys.folding import FOLDED_BYTES_PER_CHARACTER, fold
from potluck.table.keys.ranges import Range, SortCondition, StartsWith, sort_condition, successor
from potluck.table.keys.text_forms import escape, unescape

SETTINGS = settings(max_examples=100)
SETTINGS_FOR_EACH_KIND = settings(max_examples=30)
SOAK_SETTINGS = settings(max_examples=1_000)
LONGEST = 4

# What a careless key would confuse: the separator, the escapes and what sorts around them, ends of the alphabet.
TEXT = st.text(st.sampled_from('a!"#~$b _\0é\u0301Z\uffff\ud7ff\ue000\U0001f600\U0010ffff'), max_size=LONGEST)
ANY_TEXT = TEXT | st.text(max_size=LONGEST)
LONG_TEXT = st.builds(lambda text, times: text * times, ANY_TEXT, st.integers(1, 4))
DECIMALS = st.decimals(-999, 999, places=2) | st.sampled_from(
    [Decimal(text) for text in ("0", "-0.0", "-0.01", "1E+1")]
)
TENTHS = st.integers(0, 99).map(lambda tenths: Decimal(tenths) / 10)
UUIDS = st.sampled_from([UUID(int=0), UUID(int=1), UUID(int=2**128 - 1)]) | st.uuids()
TIMES = st.datetimes(
    datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))])
) | st.integers(-5, 5).map(lambda steps: datetime(2025, 1, 1, tzinfo=UTC) + steps * timedelta(milliseconds=400))


def cut_to(unit: timedelta) -> Callable[[datetime], datetime]:
    return lambda time: datetime.min.replace(tzinfo=UTC) + (time - datetime.min.replace(tzinfo=UTC)) // unit * unit


@dataclass(frozen=True)
class Sort:
    """A kind of component: how it is declared and spelt, its values, and what ranges may ask of it."""

    type: Any
    spec: str
    values: st.SearchStrategy[Any]
    bounds: st.SearchStrategy[Any]
    around: Callable[[Any], list[Any]] = lambda value: [value]  # bounds that are hard to get right
    compared_as: Callable[[Any], Any] = lambda value: value
    anywhere: bool = True  # ranges of it need not be on the end of the key


def around_text(text: str) -> list[str]:
    return [text, text + "a", text[:-1], (text or "a") * LONGEST]


def around_number(number: Any) -> list[Any]:
    return [number, number + 1, number - 1]


def around_amount(amount: Decimal) -> list[Decimal]:
    return [amount, amount + Decimal("0.004"), amount - Decimal("0.004")]


def around_time(time: datetime) -> list[datetime]:
    return [time, time + timedelta(microseconds=400), time + timedelta(milliseconds=400)]


TEXT_TYPE = Annotated[str, Meta(max_length=LONGEST)]
SORTS = {
    "text": Sort(TEXT_TYPE, "", ANY_TEXT, LONG_TEXT, around_text, anywhere=False),
    "folded": Sort(TEXT_TYPE, ":folded", ANY_TEXT, LONG_TEXT, around_text, fold),
    "cut": Sort(Annotated[str, Meta(max_length=60)], ":folded 12", LONG_TEXT, LONG_TEXT, around_text, fold),
    "digits": Sort(Annotated[int, Meta(ge=0)], ":03", st.integers(0, 999), st.integers(-2, 1002), around_number),
    "signed": Sort(int, ":02", st.integers(-99, 99), st.integers(-102, 102), around_number),
    "one digit": Sort(Annotated[int, Meta(ge=0, le=9)], "", st.integers(0, 9), st.integers(-1, 11), around_number),
    "decimal": Sort(Decimal, ":3.2", DECIMALS, DECIMALS, around_amount),
    "positive": Sort(Annotated[Decimal, Limits(ge=0)], ":1.1", TENTHS, DECIMALS, around_amount),
    "seconds": Sort(Seconds, "", TIMES.map(cut_to(timedelta(seconds=1))), TIMES, around_time),
    "milliseconds": Sort(Milliseconds, "", TIMES.map(cut_to(timedelta(milliseconds=1))), TIMES, around_time),
    "date": Sort(date, "", st.dates(), st.dates()),
    "uuid": Sort(UUID, "", UUIDS, UUIDS),
    "hex": Sort(UUID, ":hex", UUIDS, UUIDS),
    "boolean": Sort(bool, "", st.booleans(), st.booleans()),
    "choice": Sort(Literal["a", "b#", "c!"], "", st.sampled_from(["a", "b#", "c!"]), TEXT, around_text),
}
UNORDERED = {
    "unpadded": Sort(Annotated[int, Meta(ge=-50, le=150)], "", st.integers(-50, 150), st.nothing()),
    "custom": Sort(Annotated[list[str], InKeys("".join, list, 4 * LONGEST)], "", ANY_TEXT.map(list), st.nothing()),
    "overlapping": Sort(Literal["a", "a!", "ab", ""], "", st.sampled_from(["a", "a!", "ab", ""]), st.nothing()),
}
SELF_ENDING = {"digits", "signed", "one digit", "decimal", "seconds", "date", "uuid", "hex", "boolean", "choice"}
LOSSLESS = {name: sort for name, sort in (SORTS | UNORDERED).items() if "folded" not in sort.spec}


@cache
def parsed(text: str, kinds: tuple[tuple[str, str], ...], optional: frozenset[str] = frozenset()) -> KeyTemplate:
    """A template whose components are of these kinds."""
    types = [(name, (SORTS | UNORDERED)[kind].type) for name, kind in kinds]
    fields = [(name, type | None if name in optional else type) for name, type in types]
    return KeyTemplate.parse(text, plan_fields(msgspec.defstruct("Row", fields)), "Row.key")


# --- distinct values never share a key -------------------------------------------------------------------------------


@st.composite
def templates(draw: st.DrawFn, kinds: dict[str, str], optional: frozenset[str]) -> KeyTemplate:
    """A key of these components with any text around them."""
    text = draw(st.sampled_from(["A#", 'K"', "#"] + [""] * bool(kinds)))
    for place, (name, kind) in enumerate(kinds.items()):
        tells_its_end = kind in SELF_ENDING and name not in optional
        follows = draw(st.sampled_from(["#", "#b_", "##", '#"'] + ["0", "-1"] * tells_its_end))
        if place == len(kinds) - 1 and text:
            follows = draw(st.sampled_from(["", follows]))
        substitute = '|"' if name in optional else ""
        text += f"{{{name}{LOSSLESS[kind].spec}{substitute}}}{follows}"
    return parsed(text, tuple(kinds.items()), optional)


@st.composite
def primary_keys(draw: st.DrawFn) -> tuple[KeyPlan, st.SearchStrategy[dict[str, Any]]]:
    """A table's key of any components, and how to draw their values."""
    drawn = draw(st.lists(st.sampled_from(sorted(LOSSLESS)), min_size=1, max_size=4))
    kinds = {f"f{place}": kind for place, kind in enumerate(drawn)}
    optional = frozenset(draw(st.lists(st.sampled_from(sorted(kinds)), max_size=1)))
    split = draw(st.integers(0, len(kinds)))
    partition, sort = (
        draw(templates(dict(part), optional & {name for name, _ in part}))
        for part in (list(kinds.items())[:split], list(kinds.items())[split:])
    )
    values = {name: LOSSLESS[kind].values for name, kind in kinds.items()}
    for name in optional:
        values[name] |= st.none()
    return KeyPlan(None, "PK", "SK", partition, (sort,)), st.fixed_dictionaries(values)


def check_primary_key(data: st.DataObject) -> None:
    key, drawn = data.draw(primary_keys())
    one, other = data.draw(drawn), data.draw(drawn)
    # Values that differ in little are the likeliest to be confused.
    for name in data.draw(st.sets(st.sampled_from(sorted(one)))):
        other[name] = one[name]
    pairs = set()
    for values in (one, other):
        pair = key.encode(values)
        assert pair is not None
        for text, template in zip(pair, (key.partition, *key.sort), strict=True):
            assert text is not None
            assert len(text.encode()) <= template.max_bytes
        assert key.decode(key.wire(values)) == values
        pairs.add(pair)
    assert (len(pairs) == 1) == (one == other)


@given(st.data())
@SETTINGS
def test_a_primary_key_is_read_back_whole_and_belongs_to_one_row(data: st.DataObject) -> None:
    check_primary_key(data)


@pytest.mark.soak
@given(st.data())
@SOAK_SETTINGS
def test_a_primary_key_is_read_back_whole_and_belongs_to_one_row_for_long(data: st.DataObject) -> None:
    check_primary_key(data)


@given(TEXT, TEXT)
@SETTINGS
def test_escaping_keeps_order_beginnings_and_everything_else_but_the_separator(one: str, other: str) -> None:
    assert unescape(escape(one)) == one
    assert "#" not in escape(one)
    assert (one < other) == (escape(one) < escape(other))
    assert one.startswith(other) == escape(one).startswith(escape(other))
    if '"' not in one and "#" not in one:
        assert escape(one) == one


@given(st.text(), st.text(), st.integers(4, 30))
@SETTINGS
def test_folding_is_done_once_and_cutting_keeps_the_order(one: str, other: str, most: int) -> None:
    folded = fold(one)
    assert fold(folded) == folded
    assert len(folded.encode()) <= FOLDED_BYTES_PER_CHARACTER * len(one)
    assert folded.startswith(fold(one, most))
    assert len(fold(one, most).encode()) <= most
    if folded <= fold(other):
        assert fold(one, most) <= fold(other, most)


@pytest.mark.parametrize("kind", ["folded", "cut"])
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_a_folded_key_is_no_longer_than_promised(kind: str, data: st.DataObject) -> None:
    template = parsed(f"{{f{SORTS[kind].spec}}}#", (("f", kind),))
    key = template.encode({"f": data.draw(SORTS[kind].values)})
    assert key is not None
    assert len(key.encode()) <= template.max_bytes
    assert template.decode(key) == {}


# --- what is found is what comparing the values finds ----------------------------------------------------------------


def lets_through(condition: SortCondition, key: str) -> bool:
    """Whether the service would find the key, which it compares by its bytes; refusing what the service refuses."""
    text, values = key.encode(), [value.encode() for value in condition.values]
    assert all(0 < len(value) <= 1024 for value in values)
    match condition.operator:
        case "none":
            return True
        case "=":
            return text == values[0]
        case "begins_with":
            return text.startswith(values[0])
        case ">=":
            return text >= values[0]
        case "<=":
            return text <= values[0]
        case "BETWEEN":
            assert values[0] <= values[1], "the service refuses bounds in the wrong order"
            return values[0] <= text <= values[1]


def found(condition: SortCondition, key: str, row: SimpleNamespace) -> bool:
    return lets_through(condition, key) and (condition.keep is None or condition.keep(row))


def in_range(sort: Sort, asked: Range[Any], value: Any) -> bool:
    """By comparing the values."""
    value = sort.compared_as(value)
    low = None if asked.low is None else sort.compared_as(asked.low)
    high = None if asked.high is None else sort.compared_as(asked.high)
    return (low is None or value > low or (value == low and not asked.low_open)) and (
        high is None or value < high or (value == high and not asked.high_open)
    )


BEGINNINGS = ["", "P#", "P#{before}#"]
ENDINGS = ["", "#", "#Z", "#{after}", "#~#{after}"]


def ranges_of(bounds: list[Any]) -> Iterator[Range[Any]]:
    """Every range that these bounds make."""
    flags = (False, True)
    for one, other, low_open, high_open in product([*bounds, None], [*bounds, None], flags, flags):
        yield Range(one, other, low_open=low_open, high_open=high_open)


def check_range_of(kind: str, data: st.DataObject) -> None:
    sort = SORTS[kind]
    ending = data.draw(st.sampled_from(ENDINGS if sort.anywhere else [""]))
    substitute = data.draw(st.sampled_from(["", '|"']))
    beginning = data.draw(st.sampled_from(BEGINNINGS))
    kinds = (("before", "text"), ("f", kind), ("after", "text"))
    template = parsed(f"{beginning}{{f{sort.spec}{substitute}}}{ending}", kinds, frozenset({"f"} if substitute else ()))
    values = data.draw(st.lists(sort.values, min_size=1, max_size=5))
    bounds = [bound for value in values[:2] for bound in sort.around(value)] + data.draw(
        st.lists(sort.bounds, max_size=2)
    )
    before, after = data.draw(TEXT), data.draw(TEXT)
    given_before = {"before": before} if "before" in template.fields else {}
    rows = [SimpleNamespace(f=value, before=before, after=after) for value in values]
    if substitute:
        rows.append(SimpleNamespace(f=None, before=before, after=after))
    if given_before:
        rows.append(SimpleNamespace(f=values[0], before=data.draw(TEXT), after=after))
    if len(template.parts) == 1:
        rows = [row for row in rows if template.components[0].encode(row.f)]  # no key is empty
    keys = [template.encode(vars(row)) or "" for row in rows]
    prefix = template.prefix(given_before, len(given_before))
    for asked in ranges_of(bounds):
        condition = sort_condition(template, {**given_before, "f": asked})
        for key, row in zip(keys, rows, strict=True):
            expected = row.f is not None and row.before == before and in_range(sort, asked, row.f)
            assert found(condition, key, row) == expected, (asked, condition, row)
        if prefix:
            assert not lets_through(condition, prefix[:-1] + "\x1f"), "rows of other kinds would be read"
            assert not lets_through(condition, successor(prefix) + "a"), "rows of other kinds would be read"


@pytest.mark.parametrize("kind", SORTS)
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_a_range_finds_what_comparing_the_values_finds(kind: str, data: st.DataObject) -> None:
    check_range_of(kind, data)


@pytest.mark.soak
@pytest.mark.parametrize("kind", SORTS)
@given(st.data())
@SOAK_SETTINGS
def test_a_range_finds_what_comparing_the_values_finds_for_long(kind: str, data: st.DataObject) -> None:
    check_range_of(kind, data)


@pytest.mark.parametrize("kind", SORTS)
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_keys_sort_as_their_values_do(kind: str, data: st.DataObject) -> None:
    sort = SORTS[kind]
    template = parsed(f"K#{{f{sort.spec}}}{'#z' if sort.anywhere else ''}", (("f", kind),))
    one, other = data.draw(sort.values), data.draw(sort.values)
    keys = [template.encode({"f": value}) or "" for value in (one, other)]
    if sort.compared_as(one) <= sort.compared_as(other):
        assert keys[0] <= keys[1]
    elif kind != "cut":
        assert keys[0] > keys[1]


@pytest.mark.parametrize("kind", ["text", "folded", "cut"])
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_a_beginning_finds_the_texts_that_begin_so(kind: str, data: st.DataObject) -> None:
    sort = SORTS[kind]
    ending = data.draw(st.sampled_from(ENDINGS))
    template = parsed(f"P#{{f{sort.spec}}}{ending}", (("f", kind), ("after", "text")))
    values = data.draw(st.lists(sort.values, min_size=1, max_size=5))
    rows = [SimpleNamespace(f=value, after=data.draw(TEXT)) for value in values]
    for asked in [*values, *around_text(values[0]), values[0][:1], data.draw(sort.bounds)]:
        condition = sort_condition(template, {"f": StartsWith(asked)})
        for row in rows:
            expected = sort.compared_as(row.f).startswith(sort.compared_as(asked))
            assert found(condition, template.encode(vars(row)) or "", row) == expected, (asked, condition, row)


@pytest.mark.parametrize("kind", [*SORTS, *UNORDERED])
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_given_components_find_the_rows_that_have_them(kind: str, data: st.DataObject) -> None:
    sort = (SORTS | UNORDERED)[kind]
    text = data.draw(st.sampled_from(["A#{f}", "A#{f}#{after}", "{f}#B#{after}", "A#{after}#{f}"]))
    template = parsed(text.replace("{f}", f"{{f{sort.spec}}}"), (("f", kind), ("after", "text")))
    rows = data.draw(st.lists(st.builds(SimpleNamespace, f=sort.values, after=TEXT), min_size=1, max_size=5))
    count = data.draw(st.integers(0, len(template.fields)))
    names = template.fields[:count]
    one = data.draw(st.sampled_from(rows) | st.builds(SimpleNamespace, f=sort.values, after=TEXT))
    condition = sort_condition(template, {name: getattr(one, name) for name in names})
    for row in rows:
        key = template.encode(vars(row))
        assert key is not None
        same = {"f": sort.compared_as(row.f) == sort.compared_as(one.f), "after": row.after == one.after}
        assert found(condition, key, row) == all(same[name] for name in names)


NUMBERS = {
    "whole": (int, st.integers(-5, 5) | st.integers(-(10**38) + 1, 10**38 - 1)),
    "decimal": (Decimal, st.integers(-5, 5).map(lambda halves: Decimal(halves) / 2) | DECIMALS),
}


@pytest.mark.parametrize("kind", NUMBERS)
@given(st.data())
@SETTINGS_FOR_EACH_KIND
def test_a_range_of_a_key_that_is_a_number_finds_what_comparing_finds(kind: str, data: st.DataObject) -> None:
    type_, values = NUMBERS[kind]
    sort = Sort(type_, "", values, values)
    template = KeyTemplate.parse("{f}", plan_fields(msgspec.defstruct("Row", [("f", type_)])), "Row.key", number=True)
    bound = values | st.none()
    asked = Range(
        data.draw(bound),
        data.draw(bound),
        low_open=data.draw(st.booleans()),
        high_open=data.draw(st.booleans()),
    )
    condition = sort_condition(template, {"f": asked})
    bounds = [Decimal(value) for value in condition.values]
    for value in data.draw(st.lists(values, min_size=1, max_size=5)):
        number = Decimal(template.encode({"f": value}) or "")
        assert number == value
        match condition.operator:
            case "none":
                let_through = True
            case "BETWEEN":
                assert bounds[0] <= bounds[1]
                let_through = bounds[0] <= number <= bounds[1]
            case ">=":
                let_through = number >= bounds[0]
            case "<=":
                let_through = number <= bounds[0]
            case "=":
                let_through = number == bounds[0]
        row = SimpleNamespace(f=value)
        assert (let_through and (condition.keep is None or condition.keep(row))) == in_range(sort, asked, value)
