"""The rows of password resets: the end of one, and of all that a person has."""

from uuid import UUID

from potluck.people.entities import PasswordReset, PasswordResetOfUser
from potluck.store import Store
from potluck.table import delete
from potluck.table.operations import Operation


def dropping_reset(reset: PasswordResetOfUser) -> list[Operation]:
    """Deletes a reset: both of its rows."""
    return [delete(PasswordReset.by_hash(reset.hash)), delete(PasswordResetOfUser.by_hash(reset.user_id, reset.hash))]


async def ending_resets(store: Store, user_id: UUID, but: str | None = None) -> list[Operation]:
    """Deletes every reset of this person."""
    resets = await store.all(PasswordResetOfUser.all_of_user(user_id))
    return [row for reset in resets if reset.hash != but for row in dropping_reset(reset)]
