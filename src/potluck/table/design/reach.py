"""The reach of an access pattern: its key condition, in terms of its arguments, and the rows that meet it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from potluck.table.design.shapes import can_be_between, can_begin, can_equal, segments, template_segments
from potluck.table.fields import FieldPlan
from potluck.table.keys import Component, KeyPlan, KeyTemplate
from potluck.table.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Reach:
    """Which rows of its partition a pattern reads."""

    pattern: Pattern
    key: KeyPlan
    operator: Literal["none", "=", "begins_with", "BETWEEN", "range", "starts"]
    parts: tuple[str | Component, ...] = ()  # the operand of the comparison, or the prefix of a range
    ends: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, pattern: Pattern) -> Reach:
        member = pattern.members[0]
        key = pattern.key_plan(member)
        if pattern.spans_kinds:
            # A range that spans several kinds does not depend on arguments.
            span = pattern.sort_condition({})
            if span.operator == "BETWEEN":
                low, high = span.values
                return cls(pattern, key, "BETWEEN", ends=(low, high))
            return cls(pattern, key, "begins_with" if span.values else "none", span.values)
        templates = key.sort if pattern.operation == "GetItem" else pattern.sort_templates(member)
        if not templates:
            return cls(pattern, key, "none")
        template = templates[0]
        names = pattern.given(template)
        if pattern.prefix is not None:
            return cls(pattern, key, "begins_with", _beginning(template, pattern.prefix))
        if pattern.operation == "GetItem":
            return cls(pattern, key, "=", template.parts)
        kinds = {parameter.name: parameter.kind for parameter in pattern.parameters}
        if names and kinds[names[-1]] != "value":
            operator: Literal["range", "starts"] = "range" if kinds[names[-1]] == "range" else "starts"
            return cls(pattern, key, operator, _first_parts(template, len(names) - 1))
        if len(names) == len(template.components):
            return cls(pattern, key, "=", template.parts)
        parts = _first_parts(template, len(names))
        return cls(pattern, key, "begins_with" if parts else "none", parts)

    def meets(self, key: KeyPlan, fields: Mapping[str, FieldPlan]) -> bool:
        """Whether it can read rows with these keys, in the same table or index, whatever their entity."""
        ours = self.pattern.members[0].fields
        if not can_equal(template_segments(self.key.partition, ours), template_segments(key.partition, fields)):
            return False
        if self.operator == "none" or not key.sort:
            return True
        return any(self.meets_sort_key(template, fields) for template in key.sort)

    def meets_sort_key(self, template: KeyTemplate, fields: Mapping[str, FieldPlan]) -> bool:
        """Whether it can read rows of its partition whose sort key this template writes."""
        theirs = template_segments(template, fields)
        if self.operator == "BETWEEN":
            return can_be_between(*self.ends, theirs)
        own_segments = segments(self.parts, self.pattern.members[0].fields)
        return can_equal(own_segments, theirs) if self.operator == "=" else can_begin(own_segments, theirs)

    @property
    def condition(self) -> str:
        """The key condition as text."""
        return " and ".join(self.conditions)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The condition on the partition key, and the one on the sort key if there is one."""
        partition = (
            f"{self.key.partition_attribute} = {_quoted(self.key.partition.parts, self.key.partition_is_number)}"
        )
        sort = self.key.sort_attribute
        return (partition,) if self.operator == "none" or sort is None else (partition, self._sort_condition(sort))

    def _sort_condition(self, sort: str) -> str:
        number = self.key.sort_is_number
        if self.operator == "=":
            return f"{sort} = {_quoted(self.parts, number)}"
        if self.operator == "begins_with":
            return f"begins_with({sort}, {_quoted(self.parts, number)})"
        if self.operator == "BETWEEN":
            low, high = self.ends
            return f'{sort} between "{low}" and "{high}"'
        last = self.pattern.sort_parameters[-1]
        if self.operator == "starts":
            return f"begins_with({sort}, {_quoted((*self.parts, f'{{{last}}}'), number)})"
        low, high = (_quoted((*self.parts, f"{{{last} {end}}}"), number) for end in ("from", "to"))
        return f"{sort} between {low} and {high}"


def _beginning(template: KeyTemplate, text: str) -> tuple[str | Component, ...]:
    """The parts of a handwritten prefix."""
    count = text.count("{")
    *whole, _ = _interleaved(template, count)
    rest = text.rpartition("}")[2]
    return tuple(part for part in (*whole, rest) if part != "")


def _first_parts(template: KeyTemplate, count: int) -> tuple[str | Component, ...]:
    return tuple(part for part in _interleaved(template, count) if part != "")


def _interleaved(template: KeyTemplate, count: int) -> list[str | Component]:
    """The leading components with the literals around them."""
    parts: list[str | Component] = [template.literals[0]]
    for component, literal in zip(template.components[:count], template.literals[1:], strict=False):
        parts += [component, literal]
    return parts


def _quoted(parts: tuple[str | Component, ...], number: bool) -> str:
    text = "".join(part if isinstance(part, str) else f"{{{part.field}}}" for part in parts)
    return text if number else f'"{text}"'
