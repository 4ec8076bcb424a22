import json
import re
import string
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators
from msgspec import Meta, field

from potluck.validation import Schemas, decode, schema_of
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError, label_of
from potluck.validation.field_types import Amount, Length, Message, Text
from potluck.web.api_page import example
from potluck.web.inputs import UNSET, Input, Unset

ID = "3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"
AN_ID = f"Item id must be a UUID in lower case, such as {ID}"
A_MOMENT = "Due at must be a date and time such as 2026-05-17T09:30:00Z"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Item(Input):
    name: Annotated[str, Meta(min_length=1, max_length=10)]
    quantity: Annotated[int, Meta(ge=1, le=999)] = 1


class Circle(Input, tag="circle"):
    radius: Annotated[float, Meta(gt=0, le=10)]


class Square(Input, tag="square"):
    side: Annotated[int, Meta(ge=1, le=10)]


class Everything(Input):
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    quantity: Annotated[int, Meta(ge=1), Message("Quantity must be a positive integer")] = 1
    done: bool = False
    share: Annotated[float, Meta(ge=0, le=1)] = 0.5
    price: Annotated[Decimal, Amount(0, 1000, places=2)] | None = None
    item_id: UUID | Unset = UNSET
    due_at: datetime | None = None
    due_date: date | None = None
    colour: Colour = Colour.RED
    size: Literal["s", "m", 3] = "s"
    tags: Annotated[list[Annotated[str, Meta(max_length=5)]], Meta(max_length=3)] = field(default_factory=list)
    point: tuple[int, int] = (0, 0)
    counts: dict[Annotated[str, Meta(max_length=5)], Annotated[int, Meta(ge=0, le=9)]] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    first: Item | None = None
    drawn: Circle | Square | None = None
    note: Annotated[str, Meta(max_length=5)] | Unset | None = UNSET


def taken(**given: Any) -> Everything:
    return decode(Everything, json.dumps({"title": "Soup", **given}).encode())


def refused(raw: str | bytes | dict[str, Any], kind: type[Input] = Everything) -> dict[str, str]:
    """What is wrong, by field."""
    text = json.dumps({"title": "Soup", **raw}) if isinstance(raw, dict) else raw
    with pytest.raises(ValidationError) as refusal:
        decode(kind, text.encode() if isinstance(text, str) else text)
    return {each.field: each.message for each in refusal.value.errors}


# --- what is taken ----------------------------------------------------------------------------------------------------


def test_a_body_becomes_what_was_declared():
    body = taken(
        quantity=2,
        done=True,
        share=1,
        price=9.5,
        itemId=ID,
        dueAt="2026-05-17T09:30:00.5+02:00",
        dueDate="2026-05-17",
        colour="blue",
        size=3,
        tags=["a", "b"],
        point=[1, -2],
        counts={"eggs": 3},
        items=[{"name": "Salt"}],
        first={"name": "Oil", "quantity": 5},
        drawn={"type": "circle", "radius": 1.5},
        note=None,
    )
    assert body == Everything(
        title="Soup",
        quantity=2,
        done=True,
        share=1.0,
        price=Decimal("9.5"),
        item_id=UUID(ID),
        due_at=datetime(2026, 5, 17, 7, 30, 0, 500_000, UTC),
        due_date=date(2026, 5, 17),
        colour=Colour.BLUE,
        size=3,
        tags=["a", "b"],
        point=(1, -2),
        counts={"eggs": 3},
        items=[Item(name="Salt")],
        first=Item(name="Oil", quantity=5),
        drawn=Circle(radius=1.5),
        note=None,
    )


def test_what_is_not_given_is_told_from_null():
    assert taken().note is UNSET
    assert taken(note=None).note is None
    assert taken(note="x").note == "x"


def test_the_digits_of_a_price_are_those_that_were_written():
    body = decode(Everything, b'{"title": "Soup", "price": 0.10}')
    assert str(body.price) == "0.10"


def test_a_text_can_be_as_long_as_a_body():
    class Long(Input):
        text: str

    assert len(decode(Long, json.dumps({"text": "ä" * 500_000}).encode()).text) == 500_000


