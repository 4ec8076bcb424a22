"""Who is in a family: invited by an admin, in until they leave or are removed; one admin always stays."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.shopping.entities import Family, Member
from potluck.apps.shopping.errors import LastAdmin, NothingThere
from potluck.apps.shopping.membership import Membership, Standing
from potluck.apps.shopping.old_families import as_known
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.orphans import APP
from potluck.apps.shopping.turns import Again
from potluck.apps.shopping.validation import Id, checking
from potluck.apps.shopping.views import (
    InvitationShown,
    Joined,
    MemberShown,
    invitation_shown,
    member_shown,
)
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.entities import Account
from potluck.people.errors import AccountGone, InvitationInvalid, Stale, TooMany
from potluck.people.invitations import Invitations, MadeInvitation
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.table import OutcomeUnknown, Unavailable, WriteRefused, absent, check, put, the, update
from potluck.table.operations import Operation, Update

__all__ = ["MOST_MEMBERS", "Members", "losing"]

# One transaction lets all of them out when the family is deleted.
MOST_MEMBERS = 50

Role = Literal["admin", "member"]


class Members:
    """The people of families, and the invitations by which they come."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership, invitations: Invitations) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership
        self._invitations = invitations

    async def all(self, caller: Principal, family_id: Id) -> list[MemberShown]:
        """Who is in the family, by name."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
        await self._membership.of(caller, family)
        found = await self._rows.all(Member.all_of_family(family))
        return [member_shown(each) for each in sorted(found, key=by_name) if each.status == "active"]

    async def change_role(
        self,
        caller: Principal,
        family_id: Id,
        member_id: Id,
        version: int,
        *,
        role: Role,
        alongside: Alongside[MemberShown] = nothing_else,
    ) -> MemberShown:
        """An admin makes another one, or makes one a member again; LastAdmin if there would be none."""
        with checking() as fields:
            family, target = fields.id("familyId", family_id), fields.id("memberId", member_id)
            fields.version(version)
            fields.choice("role", role, "admin", "member")
        standing, member = await self._both(caller, family, target, admin=True)
        if member.version != version:
            raise Stale(member_shown(member))
        if member.role == role:
            return member_shown(member)
        now = self._now()
        answer = member_shown(replace(member, role=role, updated_at=now, version=version + 1))
        itself = target == caller.user_id
        changing = update(
            member,
            the(Member.role).becomes(role),
            the(Member.updated_at).becomes(now),
            when=standing.condition if itself else the(Member.status) == "active",
        )
        counting = counted(family, admins=1 if role == "admin" else -1)
        await self._transact(standing, itself, changing, counting, *alongside(answer))
        if member.role == "admin":
            await self._withdraw_those_by(family, target)
        return answer

    async def remove(
        self,
        caller: Principal,
        family_id: Id,
        member_id: Id,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        """An admin removes anyone, anyone leaves; LastAdmin for the last one, whoever else goes at the same time."""
        with checking() as fields:
            family, target = fields.id("familyId", family_id), fields.id("memberId", member_id)
            fields.version_or_none(version)
        itself = target == caller.user_id
        again = Again("removing a member", self._rows.patience)
        while True:
            standing, member = await self._both(caller, family, target, admin=not itself)
            if version is not None and member.version != version:
                raise Stale(member_shown(member))
            leaving = losing(member, self._now())
            try:
                await self._transact(standing, itself, *leaving, *alongside(None))
                break
            except Stale:
                # Their role or name changed meanwhile, and they are to go as whatever they are.
                await again.wait()
        if member.role == "admin":
            await self._withdraw_those_by(family, target)

    # --- invitations --------------------------------------------------------------------------------------------

    async def invite(
        self,
        caller: Principal,
        family_id: Id,
        role: Role,
        email: str | None = None,
        alongside: Alongside[MadeInvitation] = nothing_else,
    ) -> MadeInvitation:
        """A way in for whoever is given the secret. The write checks that the caller's account is there."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
            fields.choice("role", role, "admin", "member")
        standing = await self._membership.of(caller, family, admin=True)
        still_admin = check(standing.ref, when=standing.condition)
        try:
            return await self._invitations.make(
                APP, str(family), role, caller.user_id, email, lambda made: [still_admin, *alongside(made)]
            )
        except WriteRefused as refusal:
            if refusal.operation is still_admin:
                raise standing.lost(refusal) from refusal
            raise

    async def invitations(self, caller: Principal, family_id: Id) -> list[InvitationShown]:
        """Who has been invited and has not come yet, the latest first."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
        await self._membership.of(caller, family, admin=True)
        found = await self._invitations.of_place(APP, str(family))
        members = await self._rows.all(Member.all_of_family(family)) if found else []
        admins = {each.member_id for each in members if each.status == "active" and each.role == "admin"}
        return [invitation_shown(each) for each in found if each.invited_by in admins]

    async def withdraw(
        self, caller: Principal, family_id: Id, invitation_id: Id, alongside: Alongside[None] = nothing_else
    ) -> None:
        with checking() as fields:
            family, invitation = fields.id("familyId", family_id), fields.id("invitationId", invitation_id)
        standing = await self._membership.of(caller, family, admin=True)
        still_admin = check(standing.ref, when=standing.condition)
        try:
            await self._invitations.withdraw(
                APP, str(family), invitation, lambda nothing: [still_admin, *alongside(nothing)]
            )
        except WriteRefused as refusal:
            if refusal.operation is still_admin:
                raise standing.lost(refusal) from refusal
            raise

    async def accept(self, caller: Principal, token: str, alongside: Alongside[Joined] = nothing_else) -> Joined:
        """Come in, once for each invitation; who is in already uses nothing up. The write checks the account.

        It opens nothing once whoever invited is no admin any more: else one who was removed could let themselves in.
        """
        again = Again("accepting an invitation", self._rows.patience)
        while True:
            opened = await self._invitations.open(token, caller.user_id)
            if opened.invitation.app != APP:
                raise InvitationInvalid
            family_id = UUID(opened.invitation.place)
            inviting = Member.by_id(family_id, opened.invitation.invited_by)
            before, inviter, account = await self._rows.get_together(
                Member.by_id(family_id, caller.user_id), inviting, Account.by_id(caller.user_id)
            )
            if account is None:
                raise AccountGone
            if inviter is None or inviter.status != "active" or inviter.role != "admin":
                raise InvitationInvalid
            answer = Joined(family_id=family_id)
            if before is not None and before.status == "active":
                return answer
            role: Role = "admin" if opened.invitation.role == "admin" else "member"
            known = as_known(account)
            welcome = check(inviting, when=Standing(inviter, admin=True).condition)
            entering = self._entering(before, account, family_id, role)
            counting = counted(family_id, admins=int(role == "admin"), members=1)
            try:
                await self._rows.transact(*opened.operations, welcome, known, entering, counting, *alongside(answer))
                return answer
            except WriteRefused as refusal:
                if opened.refused(refusal) or refusal.operation is welcome:
                    raise InvitationInvalid from refusal
                if refusal.operation is counting:
                    if refusal.current is None:
                        raise InvitationInvalid from refusal
                    raise TooMany("members in a family", MOST_MEMBERS) from refusal
                if refusal.operation not in (known, entering):
                    raise
            await again.wait()

    async def _withdraw_those_by(self, family_id: UUID, member_id: UUID) -> None:
        """No invitation of somebody who is no admin any more. They open nothing already, so nothing depends on it."""
        try:
            await self._invitations.withdraw_those_by(APP, str(family_id), member_id)
        except (Unavailable, OutcomeUnknown):
            return

    def _entering(self, before: Member | None, account: Account, family_id: UUID, role: Role) -> Operation:
        """The person in the family, also if they have been in it before."""
        now = self._now()
        if before is None:
            member = Member(
                member_id=account.user_id,
                family_id=family_id,
                name=account.name,
                email=account.email,
                role=role,
                created_at=now,
                updated_at=now,
            )
            return put(member, when=absent)
        return update(
            before,
            the(Member.status).becomes("active"),
            the(Member.role).becomes(role),
            the(Member.name).becomes(account.name),
            the(Member.email).becomes(account.email),
            the(Member.updated_at).becomes(now),
        )

    # --- what these share ---------------------------------------------------------------------------------------

    async def _both(
        self, caller: Principal, family_id: UUID, member_id: UUID, *, admin: bool
    ) -> tuple[Standing, Member]:
        standing, (member,) = await self._membership.beside(
            caller, family_id, [Member.by_id(family_id, member_id)], admin=admin
        )
        if member is None or member.status != "active":
            raise NothingThere
        return standing, member

    async def _transact(
        self, standing: Standing, itself: bool, changing: Update, counting: Update, *others: Operation
    ) -> None:
        """Change a member and the family's numbers; where it is the caller's own row, that row says if they may."""
        try:
            if itself:
                await self._rows.transact(changing, counting, *others)
            else:
                await self._membership.transact(standing, changing, counting, *others)
        except WriteRefused as refusal:
            if refusal.operation is counting:
                raise (NothingThere() if refusal.current is None else LastAdmin()) from refusal
            if refusal.operation is not changing:
                raise
            current: Any = refusal.current
            if current is None or current.status != "active":
                raise NothingThere from refusal
            raise Stale(member_shown(current)) from refusal

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def losing(member: Member, now: datetime) -> tuple[Update, Update]:
    """Out of the family; the row stays, so that what they added is a former member's."""
    leaving = update(
        member,
        the(Member.status).becomes("removed"),
        the(Member.updated_at).becomes(now),
        when=the(Member.status) == "active",
    )
    return leaving, counted(member.family_id, admins=-int(member.role == "admin"), members=-1)


def counted(family_id: UUID, *, admins: int = 0, members: int = 0) -> Update:
    """How many there are then, of whom; refused if no admin would be left, or if there are too many."""
    changes = []
    when = None
    if admins:
        changes.append(the(Family.admin_count).add(admins))
    if members:
        changes.append(the(Family.member_count).add(members))
    if admins < 0:
        when = the(Family.admin_count) > 1
    if members > 0:
        when = the(Family.member_count) < MOST_MEMBERS
    return update(Family.by_id(family_id), *changes, when=when)
