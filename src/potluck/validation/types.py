"""The types of single JSON values in inputs: what each accepts, its normal form, and how its errors are worded.

Lists and objects are in `compound_types.py`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

from potluck.table.fields.values import places_of
from potluck.validation.characters import (
    ONE_LINE_IN_WORDS,
    SEVERAL_LINES_IN_WORDS,
    TextRule,
    one_line,
    several_lines,
    with_line_ends,
)
from potluck.validation.errors import FieldError
from potluck.validation.schema_keywords import Components, Schema, enum, plain_number, present, text_of_form
from potluck.validation.trees import NumberText

# Beyond it, JSON parsers that read every number as a double cannot distinguish neighbours.
LARGEST_INTEGER = 2**53 - 1

# What a DynamoDB number can hold: significant digits, and the power of ten of the first.
MOST_DIGITS = 38
LARGEST_POWER = 125
SMALLEST_POWER = -130

UUID_LENGTH = 36
UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DATE_TIME_TEXT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
LOCAL_DATE_TIME_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")
DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MINUTE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")
WHOLE_TEXT = re.compile(r"0|-?[1-9][0-9]{0,18}")
# JSON's numbers, up to the length that people write.
NUMBER_TEXT = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
TRUTHS = {"true": True, "false": False}

NOT_BLANK = r"\S"
# In words, not as a pattern: whitespace is trimmed first, and regex engines disagree on what that is.
RULES_IN_WORDS: dict[TextRule, str] = {one_line: ONE_LINE_IN_WORDS, several_lines: SEVERAL_LINES_IN_WORDS}


@dataclass(slots=True, kw_only=True)
class SchemaType:
    """One type of JSON value; `check` is a rule that bounds cannot state, called with otherwise valid values."""

    message: str | None = None
    description: str | None = None
    examples: list[Any] | None = None
    check: Callable[[Any], Iterable[FieldError]] | None = None

    def accepts(self, value: Any) -> bool:
        """Whether a JSON value is valid; the contents of a list or an object are checked separately."""
        raise NotImplementedError

    def normalised(self, value: Any) -> Any:
        """The value with texts trimmed, line ends normalised, and blank texts null where null is allowed."""
        return value

    def errors(self, value: Any, path: str = "", label: str = "") -> Iterable[FieldError]:
        """What is wrong with a normalised value, in the order of the declaration; unknown fields last."""
        if not self.accepts(value):
            kind = self.wrong_kind(value)
            message = f"{label} {kind}" if kind else self.message_for(value) or f"{label} {self.requirement}"
            return (FieldError(path or "body", message),)
        within = self.errors_within(value, path, label)
        return within if self.check is None else self._checked(within, value, path, label)

    def errors_within(self, value: Any, path: str, label: str) -> Iterable[FieldError]:
        """What is wrong inside a value that is accepted."""
        return ()

    def _checked(self, within: Iterable[FieldError], value: Any, path: str, label: str) -> Iterator[FieldError]:
        """What is wrong inside or, if nothing is, what the type's own check finds."""
        right = True
        for error in within:
            right = False
            yield error
        if right and self.check is not None:
            for error in self.check(value):
                message = error.message or self.message_for(value) or f"{label} {self.requirement}"
                yield FieldError(f"{path}{error.field}" or "body", message)

    @property
    def requirement(self) -> str:
        """The requirement, worded to follow the field's name."""
        raise NotImplementedError

    def from_text(self, text: str) -> Any:
        """The value of a text in an address or a form; the text itself, to be refused, if it has none."""
        return text

    def from_texts(self, texts: Sequence[str]) -> Any:
        """The same for a field that may be repeated; if no list is expected, repeated texts stay one, to be refused."""
        return self.from_text(texts[0]) if len(texts) == 1 else list(texts)

    def to_python(self, value: Any) -> Any:
        """A valid JSON value as the declared Python type."""
        return value

    def message_for(self, value: Any) -> str | None:
        """The declared message for this value, which is not valid."""
        return self.message

    def wrong_kind(self, value: Any) -> str | None:
        """The type that it must have, if this value has another and the declared message is about bounds."""
        return None

    def json_schema(self, components: Components) -> Schema:
        """What it accepts, as JSON Schema."""
        described = {"description": self.description or None, "examples": self.examples or None}
        return self.schema_keywords(components) | present(**described)

    def schema_keywords(self, components: Components) -> Schema:
        """The same without the declared description and examples."""
        raise NotImplementedError


