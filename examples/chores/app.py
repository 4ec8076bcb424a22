"""Chores, as the suite takes it."""

from pathlib import Path

from chores import chores, homes
from chores.entities import Chore, chores_table
from potluck.web import App


class ChoresApp(App):
    name = "chores"
    title = "Chores"
    icon = "list-checks"
    does = "What has to be done at home."
    address = "/chores"
    hue = "basil"
    tables = (chores_table,)
    modules = (homes, chores)
    templates = Path(__file__).parent / "templates"
    place = homes.homes
    contents = (("chores", Chore.of_home, chores.ChoreView),)
