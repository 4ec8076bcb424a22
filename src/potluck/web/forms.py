"""Forms of pages: the same inputs as in JSON, filled in as text, and shown again with errors next to the fields.

**Absent is not false, in a form either.** Browsers do not send a box that is not ticked, so its field has its default:
`done: bool | Unset = UNSET` stays UNSET. A page where unticked means false says so itself, with a hidden field of the
same name before the box; the last one counts:

    <input type="hidden" name="done" value="false">
    <input type="checkbox" name="done" value="true">

In the same way, a hidden field with an empty value before a list of boxes says that none of them is ticked.

A field that is a map, `rank: dict[str, Line]`, is sent as one field for each of its names: `rank-1`, `rank-2`.

A field that is a struct, `size: Size`, is sent as the fields of the struct, under their own names: `width`, `height`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET, Meta

from potluck.validation import compound_types, types
from potluck.validation.compiling import schema_of
from potluck.validation.compound_types import without_null
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import FieldError, Refusal, ValidationError
from potluck.web.conflicts import FormConflict, chosen, conflict_between, fingerprints
from potluck.web.errors import ProblemError
from potluck.web.inputs import FormOf

T = TypeVar("T", bound=msgspec.Struct)

MOST_FIELDS = 1000
TICKED = frozenset({"on", "true"})
BASE = "base"
# The button by which someone edits the version they chose before it is saved.
EDITING = "edit-first"

# Rules check the real bounds; this only caps what is read.
Line = Annotated[str, Meta(max_length=2000)]


class ByField:
    """A value for each field of a form, by name: `errors.title` or `errors["title"]`; an empty text for a field without
    one."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values.get(name, "")

    def __getattr__(self, name: str) -> Any:
        # Python and templates ask for such names to learn what an object can do: `__html__`, `__deepcopy__`.
        if name.startswith("_"):
            raise AttributeError(name, name=name, obj=self)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return f"ByField({self._values!r})"


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """A form as it was filled in: texts to show again, and either the decoded input or its errors.

    In a template, and in the same way in Python:

        {{ text_field("title", "title", "Title", value=form.values.title, error=form.errors.title) }}
    """

    values: ByField
    """What was typed, by field: a text, a list of them for a field that takes several, True for a ticked box."""
    all_errors: tuple[FieldError, ...] = ()
    _value: T | None = None
    _names: frozenset[str] = field(default=frozenset(), repr=False)
    kind: type[T] | None = None
    """The class of its input."""
    base: str = ""
    """What it was loaded with, for the hidden field of this name."""
    sent: frozenset[str] = frozenset()
    """The fields that were sent at all."""
    editing: bool = False
    """Whether the person wants to see it once more before it is saved."""

    @classmethod
    def blank(cls, kind: type[T], values: Mapping[str, Any] | msgspec.Struct | None = None) -> "Form[T]":
        """A form that is not filled in yet, showing these values, by camelCase name, or those of a thing."""
        shown = cls.texts_of(kind, values) if isinstance(values, msgspec.Struct) else values or {}
        return cls(ByField(shown), (), None, frozenset(_fields(kind)), kind, fingerprints(shown))

    @staticmethod
    def texts_of(kind: type[Any], thing: msgspec.Struct | None) -> dict[str, Any]:
        """What a form shows of the thing that it changes: the fields they share, as text; nothing without a thing."""
        texts = {}
        for name, item in _fields(kind).items():
            holder = thing if item.struct is None else getattr(thing, item.struct.attribute, None)
            if hasattr(holder, item.declared.attribute):
                texts[name] = _as_text(getattr(holder, item.declared.attribute))
        return texts

    @property
    def is_valid(self) -> bool:
        return not self.all_errors

    @property
    def errors(self) -> ByField:
        """The first error of each field, to show next to it."""
        return ByField({error.field.partition("[")[0]: error.message for error in reversed(self.all_errors)})

    @property
    def non_field_errors(self) -> tuple[str, ...]:
        """Errors that belong to no field, to show above the form."""
        return tuple(error.message for error in self.all_errors if error.field.partition("[")[0] not in self._names)

    @property
    def value(self) -> T:
        """The decoded input; ValidationError for a form that is not valid."""
        if self._value is None or self.all_errors:
            raise ValidationError(*self.all_errors)
        return self._value

    def filled_up(self, values: ByField | Mapping[str, Any]) -> "Form[T]":
        """The same form, with these values in the fields that were not sent."""
        shown = {name: (self.values if name in self.sent else values)[name] for name in values}
        return replace(self, values=ByField(shown))

    def showing(self, **texts: Any) -> "Form[T]":
        """The same form, with these values in the fields of these names."""
        return replace(self, values=ByField({**{name: self.values[name] for name in self.values}, **texts}))

    def conflict(
        self,
        current: Any,
        labels: Mapping[str, str],
        theirs: Mapping[str, Any] | None = None,
        shown: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> FormConflict | None:
        """How it conflicts with the thing as it is now, for the fields with a label; None without such a thing.

        `theirs` are the values that the form would be loaded with now, where those are not the thing's fields;
        `shown` makes what people read of a value, by field.
        """
        if current is None:
            return None
        assert self.kind is not None
        saved = self.texts_of(self.kind, current) if theirs is None else theirs
        mine = {name: self.values[name] for name in _fields(self.kind) if name in self.sent}
        return conflict_between(mine, saved, self.base, current.version, labels, shown or {})

    def refused_with(self, error: Exception, detail: str, field: str | None = None) -> "Form[T]":
        """The same form with any refusal added: its errors by field, or `detail` next to `field` or above the form."""
        if isinstance(error, ValidationError):
            return self.refused(error)
        if field is None and isinstance(error, ProblemError | Refusal):
            field = error.field
        return self.refused(detail if field is None else ValidationError(FieldError(field, detail)))

    def refused(self, error: ValidationError | str) -> "Form[T]":
        """The same form with these errors added: by field, or one sentence above the form."""
        wrong = (FieldError("form", error),) if isinstance(error, str) else tuple(map(self._placed, error.errors))
        return replace(self, all_errors=(*self.all_errors, *wrong), _value=None)

    def _placed(self, error: FieldError) -> FieldError:
        """The error, at the field of the form that asks for what it is about."""
        if self.kind is None:
            return error
        error = _flat(self.kind, error)
        if not issubclass(self.kind, FormOf):
            return error
        name = re.split(r"[.\[]", error.field, maxsplit=1)[0]
        return FieldError(self.kind.errors_at[name], error.message) if name in self.kind.errors_at else error


def _as_text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return value
    return [_as_text(item) for item in value] if isinstance(value, list | tuple) else str(value)


def decode_form(kind: type[T], raw: bytes) -> Form[T]:
    """Decode a posted form; whatever was typed, it can be shown again."""
    fields = _fields(kind)
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        return Form(
            ByField({}), (FieldError("form", "The form is not written as browsers write it"),), None, frozenset(), kind
        )
    sent: dict[str, list[str]] = {}
    for name, text in pairs:
        # Browsers send line breaks as CR LF.
        sent.setdefault(name, []).append(text.replace("\r\n", "\n"))
    editing = EDITING in sent
    sent = chosen(sent, editing=editing)
    base = sent.get(BASE, [""])[0]
    # Anything else that a page sends, such as the name of the button, is ignored.
    values = ByField({name: _shown(field.declared, _texts(field.declared, sent)) for name, field in fields.items()})
    try:
        value = decode_tree(kind, _tree(fields, sent))
    except ValidationError as error:
        errors = tuple(_flat(kind, item) for item in error.errors)
        return Form(values, errors, None, frozenset(fields), kind, base, frozenset(sent), editing)
    return Form(values, (), value, frozenset(fields), kind, base, frozenset(sent), editing)


@dataclass(frozen=True, slots=True)
class _FormField:
    declared: compound_types.ObjectField
    struct: compound_types.ObjectField | None = None
    """The field of the input that holds it, if that is a struct."""


def _fields(kind: type[Any]) -> dict[str, _FormField]:
    """The fields that a form sends for this input, by name."""
    fields: dict[str, _FormField] = {}
    for declared in _declared(kind):
        if isinstance(declared.type, compound_types.ObjectType) and declared.required:
            added = [_FormField(inner, declared) for inner in _declared(declared.type.kind)]
        else:
            added = [_FormField(declared)]
        for item in added:
            name = item.declared.name
            if name in fields:
                raise TypeError(f"{kind.__name__} has two fields that a form would call {name}")
            if not _fits(item.declared):
                raise TypeError(f"{kind.__name__}.{item.declared.attribute} is more than a form can hold")
            fields[name] = item
    return fields


def _declared(kind: type[Any]) -> Iterable[compound_types.ObjectField]:
    expected = schema_of(kind)
    assert isinstance(expected, compound_types.ObjectType)
    return expected.fields.values()


def _fits(declared: compound_types.ObjectField) -> bool:
    match without_null(declared.type):
        case compound_types.ObjectType() | compound_types.UnionType():
            return False
        case compound_types.MapType(value=value):
            return isinstance(value, types.TextType)
        case compound_types.ListType(item=item):
            return item is not None
    return True


def _tree(fields: Mapping[str, _FormField], sent: Mapping[str, list[str]]) -> dict[str, Any]:
    """What was sent, as JSON would have it."""
    tree: dict[str, Any] = {}
    for name, item in fields.items():
        holder = tree if item.struct is None else tree.setdefault(item.struct.name, {})
        value = _given(item.declared, _texts(item.declared, sent))
        if value is not UNSET:
            holder[name] = value
    return tree


def _flat(kind: type[Any], error: FieldError) -> FieldError:
    """The error under the name that the form has for the field: `width` for `size.width`."""
    struct, _, name = error.field.partition(".")
    field = _fields(kind).get(re.split(r"[.\[]", name, maxsplit=1)[0])
    inside = field is not None and field.struct is not None and field.struct.name == struct
    return FieldError(name, error.message) if inside else error


def _texts(field: compound_types.ObjectField, sent: Mapping[str, list[str]]) -> Any:
    """What was sent for this field: all its texts, or for a map the last one under each name."""
    if not isinstance(without_null(field.type), compound_types.MapType):
        return sent.get(field.name, [])
    start = f"{field.name}-"
    return {name.removeprefix(start): texts[-1] for name, texts in sent.items() if name.startswith(start)}


def _given(field: compound_types.ObjectField, texts: Any) -> Any:
    """The value as JSON would have it; UNSET if it was not sent."""
    inner = without_null(field.type)
    if isinstance(inner, compound_types.MapType):
        return {name: text for name, text in texts.items() if text.strip()}
    if isinstance(inner, compound_types.ListType):
        # A required list with nothing chosen is an empty one, which its bounds may then refuse.
        return inner.from_texts([text for text in texts if text]) if texts or field.required else UNSET
    if isinstance(inner, types.BooleanType):
        texts = ["true" if text in TICKED else text for text in texts[-1:]]
    elif not isinstance(inner, types.TextType):
        texts = [text.strip() for text in texts]
    if not texts:
        return UNSET
    if texts == [""] and not (isinstance(inner, types.TextType) and inner.trim):
        return _blank(field)
    return inner.from_texts(texts)


def _blank(field: compound_types.ObjectField) -> Any:
    """What an emptied field means. Not for trimmed texts: an empty one means what it would in JSON."""
    inner = without_null(field.type)
    if isinstance(field.type, compound_types.NullableType) and (
        not isinstance(inner, types.TextType) or inner.may_be_blank
    ):
        return None
    return "" if field.required or isinstance(field.type, compound_types.NullableType) else UNSET


def _shown(field: compound_types.ObjectField, texts: Any) -> Any:
    inner = without_null(field.type)
    if isinstance(inner, compound_types.MapType):
        return texts
    if isinstance(inner, compound_types.ListType):
        return [text for text in texts if text]
    if isinstance(inner, types.BooleanType):
        return bool(texts) and texts[-1] in TICKED
    return texts[0] if texts else ""
