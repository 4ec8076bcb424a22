"""The grammars of conditions, updates and projections."""

from collections.abc import Generator
from typing import Any

from potluck.dynamo import limits
from potluck.dynamo.expressions.failures import ExpressionError
from potluck.dynamo.expressions.nodes import (
    Arithmetic,
    Clause,
    Comparison,
    Function,
    Junction,
    Negation,
    Node,
    Operand,
    Path,
    Reference,
)
from potluck.dynamo.expressions.reserved_words import RESERVED_WORDS
from potluck.dynamo.expressions.tokens import END, INDEX, NAME, VALUE, WORD, Token, cut, unexpected

CONDITION_FUNCTIONS = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size")
)
UPDATE_FUNCTIONS = frozenset(("if_not_exists", "list_append"))
COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
SECTIONS = frozenset(("SET", "REMOVE", "ADD", "DELETE"))
HIGHEST_INDEX = 2**31 - 1

# A rule is a generator that yields sub-rules and is sent their results, so that nesting costs memory, not stack.
Rule = Generator[Any, Any, Any]


class ParsedCondition:
    """A syntactically valid condition, with what later checks go through in order."""

    def __init__(self, root: Node, finished: list[Operand | Comparison], operators: int) -> None:
        self.root = root
        self.finished = finished
        self.operators = operators

    def leaves(self) -> list[Path | Reference]:
        """Its paths and values, from left to right."""
        return [node for node in self.finished if isinstance(node, Path | Reference)]


class ParsedUpdate:
    """A syntactically valid update: its clauses in order."""

    def __init__(self, clauses: list[Clause]) -> None:
        self.clauses = clauses

    def leaves(self) -> list[Path | Reference]:
        """Its paths and values, from left to right."""
        leaves: list[Path | Reference] = []
        for clause in self.clauses:
            leaves.append(clause.path)
            waiting: list[Any] = [clause.value]
            while waiting:
                node = waiting.pop()
                if isinstance(node, Arithmetic):
                    waiting += (node.right, node.left)
                elif isinstance(node, Function):
                    waiting.extend(reversed(node.operands))
                elif node is not None:
                    leaves.append(node)
        return leaves


