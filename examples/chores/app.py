"""Chores, as the suite takes it."""

from pathlib import Path

from chores.chores import ChoreView, chores
from chores.entities import Chore, chores_table
from chores.homes import homes
from potluck.web import App, AppEntry, Core


def chores_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    return App(
        name="chores",
        tables=[chores_table],
        place=homes.in_suite(core, {"chores": (Chore.of_home, ChoreView)}),
        subjects=[*homes.subjects, chores],
        templates=Path(__file__).parent / "templates",
        entry=AppEntry("chores", "Chores", "list-checks", "What has to be done at home.", "/chores", hue="basil"),
    )
