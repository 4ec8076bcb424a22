"""The classes that a place derives from an app's entities: views, inputs, and rules with the app's own types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, iscoroutinefunction
from types import new_class
from typing import Any
from uuid import UUID

from potluck.people.fields import EmailOrBlank
from potluck.table.entity import plan_of
from potluck.validation.errors import FieldError
from potluck.web.inputs import UNSET, Edit, Input, New, Unset
from potluck.web.places.access import OwnPlaces
from potluck.web.places.rows import MemberRow
from potluck.web.translation import _
from potluck.web.views import View, computed

# An app may also keep who made a place.
PLACE_FIELDS = ("name", "member_count", "created_by", "version", "created_at", "updated_at")
MEMBER_FIELDS = ("name", "email", "role", "version")
MEMBERSHIP_FIELDS = ("name", "email", "role", "status", "created_at", "updated_at")


class OwnMember:
    """The caller's own member row in each place that is shown, for views."""

    def __init__(self, members: Mapping[UUID, Any]) -> None:
        self.members = members

    @classmethod
    async def load(cls, at: Any, places: Sequence[Any]) -> OwnMember:
        """Of a caller in one place, or of one who lists several."""
        if isinstance(at, OwnPlaces):
            return cls(at.memberships)
        (place_id,) = (name for name in at.entity.by_id.__self__.names if name != at.own_parameter)
        return cls({getattr(at, place_id): at.row})


class SureToDelete(Input):
    """The confirmation checkbox for deleting a place with everything in it."""

    sure: bool = False

    @staticmethod
    def check(sent: SureToDelete) -> list[FieldError]:
        return [] if sent.sure else [FieldError("sure", _("Tick the box first: this can’t be undone"))]


def place_view(place: Any, id: str, member: Any) -> Any:
    """What members see of a place, with their own role in it."""

    def role(place: Any, own: OwnMember) -> Any:
        return own.members[getattr(place, id)].role

    role.__annotations__ = {"place": place, "own": OwnMember, "return": plan_of(member).fields["role"].annotation}
    return _made(
        f"{place.__name__}View", View, place, _fields(place, id, *_there(place, PLACE_FIELDS)), role=computed(role)
    )


def member_view(member: Any, own_id: str) -> Any:
    return _made(f"{member.__name__}View", View, member, _fields(member, own_id, *MEMBER_FIELDS))


def membership_view(member: Any, id: str) -> Any:
    """A person's own member row, for their export, with the fields that only this app's members have."""
    inherited = {*MemberRow.__struct_fields__, *member.by_id.__self__.names}
    of_app = [name for name in plan_of(member).fields if name not in inherited]
    return _made("MembershipView", View, member, _fields(member, id, *MEMBERSHIP_FIELDS, *of_app))


def new_of(place: Any) -> Any:
    return _made(f"New{place.__name__}", New, place, _fields(place, "name"))


def edit_of(place: Any) -> Any:
    name = plan_of(place).fields["name"].annotation | Unset
    return _made(f"{place.__name__}Change", Edit, place, {"name": name}, name=UNSET)


def role_edit(member: Any) -> Any:
    return _made("RoleChange", Edit, member, _fields(member, "role"))


def invitation_to(member: Any) -> Any:
    # The address is a note for those who manage the place, not a restriction: it is not verified, so matching it would
    # prove nothing.
    fields = {**_fields(member, "role"), "email": EmailOrBlank | None}
    return _made("NewInvitation", Input, None, fields, email=None, __module__=member.__module__)


def _there(entity: Any, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in plan_of(entity).fields]


def _fields(entity: Any, *names: str) -> dict[str, Any]:
    fields = plan_of(entity).fields
    return {name: fields[name].annotation for name in names}


def of(generic: Any, kind: Any) -> Any:
    """`Writes[Home]`, of a class that is known only when the program runs."""
    return generic[kind]


def _made(called: str, base: Any, entity: Any, fields: Mapping[str, Any], /, **namespace: Any) -> Any:
    def body(of_class: dict[str, Any]) -> None:
        of_class.update(namespace, __annotations__=dict(fields))
        if entity is not None:
            of_class["__module__"] = entity.__module__

    return new_class(called, (base if entity is None else of(base, entity),), {}, body)


def rule(name: str, words: str, method: Callable[..., Any], returns: Any, **parameters: Any) -> Any:
    """A method as a rule: with a name and a docstring, and with the app's classes as types of its parameters."""

    async def awaited(*arguments: Any) -> Any:
        return await method(*arguments)

    def plain(*arguments: Any) -> Any:
        return method(*arguments)

    declared: Any = awaited if iscoroutinefunction(method) else plain
    declared.__name__, declared.__doc__ = name, words
    declared.__annotations__ = {**parameters, "return": returns}
    declared.__signature__ = Signature(
        [Parameter(parameter, Parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters]
    )
    return declared
