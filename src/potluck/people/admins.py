"""Admins: who becomes one with the first account, and how many there are, so that the last one stays.

The number of admins is a row of its own. It changes in the transaction that makes someone an admin or no longer one,
and the condition on it is what keeps the last: of two admins who give it up at once, one is refused.
"""

from dataclasses import dataclass

from potluck.people.entities import Account, Administration, SecretCheck, Status
from potluck.settings import Registration
from potluck.store import Store
from potluck.table import absent, put, the, update, upsert
from potluck.table.operations import Operation


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a new account begins as, and the operations that its transaction needs for that.

    If one of them is refused, someone else was first: ask again.
    """

    status: Status
    admin: bool
    operations: tuple[Operation, ...] = ()


async def arrival(store: Store, registration: Registration) -> Arrival:
    """What the next account begins as. The first account of a store is an admin's, and waits for no approval."""
    status: Status = "waiting" if registration == "approval" else "active"
    if await store.get(Administration.of_store()) is not None:
        return Arrival(status, admin=False)
    # In a store from before there were admins, no one becomes one by coming next.
    made = await store.get(SecretCheck.of_store())
    first = made is not None and made.has_admins
    recorded = put(Administration(admins=1 if first else 0), when=absent)
    return Arrival("active" if first else status, first, (recorded,))


def counts_as_admin(account: Account) -> bool:
    """Whether the account is among the admins that are counted."""
    return account.admin and account.status == "active"


def one_more() -> Operation:
    """Counts a new admin."""
    return upsert(Administration.of_store(), the(Administration.admins).add(1))


def one_less(*, last_may_go: bool = False) -> Operation:
    """Counts an admin who goes; unless the operator decides, it is refused for the last one."""
    admins = the(Administration.admins)
    return update(Administration.of_store(), admins.add(-1), when=None if last_may_go else admins > 1)
