import contextlib
import traceback
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct, defstruct, field
from msgspec.structs import force_setattr, replace

from potluck.dynamo.values import checked_item, equal
from potluck.table.entity import Entity, plan_of
from potluck.table.errors import InvalidValue, UnreadableItem
from potluck.table.fields import (
    Counter,
    ExpiresAt,
    KeyOnly,
    Limits,
    Milliseconds,
    OrNull,
    Seconds,
    Version,
)
from potluck.table.tables import Table
from tests.properties.wire_values import any_values


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Inner(Struct, frozen=True, rename="camel"):
    the_number: Annotated[int, Meta(le=100)]
    price: Annotated[Decimal, Limits(ge=0, le=10)]
    at: Milliseconds | None = None
    note: OrNull[str] = None
    tags: frozenset[str] = frozenset()
    anything: Any = None


class Outer(Struct, frozen=True):
    inner: Inner
    others: tuple[Inner, ...] = ()
    by_name: dict[str, Inner | None] = field(default_factory=dict)


things = Table(
    "Things",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK"), "GSI3": ("GSI3PK", "GSI3SK")},
    numbers=("GSI3SK",),
    ttl="ttl",
    type_attribute="type",
)


class Everything(
    Entity,
    table=things,
    type="Everything",
    key=("OWNER#{owner}", "THING#{thing_id}#{day}"),
    GSI1=("COLOUR#{colour}", ("AT#{at}#{maybe_text}", "NO TEXT#{at}")),
    GSI2=("LEVEL#{level|NONE}", "{text}", lambda integer, colour: integer > 0),
    GSI3=("MAYBE#{maybe_id}", "{integer}"),
):
    """One field of every kind."""

    owner: Annotated[str, Meta(min_length=1, max_length=40), KeyOnly]
    thing_id: UUID
    day: Annotated[date, KeyOnly]
    text: Annotated[str, Meta(min_length=1, max_length=60)]
    any_text: str = ""
    shape: Annotated[str, Meta(pattern="^[a-z]*$")] = "x"
    integer: int = 0
    percent: Annotated[int, Meta(gt=-1, lt=101, multiple_of=5)] = 0
    decimal: Decimal = Decimal(0)
    price: Annotated[Decimal, Limits(ge=0)] = Decimal(1)
    floating: Annotated[float, Meta(ge=-1e100, lt=1e100)] = 0.0
    flag: bool = False
    data: Annotated[bytes, Meta(max_length=20)] = b""
    maybe_id: UUID | None = None
    null_id: OrNull[UUID] = None
    at: Seconds
    exactly: OrNull[Milliseconds] = None
    once: Seconds | None = None
    born: date | None = None
    colour: Colour = Colour.RED
    level: OrNull[Level] = None
    status: Literal["open", "closed"] = "open"
    stars: Literal[1, 2, 3] | None = None
    maybe_text: Annotated[str, Meta(max_length=10)] | None = None
    null_text: OrNull[str] = None
    version: Version = 1
    ttl: OrNull[ExpiresAt] = None
    seen: Counter = 0
    words: list[str] = field(default_factory=list)
    numbers: list[Annotated[int, Meta(ge=0)] | None] = field(default_factory=list)
    times: tuple[Milliseconds, ...] = ()
    grid: list[list[float]] = field(default_factory=list)
    groups: list[frozenset[str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    votes: dict[UUID, OrNull[Level]] = field(default_factory=dict)
    tags: Annotated[frozenset[str], Meta(max_length=3)] = frozenset()
    ids: set[UUID] = field(default_factory=set)
    amounts: frozenset[Decimal] = frozenset()
    ranks: OrNull[frozenset[int]] = frozenset()
    blobs: frozenset[bytes] = frozenset()
    moments: frozenset[Seconds] = frozenset()
    must_be_set: frozenset[Colour]
    outer: OrNull[Outer] = None
    inners: list[Inner] | None = None
    anything: Any = None
    document: dict[str, Any] = field(default_factory=dict)
    loose: list[Any] | None = None
    by_colour: dict[Colour, dict[Literal["a", "b"], bool]] = field(default_factory=dict)


coding = plan_of(Everything).coding

NO_ROUNDING = Context(prec=60)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
digits = st.integers(-(10**38) + 1, 10**38 - 1)
decimals = st.builds(
    lambda number, exponent: Decimal(number).scaleb(exponent, NO_ROUNDING), digits, st.integers(-80, 80)
)
floats = st.floats(-1e99, 1e99, allow_nan=False).filter(lambda number: number == 0 or abs(number) > 1e-120)
odd_zones = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=st.just(UTC) | st.timezones() | odd_zones)
prices = st.decimals(0, 10, places=3)
json_values = st.recursive(
    st.none() | st.booleans() | digits | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts.filter(bool), inner, max_size=3),
    max_leaves=6,
)
inners = st.builds(
    Inner,
    the_number=st.integers(-(10**30), 100),
    price=prices,
    at=st.none() | times,
    note=st.none() | texts,
    tags=st.frozensets(texts, max_size=3),
    anything=json_values,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "owner": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    "thing_id": st.uuids(),
    "day": st.dates(),
    "text": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    "any_text": texts,
    "shape": st.text("abc", max_size=4),
    "integer": digits,
    "percent": st.integers(0, 20).map(lambda number: number * 5),
    "decimal": decimals,
    "price": prices,
    "floating": floats,
    "flag": st.booleans(),
    "data": st.binary(max_size=20),
    "maybe_id": st.none() | st.uuids(),
    "null_id": st.none() | st.uuids(),
    "at": times,
    "exactly": st.none() | times,
    "once": st.none() | times,
    "born": st.none() | st.dates(),
    "colour": st.sampled_from(Colour),
    "level": st.none() | st.sampled_from(Level),
    "status": st.sampled_from(["open", "closed"]),
    "stars": st.sampled_from([None, 1, 2, 3]),
    "maybe_text": st.none() | st.text('aé#"', max_size=10),
    "null_text": st.none() | texts,
    "version": st.integers(1, 10**12),
    "ttl": st.none() | st.integers(0, 10**11),
    "seen": digits,
    "words": st.lists(texts, max_size=3),
    "numbers": st.lists(st.none() | st.integers(0, 10**38 - 1), max_size=3),
    "times": st.lists(times, max_size=2).map(tuple),
    "grid": st.lists(st.lists(floats, max_size=2), max_size=2),
    "groups": st.lists(st.frozensets(texts, min_size=1, max_size=2), max_size=2),
    "counts": st.dictionaries(texts.filter(bool), digits, max_size=3),
    "votes": st.dictionaries(st.uuids(), st.none() | st.sampled_from(Level), max_size=2),
    "tags": st.frozensets(texts, max_size=3),
    "ids": st.sets(st.uuids(), max_size=2),
    "amounts": st.frozensets(decimals, max_size=3),
    "ranks": st.none() | st.frozensets(digits, max_size=3),
    "blobs": st.frozensets(st.binary(max_size=4), max_size=3),
    "moments": st.frozensets(times, max_size=2),
    "must_be_set": st.frozensets(st.sampled_from(Colour), max_size=2),
    "outer": st.none()
    | st.builds(
        Outer,
        inner=inners,
        others=st.lists(inners, max_size=2).map(tuple),
        by_name=st.dictionaries(texts.filter(bool), st.none() | inners, max_size=2),
    ),
    "inners": st.none() | st.lists(inners, max_size=2),
    "anything": json_values,
    "document": st.dictionaries(texts.filter(bool), json_values, max_size=3),
    "loose": st.none() | st.lists(json_values, max_size=3),
    "by_colour": st.dictionaries(
        st.sampled_from(Colour), st.dictionaries(st.sampled_from(["a", "b"]), st.booleans()), max_size=2
    ),
}


