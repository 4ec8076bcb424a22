"""Invitations to places in the apps: a family, a library, an athlete's journal. One mechanism for all of them.

The holder of the secret can join, once. No account is looked up by a typed e-mail address, so it does not reveal who
has one. The person whose account has that address, verified, finds the invitation on their home page, and may use it in
place of the holder of the secret. A mere claim to the address opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from potluck.people.email_normal_form import is_unambiguous, normal_email
from potluck.people.entities import Account, Invitation, InvitationOfPlace, InvitationOfUser, InvitationToAddress
from potluck.people.errors import InvitationInvalid, OwnInvitation, TooMany
from potluck.people.secrets import SecretKind, hash_of, kind_of, new_id, new_secret
from potluck.store import Clock, Store
from potluck.table import Condition, Ref, WriteRefused, absent, delete, present, put, the, update
from potluck.table.operations import Operation

INVITATION_LASTS = timedelta(days=7)
INVITATIONS_OF_PLACE = 100
# Anyone may type anyone's address: what others typed must not slow a home page down.
INVITATIONS_READ = 50
# What the person with the verified address shows in place of a secret: it begins like this, and the id follows.
ADDRESSED = "addressed:"

# The operator invites people to Potluck itself: to register, where that needs an invitation, but to no place in an app.
# The first person cannot be invited by anyone else, and an operator need not have an account.
POTLUCK = "potluck"
NEWCOMER = "newcomer"
OPERATOR = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeInvitation:
    """A new invitation with its secret, which is shown only once."""

    invitation_id: UUID
    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What an invitation is to, and the operations that use it up, for the transaction in which the person joins.

    Of several such transactions at once, one succeeds; `refused` tells whether another failed because of that.
    """

    invitation: InvitationOfPlace
    operations: tuple[Operation, ...]

    def refused(self, refusal: WriteRefused) -> bool:
        """Whether the transaction was refused because of the invitation."""
        return any(refusal.operation is operation for operation in self.operations)


