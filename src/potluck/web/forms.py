"""Forms of pages: the same declarations as in JSON, filled in as text, and shown again with what is wrong beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl

import msgspec
from litestar import Request
from msgspec import Meta

from potluck.people.errors import InvalidFields, WrongField
from potluck.web.bodies import Body, decode
from potluck.web.declarations import shape_of
from potluck.web.errors import ERRORS, INVALID_FIELDS, Kind, WrongMediaType
from potluck.web.shapes import Many, Names, Nullable, OneOf, Record, Shape, Text, Truth, Written
from potluck.web.texts import from_texts

__all__ = ["Again", "Beside", "ByField", "Form", "Line", "Seen", "blank", "form", "read_form", "refused"]

T = TypeVar("T", bound=Body)

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 1000
TICKED = "on"

# What is too long or too short for its field, the services say; this is only where reading stops.
Line = Annotated[str, Meta(max_length=2000)]
Seen = Annotated[int, Meta(ge=1, le=10**15)]
"""The version of what a form changes, as it was when the form was shown."""

Beside = Mapping[type[Exception], str]
"""Beside which field a refusal stands."""


class ByField:
    """Something for each field of a form, by the field's name; nothing is said of a field by an empty text."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = dict(given)

    def __getitem__(self, name: str) -> Any:
        return self._given.get(name, "")

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def __bool__(self) -> bool:
        return bool(self._given)

    def __repr__(self) -> str:
        return f"ByField({self._given!r})"


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """A form as it was filled in: texts to show again, and either its value or what is wrong with them.

    In a page handler:

        filled = await form(NewNote, request)
        if not filled.good:
            return Template("note.html", context={"form": filled}, status_code=422)
        await notes.add(caller, filled.value.title)

    and in its template:

        {{ text_field("title", "title", "Title", value=form.values.title, error=form.errors.title) }}
    """

    values: ByField
    """What was typed, by field: a text, a list of them for a field that takes several, True for a ticked box."""
    wrong: tuple[WrongField, ...] = ()
    _value: T | None = None
    _names: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def good(self) -> bool:
        return not self.wrong

    @property
    def errors(self) -> ByField:
        """What is wrong, by field; the first sentence of each, which stands beside it."""
        return ByField({each.field.partition("[")[0]: each.message for each in reversed(self.wrong)})

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """What is wrong with no field of the form, and stands above it."""
        return tuple(each.message for each in self.wrong if each.field.partition("[")[0] not in self._names)

    @property
    def value(self) -> T:
        """The body that was filled in; InvalidFields for a form that is not good."""
        if self._value is None or self.wrong:
            raise InvalidFields(*self.wrong)
        return self._value

    def refused(self, error: InvalidFields | str) -> "Form[T]":
        """The same form, with what its service found wrong: fields, or a sentence that stands above them."""
        wrong = (WrongField("form", error),) if isinstance(error, str) else error.errors
        return Form(self.values, (*self.wrong, *wrong), None, self._names)


class Again(NamedTuple):
    """A form that was refused: itself, with what is wrong, and how a program would have been answered."""

    form: Form[Any]
    status: int
    headers: Mapping[str, str]
    clash: Any = None
    """How that is now which the form was to change, where somebody else was faster."""


def refused(
    filled: Form[Any],
    refusal: Exception | None = None,
    beside: Beside | None = None,
    kinds: Mapping[type[Exception], Kind] = ERRORS,
) -> Again:
    """The form with a refusal beside its field, if it has one; else above all of them."""
    if refusal is None:
        return Again(filled, INVALID_FIELDS.status, {})
    kind = kinds[type(refusal)]
    if isinstance(refusal, InvalidFields):
        filled = filled.refused(refusal)
    else:
        where = (beside or {}).get(type(refusal))
        filled = filled.refused(str(refusal) if where is None else InvalidFields(WrongField(where, str(refusal))))
    return Again(filled, kind.problem.status, kind.headers(refusal))


def blank(kind: type[T], values: Mapping[str, Any] | None = None) -> Form[T]:
    """A form that nobody filled in yet, showing these values by the names that callers use."""
    return Form(ByField(values or {}), (), None, frozenset(_fields(kind)))


async def form(kind: type[T], request: Request[Any, Any, Any]) -> Form[T]:
    """The form that a page sent; whatever is typed, it can be shown again."""
    content_type, _ = request.content_type
    if content_type != FORM:
        raise WrongMediaType(f"The form must be sent as {FORM}")
    return read_form(kind, await request.body())


def read_form(kind: type[T], raw: bytes) -> Form[T]:
    fields = _fields(kind)
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        return Form(ByField({}), (WrongField("form", "The form is not written as browsers write it"),), None)
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        # Browsers end lines with two characters, which nobody has typed.
        given.setdefault(name, []).append(text.replace("\r\n", "\n"))
    # What else a page sends along, such as the name of the button, is no field of the body.
    shown = {name: _shown(shape, given.get(name, [])) for name, (shape, _) in fields.items()}
    tree = {}
    for name, (shape, required) in fields.items():
        value = _given(shape, required, given.get(name, []))
        if value is not msgspec.UNSET:
            tree[name] = _json(value)
    try:
        return Form(ByField(shown), (), decode(kind, msgspec.json.encode(tree)), frozenset(fields))
    except InvalidFields as error:
        return Form(ByField(shown), error.errors, None, frozenset(fields))


def _fields(kind: type[Body]) -> dict[str, tuple[Shape, bool]]:
    shape = shape_of(kind)
    assert isinstance(shape, Record)
    for each in shape.fields.values():
        inner = _inner(each.shape)
        if isinstance(inner, Record | OneOf | Names) or (isinstance(inner, Many) and inner.item is None):
            raise TypeError(f"{kind.__name__}.{each.attribute} is more than a form can hold")
    return {name: (each.shape, each.required) for name, each in shape.fields.items()}


def _inner(shape: Shape) -> Shape:
    return shape.inner if isinstance(shape, Nullable) else shape


def _given(shape: Shape, required: bool, texts: Sequence[str]) -> Any:
    """What JSON would have had for it; UNSET for what is not given."""
    inner = _inner(shape)
    if isinstance(inner, Truth):
        # A box that is not ticked is not sent at all.
        return bool(texts) and texts[-1] in (TICKED, "true")
    if isinstance(inner, Many):
        return from_texts(shape, [text for text in texts if text])
    if not texts:
        return msgspec.UNSET
    if not isinstance(inner, Text):
        texts = [text.strip() for text in texts]
    if texts == [""]:
        if isinstance(shape, Nullable):
            # Whoever empties a field that may be empty means just that.
            return None
        if not required:
            return msgspec.UNSET
    return from_texts(shape, texts)


def _shown(shape: Shape, texts: Sequence[str]) -> Any:
    inner = _inner(shape)
    if isinstance(inner, Many):
        return list(texts)
    if isinstance(inner, Truth):
        return bool(texts) and texts[-1] in (TICKED, "true")
    return texts[0] if texts else ""


def _json(value: Any) -> Any:
    """Numbers go on as they were written."""
    if isinstance(value, list):
        return [_json(each) for each in value]
    return msgspec.Raw(value.encode()) if isinstance(value, Written) else value
