"""Homes, who is in them, and what has to be done there."""

from typing import Annotated, Literal
from uuid import UUID

from potluck.table import Entity, Seconds, Table, Version, get, query
from potluck.validation import Integer, Message, Text
from potluck.web import MemberRow, PlaceRow

chores_table = Table(
    "Chores",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK")},
    type_attribute="kind",
    names="camel",
    accepted={
        "shared-row: Home.manager_count": "only a change of who is an admin writes it",
        "shared-row: Home.member_count": "only joining and leaving write it",
    },
)

Title = Annotated[str, Text(1, 120, "Say in 1 to 120 characters what has to be done")]
Details = Annotated[str, Text(0, 1000, "Details can have at most 1,000 characters", kind="lines")]
Minutes = Annotated[int, Integer(1, 600, "Minutes must be a whole number from 1 to 600")]
Status = Annotated[Literal["open", "done"], Message("Status must be 'open' or 'done'")]


class Home(PlaceRow, table=chores_table, type="Home", key=("HOME#{home_id}", "HOME")):
    """A home that people share."""

    home_id: UUID

    @get(consistent=True)
    def by_id(home_id: UUID) -> None:
        """What is this home called?"""


class Member(
    MemberRow,
    table=chores_table,
    type="Member",
    key=("HOME#{home_id}", "MEMBER#{user_id}"),
    GSI1=("USER#{user_id}", "HOME#{home_id}"),
):
    """A person in a home."""

    home_id: UUID
    user_id: UUID
    role: Literal["admin", "member"]

    @get(consistent=True)
    def by_id(home_id: UUID, user_id: UUID) -> None:
        """Is this person in the home?"""

    @query(consistent=True)
    def of_home(home_id: UUID) -> None:
        """Who is or was in this home?"""

    @query("GSI1")
    def of_user(user_id: UUID) -> None:
        """Which homes is this person in?"""


class Chore(Entity, table=chores_table, type="Chore", key=("HOME#{home_id}", "CHORE#{chore_id}")):
    """Something that has to be done."""

    home_id: UUID
    chore_id: UUID
    title: Title
    details: Details | None = None
    minutes: Minutes | None = None
    status: Status = "open"
    done_by: UUID | None = None
    created_at: Seconds
    updated_at: Seconds
    version: Version = 1

    @get(consistent=True)
    def by_id(home_id: UUID, chore_id: UUID) -> None:
        """What is this chore?"""

    @query(consistent=True)
    def of_home(home_id: UUID) -> None:
        """What has to be done in this home, and what was done?"""
