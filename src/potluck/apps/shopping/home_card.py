"""Shopping's card on the home page: how much there is to buy, and what is running low."""

from collections.abc import Awaitable, Callable

from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem
from potluck.apps.shopping.families import HOME, families
from potluck.people import Principal
from potluck.store import all_done
from potluck.web import Core, HomeCard, Waiting

# Listing more would push the other apps off the page.
MOST_WAITING = 3


def home_card_of(core: Core) -> Callable[[Principal], Awaitable[HomeCard]]:
    """The function that builds a person's card, over all their families."""

    async def home_card(caller: Principal) -> HomeCard:
        rows = core.store
        ids = [family.family_id for family, _ in await families.of_person(rows, caller.user_id)]
        if not ids:
            return HomeCard()
        lists = await all_done([rows.all(ShoppingListItem.by_status(each, "pending")) for each in ids])
        lows = await all_done([rows.all(InventoryItem.low(each, "active")) for each in ids])
        to_buy = sum(map(len, lists))
        # What is on the list already needs no attention.
        listed = {each.item_id for found in lists for each in found}
        missing = (each for found in lows for each in found if each.item_id not in listed)
        low = sorted(missing, key=lambda each: (each.name, each.item_id))
        return HomeCard(
            f"{to_buy} to buy" if to_buy else "Nothing to buy", [_waiting(each) for each in low[:MOST_WAITING]]
        )

    return home_card


def _waiting(item: InventoryItem) -> Waiting:
    much = " ".join(filter(None, (str(item.quantity), item.unit))) if item.quantity else "None"
    left = f"{much} left, warn at {item.threshold}" if item.threshold else f"{much} left"
    return Waiting(item.name, left, f"{HOME}/{item.family_id}/inventory", "package", "Look")
