"""The apps' own designs: each README shows what is declared, and a review finds nothing that is not explained."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from potluck.commands.table_modules import apps_with_tables
from potluck.table.design import markdown, with_section
from potluck.table.lint import lint
from potluck.table.tables import Table

# Whatever has a table, as `potluck design` finds it: a new app is held to this when it appears.
APPS = apps_with_tables()


def declarations(app: str) -> ModuleType:
    return import_module("potluck.people.entities" if app == "people" else f"potluck.apps.{app}.entities")


def tables(app: str) -> list[Table]:
    return [each for each in vars(declarations(app)).values() if isinstance(each, Table)]


@pytest.mark.parametrize("app", APPS)
def test_the_readme_shows_the_design_that_is_declared(app):
    readme = Path(declarations(app).__file__).with_name("README.md").read_text()
    assert readme == with_section(readme, markdown(tables(app))), f"run: potluck design {app} --write"


@pytest.mark.parametrize("app", APPS)
def test_a_review_finds_nothing_that_is_not_explained(app):
    found = [str(finding) for table in tables(app) for finding in lint(table) if finding.accepted is None]
    assert not found, "\n".join(["change the design, or say in Table(accepted=...) why it stays:", *found])
