"""The columns of a SELECT."""

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.paths import PathTree, read_along
from potluck.dynamo.partiql.nodes import AttributePath
from potluck.dynamo.values import Item


class Columns:
    """Parts of an item, each under the last name of its path, with the list indexes that follow it."""

    def __init__(self, paths: tuple[AttributePath, ...]) -> None:
        self.places = {column_name(path): path.parts for path in paths}
        if len(self.places) < len(paths):
            names = list(map(column_name, paths))
            repeated = next(name for name in names if names.count(name) > 1)
            invalid(f"Duplicate identifiers in select clause: {repeated}")
        tree = PathTree()
        try:
            for place in self.places.values():
                tree.add(place)
        except ExpressionError as problem:
            invalid(str(problem))
        self.attributes = tuple(dict.fromkeys(str(place[0]) for place in self.places.values()))
        self.nested = frozenset(str(place[0]) for place in self.places.values() if len(place) > 1)

    def apply(self, item: Item) -> Item:
        """The columns that the item has."""
        shown = ((name, read_along(item, place)) for name, place in self.places.items())
        return {name: value for name, value in shown if value is not None}


def column_name(path: AttributePath) -> str:
    last = max(number for number, part in enumerate(path.parts) if isinstance(part, str))
    return str(path.parts[last]) + "".join(f"[{index}]" for index in path.parts[last + 1 :])
