"""Looking after people: admins, and the operator at the command line, list, approve, disable and delete accounts.

What is here changes accounts only. It shows nothing that people keep in the apps, nor the names of their places.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from potluck.people.admins import counts_as_admin, one_less, one_more
from potluck.people.email_addresses import account_with
from potluck.people.entities import Account, Status
from potluck.people.errors import (
    AccountGone,
    ConfirmationNeeded,
    OnlyAdmin,
    OthersNeedThem,
    PasswordsOff,
    Throttled,
    WrongPassword,
    WrongStatus,
)
from potluck.people.fields import LONGEST_EMAIL, AnyPassword, Email
from potluck.store import Store
from potluck.table import Change, Condition, StartsWith, the
from potluck.validation.field_types import Text
from potluck.web.access import Access
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.pagination import OwnPages
from potluck.web.people.access import Admin, Operator, address_in
from potluck.web.people.accounts import PEOPLE, deleting_account
from potluck.web.people.context import PeopleContext
from potluck.web.people.password_resets import ResetMade, new_reset
from potluck.web.translation import _
from potluck.web.views import View
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

WAITING = _("The account is waiting for approval: approve or decline it")
NOT_WAITING = _("The account is not waiting for approval")
NOT_ACTIVE = _("The account is not active, and only an active account can be an admin’s")
YOUR_OWN = _("This is your own account: delete it on your account page")

Decided = Literal["approve", "decline", "disable", "enable", "promote", "demote", "delete"]


class PersonView(View[Account]):
    user_id: UUID
    email: str
    name: str
    status: Status
    admin: bool
    created_at: datetime
    signed_in_at: datetime | None


class PeopleFilter(Input):
    status: Status = "active"
    q: Annotated[str, Text(0, LONGEST_EMAIL, kind="raw")] = ""
    """The beginning of a name, or a whole e-mail address."""


class AdminsPassword(Input):
    password: AnyPassword
    """The admin's own."""


class Decision(Input):
    email: Email
    decided: Decided


people = Actions(Admin, Account.by_id, PersonView, api="/people", page="/people", tag=PEOPLE)


@people.list(shows=PersonView)
def all_people(at: Admin, filter: PeopleFilter) -> OwnPages[PersonView]:
    """List accounts by name, all or of one status. `q` matches the beginning of a name, or a whole e-mail address."""
    return OwnPages(lambda limit, after: page_of_people(at, filter, limit, after))


async def page_of_people(
    at: Admin, filter: PeopleFilter, limit: int, after: Mapping[str, Any] | None
) -> tuple[list[PersonView], Mapping[str, Any] | None]:
    """A page of the list, and where the next one begins."""
    if "@" in filter.q:
        account_and_row = await account_with(at.store, address_in(filter.q))
        accounts = [] if account_and_row is None else [account_and_row[0]]
        following = None
    else:
        accounts, following = await _page_by_name(at.store, filter, limit, after)
    return await at.show(PersonView, [each for each in accounts if each.status == filter.status]), following


async def _page_by_name(
    store: Store, filter: PeopleFilter, limit: int, after: Mapping[str, Any] | None
) -> tuple[list[Account], Mapping[str, Any] | None]:
    query = Account.named(filter.status, StartsWith(filter.q)) if filter.q else Account.all_with_status(filter.status)
    page = await store.page(query, limit, after)
    # The index may lag: what is shown is read from the accounts.
    accounts = await store.get_many([Account.by_id(row.user_id) for row in page.items])
    return [account for account in accounts if account is not None], page.next


@people.read()
async def one_person(at: Admin, account: Account) -> Account:
    """Get an account."""
    return account


@people.action("POST", "/approve", WrongStatus)
async def approve(at: Admin, account: Account) -> Writes[Account]:
    """Approve a waiting account, so that the person can sign in."""
    return approving(at, account)


@people.action("POST", "/decline", WrongStatus, idempotent=False, frees_room=True)
async def decline(at: Admin, account: Account) -> Writes[None]:
    """Decline a waiting account. It is deleted, and its e-mail address can be used again."""
    return await declining(at, account)


@people.action("POST", "/disable", OnlyAdmin, WrongStatus, frees_room=True)
async def disable(at: Admin, account: Account) -> Writes[Account]:
    """Disable an account. Its sessions and API tokens stop working at once; its data is kept."""
    return disabling(at, account)


@people.action("POST", "/enable", WrongStatus, frees_room=True)
async def enable(at: Admin, account: Account) -> Writes[Account]:
    """Enable a disabled account. Its earlier sessions and API tokens work again."""
    return enabling(at, account)


