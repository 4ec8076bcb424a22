"""Chores, as the suite takes it."""

from pathlib import Path

from chores import chores, homes
from chores.entities import Chore, chores_table
from potluck.web import App, AppEntry, Core, Modules


def chores_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    return App(
        name="chores",
        tables=[chores_table],
        place=homes.homes.in_suite(core, {"chores": (Chore.of_home, chores.ChoreView)}),
        modules=Modules(homes, chores),
        templates=Path(__file__).parent / "templates",
        entry=AppEntry("chores", "Chores", "list-checks", "What has to be done at home.", "/chores", hue="basil"),
    )
