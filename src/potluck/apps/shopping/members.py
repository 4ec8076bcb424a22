"""A family's members: invited by an admin, in until they leave or are removed; one admin always stays."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from potluck.apps.shopping.access import AdminsOnly, FamilyAdmin, InFamily, LeavingOrAdmin
from potluck.apps.shopping.entities import Family, Member
from potluck.apps.shopping.families import (
    FAMILY,
    HOME,
    TAG,
    FamilyChange,
    FamilyView,
    LastAdmin,
    delete_family,
    families,
    families_of,
    family_place,
    frame_of,
    rename_family,
)
from potluck.apps.shopping.fields import InvitationId, Role
from potluck.apps.shopping.ordering import by_name
from potluck.people import EmailOrBlank, InvitationOfPlace, NoSuchInvitation, TooMany
from potluck.table import Query
from potluck.validation import FieldError
from potluck.web import (
    Actions,
    Edit,
    Input,
    InvitationMade,
    InvitationView,
    PageForm,
    Show,
    View,
    Writes,
    initials,
    latest_first,
)

MEMBERS = f"{FAMILY}/members"


class MemberView(View[Member]):
    """A person in the family."""

    member_id: UUID
    name: str
    email: str
    role: Role
    version: int


class RoleChange(Edit[Member]):
    role: Role


class NewInvitation(Input):
    role: Role
    email: EmailOrBlank | None = None
    """A note for the family's admins, not a restriction. Anyone with the secret can join, whatever their address:
    addresses are not verified here, so matching them would prove nothing."""


class SureToDelete(Input):
    """The confirmation checkbox for deleting everything a family has."""

    sure: bool = False

    @staticmethod
    def check(sent: "SureToDelete") -> Iterable[FieldError]:
        if not sent.sure:
            yield FieldError("sure", "Tick the box first: what the family has is then gone for everyone")


members = Actions(
    InFamily, Member.by_id, MemberView, api="/families/{family_id}/members", page=MEMBERS, tag=TAG,
    frame=frame_of("members"),
)  # fmt: skip
invitations = Actions(
    FamilyAdmin, None, InvitationView, api="/families/{family_id}/invitations", page=f"{FAMILY}/invitations", tag=TAG
)


# --- members ----------------------------------------------------------------------------------------------------------


@families.page("/members", "shopping/members.html")
async def members_page(at: InFamily, family: Family, show: Show) -> dict[str, Any]:
    """The family's members; for admins also its invitations and its settings."""
    people = sorted(
        await at.show(MemberView, [each for each in await at.store.all(all_members(at)) if at.sees(each)]), key=by_name
    )
    invited = await family_place.invitations(at) if at.row.role == "admin" else []
    naming = show.form(FamilyChange, family)
    inviting = show.form(NewInvitation, {"role": "member"})
    clash = show.clash if isinstance(show.clash, FamilyView) else None
    return {
        "members": [(each, initials(each.name)) for each in people],
        "admins": sum(each.role == "admin" for each in people),
        "families": await families_of(at),
        "invitations": await at.show(InvitationView, invited),
        "you": at.principal.user_id,
        "inviting": inviting,
        "naming": naming,
        "conflict": naming.conflict(clash, {"name": "Name"}),
        "made": show.done,
        "said": show.query.get("said", ""),
        "wrong": "" if naming.all_errors or inviting.all_errors or clash else str(show.refusal or ""),
    }


families.form("/name", then=f"{MEMBERS}?said=name", on=members_page)(rename_family)


@families.form("/delete", then=HOME, on=members_page, frees_room=True)
async def delete_by_page(at: FamilyAdmin, family: Family, sure: SureToDelete) -> Writes[None]:
    return await delete_family(at, family)


@members.list(order=by_name, live=True)
def all_members(at: InFamily) -> Query[Member]:
    """Who is in the family, by name."""
    return Member.all_of_family(at.family_id)


@members.change(LastAdmin, form=PageForm(path="/role", then=f"{MEMBERS}?said=role", on=members_page))
async def change_role(at: FamilyAdmin, member: Member, change: RoleChange) -> Writes[Member]:
    """Make a member an admin, or an admin a member. Admins may; the last one stays."""
    return family_place.change_role(at, member, change.role)


def after_removal(at: LeavingOrAdmin, _: None) -> str:
    return HOME if at.member_id == at.principal.user_id else f"{HOME}/{at.family_id}/members?said=removed"


@members.delete("", AdminsOnly, LastAdmin, form=PageForm(path="/remove", then=after_removal, on=members_page))
async def remove_member(at: LeavingOrAdmin, member: Member) -> Writes[None]:
    """Leave, or remove somebody. Admins remove, anyone leaves; the last admin stays."""
    return family_place.remove(at, member)


# --- invitations ------------------------------------------------------------------------------------------------------


class OfInvitation(FamilyAdmin):
    """An admin of the family, with one of its invitations in the path."""

    invitation_id: InvitationId


@invitations.create(TooMany, secret=True, form=PageForm(on=members_page))
async def invite(at: FamilyAdmin, new: NewInvitation) -> Writes[InvitationMade]:
    """Invite somebody: whoever is given the secret comes in, once. Admins may."""
    return await family_place.invite(at, new.role, new.email)


@invitations.list(order=latest_first)
async def open_invitations(at: FamilyAdmin) -> list[InvitationOfPlace]:
    """Who has been invited and has not come yet, the latest first. Admins may look."""
    return await family_place.invitations(at)


@invitations.delete("/{invitation_id}")
async def withdraw_invitation(at: OfInvitation) -> Writes[None]:
    """Withdraw an invitation: it opens nothing from now on. Admins may."""
    return await family_place.withdraw(at, at.invitation_id)


@invitations.form(
    "/{invitation_id}/withdraw", then=lambda at, said: f"{HOME}/{at.family_id}/members?said={said}", frees_room=True
)
async def withdraw_by_page(at: OfInvitation) -> Writes[str]:
    try:
        done = await withdraw_invitation(at)
    except NoSuchInvitation:
        return Writes("too-late")
    return done.answering("withdrawn")
