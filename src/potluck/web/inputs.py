"""Inputs: what a caller may send, as JSON, as a form or in a query string, declared once.

    class NewStore(New[Store]):
        name: StoreName
        address: Address | None = None

    class StoreChange(Edit[Store]):
        name: StoreName | Unset = UNSET
        address: Address | Unset | None = UNSET

The fields of `New` and `Edit` are checked against the entity when the class is defined.
"""

from collections.abc import Mapping
from functools import partial
from inspect import signature
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType

from potluck.table import Entity
from potluck.table.entity import EntityPlan, plan_of
from potluck.table.fields import FieldPlan
from potluck.validation.decoding import decode, decode_tree
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.field_types import Integer
from potluck.web.entity_fields import DeclarationError, entities_named, entity_field, is_looser, not_covered, shown
from potluck.web.large_bodies import decoded

__all__ = ["UNSET", "DeclarationError", "Edit", "FormOf", "Input", "New", "Unset", "Versioned"]

E = TypeVar("E", bound=Entity)
In = TypeVar("In", bound="Input")
T = TypeVar("T", bound=msgspec.Struct)

Unset = UnsetType
"""The type of a field that need not be sent: `name: StoreName | Unset = UNSET`."""

LARGEST_VERSION = 10**15
VERSION = "version"

NOT_A_FIELD = "A value that is not a field of the entity belongs in an Input"


class _InputMeta(msgspec.StructMeta):
    """Checks an input when its class is defined."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        changes: type[msgspec.Struct] | None = None,
        **options: Any,
    ) -> Any:
        if changes is not None:
            _add_changes(namespace, changes)
        # Every other option is inherited.
        options.setdefault("kw_only", True)
        cls: Any = super().__new__(mcls, name, bases, namespace, **options)
        if "check" in namespace:
            _require_check(name, namespace["check"])
        named = entities_named(namespace, "New", "Edit")
        entity = named[0] if named else getattr(cls, "__entity__", None)
        if entity is not None:
            cls.__entity__ = entity
            _require_fields(cls, plan_of(entity))
        return cls


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Input(
    msgspec.Struct, metaclass=_InputMeta, rename="camel", kw_only=True, forbid_unknown_fields=True, frozen=True
):
    """What a caller may send; in JSON, forms and query strings its fields are in camelCase.

    A rule about several fields is a static method `check(sent) -> Iterable[FieldError]`.
    `class SizeChange(Input, changes=Size)` has every field of the struct `Size`, and none of them need be sent.
    """

    @classmethod
    def decode(cls, sent: Mapping[str, Any]) -> Self:
        """The input of parsed JSON, checked like a request; ValidationError with every wrong field."""
        return decode_tree(cls, sent)

    @classmethod
    async def decode_json(cls, text: bytes) -> Self:
        """The input of JSON text, a large one in a thread; ValidationError with every wrong field."""
        try:
            return await decoded(partial(decode, cls), text)
        except BodyNotJson as error:
            raise ValidationError(FieldError("body", str(error))) from None


class FormOf(Input, Generic[In], frozen=True):
    """How a page asks for an input that people fill in otherwise: candidates as lines, a day and a time as two fields.

        class BallotForm(FormOf[NewVote]):
            rank: dict[str, Line] = {}
            code: Line = ""

            def as_input(self, at: Voter) -> NewVote: ...

    `subject.form(path, takes=BallotForm, …)(cast_vote)` then posts it to the rule that takes a NewVote.
    """

    errors_at: ClassVar[Mapping[str, str]] = {}
    """Which field of the form shows the errors of a field of the input: `{"rankings": "rank"}`."""

    def as_input(self, at: Any) -> In:
        """The input for this caller; ValidationError if the form cannot mean one."""
        raise NotImplementedError


class New(Input, Generic[E], frozen=True):
    """The fields of a new entity that a caller may choose."""

    __entity__: ClassVar[type[Any]]


class Versioned(Input, frozen=True):
    """An input about a thing that the caller has read, with the version they saw, here or in If-Match."""

    version: Annotated[int, Integer(1, LARGEST_VERSION, "Version must be a positive integer")] | Unset = UNSET

    def outdated(self, thing: Any, version: int) -> bool:
        """Whether the thing has changed since this version in a way that matters to this change."""
        outdated: bool = thing.version != version
        return outdated


class Edit(Versioned, Generic[E], frozen=True):
    """New values for some fields of an entity; what is not sent stays as it is."""

    __entity__: ClassVar[type[Any]]


def merged(thing: T, change: Input) -> T:
    """The thing with the values that were sent; an input inside changes what was sent of its part, and no more."""
    values = {}
    for name in change.__struct_fields__:
        value = getattr(change, name)
        if value is UNSET or name == VERSION:
            continue
        values[name] = merged(getattr(thing, name), value) if isinstance(value, Input) else value
    return msgspec.structs.replace(thing, **values)


def _add_changes(namespace: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    annotations = namespace.setdefault("__annotations__", {})
    for field in msgspec.structs.fields(struct):
        annotations.setdefault(field.name, field.type | Unset)
        namespace.setdefault(field.name, UNSET)


def _require_check(name: str, check: Any) -> None:
    if not isinstance(check, staticmethod) or len(signature(check).parameters) != 1:
        raise DeclarationError(f"{name}.check: write `@staticmethod def check(sent: {name}) -> Iterable[FieldError]`")


def _require_fields(cls: Any, entity: EntityPlan) -> None:
    changes = issubclass(cls, Edit)
    if changes and entity.version is None:
        raise DeclarationError(f"{cls.__name__}: {entity.name} has no field of type Version that a change could name")
    for field in msgspec.structs.fields(cls):
        where = f"{cls.__name__}.{field.name}"
        if changes and field.name == VERSION:
            continue
        held = entity_field(entity.cls, field.name, cls.__name__, NOT_A_FIELD)
        if held.is_version:
            raise DeclarationError(f"{where}: the version is incremented by every write, so callers cannot set it")
        extra = not_covered(field.type, held.type | Unset)
        if extra:
            raise DeclarationError(f"{where}: {entity.name}.{field.name} cannot hold {shown(extra)}")
        if is_looser(field.type, held):
            bounded = f"{entity.name}.{field.name} has bounds that this does not state"
            raise DeclarationError(f"{where}: {bounded}; write its field type, {_stated(held)}")
        if changes and field.name in entity.key.components:
            raise DeclarationError(f"{where}: it is part of the key of {entity.name}, which never changes")
        if changes and not field.required and field.default is not UNSET:
            default = "a new value" if field.default is NODEFAULT else repr(field.default)
            raise DeclarationError(f"{where}: not sending it would set {default}; write `| Unset = UNSET`")


def _stated(held: FieldPlan) -> str:
    return str(held.annotation).replace("typing.", "")
