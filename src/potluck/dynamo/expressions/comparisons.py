"""How attribute values compare."""

from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal

from potluck.dynamo.values import Value, equal

Test = Callable[[Value, Value], bool]


def ordered(operator: str) -> Test:
    """The test for <, <=, > or >=; values of different or unordered types never pass."""

    def less(left: Value, right: Value) -> bool:
        return _order(left, right) == -1

    def less_or_equal(left: Value, right: Value) -> bool:
        return _order(left, right) in (-1, 0)

    def greater(left: Value, right: Value) -> bool:
        return _order(left, right) == 1

    def greater_or_equal(left: Value, right: Value) -> bool:
        return _order(left, right) in (0, 1)

    return {"<": less, "<=": less_or_equal, ">": greater, ">=": greater_or_equal}[operator]


def _order(left: Value, right: Value) -> int | None:
    [(kind, ours)] = left.items()
    theirs = right.get(kind)
    if theirs is None:
        return None
    if ours == theirs and kind in ("S", "N", "B"):
        return 0
    # Python orders text by code point, which is also the order of its UTF-8 bytes.
    if kind == "S":
        return -1 if ours < theirs else 1
    if kind == "N":
        return -1 if Decimal(ours) < Decimal(theirs) else 1
    if kind == "B":
        return -1 if b64decode(ours) < b64decode(theirs) else 1
    return None


def between(value: Value, low: Value, high: Value) -> bool:
    return _order(low, value) in (-1, 0) and _order(value, high) in (-1, 0)


def begins_with(value: Value, prefix: Value) -> bool:
    if "S" in value:
        start = prefix.get("S")
        return start is not None and value["S"].startswith(start)
    if "B" in value:
        start = prefix.get("B")
        return start is not None and b64decode(value["B"]).startswith(b64decode(start))
    return False


def contains(container: Value, sought: Value) -> bool:
    """Whether a text or binary contains another, a set has a member, or a list has an element."""
    [(kind, content)] = container.items()
    if kind == "L":
        return any(equal(element, sought) for element in content)
    wanted = sought.get(kind[0])
    if wanted is None:
        return False
    if kind == "S" or kind in ("SS", "NS", "BS"):
        return wanted in content
    if kind == "B":
        return b64decode(wanted) in b64decode(content)
    return False


def size_of(value: Value) -> Value | None:
    """What size() returns; None for types that have no size."""
    [(kind, content)] = value.items()
    if kind == "B":
        return {"N": str(len(b64decode(content)))}
    if kind in ("N", "BOOL", "NULL"):
        return None
    if kind == "S" and not content.isascii():
        # The service counts UTF-16 code units.
        return {"N": str(len(content.encode("utf-16-le")) // 2)}
    return {"N": str(len(content))}