def with_values(names: list[str]) -> st.SearchStrategy[Everything]:
    return st.fixed_dictionaries({name: VALUES[name] for name in names}).map(lambda values: plain(**values))


# A few fields at a time: an entity with forty random values takes long to make and longer to understand.
entities = st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=8, unique=True).flatmap(with_values)


def whole(at: datetime | None, milliseconds: bool = False) -> datetime | None:
    """A time as it is stored."""
    if at is None:
        return None
    at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000 if milliseconds else 0)


def cut_inner(inner: Inner) -> Inner:
    return replace(inner, at=whole(inner.at, True))


def cut(entity: Everything) -> Everything:
    """The same entity with every time as it is stored."""
    outer = entity.outer and Outer(
        cut_inner(entity.outer.inner),
        tuple(map(cut_inner, entity.outer.others)),
        {name: each and cut_inner(each) for name, each in entity.outer.by_name.items()},
    )
    return replace(
        entity,
        at=whole(entity.at),
        exactly=whole(entity.exactly, True),
        once=whole(entity.once),
        times=tuple(whole(each, True) for each in entity.times),
        moments=frozenset(map(whole, entity.moments)),
        outer=outer,
        inners=None if entity.inners is None else [cut_inner(each) for each in entity.inners],
    )


def plain(**values: Any) -> Everything:
    given = {"owner": "me", "thing_id": UUID(int=1), "day": date(2025, 1, 2), "text": "t", "must_be_set": frozenset()}
    return Everything(**{**given, "at": datetime(2025, 12, 10, 12, tzinfo=UTC), **values})


