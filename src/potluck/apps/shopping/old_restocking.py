"""A purchase that came home: its quantity is added to the inventory, once."""

from datetime import datetime

from msgspec.structs import replace

from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem
from potluck.apps.shopping.errors import AlreadyRestocked, NothingThere, NotRestockable
from potluck.apps.shopping.membership import Membership
from potluck.apps.shopping.names import names_in_items, names_on_list
from potluck.apps.shopping.old_inventory import setting_quantity, stepped
from potluck.apps.shopping.turns import Again, Turns
from potluck.apps.shopping.validation import Id, checking
from potluck.apps.shopping.views import Restocked, inventory_item_shown, shopping_item_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.table import WriteRefused, the, update

__all__ = ["Restocking"]


class Restocking:
    """Adds what was bought to what is at home."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, turns: Turns) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._turns = turns

    async def restock(
        self,
        caller: Principal,
        family_id: Id,
        shopping_item_id: Id,
        quantity: int | None = None,
        alongside: Alongside[Restocked] = nothing_else,
    ) -> Restocked:
        """So many more at home: as many as are said, or were to be bought, or one. AlreadyRestocked the second time."""
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("shoppingItemId", shopping_item_id)
            fields.quantity_to_buy(quantity)
        again = Again("restocking", self._rows.patience)
        while True:
            standing, (bought,) = await self._membership.beside(caller, family, [ShoppingListItem.by_id(family, which)])
            if bought is None:
                raise NothingThere
            if bought.restocked_at is not None:
                raise AlreadyRestocked
            if bought.status != "purchased" or bought.item_id is None:
                raise NotRestockable
            async with self._turns.at(family, bought.item_id):
                at_home = await self._rows.get(InventoryItem.by_id(family, bought.item_id))
                if at_home is None:
                    raise NotRestockable
                now = self._now()
                stocked = stepped(at_home, quantity or bought.quantity or 1, now, field="quantity")
                noted = replace(bought, restocked_at=now, updated_at=now, version=bought.version + 1)
                answer = Restocked(
                    shopping_item=shopping_item_shown(noted, await names_on_list(self._rows, [noted])),
                    inventory_item=inventory_item_shown(stocked, await names_in_items(self._rows, [stocked])),
                )
                noting = update(
                    bought,
                    the(ShoppingListItem.restocked_at).becomes(now),
                    the(ShoppingListItem.updated_at).becomes(now),
                    when=the(ShoppingListItem.restocked_at).is_none(),
                )
                adding = setting_quantity(at_home, stocked)
                try:
                    await self._membership.transact(standing, noting, adding, *alongside(answer))
                    return answer
                except WriteRefused as refusal:
                    if refusal.operation is not noting and refusal.operation is not adding:
                        raise
            # One of the two was changed meanwhile; what is there then decides.
            await again.wait()

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)
