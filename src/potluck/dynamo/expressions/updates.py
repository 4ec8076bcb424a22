"""UpdateExpression."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from potluck.dynamo import limits
from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import Arithmetic, Clause, Function, Operand, Path, Reference
from potluck.dynamo.expressions.parser import ParsedUpdate, parse_update
from potluck.dynamo.expressions.paths import PathTree, Place, described, read_along, reader, resolve
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.expressions.projections import project
from potluck.dynamo.expressions.templates import ParsedText, ParsedTexts
from potluck.dynamo.values import Item, Value, add_numbers, kind_of, ordered_set

# A compiled clause takes the item and the values, and returns the new value at its path; None removes it.
Compute = Callable[[Item, list[Value]], Value | None]
Change = tuple[Place, Compute]

NO_SUCH_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
INVALID_PATH = "The document path provided in the update expression is invalid for update"

SETS = ("SS", "NS", "BS")
LONG_TYPE_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


class Update:
    """An update with its placeholders filled in."""

    __slots__ = ("_changes", "_flat", "_places", "attributes", "nested", "values")

    def __init__(self, program: "UpdateProgram", values: list[Value]) -> None:
        self._changes = program.changes
        self._flat = program.flat
        self._places = program.places
        self.values = values
        self.attributes: tuple[str, ...] = program.attributes
        self.nested: frozenset[str] = program.nested

    def apply(self, item: Item, *, is_new: bool = False) -> Item:
        """The updated item; the original is left unchanged, and every operand is read from it."""
        values = self.values
        if not self._flat:
            changes = self._changes
            if is_new:
                # On a missing item, the path of a nested REMOVE is not checked.
                changes = [(place, compute) for place, compute in changes if len(place) == 1 or compute is not _removed]
            return _rewritten(
                item, [(place, _checked(item, place, compute)(item, values)) for place, compute in changes]
            )
        changed = [(place[0], compute(item, values)) for place, compute in self._changes]
        new: dict[Any, Value] = item.copy()
        for name, value in changed:
            if value is None:
                new.pop(name, None)
            else:
                new[name] = value
        return new

    def touched(self, item: Item) -> Item:
        """Only what an item has at the paths that this update changes."""
        if self._flat:
            return {name: item[name] for name in self.attributes if name in item}
        return project(item, self._places)


def update(text: str, placeholders: Placeholders) -> Update:
    """The update in a request, or the service's error."""
    return Update(*_updates.bind("UpdateExpression", text, placeholders))


def update_of_nodes(parsed: ParsedUpdate, placeholders: Placeholders) -> Update:
    """An update that was written in another language; raises ExpressionError if it is refused."""
    template: ParsedText[ParsedUpdate, UpdateProgram] = ParsedText(parsed, parsed.leaves())
    return Update(_compiled(template, placeholders), [placeholders.values[name] for name in template.values])


def refuse_key_updates(touched: Iterable[str], keys: Iterable[str]) -> None:
    """Refuse an update that changes an attribute of the table's key."""
    keys = tuple(keys)
    for name in touched:
        if name in keys:
            invalid(
                "One or more parameter values were invalid: "
                f"Cannot update attribute {name}. This attribute is part of the key"
            )


class UpdateProgram:
    """An update compiled for given names and value types, ready to run."""

    __slots__ = ("attributes", "changes", "flat", "nested", "places")

    def __init__(self, changes: list[Change], places: list[Place], read: list[Place]) -> None:
        self.changes = changes
        self.places = places
        self.flat = all(len(place) == 1 for place in places)
        self.attributes = tuple(dict.fromkeys(str(place[0]) for place in places))
        self.nested = frozenset(str(place[0]) for place in [*places, *read] if len(place) > 1)


def _compiled(template: ParsedText[ParsedUpdate, UpdateProgram], placeholders: Placeholders) -> UpdateProgram:
    return _UpdateCompiler(template.parsed, template.values, placeholders).program()


_updates: ParsedTexts[ParsedUpdate, UpdateProgram] = ParsedTexts(parse_update, ParsedUpdate.leaves, _compiled)


