"""Shopping's card on the home page: the number of items to buy, and what is running low."""

from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem
from potluck.apps.shopping.families import HOME, families
from potluck.people import Principal
from potluck.store import Store, all_done
from potluck.web import HomeCard, _, formats

# Listing more would push the other apps off the page.
MOST_WAITING = 3


async def home_card(store: Store, caller: Principal) -> HomeCard:
    """The card of a person, for all of their families."""
    ids = [family.family_id for family, _membership in await families.of_person(store, caller.user_id)]
    if not ids:
        return HomeCard.first(_("One list for your household. It works offline too."), _("Start a list"), HOME)
    lists = await all_done([store.all(ShoppingListItem.by_status(family_id, "pending")) for family_id in ids])
    lows = await all_done([store.all(InventoryItem.low(family_id, "active")) for family_id in ids])
    to_buy = sum(map(len, lists))
    card = HomeCard(_("%(count)s to buy", count=formats.number_text(to_buy)) if to_buy else _("Nothing to buy"))
    # Items that are on the list already need no attention.
    listed = {item.item_id for items in lists for item in items}
    missing = (item for items in lows for item in items if item.item_id not in listed)
    for item in sorted(missing, key=lambda item: (item.name, item.item_id))[:MOST_WAITING]:
        inventory = f"{HOME}/{item.family_id}/inventory"
        to_list = f"{inventory}/{item.item_id}/to-list?next=/"
        card.add(item.name, _left(item), inventory, "package", _("Add"), at=to_list, sends={})
    return card


def _left(item: InventoryItem) -> str:
    if not item.quantity:
        return _("Running low: none left")
    amount = formats.number_text(item.quantity)
    if item.unit:
        return _("Running low: %(amount)s %(unit)s left", amount=amount, unit=item.unit)
    return _("Running low: %(amount)s left", amount=amount)
