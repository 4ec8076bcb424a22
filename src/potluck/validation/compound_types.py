"""The types of lists and objects in inputs, and of values that may be null."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from potluck.validation.errors import FieldError, label_of
from potluck.validation.schema_keywords import Components, Schema, default_value, description_of, enum, present
from potluck.validation.trees import RepeatedNames, build, with_values
from potluck.validation.types import ChoiceType, SchemaType, TextType, counted, in_bounds

# Names of unknown fields come from the caller; only enough to recognise them is echoed.
LONGEST_NAME = 100

Rule = Callable[[Any], Iterable[FieldError]]


@dataclass(slots=True, kw_only=True)
class NullableType(SchemaType):
    """The inner type, or null."""

    inner: SchemaType

    def normalised(self, value: Any) -> Any:
        result = self.inner.normalised(value)
        return None if result == "" and self._blank_is_null else result

    @property
    def _blank_is_null(self) -> bool:
        return isinstance(self.inner, TextType) and self.inner.trim and self.inner.may_be_blank

    def errors(self, value: Any, path: str = "", label: str = "") -> Iterable[FieldError]:
        return () if value is None else self.inner.errors(value, path, label)

    def from_text(self, text: str) -> Any:
        return self.inner.from_text(text)

    def from_texts(self, texts: Sequence[str]) -> Any:
        return self.inner.from_texts(texts)

    def to_python(self, value: Any) -> Any:
        return None if value is None else self.inner.to_python(value)

    def accepts(self, value: Any) -> bool:
        return value is None or self.inner.accepts(value)

    def schema_keywords(self, components: Components) -> Schema:
        return {"anyOf": [self.inner.json_schema(components), {"type": "null"}]}

    @property
    def requirement(self) -> str:
        return self.inner.requirement


@dataclass(slots=True, kw_only=True)
class ListType(SchemaType):
    """A list: of any number of `item`, or with a fixed type per position, `items`."""

    item: SchemaType | None = None
    items: tuple[SchemaType, ...] = ()
    least: int | None = None
    most: int | None = None

    def from_texts(self, texts: Sequence[str]) -> Any:
        return [self.item.from_text(text) if self.item else text for text in texts]

    def accepts(self, value: Any) -> bool:
        return type(value) is list and in_bounds(len(value), self.least, self.most)

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if self.item is not None:
            return [self.item.normalised(entry) for entry in value]
        known = [item.normalised(entry) for item, entry in zip(self.items, value, strict=False)]
        return known + value[len(self.items) :]

    def errors_within(self, value: Any, path: str, label: str) -> Iterator[FieldError]:
        entry = f"Each entry of {label[:1].lower()}{label[1:]}"
        for index, inner in enumerate(value):
            item = self.items[index] if self.item is None else self.item
            yield from item.errors(inner, f"{path}[{index}]", entry)

    def wrong_kind(self, value: Any) -> str | None:
        return None if value is None or type(value) is list else "must be a list"

    def schema_keywords(self, components: Components) -> Schema:
        bounds = present(minItems=self.least, maxItems=self.most)
        if self.item is not None:
            return {"type": "array", "items": self.item.json_schema(components), **bounds}
        positions = [item.json_schema(components) for item in self.items]
        return {"type": "array", "prefixItems": positions, "items": False, **bounds}

    @property
    def requirement(self) -> str:
        if self.least is None and self.most is None:
            return "must be a list"
        if self.item is None:
            return f"must be a list of {counted(self.least, self.most, 'entry', 'entries')}"
        return f"must have {counted(self.least, self.most, 'entry', 'entries')}"


@dataclass(slots=True, kw_only=True)
class MapType(SchemaType):
    """An object with arbitrary names."""

    name: SchemaType
    value: SchemaType
    least: int | None = None
    most: int | None = None

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict) and in_bounds(len(value), self.least, self.most)

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return with_values(value, {name: self.value.normalised(inner) for name, inner in value.items()})

    def errors_within(self, value: Any, path: str, label: str) -> Iterator[FieldError]:
        if isinstance(value, RepeatedNames):
            yield from _repeated(value, path)
        entry = f"{label[:1].lower()}{label[1:]}"
        for name, inner in value.items():
            inside = _inside(path, name)
            yield from self.name.errors(name, inside, f"Each name in {entry}")
            yield from self.value.errors(inner, inside, f"Each entry of {entry}")

    def wrong_kind(self, value: Any) -> str | None:
        return None if value is None or isinstance(value, dict) else "must be an object"

    def schema_keywords(self, components: Components) -> Schema:
        return {
            "type": "object",
            "propertyNames": self.name.json_schema(components),
            "additionalProperties": self.value.json_schema(components),
            **present(minProperties=self.least, maxProperties=self.most),
        }

    @property
    def requirement(self) -> str:
        if self.least is None and self.most is None:
            return "must be an object"
        return f"must be an object with {counted(self.least, self.most, 'name')}"


@dataclass(slots=True, kw_only=True)
class ObjectField:
    """A field of an object: `name` in JSON, `attribute` in Python."""

    name: str
    attribute: str
    type: SchemaType
    required: bool
    default: Any
    label: str = field(init=False)

    def __post_init__(self) -> None:
        self.label = label_of(self.name)

    def json_schema(self, components: Components) -> Schema:
        schema = self.type.json_schema(components)
        if self.default in (msgspec.NODEFAULT, msgspec.UNSET, None):
            return schema
        return schema | {"default": default_value(self.default)}


@dataclass(slots=True, kw_only=True)
class ObjectType(SchemaType):
    """An object, by its fields, and its tag if it has one.

    `rule` is the `check` of an input: a rule about several fields, called with the struct when they are valid.
    """

    kind: type[Any]
    fields: dict[str, ObjectField]
    rule: Rule | None = None
    tag_field: str | None = None
    tag: str | int | None = None

    requirement = "must be an object"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = self.fields
        values = {
            name: fields[name].type.normalised(inner) if name in fields else inner for name, inner in value.items()
        }
        return with_values(value, values)

    def errors_within(self, value: Any, path: str, label: str) -> Iterator[FieldError]:
        of_fields = self._errors_of_fields(value, path)
        return of_fields if self.rule is None else self._errors_by_rule(of_fields, self.rule, value, path)

    def _errors_by_rule(
        self, of_fields: Iterator[FieldError], rule: Rule, value: dict[str, Any], path: str
    ) -> Iterator[FieldError]:
        """Those of the fields or, if there are none, those that the rule finds."""
        right = True
        for error in of_fields:
            right = False
            yield error
        if right:
            for error in rule(build(self.kind, value)):
                known = self.fields.get(error.field)
                message = error.message or (known and known.type.message) or ""
                yield FieldError(_inside(path, error.field) if error.field else path or "body", message)

    def _errors_of_fields(self, value: dict[str, Any], path: str) -> Iterator[FieldError]:
        if isinstance(value, RepeatedNames):
            yield from _repeated(value, path)
        for name, known in self.fields.items():
            if name in value:
                yield from known.type.errors(value[name], f"{path}.{name}" if path else name, known.label)
            elif known.required:
                yield _missing(known.type, name, path)
        for name, inner in value.items():
            if name == self.tag_field:
                if inner != self.tag or type(inner) is not type(self.tag):
                    yield FieldError(_inside(path, name), f"{label_of(name)} must be {self.tag}")
            elif name not in self.fields:
                yield FieldError(_inside(path, name), "There is no such field")

    def schema_keywords(self, components: Components) -> Schema:
        return components.reference(self.kind, lambda: self._schema(components, tagged=False))

    def tagged_schema(self, components: Components) -> Schema:
        """The schema in a union, where an object must have its tag; alone it may."""
        return components.reference(self.kind, lambda: self._schema(components, tagged=True), variant="Tagged")

    def _schema(self, components: Components, *, tagged: bool) -> Schema:
        properties = {field.name: field.json_schema(components) for field in self.fields.values()}
        required = [field.name for field in self.fields.values() if field.required]
        if self.tag_field is not None:
            properties = {self.tag_field: enum([self.tag])} | properties
            required = [self.tag_field, *required] if tagged else required
        return {
            "type": "object",
            **present(description=description_of(self.kind)),
            "properties": properties,
            **present(required=required or None),
            "additionalProperties": False,
        }


@dataclass(slots=True, kw_only=True)
class UnionType(SchemaType):
    """One of several objects; the field `tag_field` says which."""

    tag_field: str
    objects: dict[str | int, ObjectType]

    requirement = "must be an object"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    @property
    def choice(self) -> ChoiceType:
        return ChoiceType(values=tuple(self.objects))

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        tag: Any = value.get(self.tag_field)
        return self.objects[tag].normalised(value) if self.choice.accepts(tag) else value

    def errors_within(self, value: Any, path: str, label: str) -> Iterable[FieldError]:
        if self.tag_field not in value:
            return (_missing(self.choice, self.tag_field, path),)
        tag = value[self.tag_field]
        if not self.choice.accepts(tag):
            return self.choice.errors(tag, _inside(path, self.tag_field), label_of(self.tag_field))
        return self.objects[tag].errors_within(value, path, label)

    def schema_keywords(self, components: Components) -> Schema:
        references = {str(tag): member.tagged_schema(components) for tag, member in self.objects.items()}
        mapping = {tag: reference["$ref"] for tag, reference in references.items()}
        return {
            "oneOf": list(references.values()),
            "discriminator": {"propertyName": self.tag_field, "mapping": mapping},
        }


def without_null(expected: SchemaType) -> SchemaType:
    """The inner type if it is nullable, else the type itself."""
    return expected.inner if isinstance(expected, NullableType) else expected


def _missing(expected: SchemaType, name: str, path: str) -> FieldError:
    return FieldError(_inside(path, name), expected.message or f"{label_of(name)} is missing")


def _repeated(value: RepeatedNames, path: str) -> Iterator[FieldError]:
    for name in value:
        if name in value.repeated:
            yield FieldError(_inside(path, name), "This field is given more than once")


def _inside(path: str, name: str) -> str:
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}…"
    return f"{path}.{name}" if path else name
