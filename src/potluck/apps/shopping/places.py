"""Where things are bought and where they are kept: stores and storage locations, with names that no two share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from potluck.apps.shopping.entities import Deletable, Deletion, StorageLocation, Store
from potluck.apps.shopping.errors import AlreadyThere, NameTaken, NothingThere
from potluck.apps.shopping.membership import Membership
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.orphans import Orphans
from potluck.apps.shopping.validation import Fields, Id, checking
from potluck.apps.shopping.views import LocationShown, StoreShown, location_shown, store_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.errors import Stale
from potluck.people.secrets import new_id
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.table import (
    NotUnique,
    Query,
    Ref,
    WriteRefused,
    absent,
    check,
    put,
    the,
    update,
)

__all__ = ["Locations", "Stores"]

LONGEST_STORE_NAME = 100
LONGEST_LOCATION_NAME = 50
LONGEST_ADDRESS = 200
LONGEST_DESCRIPTION = 200

Place = Store | StorageLocation
V = TypeVar("V", bound=Struct)


@dataclass(frozen=True, slots=True)
class _Kind(Generic[V]):
    """What stores and locations differ in."""

    what: Deletable
    id_field: str
    entity: type[Place]
    by_id: Callable[[UUID, UUID], Ref[Any]]
    all_of_family: Callable[[UUID], Query[Any]]
    shown: Callable[[Any], V]


class _Places(Generic[V]):
    """What the two have in common: everyone in the family sees them, its admins manage them."""

    def __init__(self, kind: _Kind[V], rows: Rows, clock: Clock, membership: Membership, orphans: Orphans) -> None:
        self._kind = kind
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._orphans = orphans

    async def _add(
        self,
        caller: Principal,
        family_id: UUID,
        chosen_id: UUID | None,
        make: Callable[[UUID, datetime], Place],
        alongside: Alongside[V],
    ) -> V:
        standing = await self._membership.of(caller, family_id, admin=True)
        place_id = chosen_id or new_id()
        place = make(place_id, self._clock().replace(microsecond=0))
        answer = self._kind.shown(place)
        placing = put(place, when=absent)
        # While links to one of this id are still being loosened, a new one would lose its own.
        unused = check(Deletion.by_id(family_id, self._kind.what, place_id), when=absent)
        try:
            await self._membership.transact(standing, placing, *([unused] if chosen_id else []), *alongside(answer))
        except NotUnique as refusal:
            if refusal.operation is not placing:
                raise
            raise NameTaken(place.name) from refusal
        except WriteRefused as refusal:
            if refusal.operation is placing:
                existing = refusal.current
                raise AlreadyThere(None if existing is None else self._kind.shown(existing)) from refusal
            if refusal.operation is unused:
                raise AlreadyThere(None) from refusal
            raise
        return answer

    async def all(self, caller: Principal, family_id: Id) -> list[V]:
        """Every one, by name."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
        await self._membership.of(caller, family)
        found = await self._rows.all(self._kind.all_of_family(family))
        return [self._kind.shown(each) for each in sorted(found, key=by_name)]

    async def _one(self, caller: Principal, family_id: Id, place_id: Id) -> V:
        with checking() as fields:
            family, chosen = self._ids(fields, family_id, place_id)
        _, (place,) = await self._membership.beside(caller, family, [self._kind.by_id(family, chosen)])
        if place is None:
            raise NothingThere
        return self._kind.shown(place)

    async def _edit(
        self,
        caller: Principal,
        family_id: UUID,
        place_id: UUID,
        version: int,
        said: dict[str, Any],
        alongside: Alongside[V],
    ) -> V:
        ref = self._kind.by_id(family_id, place_id)
        standing, (place,) = await self._membership.beside(caller, family_id, [ref], admin=True)
        if place is None:
            raise NothingThere
        if place.version != version:
            raise Stale(self._kind.shown(place))
        values = {name: value for name, value in said.items() if value is not UNSET and value != getattr(place, name)}
        if not values:
            return self._kind.shown(place)
        values["updated_at"] = self._clock().replace(microsecond=0)
        answer = self._kind.shown(replace(place, **values, version=version + 1))
        entity = self._kind.entity
        changing = update(place, *(the(getattr(entity, name)).becomes(value) for name, value in values.items()))
        try:
            await self._membership.transact(standing, changing, *alongside(answer))
        except NotUnique as refusal:
            if refusal.operation is not changing:
                raise
            raise NameTaken(values["name"]) from refusal
        except WriteRefused as refusal:
            raise self._refused(refusal, changing) from refusal
        return answer

    async def _delete(
        self, caller: Principal, family_id: Id, place_id: Id, version: int | None, alongside: Alongside[None]
    ) -> None:
        with checking() as fields:
            family, chosen = self._ids(fields, family_id, place_id)
            fields.version_or_none(version)
        ref = self._kind.by_id(family, chosen)
        standing, (place,) = await self._membership.beside(caller, family, [ref], admin=True)
        while True:
            if place is None:
                raise NothingThere
            if version is not None and place.version != version:
                raise Stale(self._kind.shown(place))
            try:
                await self._orphans.delete(standing, place, alongside)
                return
            except WriteRefused as refusal:
                if refusal.operation is None or refusal.operation.key != ref.key:
                    raise
                # Renamed meanwhile: without a version it goes by whatever name it has, and so does its guard.
                place = await self._rows.get(ref)

    def _ids(self, fields: Fields, family_id: Id, place_id: Id) -> tuple[Any, Any]:
        return fields.id("familyId", family_id), fields.id(self._kind.id_field, place_id)

    def _refused(self, refusal: WriteRefused, operation: Any) -> Exception:
        if refusal.operation is not operation:
            return refusal
        return NothingThere() if refusal.current is None else Stale(self._kind.shown(refusal.current))


