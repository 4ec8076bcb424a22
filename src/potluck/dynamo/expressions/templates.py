"""Caches of expressions: parsed by their text, compiled by the names and value types of their placeholders."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from potluck.dynamo.expressions.failures import ExpressionError, invalid_expression
from potluck.dynamo.expressions.nodes import Path, Reference
from potluck.dynamo.expressions.paths import placeholders_in
from potluck.dynamo.expressions.placeholders import Placeholders
from potluck.dynamo.values import Value

REMEMBERED_TEXTS = 2048
REMEMBERED_PROGRAMS = 64

Parsed = TypeVar("Parsed")
Program = TypeVar("Program")


class ParsedText(Generic[Parsed, Program]):
    """A parsed text, the placeholders it uses, and the programs compiled from it so far."""

    __slots__ = ("names", "parsed", "programs", "values")

    def __init__(self, parsed: Parsed, leaves: Iterable[Path | Reference]) -> None:
        leaves = list(leaves)
        self.parsed = parsed
        self.names = placeholders_in(leaf for leaf in leaves if isinstance(leaf, Path))
        self.values = tuple(dict.fromkeys(leaf.name for leaf in leaves if isinstance(leaf, Reference)))
        self.programs: dict[tuple[tuple[str | None, ...], tuple[str | None, ...]], Program] = {}


class ParsedTexts(Generic[Parsed, Program]):
    """A cache of the recently parsed texts of one grammar."""

    def __init__(
        self,
        parse: Callable[[str], Parsed],
        leaves: Callable[[Parsed], Iterable[Path | Reference]],
        compile: Callable[[ParsedText[Parsed, Program], Placeholders], Program],
    ) -> None:
        self._parse = parse
        self._leaves = leaves
        self._compile = compile
        self._templates: dict[str, ParsedText[Parsed, Program]] = {}

    def bind(self, parameter: str, text: str, placeholders: Placeholders) -> tuple[Program, list[Value]]:
        """The program for this text and these placeholders, and the values to run it with."""
        template = self._templates.get(text)
        if template is None:
            template = self._remember(parameter, text)
        bound: list[Value] = []
        kinds: tuple[str | None, ...] = ()
        names: tuple[str | None, ...] = ()
        if template.values:
            values = placeholders.values
            placeholders.used_values.update(template.values)
            try:
                bound = [values[name] for name in template.values]
                kinds = tuple([next(iter(value)) for value in bound])
            except KeyError:
                # Compiling finds the undefined one, and reports it in the service's order.
                kinds = (None,)
        if template.names:
            names = tuple(map(placeholders.names.get, template.names))
            placeholders.used_names.update(template.names)
        program = template.programs.get((names, kinds))
        if program is None:
            try:
                program = self._compile(template, placeholders)
            except ExpressionError as problem:
                raise invalid_expression(parameter, problem) from None
            if len(template.programs) >= REMEMBERED_PROGRAMS:
                template.programs.clear()
            template.programs[names, kinds] = program
        return program, bound

    def _remember(self, parameter: str, text: str) -> ParsedText[Parsed, Program]:
        try:
            parsed = self._parse(text)
        except ExpressionError as problem:
            raise invalid_expression(parameter, problem) from None
        template: ParsedText[Parsed, Program] = ParsedText(parsed, self._leaves(parsed))
        if len(self._templates) >= REMEMBERED_TEXTS:
            # Dictionaries keep insertion order: the first is the oldest.
            self._templates.pop(next(iter(self._templates)), None)
        self._templates[text] = template
        return template
