"""The unit of work: what a rule is handed to read, to make and change entities, and to commit in several steps.

A rule returns its writes, and the runner commits them. A rule with more writes than one transaction takes commits all
but the last itself, as steps:

    for part in parts:
        if not await at.commit(Step(*part)):
            ...  # something it read has changed: read again
    return Writes(answer, *last)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from msgspec.structs import replace

from potluck.people.authentication import Principal
from potluck.people.secrets import new_id
from potluck.table import Change, Condition, Entity, Query, the, update
from potluck.table.entity import plan_of
from potluck.table.expressions.conditions import Add, Becomes
from potluck.table.membership import AnyQuery
from potluck.table.operations import Operation
from potluck.web.errors import Conflict
from potluck.web.inputs import UNSET, Edit, Input, New, merged
from potluck.web.views import View, view_plan
from potluck.web.writes import Outcome, Refused, Writes, or_raise

if TYPE_CHECKING:
    from potluck.store import Store
    from potluck.web.access import Access
    from potluck.web.app import Core
    from potluck.web.commits import Committer

E = TypeVar("E", bound=Entity)
V = TypeVar("V", bound=View[Any])


class UnitOfWork:
    """The store, the time, entities and their views, for one run of a rule."""

    core: Core
    context: Any
    """What the app passes to its rules in addition to the core: App.context."""
    store: Store
    principal: Principal | None
    attempt: int = 0
    """How many times the rule has run before for this request, because concurrent writes got in first."""
    seen: int | None = None
    """The version that the caller says they saw, in a Versioned input or in If-Match."""
    committer: Committer
    """How the runner commits the writes of this request."""

    @property
    def now(self) -> datetime:
        """The time, in whole seconds. An answer that reads it is not cached."""
        return self.core.clock().replace(microsecond=0)

    @property
    def follower(self) -> UUID | None:
        """The user id that live positions are bound to; None for public lists."""
        return None

    async def position(self, *of: AnyQuery, read_by: AnyQuery | None = None) -> str:
        """Where live updates of these lists begin for this caller; ask for it before they are read."""
        return await self.core.live.position(*of, read_by=read_by, caller=self.follower)

    def new_id(self) -> UUID:
        """A random UUID."""
        return new_id(self.core.random)

    def make(self, new: New[E], **values: Any) -> E:
        """A new entity from what was sent, its timestamps, and `values`, which take precedence."""
        entity: type[E] = new.__entity__
        sent = {name: value for name in new.__struct_fields__ if (value := getattr(new, name)) is not UNSET}
        return entity(**{**self._stamps(entity, "created_at", "updated_at"), **sent, **values})

    def apply(self, thing: E, change: Edit[E], *others: Operation | Outcome, refused: Refused = None) -> Writes[E]:
        """Update the thing with the values of the change; no write if it has them already.

        `refused` says what a refused write means, where it can mean more than a concurrent change.
        """
        changes = self.changes(thing, self.merged(thing, change))
        if not changes:
            return Writes(thing)
        after, write = self.edit(thing, *changes)
        return Writes(after, write if refused is None else or_raise(write, refused), *others)

    def merged(self, thing: E, change: Input) -> E:
        """The thing with the values that were sent; an input inside changes what was sent of its part, and no more."""
        return merged(thing, change)

    def changes(self, before: E, after: E) -> list[Change]:
        """What differs, for an update: every field, so that none is answered as saved without being stored."""
        kind, version = type(before), plan_of(before).version
        changed = [name for name in kind.__struct_fields__ if getattr(after, name) != getattr(before, name)]
        return [
            the(getattr(kind, name)).becomes(getattr(after, name))
            for name in changed
            if version is None or name != version.name
        ]

    def edit(
        self, thing: E, *changes: Change, when: Condition | None = None, keep_version: bool = False
    ) -> tuple[E, Operation]:
        """The thing after these changes, and the write: `at.edit(item, the(Item.status).becomes("purchased"))`."""
        stamps: dict[str, Any] = dict(self._stamps(type(thing), "updated_at"))
        if self.principal is not None and "updated_by" in type(thing).__struct_fields__:
            stamps["updated_by"] = self.principal.user_id
        changes = (*changes, *(the(getattr(type(thing), name)).becomes(value) for name, value in stamps.items()))
        values: dict[str, Any] = {}
        for change in changes:
            if isinstance(change, Becomes):
                values[change.field.name] = change.value
            elif isinstance(change, Add):
                values[change.field.name] = getattr(thing, change.field.name) + change.amount
        write = update(thing, *changes, when=when, keep_version=keep_version)
        version = plan_of(thing).version
        if version is not None and write.version is not None:
            values[version.name] = write.version
        return replace(thing, **values), write

    async def show(self, view: type[V], items: Sequence[Any]) -> list[V]:
        """The views of these items, as this caller sees them."""
        return await view_plan(view).show_many(self, items)

    def must_have_seen(self, thing: Any) -> None:
        """Conflict unless the caller saw this version, where the thing is not that of the path."""
        if self.seen != thing.version:
            raise Conflict(current=thing)

    async def must_fit(self, query: Query[Any], most: int, what: str, more: int = 1) -> None:
        """TooMany if there is no room for `more`: `at.must_fit(Store.all_of_family(...), 200, "stores")`.

        The count is cached: it limits what a place may hold, roughly. An exact limit is a condition of the write.
        """
        await self.core.count_limits.must_fit(query, most, what, more)

    async def commit(self, writes: Writes[Any]) -> bool:
        """Commit a Step, or the rule's last writes, which it then returns; in one transaction with the access checks.

        False if something that the rule read has changed meanwhile.
        """
        return await self.committer.commit(cast("Access", self), writes)

    def _stamps(self, entity: type[Entity], *names: str) -> dict[str, datetime]:
        fields = plan_of(entity).fields
        return {name: self.now for name in names if name in fields}