class ParsedProjection:
    """A syntactically valid projection: its paths in order."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths


def parse_condition(text: str) -> ParsedCondition:
    reader = _TokenReader(text, CONDITION_FUNCTIONS)
    root, _ = reader.read(reader.condition(False))
    reader.expect(END)
    if isinstance(root, Function):
        reader.as_condition(root)
    reader.check_words()
    return ParsedCondition(root, reader.finished, reader.operators)


def parse_update(text: str) -> ParsedUpdate:
    reader = _TokenReader(text, UPDATE_FUNCTIONS)
    clauses: list[Clause] = reader.read(reader.sections())
    reader.check_words()
    return ParsedUpdate(clauses)


def parse_projection(text: str) -> ParsedProjection:
    reader = _TokenReader(text, frozenset())
    paths = [reader.path()]
    while reader.accept(","):
        paths.append(reader.path())
    reader.expect(END)
    reader.check_words()
    return ParsedProjection(paths)


class _TokenReader:
    """Parses one text from left to right."""

    def __init__(self, text: str, functions: frozenset[str]) -> None:
        if not text:
            raise ExpressionError("The expression can not be empty;")
        size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if size > limits.EXPRESSION_BYTES:
            raise ExpressionError(f"Expression size has exceeded the maximum allowed size; expression size: {size}")
        self.text = text
        self.functions = functions
        self.tokens = cut(text)
        self.position = 0
        self.operators = 0
        # Paths, functions and repeated sections in the order they begin: words are checked in this order.
        self.begun: list[Path | Function | str] = []
        # Operands and comparisons in the order they end: semantics are checked in this order.
        self.finished: list[Operand | Comparison] = []

    def read(self, rule: Rule) -> Any:
        waiting = [rule]
        result = None
        while waiting:
            try:
                waiting.append(waiting[-1].send(result))
            except StopIteration as done:
                waiting.pop()
                result = done.value
            else:
                result = None
        return result

    # --- tokens ---

    def peek(self) -> str:
        return self.tokens[self.position].kind

    def accept(self, kind: str) -> bool:
        if self.tokens[self.position].kind != kind:
            return False
        self.position += 1
        return True

    def expect(self, kind: str) -> Token:
        token = self.tokens[self.position]
        if token.kind != kind:
            self.unexpected()
        self.position += 1
        return token

    def unexpected(self) -> None:
        unexpected(self.text, self.tokens, self.position)

    def close_group(self, inner_grouped: bool) -> None:
        """Read a closing parenthesis; refuse it if its content is already a group."""
        self.expect(")")
        if inner_grouped:
            raise ExpressionError("The expression has redundant parentheses;")

    # --- operands ---

    def path(self) -> Path:
        token = self.tokens[self.position]
        if token.kind is not WORD and token.kind is not NAME:
            self.unexpected()
        self.position += 1
        parts: list[str | int] = [token.text]
        while True:
            if self.accept("."):
                token = self.tokens[self.position]
                # The service's grammar allows a :value here, though it can never be defined.
                if token.kind is not WORD and token.kind is not NAME and token.kind is not VALUE:
                    self.unexpected()
                self.position += 1
                parts.append(token.text)
            elif self.accept("["):
                parts.append(int(self.expect(INDEX).text))
                self.expect("]")
            else:
                break
        path = Path(parts)
        self.begun.append(path)
        self.finished.append(path)
        return path

    def atom(self) -> Rule:
        """A path, a :value or a call."""
        token = self.tokens[self.position]
        if token.kind is VALUE:
            self.position += 1
            reference = Reference(token.text)
            self.finished.append(reference)
            return reference
        if token.kind is WORD and self.tokens[self.position + 1].kind == "(":
            self.position += 2
            return (yield self.call(token.text))
        return self.path()

    def call(self, name: str) -> Rule:
        function = Function(name)
        self.begun.append(function)
        while True:
            operand, _ = yield self.operand()
            self.as_operand(operand, function)
            function.operands.append(operand)
            if not self.accept(","):
                break
        self.expect(")")
        self.operators += 1
        self.finished.append(function)
        return function

    def operand(self) -> Rule:
        """An operand, and whether it was in parentheses."""
        if not self.accept("("):
            return (yield self.atom()), False
        inner, grouped = yield self.operand()
        self.close_group(grouped)
        return inner, True

    def as_operand(self, operand: Operand | Arithmetic, of: Function | None = None) -> None:
        if isinstance(operand, Function):
            if self.functions is CONDITION_FUNCTIONS:
                operand.allowed = operand.name == "size"
            else:
                operand.allowed = operand.name == "if_not_exists"

    def as_condition(self, node: Node) -> None:
        if isinstance(node, Function):
            node.allowed = node.name != "size"

    # --- conditions ---

    def condition(self, in_group: bool) -> Rule:
        """A condition, or within a group a lone operand; and whether it was in parentheses."""
        return (yield self.joined("OR", in_group))

    def joined(self, operator: str, in_group: bool) -> Rule:
        node, grouped = yield (self.joined("AND", in_group) if operator == "OR" else self.negation(in_group))
        if self.peek() != operator or isinstance(node, Path | Reference):
            return node, grouped
        parts = [node]
        self.as_condition(node)
        while self.accept(operator):
            self.operators += 1
            node, _ = yield (self.joined("AND", False) if operator == "OR" else self.negation(False))
            self.as_condition(node)
            parts.append(node)
        return Junction(operator, parts), False

    def negation(self, in_group: bool) -> Rule:
        if self.peek() != "NOT":
            return (yield self.comparison(in_group))
        times = 0
        while self.accept("NOT"):
            times += 1
        self.operators += times
        node, _ = yield self.comparison(False)
        self.as_condition(node)
        # Any number of NOTs is one node, to keep the tree shallow.
        return Negation(node, times), False

    def comparison(self, in_group: bool) -> Rule:
        grouped = False
        if self.accept("("):
            node, inner_grouped = yield self.condition(True)
            self.close_group(inner_grouped)
            grouped = True
            if not isinstance(node, Path | Reference | Function):
                return node, True
            left: Operand = node
        else:
            left = yield self.atom()
        kind = self.peek()
        if kind in COMPARATORS:
            self.position += 1
            right, _ = yield self.operand()
            return self.compared(kind, [left, right]), False
        if kind == "BETWEEN":
            self.position += 1
            low, _ = yield self.operand()
            self.expect("AND")
            high, _ = yield self.operand()
            return self.compared(kind, [left, low, high]), False
        if kind == "IN":
            self.position += 1
            self.expect("(")
            operands = [left]
            while True:
                operand, _ = yield self.operand()
                operands.append(operand)
                if not self.accept(","):
                    break
            self.expect(")")
            return self.compared(kind, operands), False
        if not isinstance(left, Function) and not (in_group and kind == ")"):
            self.unexpected()
        return left, grouped

    def compared(self, operator: str, operands: list[Operand]) -> Comparison:
        for operand in operands:
            self.as_operand(operand)
        comparison = Comparison(operator, operands)
        self.operators += 1
        self.finished.append(comparison)
        return comparison

    # --- updates ---

    def sections(self) -> Rule:
        clauses: list[Clause] = []
        seen: set[str] = set()
        while True:
            section = self.peek()
            if section not in SECTIONS:
                self.unexpected()
            self.position += 1
            if section in seen:
                self.begun.append(section)
            seen.add(section)
            while True:
                clauses.append((yield self.clause(section)))
                if not self.accept(","):
                    break
            if self.accept(END):
                return clauses

    def clause(self, section: str) -> Rule:
        path = self.path()
        operators = self.operators
        value: Operand | Arithmetic | None = None
        if section == "SET":
            self.expect("=")
            value, _ = yield self.assigned()
        elif section != "REMOVE":
            value = Reference(self.expect(VALUE).text)
        return Clause(section, path, value, self.operators - operators)

    def assigned(self) -> Rule:
        """The right-hand side of = in SET: an operand, or a sum or difference of two."""
        grouped = False
        if self.accept("("):
            inner, inner_grouped = yield self.assigned()
            self.close_group(inner_grouped)
            grouped = True
            if isinstance(inner, Arithmetic):
                return inner, True
            left: Operand = inner
        else:
            left = yield self.atom()
        operator = self.peek()
        if operator != "+" and operator != "-":
            return left, grouped
        self.position += 1
        right, _ = yield self.operand()
        self.as_operand(left)
        self.as_operand(right)
        self.operators += 1
        return Arithmetic(operator, left, right), False

    # --- words ---

    def check_words(self) -> None:
        """Refuse unknown or misplaced functions, reserved words and impossible indexes."""
        for node in self.begun:
            if isinstance(node, Path):
                for part in node.parts:
                    if isinstance(part, int):
                        if part > HIGHEST_INDEX:
                            raise ExpressionError(f"List index is not within the allowable range; index: [{part}]")
                    elif part.upper() in RESERVED_WORDS:
                        raise ExpressionError(f"Attribute name is a reserved keyword; reserved keyword: {part}")
            elif isinstance(node, Function):
                if node.name not in CONDITION_FUNCTIONS | UPDATE_FUNCTIONS:
                    raise ExpressionError(f"Invalid function name; function: {node.name}")
                if node.name not in self.functions:
                    where = "a condition" if self.functions is CONDITION_FUNCTIONS else "an update"
                    raise ExpressionError(f"The function is not allowed in {where} expression; function: {node.name}")
                if not node.allowed:
                    raise ExpressionError(
                        f"The function is not allowed to be used this way in an expression; function: {node.name}"
                    )
            else:
                raise ExpressionError(f'The "{node}" section can only be used once in an update expression;')
