"""What the operator and the apps do about people, on a core."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from potluck.people.entities import Account
from potluck.people.errors import AccountGone
from potluck.people.invitations import MadeInvitation
from potluck.table import NotFound, check, present
from potluck.validation.decoding import decode_tree
from potluck.web.app import Core
from potluck.web.direct_calls import Direct
from potluck.web.inputs import Input
from potluck.web.people import PeopleApp
from potluck.web.people.access import AddressOnly
from potluck.web.people.invitations import invite_newcomer as invite_newcomer_rule
from potluck.web.people.password_resets import issue_reset as issue_reset_rule

__all__ = ["invite", "invite_newcomer", "issue_reset", "operator_does"]


async def issue_reset(core: Core, email: str) -> str:
    """The secret of a password reset."""
    sent = decode_tree(AddressOnly, {"email": email})
    secret: str = await Direct(core, PeopleApp.subjects).do(issue_reset_rule, None, sent)
    return secret


async def operator_does(core: Core, rule: Callable[..., Any], input: Input) -> Any:
    """What a rule answers the operator."""
    return await Direct(core, PeopleApp.subjects, PeopleApp(core, []).context).do(rule, None, input)


async def invite_newcomer(core: Core) -> str:
    """The secret of an invitation to register."""
    secret: str = await Direct(core, PeopleApp.subjects).do(invite_newcomer_rule, None)
    return secret


async def invite(core: Core, app: str, place: str, role: str, by: UUID, email: str | None = None) -> MadeInvitation:
    """An invitation to a place, as an app makes it."""
    made, writes = await core.people.invitations.prepare(app, place, role, by, email)
    try:
        await core.store.transact(check(Account.by_id(by), when=present), *writes)
    except NotFound as refusal:
        raise AccountGone from refusal
    return made
