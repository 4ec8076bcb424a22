"""What a family keeps at home: how much there is of it, where it is, and what is running low."""

from collections.abc import Coroutine
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from potluck.apps.shopping.entities import (
    Deletion,
    InventoryItem,
    InventoryStatus,
    StorageLocation,
    Store,
)
from potluck.apps.shopping.errors import AlreadyThere, NothingThere
from potluck.apps.shopping.fields import MOST
from potluck.apps.shopping.membership import Membership, Standing
from potluck.apps.shopping.names import Names, names_in_items
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.orphans import Orphans
from potluck.apps.shopping.turns import Again, Turns
from potluck.apps.shopping.validation import Fields, Id, checking
from potluck.apps.shopping.views import InventoryItemShown, inventory_item_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.errors import InvalidFields, Stale, WrongField
from potluck.people.secrets import new_id
from potluck.store import Clock, all_done
from potluck.store import Store as Rows
from potluck.table import Ref, WriteRefused, absent, check, present, put, the, update
from potluck.table.operations import Operation

__all__ = ["Inventory", "stepped"]


class Inventory:
    """The things of a family; everyone in it manages them."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, orphans: Orphans, turns: Turns) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._orphans = orphans
        self._turns = turns

    async def add(
        self,
        caller: Principal,
        family_id: Id,
        name: str,
        *,
        quantity: int = 0,
        threshold: int = 0,
        unit: str | None = None,
        location_id: Id | None = None,
        preferred_store_id: Id | None = None,
        alternate_store_ids: tuple[Id, ...] = (),
        item_id: Id | None = None,
        alongside: Alongside[InventoryItemShown] = nothing_else,
    ) -> InventoryItemShown:
        """A new thing; NothingThere for a store or location that is not this family's."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            chosen = fields.id_or_none("itemId", item_id)
            said = _said(fields, name, quantity, threshold, unit, location_id, preferred_store_id, alternate_store_ids)
        standing = await self._membership.of(caller, family)
        now = self._now()
        item = InventoryItem(
            item_id=chosen or new_id(),
            family_id=family,
            created_by=caller.user_id,
            created_at=now,
            updated_at=now,
            **said,
        )
        answer = inventory_item_shown(item, await names_in_items(self._rows, [item]))
        placing = put(item, when=absent)
        # While links to one of this id are still being loosened, a new one would lose its own.
        unused = check(Deletion.by_id(family, "item", item.item_id), when=absent)
        pointing = _pointing(item, None)
        try:
            await self._membership.transact(
                standing, placing, *([unused] if chosen else []), *pointing, *alongside(answer)
            )
        except WriteRefused as refusal:
            if refusal.operation is placing and refusal.current is not None:
                raise AlreadyThere(await self.shown(refusal.current)) from refusal
            if refusal.operation is unused or refusal.operation is placing:
                raise AlreadyThere(None) from refusal
            if any(refusal.operation is each for each in pointing):
                raise NothingThere from refusal
            raise
        return answer

    async def all(
        self,
        caller: Principal,
        family_id: Id,
        *,
        low_stock: bool = False,
        status: InventoryStatus | UnsetType = UNSET,
    ) -> list[InventoryItemShown]:
        """What there is, by name; of `low_stock` only the low ones are read, and archived ones are none."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            fields.choice("status", status, "active", "archived")
        await self._membership.of(caller, family)
        if low_stock:
            wanted = InventoryItem.low(family, "active")
        elif isinstance(status, UnsetType):
            wanted = InventoryItem.all_of_family(family)
        else:
            wanted = InventoryItem.by_status(family, status)
        reading: list[Coroutine[Any, Any, list[Any]]] = [
            self._rows.all(wanted),
            self._rows.all(Store.all_of_family(family)),
            self._rows.all(StorageLocation.all_of_family(family)),
        ]
        items, stores, locations = await all_done(reading)
        names = Names.of([*stores, *locations])
        return [inventory_item_shown(each, names) for each in sorted(items, key=by_name)]

    async def one(self, caller: Principal, family_id: Id, item_id: Id) -> InventoryItemShown:
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("itemId", item_id)
        _, item = await self._found(caller, family, which)
        return await self.shown(item)

    async def edit(
        self,
        caller: Principal,
        family_id: Id,
        item_id: Id,
        version: int,
        *,
        name: str | UnsetType = UNSET,
        quantity: int | UnsetType = UNSET,
        threshold: int | UnsetType = UNSET,
        unit: str | UnsetType | None = UNSET,
        location_id: Id | UnsetType | None = UNSET,
        preferred_store_id: Id | UnsetType | None = UNSET,
        alternate_store_ids: tuple[Id, ...] | UnsetType = UNSET,
        status: InventoryStatus | UnsetType = UNSET,
        alongside: Alongside[InventoryItemShown] = nothing_else,
    ) -> InventoryItemShown:
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("itemId", item_id)
            fields.version(version)
            said = _said(fields, name, quantity, threshold, unit, location_id, preferred_store_id, alternate_store_ids)
            said["status"] = fields.choice("status", status, "active", "archived")
        standing, item = await self._found(caller, family, which)
        if item.version != version:
            raise Stale(await self.shown(item))
        values = {name: value for name, value in said.items() if value is not UNSET and value != getattr(item, name)}
        if not values:
            return await self.shown(item)
        values["updated_at"] = self._now()
        edited = replace(item, **values, version=version + 1)
        answer = await self.shown(edited)
        changing = update(item, *(the(getattr(InventoryItem, name)).becomes(value) for name, value in values.items()))
        pointing = _pointing(edited, item)
        try:
            await self._membership.transact(standing, changing, *pointing, *alongside(answer))
        except WriteRefused as refusal:
            if any(refusal.operation is each for each in pointing):
                raise NothingThere from refusal
            raise await self._refused(refusal, changing) from refusal
        return answer

    async def adjust(
        self,
        caller: Principal,
        family_id: Id,
        item_id: Id,
        by: int,
        alongside: Alongside[InventoryItemShown] = nothing_else,
    ) -> InventoryItemShown:
        """So many more, or fewer; it stops at zero, and no step of anyone else is lost."""
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("itemId", item_id)
            fields.step(by)
        again = Again("adjusting an item", self._rows.patience)
        async with self._turns.at(family, which):
            while True:
                standing, item = await self._found(caller, family, which)
                adjusted = stepped(item, by, self._now(), field="by")
                answer = await self.shown(adjusted)
                if adjusted is item:
                    return answer
                changing = setting_quantity(item, adjusted)
                try:
                    await self._membership.transact(standing, changing, *alongside(answer))
                    return answer
                except WriteRefused as refusal:
                    if refusal.operation is not changing:
                        raise
                await again.wait()

    async def delete(
        self,
        caller: Principal,
        family_id: Id,
        item_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        """No such thing; what is on the list for it becomes free text, with its name and store."""
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("itemId", item_id)
            fields.version_or_none(version)
        again = Again("deleting an item", self._rows.patience)
        while True:
            standing, item = await self._found(caller, family, which)
            if version is not None and item.version != version:
                raise Stale(await self.shown(item))
            try:
                await self._orphans.delete(standing, item, alongside)
                return
            except WriteRefused as refusal:
                if refusal.operation is None or refusal.operation.key != InventoryItem.by_id(family, which).key:
                    raise
            # Changed meanwhile: without a version it goes as whatever it is now.
            await again.wait()

    # --- what these share ---------------------------------------------------------------------------------------

    async def _found(self, caller: Principal, family_id: UUID, item_id: UUID) -> tuple[Standing, InventoryItem]:
        standing, (item,) = await self._membership.beside(caller, family_id, [InventoryItem.by_id(family_id, item_id)])
        if item is None:
            raise NothingThere
        return standing, item

    async def shown(self, item: InventoryItem) -> InventoryItemShown:
        """The item as everyone in its family sees it; who is in it is the caller's to know."""
        return inventory_item_shown(item, await names_in_items(self._rows, [item]))

    async def _refused(self, refusal: WriteRefused, operation: Operation) -> Exception:
        if refusal.operation is not operation:
            return refusal
        return NothingThere() if refusal.current is None else Stale(await self.shown(refusal.current))

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def stepped(item: InventoryItem, by: int, now: datetime, *, field: str) -> InventoryItem:
    """The item with so many more, none below zero; the item itself if that changes nothing."""
    quantity = max(0, item.quantity + by)
    if quantity > MOST:
        raise InvalidFields(WrongField(field, f"There can be at most {MOST:,} of an item"))
    if quantity == item.quantity:
        return item
    return replace(item, quantity=quantity, updated_at=now, version=item.version + 1)


