"""Places: what people share, such as a family: its members, their roles, and invitations to it.

    family_place = Place("shopping", Family, Member, members=Member.all_of_family, places=Member.every_family_of,
                         last_admin=LastAdmin)

The place counts its admins and members, so that it never loses its last admin and never has too many members. It has
`name`, `admin_count: Counter = 1`, `member_count: Counter = 1`. A member is found by the id of the place and that of
the account, and has `name`, `email`, `role` ("admin" or "member"), `status` ("active" or "removed") and a version. The
row of somebody who left stays, so that what they made is shown as a former member's.

The rules of the app say who may do what, and at which address; they return what the methods here make:

    @members.delete("", LastAdmin)
    async def remove_member(at: LeavingOrAdmin, member: Member) -> Writes[None]:
        \"\"\"Leave, or remove somebody.\"\"\"
        return family_place.remove(at, member)

`family_place.on(core)` has what the suite asks of an app: accept, place_name, still_needed, forget.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from potluck.people.authentication import Also, Principal, nothing_else
from potluck.people.entities import Account, InvitationOfPlace
from potluck.people.errors import AccountGone, InvitationInvalid, NoSuchInvitation, StillNeeded, TooMany
from potluck.people.invitations import withdrawing
from potluck.store.retries import attempts
from potluck.table import (
    Condition,
    Entity,
    NotFound,
    OutcomeUnknown,
    Query,
    Ref,
    Unavailable,
    WriteRefused,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from potluck.web.access import ByRow, SignedIn
from potluck.web.entity_fields import DeclarationError, is_looser
from potluck.web.errors import NotFound as NothingThere
from potluck.web.errors import ProblemError
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

if TYPE_CHECKING:
    from potluck.store import Store
    from potluck.web.app import Core

P = TypeVar("P", bound=Entity)
M = TypeVar("M", bound=Entity)

Role = Literal["admin", "member"]

# Deleting a place removes all of them in one transaction.
MOST_MEMBERS = 50


class OwnPlaces(SignedIn):
    """Someone who is signed in, with their member rows in the places that a rule found or made."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.memberships: dict[UUID, Any] = {}


class InvitationMade(Struct, rename="camel", frozen=True, kw_only=True):
    """A new invitation; its secret is shown only now."""

    id: UUID
    token: str
    url: str
    """A link to hand over; its secret stands after the #, where no server sees it."""
    expires_at: datetime


class InvitationView(View[InvitationOfPlace]):
    """An invitation that is open, without its secret."""

    @computed
    def id(invitation: InvitationOfPlace) -> UUID:
        return invitation.invitation_id

    role: str
    email: str | None
    invited_by: UUID
    created_at: datetime

    @computed
    def expires_at(invitation: InvitationOfPlace) -> datetime:
        return datetime.fromtimestamp(invitation.ttl, invitation.created_at.tzinfo)


def latest_first(invitation: InvitationView) -> tuple[Any, ...]:
    """The order of open invitations."""
    return -int(invitation.created_at.timestamp()), f"{2**128 - 1 - invitation.id.int:032x}"


