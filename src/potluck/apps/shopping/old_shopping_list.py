"""The shopping list: what is to be bought, by whom it was added, where it is bought, and what is done."""

from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from potluck.apps.shopping.entities import (
    Deletion,
    InventoryItem,
    ItemStatus,
    Member,
    PendingGuard,
    ShoppingListItem,
    Store,
)
from potluck.apps.shopping.errors import AlreadyThere, NothingThere
from potluck.apps.shopping.lines import read_lines, wrong_with
from potluck.apps.shopping.membership import Membership, Standing, allowed
from potluck.apps.shopping.names import Names, names_on_list
from potluck.apps.shopping.old_duplicates import MOST_DUPLICATES, entering_guard, leaving_guard, refuse_duplicate
from potluck.apps.shopping.ordering import by_store, groups_of
from potluck.apps.shopping.turns import Again
from potluck.apps.shopping.validation import Id, checking
from potluck.apps.shopping.views import ShoppingItemShown, ShoppingListShown, shopping_item_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.errors import Stale, TooMany
from potluck.people.secrets import new_id
from potluck.store import Clock, all_done
from potluck.store import Store as Rows
from potluck.table import (
    ConditionFailed,
    NotFound,
    Query,
    Ref,
    WriteRefused,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.operations import Operation

__all__ = ["PURCHASED_ITEMS_STAY", "ShoppingList"]

PURCHASED_ITEMS_STAY = timedelta(days=7)
LONGEST_LINES = 10_000


class ShoppingList:
    """The list of a family; everyone in it adds, edits, checks off and deletes."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership

    # --- adding -------------------------------------------------------------------------------------------------

    async def add(
        self,
        caller: Principal,
        family_id: Id,
        *,
        name: str | UnsetType | None = UNSET,
        item_id: Id | None = None,
        store_id: Id | UnsetType | None = UNSET,
        quantity: int | None = None,
        unit: str | UnsetType | None = UNSET,
        notes: str | None = None,
        shopping_item_id: Id | None = None,
        allow_duplicate: bool = False,
        alongside: Alongside[ShoppingItemShown] = nothing_else,
    ) -> ShoppingItemShown:
        """Something to buy. Of an inventory item it has the name, the store and the unit, unless others are said.

        DuplicateItem if that is on the list and not bought yet: of all who add it at once, one does.
        """
        with checking() as fields:
            family = fields.id("familyId", family_id)
            chosen = fields.id_or_none("shoppingItemId", shopping_item_id)
            linked_id = fields.id_or_none("itemId", item_id)
            if item_id is not None and name is None:
                name = UNSET
            said_name = fields.name("" if item_id is None and name is UNSET else name)
            said_store = fields.id_or_none("storeId", store_id)
            quantity = fields.quantity_to_buy(quantity)
            unit = fields.unit(unit)
            notes = fields.notes(notes)
        again = Again("adding to the list", self._rows.patience)
        while True:
            standing, linked, store = await self._sources(caller, family, linked_id, said_store, allow_duplicate)
            now = self._now()
            item = ShoppingListItem(
                shopping_item_id=chosen or new_id(),
                family_id=family,
                item_id=linked_id,
                name=linked.name if linked is not None and said_name is UNSET else said_name,
                store_id=None if store is None else store.store_id,
                quantity=quantity,
                unit=_said_or(unit, None if linked is None else linked.unit),
                notes=notes,
                added_by=caller.user_id,
                created_at=now,
                updated_at=now,
            )
            names = Names.of([standing.member, *([] if store is None else [store])])
            answer = shopping_item_shown(item, names)
            placing = put(item, when=absent)
            guarding = entering_guard(item, allow_duplicate) if linked_id else None
            targets = _targets(item)
            try:
                await self._membership.transact(
                    standing, placing, *([guarding] if guarding else []), *targets, *alongside(answer)
                )
                return answer
            except WriteRefused as refusal:
                if refusal.operation is placing:
                    existing = refusal.current
                    raise AlreadyThere(None if existing is None else await self.shown(existing)) from refusal
                if guarding is not None and refusal.operation is guarding:
                    await refuse_duplicate(self._rows, refusal)
                elif not any(refusal.operation is each for each in targets):
                    raise
            # The duplicate, the inventory item or the store went meanwhile.
            await again.wait()

    async def add_lines(
        self,
        caller: Principal,
        family_id: Id,
        lines: str,
        alongside: Alongside[list[ShoppingItemShown]] = nothing_else,
    ) -> list[ShoppingItemShown]:
        """Several things as they were typed or pasted, one to a line; all of them or none."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            read = read_lines(fields.text("lines", lines, LONGEST_LINES) or "")
            for message in wrong_with(read):
                fields.say("lines", message)
        standing = await self._membership.of(caller, family)
        now = self._now()
        items = [
            ShoppingListItem(
                shopping_item_id=new_id(),
                family_id=family,
                name=line.name,
                quantity=line.quantity,
                unit=line.unit,
                added_by=caller.user_id,
                created_at=now,
                updated_at=now,
            )
            for line in read
        ]
        answer = [shopping_item_shown(item, Names.of([standing.member])) for item in items]
        await self._membership.transact(standing, *(put(item, when=absent) for item in items), *alongside(answer))
        return answer

    async def _sources(
        self, caller: Principal, family_id: UUID, item_id: UUID | None, said: UUID | UnsetType | None, duplicate: bool
    ) -> tuple[Standing, InventoryItem | None, Store | None]:
        """Who adds, what it is of, and where it is bought: where they say, or where that is usually bought."""
        refs: list[Ref[Any]] = []
        if item_id is not None:
            refs += [InventoryItem.by_id(family_id, item_id), PendingGuard.by_item(family_id, item_id)]
        if isinstance(said, UUID):
            refs.append(Store.by_id(family_id, said))
        standing, found = await self._membership.beside(caller, family_id, refs)
        linked: InventoryItem | None = found[0] if item_id is not None else None
        store: Store | None = found[-1] if isinstance(said, UUID) else None
        if (item_id is not None and linked is None) or (isinstance(said, UUID) and store is None):
            raise NothingThere
        if linked is not None and duplicate and found[1] and len(found[1].shopping_item_ids) >= MOST_DUPLICATES:
            raise TooMany("of the same thing on the list", MOST_DUPLICATES)
        if linked is not None and said is UNSET and linked.preferred_store_id is not None:
            store = await self._rows.get(Store.by_id(family_id, linked.preferred_store_id))
        return standing, linked, store

    # --- looking ------------------------------------------------------------------------------------------------

    async def all(
        self,
        caller: Principal,
        family_id: Id,
        *,
        store_id: Id | Literal["unassigned"] | None = None,
        status: ItemStatus | None = None,
    ) -> ShoppingListShown:
        """The whole list, or what is for one store, or what is pending or purchased; as of now, if it is whole."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            where = None if store_id in (None, "unassigned") else fields.id("storeId", store_id)
            if status is not None:
                fields.choice("status", status, "pending", "purchased")
        wanted: Query[ShoppingListItem]
        if store_id is None:
            wanted = (
                ShoppingListItem.all_of_family(family) if status is None else ShoppingListItem.by_status(family, status)
            )
        elif status is None:
            wanted = ShoppingListItem.by_store(family, where)
        else:
            wanted = ShoppingListItem.by_store_and_status(family, where, status)
        # All at once, and nothing is shown before it is known who asks.
        reading: list[Coroutine[Any, Any, list[Any]]] = [
            self._rows.all(Member.all_of_family(family)),
            self._rows.all(wanted),
            self._rows.all(Store.all_of_family(family)),
            self._rows.all(Deletion.under_way(family)),
        ]
        members, items, stores, gone = await all_done(reading)
        allowed(next((each for each in members if each.member_id == caller.user_id), None))
        names = Names.of([*members, *stores, *gone])
        if where is not None and where not in names.stores:
            raise NothingThere
        shown = sorted((shopping_item_shown(each, names) for each in items), key=by_store)
        return ShoppingListShown(items=shown, groups=groups_of(shown).groups)

    async def one(self, caller: Principal, family_id: Id, shopping_item_id: Id) -> ShoppingItemShown:
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("shoppingItemId", shopping_item_id)
        _, item = await self._found(caller, family, which)
        return await self.shown(item)

    # --- changing -----------------------------------------------------------------------------------------------

    async def edit(
        self,
        caller: Principal,
        family_id: Id,
        shopping_item_id: Id,
        version: int,
        *,
        name: str | UnsetType = UNSET,
        store_id: Id | UnsetType | None = UNSET,
        quantity: int | UnsetType | None = UNSET,
        unit: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        alongside: Alongside[ShoppingItemShown] = nothing_else,
    ) -> ShoppingItemShown:
        """Other details, if it is still of the version that was seen; what is purchased stays as long as before."""
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("shoppingItemId", shopping_item_id)
            fields.version(version)
            said = {
                "name": fields.name(name),
                "store_id": fields.id_or_none("storeId", store_id),
                "quantity": fields.quantity_to_buy(quantity),
                "unit": fields.unit(unit),
                "notes": fields.notes(notes),
            }
        standing, item = await self._found(caller, family, which)
        if item.version != version:
            raise Stale(await self.shown(item))
        values = {name: value for name, value in said.items() if value is not UNSET and value != getattr(item, name)}
        if not values:
            return await self.shown(item)
        values["updated_at"] = self._now()
        edited = replace(item, **values, version=version + 1)
        names = await names_on_list(self._rows, [edited])
        new_store = values.get("store_id")
        if new_store is not None and new_store not in names.stores:
            raise NothingThere
        answer = shopping_item_shown(edited, names)
        changing = update(
            item, *(the(getattr(ShoppingListItem, name)).becomes(value) for name, value in values.items())
        )
        there = [] if new_store is None else [check(Store.by_id(family, new_store), when=present)]
        try:
            await self._membership.transact(standing, changing, *there, *alongside(answer))
        except WriteRefused as refusal:
            if any(refusal.operation is each for each in there):
                raise NothingThere from refusal
            raise await self._refused(refusal, changing) from refusal
        return answer

    async def set_status(
        self,
        caller: Principal,
        family_id: Id,
        shopping_item_id: Id,
        version: int,
        *,
        status: ItemStatus,
        allow_duplicate: bool = False,
        alongside: Alongside[ShoppingItemShown] = nothing_else,
    ) -> ShoppingItemShown:
        """Check it off, and it goes after a week; uncheck it, and it stays.

        DuplicateItem if the same inventory item is pending again meanwhile.
        """
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("shoppingItemId", shopping_item_id)
            fields.version(version)
            fields.choice("status", status, "pending", "purchased")
        again = Again("changing the status", self._rows.patience)
        unguarded = False
        while True:
            standing, item = await self._found(caller, family, which)
            names = await names_on_list(self._rows, [item])
            if item.version != version:
                raise Stale(shopping_item_shown(item, names))
            if item.status == status:
                return shopping_item_shown(item, names)
            now = self._now()
            values: dict[str, Any] = {
                "status": status,
                "ttl": int((now + PURCHASED_ITEMS_STAY).timestamp()) if status == "purchased" else None,
                "updated_at": now,
            }
            if item.item_id in names.gone_items:
                values["item_id"] = None
            changed = replace(item, **values, version=version + 1)
            answer = shopping_item_shown(changed, names)
            changing = update(
                item, *(the(getattr(ShoppingListItem, name)).becomes(value) for name, value in values.items())
            )
            guarding: list[Operation] = []
            if changed.item_id is not None and status == "pending":
                linked = check(InventoryItem.by_id(family, changed.item_id), when=present)
                guarding = [entering_guard(changed, allow_duplicate), linked]
            elif changed.item_id is not None and not unguarded:
                guarding = [leaving_guard(changed)]
            try:
                await self._membership.transact(standing, changing, *guarding, *alongside(answer))
                return answer
            except WriteRefused as refusal:
                if not any(refusal.operation is each for each in guarding):
                    raise await self._refused(refusal, changing) from refusal
                if isinstance(refusal, ConditionFailed):
                    await refuse_duplicate(self._rows, refusal)
                # A guard that is not there has nothing to be taken out of: it went with the inventory item.
                unguarded = isinstance(refusal, NotFound)
            await again.wait()

    async def delete(
        self,
        caller: Principal,
        family_id: Id,
        shopping_item_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        with checking() as fields:
            family, which = fields.id("familyId", family_id), fields.id("shoppingItemId", shopping_item_id)
            fields.version_or_none(version)
        again = Again("deleting from the list", self._rows.patience)
        unguarded = False
        while True:
            standing, item = await self._found(caller, family, which)
            if version is not None and item.version != version:
                raise Stale(await self.shown(item))
            deleting = delete(item, when=present)
            guarded = item.item_id is not None and item.status == "pending" and not unguarded
            guarding = [leaving_guard(item)] if guarded else []
            try:
                await self._membership.transact(standing, deleting, *guarding, *alongside(None))
                return
            except WriteRefused as refusal:
                if any(refusal.operation is each for each in guarding):
                    unguarded = isinstance(refusal, NotFound)
                elif refusal.operation is not deleting:
                    raise
            # Changed meanwhile: without a version it goes as whatever it is now.
            await again.wait()

    # --- what these share ---------------------------------------------------------------------------------------

    async def _found(self, caller: Principal, family_id: UUID, which: UUID) -> tuple[Standing, ShoppingListItem]:
        standing, (item,) = await self._membership.beside(caller, family_id, [ShoppingListItem.by_id(family_id, which)])
        if item is None:
            raise NothingThere
        return standing, item

    async def shown(self, item: ShoppingListItem) -> ShoppingItemShown:
        """The item as everyone in its family sees it; who is in it is the caller's to know."""
        return shopping_item_shown(item, await names_on_list(self._rows, [item]))

    async def _refused(self, refusal: WriteRefused, operation: Operation) -> Exception:
        if refusal.operation is not operation:
            return refusal
        return NothingThere() if refusal.current is None else Stale(await self.shown(refusal.current))

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def _targets(item: ShoppingListItem) -> list[Operation]:
    """That what it points to is there, for the transaction that makes it."""
    refs: list[Ref[Any]] = []
    if item.item_id is not None:
        refs.append(InventoryItem.by_id(item.family_id, item.item_id))
    if item.store_id is not None:
        refs.append(Store.by_id(item.family_id, item.store_id))
    return [check(each, when=present) for each in refs]


def _said_or(said: Any, default: Any) -> Any:
    return default if said is UNSET else said