def with_value(name: str, value: Any) -> Everything:
    """An entity that holds what its field does not allow, as only a mistake can make it."""
    entity = plain()
    force_setattr(entity, name, value)
    return entity


# --- there and back --------------------------------------------------------------------------------------------------


def test_every_field_is_tried():
    assert set(VALUES) == set(plan_of(Everything).fields)


@settings(max_examples=200)
@given(entities)
def test_an_entity_is_read_back_as_it_was_written(entity):
    row = coding.encode(entity)
    assert coding.decode(row) == cut(entity)


@settings(max_examples=150)
@given(entities)
def test_rows_are_what_the_service_takes_and_keeps_unchanged(entity):
    row = coding.encode(entity)
    checked, _ = checked_item(row)
    # Sets have no order, and the engine tells them in the service's.
    assert equal({"M": checked}, {"M": row})


@settings(max_examples=100)
@given(entities)
def test_written_code_and_the_careful_way_agree(entity):
    row = coding.encode(entity)
    assert coding.encode.__globals__["encode_carefully"](entity) == row
    assert coding.decode.__globals__["decode_carefully"](row) == coding.decode(row)


def test_usual_entities_never_need_the_careful_way(monkeypatch):
    monkeypatch.setitem(coding.encode.__globals__, "encode_carefully", None)
    monkeypatch.setitem(coding.decode.__globals__, "decode_carefully", None)
    inner = Inner(5, Decimal("1.5"), datetime(2025, 1, 1, tzinfo=UTC), None, frozenset("ab"), {"a": [1, None]})
    entity = plain(
        text="žlica",
        maybe_id=UUID(int=2),
        exactly=datetime(2025, 1, 1, 0, 0, 0, 5000, tzinfo=UTC),
        tags=frozenset("xy"),
        ids={UUID(int=3)},
        votes={UUID(int=4): None},
        outer=Outer(inner, (inner,), {"a": None, "b": inner}),
        must_be_set=frozenset(Colour),
    )
    assert coding.decode(coding.encode(entity)) == entity
    elsewhere = plain(at=datetime(2025, 1, 1, tzinfo=timezone(timedelta(hours=5))))
    assert coding.encode(elsewhere)["GSI1SK"] == {"S": "NO TEXT#2024-12-31T19:00:00Z"}


def test_a_row_holds_keys_type_and_attributes_and_nothing_else():
    row = coding.encode(plain(integer=3, null_id=UUID(int=7), maybe_text="a#b"))
    assert {name: value for name, value in row.items() if name in ("PK", "SK", "type") or name.startswith("GSI")} == {
        "PK": {"S": "OWNER#me"},
        "SK": {"S": "THING#00000000-0000-0000-0000-000000000001#2025-01-02"},
        "GSI1PK": {"S": "COLOUR#red"},
        "GSI1SK": {"S": 'AT#2025-12-10T12:00:00Z#a"~b'},
        "GSI2PK": {"S": "LEVEL#NONE"},
        "GSI2SK": {"S": "t"},
        "type": {"S": "Everything"},
    }
    # What lives in the key is not written twice; None and empty sets are written as their fields say.
    assert not row.keys() & {"owner", "day", "maybeId", "tags", "amounts", "inners", "mustBeSet", "ranks"}
    assert row["nullText"] == row["outer"] == {"NULL": True}
    assert row["nullId"] == {"S": "00000000-0000-0000-0000-000000000007"}


def test_an_index_key_is_there_as_a_whole_or_not_at_all():
    def keys(**values: Any) -> set[str]:
        return {name for name in coding.encode(plain(**values)) if name.startswith("GSI")}

    assert keys() == {"GSI1PK", "GSI1SK"}
    assert keys(integer=1) == {"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"}
    assert keys(maybe_id=UUID(int=1)) == {"GSI1PK", "GSI1SK", "GSI3PK", "GSI3SK"}
    assert coding.encode(plain(maybe_id=UUID(int=1), integer=-5))["GSI3SK"] == {"N": "-5"}