class Place(Generic[P, M]):
    """The rules of one kind of place."""

    def __init__(
        self,
        app: str,
        place: type[P],
        member: type[M],
        *,
        members: Callable[[UUID], Query[M]],
        places: Callable[[UUID], Query[M]],
        own: Callable[[UUID], Query[M]] | None = None,
        last_admin: type[ProblemError],
        ended: Callable[[P, UUID, datetime], Sequence[Operation]] = lambda place, by, now: (),
        most_members: int = MOST_MEMBERS,
    ) -> None:
        """`members` finds the member rows of a place, former members included; `places` those of a person, places they
        left included; `own` only those of places they are in, if that is a query of its own.

        `ended(place, by, now)` gives what else is written when a place is deleted.
        """
        # Typed as Any: which fields they have is checked below, and mypy cannot know it.
        fields: Any = (place, member)
        self.app = app
        self.place, self.member = fields
        self.members = members
        self.places = places
        self.own_places = own or places
        self.last_admin = last_admin
        self.ended = ended
        self.most_members = most_members
        _require(place, "name", "admin_count", "member_count")
        _require(member, "name", "email", "role", "status", "created_at", "updated_at", "version")
        for name in ("name", "email"):
            account, copied = plan_of(Account).fields[name], plan_of(member).fields[name]
            if is_looser(account.annotation, copied):
                raise DeclarationError(
                    f"{copied.where}: it is copied from an account, whose {name} has other bounds;"
                    f" write potluck.people.fields.{name.capitalize()}"
                )
        (self.id,) = self.place.by_id.__self__.names
        (self.own_id,) = (name for name in self.member.by_id.__self__.names if name != self.id)
        self.active = the(self.member.status) == "active"
        self.is_admin = self.active & (the(self.member.role) == "admin")
        self.joined = msgspec.defstruct("Joined", [(self.id, UUID)], rename="camel", frozen=True, kw_only=True)

    def on(self, core: Core) -> PlacesInSuite[P, M]:
        """What the suite asks of the app about its places."""
        return PlacesInSuite(self, core)

    def member_ref(self, place_id: UUID, user_id: UUID) -> Ref[M]:
        found: Ref[M] = self.member.by_id(**{self.id: place_id, self.own_id: user_id})
        return found

    # --- the place ----------------------------------------------------------------------------------------------------

    async def make(self, at: OwnPlaces, place: P) -> Writes[P]:
        """A new place with the caller as its first admin."""
        account = await at.store.get(Account.by_id(at.principal.user_id))
        if account is None:
            raise AccountGone
        member = self._newcomer(account, self.id_of(place), "admin", at.now)
        at.memberships = {self.id_of(place): member}
        return Writes(place, or_retry(_as_read(account)), put(place, when=absent), put(member, when=absent))

    async def own(self, at: OwnPlaces) -> list[P]:
        """The places that the caller is in. The index may miss a new one at first; one they left is never listed."""
        found = await self.of_person(at.store, at.principal.user_id)
        at.memberships = {self.id_of(place): member for place, member in found}
        return [place for place, _ in found]

    async def of_person(self, store: Store, user_id: UUID) -> list[tuple[P, M]]:
        """The places that somebody is in, each with their member row."""
        known: list[Any] = await store.all(self.own_places(user_id))
        ids = [self.id_of(each) for each in known if each.status == "active"]
        refs = [ref for each in ids for ref in (self.member_ref(each, user_id), self.place.by_id(each))]
        found: list[Any] = await store.get_many(refs)
        return [
            (place, member)
            for member, place in zip(found[::2], found[1::2], strict=True)
            if member is not None and member.status == "active" and place is not None
        ]

    async def delete(self, at: ByRow[M], place: P) -> Writes[None]:
        """Delete the place and remove all its members, at once."""
        invitations = at.core.people.invitations
        writes = await self.ending(at.store, place, at.principal.user_id, at.now)
        # Retried if somebody joins, leaves or renames it meanwhile.
        return Writes(
            None, *map(or_retry, writes), after=lambda: invitations.withdraw_all(self.app, str(self.id_of(place)))
        )

    async def ending(self, store: Store, place: P, by: UUID, now: datetime) -> list[Operation]:
        """The writes that remove every member and delete the place; refused if anybody joins or leaves meanwhile."""
        members: list[Any] = await store.all(self.members(self.id_of(place)))
        active = [each for each in members if each.status == "active"]
        return [
            *(delete(each, when=self.active) for each in active),
            delete(place, when=the(self.place.member_count) == len(active)),
            *self.ended(place, by, now),
        ]

    # --- who is in it -------------------------------------------------------------------------------------------------

    def change_role(self, at: ByRow[M], member: M, role: Role) -> Writes[M]:
        """Make a member an admin, or an admin a member; the last admin stays one."""
        before: Any = member
        if before.role == role:
            return Writes(member)
        after, write = at.edit(member, the(self.member.role).becomes(role), when=self.active)
        counting = self._counting(self.id_of(member), admins=1 if role == "admin" else -1)
        return Writes(after, write, counting, after=self._withdrawal(at, before))

    def remove(
        self, at: ByRow[M], member: M, *others: Operation | Outcome, when: Condition | None = None
    ) -> Writes[None]:
        """Removes a member, or lets one leave; the last admin stays. `others` are written in the same transaction.

        `when` must still hold of the member's row when it is written, or the rule runs again.
        """
        before: Any = member
        condition = self.active if when is None else self.active & when
        _, write = at.edit(member, the(self.member.status).becomes("removed"), when=condition)
        counting = self._counting(self.id_of(member), admins=-int(before.role == "admin"), members=-1)
        return Writes(None, write, counting, *others, after=self._withdrawal(at, before))

    def _withdrawal(self, at: ByRow[M], before: Any) -> Callable[[], Awaitable[None]] | None:
        """Withdraws the invitations of somebody who is no longer an admin. They are invalid already."""

        async def withdraw() -> None:
            with suppress(Unavailable, OutcomeUnknown):
                await at.core.people.invitations.withdraw_those_by(
                    self.app, str(self.id_of(before)), getattr(before, self.own_id)
                )

        return withdraw if before.role == "admin" else None

    def _counting(self, place_id: UUID, *, admins: int = 0, members: int = 0) -> Outcome:
        async def refused(refusal: WriteRefused) -> ProblemError:
            return NothingThere() if refusal.current is None else self.last_admin()

        return or_raise(self.counted(place_id, admins=admins, members=members), refused)

    def counted(self, place_id: UUID, *, admins: int = 0, members: int = 0) -> Operation:
        """The update of the place's counts; refused if no admin would be left, or there would be too many members."""
        changes = []
        when = None
        if admins:
            changes.append(the(self.place.admin_count).add(admins))
        if members:
            changes.append(the(self.place.member_count).add(members))
        if admins < 0:
            when = the(self.place.admin_count) > 1
        if members > 0:
            when = the(self.place.member_count) < self.most_members
        return update(self.place.by_id(place_id), *changes, when=when)

    # --- invitations --------------------------------------------------------------------------------------------------

    async def invite(self, at: ByRow[M], role: Role, email: str | None = None) -> Writes[InvitationMade]:
        """Make an invitation, good for whoever has its secret."""
        invited_by = at.principal.user_id
        made, writes = await at.core.people.invitations.prepare(
            self.app, str(getattr(at, self.id)), role, invited_by, email
        )
        shown = InvitationMade(
            id=made.invitation_id,
            token=made.secret,
            url=f"{at.visitor.origin}/invitation#{made.secret}",
            expires_at=made.expires_at,
        )
        known = or_raise(check(Account.by_id(invited_by), when=present), AccountGone)
        return Writes(shown, known, *writes, made=made.invitation_id)

    async def invitations(self, at: ByRow[M]) -> list[InvitationOfPlace]:
        """The open invitations, without those whose maker is no longer an admin, which are invalid."""
        place_id = getattr(at, self.id)
        found = await at.core.people.invitations.of_place(self.app, str(place_id))
        members: list[Any] = await at.store.all(self.members(place_id)) if found else []
        admins = {getattr(each, self.own_id) for each in members if each.status == "active" and each.role == "admin"}
        return [each for each in found if each.invited_by in admins]

    async def withdraw(self, at: ByRow[M], invitation_id: UUID) -> Writes[None]:
        """Make an invitation invalid, at once."""
        found = await at.store.get(InvitationOfPlace.by_id(self.app, str(getattr(at, self.id)), invitation_id))
        if found is None:
            raise NoSuchInvitation
        # If somebody joins by it meanwhile, the retry does not find it.
        return Writes(None, *map(or_retry, withdrawing(found, when=present)))

    # --- what these share ---------------------------------------------------------------------------------------------

    def id_of(self, row: P | M) -> UUID:
        found: UUID = getattr(row, self.id)
        return found

    def _newcomer(self, account: Account, place_id: UUID, role: Role, now: datetime) -> M:
        made: M = self.member(
            **{self.id: place_id, self.own_id: account.user_id},
            name=account.name,
            email=account.email,
            role=role,
            created_at=now,
            updated_at=now,
        )
        return made

    def entering(self, before: M | None, account: Account, place_id: UUID, role: Role, now: datetime) -> Operation:
        """The write that makes the person an active member, also if they were one before."""
        if before is None:
            return put(self._newcomer(account, place_id, role, now), when=absent)
        member = self.member
        return update(
            before,
            the(member.status).becomes("active"),
            the(member.role).becomes(role),
            the(member.name).becomes(account.name),
            the(member.email).becomes(account.email),
            the(member.updated_at).becomes(now),
        )