# --- what is not JSON -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"  ",
        b"{",
        b'{"title": "Soup"',
        b"title=Soup",
        b"{'title': 'Soup'}",
        b'{"title": "Soup",}',
        b'{"title": NaN}',
        b'{"title": "Soup", "quantity": Infinity}',
        b'{"title": "\xff"}',
        '{"title": "Soup"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"title": "Soup"}',
        b'{"title": "\\ud800"}',
        b'{"\\udc00": 1, "title": "Soup"}',
        b'{"title": "a\nb"}',
        b'{"quantity": "wrong first", "title": "\\ud800"}',
        b'{"quantity": 01}',
        b"[" * 100_000,
        b'{"title":' * 100_000,
    ],
)
def test_what_is_not_json_is_told_from_what_is_wrong_in_it(raw):
    with pytest.raises(BodyNotJson):
        decode(Everything, raw)


def test_a_pair_of_surrogates_is_one_character():
    assert decode(Everything, b'{"title": "\\ud83c\\udf5c"}').title == "\N{STEAMING BOWL}"


@pytest.mark.parametrize("raw", ["[]", "3", "null", '"title"', "true", '[{"title": "Soup"}]'])
def test_json_that_is_no_object_names_the_body(raw):
    assert refused(raw) == {"body": "The body must be a JSON object"}


# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_all_wrong_fields_are_told_at_once_in_the_order_of_their_declaration():
    raw = {"zebra": 1, "tags": ["long enough"], "quantity": 0, "title": ""}
    assert list(refused(raw).items()) == [
        ("title", "Title must have 1 to 100 characters"),
        ("quantity", "Quantity must be a positive integer"),
        ("tags[0]", "Each entry of tags must have at most 5 characters"),
        ("zebra", "There is no such field"),
    ]


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"title": 3}, "title", "Title must be text"),
        ({"title": 1.5}, "title", "Title must be text"),
        ({"title": None}, "title", "Title must have 1 to 100 characters"),
        ({"title": "x" * 101}, "title", "Title must have 1 to 100 characters"),
        ({"quantity": "3"}, "quantity", "Quantity must be a positive integer"),
        ({"quantity": True}, "quantity", "Quantity must be a positive integer"),
        ({"quantity": 1.0}, "quantity", "Quantity must be a positive integer"),
        ({"quantity": 2**53}, "quantity", "Quantity must be a positive integer"),
        ({"done": 1}, "done", "Done must be true or false"),
        ({"done": "true"}, "done", "Done must be true or false"),
        ({"share": 1.5}, "share", "Share must be a number from 0 to 1"),
        ({"share": True}, "share", "Share must be a number from 0 to 1"),
        ({"price": "9.50"}, "price", "Price must be a number from 0 to 1000 with at most 2 decimal places"),
        ({"price": 0.125}, "price", "Price must be a number from 0 to 1000 with at most 2 decimal places"),
        ({"itemId": ID.upper()}, "itemId", AN_ID),
        ({"itemId": ID.replace("-", "")}, "itemId", AN_ID),
        ({"itemId": f"{{{ID}}}"}, "itemId", AN_ID),
        ({"dueAt": "2026-05-17T09:30:00"}, "dueAt", A_MOMENT),
        ({"dueAt": "2026-05-17 09:30:00Z"}, "dueAt", A_MOMENT),
        ({"dueAt": "2026-13-17T09:30:00Z"}, "dueAt", A_MOMENT),
        ({"dueAt": 1779010200}, "dueAt", A_MOMENT),
        # In UTC it would be in the year 0.
        ({"dueAt": "0001-01-01T00:00:00+01:00"}, "dueAt", A_MOMENT),
        ({"dueDate": "2026-02-30"}, "dueDate", "Due date must be a date such as 2026-05-17"),
        ({"colour": "green"}, "colour", "Colour must be red or blue"),
        ({"size": "3"}, "size", "Size must be 3, m or s"),
        ({"size": 3.0}, "size", "Size must be 3, m or s"),
        ({"tags": "abc"}, "tags", "Tags must be a list"),
        ({"tags": ["a"] * 4}, "tags", "Tags must have at most 3 entries"),
        ({"tags": ["a", None]}, "tags[1]", "Each entry of tags must have at most 5 characters"),
        ({"point": [1]}, "point", "Point must be a list of 2 entries"),
        ({"point": [1, "2"]}, "point[1]", "Each entry of point must be a whole number"),
        ({"counts": {"eggs": -1}}, "counts.eggs", "Each entry of counts must be a whole number from 0 to 9"),
        ({"counts": {"oranges": 1}}, "counts.oranges", "Each name in counts must have at most 5 characters"),
        ({"items": [{"name": "Salt"}, {}, 3]}, "items[1].name", "Name is missing"),
        ({"items": [{"name": "Salt"}, {}, 3]}, "items[2]", "Each entry of items must be an object"),
        ({"first": {"name": "Salt", "quantity": 0}}, "first.quantity", "Quantity must be a whole number from 1 to 999"),
        ({"first": {"name": "Salt", "colour": 1}}, "first.colour", "There is no such field"),
        ({"drawn": {"radius": 1}}, "drawn.type", "Type is missing"),
        ({"drawn": {"type": "oval", "radius": 1}}, "drawn.type", "Type must be circle or square"),
        (
            {"drawn": {"type": "circle", "radius": 0}},
            "drawn.radius",
            "Radius must be a number, more than 0 and at most 10",
        ),
        ({"drawn": {"type": "square", "radius": 1}}, "drawn.side", "Side is missing"),
        ({"note": "too long"}, "note", "Note must have at most 5 characters"),
    ],
)
def test_a_wrong_field_is_named_and_told_what_it_must_be(given, field, message):
    assert refused(given)[field] == message


