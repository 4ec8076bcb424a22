"""Access patterns as plain data, checked against their keys when they are declared."""

from __future__ import annotations

import inspect
import itertools
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from potluck.table.entity import EntityPlan, plan_of
from potluck.table.errors import DesignError
from potluck.table.fields import FieldPlan
from potluck.table.keys import Component, KeyPlan, KeyTemplate
from potluck.table.keys.ranges import Range, SortCondition, StartsWith, check_range, sort_condition, successor
from potluck.table.tables import Table

Role = Literal["partition", "sort", "filter"]
AskedBy = Literal["value", "range", "prefix"]

WHOLE_PARTITION = SortCondition("none")


@dataclass(frozen=True, slots=True)
class PatternParameter:
    """One argument of an access pattern and its role."""

    name: str
    role: Role
    kind: AskedBy


@dataclass(frozen=True, slots=True)
class Bucket:
    """The field of an item collection that one kind of row goes into."""

    name: str
    plan: EntityPlan
    holds: Literal["one", "maybe one", "many"]


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """An access pattern: the question it answers, the kinds of rows it finds, and the key it finds them by."""

    name: str
    question: str
    operation: Literal["GetItem", "Query", "Scan"]
    table: Table
    index: str | None
    members: tuple[EntityPlan, ...]
    parameters: tuple[PatternParameter, ...]
    prefix: str | None = None
    filter: tuple[str, ...] = ()
    descending: bool = False
    consistent: bool = False
    buckets: tuple[Bucket, ...] = ()
    collection: type[Any] | None = None

    def __repr__(self) -> str:
        return f"<pattern {self.name}>"

    def key_plan(self, plan: EntityPlan) -> KeyPlan:
        """The key by which a member's rows are found."""
        return plan.key if self.index is None else plan.indexes[self.index]

    @cached_property
    def sort_parameters(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters if parameter.role == "sort")

    def given(self, template: KeyTemplate) -> tuple[str, ...]:
        """The leading components of a sort key that the pattern has values for, from sort or partition arguments."""
        known = {parameter.name for parameter in self.parameters if parameter.role != "filter"}
        return tuple(itertools.takewhile(known.__contains__, template.fields))

    def sort_templates(self, plan: EntityPlan) -> tuple[KeyTemplate, ...]:
        """The member's sort templates that the pattern's sort arguments fill from the left."""
        parameters = set(self.sort_parameters)
        return tuple(template for template in self.key_plan(plan).sort if parameters <= set(self.given(template)))

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """The common prefix of the rows' sort keys, as template text."""
        texts = {
            template.prefix_text(len(self.given(template)))
            for plan in self.members
            for template in self.sort_templates(plan)
        }
        return tuple(sorted(texts))

    @cached_property
    def spans_kinds(self) -> bool:
        """Whether it finds rows whose sort keys begin differently, by the range from the first to the last of them."""
        return self.prefix is None and (bool(self.buckets) or len(self.beginnings) > 1)

    def partition_of(self, values: Mapping[str, Any]) -> str:
        """The partition key for these arguments."""
        partition = self.key_plan(self.members[0]).partition.encode(values)
        if partition is None:
            raise ValueError(f"{self.name}: rows where a part of the key is None are not in {self.index}")
        return partition

    def sort_condition(self, values: Mapping[str, Any]) -> SortCondition:
        """The condition on the sort key that finds every matching row, and as few others as possible."""
        return self._fixed_sort or self._sort_condition(values)

    @cached_property
    def _fixed_sort(self) -> SortCondition | None:
        """The sort condition if it is the same for all arguments; None if it depends on them."""
        templates = self.sort_templates(self.members[0])
        if self.spans_kinds or not templates or (self.prefix is None and not self.given(templates[0])):
            return self._sort_condition({})
        return None

    def _sort_condition(self, values: Mapping[str, Any]) -> SortCondition:
        if self.spans_kinds:
            return self._span()
        templates = self.sort_templates(self.members[0])
        if not templates:
            return WHOLE_PARTITION
        template = templates[0]
        if self.prefix is not None:
            return SortCondition("begins_with", (template.written_prefix(self.prefix, values),))
        alone = all(self.sort_templates(plan) == self.key_plan(plan).sort for plan in self.members)
        condition = sort_condition(template, {name: values[name] for name in self.given(template)}, alone=alone)
        return condition if alone else self._asked_for_only(condition)

    def _asked_for_only(self, condition: SortCondition) -> SortCondition:
        """The same condition, without rows that are in the range but whose key another template wrote."""
        templates = {plan.cls: self.sort_templates(plan) for plan in self.members}
        keep = condition.keep

        def asked_for(entity: Any) -> bool:
            template = self.key_plan(plan_of(entity)).sort_template(entity)
            return template in templates[type(entity)] and (keep is None or keep(entity))

        return replace(condition, keep=asked_for)

    def _span(self) -> SortCondition:
        """The narrowest range of sort keys that covers every member's rows."""
        ends = []
        for plan in self.members:
            for template in self.key_plan(plan).sort:
                start = template.literal_prefix
                ends.append((start, start if not template.fields else successor(start) if start else ""))
        if not ends or any(not start for start, _ in ends):
            return WHOLE_PARTITION
        starts = {start for start, _ in ends}
        if len(starts) == 1 and all(start != end for start, end in ends):
            return SortCondition("begins_with", (starts.pop(),))
        return SortCondition("BETWEEN", (min(starts), max(end for _, end in ends)))


