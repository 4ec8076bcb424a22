"""Key templates such as `FAMILY#{family_id}`: checked when declared, then used to encode and decode keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from potluck.dynamo.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys.fixed_forms import boolean_form, date_form, time_form, uuid_form
from potluck.table.keys.forms import KeyEncoding
from potluck.table.keys.number_forms import decimal_form, integer_form, number_form
from potluck.table.keys.text_forms import choice_form, custom_form, text_form

__all__ = ["SEPARATOR", "Component", "KeyPlan", "KeyTemplate", "check_key_only", "key_form"]

SEPARATOR = "#"


@dataclass(frozen=True, slots=True)
class Component:
    """A field's place in a key: `{field}`, `{field:spec}`, `{field|substitute}` or `{field:spec|substitute}`."""

    entity: str
    field: str
    spec: str
    substitute: str | None  # written in place of None
    optional: bool
    form: KeyEncoding

    @property
    def max_bytes(self) -> int:
        return max(self.form.max_bytes, len((self.substitute or "").encode()))

    @property
    def pattern(self) -> str:
        substitute = "" if self.substitute is None else f"|{re.escape(self.substitute)}"
        return f"(?P<{self.field}>{self.form.pattern}{substitute})"

    def encode(self, value: Any) -> str:
        """The value's text, or its substitute; raises InvalidValue for None without a substitute."""
        if value is None and self.optional:
            if self.substitute is None:
                raise InvalidValue(self.entity, self.field, "rows where it is None are not in this index")
            return self.substitute
        return self.form.encode(value)

    def decode(self, text: str) -> Any:
        """The value; raises ValueError if no value has this text."""
        assert self.form.decode is not None
        return None if text == self.substitute else self.form.decode(text)