def test_a_missing_field_is_named():
    assert refused("{}") == {"title": "Title is missing"}


def test_a_field_that_is_given_twice_is_refused():
    assert refused('{"title": "Soup", "title": "Soup"}') == {"title": "This field is given more than once"}
    twice = '{"title": "Soup", "items": [{"name": "a"}, {"name": "b", "name": "c"}]}'
    assert refused(twice) == {"items[1].name": "This field is given more than once"}
    assert refused('{"title": "Soup", "counts": {"a": 1, "\\u0061": 2}}') == {
        "counts.a": "This field is given more than once"
    }


def test_what_was_given_is_not_given_back():
    secret = "hunter2-hunter2"
    wrong = refused({"title": [secret], "quantity": secret, "itemId": secret, "colour": secret, "dueDate": secret})
    assert len(wrong) == 5
    assert not any(secret in message for message in wrong.values())


def test_a_long_name_of_no_field_is_cut():
    (field,) = refused({"x" * 100_000: 1})
    assert len(field) <= 101


def test_as_many_errors_are_told_as_one_reads():
    assert len(refused({"items": [3] * 5000})) == 100


@pytest.mark.parametrize(
    "number",
    ["1e999999", "-1e999999", "9" * 100_000, "-" + "9" * 100_000, "1." + "9" * 100_000, "1e-999999", "1E400"],
)
def test_numbers_beyond_all_bounds_are_wrong_and_cost_nothing(number):
    fields = refused(f'{{"title": "Soup", "quantity": {number}, "price": {number}, "point": [{number}, 1]}}')
    assert {"quantity", "price", "point[0]"} <= fields.keys()


def test_a_number_that_no_row_could_keep_is_wrong():
    class Measured(Input):
        amount: Decimal

    assert decode(Measured, b'{"amount": 1e125}').amount == Decimal("1e125")
    assert decode(Measured, b'{"amount": %s}' % (b"9" * 38)).amount == Decimal("9" * 38)
    for number in (b"1e126", b"1e-131", b"9" * 39, b"1." + b"1" * 38):
        assert refused(b'{"amount": %s}' % number, Measured) == {"amount": "Amount must be a number"}


def test_a_pattern_that_ends_in_a_dollar_ends_there():
    class Named(Input):
        slug: Annotated[str, Meta(pattern="^[a-z]+$", max_length=20)]

    assert decode(Named, b'{"slug": "soup"}').slug == "soup"
    assert refused(b'{"slug": "soup\\n"}', Named) == {"slug": "Slug is not written as it should be"}


# --- trimming ---------------------------------------------------------------------------------------------------------


class Step(Input):
    text: Annotated[str, Text(1, 5, "Each step must be 1-5 characters", kind="raw")]


class Note(Input):
    title: Annotated[str, Text(1, 5, "Title must be 1-5 characters", kind="raw")]
    note: Annotated[str, Text(0, 5, "Note must be 5 characters or less", kind="raw")] | None = "none"
    name: Annotated[str, Text(1, 5, "Name must be 1-5 characters", kind="raw")] | None = None
    motto: Annotated[str, Text(0, 5, kind="raw")] = "none"
    slug: Annotated[str, Text(1, 9, "Slug must be small letters", kind="raw", pattern="^[a-z]+$")] | Unset = UNSET
    password: Annotated[str, Text(1, 9, kind="raw", trim=False)] | Unset = UNSET
    tags: list[Annotated[str, Text(1, 3, "Each tag must be 1-3 characters", kind="raw")]] = field(default_factory=list)
    by_day: dict[Annotated[str, Meta(max_length=5)], Annotated[str, Text(0, 3, kind="raw")] | None] = field(
        default_factory=dict
    )
    steps: list[Step] = field(default_factory=list)
    cook: Annotated[
        str, Text(1, 9, kind="raw", check=lambda cook: [FieldError("", "No cook")] if cook == "-" else [])
    ] = "Ada"


