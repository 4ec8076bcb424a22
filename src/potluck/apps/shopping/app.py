"""The Shopping app, declared for the suite."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping import clearing, families, inventory, locations, restocking, shopping_list, stores
from potluck.apps.shopping.account import export
from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.consumers import consumers_of
from potluck.apps.shopping.demo import fill
from potluck.apps.shopping.entities import inventory as inventory_table
from potluck.apps.shopping.families import HOME
from potluck.apps.shopping.home_card import home_card
from potluck.apps.shopping.offline import shell
from potluck.apps.shopping.pages import first_list
from potluck.apps.shopping.pages import inventory as inventory_pages
from potluck.apps.shopping.pages import shopping_list as list_pages
from potluck.people import Principal
from potluck.streams import Consumer
from potluck.web import App, Demo, HomeCard, Sample, _


class ShoppingApp(App):
    name = APP
    title = _("Shopping")
    icon = "shopping-basket"
    does = _("A shared shopping list and what you have at home. Works offline.")
    address = HOME
    sample = Sample("shopping/sample.html")
    welcome = _("You’re in. Everyone here sees what you add.")
    tables = (inventory_table,)
    place = families.families
    shell = shell
    templates = Path(__file__).parent / "templates"
    modules = (
        *(families, stores, locations, shopping_list, clearing, inventory, restocking),
        *(list_pages, inventory_pages, first_list),
    )

    def consumers(self) -> Sequence[Consumer]:
        return consumers_of(self.core)

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        async for row in super().export(user_id):
            yield row
        async for row in export(self.core.store, user_id):
            yield row

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card(self.core.store, caller)

    async def demo(self, demo: Demo) -> None:
        await fill(demo)
