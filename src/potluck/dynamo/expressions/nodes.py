"""The nodes of a parsed expression."""

from collections.abc import Sequence


class Path:
    """A document path: attribute names, #placeholders and list indexes, outermost first."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[str | int]) -> None:
        self.parts = tuple(parts)


class Reference:
    """A :placeholder for a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Function:
    """A function call; `allowed` says whether this function may be used here."""

    __slots__ = ("allowed", "name", "operands")

    def __init__(self, name: str) -> None:
        self.name = name
        self.operands: list[Operand] = []
        self.allowed = True


class Arithmetic:
    """left + right or left - right; in PartiQL they may be sums themselves."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, operator: str, left: "Operand | Arithmetic", right: "Operand | Arithmetic") -> None:
        self.operator = operator
        self.left = left
        self.right = right


class Comparison:
    """A comparator, BETWEEN or IN with its operands in order."""

    __slots__ = ("operands", "operator")

    def __init__(self, operator: str, operands: "list[Operand]") -> None:
        self.operator = operator
        self.operands = operands


class Junction:
    """Conditions joined by AND or by OR."""

    __slots__ = ("operator", "parts")

    def __init__(self, operator: str, parts: "list[Node]") -> None:
        self.operator = operator
        self.parts = parts


class Negation:
    """NOT, repeated any number of times."""

    __slots__ = ("part", "times")

    def __init__(self, part: "Node", times: int) -> None:
        self.part = part
        self.times = times


class Clause:
    """One action of an update: SET, REMOVE, ADD or DELETE of one path."""

    __slots__ = ("action", "operators", "path", "value")

    def __init__(self, action: str, path: Path, value: "Operand | Arithmetic | None", operators: int) -> None:
        self.action = action
        self.path = path
        self.value = value
        self.operators = operators


Operand = Path | Reference | Function
Node = Comparison | Junction | Negation | Path | Reference | Function
