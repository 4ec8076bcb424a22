from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from msgspec import Meta, Struct, field

from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import (
    Counter,
    ExpiresAt,
    InKeys,
    KeyOnly,
    Kind,
    Limits,
    Milliseconds,
    OrNull,
    Seconds,
    Unique,
    Version,
    encode_element,
    encode_value,
    plan_fields,
    stored_value,
    written_time,
)

OwnerId = NewType("OwnerId", str)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Line(Struct, frozen=True, rename="camel"):
    line_number: Annotated[int, Meta(ge=1)]
    said_by: str | None = None
    tags: frozenset[str] = frozenset()


def plan_of(annotation: Any, **options: Any) -> Any:
    """The plan of one field `value` of an entity `Thing`."""
    namespace = {"__annotations__": {"value": annotation}, "__module__": __name__, **options}
    return plan_fields(type(Struct)("Thing", (Struct,), namespace, kw_only=True))["value"]


def refusal(annotation: Any, value: Any) -> str:
    with pytest.raises(InvalidValue) as refused:
        encode_value(plan_of(annotation), value)
    assert (refused.value.entity, refused.value.field) == ("Thing", "value")
    return refused.value.why


# --- plans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "kind", "wire"),
    [
        (str, Kind.TEXT, "S"),
        (OwnerId, Kind.TEXT, "S"),
        (int, Kind.INTEGER, "N"),
        (Decimal, Kind.DECIMAL, "N"),
        (float, Kind.FLOAT, "N"),
        (bool, Kind.BOOLEAN, "BOOL"),
        (bytes, Kind.BYTES, "B"),
        (UUID, Kind.UUID, "S"),
        (Seconds, Kind.TIME, "S"),
        (Milliseconds, Kind.TIME, "S"),
        (date, Kind.DATE, "S"),
        (Literal["a", "b"], Kind.LITERAL, "S"),
        (Literal[1, 2], Kind.LITERAL, "N"),
        (Colour, Kind.ENUM, "S"),
        (Level, Kind.ENUM, "N"),
        (list[str], Kind.LIST, "L"),
        (tuple[int, ...], Kind.LIST, "L"),
        (dict[str, int], Kind.MAP, "M"),
        (dict[UUID, int], Kind.MAP, "M"),
        (Line, Kind.STRUCT, "M"),
        (set[str], Kind.SET, "SS"),
        (frozenset[Level], Kind.SET, "NS"),
        (set[bytes], Kind.SET, "BS"),
        (Any, Kind.ANY, ""),
    ],
)
def test_every_type_has_a_kind_and_a_form_on_the_wire(annotation, kind, wire):
    plan = plan_of(annotation)
    assert (plan.kind, plan.wire, plan.optional, plan.required) == (kind, wire, False, True)


def test_fields_come_in_the_order_of_declaration_with_their_stored_names():
    class Thing(Struct, rename="camel", kw_only=True):
        second_id: UUID
        first_name: str = ""
        renamed: int = field(default=1, name="other")

    plans = plan_fields(Thing)
    assert [(name, plan.name, plan.attribute) for name, plan in plans.items()] == [
        ("second_id", "second_id", "secondId"),
        ("first_name", "first_name", "firstName"),
        ("renamed", "renamed", "other"),
    ]
    assert [plan.required for plan in plans.values()] == [True, False, False]
    assert plans["renamed"].where == "Thing.renamed"


def test_bounds_are_taken_from_everything_that_was_annotated():
    plan = plan_of(OrNull[Annotated[str, Meta(min_length=1, pattern="^a")]])
    assert (plan.min_length, plan.max_length, plan.pattern) == (1, None, "^a")
    plan = plan_of(Annotated[Annotated[int, Meta(ge=1)], Meta(le=5, multiple_of=2)] | None)
    assert (plan.ge, plan.le, plan.multiple_of) == (1, 5, 2)
    assert plan_of(Annotated[Decimal, Limits(ge=0, le=Decimal("9.5"))]).le == Decimal("9.5")


def test_none_is_left_out_unless_the_field_says_null():
    assert plan_of(str | None).none_as == "left out"
    assert plan_of(OrNull[str]).none_as == "null"
    assert plan_of(OrNull[ExpiresAt]).is_expiry
    # In a list or a map every element has its place.
    assert plan_of(list[str | None]).element.none_as == "null"


def test_the_type_is_the_annotation_without_what_was_added():
    assert plan_of(OrNull[UUID]).type == UUID | None
    assert plan_of(OrNull[UUID]).core is UUID
    assert plan_of(Version).type is int
    assert plan_of(Seconds).type is datetime
    assert plan_of(list[Annotated[str, Meta(max_length=3)]]).type == list[str]


