"""The writes of a place: made, joined, left and deleted, with as many managers and members as it counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from potluck.people.entities import Account, InvitationOfPlace
from potluck.people.errors import InvitationInvalid, TooMany
from potluck.table import (
    Condition,
    OutcomeUnknown,
    Query,
    Ref,
    Unavailable,
    WriteRefused,
    absent,
    check,
    delete,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from potluck.web.access import SignedIn
from potluck.web.entity_fields import DeclarationError, is_looser
from potluck.web.errors import NotFound, ProblemError
from potluck.web.invitations import Invitations
from potluck.web.places.access import InPlace, OwnPlaces, a
from potluck.web.places.rows import MemberRow, PlaceRow
from potluck.web.translation import _
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

if TYPE_CHECKING:
    from potluck.store import Store

P = TypeVar("P", bound=PlaceRow)
M = TypeVar("M", bound=MemberRow)

# Deleting a place removes all of them in one transaction.
MOST_MEMBERS = 50

Ended = Callable[[Any, UUID, datetime], Sequence[Operation]]
Leaving = Callable[[Any, Any], Awaitable[Condition | None]]


class LastManager(
    ProblemError,
    slug="last-manager",
    status=409,
    title=_("The last manager stays"),
    remedy=_("Give someone else that role first, or delete it."),
):
    """A place always has someone who manages it. This would have removed the last one, so it was not done."""


class PlaceWrites(Generic[P, M]):
    """One kind of place, the rows of its members, and the writes that keep both consistent."""

    def __init__(
        self,
        app: str,
        place: type[P],
        access: type[InPlace[M]],
        manager: type[InPlace[M]],
        *,
        members: Callable[[UUID], Query[M]],
        places: Callable[[UUID], Query[M]],
        own: Callable[[UUID], Query[M]] | None,
        last_manager: type[ProblemError],
        ended: Ended,
        most_members: int,
        word: str,
    ) -> None:
        # Typed as Any where their ids count, which every app names otherwise.
        rows: Any = (place, access.entity)
        self.app, self.invitations = app, Invitations(app)
        self.place, self.member = rows
        self.access, self.manager = access, manager
        self.members, self.places, self.own_places = members, places, own or places
        self.last_manager, self.ended, self.most_members = last_manager, ended, most_members
        (self.id,) = self.place.by_id.__self__.names
        self.own_id = access.own_parameter
        self.noun = self.id.removesuffix("_id")
        self.word = word or self.noun
        """What pages call it."""
        self.roles: tuple[str, ...] = plan_of(self.member).fields["role"].choices
        self.managing = manager.roles
        _must_fit(self.member, self.roles, self.managing)
        self.active = the(self.member.status) == "active"
        self.joined = msgspec.defstruct("Joined", [(self.id, UUID)], rename="camel", frozen=True, kw_only=True)

    def id_of(self, row: P | M) -> UUID:
        place_id: UUID = getattr(row, self.id)
        return place_id

    def at_id(self, at: InPlace[M]) -> UUID:
        """The id of the place in the path."""
        place_id: UUID = getattr(at, self.id)
        return place_id

    def member_ref(self, place_id: UUID, user_id: UUID) -> Ref[M]:
        ref: Ref[M] = self.member.by_id(**{self.id: place_id, self.own_id: user_id})
        return ref

    def manages(self, member: M) -> bool:
        return member.role in self.managing

    # --- the place ----------------------------------------------------------------------------------------------------

    async def founding(self, at: OwnPlaces, place: P) -> Writes[P]:
        """Create a place whose first manager is the caller."""
        account = await at.own_account()
        member = self._new_member(account, self.id_of(place), self.managing[0], at.now)
        at.memberships = {self.id_of(place): member}
        # The form that chose its id was sent twice at once: the rule looks again.
        return Writes(place, or_retry(put(place, when=absent)), or_retry(put(member, when=absent)))

    async def of_person(self, store: Store, user_id: UUID) -> list[tuple[P, M]]:
        """The places that a person is in, each with their member row.

        The index may miss a new one at first; one they left is never listed.
        """
        indexed = await store.all(self.own_places(user_id))
        ids = [self.id_of(row) for row in indexed if row.status == "active"]
        refs = [ref for place_id in ids for ref in (self.member_ref(place_id, user_id), self.place.by_id(place_id))]
        rows: list[Any] = await store.get_many(refs)
        return [
            (place, member)
            for member, place in zip(rows[::2], rows[1::2], strict=True)
            if member is not None and member.status == "active" and place is not None
        ]

    async def deleting(self, at: InPlace[M], place: P) -> Writes[None]:
        """Delete the place and remove all its members, at once."""
        writes = await self.deletion_writes(at.store, place, at.principal.user_id, at.now)
        # Retried if someone joins, leaves or renames it meanwhile.
        return Writes(
            None, *map(or_retry, writes), after=lambda: self.invitations.withdraw_all(at, str(self.id_of(place)))
        )

    async def deletion_writes(self, store: Store, place: P, by: UUID, now: datetime) -> list[Operation]:
        """The writes that remove every member and delete the place; refused if anyone joins or leaves meanwhile."""
        members = [row for row in await store.all(self.members(self.id_of(place))) if row.status == "active"]
        return [
            *(delete(row, when=self.active) for row in members),
            delete(place, when=the(self.place.member_count) == len(members)),
            *self.ended(place, by, now),
        ]

    # --- its members --------------------------------------------------------------------------------------------------

    def changing_role(self, at: InPlace[M], member: M, role: str) -> Writes[M]:
        """Give a member another role; the last manager stays one."""
        if member.role == role:
            return Writes(member)
        after, write = at.edit(member, the(self.member.role).becomes(role), when=self.active)
        change = int(role in self.managing) - int(self.manages(member))
        counting = [self._counting(self.id_of(member), managers=change)] if change else []
        return Writes(after, write, *counting, after=self._withdrawal(at, member) if change < 0 else None)

    def removing(self, at: InPlace[M], member: M, when: Condition | None = None) -> Writes[None]:
        """Remove a member, or let one leave; the last manager stays. If `when` no longer holds, the rule runs again."""
        condition = self.active if when is None else self.active & when
        _, write = at.edit(member, the(self.member.status).becomes("removed"), when=condition)
        counting = self._counting(self.id_of(member), managers=-int(self.manages(member)), members=-1)
        after = self._withdrawal(at, member) if self.manages(member) else None
        return Writes(None, write, counting, after=after)

    def _withdrawal(self, at: InPlace[M], member: M) -> Callable[[], Awaitable[None]]:
        """Withdraws the invitations of someone who no longer manages the place. They are invalid already."""

        async def withdraw() -> None:
            with suppress(Unavailable, OutcomeUnknown):
                by: UUID = getattr(member, self.own_id)
                await at.core.people.invitations.withdraw_those_by(self.app, str(self.id_of(member)), by)

        return withdraw

    def _counting(self, place_id: UUID, *, managers: int = 0, members: int = 0) -> Outcome:
        async def refused(refusal: WriteRefused) -> ProblemError:
            return NotFound() if refusal.current is None else self.last_manager()

        return or_raise(self.counted(place_id, managers=managers, members=members), refused)

    def counted(self, place_id: UUID, *, managers: int = 0, members: int = 0) -> Operation:
        """The update of the place's counts; refused if no manager would be left, or too many members."""
        changes = []
        when = None
        if managers:
            changes.append(the(self.place.manager_count).add(managers))
        if members:
            changes.append(the(self.place.member_count).add(members))
        if managers < 0:
            when = the(self.place.manager_count) > 1
        if members > 0:
            when = the(self.place.member_count) < self.most_members
        return update(self.place.by_id(place_id), *changes, when=when)

    # --- joining ------------------------------------------------------------------------------------------------------

    async def valid_invitations(self, at: InPlace[M]) -> list[InvitationOfPlace]:
        """The open invitations, without those whose maker no longer manages the place, which are invalid."""
        place_id = self.at_id(at)
        invitations = await self.invitations.of_place(at, str(place_id))
        rows = await at.store.all(self.members(place_id)) if invitations else []
        managers = {getattr(row, self.own_id) for row in rows if row.status == "active" and self.manages(row)}
        return [invitation for invitation in invitations if invitation.invited_by in managers]

    async def join(self, at: SignedIn, invitation: InvitationOfPlace) -> Writes[Struct] | None:
        """Make the caller a member, unless they are one.

        It is invalid once its maker no longer manages the place: else one who was removed could let themselves back in.
        """
        place_id, user_id = UUID(invitation.place), at.principal.user_id
        own, inviting = self.member_ref(place_id, user_id), self.member_ref(place_id, invitation.invited_by)
        rows: tuple[Any, ...] = await at.store.get_together(own, inviting, Account.by_id(user_id))
        before, inviter, account = *rows[:2], at.own_account_as_read(rows[2])
        invited = inviter is not None and inviter.status == "active" and self.manages(inviter)
        if not invited or invitation.role not in self.roles:
            return None
        answer: Struct = self.joined(**{self.id: place_id})
        if before is not None and before.status == "active":
            return Writes(answer)
        managing = the(self.member.role).among(*self.managing)
        counting = self.counted(place_id, managers=int(invitation.role in self.managing), members=1)

        async def refused(refusal: WriteRefused) -> Exception:
            full = TooMany(f"members in {a(self.noun)}", self.most_members)
            return InvitationInvalid() if refusal.current is None else full

        return Writes(
            answer,
            or_raise(check(inviting, when=self.active & managing), InvitationInvalid),
            or_retry(self._joining(before, account, place_id, invitation.role, at.now)),
            or_raise(counting, refused),
        )

    def _joining(self, before: M | None, account: Account, place_id: UUID, role: str, now: datetime) -> Operation:
        """The write that makes the person an active member, also if they were one before."""
        if before is None:
            return put(self._new_member(account, place_id, role, now), when=absent)
        member = self.member
        return update(
            before,
            the(member.status).becomes("active"),
            the(member.role).becomes(role),
            the(member.name).becomes(account.name),
            the(member.email).becomes(account.email),
            the(member.updated_at).becomes(now),
        )

    def _new_member(self, account: Account, place_id: UUID, role: str, now: datetime) -> M:
        member: M = self.member(
            **{self.id: place_id, self.own_id: account.user_id},
            name=account.name,
            email=account.email,
            role=role,
            created_at=now,
            updated_at=now,
        )
        return member


def _must_fit(member: Any, roles: Sequence[str], managing: Sequence[str]) -> None:
    """A DeclarationError for a member row that cannot have what a place keeps there."""
    fields = plan_of(member).fields
    for name in ("name", "email"):
        account = plan_of(Account).fields[name]
        if is_looser(account.annotation, fields[name]):
            raise DeclarationError(
                f"{fields[name].where}: it is copied from an account, whose {name} has other bounds;"
                f" write potluck.people.fields.{name.capitalize()}"
            )
    if not roles:
        raise DeclarationError(f'{fields["role"].where}: name the roles: `role: Literal["admin", "member"]`')
    if not managing or not set(managing) <= set(roles):
        raise DeclarationError(
            f"{member.__name__}: say which of {', '.join(roles)} manages the place: `class HomeAdmin(InHome, role=...)`"
        )