@people.action("POST", "/promote", WrongStatus)
async def promote(at: Admin, account: Account) -> Writes[Account]:
    """Make someone an admin."""
    return promoting(at, account)


@people.action("POST", "/demote", OnlyAdmin)
async def demote(at: Admin, account: Account) -> Writes[Account]:
    """Remove someone's admin role, or your own. The last admin keeps it."""
    return demoting(at, account)


@people.action("POST", "/reset", WrongPassword, ConfirmationNeeded, PasswordsOff, WrongStatus, Throttled, secret=True)
async def reset_password(at: Admin, account: Account, confirmation: AdminsPassword) -> Writes[ResetMade]:
    """Create a link to set a new password, which works once within a day. Requires your password."""
    await at.confirmed(confirmation.password)
    if account.status == "waiting":
        raise WrongStatus(WAITING)
    return await new_reset(at, account.user_id)


@people.action(
    "POST", "/delete", WrongPassword, ConfirmationNeeded, OthersNeedThem, OnlyAdmin, WrongStatus, Throttled,
    idempotent=False, frees_room=True,
)  # fmt: skip
async def delete_person(at: Admin, account: Account, confirmation: AdminsPassword) -> Writes[None]:
    """Delete an account and everything that only it owns. Requires your password."""
    await at.confirmed(confirmation.password)
    if account.user_id == at.principal.user_id:
        raise WrongStatus(YOUR_OWN)
    return await _deleting(at, account)


@people.command()
async def decide(at: Operator, decision: Decision) -> Writes[Account] | Writes[None]:
    """What an admin may decide about an account, by its e-mail address; AccountGone if no account has it."""
    account_and_row = await account_with(at.store, decision.email)
    if account_and_row is None:
        raise AccountGone
    account = account_and_row[0]
    match decision.decided:
        case "approve":
            return approving(at, account)
        case "decline":
            return await declining(at, account)
        case "disable":
            return disabling(at, account)
        case "enable":
            return enabling(at, account)
        case "promote":
            return promoting(at, account)
        case "demote":
            return demoting(at, account)
        case "delete":
            return await _deleting(at, account)


# --- what each of these writes ----------------------------------------------------------------------------------------


def approving(at: Access, account: Account) -> Writes[Account]:
    if account.status == "disabled":
        raise WrongStatus(NOT_WAITING)
    return _changed(at, account, the(Account.status).becomes("active"), unless=account.status == "active")


async def declining(at: Access, account: Account) -> Writes[None]:
    if account.status != "waiting":
        raise WrongStatus(NOT_WAITING)
    return await deleting_account(at, account)


def disabling(at: Access, account: Account) -> Writes[Account]:
    if account.status == "waiting":
        raise WrongStatus(WAITING)
    fewer = [or_raise(one_less(last_may_go=isinstance(at, Operator)), OnlyAdmin)] if counts_as_admin(account) else []
    disabled = the(Account.status).becomes("disabled")
    return _changed(at, account, disabled, *fewer, unless=account.status == "disabled")


def enabling(at: Access, account: Account) -> Writes[Account]:
    if account.status == "waiting":
        raise WrongStatus(WAITING)
    more = [or_retry(one_more())] if account.admin else []
    return _changed(at, account, the(Account.status).becomes("active"), *more, unless=account.status == "active")


def promoting(at: Access, account: Account) -> Writes[Account]:
    if account.status != "active":
        raise WrongStatus(NOT_ACTIVE)
    return _changed(at, account, the(Account.admin).becomes(True), or_retry(one_more()), unless=account.admin)


def demoting(at: Access, account: Account) -> Writes[Account]:
    fewer = [or_raise(one_less(last_may_go=isinstance(at, Operator)), OnlyAdmin)] if counts_as_admin(account) else []
    return _changed(at, account, the(Account.admin).becomes(False), *fewer, unless=not account.admin)


async def _deleting(at: Access, account: Account) -> Writes[None]:
    context: PeopleContext = at.context
    places = await context.account_data.still_needed(account.user_id)
    if places:
        raise OthersNeedThem(len(places))
    return await deleting_account(at, account)


def _changed(at: Access, account: Account, change: Change, *others: Outcome, unless: bool) -> Writes[Account]:
    """The account with this change, and the writes; none if it is so already.

    The change relies on status and role as they were read, so that admins are counted right.
    """
    if unless:
        return Writes(account)
    after, write = at.edit(account, change, when=_as_read(account), keep_version=True)
    return Writes(after, or_retry(write), *others)


def _as_read(account: Account) -> Condition:
    return (the(Account.status) == account.status) & (the(Account.admin) == account.admin)
