"""What keys can look like, by their templates: whether two can be equal, or one a prefix of another.

"#" is in no encoded value, so a template always has the same number of segments, and keys compare segment by segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice, product
from typing import Any
from uuid import UUID

from potluck.table.errors import InvalidValue
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys import SEPARATOR, Component, KeyTemplate

MOST_EXAMPLES = 200


@dataclass(frozen=True, slots=True)
class Segment:
    """What is between two separators: a pattern that matches every such text, and examples."""

    pattern: re.Pattern[str]
    examples: tuple[str, ...]
    free: bool  # contains user-chosen text

    def can_equal(self, other: Segment) -> bool:
        """Whether some text fits both."""
        # Trying the shortest texts is enough to find that two ranges of lengths overlap.
        return any(map(other.pattern.fullmatch, self.examples)) or any(map(self.pattern.fullmatch, other.examples))

    def can_begin(self, other: Segment) -> bool:
        """Whether some text of the other begins with one of these."""
        if not self.free:
            beginnings = self.examples
        else:
            beginnings = tuple(
                example[:end]
                for example in (*self.examples, *other.examples)
                for end in range(len(example) + 1)
                if self.pattern.fullmatch(example[:end])
            )
        for begun in beginnings:
            for example in other.examples:
                # The example may be one of many values: try the prefix in place of its beginning, and before it.
                for text in (begun + example[len(begun) :], begun + example):
                    if other.pattern.fullmatch(text):
                        return True
        return False


def template_segments(template: KeyTemplate, fields: Mapping[str, FieldPlan]) -> tuple[Segment, ...]:
    """The segments of a template's keys."""
    return segments(template.parts, fields)


def segments(parts: Sequence[str | Component], fields: Mapping[str, FieldPlan]) -> tuple[Segment, ...]:
    """The segments of a template, or of a prefix of one."""
    split: list[list[str | Component]] = [[]]
    for part in parts:
        if isinstance(part, Component):
            split[-1].append(part)
            continue
        first, *others = part.split(SEPARATOR)
        split[-1].append(first)
        split += [[literal] for literal in others]
    return tuple(_segment(parts, fields) for parts in split)


def can_equal(one: Sequence[Segment], other: Sequence[Segment]) -> bool:
    """Whether some key fits both."""
    return len(one) == len(other) and all(a.can_equal(b) for a, b in zip(one, other, strict=True))


def can_begin(beginning: Sequence[Segment], key: Sequence[Segment]) -> bool:
    """Whether some key begins like this."""
    if len(beginning) > len(key):
        return False
    *whole, last = beginning
    return all(a.can_equal(b) for a, b in zip(whole, key, strict=False)) and last.can_begin(key[len(whole)])


def can_be_between(low: str, high: str, key: Sequence[Segment]) -> bool:
    """Whether some key sorts between `low` and `high`, both included."""
    examples = islice(product(*(segment.examples for segment in key)), MOST_EXAMPLES)
    if any(low <= SEPARATOR.join(example) <= high for example in examples):
        return True
    # A user-chosen text can fall between, if everything before it is a prefix of one of the ends.
    before = list(_before_free_text(key))
    return len(before) < len(key) and any(end.startswith(SEPARATOR.join([*before, ""])) for end in (low, high))


def _before_free_text(key: Sequence[Segment]) -> Iterator[str]:
    for segment in key:
        if segment.free:
            return
        yield segment.examples[0]


def _segment(parts: Sequence[str | Component], fields: Mapping[str, FieldPlan]) -> Segment:
    pattern = "".join(f"(?:{_pattern(part)})" if isinstance(part, Component) else re.escape(part) for part in parts)
    choices = [_examples(part, fields[part.field]) if isinstance(part, Component) else (part,) for part in parts]
    return Segment(
        pattern=re.compile(pattern, re.DOTALL),
        examples=tuple("".join(texts) for texts in islice(product(*choices), MOST_EXAMPLES)),
        free=any(isinstance(part, Component) and _is_free(fields[part.field]) for part in parts),
    )


def _pattern(component: Component) -> str:
    if component.substitute is None:
        return component.form.pattern
    return f"{component.form.pattern}|{re.escape(component.substitute)}"


def _is_free(field: FieldPlan) -> bool:
    return field.kind is Kind.TEXT or field.in_keys is not None


def _examples(component: Component, field: FieldPlan) -> tuple[str, ...]:
    written = [] if component.substitute is None else [component.substitute]
    if field.in_keys is not None:
        return (*written, "0")  # only the field knows what it writes, and its pattern allows everything
    for value in _values(field):
        try:
            written.append(component.form.encode(value))
        except InvalidValue:
            continue
    return tuple(written)


def _values(field: FieldPlan) -> Sequence[Any]:
    if field.kind is Kind.TEXT:
        return ("x" * (field.min_length or 1), "0" * (field.min_length or 1), "z" * (field.max_length or 1))
    if field.kind in (Kind.INTEGER, Kind.DECIMAL):
        bounds = [bound for bound in (field.ge, field.gt, field.le, field.lt) if bound is not None]
        near = {0, 1, *(int(bound) + by for bound in bounds for by in (-1, 0, 1))}
        allowed = [number for number in sorted(near) if _within(field, number)]
        return allowed if field.kind is Kind.INTEGER else [Decimal(number) for number in allowed]
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return field.choices
    return {
        Kind.BOOLEAN: (False, True),
        Kind.UUID: (UUID(int=0), UUID(int=2**128 - 1)),
        Kind.TIME: (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        Kind.DATE: (date.min, date.max),
    }.get(field.kind, ())


def _within(field: FieldPlan, number: int) -> bool:
    return not (
        (field.ge is not None and number < field.ge)
        or (field.gt is not None and number <= field.gt)
        or (field.le is not None and number > field.le)
        or (field.lt is not None and number >= field.lt)
    )
