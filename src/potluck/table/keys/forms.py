"""What it means to write a value inside a key: to be told from every other, and to sort as it should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import FieldPlan

if TYPE_CHECKING:
    from potluck.table.keys.ranges import Range

__all__ = ["KeyForm", "Span", "discrete", "expected_other", "misspelt"]


@dataclass(frozen=True, slots=True)
class Span:
    """The written texts from `low` to `high`, both included unless `high_open`; None is from or to the end."""

    low: str | None
    high: str | None
    high_open: bool = False
    loose: bool = False  # texts in it may belong to values that are not


@dataclass(frozen=True, slots=True)
class KeyForm:
    """One way to write the values of a field."""

    name: str
    encode: Callable[[Any], str]  # raises InvalidValue
    decode: Callable[[str], Any] | None  # raises ValueError; None where spellings are lost
    max_bytes: int
    pattern: str
    prefix_free: bool = False  # no written value begins another, so anything may follow
    stored_text: bool = False  # written as the attribute itself is stored
    span: Callable[[Range[Any]], Span | None] | None = None  # None of a range: no value is in it
    sorts_before_separator: bool = False  # order holds also where "#" follows
    begins: Callable[[str], str | None] | None = None  # how values that begin so begin; None: no value does
    compared_as: Callable[[Any], Any] | None = None  # what comparisons compare, if not the value itself
    whole_below: int | None = None  # a text of so many bytes may have lost its end

    @property
    def ordered(self) -> bool:
        """Whether written values sort as the values do."""
        return self.span is not None

    def lost_its_end(self, text: str) -> bool:
        return self.whole_below is not None and len(text.encode()) >= self.whole_below


def discrete(
    encode: Callable[[Any], str], floor: Callable[[Any], Any], step: Callable[[Any, int], Any]
) -> Callable[[Range[Any]], Span | None]:
    """Spans of values that can be counted: `floor` is the last up to a bound, `step` moves by one."""

    def span(asked: Range[Any]) -> Span | None:
        low = high = None
        if asked.low is not None:
            low = floor(asked.low)
            if low is not None and (asked.low_open or low < asked.low):
                low = step(low, 1)
                if low is None:
                    return None
        if asked.high is not None:
            high = floor(asked.high)
            if high is not None and asked.high_open and high == asked.high:
                high = step(high, -1)
            if high is None or (low is not None and low > high):
                return None
        return Span(None if low is None else encode(low), None if high is None else encode(high))

    return span


def misspelt(field: FieldPlan, spec: str, possible: str) -> DesignError:
    spelt = f"{field.name}:{spec}" if spec else field.name
    return DesignError(
        f"{field.where}: {{{spelt}}} does not say how to write its {field.kind.value} in a key; write {possible}"
    )


def expected_other(field: FieldPlan, value: Any) -> InvalidValue:
    expected = getattr(field.core, "__name__", str(field.core))
    return InvalidValue(field.entity, field.name, f"expected {expected}, got {type(value).__name__} {value!r:.100}")
