"""Triggers: which changes of an entity a consumer handles, and the function that handles them.

    created(Deletion, do=cascade.finish)                       # finish(deletion)
    changed(Account, Account.name, do=names.copy)              # copy(before, after)
    deleted(Shareable, do=polls.delete_of, expired=True)       # delete_of(shareable)

A function may return operations. They are committed together with the consumer's position, so they happen exactly once.
Or it returns long work, which is done in steps (`steps.py`).
"""

from collections.abc import Awaitable, Callable, Sequence
from types import MemberDescriptorType
from typing import Any, Generic, Protocol, TypeVar

from potluck.streams.records import Record
from potluck.streams.steps import Work
from potluck.table.entity import Entity, plan_of
from potluck.table.errors import DesignError
from potluck.table.operations import Operation
from potluck.table.tables import Table

E = TypeVar("E", bound=Entity)

Result = Awaitable[Sequence[Operation] | Work[Any] | None]
Image = dict[str, Any]


class Trigger(Protocol):
    """Some changes of one entity, with the function that handles them."""

    @property
    def table(self) -> Table: ...

    def concerns(self, record: Record) -> bool:
        """Whether the record may be such a change, decided without decoding it where possible."""
        ...

    async def handle(self, record: Record) -> Sequence[Operation] | Work[Any]:
        """Decode the record and call the function; nothing happens for any other change."""
        ...


class _OneImage(Generic[E]):
    """Calls a function with the one entity of a creation or a deletion."""

    def __init__(self, entity: type[E], do: Callable[[E], Result], where: Callable[[E], bool] | None) -> None:
        self.plan = plan_of(entity)
        self.table = self.plan.table
        self._do = do
        self._where = where

    def image(self, record: Record) -> Image | None:
        """The image that was created or deleted; None for any other change."""
        raise NotImplementedError

    def concerns(self, record: Record) -> bool:
        image = self.image(record)
        return image is not None and (self._where is None or _holds(self._where, lambda: self._decoded(image)))

    async def handle(self, record: Record) -> Sequence[Operation] | Work[Any]:
        image = self.image(record)
        if image is None:
            return ()
        entity = self._decoded(image)
        if self._where is not None and not self._where(entity):
            return ()
        return await self._do(entity) or ()

    def _decoded(self, image: Image) -> E:
        entity: E = self.plan.coding.decode(image)
        return entity


class _Created(_OneImage[E]):
    def image(self, record: Record) -> Image | None:
        old, new = record.old, record.new
        if new is None or not self.plan.matches(new) or (old is not None and self.plan.matches(old)):
            return None
        return new


class _Deleted(_OneImage[E]):
    def __init__(
        self, entity: type[E], do: Callable[[E], Result], where: Callable[[E], bool] | None, expired: bool | None
    ) -> None:
        super().__init__(entity, do, where)
        self._expired = expired

    def image(self, record: Record) -> Image | None:
        old, new = record.old, record.new
        if old is None or not self.plan.matches(old) or (new is not None and self.plan.matches(new)):
            return None
        return old if self._expired is None or record.expired is self._expired else None


class _Changed(Generic[E]):
    def __init__(
        self,
        entity: type[E],
        fields: Sequence[Any],
        do: Callable[[E, E], Result],
        where: Callable[[E], bool] | None,
    ) -> None:
        self.plan = plan_of(entity)
        self.table = self.plan.table
        self._do = do
        self._where = where
        self._fields = [_field_of(entity, field) for field in fields]
        self._attributes = [self.plan.fields[field].attribute for field in self._fields]

    def concerns(self, record: Record) -> bool:
        old, new = record.old, record.new
        if old is None or new is None or not self.plan.matches(new) or not self.plan.matches(old):
            return False
        if self._attributes and all(old.get(name) == new.get(name) for name in self._attributes):
            return False
        return self._where is None or _holds(self._where, lambda: self.plan.coding.decode(new))

    async def handle(self, record: Record) -> Sequence[Operation] | Work[Any]:
        old, new = record.old, record.new
        if old is None or new is None or not self.concerns(record):
            return ()
        before: E = self.plan.coding.decode(old)
        after: E = self.plan.coding.decode(new)
        # Two spellings of one value, such as a default that one of the rows leaves out, are no change.
        if self._fields and all(getattr(before, name) == getattr(after, name) for name in self._fields):
            return ()
        return await self._do(before, after) or ()


def created(entity: type[E], *, do: Callable[[E], Result], where: Callable[[E], bool] | None = None) -> Trigger:
    """A new row of the entity; `do` gets it."""
    return _Created(entity, do, where)


def deleted(
    entity: type[E],
    *,
    do: Callable[[E], Result],
    where: Callable[[E], bool] | None = None,
    expired: bool | None = None,
) -> Trigger:
    """A row of the entity that is gone; `do` gets it as it was.

    `expired=True` picks only what the service deleted because it expired, `expired=False` only the rest.
    """
    return _Deleted(entity, do, where, expired)


def changed(
    entity: type[E], *fields: Any, do: Callable[[E, E], Result], where: Callable[[E], bool] | None = None
) -> Trigger:
    """A change of these fields, or of anything if there are none; `do` gets the entity before and after.

    `where` decides by the entity after the change.
    """
    return _Changed(entity, fields, do, where)


def _field_of(entity: type[Entity], field: Any) -> str:
    plan = plan_of(entity)
    if not isinstance(field, MemberDescriptorType) or not issubclass(entity, field.__objclass__):
        raise DesignError(f"changed({plan.name}, …) takes fields of {plan.name}, not {field!r}")
    if field.__name__ in plan.key.components:
        raise DesignError(f"{plan.name}.{field.__name__} is part of the key, so no row ever changes it")
    return field.__name__


def _holds(where: Callable[[E], bool], decoded: Callable[[], E]) -> bool:
    try:
        return where(decoded())
    except Exception:
        # A row that cannot be decoded is handed over, fails there, and is parked.
        return True
