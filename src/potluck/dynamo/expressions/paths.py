"""Document paths: resolving their placeholders, reading items by them, and refusing those that overlap."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from potluck.dynamo import limits
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import Path
from potluck.dynamo.values import Item, Value

# A resolved path: attribute names as text, list indexes as numbers.
Place = tuple[str | int, ...]

_ABSENT: Mapping[str, Any] = {}


def placeholders_in(paths: Iterable[Path]) -> tuple[str, ...]:
    """Every #placeholder in the paths, once, in order."""
    names: dict[str, None] = {}
    for path in paths:
        for part in path.parts:
            if isinstance(part, str) and part[0] in "#:":
                names[part] = None
    return tuple(names)


def resolve(path: Path, names: Mapping[str, str]) -> Place:
    """The path with its placeholders replaced; refused if it is too deep or a placeholder is not defined."""
    if len(path.parts) > limits.NESTING_LEVELS:
        raise ExpressionError(f"The document path has too many nesting levels; nesting levels: {len(path.parts)}")
    place: list[str | int] = []
    for part in path.parts:
        if isinstance(part, str) and part[0] in "#:":
            if part not in names:
                raise ExpressionError(
                    f"An expression attribute name used in the document path is not defined; attribute name: {part}"
                )
            part = names[part]
        place.append(part)
    return tuple(place)


def described(place: Place) -> str:
    """A path as the service writes it in its messages."""
    return f"[{', '.join(f'[{part}]' if isinstance(part, int) else part for part in place)}]"


def read_along(item: Item, place: Place) -> Value | None:
    """The value an item has at a path, if any."""
    value = item.get(place[0])  # type: ignore[arg-type]
    for part in place[1:]:
        if value is None:
            return None
        if isinstance(part, int):
            elements = value.get("L")
            value = elements[part] if elements is not None and part < len(elements) else None
        else:
            value = value.get("M", _ABSENT).get(part)
    return value


def reader(place: Place) -> Callable[[Item, Any], Value | None]:
    """A function that reads this path; its second argument is ignored, and makes it callable like any operand."""
    if len(place) == 1:
        name: Any = place[0]
        return lambda item, _: item.get(name)
    return lambda item, _: read_along(item, place)


class PathTree:
    """Paths that must not overlap, added from last to first as the service does."""

    def __init__(self) -> None:
        # Each level maps a part to the next level; an empty level ends a path.
        self._root: dict[str | int, Any] = {}

    def add(self, place: Place) -> None:
        """Add a path, or refuse it if it overlaps or conflicts with another."""
        level = self._root
        for depth, part in enumerate(place):
            if level and isinstance(next(iter(level)), int) != isinstance(part, int):
                raise self._collision("conflict", place, place[:depth], level)
            inner = level.get(part)
            if inner is None:
                inner = level[part] = {}
            elif not inner or depth == len(place) - 1:
                raise self._collision("overlap", place, place[: depth + 1], inner)
            level = inner

    def _collision(self, kind: str, one: Place, parents: Place, level: dict[str | int, Any]) -> ExpressionError:
        two = list(parents)
        while level:
            part, level = next(iter(level.items()))
            two.append(part)
        return ExpressionError(
            f"Two document paths {kind} with each other; must remove or rewrite one of these paths; "
            f"path one: {described(one)}, path two: {described(tuple(two))}"
        )