@dataclass(frozen=True, slots=True)
class KeyTemplate:
    """How one key attribute is written."""

    text: str
    parts: tuple[str | Component, ...]
    literals: tuple[str, ...]  # around the components, so one more than there are of them; some may be empty
    components: tuple[Component, ...]
    is_number: bool
    encode: Callable[[Mapping[str, Any]], str | None] = field(repr=False, compare=False)
    """The key for these values; None if a component is None and has no substitute."""
    pattern: re.Pattern[str] = field(repr=False, compare=False)
    """A pattern that its keys match, with a group for each component."""

    @classmethod
    def parse(
        cls,
        text: str,
        fields: Mapping[str, FieldPlan],
        where: str,
        *,
        primary: bool = False,
        unique: bool = False,
        number: bool = False,
    ) -> KeyTemplate:
        """A template whose keys are distinct for distinct values; raises a DesignError otherwise.

        `unique` is for guard rows, which may fold spellings of a value together; `number` for numeric attributes.
        """
        reading = _TemplateReading(text, fields, where, primary, unique, number)
        literals, components = reading.read()
        in_turn: Iterable[str | Component] = chain.from_iterable(zip_longest(literals, components, fillvalue=""))
        return cls(
            text=text,
            parts=tuple(part for part in in_turn if part != ""),
            literals=literals,
            components=components,
            is_number=number,
            encode=_compiled(literals, components),
            pattern=re.compile(_interleaved([re.escape(part) for part in literals], [c.pattern for c in components])),
        )

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(component.field for component in self.components)

    @property
    def max_bytes(self) -> int:
        """The length of the longest possible key."""
        return len("".join(self.literals).encode()) + sum(component.max_bytes for component in self.components)

    @property
    def literal_prefix(self) -> str:
        return self.literals[0]

    def can_write(self, entity: Any) -> bool:
        """Whether every component has a value or a substitute."""
        return all(part.substitute is not None or getattr(entity, part.field) is not None for part in self.components)

    def component(self, name: str) -> Component:
        for component in self.components:
            if component.field == name:
                return component
        raise DesignError(f"{self.text} has no {name}{_suggestion(name, self.fields)}")

    def after(self, component: Component) -> tuple[str | Component, ...]:
        """The parts after a component."""
        return self.parts[self.parts.index(component) + 1 :]

    def decode(self, key: str) -> dict[str, Any] | None:
        """The values in a key, except folded ones, which are lost; None if it is not a key of this template."""
        match = self.pattern.fullmatch(key)
        if match is None:
            return None
        try:
            return {
                part.field: part.decode(match[part.field]) for part in self.components if part.form.decode is not None
            }
        except ValueError:
            return None

    def prefix(self, values: Mapping[str, Any], count: int) -> str:
        """How the keys with these first `count` components begin, up to the next component."""
        written = [self.literals[0]]
        for component, literal in zip(self.components[:count], self.literals[1:], strict=False):
            written += component.encode(values[component.field]), literal
        return "".join(written)

    def prefix_text(self, count: int) -> str:
        """The same as template text, with the names of the components."""
        return _interleaved(self.literals[: count + 1], [_spelt(component) for component in self.components[:count]])

    def written_prefix(self, beginning: str, values: Mapping[str, Any]) -> str:
        """A prefix of the template's text, encoded for these values."""
        if not self.text.startswith(beginning) or beginning.count("{") != beginning.count("}"):
            raise DesignError(f"{self.text} does not begin with {beginning}")
        count = beginning.count("{")
        rest = len(beginning) - len(self.prefix_text(count))
        whole = self.prefix(values, count)
        return whole[: len(whole) + rest]


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """How the key attributes of the table, or of one of its indexes, are derived from an entity's fields."""

    index: str | None
    partition_attribute: str
    sort_attribute: str | None
    partition: KeyTemplate
    sort: tuple[KeyTemplate, ...] = ()  # the first whose components all have values is used
    when: Callable[..., bool] | None = None
    when_fields: tuple[str, ...] = ()
    partition_is_number: bool = False
    sort_is_number: bool = False
    components: frozenset[str] = field(init=False)
    """Every field that the key depends on."""
    literals: tuple[tuple[str, ...], ...] = field(init=False)
    """The literals of its keys; keys with different literals count as distinct."""

    def __post_init__(self) -> None:
        templates = (self.partition, *self.sort)
        object.__setattr__(self, "literals", tuple(template.literals for template in templates))
        components = {name for template in templates for name in template.fields} | set(self.when_fields)
        object.__setattr__(self, "components", frozenset(components))
        _check_length(self.partition, PARTITION_KEY_BYTES, "partition", self)
        for template in self.sort:
            _check_length(template, SORT_KEY_BYTES, "sort", self)

    def encode(self, values: Mapping[str, Any]) -> tuple[str, str | None] | None:
        """Both keys as text; None for an entity that is not in this index."""
        if self.when is not None and not self.when(*[values[name] for name in self.when_fields]):
            return None
        partition = self.partition.encode(values)
        if partition is None:
            return None
        if not self.sort:
            return partition, None
        for template in self.sort:
            sort = template.encode(values)
            if sort is not None:
                return partition, sort
        return None

    def sort_template(self, entity: Any) -> KeyTemplate | None:
        """Which of its templates writes the sort key of this entity."""
        return next((template for template in self.sort if template.can_write(entity)), None)

    def wire(self, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """The key attributes in wire form; empty for an entity that is not in this index."""
        keys = self.encode(values)
        if keys is None:
            return {}
        partition, sort = keys
        wire = {self.partition_attribute: {"N" if self.partition_is_number else "S": partition}}
        if self.sort_attribute is not None and sort is not None:
            wire[self.sort_attribute] = {"N" if self.sort_is_number else "S": sort}
        return wire

    def decode(self, item: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
        """The values in a stored row's keys; None if they do not match this plan."""
        values = self.partition.decode(_key_text(item, self.partition_attribute, self.partition_is_number))
        if values is None or self.sort_attribute is None:
            return values
        text = _key_text(item, self.sort_attribute, self.sort_is_number)
        for template in self.sort:
            more = template.decode(text)
            # A field in both keys must be the same in both.
            if more is not None and all(values.get(name, value) == value for name, value in more.items()):
                return values | more
        return None

    def matches(self, item: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether a stored row's keys match this plan."""
        return self.decode(item) is not None


def check_key_only(key: KeyPlan, fields: Mapping[str, FieldPlan]) -> None:
    """Raise a DesignError unless every key-only field can be read back from the primary key."""
    for name, plan in fields.items():
        if plan.key_only and name not in (*key.partition.fields, *(key.sort[0].fields if key.sort else ())):
            raise DesignError(f"{plan.where} is declared key-only, but is not in the key; write {{{name}}} there")


def key_form(plan: FieldPlan, spec: str = "", *, number: bool = False) -> KeyEncoding:
    """How `{field:spec}` writes a value; raises a DesignError that says what to write instead."""
    if plan.in_keys is not None:
        if spec or number:
            raise DesignError(f"{plan.where} defines its own form in keys; write {{{plan.name}}}")
        return custom_form(plan)
    if number:
        return number_form(plan, spec)
    form = FORMS.get(plan.kind)
    if form is None:
        kind = plan.kind.value
        raise DesignError(f"{plan.where}: a {kind} cannot be in a key; give it a text with InKeys(encode, decode, ...)")
    return form(plan, spec)


FORMS: dict[Kind, Callable[[FieldPlan, str], KeyEncoding]] = {
    Kind.TEXT: text_form,
    Kind.INTEGER: integer_form,
    Kind.DECIMAL: decimal_form,
    Kind.BOOLEAN: boolean_form,
    Kind.UUID: uuid_form,
    Kind.TIME: time_form,
    Kind.DATE: date_form,
    Kind.LITERAL: choice_form,
    Kind.ENUM: choice_form,
}


@dataclass
class _TemplateReading:
    """A template while it is being read and checked."""

    text: str
    fields: Mapping[str, FieldPlan]
    where: str
    primary: bool
    unique: bool
    number: bool

    def read(self) -> tuple[tuple[str, ...], tuple[Component, ...]]:
        pieces = re.split(r"\{([^{}]*)\}", self.text)
        literals, components = tuple(pieces[::2]), tuple(map(self.component, pieces[1::2]))
        for literal in literals:
            if "{" in literal or "}" in literal:
                raise self.refused("braces may only enclose a field, as in {field}")
            if not literal.isprintable():
                raise self.refused(f"{literal!r} has an invisible character; remove it")
        if not self.text:
            raise self.refused("a key cannot be empty; write a name, such as METADATA")
        if self.number and (len(components) != 1 or any(literals)):
            raise self.refused("the attribute is a number, so its template must be a single field: {field}")
        for name in {component.field for component in components}:
            if sum(component.field == name for component in components) > 1:
                raise self.refused(f"{name} occurs twice; write it once")
        for place, component in enumerate(components):
            self.check_end(component, literals[place + 1], place + 1 == len(components))
        return literals, components

    def component(self, inside: str) -> Component:
        head, bar, substitute = inside.partition("|")
        name, _, spec = head.partition(":")
        plan = self.fields.get(name)
        if plan is None:
            raise self.refused(f"there is no field {name}{_suggestion(name, self.fields)}")
        if plan.is_counter or plan.is_version:
            role = "counter" if plan.is_counter else "version"
            raise self.refused(f"{name} is a {role}, which changes without a rewrite of the key; leave it out")
        form = key_form(plan, spec, number=self.number)
        component = Component(plan.entity, name, spec, substitute if bar else None, plan.optional, form)
        self.check_none(component)
        if form.decode is None:
            self.check_folded(component)
        return component

    def check_none(self, component: Component) -> None:
        name, substitute = component.field, component.substitute
        if substitute is None:
            if component.optional and self.primary and not self.unique:
                raise self.refused(f"{name} can be None, but every row has a key; write {{{name}|NONE}}")
            return
        if not component.optional:
            raise self.refused(f"{name} is never None; write {{{name}}}")
        if self.number:
            raise self.refused(f"a number has no substitute for None; write {{{name}}}")
        if SEPARATOR in substitute or not substitute.isprintable():
            raise self.refused(f"{substitute!r} would be read as more than one part; write it without {SEPARATOR!r}")
        if re.fullmatch(component.form.pattern, substitute):
            # Escaping puts "!" or "~" after a double quote, so no value is written like this.
            unlike = '"' + (substitute.lstrip('!~"') or "NONE")
            raise self.refused(
                f"{name} can itself be {substitute!r}, which would read as None; write {{{name}|{unlike}}}"
            )

    def check_folded(self, component: Component) -> None:
        name = component.field
        if self.primary and not self.unique:
            raise self.refused(f"two spellings of {name} would be one row; write {{{name}}}, and fold it in an index")
        if self.unique and component.form.whole_below is not None and component.spec != "folded":
            raise self.refused(f"two values of {name} that begin alike would be one; write {{{name}:folded}}")

    def check_end(self, component: Component, follows: str, last: bool) -> None:
        """A value needs an end mark, or what follows could be read as part of a longer value."""
        if not follows and not last:
            raise self.refused(f"nothing ends {component.field}; write {SEPARATOR!r} after {_spelt(component)}")
        tells_its_end = component.form.prefix_free and component.substitute is None
        if follows and not tells_its_end and not follows.startswith(SEPARATOR):
            write = f"write {SEPARATOR!r} after {_spelt(component)}"
            raise self.refused(f"{component.field} could itself end like {follows!r}; {write}")

    def refused(self, why: str) -> DesignError:
        return DesignError(f"{self.where}, key {self.text!r}: {why}")


def _compiled(
    literals: tuple[str, ...], components: tuple[Component, ...]
) -> Callable[[Mapping[str, Any]], str | None]:
    """The function that encodes keys, generated for the template because it runs for every row."""
    lines = ["def encode(values):"]
    known: dict[str, Any] = {}
    for place, component in enumerate(components):
        known[f"write_{place}"] = component.form.encode
        known[f"substitute_{place}"] = component.substitute
        lines.append(f"    value = values[{component.field!r}]")
        if component.optional and component.substitute is None:
            lines += ["    if value is None:", "        return None"]
        unless_none = f"substitute_{place} if value is None else " if component.substitute is not None else ""
        lines.append(f"    text_{place} = {unless_none}write_{place}(value)")
    parts = [repr(literal) for literal in literals]
    joined = _interleaved(parts, [f" + text_{place} + " for place in range(len(components))])
    lines.append(f"    key = {joined}")
    if not any(literals):
        known["empty"] = partial(InvalidValue, components[0].entity, components[0].field, "a key cannot be empty")
        lines += ["    if not key:", "        raise empty()"]
    lines.append("    return key")
    exec("\n".join(lines), known)
    encode: Callable[[Mapping[str, Any]], str | None] = known["encode"]
    return encode


def _check_length(template: KeyTemplate, limit: int, which: str, key: KeyPlan) -> None:
    if template.is_number or template.max_bytes <= limit:
        return
    too_long = f"{which} key {template.text!r} could have {template.max_bytes:,} bytes, and {limit:,} are allowed"
    if not template.components:
        raise DesignError(f"{key.index or 'primary key'}: {too_long}; write a shorter one")
    lengths = ", ".join(f"{component.field} up to {component.max_bytes:,}" for component in template.components)
    longest = max(template.components, key=lambda component: component.max_bytes)
    cut = "" if key.index is None else f", or cut it: {{{longest.field}:folded 400}}"
    raise DesignError(
        f"{longest.entity}, {key.index or 'primary key'}: {too_long}; its parts have {lengths} bytes; "
        f"give {longest.field} a smaller max_length{cut}"
    )


def _interleaved(outer: Sequence[str], inner: Sequence[str]) -> str:
    return "".join(text for pair in zip(outer, [*inner, ""], strict=True) for text in pair)


def _spelt(component: Component) -> str:
    spec = f":{component.spec}" if component.spec else ""
    substitute = "" if component.substitute is None else f"|{component.substitute}"
    return f"{{{component.field}{spec}{substitute}}}"


def _key_text(item: Mapping[str, Mapping[str, Any]], attribute: str, is_number: bool) -> str:
    return str(item.get(attribute, {}).get("N" if is_number else "S", ""))


def _suggestion(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, names, 1, 0.5)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"
