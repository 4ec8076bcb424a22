"""What the modules of an app declare. A rule in a module that is not listed is a DeclarationError at import."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from potluck.web.actions import Actions
from potluck.web.endpoints import Endpoints
from potluck.web.inputs import DeclarationError
from potluck.web.places.place import Place


def declared_in(modules: Sequence[ModuleType]) -> tuple[list[Actions[Any]], list[Endpoints]]:
    """The subjects and the plain endpoints, in the order in which the modules are listed."""
    declared = [value for module in modules for value in vars(module).values()]
    of_places = [subject for place in declared if isinstance(place, Place) for subject in place.subjects]
    own = [value for value in declared if isinstance(value, Actions)]
    subjects = [*dict.fromkeys([*of_places, *own])]
    must_be_listed(modules, subjects)
    return subjects, [*dict.fromkeys(value for value in declared if isinstance(value, Endpoints))]


def must_be_listed(modules: Sequence[ModuleType], subjects: Sequence[Actions[Any]]) -> None:
    """A DeclarationError for a rule of the same app whose module is not listed."""
    if not modules:
        return
    names = [module.__name__ for module in modules]
    package = min(names, key=len).rpartition(".")[0] + "."
    for subject in subjects:
        for declared in subject.declared:
            module = declared.rule.__module__
            if module.startswith(package) and module not in names:
                raise DeclarationError(f"{declared.name}: add its module to the app's `modules`: {module}")
