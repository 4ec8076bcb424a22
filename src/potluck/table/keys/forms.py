"""Forms of values in keys: distinct for distinct values, and sorted as the values are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import FieldPlan

if TYPE_CHECKING:
    from potluck.table.keys.ranges import Range


@dataclass(frozen=True, slots=True)
class KeySpan:
    """The encoded texts from `low` to `high`, both included unless `high_open`; None means no bound."""

    low: str | None
    high: str | None
    high_open: bool = False
    loose: bool = False  # may contain texts of values outside the range


@dataclass(frozen=True, slots=True)
class KeyEncoding:
    """One way to write the values of a field."""

    name: str
    encode: Callable[[Any], str]  # raises InvalidValue
    decode: Callable[[str], Any] | None  # raises ValueError; None if encoding loses the spelling
    max_bytes: int
    pattern: str
    prefix_free: bool = False  # no encoded value is a prefix of another, so anything may follow
    stored_text: bool = False  # the same text as the stored attribute
    span: Callable[[Range[Any]], KeySpan | None] | None = None  # returns None if no value is in the range
    sorts_before_separator: bool = False  # the order still holds when "#" follows
    begins: Callable[[str], str | None] | None = None  # encodes a prefix; None if no value has it
    compared_as: Callable[[Any], Any] | None = None  # converts a value for comparisons
    whole_below: int | None = None  # a text of this many bytes or more may have been cut

    @property
    def ordered(self) -> bool:
        """Whether encoded values sort as the values do."""
        return self.span is not None

    def lost_its_end(self, text: str) -> bool:
        return self.whole_below is not None and len(text.encode()) >= self.whole_below


def discrete(
    encode: Callable[[Any], str], floor: Callable[[Any], Any], step: Callable[[Any, int], Any]
) -> Callable[[Range[Any]], KeySpan | None]:
    """Spans of discrete values: `floor` is the last one up to a bound, `step` moves by one."""

    def span(bounds: Range[Any]) -> KeySpan | None:
        low = high = None
        if bounds.low is not None:
            low = floor(bounds.low)
            if low is not None and (bounds.low_open or low < bounds.low):
                low = step(low, 1)
                if low is None:
                    return None
        if bounds.high is not None:
            high = floor(bounds.high)
            if high is not None and bounds.high_open and high == bounds.high:
                high = step(high, -1)
            if high is None or (low is not None and low > high):
                return None
        return KeySpan(None if low is None else encode(low), None if high is None else encode(high))

    return span


def misspelt(field: FieldPlan, spec: str, possible: str) -> DesignError:
    spelt = f"{field.name}:{spec}" if spec else field.name
    return DesignError(
        f"{field.where}: {{{spelt}}} does not say how to write its {field.kind.value} in a key; write {possible}"
    )


def expected_other(field: FieldPlan, value: Any) -> InvalidValue:
    expected = getattr(field.core, "__name__", str(field.core))
    return InvalidValue(field.entity, field.name, f"expected {expected}, got {type(value).__name__} {value!r:.100}")
