"""The rows that say whose an e-mail address is: found, claimed and released under its normal form.

Rows from before decision 66 are kept under the former normal form, which is another text for few addresses: those with
letters beyond ASCII or a final dot. They are found by the spelling they were made with, moved when their owner signs
in, and moved all at once by `potluck backfill people EmailAddress`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from potluck.people.email_normal_form import former_normal_form, normal_email
from potluck.people.entities import Account, EmailAddress
from potluck.store import Store
from potluck.store.backfill import Progress
from potluck.table import OutcomeUnknown, Unavailable, WriteRefused, absent, check, delete, put, the
from potluck.table.operations import Operation

ROWS_AT_ONCE = 100
# Read when no account has the address, so that signing in takes the same number of requests.
NO_ACCOUNT = UUID(int=0)


async def account_with(store: Store, email: str) -> tuple[Account, EmailAddress] | None:
    """The account with this address in any spelling, and the row it was found by; None takes as many reads.

    The spelling decides between two accounts from before whose addresses now have one normal form.
    """
    normal = normal_email(email)
    account_and_row = None
    for form in _forms(email):
        row = await store.get(EmailAddress.by_folded(form))
        account = await store.get(Account.by_id(row.user_id if row is not None else NO_ACCOUNT))
        if row is not None and account is not None and normal_email(account.email) == normal:
            account_and_row = account, row
    return account_and_row


def claiming_address(email: str, user_id: UUID) -> list[Operation]:
    """Claims an address that no account has; it is taken if any of these operations is refused."""
    normal, *former = _forms(email)
    unclaimed = [check(EmailAddress.by_folded(form), when=absent) for form in former]
    return [put(EmailAddress(folded=normal, user_id=user_id), when=absent), *unclaimed]


async def changing_address(store: Store, account: Account, email: str) -> tuple[list[Operation], list[Operation]]:
    """What claims the new address, as above, and what releases the old one; nothing if they are the same."""
    owned = await _owned(store, account)
    forms = _forms(email)
    claims: list[Operation] = []
    if forms[0] not in owned:
        claims.append(put(EmailAddress(folded=forms[0], user_id=account.user_id), when=absent))
    claims += [check(EmailAddress.by_folded(form), when=absent) for form in forms[1:] if form not in owned]
    return claims, [_releasing(form, account) for form in owned if form != forms[0]]


async def releasing_address(store: Store, account: Account) -> list[Operation]:
    """Deletes what says that the address is the account's."""
    return [_releasing(form, account) for form in await _owned(store, account)]


async def _owned(store: Store, account: Account) -> list[str]:
    """The forms under which the account has its address; where there is one form, no row has to be read."""
    forms = _forms(account.email)
    if len(forms) == 1:
        return forms
    rows = await store.get_many([EmailAddress.by_folded(form) for form in forms])
    return [row.folded for row in rows if row is not None and row.user_id == account.user_id]


def _releasing(form: str, account: Account) -> Operation:
    return delete(EmailAddress.by_folded(form), when=the(EmailAddress.user_id) == account.user_id)


async def move_address(store: Store, row: EmailAddress) -> bool:
    """Move a row to the normal form; False if it is there, or another account has the normal form."""
    normal = normal_email(row.folded)
    if row.folded == normal:
        return False
    try:
        await store.transact(
            put(EmailAddress(folded=normal, user_id=row.user_id), when=absent),
            delete(EmailAddress.by_folded(row.folded), when=the(EmailAddress.user_id) == row.user_id),
        )
    except (WriteRefused, Unavailable, OutcomeUnknown):
        return False
    return True


async def move_addresses(store: Store) -> AsyncIterator[Progress]:
    """Move every row to the normal form. Where another account has it, both stay as they are."""
    read = moved = 0
    async for row in store.each(EmailAddress.every()):
        moved += await move_address(store, row)
        read += 1
        if read % ROWS_AT_ONCE == 0:
            yield Progress(read, moved, None)
    yield Progress(read, moved, None)


def _forms(email: str) -> list[str]:
    """The normal form first; the former one after it, where it is another."""
    return list(dict.fromkeys([normal_email(email), former_normal_form(email)]))