class _UpdateCompiler:
    """Checks the clauses of a parsed update from last to first, as the service does, and compiles them."""

    def __init__(self, parsed: ParsedUpdate, value_names: tuple[str, ...], placeholders: Placeholders) -> None:
        self.clauses = parsed.clauses
        self.slots = {name: slot for slot, name in enumerate(value_names)}
        self.names = placeholders.names
        self.values = placeholders.values
        self.places: dict[Path, Place] = {}

    def program(self) -> UpdateProgram:
        tree = PathTree()
        for clause in reversed(self.clauses):
            self.places[clause.path] = resolve(clause.path, self.names)
            tree.add(self.places[clause.path])
        targets = set(self.places)
        operators = 0
        for clause in reversed(self.clauses):
            self.check_clause(clause)
            operators += clause.operators
            if operators > limits.EXPRESSION_OPERATORS:
                raise ExpressionError(
                    f"The expression contains too many operators; operator count: {limits.EXPRESSION_OPERATORS + 1}"
                )
        changes = [(self.places[clause.path], self.compute(clause)) for clause in reversed(self.clauses)]
        read = [place for path, place in self.places.items() if path not in targets]
        return UpdateProgram(changes, [self.places[clause.path] for clause in self.clauses], read)

    # --- checks ---

    def check_clause(self, clause: Clause) -> None:
        value = clause.value
        if value is not None:
            self.check_operand(value)
            if clause.action != "SET":
                assert isinstance(value, Reference)
                kind = kind_of(self.values[value.name])
                if kind not in SETS and not (kind == "N" and clause.action == "ADD"):
                    raise ExpressionError(
                        f"Incorrect operand type for operator or function; operator: {clause.action}, "
                        f"operand type: {LONG_TYPE_NAMES[kind]}, typeSet: ALLOWED_FOR_{clause.action}_OPERAND"
                    )

    def check_operand(self, operand: Operand | Arithmetic) -> None:
        # Calls nest to the right only (if_not_exists), so following the last operand needs no recursion.
        finished: list[Operand | Arithmetic] = []
        waiting: list[Operand | Arithmetic] = [operand]
        while waiting:
            node = waiting.pop()
            finished.append(node)
            if isinstance(node, Function):
                waiting.extend(node.operands)
            elif isinstance(node, Arithmetic):
                waiting += (node.left, node.right)
        for node in reversed(finished):
            if isinstance(node, Path):
                self.places[node] = resolve(node, self.names)
            elif isinstance(node, Reference):
                if node.name not in self.values:
                    raise ExpressionError(
                        f"An expression attribute value used in expression is not defined; attribute value: {node.name}"
                    )
            elif isinstance(node, Arithmetic):
                self.require_type(node.operator, [node.left, node.right], "N")
            else:
                self.check_function(node)

    def check_function(self, function: Function) -> None:
        if len(function.operands) != 2:
            raise ExpressionError(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {function.name}, number of operands: {len(function.operands)}"
            )
        first, second = function.operands
        if function.name == "list_append":
            self.require_type(function.name, function.operands, "L")
        elif not isinstance(first, Path):
            raise ExpressionError(
                f"Operator or function requires a document path; operator or function: {function.name}"
            )
        elif isinstance(second, Path) and self.places[first] == self.places[second]:
            raise ExpressionError(
                "The first operand must be distinct from the remaining operands for this operator or function; "
                f"operator: {function.name}, first operand: {described(self.places[first])}"
            )

    def require_type(self, name: str, operands: Sequence[Operand | Arithmetic], wanted: str) -> None:
        for operand in operands:
            if isinstance(operand, Reference) and wanted not in self.values[operand.name]:
                raise ExpressionError(
                    "Incorrect operand type for operator or function; "
                    f"operator or function: {name}, operand type: {kind_of(self.values[operand.name])}"
                )

    # --- programs ---

    def compute(self, clause: Clause) -> Compute:
        if clause.action == "REMOVE":
            return _removed
        value = clause.value
        if clause.action == "SET":
            assert value is not None
            return self.operand(value)
        assert isinstance(value, Reference)
        place, slot = self.places[clause.path], self.slots[value.name]
        if clause.action == "ADD":
            return lambda item, values: added(read_along(item, place), values[slot], WRONG_TYPE)
        return lambda item, values: deleted(read_along(item, place), values[slot], WRONG_TYPE)

    def sum(self, arithmetic: Arithmetic) -> Callable[[Item, list[Value]], Value]:
        left, right = self.operand(arithmetic.left), self.operand(arithmetic.right)
        subtract = arithmetic.operator == "-"

        def compute(item: Item, values: list[Value]) -> Value:
            one = left(item, values)
            if "N" not in one:
                invalid(WRONG_TYPE)
            two = right(item, values)
            if "N" not in two:
                invalid(WRONG_TYPE)
            return {"N": add_numbers(one["N"], two["N"], subtract)}

        return compute

    def operand(self, operand: Operand | Arithmetic) -> Callable[[Item, list[Value]], Value]:
        if isinstance(operand, Arithmetic):
            return self.sum(operand)
        if isinstance(operand, Reference):
            slot = self.slots[operand.name]
            return lambda item, values: values[slot]
        if isinstance(operand, Path):
            return _present(self.places[operand])
        if operand.name == "list_append":
            return _appended(self.operand(operand.operands[0]), self.operand(operand.operands[1]))
        return self.first_present(operand)

    def first_present(self, function: Function) -> Callable[[Item, list[Value]], Value]:
        """Nested calls of if_not_exists, as one loop."""
        places: list[Place] = []
        last: Operand = function
        while isinstance(last, Function):
            path, last = function.operands
            assert isinstance(path, Path)
            places.append(self.places[path])
            if isinstance(last, Function):
                function = last
        otherwise = self.operand(last)
        read = [reader(place) for place in places]

        def compute(item: Item, values: list[Value]) -> Value:
            # The service also reads the default when it is not needed, and fails if that is missing.
            default = otherwise(item, values)
            for look in read:
                value = look(item, values)
                if value is not None:
                    return value
            return default

        return compute


