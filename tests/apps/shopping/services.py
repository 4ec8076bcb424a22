"""Shopping's rules as services to be called: `await stores.add(ada, family_id, "Grocer")`, without HTTP.

What is sent is decoded as the JSON door decodes it, ids included, before anything is read.
"""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from msgspec import UNSET

from potluck.apps.shopping import app as shopping_app
from potluck.apps.shopping import clearing, inventory, locations, restocking, shopping_list, stores
from potluck.apps.shopping.account import export_of
from potluck.apps.shopping.cascade import Cascade
from potluck.apps.shopping.consumers import consumers_of
from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.families import families
from potluck.apps.shopping.home_card import home_card_of
from potluck.people.authentication import Principal
from potluck.people.idempotency import IdempotencyKey
from potluck.people.invitations import Invitations
from potluck.store import Clock, Store
from potluck.streams import RecordConsumer
from potluck.validation import path_value, schema_of
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.app import App, Core, HomeCard
from potluck.web.direct_calls import Direct
from potluck.web.inputs import Versioned
from potluck.web.requests import camel
from tests.web.cores import core_on

__all__ = ["Shopping", "open_shopping"]


class Service:
    """Some rules with the same access, called with what was sent."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct

    async def _do(self, rule: Any, caller: Any, ids: Any, said: Any = None, version: Any = UNSET, **more: Any) -> Any:
        declared = self._direct.declared(rule)
        known, given = _decoded(declared, ids, said, version)
        if version is not UNSET:
            more["version"] = version
        return await self._direct.do(rule, caller, given, **more, **known)

    async def _read(self, rule: Any, caller: Any, ids: Any) -> Any:
        known, _ = _decoded(self._direct.declared(rule), ids, None, UNSET)
        return await self._direct.read(rule, caller, **known)

    async def _list(self, rule: Any, caller: Any, ids: Any, said: Any = None) -> Any:
        known, given = _decoded(self._direct.declared(rule), ids, said, UNSET)
        return await self._direct.list(rule, caller, given, **known)


def _decoded(declared: Any, ids: dict[str, Any], said: dict[str, Any] | None, version: Any) -> tuple[Any, Any]:
    known: dict[str, Any] = {}
    wrong: list[FieldError] = []
    for name, value in ids.items():
        taken = path_value(schema_of(declared.parameters[name]), camel(name), str(value))
        if isinstance(taken, FieldError):
            wrong.append(taken)
        known[name] = taken
    given = None
    try:
        if declared.input is not None:
            sent = {camel(name): _as_json(value) for name, value in (said or {}).items() if value is not UNSET}
            if issubclass(declared.input, Versioned):
                sent["version"] = version
            given = decode_tree(declared.input, sent)
        elif version is not None and version is not UNSET:
            decode_tree(Versioned, {"version": version})
    except ValidationError as error:
        wrong += error.errors
    if wrong:
        raise ValidationError(*wrong)
    return known, given


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_as_json(each) for each in value]
    return str(value) if isinstance(value, UUID) else value


class Families(Service):
    async def create(self, caller: Principal, name: Any, key: IdempotencyKey | None = None) -> Any:
        return await self._do(families.create, caller, {}, {"name": name}, key=key)

    async def all(self, caller: Principal) -> Any:
        return await self._list(families.all, caller, {})

    async def one(self, caller: Principal, family_id: Any) -> Any:
        return await self._read(families.one, caller, {"family_id": family_id})

    async def rename(self, caller: Principal, family_id: Any, version: Any, *, name: Any = UNSET) -> Any:
        return await self._do(families.rename, caller, {"family_id": family_id}, {"name": name}, version)

    async def delete(self, caller: Principal, family_id: Any, version: Any = None) -> Any:
        await self._do(families.delete, caller, {"family_id": family_id}, version=version)


class Members(Service):
    async def all(self, caller: Principal, family_id: Any) -> Any:
        return await self._list(families.all_members, caller, {"family_id": family_id})

    async def change_role(self, caller: Principal, family_id: Any, member_id: Any, version: Any, *, role: Any) -> Any:
        ids = {"family_id": family_id, "member_id": member_id}
        return await self._do(families.change_role, caller, ids, {"role": role}, version)

    async def remove(self, caller: Principal, family_id: Any, member_id: Any, version: Any = None) -> Any:
        ids = {"family_id": family_id, "member_id": member_id}
        await self._do(families.remove_member, caller, ids, version=version)

    async def invite(self, caller: Principal, family_id: Any, role: Any, email: Any = None) -> Any:
        said = {"role": role, "email": email}
        made = await self._do(families.invite, caller, {"family_id": family_id}, said)
        return SimpleNamespace(invitation_id=made.id, secret=made.token, expires_at=made.expires_at)

    async def invitations(self, caller: Principal, family_id: Any) -> Any:
        return await self._list(families.open_invitations, caller, {"family_id": family_id})

    async def withdraw(self, caller: Principal, family_id: Any, invitation_id: Any) -> Any:
        ids = {"family_id": family_id, "invitation_id": invitation_id}
        await self._do(families.withdraw_invitation, caller, ids)

    async def accept(self, caller: Principal, token: str) -> Any:
        return await self._direct.join(caller, token, families.app, families.join)


class Stores(Service):
    async def add(
        self, caller: Principal, family_id: Any, name: Any, *, address: Any = None, store_id: Any = UNSET
    ) -> Any:
        said = {"name": name, "address": address, "store_id": store_id}
        return await self._do(stores.add_store, caller, {"family_id": family_id}, said)

    async def all(self, caller: Principal, family_id: Any) -> Any:
        return await self._list(stores.all_stores, caller, {"family_id": family_id})

    async def one(self, caller: Principal, family_id: Any, store_id: Any) -> Any:
        return await self._read(stores.one_store, caller, {"family_id": family_id, "store_id": store_id})

    async def edit(
        self, caller: Principal, family_id: Any, store_id: Any, version: Any, *, name: Any = UNSET, address: Any = UNSET
    ) -> Any:
        ids = {"family_id": family_id, "store_id": store_id}
        return await self._do(stores.change_store, caller, ids, {"name": name, "address": address}, version)

    async def delete(self, caller: Principal, family_id: Any, store_id: Any, version: Any = None) -> Any:
        ids = {"family_id": family_id, "store_id": store_id}
        await self._do(stores.delete_store, caller, ids, version=version)


class Locations(Service):
    async def add(
        self, caller: Principal, family_id: Any, name: Any, *, description: Any = None, location_id: Any = UNSET
    ) -> Any:
        said = {"name": name, "description": description, "location_id": location_id}
        return await self._do(locations.add_location, caller, {"family_id": family_id}, said)

    async def all(self, caller: Principal, family_id: Any) -> Any:
        return await self._list(locations.all_locations, caller, {"family_id": family_id})

    async def one(self, caller: Principal, family_id: Any, location_id: Any) -> Any:
        return await self._read(locations.one_location, caller, {"family_id": family_id, "location_id": location_id})

    async def edit(
        self,
        caller: Principal,
        family_id: Any,
        location_id: Any,
        version: Any,
        *,
        name: Any = UNSET,
        description: Any = UNSET,
    ) -> Any:
        ids = {"family_id": family_id, "location_id": location_id}
        said = {"name": name, "description": description}
        return await self._do(locations.change_location, caller, ids, said, version)

    async def delete(self, caller: Principal, family_id: Any, location_id: Any, version: Any = None) -> Any:
        ids = {"family_id": family_id, "location_id": location_id}
        await self._do(locations.delete_location, caller, ids, version=version)


class Inventory(Service):
    async def add(
        self,
        caller: Principal,
        family_id: Any,
        name: Any,
        *,
        quantity: Any = UNSET,
        threshold: Any = UNSET,
        unit: Any = UNSET,
        location_id: Any = UNSET,
        preferred_store_id: Any = UNSET,
        alternate_store_ids: Any = UNSET,
        item_id: Any = UNSET,
    ) -> Any:
        said = {
            "name": name,
            "quantity": quantity,
            "threshold": threshold,
            "unit": unit,
            "location_id": location_id,
            "preferred_store_id": preferred_store_id,
            "alternate_store_ids": alternate_store_ids,
            "item_id": item_id,
        }
        return await self._do(inventory.add_inventory_item, caller, {"family_id": family_id}, said)

    async def all(self, caller: Principal, family_id: Any, *, low_stock: Any = False, status: Any = UNSET) -> Any:
        said = {"low_stock": low_stock, "status": status}
        return await self._list(inventory.inventory_items, caller, {"family_id": family_id}, said)

    async def one(self, caller: Principal, family_id: Any, item_id: Any) -> Any:
        return await self._read(inventory.inventory_item, caller, {"family_id": family_id, "item_id": item_id})

    async def edit(
        self,
        caller: Principal,
        family_id: Any,
        item_id: Any,
        version: Any,
        *,
        name: Any = UNSET,
        quantity: Any = UNSET,
        threshold: Any = UNSET,
        unit: Any = UNSET,
        location_id: Any = UNSET,
        preferred_store_id: Any = UNSET,
        alternate_store_ids: Any = UNSET,
        status: Any = UNSET,
    ) -> Any:
        said = {
            "name": name,
            "quantity": quantity,
            "threshold": threshold,
            "unit": unit,
            "location_id": location_id,
            "preferred_store_id": preferred_store_id,
            "alternate_store_ids": alternate_store_ids,
            "status": status,
        }
        ids = {"family_id": family_id, "item_id": item_id}
        return await self._do(inventory.change_inventory_item, caller, ids, said, version)

    async def adjust(self, caller: Principal, family_id: Any, item_id: Any, by: Any) -> Any:
        ids = {"family_id": family_id, "item_id": item_id}
        return await self._do(inventory.adjust, caller, ids, {"by": by})

    async def delete(
        self,
        caller: Principal,
        family_id: Any,
        item_id: Any,
        version: Any = None,
        key: IdempotencyKey | None = None,
    ) -> Any:
        ids = {"family_id": family_id, "item_id": item_id}
        await self._do(inventory.delete_inventory_item, caller, ids, version=version, key=key)


class ShoppingList(Service):
    async def add(
        self,
        caller: Principal,
        family_id: Any,
        *,
        name: Any = UNSET,
        item_id: Any = None,
        store_id: Any = UNSET,
        quantity: Any = None,
        unit: Any = UNSET,
        notes: Any = None,
        shopping_item_id: Any = UNSET,
        allow_duplicate: bool = False,
        key: IdempotencyKey | None = None,
    ) -> Any:
        said = {
            "name": name,
            "item_id": item_id,
            "store_id": store_id,
            "quantity": quantity,
            "unit": unit,
            "notes": notes,
            "shopping_item_id": shopping_item_id,
            "allow_duplicate": allow_duplicate,
        }
        return await self._do(shopping_list.add_to_list, caller, {"family_id": family_id}, said, key=key)

    async def add_lines(self, caller: Principal, family_id: Any, lines: Any, key: IdempotencyKey | None = None) -> Any:
        said = {"lines": lines}
        done = await self._do(shopping_list.add_lines, caller, {"family_id": family_id}, said, key=key)
        return done["items"]

    async def all(self, caller: Principal, family_id: Any, *, store_id: Any = None, status: Any = None) -> Any:
        said = {name: value for name, value in (("store_id", store_id), ("status", status)) if value is not None}
        items = await self._list(shopping_list.items_on_list, caller, {"family_id": family_id}, said)
        return SimpleNamespace(items=items, groups=shopping_list.groups_of(items).groups)

    async def one(self, caller: Principal, family_id: Any, shopping_item_id: Any) -> Any:
        ids = {"family_id": family_id, "shopping_item_id": shopping_item_id}
        return await self._read(shopping_list.shopping_item, caller, ids)

    async def edit(
        self,
        caller: Principal,
        family_id: Any,
        shopping_item_id: Any,
        version: Any,
        *,
        name: Any = UNSET,
        store_id: Any = UNSET,
        quantity: Any = UNSET,
        unit: Any = UNSET,
        notes: Any = UNSET,
    ) -> Any:
        ids = {"family_id": family_id, "shopping_item_id": shopping_item_id}
        said = {"name": name, "store_id": store_id, "quantity": quantity, "unit": unit, "notes": notes}
        return await self._do(shopping_list.change_shopping_item, caller, ids, said, version)

    async def set_status(
        self,
        caller: Principal,
        family_id: Any,
        shopping_item_id: Any,
        version: Any,
        *,
        status: Any,
        allow_duplicate: bool = False,
    ) -> Any:
        ids = {"family_id": family_id, "shopping_item_id": shopping_item_id}
        said = {"status": status, "allow_duplicate": allow_duplicate}
        return await self._do(shopping_list.check_off, caller, ids, said, version)

    async def delete(self, caller: Principal, family_id: Any, shopping_item_id: Any, version: Any = None) -> Any:
        ids = {"family_id": family_id, "shopping_item_id": shopping_item_id}
        await self._do(shopping_list.delete_shopping_item, caller, ids, version=version)


class Clearing(Service):
    async def clear_purchased(self, caller: Principal, family_id: Any, key: IdempotencyKey | None = None) -> Any:
        return await self._do(clearing.clear_purchased, caller, {"family_id": family_id}, key=key)

    async def undo(self, caller: Principal, family_id: Any, undo_token: Any, key: IdempotencyKey | None = None) -> Any:
        said = {"undo_token": undo_token}
        return (await self._do(clearing.undo, caller, {"family_id": family_id}, said, key=key)).items


class Restocking(Service):
    async def restock(self, caller: Principal, family_id: Any, shopping_item_id: Any, quantity: Any = None) -> Any:
        ids = {"family_id": family_id, "shopping_item_id": shopping_item_id}
        return await self._do(restocking.restock, caller, ids, {"quantity": quantity})


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

    def __init__(self, core: Core) -> None:
        direct = Direct(core, shopping_app.MODULES.subjects)
        self.families, self.members = Families(direct), Members(direct)
        self.stores, self.locations = Stores(direct), Locations(direct)
        self.inventory, self.shopping_list = Inventory(direct), ShoppingList(direct)
        self.clearing, self.restocking = Clearing(direct), Restocking(direct)
        self.cascade = Cascade(core.store, core.clock, core.people.invitations)
        self.places = families.in_suite(core)
        self.export = export_of(core)
        self._core = core

    def consumers(self) -> list[RecordConsumer]:
        app = App(
            name="shopping",
            tables=[],
            consumers=consumers_of(self._core),
            account_renamed=self.places.account_renamed,
        )
        return [each.bind(self._core.store) for each in app.all_consumers()]

    async def is_in(self, caller: Principal, family_id: UUID) -> bool:
        member = await self._core.store.get(Member.by_id(family_id, caller.user_id))
        return member is not None and member.status == "active"

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card_of(self._core)(caller)


def open_shopping(store: Store, clock: Clock, invitations: Invitations) -> Shopping:
    return Shopping(core_on(store, clock, invitations))