def note(**given: Any) -> Note:
    return decode(Note, json.dumps({"title": "Soup", **given}).encode())


def test_space_around_a_text_is_trimmed_before_its_bounds_are_held():
    assert note(title="  Soup \n").title == "Soup"
    assert note(title="   12345   ").title == "12345"
    assert note(slug=" soup ").slug == "soup"
    assert note(password="  x  ").password == "  x  "
    assert note(tags=["a", " abc "]).tags == ["a", "abc"]
    assert note(byDay={" mo": " a "}).by_day == {" mo": "a"}
    assert note(steps=[{"text": " stir "}]).steps == [Step(text="stir")]


def test_blank_is_null_only_where_length_0_is_allowed():
    assert note(note="").note is None
    assert note(note="  ").note is None
    assert note(motto="  ").motto == ""
    assert note(byDay={"mo": " "}).by_day == {"mo": None}
    wrong = refused({"title": " ", "name": "", "slug": " ", "tags": [" "], "steps": [{"text": "\t"}]}, Note)
    assert wrong == {
        "title": "Title must be 1-5 characters",
        "name": "Name must be 1-5 characters",
        "slug": "Slug must be small letters",
        "tags[0]": "Each tag must be 1-3 characters",
        "steps[0].text": "Each step must be 1-5 characters",
    }


def test_a_check_is_called_with_the_trimmed_text():
    assert refused({"cook": " - "}, Note) == {"cook": "No cook"}


# --- rules about several fields ---------------------------------------------------------------------------------------


class Stay(Input):
    first: date
    last: date

    @staticmethod
    def check(sent: "Stay") -> Iterator[FieldError]:
        if sent.last < sent.first:
            yield FieldError("last", "The last day must not be before the first")


class Trip(Input):
    stays: Annotated[list[Stay], Meta(min_length=1, max_length=3)]
    people: Annotated[int, Meta(ge=1, le=9)] = 1

    @staticmethod
    def check(sent: "Trip") -> list[FieldError]:
        return [FieldError("", "One person stays once")] if len(sent.stays) > 1 and sent.people == 1 else []


GOOD, BACKWARDS = {"first": "2026-05-17", "last": "2026-05-18"}, {"first": "2026-05-17", "last": "2026-05-16"}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"stays": [GOOD]}, {}),
        ({"stays": [GOOD, GOOD], "people": 2}, {}),
        ({"stays": [GOOD, GOOD]}, {"body": "One person stays once"}),
        # Its own fields must be right; what is wrong around it does not matter.
        (
            {"stays": [GOOD, BACKWARDS, {"first": "x", "last": "2026-05-16"}], "people": 0},
            {
                "stays[1].last": "The last day must not be before the first",
                "stays[2].first": "First must be a date such as 2026-05-17",
                "people": "People must be a whole number from 1 to 9",
            },
        ),
    ],
)
def test_a_rule_about_several_fields_is_told_with_the_others(given, wrong):
    raw = json.dumps(given)
    if wrong:
        assert refused(raw, Trip) == wrong
    else:
        assert len(decode(Trip, raw.encode()).stays) == len(given["stays"])


# --- declarations -----------------------------------------------------------------------------------------------------


def test_a_declaration_that_callers_could_not_be_told_is_refused_before_any_request():
    class Loose(msgspec.Struct):
        name: str

    class Several(Input):
        value: int | str

    class Holds(Input):
        inner: Loose

    class Anything(Input):
        value: Any

    for kind in (Several, Holds, Anything):
        with pytest.raises(TypeError):
            schema_of(kind)


