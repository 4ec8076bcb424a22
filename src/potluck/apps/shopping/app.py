"""The Shopping app, as the suite mounts it."""

from pathlib import Path

from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.clearing import undoing
from potluck.apps.shopping.consumers import consumers_of
from potluck.apps.shopping.demo import demo_of
from potluck.apps.shopping.entities import inventory as inventory_table
from potluck.apps.shopping.export import export_of
from potluck.apps.shopping.families import HOME, families, family_place
from potluck.apps.shopping.home_card import home_card_of
from potluck.apps.shopping.inventory import inventory
from potluck.apps.shopping.inventory_pages import to_list
from potluck.apps.shopping.list_pages import list_home
from potluck.apps.shopping.locations import locations
from potluck.apps.shopping.members import invitations, members
from potluck.apps.shopping.offline import offline_pages
from potluck.apps.shopping.shopping_list import shopping_list
from potluck.apps.shopping.stores import stores
from potluck.web import CATALOGUE, App, Core

SUBJECTS = (families, members, invitations, stores, locations, list_home, shopping_list, undoing, inventory, to_list)


def shopping_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    (entry,) = (each for each in CATALOGUE if each.id == APP)
    places = family_place.on(core)
    return App(
        name=APP,
        tables=[inventory_table],
        subjects=SUBJECTS,
        endpoints=[offline_pages],
        templates=Path(__file__).parent / "templates",
        entry=entry._replace(address=HOME),
        consumers=consumers_of(core),
        account_renamed=places.account_renamed,
        export=export_of(core),
        still_needed=places.still_needed,
        forget=places.forget,
        place_name=places.place_name,
        accept=places.accept,
        joined_page=lambda joined: f"{HOME}/{joined.family_id}?joined=yes",
        home_card=home_card_of(core),
        demo=demo_of(core, SUBJECTS),
    )
