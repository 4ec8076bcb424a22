"""Modules that declare tables, by the name of an app or by their dotted name."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import potluck
from potluck.commands.refusal import CommandError
from potluck.streams import WorkTable
from potluck.table.errors import DesignError
from potluck.table.tables import Table


def apps_with_tables() -> list[str]:
    """The parts of Potluck that declare tables: the apps, and people."""
    apps = (Path(potluck.__path__[0]) / "apps").glob("*/entities.py")
    return [*sorted(file.parent.name for file in apps), "people"]


def _the_apps() -> str:
    return f"the apps are {', '.join(apps_with_tables())}"


def table_module(name: str) -> ModuleType:
    """The module that declares an app's tables, or any other module by its dotted name."""
    if name in apps_with_tables():
        path = "potluck.people.entities" if name == "people" else f"potluck.apps.{name}.entities"
    else:
        path = name
        # The current folder, so that a project's own module is found, as by `python -m`.
        if "" not in sys.path:
            sys.path.insert(0, "")
    try:
        module = import_module(path)
    except DesignError as problem:
        raise CommandError(str(problem)) from problem
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{path}.".startswith(f"{problem.name}."):
            raise
        raise CommandError(f"there is no app and no module {name}; {_the_apps()}") from problem
    if not tables_of(module):
        raise CommandError(f"{path} declares no table; {_the_apps()}")
    return module


def suite_tables() -> list[Table]:
    """Every table of a running suite: those of people and the apps, and the one that holds leases and positions."""
    return [*(table for name in apps_with_tables() for table in tables_of(table_module(name))), WorkTable().design]


def tables_of(module: ModuleType) -> list[Table]:
    return list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Table)))
