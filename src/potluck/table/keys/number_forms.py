"""Numbers in keys: padded so that they sort as numbers, negative ones and decimals included."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.limits import NUMBER_DIGITS
from potluck.dynamo.numbers import canonical_number
from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys.forms import KeyEncoding, KeySpan, discrete, expected_other, misspelt

if TYPE_CHECKING:
    from potluck.table.keys.ranges import Range

UNPADDED = "unpadded number"


def integer_form(field: FieldPlan, spec: str) -> KeyEncoding:
    lowest, highest = _integer_bounds(field)
    if not spec:
        return _unpadded(field, lowest, highest)
    if not re.fullmatch("0?[1-9][0-9]?", spec) or int(spec) > NUMBER_DIGITS:
        raise misspelt(field, spec, f"how many digits it has, such as {{{field.name}:05}}")
    width = int(spec)
    greatest = 10**width - 1
    signed = lowest is None or lowest < 0
    for bound in (lowest, highest):
        if bound is not None and abs(bound) > greatest:
            wide_enough = f"{{{field.name}:{len(str(abs(bound))):02}}}"
            raise DesignError(f"{field.where} may be {bound}, which has more digits; write {wide_enough}")
    least = -greatest if signed else 0
    padded = f"%0{width}d"
    negative = f"-{padded}"

    def encode(value: int) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            raise expected_other(field, value)
        if not least <= value <= greatest:
            allowed = f"{width} digits" + ("" if signed else " and no sign")
            raise InvalidValue(field.entity, field.name, f"too long for its key, where it has {allowed}")
        # Numbers further below zero have smaller complements, and "-" sorts before every digit.
        return padded % value if value >= 0 else negative % (greatest + value)

    def decode(text: str) -> int:
        value = int(text[1:]) - greatest if text[0] == "-" else int(text)
        if text[0] == "-" and not value:
            raise ValueError("zero has no sign")
        return value

    floor, step = _whole_numbers(field, least, greatest)
    return KeyEncoding(
        name=f"{width} digits",
        encode=encode,
        decode=decode,
        max_bytes=width + signed,
        pattern=f"{'-?' if signed else ''}[0-9]{{{width}}}",
        prefix_free=True,
        span=discrete(encode, floor, step),
    )


def _integer_bounds(field: FieldPlan) -> tuple[int | None, int | None]:
    lowest = math.ceil(field.ge) if field.ge is not None else None
    if field.gt is not None:
        lowest = math.floor(field.gt) + 1
    highest = math.floor(field.le) if field.le is not None else None
    if field.lt is not None:
        highest = math.ceil(field.lt) - 1
    return lowest, highest


def _whole_numbers(
    field: FieldPlan, least: int, greatest: int
) -> tuple[Callable[[Any], int | None], Callable[[int, int], int | None]]:
    def floor(bound: Any) -> int | None:
        if not isinstance(bound, int) or isinstance(bound, bool):
            raise expected_other(field, bound)
        return min(int(bound), greatest) if bound >= least else None

    def step(value: int, by: int) -> int | None:
        return value + by if least <= value + by <= greatest else None

    return floor, step


def _unpadded(field: FieldPlan, lowest: int | None, highest: int | None) -> KeyEncoding:
    if lowest is None or highest is None:
        raise DesignError(
            f"{field.where} is in a key, so it needs bounds, Meta(ge=0, le=...), or a width, {{{field.name}:05}}"
        )

    def encode(value: int) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            raise expected_other(field, value)
        if not lowest <= value <= highest:
            raise InvalidValue(field.entity, field.name, f"not from {lowest} to {highest}")
        return int.__repr__(value)

    def decode(text: str) -> int:
        value = int(text)
        if not lowest <= value <= highest:
            raise ValueError("out of bounds")
        return value

    width = len(str(highest))
    same_width = lowest >= 0 and len(str(lowest)) == width
    floor, step = _whole_numbers(field, lowest, highest)
    return KeyEncoding(
        name=UNPADDED,
        encode=encode,
        decode=decode,
        max_bytes=max(len(str(lowest)), width),
        pattern=f"[1-9][0-9]{{{width - 1}}}|0{{{width}}}" if same_width else "-?[1-9][0-9]*|0",
        prefix_free=same_width,
        stored_text=True,
        span=discrete(encode, floor, step) if same_width else None,
    )


_EXACT = Context(prec=2 * NUMBER_DIGITS)


def decimal_form(field: FieldPlan, spec: str) -> KeyEncoding:
    digits = re.fullmatch(r"0?([1-9][0-9]?)\.([1-9][0-9]?)", spec)
    if digits is None or int(digits[1]) + int(digits[2]) > NUMBER_DIGITS:
        raise misspelt(field, spec, f"the digits before and after the point, such as {{{field.name}:8.2}}")
    before, after = int(digits[1]), int(digits[2])
    unit = Decimal(1).scaleb(-after)
    count = 10 ** (before + after) - 1  # the greatest number, in units
    greatest = _EXACT.scaleb(Decimal(count), -after)
    lowest = field.ge if field.gt is None else field.gt
    signed = lowest is None or lowest < 0
    least = greatest.copy_negate() if signed else Decimal(0)
    for bound in (field.ge, field.gt, field.le, field.lt):
        if bound is not None and not -count <= _EXACT.scaleb(Decimal(bound), after) <= count:
            wide_enough = f"{{{field.name}:{len(str(abs(int(bound))))}.{after}}}"
            raise DesignError(f"{field.where} may be {bound}, which has more digits; write {wide_enough}")

    def units(value: Any) -> int:
        """The value in units of the last digit, rounded down."""
        return int(_EXACT.scaleb(value.quantize(unit, ROUND_FLOOR, _EXACT), after))

    def encode(value: Decimal) -> str:
        if not isinstance(value, Decimal):
            raise expected_other(field, value)
        if not (value.is_finite() and least <= value <= greatest):
            allowed = f"{before} digits before the point" + ("" if signed else " and no sign")
            raise InvalidValue(field.entity, field.name, f"too long for its key, where it has {allowed}")
        amount = units(value)
        if _EXACT.scaleb(Decimal(amount), -after) != value:
            raise InvalidValue(field.entity, field.name, f"{value} has more than {after} digits after the point")
        text = f"{amount if amount >= 0 else count + amount:0{before + after}d}"
        return f"{'-' if amount < 0 else ''}{text[:before]}.{text[before:]}"

    def decode(text: str) -> Decimal:
        amount = int(text.lstrip("-").replace(".", ""))
        if text[0] == "-":
            amount -= count
            if not amount:
                raise ValueError("zero has no sign")
        return _EXACT.scaleb(Decimal(amount), -after)

    def floor(bound: Any) -> Decimal | None:
        if not isinstance(bound, Decimal) or bound.is_nan():
            raise expected_other(field, bound)
        if bound < least:
            return None
        return greatest if bound >= greatest else _EXACT.scaleb(Decimal(units(bound)), -after)

    def step(value: Decimal, by: int) -> Decimal | None:
        value = _EXACT.add(value, unit * by)
        return value if least <= value <= greatest else None

    return KeyEncoding(
        name=f"{before} digits and {after} after the point",
        encode=encode,
        decode=decode,
        max_bytes=before + after + 1 + signed,
        pattern=rf"{'-?' if signed else ''}[0-9]{{{before}}}\.[0-9]{{{after}}}",
        prefix_free=True,
        span=discrete(encode, floor, step),
    )


def number_form(field: FieldPlan, spec: str) -> KeyEncoding:
    """For a key attribute that is itself a number, which DynamoDB sorts."""
    if spec or field.kind not in (Kind.INTEGER, Kind.DECIMAL):
        raise DesignError(f"{field.where}: a numeric key attribute is just {{field}}, an int or a Decimal")
    whole = field.kind is Kind.INTEGER
    greatest = 10**NUMBER_DIGITS - 1

    def encode(value: Any) -> str:
        if not isinstance(value, int if whole else Decimal) or isinstance(value, bool):
            raise expected_other(field, value)
        if whole and abs(value) > greatest:
            raise InvalidValue(field.entity, field.name, f"a number has at most {NUMBER_DIGITS} digits")
        try:
            return canonical_number(int.__repr__(value) if whole else str(value))
        except DynamoError as error:
            raise InvalidValue(field.entity, field.name, f"{value}: {error.message}") from None

    def span(bounds: Range[Decimal]) -> KeySpan | None:
        low = None if bounds.low is None else encode(bounds.low)
        high = None if bounds.high is None else encode(bounds.high)
        if bounds.low is not None and bounds.high is not None and bounds.low > bounds.high:
            return None
        return KeySpan(low, high, bounds.high_open, bounds.low_open)

    return KeyEncoding(
        name="number",
        encode=encode,
        decode=int if whole else Decimal,
        max_bytes=21,
        pattern="-?[0-9]+" if whole else r"-?[0-9]+(?:\.[0-9]+)?",
        stored_text=True,
        span=discrete(encode, *_whole_numbers(field, -greatest, greatest)) if whole else span,
    )
