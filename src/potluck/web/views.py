"""Views: what is shown of an entity, as an allow-list of its fields and computed ones.

    class StoreView(View[Store]):
        store_id: UUID
        name: str

        @computed
        def item_count(store: Store, counts: Counts) -> int:
            return counts.of(store.store_id)

The fields are checked against the entity when the class is defined; in JSON they are in camelCase. A view of several
kinds, `View[Book | Video]`, has fields that all of them have.
"""

from collections.abc import Callable, Sequence
from inspect import getattr_static, iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, dataclass_transform, get_args, get_type_hints, overload

import msgspec
from msgspec import UNSET, UnsetType

from potluck.table import Entity
from potluck.table.entity import plan_of
from potluck.web.entity_fields import DeclarationError, entities_named, entity_field, not_covered, shown

__all__ = ["DeclarationError", "View", "ViewPlan", "computed", "view_plan"]

E = TypeVar("E", bound=Entity)
R = TypeVar("R")

NOT_A_FIELD = "A calculated field is a function with @computed"


class computed(Generic[R]):
    """A field of a view that is calculated from the item, and optionally from a lookup.

        @computed
        def store_name(item: ShoppingListItem, names: Names) -> str | None: ...

    `await Names.load(at, items)` runs once for all items of an answer. A result of UNSET is left out of the JSON. With
    `same_for_all = True` a lookup declares that it depends on the time alone, not on the caller: the ETag of one item
    is then its version with a hash of the body, good for If-Match and If-None-Match.
    """

    def __init__(self, function: Callable[[Any], R] | Callable[[Any, Any], R]) -> None:
        self.function: Callable[..., R] = function

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> "computed[R]": ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> R: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> Any:
        # For the type checker only: when the program runs, the class has a field of this name instead.
        raise AttributeError


class ViewPlan:
    """A compiled view: one generated function builds it from an entity and a lookup."""

    def __init__(
        self,
        cls: type[Any],
        entities: tuple[type[Entity], ...],
        plain: Sequence[str],
        functions: dict[str, Callable[..., Any]],
    ) -> None:
        self.cls = cls
        self.entities = entities
        self.plain = tuple(plain)
        self.functions = functions
        self.lookup = _lookup_of(cls.__name__, functions)
        self.same_for_all = self.lookup is None or bool(getattr(self.lookup, "same_for_all", False))
        # Generated source that names each keyword is as fast as a literal constructor call.
        arguments = [f"{name}=item.{name}" for name in self.plain]
        for name, function in functions.items():
            passed = "item, lookup" if _takes_lookup(function) else "item"
            arguments.append(f"{name}=_{name}({passed})")
        scope: dict[str, Any] = {"cls": cls, **{f"_{name}": function for name, function in functions.items()}}
        exec(f"def show(item, lookup=None):\n    return cls({', '.join(arguments)})", scope)
        self.show: Callable[..., Any] = scope["show"]

    async def load(self, at: Any, items: Sequence[Any]) -> Any:
        """The lookup for the computed fields of these items; None for a view without one."""
        return None if self.lookup is None else await self.lookup.load(at, items)

    async def show_many(self, at: Any, items: Sequence[Any]) -> list[Any]:
        """The views of these items, with one lookup for all of them."""
        lookup = await self.load(at, items)
        show = self.show
        return [show(item, lookup) for item in items]


