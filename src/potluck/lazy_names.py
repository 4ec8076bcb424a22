"""Front doors that import a name when it is first used, so that using one part of a package does not import the rest.

A package with a lazy front door declares its names in `__init__.pyi`, as plain imports that type checkers read; a name
from the package itself is a module. Its `__init__.py` is one line:
`__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)`.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a package needs to offer the names of its `__init__.pyi`."""
    modules = {
        alias.name: statement.module
        for statement in ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8")).body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        for alias in statement.names
    }

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        value = import_module(f"{package}.{name}") if module == package else getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(modules), sorted(modules)
