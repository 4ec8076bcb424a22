"""Fields of inputs and views, checked against those of their entity when the class is defined."""

from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import UnsetType

from potluck.table import DesignError, Entity
from potluck.table.entity import plan_of
from potluck.table.fields import FieldPlan, Kind, plain_type, plan_value

SCALARS = (str, int, float, bool, bytes)
NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


class DeclarationError(TypeError):
    """A declaration that cannot work. Raised at import; the message says what to write instead."""


def entities_named(namespace: dict[str, Any], *bases: str) -> tuple[type[Entity], ...]:
    """The entity in `class StoreView(View[Store])`, or those in `View[Book | Video]`; none if none is named."""
    for base in namespace.get("__orig_bases__", ()):
        if getattr(get_origin(base), "__name__", "") in bases:
            (named,) = get_args(base)
            return kinds_of(named)
    return ()


def kinds_of(named: Any) -> tuple[type[Any], ...]:
    """The classes that an annotation names: one, or several with `|` between them."""
    several = get_args(named) if get_origin(named) in (Union, UnionType) else (named,)
    return tuple(each for each in several if isinstance(each, type))


def entity_field(entity: type[Entity], name: str, where: str, advice: str) -> FieldPlan:
    """The entity's field of this name; a DeclarationError with the nearest one if there is none."""
    fields = plan_of(entity).fields
    if name not in fields:
        close = get_close_matches(name, fields, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise DeclarationError(f"{where}.{name}: {entity.__name__} has no field {name}{hint}. {advice}")
    return fields[name]


def not_covered(values: Any, by: Any) -> frozenset[Any]:
    """The alternatives of one type that another does not have; what is inside lists and objects is not compared."""
    wanted, there = _alternatives(values), _alternatives(by)
    kinds = {each for each in there if isinstance(each, type)}
    kinds |= {int} if float in kinds else set()
    origins = {get_origin(each) or each for each in there}
    return frozenset(
        each
        for each in wanted
        if each not in there
        and each not in kinds
        and (_literal_type(each) or each) not in kinds
        and not (get_origin(each) is not None and get_origin(each) in origins)
    )


def is_looser(kind: Any, held: FieldPlan) -> bool:
    """Whether it accepts a value that the entity's field would refuse: too long, too small, with too many places."""
    plans = (_planned(each, held) for each in _with_metadata(kind))
    return any(_admits_more(plan, held) for plan in plans if plan is not None)


def _with_metadata(kind: Any) -> list[Any]:
    """The alternatives of a type with the metadata of each, without None and what need not be sent."""
    if get_origin(kind) is Annotated:
        inner, *extras = get_args(kind)
        return [Annotated[each, *extras] for each in _with_metadata(inner)]
    if get_origin(kind) in (Union, UnionType):
        return [found for each in get_args(kind) for found in _with_metadata(each)]
    return [] if kind in (NoneType, UnsetType) else [kind]


def _planned(kind: Any, held: FieldPlan) -> FieldPlan | None:
    try:
        return plan_value(kind, held.entity, held.name)
    except DesignError:
        # What cannot be stored as it is, such as a time of no stated precision, is for the rule to convert.
        return None


def _admits_more(given: FieldPlan, held: FieldPlan) -> bool:
    if given.choices:
        # Its values are compared one by one.
        return False
    if held.max_length is not None and (given.max_length is None or given.max_length > held.max_length):
        return True
    if held.min_length and (given.min_length or 0) < held.min_length:
        return True
    if held.kind in NUMBERS and given.kind in NUMBERS and _reaches_further(given, held):
        return True
    if held.places is not None and given.kind is Kind.DECIMAL and (given.places is None or given.places > held.places):
        return True
    if held.element is not None and given.element is not None and _admits_more(given.element, held.element):
        return True
    return any(
        name in given.members and _admits_more(given.members[name], member) for name, member in held.members.items()
    )


def _reaches_further(given: FieldPlan, held: FieldPlan) -> bool:
    """Whether a number below or above the bounds of the entity's field would be accepted."""
    for least, less in ((held.ge, False), (held.gt, True)):
        if least is not None and not (
            (given.ge is not None and (given.ge > least if less else given.ge >= least))
            or (given.gt is not None and given.gt >= (least if less or given.kind is not Kind.INTEGER else least - 1))
        ):
            return True
    for most, more in ((held.le, False), (held.lt, True)):
        if most is not None and not (
            (given.le is not None and (given.le < most if more else given.le <= most))
            or (given.lt is not None and given.lt <= (most if more or given.kind is not Kind.INTEGER else most + 1))
        ):
            return True
    return False


def shown(alternatives: frozenset[Any]) -> str:
    """Alternatives of a type as Python writes them."""
    return ", ".join(
        sorted("None" if each is type(None) else getattr(each, "__name__", repr(each)) for each in alternatives)
    )


class _Value:
    """One value of a Literal."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Value) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def _alternatives(kind: Any) -> frozenset[Any]:
    kind = plain_type(kind)
    if get_origin(kind) in (Union, UnionType):
        return frozenset(found for each in get_args(kind) for found in _alternatives(each))
    if get_origin(kind) is Literal:
        return frozenset(_Value(value) for value in get_args(kind))
    return frozenset({kind})


def _literal_type(alternative: Any) -> type[Any] | None:
    return type(alternative.value) if isinstance(alternative, _Value) else None