@dataclass(slots=True, kw_only=True)
class TextType(SchemaType):
    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    trim: bool = False
    spelled: Callable[[str], str] | None = None
    rule: TextRule | None = None
    # Searched for, as in msgspec; but "$" would also match before a final newline, which no author of a pattern means.
    matching: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        self.matching = None
        if self.pattern is not None:
            self.matching = re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", self.pattern))

    def accepts(self, value: Any) -> bool:
        return (
            type(value) is str
            and (self.least is None or len(value) >= self.least)
            and (self.most is None or len(value) <= self.most)
            and (self.matching is None or self.matching.search(value) is not None)
        )

    def normalised(self, value: Any) -> Any:
        if type(value) is not str:
            return value
        text = with_line_ends(value) if self.rule is several_lines else value
        return text.strip() if self.trim else text

    def errors_within(self, value: Any, path: str, label: str) -> Iterable[FieldError]:
        wrong = None if self.rule is None else self.rule(value)
        return (FieldError(path or "body", f"{label} {wrong}"),) if wrong else ()

    def wrong_kind(self, value: Any) -> str | None:
        # NumberText is a str too, but not text.
        return None if value is None or type(value) is str else "must be text"

    @property
    def may_be_blank(self) -> bool:
        return not self.least

    def json_schema(self, components: Components) -> Schema:
        ruled = None if self.rule is None else RULES_IN_WORDS[self.rule]
        description = " ".join(filter(None, (self.description, ruled)))
        # Without arguments, super() looks for the class from before it had slots.
        return super(TextType, self).json_schema(components) | present(description=description or None)

    def schema_keywords(self, components: Components) -> Schema:
        # Text is measured after trimming, so blank text is too short.
        not_blank = NOT_BLANK if self.trim and not self.may_be_blank else None
        return {
            "type": "string",
            **present(minLength=self.least, maxLength=self.most, pattern=self.pattern or not_blank),
        }

    @property
    def requirement(self) -> str:
        if self.matching is not None:
            return "is not written as it should be"
        if self.least is None and self.most is None:
            return "must be text"
        if self.least == 1 and self.most is None:
            return "must not be empty"
        return f"must have {counted(self.least, self.most, 'character')}"


@dataclass(slots=True, kw_only=True)
class IntegerType(SchemaType):
    least: int = -LARGEST_INTEGER
    most: int = LARGEST_INTEGER
    multiple: int | None = None
    too_large: str | None = None

    def message_for(self, value: Any) -> str | None:
        beyond = value > self.most if type(value) is int else type(value) is NumberText and value.isdigit()
        return self.too_large if self.too_large and beyond else self.message

    def from_text(self, text: str) -> Any:
        return int(text) if WHOLE_TEXT.fullmatch(text) else text

    def accepts(self, value: Any) -> bool:
        return (
            type(value) is int
            and self.least <= value <= self.most
            and (self.multiple is None or value % self.multiple == 0)
        )

    def schema_keywords(self, components: Components) -> Schema:
        return {
            "type": "integer",
            "minimum": self.least,
            "maximum": self.most,
            **present(multipleOf=self.multiple),
        }

    @property
    def requirement(self) -> str:
        kind = "a whole number" if self.multiple is None else f"a multiple of {self.multiple}"
        if self.least == -LARGEST_INTEGER and self.most == LARGEST_INTEGER:
            return f"must be {kind}"
        if self.most == LARGEST_INTEGER:
            return f"must be {kind}, at least {self.least}"
        if self.least == -LARGEST_INTEGER:
            return f"must be {kind}, at most {self.most}"
        return f"must be {kind} from {self.least} to {self.most}"