def _removed(item: Item, values: list[Value]) -> None:
    """REMOVE: leave nothing."""


def _present(place: Place) -> Callable[[Item, list[Value]], Value]:
    def compute(item: Item, values: list[Value]) -> Value:
        value = read_along(item, place)
        if value is None:
            invalid(NO_SUCH_ATTRIBUTE)
        return value

    return compute


def _appended(
    first: Callable[[Item, list[Value]], Value], second: Callable[[Item, list[Value]], Value]
) -> Callable[[Item, list[Value]], Value]:
    def compute(item: Item, values: list[Value]) -> Value:
        one = first(item, values)
        if "L" not in one:
            invalid(WRONG_TYPE)
        two = second(item, values)
        if "L" not in two:
            invalid(WRONG_TYPE)
        return {"L": one["L"] + two["L"]}

    return compute


def added(old: Value | None, value: Value, mismatch: str) -> Value:
    """The result of ADD: a sum, or a union of sets."""
    if old is None:
        return value
    [(kind, content)] = value.items()
    if kind not in old:
        invalid(mismatch)
    if kind == "N":
        return {"N": add_numbers(old["N"], content)}
    return {kind: ordered_set(kind, list({*old[kind], *content}))}


def deleted(old: Value | None, value: Value, mismatch: str) -> Value | None:
    """The set after DELETE; None if no member is left."""
    if old is None:
        return None
    [(kind, content)] = value.items()
    if kind not in old:
        invalid(mismatch)
    members = set(content)
    left = [member for member in old[kind] if member not in members]
    return {kind: left} if left else None


_REMOVED: Value = {}


def _rewritten(item: Item, changes: list[tuple[Place, Value | None]]) -> Item:
    """A copy of the item with the changes; only the containers along their paths are copied."""
    new = item.copy()
    # The containers copied so far, by path; for lists, also the values to append at their end.
    copies: dict[Place, Any] = {(): new}
    lists: dict[Place, list[tuple[int, Value]]] = {}
    for place, value in changes:
        if value is not None and len(place) > 1:
            _check_depth(value, limits.NESTING_LEVELS - len(place))
        container, last = _copied(copies, lists, place[:-1]), place[-1]
        if not isinstance(last, int):
            if value is None:
                container.pop(last, None)
            else:
                container[last] = value
        elif last < len(container):
            container[last] = _REMOVED if value is None else value
        elif value is not None:
            lists[place[:-1]].append((last, value))
    for place, beyond in lists.items():
        elements = copies[place]
        elements[:] = [element for element in elements if element is not _REMOVED]
        elements.extend(value for _, value in sorted(beyond, key=lambda pair: pair[0]))
    return new


def _checked(item: Item, place: Place, compute: Compute) -> Compute:
    """The clause itself, if its path leads into a map or list of the item; otherwise refused."""
    if len(place) > 1:
        container = read_along(item, place[:-1])
        if container is None or ("L" if isinstance(place[-1], int) else "M") not in container:
            invalid(INVALID_PATH)
    return compute


def _check_depth(value: Value, levels: int) -> None:
    """Refuse a value whose maps and lists are nested more than `levels` deep."""
    [(kind, content)] = value.items()
    if kind != "M" and kind != "L":
        return
    if not levels:
        invalid("Nesting Levels have exceeded supported limits")
    for inner in content.values() if kind == "M" else content:
        _check_depth(inner, levels - 1)


def _copied(copies: dict[Place, Any], lists: dict[Place, list[tuple[int, Value]]], place: Place) -> Any:
    """The map or list at a path known to exist, copied into the new item on first use."""
    depth = len(place)
    while place[:depth] not in copies:
        depth -= 1
    container = copies[place[:depth]]
    for reached in range(depth, len(place)):
        [(kind, content)] = container[place[reached]].items()
        copy = content.copy()
        container[place[reached]] = {kind: copy}
        container = copies[place[: reached + 1]] = copy
        if kind == "L":
            lists[place[: reached + 1]] = []
    return container