class Stores(_Places[StoreShown]):
    """The shops of a family."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, orphans: Orphans) -> None:
        kind = _Kind("store", "storeId", Store, Store.by_id, Store.all_of_family, store_shown)
        super().__init__(kind, rows, clock, membership, orphans)

    async def add(
        self,
        caller: Principal,
        family_id: Id,
        name: str,
        *,
        address: str | None = None,
        store_id: Id | None = None,
        alongside: Alongside[StoreShown] = nothing_else,
    ) -> StoreShown:
        """A new store; NameTaken if the family has one of this name."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            chosen = fields.id_or_none("storeId", store_id)
            name = fields.name(name, LONGEST_STORE_NAME)
            address = fields.text("address", address, LONGEST_ADDRESS)

        def made(store_id: UUID, now: datetime) -> Store:
            return Store(
                store_id=store_id, family_id=family, name=name, address=address, created_at=now, updated_at=now
            )

        return await self._add(caller, family, chosen, made, alongside)

    async def one(self, caller: Principal, family_id: Id, store_id: Id) -> StoreShown:
        return await self._one(caller, family_id, store_id)

    async def edit(
        self,
        caller: Principal,
        family_id: Id,
        store_id: Id,
        version: int,
        *,
        name: str | UnsetType = UNSET,
        address: str | UnsetType | None = UNSET,
        alongside: Alongside[StoreShown] = nothing_else,
    ) -> StoreShown:
        with checking() as fields:
            family, chosen = self._ids(fields, family_id, store_id)
            fields.version(version)
            said = {
                "name": fields.name(name, LONGEST_STORE_NAME),
                "address": fields.text("address", address, LONGEST_ADDRESS),
            }
        return await self._edit(caller, family, chosen, version, said, alongside)

    async def delete(
        self,
        caller: Principal,
        family_id: Id,
        store_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        """No such store; what was to be bought there is unassigned."""
        await self._delete(caller, family_id, store_id, version, alongside)


class Locations(_Places[LocationShown]):
    """The places at home where a family keeps things."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, orphans: Orphans) -> None:
        kind = _Kind(
            "location",
            "locationId",
            StorageLocation,
            StorageLocation.by_id,
            StorageLocation.all_of_family,
            location_shown,
        )
        super().__init__(kind, rows, clock, membership, orphans)

    async def add(
        self,
        caller: Principal,
        family_id: Id,
        name: str,
        *,
        description: str | None = None,
        location_id: Id | None = None,
        alongside: Alongside[LocationShown] = nothing_else,
    ) -> LocationShown:
        """A new location; NameTaken if the family has one of this name."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            chosen = fields.id_or_none("locationId", location_id)
            name = fields.name(name, LONGEST_LOCATION_NAME)
            description = fields.text("description", description, LONGEST_DESCRIPTION)

        def made(location_id: UUID, now: datetime) -> StorageLocation:
            return StorageLocation(
                location_id=location_id,
                family_id=family,
                name=name,
                description=description,
                created_at=now,
                updated_at=now,
            )

        return await self._add(caller, family, chosen, made, alongside)

    async def one(self, caller: Principal, family_id: Id, location_id: Id) -> LocationShown:
        return await self._one(caller, family_id, location_id)

    async def edit(
        self,
        caller: Principal,
        family_id: Id,
        location_id: Id,
        version: int,
        *,
        name: str | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        alongside: Alongside[LocationShown] = nothing_else,
    ) -> LocationShown:
        with checking() as fields:
            family, chosen = self._ids(fields, family_id, location_id)
            fields.version(version)
            said = {
                "name": fields.name(name, LONGEST_LOCATION_NAME),
                "description": fields.text("description", description, LONGEST_DESCRIPTION),
            }
        return await self._edit(caller, family, chosen, version, said, alongside)

    async def delete(
        self,
        caller: Principal,
        family_id: Id,
        location_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        """No such location; what is kept there is kept nowhere in particular."""
        await self._delete(caller, family_id, location_id, version, alongside)
