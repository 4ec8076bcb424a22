"""The list of what a person created while signed in."""

from collections.abc import Iterable
from uuid import UUID

from potluck.apps.shareables.entities import CreatedShareable, FormerCreatedShareable, Shareable
from potluck.store import Store, all_done
from potluck.table import Operation, Query, WriteRefused, absent, check, delete, present, put


def in_own_list(shareable: Shareable) -> CreatedShareable:
    """The row that lists it for its creator."""
    assert shareable.creator_id is not None
    assert shareable.created_at is not None
    assert shareable.ttl is not None
    return CreatedShareable(
        creator_id=shareable.creator_id,
        created_at=shareable.created_at,
        short_id=shareable.short_id,
        ttl=shareable.ttl,
    )


def off_own_list(shareable: Shareable) -> list[Operation]:
    """The writes that remove it from its creator's list, under either key; none if it was made without an account."""
    if shareable.creator_id is None:
        return []
    row = in_own_list(shareable)
    return [delete(row), delete(_former(row))]


async def own_list(store: Store, user_id: UUID) -> Query[CreatedShareable]:
    """The query of a person's list, newest first. Rows under the key of earlier stores are moved first."""
    former = await store.all(FormerCreatedShareable.of_creator(user_id))
    await all_done([_move(store, row) for row in former])
    return CreatedShareable.of_creator(user_id)


async def existing(store: Store, rows: Iterable[CreatedShareable]) -> list[Shareable]:
    """The shareables on this part of a list that still exist."""
    shareables = await store.get_many([Shareable.one(row.short_id) for row in rows])
    return [shareable for shareable in shareables if shareable is not None]


async def _move(store: Store, former: FormerCreatedShareable) -> None:
    row = CreatedShareable(
        creator_id=former.creator_id, created_at=former.created_at, short_id=former.short_id, ttl=former.ttl
    )
    exists = check(Shareable.one(former.short_id), when=present)
    try:
        await store.transact(exists, put(row, when=absent), delete(former))
    except WriteRefused:
        # It has been moved already, perhaps with a later end; or its shareable is gone.
        await store.delete(former)


def _former(row: CreatedShareable) -> FormerCreatedShareable:
    return FormerCreatedShareable(
        creator_id=row.creator_id, created_at=row.created_at, short_id=row.short_id, ttl=row.ttl
    )