def setting_quantity(item: InventoryItem, to: InventoryItem) -> Operation:
    """What makes the one the other, if nobody has changed it meanwhile."""
    return update(
        item, the(InventoryItem.quantity).becomes(to.quantity), the(InventoryItem.updated_at).becomes(to.updated_at)
    )


def _said(
    fields: Fields,
    name: Any,
    quantity: Any,
    threshold: Any,
    unit: Any,
    location_id: Any,
    preferred_store_id: Any,
    alternate_store_ids: Any,
) -> dict[str, Any]:
    """What may be said of an inventory item, by field."""
    return {
        "name": fields.name(name),
        "quantity": fields.amount("quantity", quantity),
        "threshold": fields.amount("threshold", threshold),
        "unit": fields.unit(unit),
        "location_id": fields.id_or_none("locationId", location_id),
        "preferred_store_id": fields.id_or_none("preferredStoreId", preferred_store_id, kind="storeId"),
        "alternate_store_ids": fields.ids("alternateStoreIds", alternate_store_ids, kind="storeId"),
    }


def _pointing(item: InventoryItem, before: InventoryItem | None) -> list[Operation]:
    """That everything it newly points to is there, for the transaction in which it does."""
    refs: list[Ref[Any]] = []
    stores = {item.preferred_store_id, *item.alternate_store_ids}
    locations = {item.location_id}
    if before is not None:
        stores -= {before.preferred_store_id, *before.alternate_store_ids}
        locations -= {before.location_id}
    refs += [Store.by_id(item.family_id, each) for each in stores if each is not None]
    refs += [StorageLocation.by_id(item.family_id, each) for each in locations if each is not None]
    return [check(each, when=present) for each in refs]
