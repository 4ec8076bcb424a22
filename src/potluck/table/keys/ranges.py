"""Ranges of values, and the conditions on sort keys that find exactly the rows in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from potluck.table.errors import DesignError
from potluck.table.keys import Component, KeyTemplate
from potluck.table.keys.number_forms import UNPADDED

T = TypeVar("T")
Keep = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Range(Generic[T]):
    """Values from `low` to `high`; None means no bound, and an open end is excluded."""

    low: T | None = None
    high: T | None = None
    low_open: bool = field(default=False, kw_only=True)
    high_open: bool = field(default=False, kw_only=True)

    def holds(self, value: T) -> bool:
        """Whether the value is in it."""
        low: Any = self.low
        high: Any = self.high
        if low is not None and not (value > low if self.low_open else value >= low):
            return False
        return high is None or bool(value < high if self.high_open else value <= high)


@dataclass(frozen=True, slots=True)
class StartsWith:
    """Texts that begin with this; folded if the key is."""

    text: str


@dataclass(frozen=True, slots=True)
class SortCondition:
    """A condition on a sort key; `keep` rejects entities that it lets through but that do not match."""

    operator: Literal["none", "=", "begins_with", "BETWEEN", ">=", "<="]
    values: tuple[str, ...] = ()
    keep: Keep | None = field(default=None, compare=False)


def sort_condition(template: KeyTemplate, values: Mapping[str, Any], *, alone: bool = True) -> SortCondition:
    """The condition for rows with these leading components, the last of which may be a Range or StartsWith.

    `alone` is false if other templates write the same sort key: then the rows' values are compared as well.
    """
    components = _first_components(template, values)
    *exact, last = components or (None,)
    argument = values[last.field] if last is not None else None
    tests: list[Keep] = []
    if last is not None and isinstance(argument, Range | StartsWith):
        before = template.prefix(values, len(exact))
        condition, loose = _ranged(template, last, before, argument)
        if loose or not alone or last.substitute is not None:
            tests.append(_within(last, argument))
    else:
        exact = list(components)
        condition = _equal(template, values, len(exact))
    for component in exact:
        value = values[component.field]
        if not alone or (value is not None and component.form.lost_its_end(component.form.encode(value))):
            tests.append(_same(component, value))
    if not tests:
        return condition
    return replace(condition, keep=tests[0] if len(tests) == 1 else lambda row: all(test(row) for test in tests))


def check_range(template: KeyTemplate, name: str, kind: Literal["range", "prefix"], where: str) -> None:
    """Raise a DesignError unless the order of the keys can find ranges, or prefixes, of this component."""
    component = template.component(name)
    form = component.form
    if kind == "prefix":
        if form.begins is None:
            why = "is collated" if form.name.startswith("collated") else "is not text"
            raise DesignError(f"{where}: {name} {why}, so it has no prefix; use a Range")
        return
    if form.span is None:
        instead = f"give it a width, {{{name}:05}}" if form.name == UNPADDED else "query one value of it"
        raise DesignError(f"{where}: {name} does not sort by its value in {template.text}; {instead}")
    if template.after(component) and not (form.prefix_free or form.sorts_before_separator):
        # "a!" comes after "a", but "a!#..." before "a#...".
        raise DesignError(
            f"{where}: {name} is text followed by more in {template.text}, so keys do not sort by it; "
            f"put it last, or in an index write {{{name}:folded}}"
        )


def successor(text: str) -> str:
    """A text that sorts after every text with this prefix."""
    following = ord(text[-1]) + 1
    # Half of a surrogate pair is not valid text.
    return text[:-1] + chr(0xE000 if following == 0xD800 else following)


def _first_components(template: KeyTemplate, values: Mapping[str, Any]) -> tuple[Component, ...]:
    for name in values:
        template.component(name)
    first = template.components[: len(values)]
    for component in first:
        if component.field not in values:
            missing = f"{template.text}: {component.field} comes before {', '.join(values)}"
            raise DesignError(f"{missing}; components are given from the left")
    for component in first[:-1]:
        if isinstance(values[component.field], Range | StartsWith):
            raise DesignError(f"{template.text}: only the last given component can be a range, not {component.field}")
    return first


def _equal(template: KeyTemplate, values: Mapping[str, Any], count: int) -> SortCondition:
    beginning = template.prefix(values, count)
    if count == len(template.components):
        key = template.encode(values)
        assert key is not None  # prefix() has refused any None without a substitute
        return SortCondition("=", (key,))
    return SortCondition("begins_with", (beginning,)) if beginning else SortCondition("none")


def _ranged(
    template: KeyTemplate, component: Component, before: str, argument: Range[Any] | StartsWith
) -> tuple[SortCondition, bool]:
    """The condition, and whether it lets through rows that do not match."""
    form = component.form
    if isinstance(argument, StartsWith):
        check_range(template, component.field, "prefix", "the query")
        assert form.begins is not None
        beginning = form.begins(argument.text)
        if beginning is None:
            return _nothing(template, before), True
        whole = before + beginning
        condition = SortCondition("begins_with", (whole,)) if whole else SortCondition("none")
        return condition, form.lost_its_end(beginning)
    check_range(template, component.field, "range", "the query")
    assert form.span is not None
    span = form.span(argument)
    if span is None:
        return _nothing(template, before), True
    low = before + (span.low or "")
    high = None if span.high is None else before + span.high
    literal, *more = template.after(component) or ("",)
    loose = span.loose or (span.high_open and not literal)
    if high is None and before:
        high = successor(before)
    elif high is not None and literal and not span.high_open:
        # An excluded bound needs no suffix: keys with that value are longer, so they sort after it.
        high = successor(f"{high}{literal}") if more else f"{high}{literal}"
    return _from_to(template, before, low, high), loose


def _from_to(template: KeyTemplate, before: str, low: str, high: str | None) -> SortCondition:
    if high is None:
        return SortCondition(">=", (low,)) if low else SortCondition("none")
    if high == "" or (low > high and not template.is_number):
        return _nothing(template, before)
    return SortCondition("BETWEEN", (low, high)) if low else SortCondition("<=", (high,))


def _nothing(template: KeyTemplate, before: str) -> SortCondition:
    """A condition that no row meets; DynamoDB rejects a BETWEEN whose bounds are in the wrong order."""
    # No value ends with a double quote, because escaping puts a character after it.
    return SortCondition("=", ("0" if template.is_number else before + '"',))


def _within(component: Component, argument: Range[Any] | StartsWith) -> Keep:
    name, as_compared = component.field, component.form.compared_as or _itself
    if isinstance(argument, StartsWith):
        beginning = as_compared(argument.text)
        return lambda row: (value := getattr(row, name)) is not None and as_compared(value).startswith(beginning)
    low, high = (None if bound is None else as_compared(bound) for bound in (argument.low, argument.high))
    compared = Range(low, high, low_open=argument.low_open, high_open=argument.high_open)
    return lambda row: (value := getattr(row, name)) is not None and compared.holds(as_compared(value))


def _same(component: Component, value: Any) -> Keep:
    # Compared as encoded: two times may differ beyond their stored precision.
    name, as_compared = component.field, component.form.compared_as or component.form.encode
    if value is None:
        return lambda row: getattr(row, name) is None
    compared = as_compared(value)
    return lambda row: (value := getattr(row, name)) is not None and as_compared(value) == compared


def _itself(value: Any) -> Any:
    return value
