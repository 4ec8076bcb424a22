"""Shopping's HTML door: the list that is its home, what is at home, where things are bought, and who is in the family.

Handlers are given `shopping`, the services, besides what every handler is given.
"""

from litestar.types import ControllerRouterHandler

from potluck.apps.shopping.pages import families, files, inventory, members, offline, places, shopping_list

__all__ = ["PAGES"]

PAGES: list[ControllerRouterHandler] = [
    *families.PAGES,
    *files.PAGES,
    *offline.PAGES,
    *shopping_list.PAGES,
    *inventory.PAGES,
    *places.PAGES,
    *members.PAGES,
]
