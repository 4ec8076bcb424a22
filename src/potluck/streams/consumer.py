"""A consumer, declared as data: which records it handles, and what it does if the log no longer has them.

    Consumer("shopping-deletions", created(Deletion, do=cascade.finish), lost=cascade.resume)

The table is that of the entities. `bind` adds the store, the lease and the reader of the log; the suite does that.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from potluck.store import Store
from potluck.streams.leases import Lease, WorkTable
from potluck.streams.positions import Action
from potluck.streams.record_consumer import Following, PositionLost, RecordConsumer
from potluck.streams.records import Record
from potluck.streams.triggers import Trigger
from potluck.table import Transaction
from potluck.table.errors import DesignError

Rebuild = Callable[[], Awaitable[None]]


class Consumer:
    """One named consumer of one table's stream."""

    def __init__(self, name: str, *triggers: Trigger, lost: Rebuild | None, begin: Rebuild | None = None) -> None:
        """`name` is unique in the suite: the position is saved under it. A record goes to every trigger that it fits.

        `lost` makes up for records that were trimmed from the log before they were read; None if missing them does no
        lasting harm. `begin` is called before the
        first run, for rows that are older than the log.
        """
        tables = {trigger.table.name: trigger.table for trigger in triggers}
        if len(tables) != 1:
            raise DesignError(f"{name}: a consumer reads the stream of one table, not of {sorted(tables) or 'none'}")
        (self.table,) = tables.values()
        self.name = name
        self.triggers = triggers
        self.lost = lost
        self.begin = begin

    def concerns(self, record: Record) -> bool:
        """Whether one of its triggers may fit the record; other records do not wake it."""
        return any(trigger.concerns(record) for trigger in self.triggers)

    async def handle(self, store: Store, record: Record) -> list[Action]:
        """Call the functions of all triggers that fit; returns the writes to commit together with the position."""
        operations = [write for trigger in self.triggers for write in await trigger.handle(record)]
        if not operations:
            return []
        return [{action.kind: action.body} for action in Transaction(*operations).actions(store.now)]

    def bind(
        self,
        store: Store,
        work_table: WorkTable | None = None,
        lease: Lease | None = None,
        follow: Following | None = None,
        **options: Any,
    ) -> RecordConsumer:
        """Run it on a store: by default with its own lease, and reading the log itself."""

        async def lost(_: PositionLost) -> None:
            if self.lost is not None:
                await self.lost()

        return RecordConsumer(
            store.engine,
            self.name,
            self.table.name,
            partial(self.handle, store),
            concerns=self.concerns,
            work_table=work_table,
            lease=lease,
            follow=follow,
            lost=lost,
            begin=self.begin,
            **options,
        )