class Guests(Input):
    """Whom one has over: nobody twice, and at least one who cooks."""

    names: Annotated[
        list[
            Annotated[
                str,
                Text(
                    0, 5, kind="raw", trim=False, check=lambda name: [FieldError("", "Say who")] if name == "?" else []
                ),
            ]
        ],
        Length(
            0,
            3,
            check=lambda names: [FieldError(f"[{at}]", "Twice") for at, name in enumerate(names) if name in names[:at]],
        ),
    ]
    cook: Annotated[
        str | None, Message("Say who cooks", check=lambda cook: [FieldError("", "No cook")] if cook == "-" else [])
    ] = None
    wine: Annotated[str, Message("No wine", check=lambda wine: [FieldError("", "")] if wine == "-" else [])] = "red"
    seats: int = 1


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"names": ["Ada", "Ben"], "cook": "Ada"}, []),
        ({"names": ["Ada"], "cook": None}, []),
        (
            {"names": ["Ada", "Ada"], "cook": "-", "wine": "-"},
            [("names[1]", "Twice"), ("cook", "No cook"), ("wine", "No wine")],
        ),
        # Together with what is of the wrong kind, wherever that is.
        ({"names": ["Ada", "Ada"], "seats": "x"}, [("names[1]", "Twice"), ("seats", "Seats must be a whole number")]),
        # Of a whole only if all of its parts are right.
        ({"names": ["?", "?"]}, [("names[0]", "Say who"), ("names[1]", "Say who")]),
        (
            {"names": ["Charles", "Ada", "Ada"]},
            [("names[0]", "Each entry of names must have at most 5 characters")],
        ),
    ],
)
def test_a_rule_that_bounds_cannot_state_is_told_with_the_rest(given, wrong):
    raw = json.dumps(given).encode()
    if not wrong:
        assert decode(Guests, raw).names == given["names"]
        return
    with pytest.raises(ValidationError) as refused:
        decode(Guests, raw)
    assert [(each.field, each.message) for each in refused.value.errors] == wrong


def test_a_body_cannot_hold_itself():
    with pytest.raises(TypeError, match="can contain itself"):
        schema_of(Tree)


class Tree(Input):
    branches: list["Tree"]


# --- whatever is declared, whatever is sent ---------------------------------------------------------------------------

NAMES = ("name", "dueDate", "items", "type")

SCALARS = [
    str,
    Annotated[str, Meta(min_length=1, max_length=3)],
    int,
    Annotated[int, Meta(ge=-2, le=2)],
    Annotated[int, Meta(gt=0, lt=100, multiple_of=5)],
    Annotated[float, Meta(ge=-1, le=1)],
    Annotated[float, Meta(gt=0, lt=1e30)],
    bool,
    Annotated[Decimal, Amount(-5, 5)],
    UUID,
    datetime,
    date,
    Colour,
    Literal["a", "b"],
    Literal[1, 2],
]


def lists_of(inner: Any) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda kind: list[kind]),
        inner.map(lambda kind: Annotated[list[kind], Meta(min_length=1, max_length=2)]),
        inner.map(lambda kind: tuple[kind, ...]),
        st.tuples(inner, inner).map(lambda kinds: tuple[kinds]),
        inner.map(lambda kind: dict[str, kind]),
        inner.map(lambda kind: dict[Annotated[str, Meta(max_length=2)], kind]),
        inner.map(lambda kind: kind | None),
        bodies_of(inner),
    )


def bodies_of(inner: Any) -> st.SearchStrategy[type[Input]]:
    fields = st.dictionaries(
        st.sampled_from(["name", "due_date", "items"]), st.tuples(inner, st.booleans()), max_size=3
    )

    @st.composite
    def made(draw: Any) -> type[Input]:
        chosen = draw(fields)
        annotations = {name: kind if required else kind | Unset for name, (kind, required) in chosen.items()}
        defaults = {name: UNSET for name, (_, required) in chosen.items() if not required}
        # A class of its own each time: msgspec and we remember what we know of a class.
        return type(Input)("Made", (Input,), {"__module__": __name__, "__annotations__": annotations, **defaults})

    return made()


def kinds() -> st.SearchStrategy[type[Input]]:
    scalars = st.sampled_from([*SCALARS, Circle | Square, Circle])
    return bodies_of(st.one_of(scalars, lists_of(scalars)))


class Token(str):
    """A number as JSON writes it."""


NUMBERS = ["0", "-0", "1", "2", "-2", "3", "5", "95", "100", "1.0", "0.5", "-0.5", "1e0", "1e29", "1e-9", "1e400"]
NUMBERS += ["9007199254740991", "9007199254740992", "18446744073709551616", "123456789012345678901234567890"]
TEXTS = [
    "",
    "a",
    "abc",
    "abcd",
    "red",
    "circle",
    ID,
    ID.upper(),
    ID.replace("-", ""),
    "1",
    "true",
    "é\N{STEAMING BOWL}",
]
TEXTS += ["a\r\nb", "a\u202eb", "\u200b", "\u2028a\u2029"]
TEXTS += ["2026-05-17", "2026-02-30", "20260517", "2026-05-17T09:30:00Z", "2026-05-17T09:30:00.123+02:00"]
TEXTS += ["2026-05-17T09:30:00", "2026-05-17t09:30:00z", "2026-05-17T09:30:00.1234567Z", "2026-05-17T25:30:00Z"]

