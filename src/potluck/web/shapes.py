"""The kinds of JSON values that bodies and parameters are made of: what each takes, and the words for what it is."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from potluck.people.errors import WrongField

__all__ = [
    "DAY_TEXT",
    "LARGEST_WHOLE",
    "LOCAL_MOMENT_TEXT",
    "MOMENT_TEXT",
    "UUID_LENGTH",
    "UUID_TEXT",
    "Choice",
    "Day",
    "Exact",
    "Field",
    "Id",
    "Many",
    "Moment",
    "Names",
    "Nullable",
    "Number",
    "OneOf",
    "Record",
    "Shape",
    "Text",
    "Truth",
    "Whole",
    "Written",
    "words_of",
]

# Beyond it, readers of JSON that keep every number as a double no longer tell neighbours apart.
LARGEST_WHOLE = 2**53 - 1

# What a DynamoDB number can hold: digits, and the powers of ten of the first of them.
MOST_DIGITS = 38
LARGEST_POWER = 125
SMALLEST_POWER = -130

UUID_LENGTH = 36
UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT_TEXT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
LOCAL_MOMENT_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")
DAY_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Written(str):
    """A number as it was written, where Python's would lose digits, take long or be infinite."""

    __slots__ = ()


@dataclass(slots=True, kw_only=True)
class Shape:
    """One kind of JSON value; `precise` if msgspec's decoder takes exactly what this one takes."""

    says: str | None = None
    description: str | None = None
    examples: list[Any] | None = None
    holds: Callable[[Any], Iterable[WrongField]] | None = None
    precise: bool = field(init=False, default=False)

    def takes(self, value: Any) -> bool:
        """Whether a value as JSON has it can be taken; of what holds others, only whether it is of the right kind."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """What it must be, to be said after its name."""
        raise NotImplementedError

    def sentence(self, value: Any) -> str | None:
        """What its declaration says of this value, which it does not take."""
        return self.says


@dataclass(slots=True, kw_only=True)
class Text(Shape):
    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    # msgspec searches, and "$" also matches before a last newline, which nobody who writes it means.
    matching: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        self.matching = None
        if self.pattern is not None:
            self.matching = re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", self.pattern))

    def takes(self, value: Any) -> bool:
        return (
            type(value) is str
            and (self.least is None or len(value) >= self.least)
            and (self.most is None or len(value) <= self.most)
            and (self.matching is None or self.matching.search(value) is not None)
        )

    @property
    def words(self) -> str:
        if self.matching is not None:
            return "is not written as it should be"
        if self.least is None and self.most is None:
            return "must be text"
        if self.least == 1 and self.most is None:
            return "must not be empty"
        return f"must have {counted(self.least, self.most, 'character')}"


@dataclass(slots=True, kw_only=True)
class Whole(Shape):
    least: int = -LARGEST_WHOLE
    most: int = LARGEST_WHOLE
    multiple: int | None = None
    too_large: str | None = None

    def sentence(self, value: Any) -> str | None:
        beyond = value > self.most if type(value) is int else type(value) is Written and value.isdigit()
        return self.too_large if self.too_large and beyond else self.says

    def takes(self, value: Any) -> bool:
        return (
            type(value) is int
            and self.least <= value <= self.most
            and (self.multiple is None or value % self.multiple == 0)
        )

    @property
    def words(self) -> str:
        kind = "a whole number" if self.multiple is None else f"a multiple of {self.multiple}"
        if self.least == -LARGEST_WHOLE and self.most == LARGEST_WHOLE:
            return f"must be {kind}"
        if self.most == LARGEST_WHOLE:
            return f"must be {kind}, at least {self.least}"
        if self.least == -LARGEST_WHOLE:
            return f"must be {kind}, at most {self.most}"
        return f"must be {kind} from {self.least} to {self.most}"


@dataclass(slots=True, kw_only=True)
class Number(Shape):
    """A number with a fraction, as a double has it."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def takes(self, value: Any) -> bool:
        if type(value) is not int and type(value) is not Written:
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return (
            number not in (float("inf"), float("-inf"))
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    @property
    def words(self) -> str:
        return f"must be a number{bounded(self.least, self.most, self.above, self.below)}"


@dataclass(slots=True, kw_only=True)
class Exact(Shape):
    """A number with every digit it was written with, as long as a row can keep it."""

    least: Decimal | None = None
    most: Decimal | None = None
    places: int | None = None

    def takes(self, value: Any) -> bool:
        if type(value) is not int and type(value) is not Written:
            return False
        number = Decimal(value)
        if not number.is_finite():
            return False
        if number:
            # Zeros at either end are no digits that would have to be kept.
            digits = "".join(map(str, number.as_tuple().digits)).strip("0")
            if len(digits) > MOST_DIGITS or not SMALLEST_POWER <= number.adjusted() <= LARGEST_POWER:
                return False
        elif abs(number.adjusted()) > LARGEST_POWER:
            return False
        return (
            (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.places is None or _places(number) <= self.places)
        )

    @property
    def words(self) -> str:
        said = f"must be a number{bounded(self.least, self.most)}"
        if self.places is not None:
            said += f" with at most {self.places} decimal {'place' if self.places == 1 else 'places'}"
        return said


@dataclass(slots=True, kw_only=True)
class Truth(Shape):
    def takes(self, value: Any) -> bool:
        return type(value) is bool

    @property
    def words(self) -> str:
        return "must be true or false"


@dataclass(slots=True, kw_only=True)
class Id(Shape):
    def takes(self, value: Any) -> bool:
        return type(value) is str and UUID_TEXT.fullmatch(value) is not None

    @property
    def words(self) -> str:
        return "must be a UUID in lower case, such as 3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"


@dataclass(slots=True, kw_only=True)
class Moment(Shape):
    local: bool = False

    def takes(self, value: Any) -> bool:
        if type(value) is not str or not (LOCAL_MOMENT_TEXT if self.local else MOMENT_TEXT).fullmatch(value):
            return False
        try:
            moment = msgspec.convert(value, datetime)
            # The first and last hours of all have no name in UTC.
            if not self.local:
                moment.astimezone(UTC)
        except (msgspec.ValidationError, OverflowError):
            return False
        return True

    @property
    def words(self) -> str:
        return f"must be a date and time such as 2026-05-17T09:30:00{'' if self.local else 'Z'}"


@dataclass(slots=True, kw_only=True)
class Day(Shape):
    def takes(self, value: Any) -> bool:
        if type(value) is not str or not DAY_TEXT.fullmatch(value):
            return False
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True

    @property
    def words(self) -> str:
        return "must be a date such as 2026-05-17"


@dataclass(slots=True, kw_only=True)
class Choice(Shape):
    """One of some texts or whole numbers."""

    values: tuple[str | int, ...]

    def takes(self, value: Any) -> bool:
        return type(value) in (str, int) and value in self.values

    @property
    def words(self) -> str:
        first = [str(value) for value in self.values]
        return f"must be {first[0]}" if len(first) == 1 else f"must be {', '.join(first[:-1])} or {first[-1]}"


@dataclass(slots=True, kw_only=True)
class Nullable(Shape):
    """What it holds, or null."""

    inner: Shape

    def takes(self, value: Any) -> bool:
        return value is None or self.inner.takes(value)

    @property
    def words(self) -> str:
        return self.inner.words


@dataclass(slots=True, kw_only=True)
class Many(Shape):
    """A list; with `each` of fixed positions, or any number of `item`."""

    item: Shape | None = None
    each: tuple[Shape, ...] = ()
    least: int | None = None
    most: int | None = None

    def takes(self, value: Any) -> bool:
        return type(value) is list and in_bounds(len(value), self.least, self.most)

    @property
    def words(self) -> str:
        if self.least is None and self.most is None:
            return "must be a list"
        if self.item is None:
            return f"must be a list of {counted(self.least, self.most, 'entry', 'entries')}"
        return f"must have {counted(self.least, self.most, 'entry', 'entries')}"


@dataclass(slots=True, kw_only=True)
class Names(Shape):
    """An object with names of the caller's choosing."""

    name: Shape
    value: Shape
    least: int | None = None
    most: int | None = None

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict) and in_bounds(len(value), self.least, self.most)

    @property
    def words(self) -> str:
        if self.least is None and self.most is None:
            return "must be an object"
        return f"must be an object with {counted(self.least, self.most, 'name')}"


