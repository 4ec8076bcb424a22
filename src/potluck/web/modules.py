"""The modules of an app that declare something: rules, pages, places and plain endpoints.

    MODULES = Modules(homes, chores, pages)

A module that declares a rule and is not listed is a DeclarationError at import.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from potluck.web.actions import Actions
from potluck.web.endpoints import Endpoints
from potluck.web.inputs import DeclarationError
from potluck.web.places.place import Place


class Modules:
    """What an app consists of, in the order in which its modules are listed."""

    def __init__(self, *modules: ModuleType) -> None:
        self.names = [module.__name__ for module in modules]
        declared = [value for module in modules for value in vars(module).values()]
        of_places = [subject for place in declared if isinstance(place, Place) for subject in place.subjects]
        own = [value for value in declared if isinstance(value, Actions)]
        self.subjects: tuple[Actions[Any], ...] = tuple(dict.fromkeys([*of_places, *own]))
        self.endpoints = tuple(dict.fromkeys(value for value in declared if isinstance(value, Endpoints)))
        self.must_be_complete()

    def must_be_complete(self) -> None:
        """A DeclarationError for a rule of the same app whose module is not listed."""
        package = min(self.names, key=len).rpartition(".")[0] + "."
        for subject in self.subjects:
            for declared in subject.declared:
                module = declared.rule.__module__
                if module.startswith(package) and module not in self.names:
                    raise DeclarationError(f"{declared.name}: list its module among the app's: {module}")
