"""The fields that every place and every member has. An app adds ids, keys and access patterns."""

from typing import Annotated, Literal

from msgspec import Meta

from potluck.people.fields import Email, Name
from potluck.table import Counter, Entity, Seconds, Version
from potluck.validation.field_types import Text

PlaceName = Annotated[str, Text(1, 100, "Name must have 1 to 100 characters")]
MemberStatus = Literal["active", "removed"]


class PlaceRow(Entity, rename="camel"):
    """Something that people share, such as a home."""

    name: PlaceName
    # Every write that takes a manager away depends on this number, so that a place always keeps one.
    manager_count: Counter = 1
    # One transaction deletes the place with all its members.
    member_count: Counter = 1
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds


class MemberRow(Entity, rename="camel"):
    """A person in a place. The row of one who left stays, so that what they made is shown as a former member's."""

    name: Name
    email: Email
    # An app narrows it: `role: Literal["admin", "member"]`.
    role: Annotated[str, Meta(max_length=40)]
    status: MemberStatus = "active"
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds
