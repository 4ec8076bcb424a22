"""Families: made by whoever becomes their first admin, seen by those who are in them, gone for all of them at once."""

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from potluck.apps.shopping.entities import Deletion, Family, Member
from potluck.apps.shopping.errors import NothingThere
from potluck.apps.shopping.membership import Membership, Standing, allowed
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.orphans import APP
from potluck.apps.shopping.turns import Again
from potluck.apps.shopping.validation import Id, checking
from potluck.apps.shopping.views import FamilyShown, family_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.entities import Account
from potluck.people.errors import AccountGone, Stale
from potluck.people.invitations import Invitations
from potluck.people.secrets import new_id
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.table import Ref, WriteRefused, absent, check, delete, put, the, update
from potluck.table.operations import Operation

__all__ = ["Families"]


class Families:
    """Every family, for those who are in it."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, invitations: Invitations) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._invitations = invitations

    async def create(
        self, caller: Principal, name: str, alongside: Alongside[FamilyShown] = nothing_else
    ) -> FamilyShown:
        """A new family with the caller as its admin. The write checks that their account is there."""
        with checking() as fields:
            name = fields.name(name)
        again = Again("making a family", self._rows.patience)
        while True:
            account = await self._rows.get(Account.by_id(caller.user_id))
            if account is None:
                raise AccountGone
            now = self._now()
            family = Family(family_id=new_id(), name=name, created_by=account.user_id, created_at=now, updated_at=now)
            member = Member(
                member_id=account.user_id,
                family_id=family.family_id,
                name=account.name,
                email=account.email,
                role="admin",
                created_at=now,
                updated_at=now,
            )
            answer = family_shown(family, member)
            known = as_known(account)
            try:
                await self._rows.transact(known, put(family, when=absent), put(member, when=absent), *alongside(answer))
                return answer
            except WriteRefused as refusal:
                if refusal.operation is not known:
                    raise
            # Called otherwise by now, or gone.
            await again.wait()

    async def all(self, caller: Principal) -> list[FamilyShown]:
        """The families that the caller is in, by name. An index may overlook one for a moment, but shows none."""
        found = await self._rows.all(Member.families_of(caller.user_id, "active"))
        refs: list[Ref[Any]] = []
        for each in found:
            refs += [Member.by_id(each.family_id, caller.user_id), Family.by_id(each.family_id)]
        rows = await self._rows.get_many(refs)
        shown = [
            family_shown(family, member)
            for member, family in zip(rows[::2], rows[1::2], strict=True)
            if member is not None and member.status == "active" and family is not None
        ]
        return sorted(shown, key=by_name)

    async def one(self, caller: Principal, family_id: Id) -> FamilyShown:
        with checking() as fields:
            which = fields.id("familyId", family_id)
        standing, family = await self._found(caller, which)
        return family_shown(family, standing.member)

    async def rename(
        self,
        caller: Principal,
        family_id: Id,
        version: int,
        *,
        name: str | UnsetType = UNSET,
        alongside: Alongside[FamilyShown] = nothing_else,
    ) -> FamilyShown:
        with checking() as fields:
            which = fields.id("familyId", family_id)
            fields.version(version)
            name = fields.name(name)
        standing, family = await self._found(caller, which, admin=True)
        if family.version != version:
            raise Stale(family_shown(family, standing.member))
        if isinstance(name, UnsetType) or family.name == name:
            return family_shown(family, standing.member)
        now = self._now()
        answer = family_shown(replace(family, name=name, updated_at=now, version=version + 1), standing.member)
        renaming = update(family, the(Family.name).becomes(name), the(Family.updated_at).becomes(now))
        try:
            await self._membership.transact(standing, renaming, *alongside(answer))
        except WriteRefused as refusal:
            if refusal.operation is not renaming:
                raise
            if refusal.current is None:
                raise NothingThere from refusal
            raise Stale(family_shown(refusal.current, standing.member)) from refusal
        return answer

    async def delete(
        self,
        caller: Principal,
        family_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        """Nobody is in it from this moment on; what it had is deleted after that, by the consumer."""
        with checking() as fields:
            which = fields.id("familyId", family_id)
            fields.version_or_none(version)
        again = Again("deleting a family", self._rows.patience)
        while True:
            standing, family = await self._found(caller, which, admin=True)
            if version is not None and family.version != version:
                raise Stale(family_shown(family, standing.member))
            writes = await self.ending(family, standing.member)
            try:
                await self._rows.transact(*writes, *alongside(None))
                break
            except WriteRefused as refusal:
                if not any(refusal.operation is each for each in writes):
                    raise
            # Somebody came, left or renamed it meanwhile.
            await again.wait()
        await self._invitations.withdraw_all(APP, str(which))

    async def ending(self, family: Family, by: Member) -> list[Operation]:
        """What lets everyone out and records that the family is gone; refused if anybody comes or goes meanwhile."""
        members = await self._rows.all(Member.all_of_family(family.family_id))
        active = [each for each in members if each.status == "active"]
        deletion = Deletion(
            family_id=family.family_id,
            what="family",
            gone_id=family.family_id,
            deleted_by=by.member_id,
            created_at=self._now(),
        )
        own = Standing(by, admin=True)
        return [
            *(
                delete(each, when=own.condition if each.member_id == by.member_id else the(Member.status) == "active")
                for each in active
            ),
            delete(family, when=the(Family.member_count) == len(active)),
            put(deletion),
        ]

    async def _found(self, caller: Principal, family_id: UUID, *, admin: bool = False) -> tuple[Standing, Family]:
        member, family = await self._rows.get_together(Member.by_id(family_id, caller.user_id), Family.by_id(family_id))
        standing = allowed(member, admin=admin)
        if family is None:
            raise NothingThere
        return standing, family

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def as_known(account: Account) -> Operation:
    """That the account is there, and still called as it was read: from then on, names follow."""
    return check(Account.by_id(account.user_id), when=the(Account.version).still(account.version))