def test_the_first_template_whose_components_are_there_is_used():
    assert coding.encode(plain())["GSI1SK"] == {"S": "NO TEXT#2025-12-10T12:00:00Z"}
    assert coding.encode(plain(maybe_text=""))["GSI1SK"] == {"S": "AT#2025-12-10T12:00:00Z#"}


def test_rows_share_no_values_that_could_be_changed_by_accident():
    first, second = coding.encode(plain()), coding.encode(plain())
    for name in first:
        first[name].clear()
    assert coding.decode(second) == plain()


# --- refusals --------------------------------------------------------------------------------------------------------

INNER = Inner(1, Decimal(1))


class More(Inner, frozen=True):
    that_would_be_lost: int = 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, object()) for name in plan_of(Everything).fields],
        *[
            (name, None)
            for name, plan in plan_of(Everything).fields.items()
            if not plan.optional and name != "anything"
        ],
        ("owner", ""),
        ("owner", "x" * 41),
        ("thing_id", str(UUID(int=1))),
        ("day", datetime(2025, 1, 1, tzinfo=UTC)),
        ("text", ""),
        ("text", "x" * 61),
        ("text", b"x"),
        ("any_text", "\udc00"),
        ("shape", "A"),
        ("integer", True),
        ("integer", 1.0),
        ("integer", "1"),
        ("integer", 10**38 + 1),
        ("percent", -5),
        ("percent", 105),
        ("percent", 3),
        ("decimal", 1),
        ("decimal", Decimal("NaN")),
        ("decimal", Decimal("Infinity")),
        ("decimal", Decimal("1." + "1" * 38)),
        ("decimal", Decimal("1E126")),
        ("price", Decimal("-0.1")),
        ("floating", float("nan")),
        ("floating", float("-inf")),
        ("floating", 1e100),
        ("floating", 1e-140),
        ("flag", 1),
        ("data", b"x" * 21),
        ("data", bytearray(b"x")),
        ("at", datetime(2025, 1, 1)),
        ("at", "2025-12-10T12:00:00Z"),
        ("exactly", datetime(2025, 1, 1)),
        ("colour", "red"),
        ("level", 1),
        ("status", "other"),
        ("stars", True),
        ("stars", 4),
        ("maybe_text", "x" * 11),
        ("version", 0),
        ("ttl", -1),
        ("seen", False),
        ("words", ("a",)),
        ("words", ["a", "\ud800"]),
        ("words", [None]),
        ("numbers", [1, -1]),
        ("numbers", [True]),
        ("times", (datetime(2025, 1, 1),)),
        ("grid", [[1.0], [float("nan")]]),
        ("groups", [frozenset()]),
        ("counts", {"": 1}),
        ("counts", {"\ud800": 1}),
        ("counts", {"a": None}),
        ("votes", {"a": None}),
        ("tags", frozenset("abcd")),
        ("tags", frozenset(["a", 1])),
        ("ids", {str(UUID(int=1))}),
        ("ranks", frozenset([True])),
        ("outer", Outer(INNER, [INNER])),
        ("outer", Outer(INNER, (Inner(101, Decimal(1)),))),
        ("outer", Outer(INNER, (), {"a": Inner(1, Decimal(11))})),
        ("outer", {"inner": INNER}),
        ("inners", [Inner(1, Decimal(1), datetime(2025, 1, 1))]),
        ("inners", [Inner(1, Decimal(1), None, "\ud800")]),
        ("inners", [Inner(1, Decimal(1), None, None, frozenset(), b"")]),
        ("inners", [More(1, Decimal(1))]),
        ("anything", {"a": [float("nan")]}),
        ("document", {1: 1}),
        ("document", {"a": {1}}),
        ("by_colour", {"red": {}}),
        ("by_colour", {Colour.RED: {"c": True}}),
    ],
)
def test_nothing_that_a_field_does_not_allow_is_written(name, value):
    with pytest.raises(InvalidValue) as refused:
        coding.encode(with_value(name, value))
    assert (refused.value.entity, refused.value.field) == ("Everything", name)


anything_at_all = st.one_of(
    [*VALUES.values(), st.text(), st.floats(), st.decimals(), st.datetimes(), st.integers(), st.binary()]
).flatmap(lambda value: st.sampled_from([value, [value], (value,), {"a": value}, [[value]], {"a": [value]}]))


