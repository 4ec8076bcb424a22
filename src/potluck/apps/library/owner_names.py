"""The copies of a person's name: in their libraries, and in the shares of libraries that they can view."""

from contextlib import suppress

from potluck.apps.library.entities import Library, OwnerRow, Share, SharedLibrary
from potluck.apps.library.fields import owner_of
from potluck.people import Account
from potluck.store import Store
from potluck.table import WriteRefused, the


async def account_renamed(store: Store, before: Account, account: Account) -> None:
    """Copy a person's new name to their libraries and shares."""
    if before.name == account.name:
        return
    owner_id = owner_of(account.user_id)
    for row in await store.all(OwnerRow.of_owner(owner_id)):
        with suppress(WriteRefused):
            if isinstance(row, Library):
                # The consumer then copies it from the library to its items.
                named = the(Library.owner_name).becomes(account.name)
                await store.update(Library.one(owner_id, row.library_id), named, keep_version=True)
            elif isinstance(row, SharedLibrary):
                share = Share.one(row.shared_from_id, row.library_id, owner_id)
                await store.update(share, the(Share.name).becomes(account.name))
