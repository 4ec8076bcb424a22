"""A consumer, declared as data: which records it handles, and what it does if the log no longer has them.

    Consumer("shopping-deletions", created(Deletion, do=cascade.finish), lost=cascade.resume)

The table is that of the entities. `bind` adds the store and the reader of the log; the suite does that.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from potluck.store import Store
from potluck.streams.consumer_group import ConsumerGroup
from potluck.streams.handing_over import Following
from potluck.streams.leases import WorkTable
from potluck.streams.positions import Action
from potluck.streams.record_consumer import Handled, PositionLost, RecordConsumer
from potluck.streams.records import Record
from potluck.streams.steps import Steps, Work
from potluck.streams.triggers import Trigger
from potluck.table import Operation, Transaction
from potluck.table.errors import DesignError

Rebuild = Callable[[], Awaitable[None]] | Work[Any]
"""What makes up for missed changes: a function, or long work."""


class Consumer:
    """One named consumer of one table's stream."""

    def __init__(
        self,
        name: str,
        *triggers: Trigger,
        lost: Rebuild | None,
        begin: Rebuild | None = None,
        steps: Sequence[Steps[Any]] = (),
    ) -> None:
        """`name` is unique in the suite: the position is saved under it. A record goes to every trigger that it fits.

        `lost` makes up for records that were trimmed from the log before they were read; None if missing them does no
        lasting harm. `begin` is for rows that are older than the log, before the first run. `steps` are the kinds of
        long work that its functions return.
        """
        tables = {trigger.table.name: trigger.table for trigger in triggers}
        if len(tables) != 1:
            raise DesignError(f"{name}: a consumer reads the stream of one table, not of {sorted(tables) or 'none'}")
        (self.table,) = tables.values()
        self.name = name
        self.triggers = triggers
        self.lost = lost
        self.begin = begin
        self.steps = {kind.name: kind for kind in steps}
        if len(self.steps) != len(steps):
            raise DesignError(f"{name}: two kinds of steps have the same name")
        for work in (lost, begin):
            if isinstance(work, Work):
                self._check(work)

    def concerns(self, record: Record) -> bool:
        """Whether one of its triggers may fit the record; other records do not wake it."""
        return any(trigger.concerns(record) for trigger in self.triggers)

    async def handle(self, store: Store, record: Record) -> Handled:
        """Call the functions of all triggers that fit; returns what is to be committed together with the position."""
        operations: list[Operation] = []
        works: list[Work[Any]] = []
        for trigger in self.triggers:
            result = await trigger.handle(record)
            if isinstance(result, Work):
                self._check(result)
                works.append(result)
            else:
                operations += result
        return Handled(encoded(store, operations), works)

    def bind(
        self,
        store: Store,
        work_table: WorkTable | None = None,
        group: ConsumerGroup | None = None,
        follow: Following | None = None,
        **options: Any,
    ) -> RecordConsumer:
        """Run it on a store: by default in a group of its own, and reading the log itself."""

        async def lost(_: PositionLost) -> Work[Any] | None:
            return await rebuilding(self.lost)

        async def begin() -> Work[Any] | None:
            return await rebuilding(self.begin)

        return RecordConsumer(
            store.engine,
            self.name,
            self.table.name,
            partial(self.handle, store),
            concerns=self.concerns,
            work_table=work_table,
            group=group,
            follow=follow,
            lost=lost,
            begin=begin if self.begin is not None else None,
            steps=[*self.steps.values()],
            encoded=partial(encoded, store),
            **options,
        )

    def _check(self, work: Work[Any]) -> None:
        if self.steps.get(work.steps.name) is not work.steps:
            raise DesignError(f"{self.name}: add {work.steps.name} to its steps, or nothing can go on with it")


def encoded(store: Store, operations: Sequence[Operation]) -> list[Action]:
    """The actions of a transaction that are these operations."""
    if not operations:
        return []
    return [{action.kind: action.body} for action in Transaction(*operations).actions(store.now)]


async def rebuilding(rebuild: Rebuild | None) -> Work[Any] | None:
    """Rebuild what a consumer maintains; returns what is left to do, if it is long work."""
    if rebuild is None or isinstance(rebuild, Work):
        return rebuild
    await rebuild()
    return None