@settings(max_examples=200)
@given(st.sampled_from(list(VALUES)), anything_at_all)
def test_whatever_a_field_holds_it_is_written_readably_or_refused_by_name(name, value):
    entity = with_value(name, value)
    blamed = None
    try:
        row = coding.encode(entity)
    except InvalidValue as refused:
        blamed = refused.field
    if blamed is None:
        assert checked_item(row)[0] == row
        assert coding.decode(row) == cut(entity)
    else:
        assert blamed == name


def test_a_refusal_tells_the_place_inside_the_value():
    wrong = Outer(INNER, (), {"a": None, "b": replace(INNER, the_number=101)})
    with pytest.raises(InvalidValue, match=r"^Everything\.outer: \.by_name\['b'\]\.the_number: 101 is more than 100$"):
        coding.encode(with_value("outer", wrong))


# --- rows that cannot be read, and those that still can --------------------------------------------------------------


@pytest.mark.parametrize(
    ("attribute", "wire", "name", "says"),
    [
        ("thingId", None, "thing_id", "the attribute thingId is missing"),
        ("at", None, "at", "the attribute at is missing"),
        ("thingId", {"S": "no uuid"}, "thing_id", "UUID"),
        ("thingId", {"N": "1"}, "thing_id", "expected type S, found N"),
        ("thingId", {"NULL": True}, "thing_id", "expected type S, found NULL"),
        ("nullId", {"N": "1"}, "null_id", "expected type S, found N"),
        ("maybeId", {"BOOL": True}, "maybe_id", "expected type S, found BOOL"),
        ("text", {"S": ""}, "text", "length >= 1"),
        ("integer", {"N": "1.5"}, "integer", "not a whole number"),
        ("percent", {"N": "200"}, "percent", "100"),
        ("price", {"N": "-1"}, "price", "-1 is less than 0"),
        ("flag", {"S": "true"}, "flag", "expected type BOOL"),
        ("data", {"B": "!"}, "data", "base64"),
        ("at", {"S": "yesterday"}, "at", "RFC3339"),
        ("at", {"S": "2025-12-10T12:00:00"}, "at", "timezone"),
        ("born", {"S": "2025-13-01"}, "born", "date"),
        ("colour", {"S": "green"}, "colour", "green"),
        ("level", {"N": "3"}, "level", "3"),
        ("status", {"S": "other"}, "status", "other"),
        ("words", {"L": [{"S": "a"}, {"N": "1"}]}, "words", "expected type S, found N"),
        ("numbers", {"L": [{"S": "a"}]}, "numbers", "expected type N, found S"),
        ("counts", {"M": {"a": {"N": "x"}}}, "counts", ""),
        ("votes", {"M": {"a": {"NULL": True}}}, "votes", "UUID"),
        ("tags", {"SS": ["a", "b", "c", "d"]}, "tags", "length <= 3"),
        ("tags", {"NS": ["1"]}, "tags", "expected type SS"),
        ("amounts", {"SS": ["1"]}, "amounts", "expected type NS"),
        ("outer", {"M": {}}, "outer", "the attribute inner is missing"),
        ("inners", {"L": [{"M": {"theNumber": {"N": "1"}, "price": {"N": "11"}}}]}, "inners", "more than 10"),
        ("anything", {"SS": ["a"]}, "anything", "type SS"),
        ("PK", {"S": "PERSON#me"}, "owner", "not of the form OWNER#{owner}"),
        ("SK", {"S": "THING#x"}, "owner", "not of the form"),
        ("PK", {"S": "OWNER#" + "x" * 41}, "owner", "not of the form"),
    ],
)
def test_an_unreadable_row_is_told_by_entity_key_and_field(attribute, wire, name, says):
    row = coding.encode(plain())
    row.pop(attribute, None)
    if wire is not None:
        row[attribute] = wire
    with pytest.raises(UnreadableItem) as unreadable:
        coding.decode(row)
    assert (unreadable.value.entity, unreadable.value.field) == ("Everything", name)
    assert unreadable.value.key == {name: row[name] for name in ("PK", "SK")}
    assert says in unreadable.value.why


@settings(max_examples=200)
@given(st.sampled_from([plan.attribute for plan in plan_of(Everything).fields.values()] + ["PK", "SK"]), any_values)
def test_whatever_a_row_holds_it_is_read_or_told_unreadable(attribute, wire):
    row = coding.encode(plain()) | {attribute: wire}
    with contextlib.suppress(UnreadableItem):
        assert isinstance(coding.decode(row), Everything)