def test_roles_are_told_by_the_annotation():
    assert plan_of(Version).is_version
    assert plan_of(ExpiresAt).is_expiry
    assert plan_of(Counter).is_counter
    assert plan_of(Annotated[str, KeyOnly]).key_only
    assert plan_of(Annotated[str, Unique("A#{a}", "B")]).unique == Unique("A#{a}", "B")
    assert plan_of(Annotated[str, InKeys(str, str, 3)]).in_keys.max_bytes == 3
    assert (plan_of(Seconds).precision, plan_of(Milliseconds | None).precision) == ("seconds", "milliseconds")


def test_choices_are_known():
    assert plan_of(Literal["a", "b"]).choices == ("a", "b")
    assert plan_of(Literal["a", None]).choices == ("a",)
    assert plan_of(Literal["a", None]).optional
    assert plan_of(Colour).choices == (Colour.RED, Colour.BLUE)


def test_members_of_a_struct_are_planned_too():
    members = plan_of(list[Line]).element.members
    assert {name: (plan.attribute, plan.kind) for name, plan in members.items()} == {
        "line_number": ("lineNumber", Kind.INTEGER),
        "said_by": ("saidBy", Kind.TEXT),
        "tags": ("tags", Kind.SET),
    }


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (datetime, "Seconds or Milliseconds"),
        (list[datetime | None], "Seconds or Milliseconds"),
        (timedelta, "cannot be stored"),
        (Mapping[str, int], "cannot be stored"),
        (tuple[int, str], "cannot be stored"),
        (int | str, "one field per type"),
        (list, "list[str]"),
        (dict, "dict[str, int]"),
        (dict[int, str], "keys of a map are text"),
        (dict[str | None, str], "keys of a map are text"),
        (set[bool], "use a list"),
        (set[str | None], "use a list"),
        (frozenset[str] | None, "OrNull"),
        (Literal["a", 1], "all text or all whole numbers"),
        (Literal[True], "all text or all whole numbers"),
        (Annotated[str, Limits(ge=0)], "Limits are for Decimal"),
        (Annotated[Decimal, Meta(ge=0)], "Limits are for Decimal"),
        (Annotated[int, Meta(max_length=3)], "max_length"),
        (Version | None, "cannot be None"),
        (OrNull[Counter], "cannot be None"),
        (Annotated[str | None, KeyOnly], "cannot be None"),
        (list[Version], "fields of the entity itself"),
        (Annotated[int, KeyOnly, "anything else"], None),
    ],
)
def test_what_cannot_be_stored_is_refused_when_declared(annotation, says):
    if says is None:
        assert plan_of(annotation).key_only
        return
    with pytest.raises(DesignError) as refused:
        plan_of(annotation)
    assert "Thing.value" in str(refused.value)
    assert says in str(refused.value)


class Reply(Struct):
    replies: "list[Reply]"


class Listed(Struct, array_like=True):
    a: int


class Shape(Struct, tag="shape"):
    a: int


@pytest.mark.parametrize(
    ("annotation", "says"), [(Reply, "contains itself"), (Listed, "array_like"), (list[Shape], "tagged")]
)
def test_structs_that_have_no_plain_form_are_refused(annotation, says):
    with pytest.raises(DesignError, match=says):
        plan_of(annotation)


def test_an_unknown_name_in_an_annotation_is_refused_with_the_name():
    with pytest.raises(DesignError, match="'Nowhere' is not defined"):
        plan_of("Nowhere | None")


def test_two_versions_or_expiries_are_refused():
    class TwoVersions(Struct):
        first: Version
        second: Version

    class TwoExpiries(Struct):
        ttl: ExpiresAt
        until: OrNull[ExpiresAt] = None

    with pytest.raises(DesignError, match="first and second"):
        plan_fields(TwoVersions)
    with pytest.raises(DesignError, match="ttl and until"):
        plan_fields(TwoExpiries)


@pytest.mark.parametrize(
    ("annotation", "default", "says"),
    [
        (str | None, "something", "use OrNull"),
        (frozenset[str], frozenset("a"), "can only be an empty set"),
        (OrNull[frozenset[str]], None, "can only be an empty set"),
        (Annotated[str, Meta(min_length=1)], "", "fewer than 1"),
        (Version, 0, "less than 1"),
        (int, None, "None is not allowed"),
    ],
)
def test_a_default_that_would_not_be_read_back_is_refused(annotation, default, says):
    with pytest.raises(DesignError, match=says):
        plan_of(annotation, value=default)


# --- values ----------------------------------------------------------------------------------------------------------

