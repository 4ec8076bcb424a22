"""Shopping's services, put together the one way they belong: what both of its doors, and the assembly, are given."""

from dataclasses import dataclass
from uuid import UUID

from potluck.apps.shopping.departures import Departures
from potluck.apps.shopping.entities import Family, InventoryItem, Member, ShoppingListItem, inventory
from potluck.apps.shopping.following import Following
from potluck.apps.shopping.membership import Membership
from potluck.apps.shopping.old_clearing import Clearing
from potluck.apps.shopping.old_families import Families
from potluck.apps.shopping.old_inventory import Inventory
from potluck.apps.shopping.old_members import Members
from potluck.apps.shopping.old_restocking import Restocking
from potluck.apps.shopping.old_shopping_list import ShoppingList
from potluck.apps.shopping.orphans import Orphans
from potluck.apps.shopping.places import Locations, Stores
from potluck.apps.shopping.turns import Turns
from potluck.people.authentication import Principal
from potluck.people.entities import accounts
from potluck.people.idempotency import May
from potluck.people.invitations import Invitations
from potluck.store import Clock, all_done
from potluck.store import Store as Rows
from potluck.streams import Consumer

__all__ = ["AtAGlance", "LowStock", "Shopping", "open_shopping"]


@dataclass(frozen=True, slots=True)
class LowStock:
    """Something of which there is too little."""

    family_id: UUID
    item_id: UUID
    name: str
    quantity: int
    unit: str | None


@dataclass(frozen=True, slots=True)
class AtAGlance:
    """What Shopping has to say to a person on the home page."""

    families: list[UUID]
    to_buy: int
    low: list[LowStock]

    @property
    def fact(self) -> str:
        """A few words: "7 to buy"; none for someone without a family."""
        if not self.families:
            return ""
        return f"{self.to_buy} to buy" if self.to_buy else "Nothing to buy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shopping:
    """Every verb there is, by what it is about."""

    families: Families
    members: Members
    inventory: Inventory
    stores: Stores
    locations: Locations
    shopping_list: ShoppingList
    clearing: Clearing
    restocking: Restocking
    membership: Membership
    orphans: Orphans
    departures: Departures
    rows: Rows

    def consumers(self) -> list[Consumer]:
        """What goes on behind the calls: deletions are carried to their end, and names follow."""
        following = Following(self.rows)
        return [
            Consumer(
                self.rows.engine, "shopping-deletions", inventory.name, self.orphans.handle, lost=self.orphans.lost
            ),
            Consumer(self.rows.engine, "shopping-names", accounts.name, following.handle, lost=following.lost),
        ]

    async def is_in(self, caller: Principal, family_id: UUID) -> bool:
        """Whether they may still see the family, for whoever streams its changes."""
        member = await self.rows.get(Member.by_id(family_id, caller.user_id))
        return member is not None and member.status == "active"

    def sees(self, caller: Principal, family_id: UUID) -> May:
        """That they may see the family, for whoever is given an answer about it again."""
        return lambda: self.membership.of(caller, family_id)

    async def place_name(self, place: str) -> str | None:
        """What the family of an invitation is called; None if it is no more."""
        family = await self.rows.get(Family.by_id(UUID(place)))
        return None if family is None else family.name

    async def at_a_glance(self, caller: Principal) -> AtAGlance:
        """How much is to buy and what is running low, in all families of the caller."""
        families = [each.family_id for each in await self.families.all(caller)]
        counts = await all_done([self.rows.count(ShoppingListItem.by_status(each, "pending")) for each in families])
        lows = await all_done([self.rows.all(InventoryItem.low(each, "active")) for each in families])
        low = [
            LowStock(each.family_id, each.item_id, each.name, each.quantity, each.unit)
            for found in lows
            for each in found
        ]
        return AtAGlance(families, sum(counts), sorted(low, key=lambda each: (each.name, each.item_id)))


def open_shopping(rows: Rows, clock: Clock, invitations: Invitations) -> Shopping:
    """The services on this store."""
    membership = Membership(rows)
    turns = Turns()
    orphans = Orphans(rows, clock, membership, invitations)
    families = Families(rows, clock, membership, invitations)
    return Shopping(
        families=families,
        members=Members(rows, clock, membership, invitations),
        inventory=Inventory(rows, clock, membership, orphans, turns),
        stores=Stores(rows, clock, membership, orphans),
        locations=Locations(rows, clock, membership, orphans),
        shopping_list=ShoppingList(rows, clock, membership),
        clearing=Clearing(rows, clock, membership),
        restocking=Restocking(rows, clock, membership, turns),
        membership=membership,
        orphans=orphans,
        departures=Departures(rows, families),
        rows=rows,
    )