@dataclass(slots=True, kw_only=True)
class Field:
    """A field of a body: `name` as callers write it, `attribute` as Python has it."""

    name: str
    attribute: str
    shape: Shape
    required: bool
    default: Any


@dataclass(slots=True, kw_only=True)
class Record(Shape):
    """A body, by its fields; with a tag, if it is told from others by one."""

    kind: type[Any]
    fields: dict[str, Field]
    tag_field: str | None = None
    tag: str | int | None = None

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    @property
    def words(self) -> str:
        return "must be an object"


@dataclass(slots=True, kw_only=True)
class OneOf(Shape):
    """One of several bodies; the field `tag_field` says which."""

    tag_field: str
    records: dict[str | int, Record]

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    @property
    def words(self) -> str:
        return "must be an object"

    @property
    def choice(self) -> Choice:
        return Choice(values=tuple(self.records))


def words_of(name: str) -> str:
    """A field's name as a sentence begins with it: "dueDate" is "Due date"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")
    return spaced[:1].upper() + spaced[1:].lower()


def counted(least: int | None, most: int | None, one: str, several: str | None = None) -> str:
    several = several or f"{one}s"
    if least and most is not None:
        return f"{least} {one if least == 1 else several}" if least == most else f"{least} to {most} {several}"
    if most is not None:
        return f"at most {most} {one if most == 1 else several}"
    return f"at least {least} {one if least == 1 else several}"


def bounded(least: Any = None, most: Any = None, above: Any = None, below: Any = None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    said = [
        f"{words} {limit}"
        for words, limit in (("at least", least), ("more than", above), ("at most", most), ("less than", below))
        if limit is not None
    ]
    return f", {' and '.join(said)}" if said else ""


def in_bounds(count: int, least: int | None, most: int | None) -> bool:
    return (least is None or count >= least) and (most is None or count <= most)


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
