"""The copies of a person's name: in their libraries, and in the shares of libraries that they can view.

Each is one transaction that also checks the name it copies, so that a stalled worker writes nothing stale.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from potluck.apps.library.entities import Library, OwnerRow, Share, SharedLibrary
from potluck.apps.library.fields import owner_of
from potluck.people import Account
from potluck.store import Store
from potluck.streams import StepDone, Steps, Work
from potluck.table import WriteRefused, check, the, update

# The owner's items are among their rows, so there may be very many.
ROWS_PER_STEP = 1000


class OwnerNames:
    """Copies a person's new name to their libraries and shares."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.owners = Steps("owner", UUID, self._rename_some)

    async def account_renamed(self, before: Account, account: Account) -> Work[UUID] | None:
        """The work that copies the name, if it is another one."""
        return None if before.name == account.name else self.owners.of(account.user_id)

    async def _rename_some(self, user_id: UUID, after: Mapping[str, Any] | None) -> StepDone:
        account = await self._store.get(Account.by_id(user_id))
        if account is None:
            return StepDone()
        owner_id = owner_of(user_id)
        still_named = check(Account.by_id(user_id), when=the(Account.name).still(account.name))
        page = await self._store.page(OwnerRow.of_owner(owner_id), ROWS_PER_STEP, after)
        for row in page.items:
            with suppress(WriteRefused):
                if isinstance(row, Library):
                    # The consumer then copies it from the library to its items.
                    named = the(Library.owner_name).becomes(account.name)
                    library = Library.one(owner_id, row.library_id)
                    await self._store.transact(still_named, update(library, named, keep_version=True))
                elif isinstance(row, SharedLibrary):
                    share = Share.one(row.shared_from_id, row.library_id, owner_id)
                    await self._store.transact(still_named, update(share, the(Share.name).becomes(account.name)))
        return StepDone(page.next)
