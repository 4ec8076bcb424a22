"""The Shopping app, as the suite mounts it."""

from pathlib import Path

from potluck.apps.shopping.account import export_of
from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.clearing import undoing
from potluck.apps.shopping.consumers import consumers_of
from potluck.apps.shopping.demo import demo_of
from potluck.apps.shopping.entities import inventory as inventory_table
from potluck.apps.shopping.families import HOME, families
from potluck.apps.shopping.home_card import home_card_of
from potluck.apps.shopping.inventory import inventory
from potluck.apps.shopping.locations import locations
from potluck.apps.shopping.offline import offline_pages
from potluck.apps.shopping.pages.inventory import to_list
from potluck.apps.shopping.pages.shopping_list import list_home
from potluck.apps.shopping.shopping_list import shopping_list
from potluck.apps.shopping.stores import stores
from potluck.web import App, AppEntry, Core

SUBJECTS = (*families.subjects, stores, locations, list_home, shopping_list, undoing, inventory, to_list)


def shopping_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    return App(
        name=APP,
        tables=[inventory_table],
        place=families.in_suite(core),
        welcome="You’re in. What you add, everyone sees.",
        subjects=SUBJECTS,
        endpoints=[offline_pages],
        templates=Path(__file__).parent / "templates",
        entry=AppEntry(
            APP, "Shopping", "shopping-basket", "What the family has and what it needs. Works without signal.", HOME
        ),
        consumers=consumers_of(core),
        export=export_of(core),
        home_card=home_card_of(core),
        demo=demo_of(core, SUBJECTS),
    )
