"""Names that follow: who is called otherwise, or has another address, is so in their families too."""

from potluck.apps.shopping.entities import Member
from potluck.engines import DynamoError
from potluck.people.entities import Account
from potluck.store import Store as Rows
from potluck.streams import Change, PositionLost
from potluck.table import NotFound, OutcomeUnknown, Unavailable, the
from potluck.table.entity import plan_of

__all__ = ["Following"]


class Following:
    """What the consumer of the accounts' stream does."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def handle(self, change: Change) -> None:
        plan = plan_of(Account)
        if change.kind != "MODIFY" or change.old is None or change.new is None or not plan.matches(change.new):
            return
        before, account = plan.coding.decode(change.old), plan.coding.decode(change.new)
        if (before.name, before.email) == (account.name, account.email):
            return
        try:
            for member in await self._rows.all(Member.every_family_of(account.user_id)):
                await self._follow(member, account)
        except (Unavailable, OutcomeUnknown) as error:
            # Whatever keeps the engine busy passes; the consumer then waits instead of giving up.
            raise DynamoError("ThrottlingException", str(error)) from error

    async def lost(self, lost: PositionLost) -> None:
        """A change of a name may have been missed; the next one is not, and whoever comes in is called as they are."""

    async def _follow(self, member: Member, account: Account) -> None:
        ref = Member.by_id(member.family_id, member.member_id)
        try:
            # Nobody changed the member: the version stays.
            await self._rows.update(
                ref, the(Member.name).becomes(account.name), the(Member.email).becomes(account.email), keep_version=True
            )
        except NotFound:
            return