HALF_PAST = datetime(2025, 12, 10, 14, 30, 15, 987654, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("annotation", "value", "wire"),
    [
        (str, "žlica", {"S": "žlica"}),
        (str, "", {"S": ""}),
        (int, -5, {"N": "-5"}),
        (int, 10**38 - 1, {"N": "9" * 38}),
        (int, 10**40, {"N": "1" + "0" * 40}),
        (Decimal, Decimal("1.50"), {"N": "1.5"}),
        (Decimal, Decimal("-0E+3"), {"N": "0"}),
        (float, 0.1, {"N": "0.1"}),
        (float, 3, {"N": "3"}),
        (bool, False, {"BOOL": False}),
        (bytes, b"\x00\xff", {"B": "AP8="}),
        (UUID, UUID(int=1), {"S": "00000000-0000-0000-0000-000000000001"}),
        (Seconds, HALF_PAST, {"S": "2025-12-10T12:30:15Z"}),
        (Milliseconds, HALF_PAST, {"S": "2025-12-10T12:30:15.987Z"}),
        (Milliseconds, HALF_PAST.replace(microsecond=0), {"S": "2025-12-10T12:30:15.000Z"}),
        (date, date(25, 1, 2), {"S": "0025-01-02"}),
        (Literal["a", "b"], "b", {"S": "b"}),
        (Literal[1, 2], 2, {"N": "2"}),
        (Colour, Colour.RED, {"S": "red"}),
        (Level, Level.HIGH, {"N": "2"}),
        (list[int | None], [1, None], {"L": [{"N": "1"}, {"NULL": True}]}),
        (tuple[str, ...], ("a",), {"L": [{"S": "a"}]}),
        (dict[UUID, bool], {UUID(int=0): True}, {"M": {"00000000-0000-0000-0000-000000000000": {"BOOL": True}}}),
        (set[int], {10, 9}, {"NS": ["10", "9"]}),
        (frozenset[Decimal], {Decimal("1.0"), Decimal(2)}, {"NS": ["1", "2"]}),
        (frozenset[Seconds], {HALF_PAST, HALF_PAST.replace(microsecond=1)}, {"SS": ["2025-12-10T12:30:15Z"]}),
        (Line, Line(1), {"M": {"lineNumber": {"N": "1"}}}),
        (
            Line,
            Line(1, "me", {"b", "a"}),
            {"M": {"lineNumber": {"N": "1"}, "saidBy": {"S": "me"}, "tags": {"SS": ["a", "b"]}}},
        ),
        (OrNull[str], None, {"NULL": True}),
        (Any, None, {"NULL": True}),
        (Any, [1, 2.5, True, {"a": "b"}], {"L": [{"N": "1"}, {"N": "2.5"}, {"BOOL": True}, {"M": {"a": {"S": "b"}}}]}),
    ],
)
def test_values_are_written_as_the_service_takes_them(annotation, value, wire):
    assert encode_value(plan_of(annotation), value) == wire


class Word(StrEnum):
    YES = "yes"


def test_subclasses_are_written_as_what_they_are():
    for written in (encode_value(plan_of(str), Word.YES), encode_value(plan_of(Literal["yes"]), Word.YES)):
        assert written == {"S": "yes"}
        assert type(written["S"]) is str
    assert encode_value(plan_of(int), Level.HIGH) == {"N": "2"}


SELF_CONTAINED: list[Any] = []
SELF_CONTAINED.append(SELF_CONTAINED)