class _ViewMeta(msgspec.StructMeta):
    """Turns computed functions into fields, and checks the others against the entity."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        options.setdefault("kw_only", True)
        if not bases or bases == (msgspec.Struct, Generic):
            return super().__new__(mcls, name, bases, namespace, **options)
        if "rename" in options:
            raise DeclarationError(f"{name}: the fields of a view are always in camelCase")
        annotations = namespace.setdefault("__annotations__", {})
        if "without" in options:
            derived = _all_fields(name, entities_named(namespace, "View"), options.pop("without"))
            annotations |= {
                attribute: kind for attribute, kind in derived.items() if attribute not in namespace | annotations
            }
        plain = list(annotations)
        for attribute in plain:
            if attribute in namespace:
                raise DeclarationError(
                    f"{name}.{attribute}: its value is the entity's; it takes no default and no other name"
                )
        functions = {attribute: value.function for attribute, value in namespace.items() if isinstance(value, computed)}
        for attribute, function in functions.items():
            annotations[attribute] = kind = _returned(f"{name}.{attribute}", function)
            del namespace[attribute]
            if UnsetType in get_args(kind):
                namespace[attribute] = UNSET
        cls: Any = super().__new__(mcls, name, bases, namespace, **options)
        base: ViewPlan | None = getattr(cls, "__view__", None)
        entities = entities_named(namespace, "View") or (() if base is None else base.entities)
        if entities:
            for entity in entities:
                _require_fields(cls, entity, plain)
            if base is not None:
                plain = [attribute for attribute in (*base.plain, *plain) if attribute not in functions]
                functions = {
                    attribute: function for attribute, function in base.functions.items() if attribute not in plain
                } | functions
            for entity in entities:
                _require_items(name, entity, functions)
            cls.__view__ = ViewPlan(cls, entities, list(dict.fromkeys(plain)), functions)
        return cls


@dataclass_transform(frozen_default=True, kw_only_default=True)
class View(msgspec.Struct, Generic[E], metaclass=_ViewMeta, rename="camel", kw_only=True, frozen=True):
    """What is shown of an entity: fields of it by name, with their types, and computed fields.

    `class TokenRow(View[ApiToken], without=("hash",))` shows every field that it does not name there or compute.
    """

    if TYPE_CHECKING:

        def __init_subclass__(cls, *, without: Sequence[str] = (), **options: Any) -> None: ...

    @classmethod
    def show(cls, item: E, lookup: Any = None) -> Self:
        """The view of one item, with the lookup that its computed fields take."""
        view: Self = view_plan(cls).show(item, lookup)
        return view


def view_plan(view: type[View[Any]]) -> ViewPlan:
    """How a view is built from an entity."""
    plan: ViewPlan | None = getattr(view, "__view__", None)
    if plan is None:
        raise DeclarationError(f"{view.__name__} is of no entity; write class {view.__name__}(View[...])")
    return plan


def _all_fields(view: str, entities: Sequence[type[Entity]], without: Sequence[str]) -> dict[str, Any]:
    """The fields of an entity, with their types, but for some."""
    (entity,) = entities
    for name in without:
        entity_field(entity, name, view, NOT_A_FIELD)
    return {name: field.annotation for name, field in plan_of(entity).fields.items() if name not in without}


def _require_fields(cls: type[Any], entity: type[Entity], plain: Sequence[str]) -> None:
    kinds = {field.name: field.type for field in msgspec.structs.fields(cls)}
    for name in plain:
        held = entity_field(entity, name, cls.__name__, NOT_A_FIELD)
        missing = not_covered(held.type, kinds[name])
        if missing:
            raise DeclarationError(f"{cls.__name__}.{name}: {entity.__name__}.{name} can also be {shown(missing)}")


def _returned(where: str, function: Callable[..., Any]) -> Any:
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise DeclarationError(f"{where}: an annotation uses a name that is not there yet: {error}") from error
    if "return" not in hints:
        raise DeclarationError(f"{where}: annotate what it returns; the API document needs it")
    return hints["return"]


def _require_items(view: str, entity: type[Entity], functions: dict[str, Callable[..., Any]]) -> None:
    for name, function in functions.items():
        parameters = list(signature(function).parameters)
        if not 1 <= len(parameters) <= 2:
            raise DeclarationError(f"{view}.{name}: it is a function of the item, or of the item and a lookup")
        item = get_type_hints(function).get(parameters[0], entity)
        if isinstance(item, type) and not issubclass(entity, item):
            raise DeclarationError(f"{view}.{name}: it is given a {entity.__name__}, not a {item.__name__}")


def _takes_lookup(function: Callable[..., Any]) -> bool:
    return len(signature(function).parameters) > 1


def _lookup_of(view: str, functions: dict[str, Callable[..., Any]]) -> Any:
    """The lookup class: the annotation of the second parameter, in the functions that have one."""
    lookups: dict[Any, None] = {}
    for name, function in functions.items():
        if _takes_lookup(function):
            _, parameter = signature(function).parameters
            lookup = get_type_hints(function).get(parameter)
            load = getattr_static(lookup, "load", None)
            if not (isinstance(load, classmethod | staticmethod) and iscoroutinefunction(load.__func__)):
                needed = "an async class method `load(cls, at, items)`"
                raise DeclarationError(f"{view}.{name}: {parameter} must be of a class with {needed}")
            lookups[lookup] = None
    if len(lookups) > 1:
        raise DeclarationError(f"{view}: it has lookups {shown(frozenset(lookups))}; combine them into one class")
    return next(iter(lookups), None)