def plan_pattern(function: Callable[..., None], owner: str, members: tuple[EntityPlan, ...], **options: Any) -> Pattern:
    """The pattern that a function declares; raises a DesignError."""
    return _PatternReading(f"{owner}.{function.__name__}", function, members, options).read()


@dataclass
class _PatternReading:
    """An access pattern's declaration while it is being read and checked."""

    name: str
    function: Callable[..., None]
    members: tuple[EntityPlan, ...]
    options: dict[str, Any]

    def read(self) -> Pattern:
        question = inspect.cleandoc(self.function.__doc__ or "")
        if not question:
            raise self.refused("its docstring must be the question that it answers")
        self.check_members()
        if self.options["operation"] == "Scan" and inspect.signature(self.function).parameters:
            raise self.refused("a scan takes no arguments: it reads the whole table")
        hints = hints_of(self.function, self.name)
        declared = inspect.signature(self.function).parameters.values()
        parameters = tuple(self.parameter(name, hints) for name in declared)
        pattern = Pattern(
            name=self.name,
            question=question,
            table=self.members[0].table,
            members=self.members,
            parameters=parameters,
            **self.options,
        )
        if pattern.operation == "Scan":
            return pattern
        self.check_arguments(pattern)
        if not pattern.buckets:
            self.check_sort_keys(pattern)
        if pattern.operation == "GetItem":
            self.check_whole_key(pattern)
        return pattern

    @property
    def index(self) -> str | None:
        index: str | None = self.options["index"]
        return index

    def key(self, plan: EntityPlan) -> KeyPlan:
        return plan.key if self.index is None else plan.indexes[self.index]

    def check_members(self) -> None:
        table = self.members[0].table
        for plan in self.members:
            if plan.table is not table:
                raise self.refused(f"{plan.name} is in table {plan.table.name}, not in {table.name}")
            if self.index is not None and self.index not in table.indexes:
                raise self.refused(f"table {table.name} has no index {self.index}")
            if self.index is not None and self.index not in plan.indexes:
                raise self.refused(f"{plan.name} has no key in {self.index}; add {self.index}=(...) to its class")
        if self.index is not None and self.options["consistent"]:
            raise self.refused(f"{self.index} is an index, and no index reads consistently")
        if self.options["operation"] == "Scan":
            return
        first = self.key(self.members[0]).partition
        for plan in self.members:
            partition = self.key(plan).partition
            if _skeleton(partition) != _skeleton(first):
                raise self.refused(
                    f"{plan.name}'s partition {partition.text} is not {first.text}, so one query cannot find both"
                )

    def parameter(self, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> PatternParameter:
        name = parameter.name
        if parameter.default is not parameter.empty:
            raise self.refused(f"{name} has a default; declare another pattern for fewer arguments")
        if name not in hints:
            raise self.refused(f"{name} needs a type")
        kind: AskedBy = "value"
        annotation = hints[name]
        if get_origin(annotation) is Range:
            kind, annotation = "range", get_args(annotation)[0]
        elif annotation is StartsWith:
            kind, annotation = "prefix", str
        for plan in self.members:
            field = self.field(plan, name)
            if kind == "prefix" and field.core is not str:
                raise self.refused(f"{name} is not text, so it has no prefix; use a Range")
            if not _same_type(annotation, field.type):
                raise self.refused(
                    f"{name} is {type_name(annotation)} here, but {plan.name}.{field.name} is {type_name(field.type)}"
                )
        return PatternParameter(name, self.role(name), kind)

    def field(self, plan: EntityPlan, name: str) -> FieldPlan:
        """The member's field of an argument: by name, or by its position in the partition key."""
        partition = self.key(self.members[0]).partition.fields
        if name in partition and name not in self.options["filter"]:
            name = self.key(plan).partition.fields[partition.index(name)]
        field = plan.fields.get(name)
        if field is None:
            close = get_close_matches(name, plan.fields, 1)
            others = f"did you mean {close[0]}?" if close else f"its fields are {', '.join(plan.fields)}"
            raise self.refused(f"{plan.name} has no field {name}; {others}")
        return field

    def role(self, name: str) -> Role:
        key = self.key(self.members[0])
        if name in self.options["filter"]:
            self.check_filter(name)
            return "filter"
        if name in key.partition.fields:
            return "partition"
        if any(name in template.fields for plan in self.members for template in self.key(plan).sort):
            return "sort"
        parts = [*key.partition.fields, *(field for template in key.sort for field in template.fields)]
        raise self.refused(
            f"{name} is not part of the key, whose parts are {', '.join(dict.fromkeys(parts))}; "
            f"to filter by it, add filter=({name!r},)"
        )

    def check_filter(self, name: str) -> None:
        first = self.members[0].fields[name]
        for plan in self.members:
            field = plan.fields[name]
            if field.key_only:
                raise self.refused(f"{field.where} is stored in the key only, which filters cannot use")
            if field.attribute != first.attribute:
                raise self.refused(
                    f"{name} is stored as {first.attribute} in {first.entity} and as {field.attribute} in "
                    f"{field.entity}, so one filter cannot find both"
                )

    def check_arguments(self, pattern: Pattern) -> None:
        names = {parameter.name for parameter in pattern.parameters}
        partition = self.key(self.members[0]).partition
        missing = [field for field in partition.fields if field not in names]
        if missing:
            raise self.refused(f"needs the whole partition key {partition.text}; add {', '.join(missing)}")
        for field in pattern.filter:
            if field not in names:
                raise self.refused(f"filters by {field}, which is not an argument")
        for argument in pattern.parameters:
            if argument.kind != "value" and (argument.role != "sort" or argument.name != pattern.sort_parameters[-1]):
                raise self.refused(f"a range can only be on the last argument of the sort key, not {argument.name}")
        if pattern.buckets and pattern.operation == "GetItem":
            raise self.refused("an item collection is found by a query; write @query()")
        if pattern.buckets and pattern.sort_parameters:
            raise self.refused(
                f"an item collection is found by its partition; {pattern.sort_parameters[0]} is not in it"
            )

    def check_sort_keys(self, pattern: Pattern) -> None:
        for plan in self.members:
            templates = pattern.sort_templates(plan)
            if self.key(plan).sort and not templates:
                begins = " or ".join(template.text for template in self.key(plan).sort)
                raise self.refused(
                    f"gives {', '.join(pattern.sort_parameters)}, but {plan.name}'s sort key is {begins}; "
                    f"components are given from the left"
                )
            for template in templates:
                for parameter in pattern.parameters:
                    if parameter.kind != "value":
                        check_range(template, parameter.name, parameter.kind, self.name)
                if pattern.prefix is not None:
                    self.check_prefix(pattern, pattern.prefix, template)
        if pattern.spans_kinds and pattern.sort_parameters:
            begin = ", ".join(pattern.beginnings)
            raise self.refused(f"its rows begin differently ({begin}), so one query cannot find all")
        if not pattern.spans_kinds:
            self.check_written_alike(pattern)

    def check_prefix(self, pattern: Pattern, prefix: str, template: KeyTemplate) -> None:
        if not template.text.startswith(prefix) or prefix.count("{") != prefix.count("}"):
            raise self.refused(f"{template.text} does not begin with prefix {prefix}")
        inside = template.fields[: prefix.count("{")]
        known = {
            argument.name for argument in pattern.parameters if argument.kind == "value" and argument.role != "filter"
        }
        for field in inside:
            if field not in known:
                raise self.refused(f"prefix {prefix} needs {field}; add it to the arguments")
        for name in pattern.sort_parameters:
            if name not in inside:
                raise self.refused(f"{name} is not in the prefix {prefix}, so it would have no effect; leave it out")

    def check_written_alike(self, pattern: Pattern) -> None:
        """Sort arguments are encoded, and cut, as for the first kind, so every other kind must encode them alike."""
        templates = [template for plan in self.members for template in pattern.sort_templates(plan)]
        for template in templates[1:]:
            for name in pattern.sort_parameters:
                ours, theirs = templates[0].component(name), template.component(name)
                if _written(ours) != _written(theirs):
                    raise self.refused(
                        f"{ours.entity}.{name} and {theirs.entity}.{name} are written differently in keys; "
                        f"give them the same bounds"
                    )

    def check_whole_key(self, pattern: Pattern) -> None:
        names = {parameter.name for parameter in pattern.parameters if parameter.kind == "value"}
        for template in self.key(self.members[0]).sort:
            missing = [field for field in template.fields if field not in names]
            if missing:
                raise self.refused(f"gets one item, so it needs its whole key; add {', '.join(missing)}")
        for plan in self.members:
            for template, first in zip(self.key(plan).sort, self.key(self.members[0]).sort, strict=True):
                if _skeleton(template) != _skeleton(first):
                    raise self.refused(
                        f"{plan.name}'s sort key {template.text} is not {first.text}, so one key cannot find both"
                    )

    def refused(self, why: str) -> DesignError:
        return DesignError(f"{self.name}: {why}")


def _skeleton(template: KeyTemplate) -> list[Any]:
    """A template without its field names: equal skeletons write the same key for the same values."""
    return [_written(part) if isinstance(part, Component) else part for part in template.parts]


def _written(part: Component) -> tuple[Any, ...]:
    return part.spec, part.substitute, part.form.name, part.form.pattern, part.form.max_bytes


def hints_of(declared: Any, name: str) -> dict[str, Any]:
    """The annotations of a function or class; raises a DesignError for one that cannot be resolved."""
    try:
        return typing.get_type_hints(declared)
    except NameError as error:
        raise DesignError(f"{name}: an annotation uses an undefined name: {error}") from error


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _same_type(annotation: Any, declared: Any) -> bool:
    """Whether an argument has the field's type, or the field's type without None."""
    types = set(alternatives(declared))
    return set(alternatives(annotation)) in (types, types - {NoneType})


def type_name(hint: Any) -> str:
    """A type as source text."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
