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
    return tuple(alternative for alternative in several if isinstance(alternative, type))


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
    alternatives, there = _alternatives(values), _alternatives(by)
    kinds = {alternative for alternative in there if isinstance(alternative, type)}
    kinds |= {int} if float in kinds else set()
    origins = {get_origin(alternative) or alternative for alternative in there}
    return frozenset(
        alternative
        for alternative in alternatives
        if alternative not in there
        and alternative not in kinds
        and (_literal_type(alternative) or alternative) not in kinds
        and not (get_origin(alternative) is not None and get_origin(alternative) in origins)
    )


def is_looser(kind: Any, held: FieldPlan) -> bool:
    """Whether it accepts a value that the entity's field would refuse: too long, too small, with too many places."""
    plans = (_planned(alternative, held) for alternative in _with_metadata(kind))
    return any(_admits_more(plan, held) for plan in plans if plan is not None)


def _with_metadata(kind: Any) -> list[Any]:
    """The alternatives of a type with the metadata of each, without None and what need not be sent."""
    if get_origin(kind) is Annotated:
        inner, *extras = get_args(kind)
        return [Annotated[alternative, *extras] for alternative in _with_metadata(inner)]
    if get_origin(kind) in (Union, UnionType):
        return [alternative for part in get_args(kind) for alternative in _with_metadata(part)]
    return [] if kind in (NoneType, UnsetType) else [kind]


def _planned(kind: Any, held: FieldPlan) -> FieldPlan | None:
    try:
        return plan_value(kind, held.entity, held.name)
    except DesignError:
        # What cannot be stored as it is, such as a time of no stated precision, is for the rule to convert.
        return None


def _admits_more(sent: FieldPlan, held: FieldPlan) -> bool:
    if sent.choices:
        # Its values are compared one by one.
        return False
    if held.max_length is not None and (sent.max_length is None or sent.max_length > held.max_length):
        return True
    if held.min_length and (sent.min_length or 0) < held.min_length:
        return True
    if held.kind in NUMBERS and sent.kind in NUMBERS and _reaches_further(sent, held):
        return True
    if held.places is not None and sent.kind is Kind.DECIMAL and (sent.places is None or sent.places > held.places):
        return True
    if held.element is not None and sent.element is not None and _admits_more(sent.element, held.element):
        return True
    return any(
        name in sent.members and _admits_more(sent.members[name], member) for name, member in held.members.items()
    )


def _reaches_further(sent: FieldPlan, held: FieldPlan) -> bool:
    """Whether a number below or above the bounds of the entity's field would be accepted."""
    for least, less in ((held.ge, False), (held.gt, True)):
        if least is not None and not (
            (sent.ge is not None and (sent.ge > least if less else sent.ge >= least))
            or (sent.gt is not None and sent.gt >= (least if less or sent.kind is not Kind.INTEGER else least - 1))
        ):
            return True
    for most, more in ((held.le, False), (held.lt, True)):
        if most is not None and not (
            (sent.le is not None and (sent.le < most if more else sent.le <= most))
            or (sent.lt is not None and sent.lt <= (most if more or sent.kind is not Kind.INTEGER else most + 1))
        ):
            return True
    return False


def shown(alternatives: frozenset[Any]) -> str:
    """Alternatives of a type as Python writes them."""
    return ", ".join(
        sorted(
            "None" if alternative is type(None) else getattr(alternative, "__name__", repr(alternative))
            for alternative in alternatives
        )
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
        return frozenset(alternative for part in get_args(kind) for alternative in _alternatives(part))
    if get_origin(kind) is Literal:
        return frozenset(_Value(value) for value in get_args(kind))
    return frozenset({kind})


def _literal_type(alternative: Any) -> type[Any] | None:
    return type(alternative.value) if isinstance(alternative, _Value) else None