def _require(entity: type[Entity], *names: str) -> None:
    missing = [name for name in names if name not in plan_of(entity).fields]
    if missing:
        raise DeclarationError(f"{entity.__name__} has no {', '.join(missing)}, which a place keeps there")


class PlacesInSuite(Generic[P, M]):
    """What the suite asks of an app with places: people join by invitation, change their name, delete their account."""

    def __init__(self, place: Place[P, M], core: Core) -> None:
        self._place = place
        self._rows = core.store
        self._clock = core.clock
        self._invitations = core.people.invitations

    async def accept(self, caller: Principal, secret: str, also: Also[Any] = nothing_else) -> Struct:
        """Join by an invitation, which uses it up, unless the caller is a member already. The write checks the account.

        It is invalid once its maker is no longer an admin: else an admin who was removed could let themselves back in.
        """
        place = self._place
        async for _ in attempts("accepting an invitation", self._rows.patience):
            opened = await self._invitations.open(secret, caller.user_id)
            if opened.invitation.app != place.app:
                raise InvitationInvalid
            place_id = UUID(opened.invitation.place)
            inviting = place.member_ref(place_id, opened.invitation.invited_by)
            own, account_ref = place.member_ref(place_id, caller.user_id), Account.by_id(caller.user_id)
            rows: tuple[Any, ...] = await self._rows.get_together(own, inviting, account_ref)
            before, inviter, account = rows
            if account is None:
                raise AccountGone
            if inviter is None or inviter.status != "active" or inviter.role != "admin":
                raise InvitationInvalid
            answer: Struct = place.joined(**{place.id: place_id})
            if before is not None and before.status == "active":
                return answer
            role: Role = "admin" if opened.invitation.role == "admin" else "member"
            welcome = check(inviting, when=place.is_admin)
            counting = place.counted(place_id, admins=int(role == "admin"), members=1)
            retried = (_as_read(account), place.entering(before, account, place_id, role, self._now()))
            try:
                await self._rows.transact(*opened.operations, welcome, *retried, counting, *also(answer))
                return answer
            except WriteRefused as refusal:
                if opened.refused(refusal) or refusal.operation is welcome:
                    raise InvitationInvalid from refusal
                if refusal.operation is counting:
                    if refusal.current is None:
                        raise InvitationInvalid from refusal
                    raise TooMany(f"members in a {place.place.__name__.lower()}", place.most_members) from refusal
                if not any(refusal.operation is each for each in retried):
                    raise
        raise AssertionError("attempts end by raising")

    async def place_name(self, place: str) -> str | None:
        """The name of the place of an invitation; None if it no longer exists."""
        found: Any = await self._rows.get(self._place.place.by_id(UUID(place)))
        return None if found is None else found.name

    async def memberships(self, user_id: UUID) -> list[M]:
        """The person's member rows in every place, those they left included, as the table itself has them."""
        found = await self._rows.all(self._place.places(user_id))
        rows = await self._rows.get_many([self._place.member_ref(self._place.id_of(each), user_id) for each in found])
        return [each for each in rows if each is not None]

    async def still_needed(self, user_id: UUID) -> list[str]:
        """The names of the places whose last admin they are."""
        needed = []
        members: list[Any] = await self.memberships(user_id)
        for each in members:
            if each.status == "active" and each.role == "admin":
                place: Any = await self._rows.get(self._place.place.by_id(self._place.id_of(each)))
                if place is not None and place.admin_count <= 1:
                    needed.append(place.name)
        return sorted(needed)

    async def forget(self, user_id: UUID) -> None:
        """Delete the person's rows in every place; a place with no other member is deleted with them."""
        for each in await self.memberships(user_id):
            await self._forget_in(self._place.id_of(each), user_id)

    async def _forget_in(self, place_id: UUID, user_id: UUID) -> None:
        refs = (self._place.member_ref(place_id, user_id), self._place.place.by_id(place_id))
        # After a conflict, everything is read again and decided anew.
        async for _ in attempts("forgetting a member", self._rows.patience):
            rows: tuple[Any, Any] = await self._rows.get_together(*refs)
            member, place = rows
            if member is None:
                return
            writes: list[Operation]
            if member.status == "removed" or place is None:
                writes = [delete(member)]
            elif place.member_count <= 1:
                writes = await self._place.ending(self._rows, place, user_id, self._now())
            elif member.role == "admin" and place.admin_count <= 1:
                raise StillNeeded([place.name])
            else:
                counting = self._place.counted(place_id, admins=-int(member.role == "admin"), members=-1)
                writes = [delete(member, when=present), counting]
            with suppress(WriteRefused):
                await self._rows.transact(*writes)
                return

    async def account_renamed(self, before: Account, account: Account) -> None:
        """Copy a person's new name or e-mail address to their member rows, for `App.account_renamed`."""
        member = self._place.member
        for each in await self._rows.all(self._place.places(account.user_id)):
            with suppress(NotFound):
                # Nobody edited the member, so its version stays.
                await self._rows.update(
                    self._place.member_ref(self._place.id_of(each), account.user_id),
                    the(member.name).becomes(account.name),
                    the(member.email).becomes(account.email),
                    keep_version=True,
                )

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)


def _as_read(account: Account) -> Operation:
    """A check that the account has not changed since it was read; later changes of its name follow by the stream."""
    return check(Account.by_id(account.user_id), when=the(Account.version).still(account.version))
