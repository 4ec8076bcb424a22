"""What the suite asks of an app with places: joining, exporting, following names, forgetting an account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account
from potluck.people.errors import StillNeeded
from potluck.streams import Consumer, StepDone, Steps, Work, deleted
from potluck.table import NotFound, Query, WriteRefused, delete, present, the
from potluck.table.operations import Operation
from potluck.web.places.derived import OwnMember, membership_view
from potluck.web.places.rows import MemberRow, PlaceRow
from potluck.web.views import View

if TYPE_CHECKING:
    from potluck.web.app import Core
    from potluck.web.places.place import Place

P = TypeVar("P", bound=PlaceRow)
M = TypeVar("M", bound=MemberRow)

# Rows of a deleted place that one step deletes.
ROWS_PER_STEP = 300

Contents = Sequence[tuple[str, Callable[[UUID], Query[Any]], type[View[Any]]]]
"""Things in a place, by their name in the export: the query that finds them, and the view that shows them."""


class PlacesInSuite(Generic[P, M]):
    """The places of one app, on the suite's core."""

    def __init__(self, place: Place[P, M], core: Core, contents: Contents) -> None:
        self.place = place
        self._store = core.store
        self._clock = core.clock
        self._contents = contents
        self._clearing = Steps(f"{place.app}-place", UUID, self._clear_some)

    async def place_name(self, place: str) -> str | None:
        """The name of the place of an invitation; None if it no longer exists."""
        row = await self._store.get(self.place.place.by_id(UUID(place)))
        return None if row is None else row.name

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The person's memberships, their places, and what is in those."""
        memberships = await self.place.memberships(self._store, user_id)
        membership = membership_view(self.place.member, self.place.id)
        for row in memberships:
            yield "memberships", membership.show(row)
        own = {self.place.id_of(row): row for row in memberships if row.status == "active"}
        for place in await self._store.get_many([self.place.place.by_id(place_id) for place_id in own]):
            if place is not None:
                yield self.place.plural, self.place.view.show(place, OwnMember(own))
        for name, query, view in self._contents:
            for place_id in own:
                async for row in self._store.each(query(place_id)):
                    yield name, view.show(row)

    @property
    def consumers(self) -> list[Consumer]:
        """Deletes what is left of a deleted place, if the app says what there can be."""
        if not self._contents:
            return []
        clearing = deleted(self.place.place, do=self._clear)
        # No one can reach what is left, so there is nothing to make up for.
        return [Consumer(f"{self.place.app}-deletions", clearing, lost=None, steps=[self._clearing])]

    async def _clear(self, place: P) -> Work[UUID]:
        return self._clearing.of(self.place.id_of(place))

    async def _clear_some(self, place_id: UUID, after: int | None) -> StepDone:
        """Delete some of what is left of one kind; the next kind follows when nothing is."""
        queries = [self.place.members, *(query for _, query, _ in self._contents)]
        kind = after or 0
        page = await self._store.page(queries[kind](place_id), ROWS_PER_STEP)
        await self._store.write_each(map(delete, page.items))
        if page.next is None:
            kind += 1
        return StepDone(kind if kind < len(queries) else None)

    async def account_renamed(self, before: Account, account: Account) -> None:
        """Copy a person's new name or e-mail address to their member rows."""
        member = self.place.member
        for row in await self._store.all(self.place.places(account.user_id)):
            with suppress(NotFound):
                # No one edited the member, so its version stays.
                await self._store.update(
                    self.place.member_ref(self.place.id_of(row), account.user_id),
                    the(member.name).becomes(account.name),
                    the(member.email).becomes(account.email),
                    keep_version=True,
                )

    # --- deleting an account ------------------------------------------------------------------------------------------

    async def still_needed(self, user_id: UUID) -> list[str]:
        """The names of the places whose last manager they are."""
        needed = []
        for member in await self.place.memberships(self._store, user_id):
            if member.status == "active" and self.place.manages(member):
                place: Any = await self._store.get(self.place.place.by_id(self.place.id_of(member)))
                if place is not None and place.manager_count <= 1:
                    needed.append(place.name)
        return sorted(needed)

    async def forget(self, user_id: UUID) -> None:
        """Delete the person's rows in every place; a place with no other member is deleted with them."""
        for member in await self.place.memberships(self._store, user_id):
            await self._forget_in(self.place.id_of(member), user_id)

    async def _forget_in(self, place_id: UUID, user_id: UUID) -> None:
        refs = (self.place.member_ref(place_id, user_id), self.place.place.by_id(place_id))
        # After a conflict, everything is read again and decided anew.
        async for _ in self._store.attempts("forgetting a member"):
            rows: tuple[Any, Any] = await self._store.get_together(*refs)
            member, place = rows
            if member is None:
                return
            writes: list[Operation]
            if member.status == "removed" or place is None:
                writes = [delete(member)]
            elif place.member_count <= 1:
                writes = await self.place.deletion_writes(self._store, place, user_id, self._now())
            elif self.place.manages(member) and place.manager_count <= 1:
                raise StillNeeded([place.name])
            else:
                managers = -int(self.place.manages(member))
                writes = [delete(member, when=present), self.place.counted(place_id, managers=managers, members=-1)]
            with suppress(WriteRefused):
                await self._store.transact(*writes)
                return

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)
