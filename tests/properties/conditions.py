"""Conditions as text for the service and as a function for the model, made together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.properties.wire_values import Item, Value, any_values, in_key_order, plain, small_numbers

NAMES = ["g", "h", "f", "l", "x"]


@dataclass(frozen=True)
class Condition:
    """`text` holds {0}, {1}, … where its values go."""

    text: str
    values: tuple[Value, ...]
    holds: Callable[[Item], bool]

    def written_into(self, request: dict[str, Any], parameter: str) -> None:
        values = request.setdefault("ExpressionAttributeValues", {})
        first = len(values)
        placeholders = [f":c{first + n}" for n in range(len(self.values))]
        values.update(zip(placeholders, self.values, strict=True))
        if not values:
            del request["ExpressionAttributeValues"]
        request[parameter] = self.text.format(*placeholders)


def same_kind(a: Value, b: Value) -> bool:
    return a.keys() == b.keys()


def compared(item: Item, name: str, bound: Value, holds: Callable[[Any, Any], bool]) -> bool:
    if name not in item or not same_kind(item[name], bound) or next(iter(bound)) not in "SNB":
        return False
    return holds(in_key_order(item[name]), in_key_order(bound))


ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@st.composite
def leaves(draw: st.DrawFn) -> Condition:
    name = draw(st.sampled_from(NAMES))
    match draw(st.sampled_from(["exists", "absent", "=", "<>", "ordering", "between", "in", "begins_with", "type"])):
        case "exists":
            key = draw(st.sampled_from(["pk", name]))
            return Condition(f"attribute_exists({key})", (), lambda item: key in item)
        case "absent":
            key = draw(st.sampled_from(["pk", name]))
            return Condition(f"attribute_not_exists({key})", (), lambda item: key not in item)
        case "=":
            value = draw(any_values)
            return Condition(
                f"{name} = {{0}}", (value,), lambda item: name in item and plain(item[name]) == plain(value)
            )
        case "<>":
            value = draw(any_values)
            return Condition(
                f"{name} <> {{0}}", (value,), lambda item: name not in item or plain(item[name]) != plain(value)
            )
        case "ordering":
            operator = draw(st.sampled_from(list(ORDERINGS)))
            bound = draw(small_numbers.map(lambda number: {"N": number}))
            holds = ORDERINGS[operator]
            return Condition(f"{name} {operator} {{0}}", (bound,), lambda item: compared(item, name, bound, holds))
        case "between":
            low, high = sorted(draw(st.lists(small_numbers, min_size=2, max_size=2)), key=float)
            bounds = ({"N": low}, {"N": high})
            return Condition(
                f"{name} BETWEEN {{0}} AND {{1}}",
                bounds,
                lambda item: (
                    compared(item, name, bounds[0], ORDERINGS[">="])
                    and compared(item, name, bounds[1], ORDERINGS["<="])
                ),
            )
        case "in":
            choices = tuple(draw(st.lists(any_values, min_size=1, max_size=3)))
            listed = ", ".join(f"{{{n}}}" for n in range(len(choices)))
            return Condition(
                f"{name} IN ({listed})",
                choices,
                lambda item: name in item and any(plain(item[name]) == plain(choice) for choice in choices),
            )
        case "begins_with":
            prefix = draw(st.sampled_from(["a", "a\x00", "é"]))
            return Condition(
                f"begins_with({name}, {{0}})",
                ({"S": prefix},),
                lambda item: item.get(name, {}).get("S", "").startswith(prefix),
            )
        case _:
            kind = draw(st.sampled_from(["S", "N", "B", "SS", "M", "BOOL"]))
            return Condition(f"attribute_type({name}, {{0}})", ({"S": kind},), lambda item: kind in item.get(name, {}))


def joined(left: Condition, right: Condition, word: str) -> Condition:
    shifted = right.text.format(*(f"{{{len(left.values) + n}}}" for n in range(len(right.values))))
    both = {"AND": lambda item: left.holds(item) and right.holds(item), "OR": lambda i: left.holds(i) or right.holds(i)}
    return Condition(f"({left.text}) {word} ({shifted})", left.values + right.values, both[word])


conditions = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds(joined, inner, inner, st.sampled_from(["AND", "OR"])),
        inner.map(lambda c: Condition(f"NOT ({c.text})", c.values, lambda item: not c.holds(item))),
    ),
    max_leaves=3,
)
maybe_conditions = st.one_of(st.none(), conditions)
