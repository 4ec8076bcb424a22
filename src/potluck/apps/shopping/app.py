"""The Shopping app, as the suite mounts it."""

from pathlib import Path

from potluck.apps.shopping import clearing, families, inventory, locations, offline, restocking, shopping_list, stores
from potluck.apps.shopping.account import export_of
from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.consumers import consumers_of
from potluck.apps.shopping.demo import demo_of
from potluck.apps.shopping.entities import inventory as inventory_table
from potluck.apps.shopping.families import HOME
from potluck.apps.shopping.home_card import home_card_of
from potluck.apps.shopping.pages import inventory as inventory_pages
from potluck.apps.shopping.pages import shopping_list as list_pages
from potluck.web import App, AppEntry, Core, Modules

MODULES = Modules(
    *(families, stores, locations, shopping_list, clearing, inventory, restocking),
    *(list_pages, inventory_pages, offline),
)


def shopping_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    return App(
        name=APP,
        tables=[inventory_table],
        place=families.families.in_suite(core),
        welcome="You’re in. What you add, everyone sees.",
        modules=MODULES,
        templates=Path(__file__).parent / "templates",
        entry=AppEntry(
            APP, "Shopping", "shopping-basket", "What the family has and what it needs. Works without signal.", HOME
        ),
        consumers=consumers_of(core),
        export=export_of(core),
        home_card=home_card_of(core),
        demo=demo_of(core, MODULES.subjects),
    )