@dataclass(slots=True, kw_only=True)
class FloatType(SchemaType):
    """A number stored as a double."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def from_text(self, text: str) -> Any:
        return NumberText(text) if NUMBER_TEXT.fullmatch(text) else text

    def to_python(self, value: Any) -> Any:
        return float(value)

    def accepts(self, value: Any) -> bool:
        if type(value) is not int and type(value) is not NumberText:
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

    def schema_keywords(self, components: Components) -> Schema:
        return {
            "type": "number",
            **present(minimum=self.least, maximum=self.most, exclusiveMinimum=self.above, exclusiveMaximum=self.below),
        }

    @property
    def requirement(self) -> str:
        return f"must be a number{bounded(self.least, self.most, self.above, self.below)}"


@dataclass(slots=True, kw_only=True)
class DecimalType(SchemaType):
    """A number with every digit as written, within what a row can store."""

    least: Decimal | None = None
    most: Decimal | None = None
    places: int | None = None

    def from_text(self, text: str) -> Any:
        return NumberText(text) if NUMBER_TEXT.fullmatch(text) else text

    def to_python(self, value: Any) -> Any:
        return Decimal(value)

    def accepts(self, value: Any) -> bool:
        if type(value) is not int and type(value) is not NumberText:
            return False
        try:
            number = Decimal(value)
        except InvalidOperation:
            # An exponent beyond any that a decimal can have.
            return False
        if not number.is_finite():
            return False
        if number:
            # Leading and trailing zeros are not significant.
            digits = "".join(map(str, number.as_tuple().digits)).strip("0")
            if len(digits) > MOST_DIGITS or not SMALLEST_POWER <= number.adjusted() <= LARGEST_POWER:
                return False
        elif abs(number.adjusted()) > LARGEST_POWER:
            return False
        return (
            (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.places is None or places_of(number) <= self.places)
        )

    def schema_keywords(self, components: Components) -> Schema:
        step = None if self.places is None else Decimal(1).scaleb(-self.places)
        return {
            "type": "number",
            **present(minimum=plain_number(self.least), maximum=plain_number(self.most), multipleOf=plain_number(step)),
        }

    @property
    def requirement(self) -> str:
        requirement = f"must be a number{bounded(self.least, self.most)}"
        if self.places is not None:
            requirement += f" with at most {self.places} decimal {'place' if self.places == 1 else 'places'}"
        return requirement


@dataclass(slots=True, kw_only=True)
class BooleanType(SchemaType):
    requirement = "must be true or false"

    def from_text(self, text: str) -> Any:
        return TRUTHS.get(text, text)

    def accepts(self, value: Any) -> bool:
        return type(value) is bool

    def schema_keywords(self, components: Components) -> Schema:
        return {"type": "boolean"}


@dataclass(slots=True, kw_only=True)
class UuidType(SchemaType):
    requirement = "must be a UUID in lower case, such as 3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"

    def to_python(self, value: Any) -> Any:
        # Takes a third of the time of UUID's constructor.
        return msgspec.convert(value, UUID)

    def accepts(self, value: Any) -> bool:
        return type(value) is str and UUID_TEXT.fullmatch(value) is not None

    def schema_keywords(self, components: Components) -> Schema:
        return text_of_form(UUID_TEXT, format="uuid", minLength=UUID_LENGTH, maxLength=UUID_LENGTH)


@dataclass(slots=True, kw_only=True)
class DateTimeType(SchemaType):
    local: bool = False

    def from_text(self, text: str) -> Any:
        # Browsers leave the seconds out.
        return f"{text}:00" if self.local and MINUTE_TEXT.fullmatch(text) else text

    def to_python(self, value: Any) -> Any:
        return msgspec.convert(value, datetime)

    def accepts(self, value: Any) -> bool:
        if type(value) is not str or not (LOCAL_DATE_TIME_TEXT if self.local else DATE_TIME_TEXT).fullmatch(value):
            return False
        try:
            moment = msgspec.convert(value, datetime)
            # The very first and last hours are out of range in UTC.
            if not self.local:
                moment.astimezone(UTC)
        except (msgspec.ValidationError, OverflowError):
            return False
        return True

    def schema_keywords(self, components: Components) -> Schema:
        if self.local:
            return text_of_form(LOCAL_DATE_TIME_TEXT)
        return text_of_form(DATE_TIME_TEXT, format="date-time")

    @property
    def requirement(self) -> str:
        return f"must be a date and time such as 2026-05-17T09:30:00{'' if self.local else 'Z'}"


@dataclass(slots=True, kw_only=True)
class DateType(SchemaType):
    requirement = "must be a date such as 2026-05-17"

    def to_python(self, value: Any) -> Any:
        return date.fromisoformat(value)

    def accepts(self, value: Any) -> bool:
        if type(value) is not str or not DATE_TEXT.fullmatch(value):
            return False
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True

    def schema_keywords(self, components: Components) -> Schema:
        return text_of_form(DATE_TEXT, format="date")


@dataclass(slots=True, kw_only=True)
class ChoiceType(SchemaType):
    """One of several texts or whole numbers; `kind` is their Enum, if they have one."""

    values: tuple[str | int, ...]
    kind: type[Enum] | None = None

    def from_text(self, text: str) -> Any:
        return int(text) if text not in self.values and WHOLE_TEXT.fullmatch(text) else text

    def to_python(self, value: Any) -> Any:
        return value if self.kind is None else self.kind(value)

    def accepts(self, value: Any) -> bool:
        return type(value) in (str, int) and value in self.values

    def schema_keywords(self, components: Components) -> Schema:
        return enum(self.values)

    @property
    def requirement(self) -> str:
        first = [str(value) for value in self.values]
        return f"must be {first[0]}" if len(first) == 1 else f"must be {', '.join(first[:-1])} or {first[-1]}"


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
    bounds = [
        f"{words} {limit}"
        for words, limit in (("at least", least), ("more than", above), ("at most", most), ("less than", below))
        if limit is not None
    ]
    return f", {' and '.join(bounds)}" if bounds else ""


def in_bounds(count: int, least: int | None, most: int | None) -> bool:
    return (least is None or count >= least) and (most is None or count <= most)
