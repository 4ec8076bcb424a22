"""Who may: membership is read from the table for every call, and checked again by every write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.errors import NothingThere, OnlyAdmins
from potluck.people.authentication import Principal
from potluck.store import Store as Rows
from potluck.table import Condition, Ref, WriteRefused, check, the
from potluck.table.operations import Operation

__all__ = ["Membership", "Standing", "allowed"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A caller who was found to be in a family, and whether what they ask for takes an admin."""

    member: Member
    admin: bool = False

    @property
    def condition(self) -> Condition:
        """That it is still so, for the write that decides."""
        active = the(Member.status) == "active"
        return active & (the(Member.role) == "admin") if self.admin else active

    @property
    def ref(self) -> Ref[Member]:
        return Member.by_id(self.member.family_id, self.member.member_id)

    def lost(self, refusal: WriteRefused) -> NothingThere | OnlyAdmins:
        """What the caller is told when their own row refused the write."""
        now = refusal.current
        return OnlyAdmins() if isinstance(now, Member) and now.status == "active" else NothingThere()


class Membership:
    """Looks up callers, and writes what they may write."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def of(self, caller: Principal, family_id: UUID, *, admin: bool = False) -> Standing:
        """The caller in this family; NothingThere, as for a family that never was, OnlyAdmins for a mere member."""
        return allowed(await self._rows.get(Member.by_id(family_id, caller.user_id)), admin=admin)

    async def beside(
        self, caller: Principal, family_id: UUID, refs: Sequence[Ref[Any]], *, admin: bool = False
    ) -> tuple[Standing, list[Any]]:
        """The same by one request with other rows of the family, which nobody else gets to see."""
        own, *found = await self._rows.get_many([Member.by_id(family_id, caller.user_id), *refs])
        return allowed(own, admin=admin), found

    async def transact(self, standing: Standing, *operations: Operation) -> None:
        """All of it, if the caller is still who they were; what else is refused is the caller's of this to explain."""
        # First, so that one who is out is told nothing of what the other rows hold.
        still_in = check(standing.ref, when=standing.condition)
        try:
            await self._rows.transact(still_in, *operations)
        except WriteRefused as refusal:
            if refusal.operation is still_in:
                raise standing.lost(refusal) from refusal
            raise


def allowed(member: Member | None, *, admin: bool = False) -> Standing:
    """The standing of whoever has this row, if they may."""
    if member is None or member.status != "active":
        raise NothingThere
    if admin and member.role != "admin":
        raise OnlyAdmins
    return Standing(member, admin)
