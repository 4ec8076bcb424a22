"""ProjectionExpression."""

from collections.abc import Sequence
from typing import Any

from potluck.dynamo.expressions.parser import ParsedProjection, parse_projection
from potluck.dynamo.expressions.paths import PathTree, Place, resolve
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.expressions.templates import ParsedText, ParsedTexts
from potluck.dynamo.values import Item, Value


class Projection:
    """The paths of an item that a request asks for."""

    __slots__ = ("_places", "_tree", "attributes", "nested")

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._tree = _tree(places)
        self.attributes: tuple[str, ...] = tuple(dict.fromkeys(str(place[0]) for place in places))
        self.nested: frozenset[str] = frozenset(str(place[0]) for place in places if len(place) > 1)

    def apply(self, item: Item) -> Item:
        """The item, reduced to the requested paths."""
        if not self.nested:
            return {name: item[name] for name in self.attributes if name in item}
        return _pick_map(item, self._tree)


def projection(text: str, placeholders: Placeholders) -> Projection:
    """The projection in a request, or the service's error."""
    return _projections.bind("ProjectionExpression", text, placeholders)[0]


def project(item: Item, places: Sequence[Place]) -> Item:
    """Only what an item has at these paths, which must not overlap; gaps in lists are closed."""
    return _pick_map(item, _tree(places))


def _resolved(template: ParsedText[ParsedProjection, Projection], placeholders: Placeholders) -> Projection:
    places: list[Place] = []
    tree = PathTree()
    for path in reversed(template.parsed.paths):
        place = resolve(path, placeholders.names)
        tree.add(place)
        places.append(place)
    return Projection(places[::-1])


_projections: ParsedTexts[ParsedProjection, Projection] = ParsedTexts(
    parse_projection, lambda parsed: parsed.paths, _resolved
)


# A level of the tree: which sub-parts are wanted of each part, None for all.
Tree = dict[str | int, Any]


def _tree(places: Sequence[Place]) -> Tree:
    tree: Tree = {}
    for place in places:
        level = tree
        for part in place[:-1]:
            level = level.setdefault(part, {})
        level[place[-1]] = None
    return tree


def _pick(value: Value, wanted: Tree | None) -> Value | None:
    if wanted is None:
        return value
    if isinstance(next(iter(wanted)), int):
        elements = value.get("L")
        if elements is None:
            return None
        picked = [
            inner
            for index in sorted(index for index in wanted if isinstance(index, int) and index < len(elements))
            if (inner := _pick(elements[index], wanted[index])) is not None
        ]
        return {"L": picked} if picked else None
    members = value.get("M")
    if members is None:
        return None
    picked_members = _pick_map(members, wanted)
    return {"M": picked_members} if picked_members else None


def _pick_map(members: Item, wanted: Tree) -> Item:
    picked: Item = {}
    for name, deeper in wanted.items():
        value = members.get(name)  # type: ignore[arg-type]
        if value is not None and (inner := _pick(value, deeper)) is not None:
            picked[name] = inner  # type: ignore[index]
    return picked