values = st.recursive(
    st.one_of(st.sampled_from([None, True, False]), st.sampled_from(TEXTS), st.sampled_from(NUMBERS).map(Token)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "a", "abc", "radius"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def similar(value: Any) -> list[Any]:
    """What one could take for it, and should not always."""
    match value:
        case str():
            return [
                value.upper(),
                value.replace("-", ""),
                value + " ",
                value + "\n",
                f" {value}",
                " ",
                value * 9,
                "",
                [value],
                *TEXTS,
            ]
        case bool() | None:
            return [1, 0, "true", None, True, False]
        case int() | float():
            return [str(value), True, Token(f"{value}.0"), Token("9007199254740992"), Token("1e400"), -value, value + 1]
        case list():
            return [[], value * 2, value * 3, {}, Token("1"), value[0] if value else None]
    return [None, [], {}, [value], "a", Token("1")]


def near(kind: Any) -> st.SearchStrategy[Any]:
    """A value that has a chance: its example, with a part of it changed."""
    schemas = Schemas([kind])
    value = example(schemas.of_input(kind), schemas.components, every=True)
    return st.one_of(st.just(value), mutated(value), mutated(value))


@st.composite
def mutated(draw: Any, value: Any) -> Any:
    if isinstance(value, dict) and value:
        way = draw(st.integers(0, 9))
        name = draw(st.sampled_from(sorted(value)))
        if way == 0:
            return {each: inner for each, inner in value.items() if each != name}
        if way == 1:
            return value | {draw(st.sampled_from(NAMES)): draw(values)}
        return value | {name: draw(mutated(value[name]))}
    if isinstance(value, list) and value and draw(st.booleans()):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(mutated(value[index])), *value[index + 1 :]]
    return draw(st.sampled_from(similar(value)))


def written(value: Any) -> str:
    match value:
        case Token():
            return str(value)
        case dict():
            pairs = [f"{json.dumps(name)}: {written(each)}" for name, each in value.items()]
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def accepted(kind: Any, raw: bytes) -> bool:
    try:
        decode(kind, raw)
    except ValidationError as error:
        wrong = error.errors
    else:
        return True
    assert wrong
    assert not any("described" in each.message for each in wrong), "nobody knows what was wrong"
    return False


def is_whole(_: Any, value: Any) -> bool:
    return type(value) is int


def pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """Patterns are JavaScript's, whose "$" is the end; Python's is also the place before a last newline."""
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield jsonschema.ValidationError("not so written")


# JSON Schema takes 1.0 for an integer, and cannot be told otherwise. We do not: whoever writes it means a fraction.
Validator = validators.extend(
    Draft202012Validator,
    validators={"pattern": pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_whole),
)


@settings(max_examples=150)
@given(st.data())
def test_a_body_is_taken_if_and_only_if_its_schema_takes_it(data):
    kind = data.draw(kinds())
    value = data.draw(near(kind))
    raw = written(value).encode()
    schemas = Schemas([kind])
    schema = schemas.of_input(kind) | {"components": {"schemas": schemas.components}}
    validator = Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert accepted(kind, raw) == validator.is_valid(json.loads(raw))


@settings(max_examples=50)
@given(st.data())
def test_an_example_of_a_body_is_taken(data):
    kind = data.draw(kinds())
    schemas = Schemas([kind])
    value = example(schemas.of_input(kind), schemas.components)
    decode(kind, json.dumps(value).encode())


bytes_of_any_kind = st.one_of(
    st.binary(max_size=60), st.text(max_size=60).map(str.encode), values.map(written).map(str.encode)
)


@settings(max_examples=300)
@given(bytes_of_any_kind, st.data())
def test_nothing_else_is_ever_raised(raw, data):
    if raw and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw = raw[:at] + data.draw(st.sampled_from([b"", b"\\", b'"', b"\xff", b"e999", b"[" * 2000])) + raw[at + 1 :]
    with suppress(BodyNotJson, ValidationError):
        decode(Everything, raw)


def test_a_name_of_letters_becomes_the_beginning_of_a_sentence():
    assert {label_of(name) for name in ("dueDate", "x", "shoppingItemId")} == {
        "Due date",
        "X",
        "Shopping item id",
    }
    assert all(label_of(letter)[0].isupper() for letter in string.ascii_lowercase)