@pytest.mark.parametrize(
    ("annotation", "value", "says"),
    [
        (str, 1, "expected str, got int 1"),
        (str, None, "None is not allowed"),
        (str, "\ud800", "half of a surrogate pair"),
        (Annotated[str, Meta(min_length=2)], "ž", "1 characters, fewer than 2"),
        (Annotated[str, Meta(max_length=2)], "abc", "3 characters, more than 2"),
        (Annotated[str, Meta(pattern="^a+$")], "ab", "does not match"),
        (int, "1", "expected int"),
        (int, True, "expected int, got bool"),
        (int, 1.0, "expected int"),
        (int, 10**38 + 1, "38"),
        pytest.param(int, 10**5000, "38", id="more digits than Python writes"),
        pytest.param(Annotated[int, Meta(le=5)], 10**5000, "more than 5", id="the same, past a bound"),
        pytest.param(str, 10**5000, "expected str", id="the same, of the wrong type"),
        (int, 10**126, "overflow"),
        (Annotated[int, Meta(ge=0)], -1, "less than 0"),
        (Annotated[int, Meta(gt=0)], 0, "not more than 0"),
        (Annotated[int, Meta(le=5)], 6, "more than 5"),
        (Annotated[int, Meta(lt=5)], 5, "not less than 5"),
        (Annotated[int, Meta(multiple_of=3)], 4, "multiple of 3"),
        (Decimal, 1, "expected Decimal"),
        (Decimal, Decimal("NaN"), "not a number"),
        (Decimal, Decimal("sNaN"), "not a number"),
        (Decimal, Decimal("-Infinity"), "not a number"),
        (Decimal, Decimal("1." + "1" * 38), "38"),
        (Decimal, Decimal("1E-131"), "underflow"),
        (Annotated[Decimal, Limits(ge=0)], Decimal("-0.01"), "less than 0"),
        (Annotated[Decimal, Limits(le=1)], Decimal("1.01"), "more than 1"),
        (float, float("nan"), "not a number"),
        (float, float("inf"), "not a number"),
        (float, True, "expected float"),
        (float, 2**53 + 1, "expected float"),
        (float, 1e-200, "underflow"),
        (bool, 1, "expected bool"),
        (bytes, "x", "expected bytes"),
        (Annotated[bytes, Meta(max_length=1)], b"xx", "more than 1"),
        (UUID, str(UUID(int=1)), "expected UUID"),
        (Seconds, datetime(2025, 1, 1), "needs a time zone"),
        (Seconds, date(2025, 1, 1), "expected datetime"),
        (Seconds, "2025-12-10T12:00:00Z", "expected datetime"),
        (Seconds, datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))), "outside the years"),
        (date, datetime(2025, 1, 1, tzinfo=UTC), "expected date"),
        (Literal["a", "b"], "c", "none of 'a', 'b'"),
        (Literal[1, 2], True, "none of 1, 2"),
        (Literal["a"], ["a"], "none of 'a'"),
        (Colour, "red", "expected Colour"),
        (list[int], (1,), "expected list"),
        (tuple[int, ...], [1], "expected tuple"),
        (list[int], [1, "2"], "[1]: expected int"),
        (list[str], [None], "[0]: None is not allowed"),
        (Annotated[list[int], Meta(max_length=1)], [1, 2], "2 elements, more than 1"),
        (dict[str, int], {1: 1}, " key 1: expected str"),
        (dict[str, int], {"": 1}, "empty key"),
        (dict[str, int], {"a": "b"}, "['a']: expected int"),
        (dict[str, list[Line]], {"a": [Line(1), Line(0)]}, "['a'][1].line_number: 0 is less than 1"),
        (Line, {"line_number": 1}, "expected Line"),
        (Line, Line(1, 5), ".said_by: expected str"),
        (set[str], ["a"], "expected set"),
        (set[str], {"a", 1}, " element 1: expected str"),
        (list[frozenset[str]], [frozenset()], "[0]: an empty set"),
        (Any, object(), "is not None, bool"),
        (Any, {"a": Decimal(1)}, "is not None, bool"),
        (Any, {1: 1}, "expected text"),
        (Any, SELF_CONTAINED, "nests deeper"),
        (Any, float("nan"), "not a number"),
        (str | None, None, "left out"),
        (set[str], set(), "left out"),
    ],
)
def test_what_a_field_does_not_allow_is_refused_by_its_name(annotation, value, says):
    assert says in refusal(annotation, value)


def test_what_is_left_out_has_no_stored_value():
    assert stored_value(plan_of(str | None), None) is None
    assert stored_value(plan_of(set[str]), set()) is None
    assert stored_value(plan_of(str | None), "") == {"S": ""}


def test_elements_are_written_as_they_are_inside():
    assert encode_element(plan_of(set[int]), 5) == {"N": "5"}
    assert encode_element(plan_of(list[Colour]), Colour.RED) == {"S": "red"}
    # A part of a text need not be as long as the text.
    assert encode_element(plan_of(Annotated[str, Meta(min_length=5)]), "ab") == {"S": "ab"}
    for annotation, value in [(set[int], "5"), (int, 5), (dict[str, int], 5), (str, 5), (list[set[str]], set())]:
        with pytest.raises(InvalidValue, match=r"Thing\.value"):
            encode_element(plan_of(annotation), value)


def test_times_are_written_in_utc_cut_and_never_rounded():
    almost = datetime(2025, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert written_time(almost, "seconds") == "2025-12-31T23:59:59Z"
    assert written_time(almost, "milliseconds") == "2025-12-31T23:59:59.999Z"
    # Offsets of some seconds were in use until 1972.
    odd = datetime(1900, 1, 1, tzinfo=timezone(timedelta(seconds=20)))
    assert written_time(odd, "seconds") == "1899-12-31T23:59:40Z"
