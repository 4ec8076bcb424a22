"""Access to a place: its members, and those of them whose role manages it."""

from __future__ import annotations

from types import new_class
from typing import Any, Generic, TypeVar
from uuid import UUID

from potluck.table import the
from potluck.table.entity import plan_of
from potluck.web.access import ByRow, SignedIn
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import Forbidden
from potluck.web.places.rows import MemberRow
from potluck.web.translation import _

M = TypeVar("M", bound=MemberRow)


class OwnPlaces(SignedIn):
    """Someone who is signed in, with their member rows in the places that a rule found or made."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.memberships: dict[UUID, Any] = {}


class InPlace(ByRow[M], Generic[M]):
    """A member of the place in the path.

        class InHome(InPlace[Member]):
            \"\"\"A member of the home in the path.\"\"\"

            home_id: UUID

        class HomeAdmin(InHome, role="admin"):
            \"\"\"An admin of the home in the path.\"\"\"

    `role` names the role that has this access, or several. Members with another role get 403.
    """

    # Without an annotation, which would declare a parameter of the path.
    roles = tuple[str, ...]()

    def __init_subclass__(cls, *, role: str | tuple[str, ...] = ()) -> None:
        super().__init_subclass__()
        member: Any = cls.entity
        if "entity" in vars(cls):
            cls.admits = the(member.status) == "active"
        if role:
            cls.roles = (role,) if isinstance(role, str) else role
            _must_be_roles(cls)
            field = the(member.role)
            needs = field == cls.roles[0] if len(cls.roles) == 1 else field.among(*cls.roles)
            cls.rights = (*cls.rights, (needs, _only(cls)))

    def sees(self, thing: Any) -> bool:
        """A former member's row stays, but is not shown."""
        return not isinstance(thing, MemberRow) or thing.status == "active"


ROLE_NAMES = {"admin": _("Admin"), "member": _("Member")}


def role_name(role: str) -> str:
    """A role as pages show it."""
    return ROLE_NAMES.get(role, role.capitalize())


def a(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _must_be_roles(access: type[InPlace[Any]]) -> None:
    """DeclarationError for a role that members cannot have. A Place refuses a member that names no roles at all."""
    roles = plan_of(access.entity).fields["role"].choices
    for role in access.roles:
        if roles and role not in roles:
            known = ", ".join(roles)
            raise DeclarationError(
                f"{access.__name__}: {role!r} is no role of {access.entity.__name__}; it has {known}"
            )


def _only(access: type[InPlace[Any]]) -> type[Forbidden]:
    member: Any = access.entity
    (place_id,) = (name for name in member.by_id.__self__.names if name != access.own_parameter)
    who = " or ".join(a(role) for role in access.roles)
    detail = f"Only {who} of the {place_id.removesuffix('_id')} may do this"
    return new_class(f"{access.__name__}Only", (Forbidden,), {"detail": detail})


def with_parameter(access: type[InPlace[M]], name: str, kind: Any) -> type[InPlace[M]]:
    """The same access, for addresses with one more parameter."""
    return new_class(
        f"{access.__name__}Of{name}", (access,), {}, lambda body: body.update(__annotations__={name: kind})
    )


def leaving_or(manager: type[InPlace[M]], member: type[InPlace[M]], kind: Any) -> type[InPlace[M]]:
    """The member in the path, who leaves; or a manager, who removes them."""
    own = member.own_parameter

    def effective_access(at: Any) -> type[InPlace[M]]:
        return member if getattr(at, own) == at.principal.user_id else manager

    def body(namespace: dict[str, Any]) -> None:
        namespace.update(__annotations__={own: kind}, effective_access=effective_access)

    return new_class(f"LeavingOr{manager.__name__}", (member,), {}, body)
