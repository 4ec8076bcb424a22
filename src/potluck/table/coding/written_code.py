"""Python source that is generated when a class is declared."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from potluck.table.fields.plans import FieldPlan


class Unusual(Exception):
    """Generated code found a value that may be invalid; the careful path decides."""


def unusual(value: Any) -> Any:
    raise Unusual(value)


class GeneratedCode:
    """Functions as source text, and the objects that they refer to by name."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"unusual": unusual, **known}
        self._struct_functions: dict[tuple[str, Any, int], str] = {}

    def constant(self, value: Any) -> str:
        """Give an object a name that the source can use."""
        name = f"C{len(self.names)}"
        self.names[name] = value
        return name

    def struct_function(
        self, purpose: str, plan: FieldPlan, body: Callable[[GeneratedCode, FieldPlan], list[str]]
    ) -> str:
        """The name of this function for a nested struct; generated on first use."""
        # How deep its values may nest depends on how deep the struct itself is.
        key = (purpose, plan.core, plan.remaining_levels)
        name = self._struct_functions.get(key)
        if name is None:
            readable = re.sub(r"\W", "_", plan.core.__name__)  # msgspec.defstruct takes any name
            name = self._struct_functions[key] = f"{purpose}_{readable}_{len(self._struct_functions)}"
            self.lines += [f"def {name}(it):", *indented(body(self, plan)), ""]
        return name

    def run(self, title: str) -> dict[str, Any]:
        """Define the functions; tracebacks and debuggers show them under this title."""
        source = "\n".join(self.lines)
        linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)
        exec(compile(source, title, "exec"), self.names)
        return self.names


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line for line in lines]