class InvitationRows:
    """Prepares, shows, uses up and withdraws invitations. Who may do so is decided by the app."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def prepare(
        self, app: str, place: str, role: str, invited_by: UUID, email: str | None = None
    ) -> tuple[MadeInvitation, list[Operation]]:
        """A new invitation, and the operations that create it, for the caller's own transaction."""
        if await self._store.count(InvitationOfPlace.all_of_place(app, place)) >= INVITATIONS_OF_PLACE:
            raise TooMany("open invitations", INVITATIONS_OF_PLACE)
        secret = new_secret(SecretKind.INVITATION)
        invitation_id, hash = new_id(), hash_of(secret)
        now = self._clock().replace(microsecond=0)
        expires_at = now + INVITATION_LASTS
        ttl = int(expires_at.timestamp())
        by_secret = Invitation(
            hash=hash,
            invitation_id=invitation_id,
            app=app,
            place=place,
            role=role,
            invited_by=invited_by,
            created_at=now,
            ttl=ttl,
        )
        of_place = InvitationOfPlace(
            invitation_id=invitation_id,
            hash=hash,
            app=app,
            place=place,
            role=role,
            email=email,
            invited_by=invited_by,
            created_at=now,
            ttl=ttl,
        )
        writes: list[Operation] = [put(by_secret, when=absent), put(of_place, when=absent)]
        if invited_by != OPERATOR:
            of_user = InvitationOfUser(
                user_id=invited_by, invitation_id=invitation_id, hash=hash, app=app, place=place, email=email, ttl=ttl
            )
            writes.append(put(of_user, when=absent))
        # An address that another mailbox might be mistaken for is a note only.
        if email is not None and is_unambiguous(email):
            to_address = InvitationToAddress(
                folded=normal_email(email), invitation_id=invitation_id, hash=hash, created_at=now, ttl=ttl
            )
            writes.append(put(to_address, when=absent))
        return MadeInvitation(invitation_id=invitation_id, secret=secret, expires_at=expires_at), writes

    async def look(self, secret: str, user_id: UUID | None = None) -> Invitation:
        """What it invites to, by one consistent read; this does not use it up.

        With the person who asks, also by the text that `addressed_to` gives for an invitation to their own address.
        """
        if user_id is None or not secret.startswith(ADDRESSED):
            return await _valid(self._store, secret)
        row = await self._store.get(await self._addressed(secret, user_id))
        invitation = None if row is None else await self._store.get(Invitation.by_hash(row.hash))
        if invitation is None:
            raise InvitationInvalid
        return invitation

    async def addressed_to(self, user_id: UUID, most: int) -> list[tuple[str, Invitation]]:
        """Invitations to the person's verified address, latest first, each with what they send in place of a secret."""
        account = await self._store.get(Account.by_id(user_id))
        if account is None or not _is_proven(account):
            return []
        query = InvitationToAddress.all_to(normal_email(account.email))
        rows = (await self._store.page(query, INVITATIONS_READ)).items
        latest = sorted(rows, key=lambda row: (row.created_at, row.invitation_id), reverse=True)[:most]
        invitations = await self._store.get_many([Invitation.by_hash(row.hash) for row in latest])
        return [
            (f"{ADDRESSED}{invitation.invitation_id}", invitation)
            for invitation in invitations
            if invitation is not None and invitation.invited_by != user_id and invitation.claimed_by in (None, user_id)
        ]

    async def declining(self, text: str, user_id: UUID) -> Operation:
        """Removes an invitation from the home page of the person it is addressed to. Its link stays valid."""
        return delete(await self._addressed(text, user_id), when=present)

    async def _addressed(self, text: str, user_id: UUID) -> Ref[InvitationToAddress]:
        """The row of an invitation to this person; InvitationInvalid for anyone whose address is not verified."""
        account = await self._store.get(Account.by_id(user_id))
        try:
            invitation_id = UUID(text.removeprefix(ADDRESSED))
        except ValueError:
            raise InvitationInvalid from None
        if account is None or not _is_proven(account):
            raise InvitationInvalid
        return InvitationToAddress.by_id(normal_email(account.email), invitation_id)

    async def inviter(self, invitation: Invitation) -> str | None:
        """The name of the person who invites; None for the operator, or if their account is gone."""
        account = await self._store.get(Account.by_id(invitation.invited_by))
        return None if account is None else account.name

    async def open(self, secret: str, user_id: UUID) -> Acceptance:
        """What it invites this person to, and the operations for the transaction in which they join.

        OwnInvitation if they made it themselves: joining by it would use it up for the person it is for.
        """
        by_secret = await self.look(secret, user_id)
        if by_secret.invited_by == user_id:
            raise OwnInvitation
        if by_secret.claimed_by not in (None, user_id) or by_secret.app == POTLUCK:
            raise InvitationInvalid
        of_place = InvitationOfPlace.by_id(by_secret.app, by_secret.place, by_secret.invitation_id)
        invitation = await self._store.get(of_place)
        if invitation is None:
            raise InvitationInvalid
        using_up = (
            delete(Invitation.by_hash(invitation.hash), when=_unclaimed() | (the(Invitation.claimed_by) == user_id)),
            delete(of_place),
            delete(InvitationOfUser.by_id(invitation.invited_by, invitation.invitation_id)),
            *_at_address(invitation),
        )
        return Acceptance(invitation, using_up)

    async def of_place(self, app: str, place: str) -> list[InvitationOfPlace]:
        """Who has been invited and has not joined yet, the latest first."""
        invitations = await self._store.all(InvitationOfPlace.all_of_place(app, place))
        return sorted(
            invitations, key=lambda invitation: (invitation.created_at, invitation.invitation_id), reverse=True
        )

    async def withdraw_all(self, app: str, place: str) -> None:
        """Withdraw every invitation to a place, as when it is deleted."""
        invitations = await self._store.all(InvitationOfPlace.all_of_place(app, place))
        await self._store.write_each(row for invitation in invitations for row in withdrawing(invitation))

    async def withdraw_those_by(self, app: str, place: str, invited_by: UUID) -> None:
        """Withdraw the invitations of someone who may not invite to the place any more."""
        invitations = await self._store.all(InvitationOfPlace.all_of_place(app, place))
        theirs = [invitation for invitation in invitations if invitation.invited_by == invited_by]
        await self._store.write_each(row for invitation in theirs for row in withdrawing(invitation))


def withdrawing(invitation: InvitationOfPlace | InvitationOfUser, when: Condition | None = None) -> Iterable[Operation]:
    """Deletes an invitation: all of its rows."""
    by = invitation.invited_by if isinstance(invitation, InvitationOfPlace) else invitation.user_id
    return [
        delete(Invitation.by_hash(invitation.hash), when=when),
        delete(InvitationOfPlace.by_id(invitation.app, invitation.place, invitation.invitation_id)),
        delete(InvitationOfUser.by_id(by, invitation.invitation_id)),
        *_at_address(invitation),
    ]


def _is_proven(account: Account) -> bool:
    return account.email_verified and is_unambiguous(account.email)


def _at_address(invitation: InvitationOfPlace | InvitationOfUser) -> list[Operation]:
    if invitation.email is None:
        return []
    return [delete(InvitationToAddress.by_id(normal_email(invitation.email), invitation.invitation_id))]


async def claiming(store: Store, secret: str, user_id: UUID) -> list[Operation]:
    """Operations that reserve an invitation for this person, for the transaction in which they register with it.

    An invitation by the operator is used up: there is no place to join afterwards.
    """
    invitation = await _valid(store, secret)
    row = Invitation.by_hash(invitation.hash)
    if invitation.app == POTLUCK:
        of_place = InvitationOfPlace.by_id(POTLUCK, POTLUCK, invitation.invitation_id)
        return [delete(row, when=present), delete(of_place)]
    return [update(row, the(Invitation.claimed_by).becomes(user_id), when=_unclaimed())]


def _unclaimed() -> Condition:
    return the(Invitation.claimed_by).is_none()


async def _valid(store: Store, secret: str) -> Invitation:
    invitation = None
    if kind_of(secret) is SecretKind.INVITATION:
        invitation = await store.get(Invitation.by_hash(hash_of(secret)))
    if invitation is None:
        raise InvitationInvalid
    return invitation
