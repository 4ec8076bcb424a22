"""Attribute values in wire form: strategies that make them, and what they are when compared in Python."""

import base64
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

Value = dict[str, Any]
Item = dict[str, Value]

# Few of them, so that keys collide; what a careless key encoding would confuse: separators, NUL, prefixes, and
# characters whose UTF-8 order differs from their UTF-16 order.
AWKWARD_TEXTS = ["a", "ab", "a\x00", "a\x00b", "a#b", "b", "é", "\uffff", "\U0001f600", "\x00", "Z", "\x7f"]
AWKWARD_BYTES = [b"a", b"a\x00", b"a\x00\x00", b"a\x00\x01", b"\x00", b"\xff", b"\xff\xff", b"\x01", b"a\xff", b"b"]
AWKWARD_NUMBERS = [
    *(
        "0",
        "-0",
        "1",
        "1.0",
        "-1",
        "10",
        "9",
        "0.1",
        "0.10",
        "-0.1",
        "100",
        "99.9",
        "-100",
        "-99.9",
        "1e2",
        "12",
        "123",
    ),
    *("1E+125", "-1E+125", "1E-130", "-1E-130", "9.9999999999999999999999999999999999999E+125"),
    *("12345678901234567890123456789012345678", "-12345678901234567890123456789012345678", "0.00001", "1E-5"),
]


def wire_bytes(content: bytes) -> Value:
    return {"B": base64.b64encode(content).decode()}


def plain(value: Value) -> Any:
    """The value as Python compares it: numbers by amount, sets without order, binaries by bytes."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return "N", Decimal(content)
        case "S":
            return "S", content
        case "B":
            return "B", base64.b64decode(content)
        case "SS" | "NS" | "BS":
            return kind, frozenset(plain({kind[0]: member}) for member in content)
        case "L":
            return "L", tuple(plain(member) for member in content)
        case "M":
            return "M", tuple(sorted((name, plain(member)) for name, member in content.items()))
        case _:
            return kind, content


def plain_item(item: Item) -> dict[str, Any]:
    return {name: plain(value) for name, value in item.items()}


def in_key_order(value: Value) -> Any:
    """What the service sorts by: strings by their UTF-8 bytes, numbers by amount, binaries by unsigned bytes."""
    kind, content = plain(value)
    return content.encode() if kind == "S" else content


@st.composite
def wild_numbers(draw: st.DrawFn) -> str:
    """Any number the service can hold: up to 38 digits, from 1E-130 up to 10E+125, written in some way."""
    digits = draw(st.text("0123456789", min_size=1, max_size=38))
    if not digits.strip("0"):
        return digits
    exponent = draw(st.integers(-130, 125)) - (len(digits.lstrip("0")) - 1)
    lowest = exponent + len(digits) - len(digits.rstrip("0"))
    if lowest < -130:
        exponent += -130 - lowest
    return f"{draw(st.sampled_from(['', '-', '+']))}{digits}E{exponent}"


small_numbers = st.sampled_from(["0", "1", "-1", "2", "-2.5", "10", "9", "0.25", "-10", "1e1", "3.0"])
numbers = st.one_of(st.sampled_from(AWKWARD_NUMBERS), wild_numbers())
texts = st.one_of(
    st.sampled_from(AWKWARD_TEXTS), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
)
binaries = st.one_of(st.sampled_from(AWKWARD_BYTES), st.binary(min_size=1, max_size=5))

few_texts = st.sampled_from(AWKWARD_TEXTS[:7]).map(lambda text: {"S": text})
few_numbers = st.sampled_from(AWKWARD_NUMBERS[:17]).map(lambda number: {"N": number})
few_binaries = st.sampled_from(AWKWARD_BYTES[:7]).map(wire_bytes)

KEY_VALUES = {"S": few_texts, "N": few_numbers, "B": few_binaries}
WIDE_KEY_VALUES = {
    "S": texts.map(lambda text: {"S": text}),
    "N": numbers.map(lambda number: {"N": number}),
    "B": binaries.map(wire_bytes),
}

scalars = st.one_of(
    st.sampled_from(["", *AWKWARD_TEXTS]).map(lambda text: {"S": text}),
    numbers.map(lambda number: {"N": number}),
    st.sampled_from([b"", *AWKWARD_BYTES]).map(wire_bytes),
    st.booleans().map(lambda truth: {"BOOL": truth}),
    st.just({"NULL": True}),
)
sets = st.one_of(
    st.lists(st.sampled_from(AWKWARD_TEXTS), min_size=1, max_size=4, unique=True).map(lambda m: {"SS": m}),
    st.lists(numbers, min_size=1, max_size=4, unique_by=Decimal).map(lambda m: {"NS": m}),
    st.lists(st.sampled_from(AWKWARD_BYTES), min_size=1, max_size=4, unique=True).map(
        lambda members: {"BS": [wire_bytes(member)["B"] for member in members]}
    ),
)
any_values = st.recursive(
    st.one_of(scalars, sets),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: {"L": members}),
        st.dictionaries(st.sampled_from(["a", "b.c", "é", "x"]), inner, max_size=3).map(lambda m: {"M": m}),
    ),
    max_leaves=5,
)