def test_rows_from_before_a_field_existed_read_its_default():
    row = coding.encode(plain(text="old"))
    for name in ("anyText", "version", "colour", "nullId", "ttl", "words", "ranks", "tags", "outer", "price"):
        row.pop(name, None)
    assert coding.decode(row) == plain(text="old")


def test_members_of_structs_that_came_later_read_their_defaults():
    row = coding.encode(plain())
    row["outer"] = {"M": {"inner": {"M": {"theNumber": {"N": "1"}, "price": {"N": "1"}}}}}
    assert coding.decode(row).outer == Outer(INNER)


def test_attributes_that_no_field_knows_are_ignored():
    row = coding.encode(plain()) | {"former": {"S": "x"}}
    assert coding.decode(row) == plain()


def test_a_null_reads_as_none_also_where_none_is_now_left_out():
    row = coding.encode(plain()) | {"maybeText": {"NULL": True}, "inners": {"NULL": True}}
    assert coding.decode(row) == plain()


def test_times_written_by_others_are_read_with_their_offset():
    row = coding.encode(plain()) | {"at": {"S": "2025-12-10T14:00:00.5+02:00"}}
    assert coding.decode(row).at == datetime(2025, 12, 10, 12, 0, 0, 500_000, tzinfo=UTC)


class Checked(Entity, table=things, type="Checked", key=("CHECKED", "{a}#{b}")):
    a: Annotated[int, Meta(ge=0, le=9)]
    b: Annotated[int, Meta(ge=0, le=9)]

    def __post_init__(self) -> None:
        if self.a > self.b:
            raise ValueError("a comes before b")


def test_a_row_that_the_entity_itself_refuses_is_unreadable():
    written = plan_of(Checked).coding
    row = written.encode(Checked(a=1, b=2))
    assert row == {
        "PK": {"S": "CHECKED"},
        "SK": {"S": "1#2"},
        "type": {"S": "Checked"},
        "a": {"N": "1"},
        "b": {"N": "2"},
    }
    with pytest.raises(UnreadableItem, match="a comes before b"):
        written.decode(row | {"a": {"N": "3"}})


Anonymous = defstruct("any name", [("number", int)])


class Awkward(
    Entity,
    table=Table("Awkward", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, names="as written"),
    key=("X'\"\\é#{it}", "ROW#{row}#'"),
    GSI1=('\\\'"#{wire|"NONE}#{C1:03}', "{unusual}"),
):
    """Fields that are called as things are called in written code, and names that must be quoted there."""

    it: Annotated[str, Meta(max_length=10)]
    row: Annotated[str, Meta(max_length=10)] = field(name="a'ü{x} %s")
    wire: Annotated[str, Meta(max_length=10)] | None = None
    C1: Annotated[int, Meta(ge=0, le=999)] = 0
    unusual: Annotated[str, Meta(max_length=10)] | None = None
    key: dict[str, list[str]] = field(default_factory=dict)
    key_: list[str | None] = field(default_factory=list)
    v_it: list[list[int]] = field(default_factory=list)
    v_it_: set[int] = field(default_factory=set)
    convert: Anonymous | None = None  # type: ignore[valid-type]
    encode: UUID = UUID(int=1)
    decode: UUID = UUID(int=2)
    plan: int = 0
    type: int = 0
    table: int = 0


def test_a_field_may_be_called_like_anything_in_the_written_code():
    awkward = Awkward(
        it='#"',
        row="'",
        unusual="u",
        key={"key": ["each"]},
        key_=["a", None],
        v_it=[[1], []],
        v_it_={1, 2},
        convert=Anonymous(3),
    )
    written = plan_of(Awkward).coding
    row = written.encode(awkward)
    assert (row["PK"], row["SK"]) == ({"S": 'X\'"\\é#"~"!'}, {"S": "ROW#'#'"})
    assert (row["GSI1PK"], row["GSI1SK"]) == ({"S": '\\\'"#"NONE#000'}, {"S": "u"})
    assert written.decode(row) == awkward


def test_tracebacks_show_the_written_code():
    class Bomb:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("told so")

    with pytest.raises(RuntimeError) as failed:
        coding.encode(Bomb())
    shown = "".join(traceback.format_exception(failed.value))
    assert "v_owner = it.owner" in shown
