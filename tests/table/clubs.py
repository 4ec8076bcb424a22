"""A small design that uses every part of the library, for the tests of the library itself."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    ExpiresAt,
    ItemCollection,
    OrNull,
    Range,
    Seconds,
    StartsWith,
    Table,
    Unique,
    Version,
    get,
    query,
)

__all__ = ["Club", "ClubWithMembers", "Listed", "Meeting", "Member", "clubs"]

clubs = Table(
    "Clubs",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")},
    ttl="ttl",
    type_attribute="entityType",
)

Name = Annotated[str, Meta(min_length=1, max_length=60)]


class Club(Entity, table=clubs, type="Club", key=("CLUB#{club_id}", "CLUB")):
    """Some people who meet."""

    club_id: UUID
    name: Annotated[Name, Unique("CLUBS", "NAME#{name:folded}")]
    members: Counter = 0
    version: Version = 1

    @get(consistent=True)
    def one(club_id: UUID) -> None:
        """One club."""


class Member(
    Entity,
    table=clubs,
    type="Member",
    key=("CLUB#{club_id}", "MEMBER#{member_id}"),
    GSI1=("CLUB#{club_id}#MEMBERS", "NAME#{name:folded 200}"),
    GSI2=("CLUB#{club_id}#OWING", "{owes:06}", lambda owes: owes > 0),
):
    """One of them."""

    club_id: UUID
    member_id: UUID
    name: Name
    team: OrNull[Name] = None
    owes: Annotated[int, Meta(ge=0, le=999_999)] = 0
    visits: Counter = 0
    version: Version = 1

    @get(consistent=True)
    def one(club_id: UUID, member_id: UUID) -> None:
        """One member of a club."""

    @query(consistent=True)
    def of_club(club_id: UUID) -> None:
        """Who is in this club?"""

    @query("GSI1")
    def by_name(club_id: UUID) -> None:
        """Who is in this club, by name?"""

    @query("GSI1")
    def called(club_id: UUID, name: StartsWith) -> None:
        """Whose name begins so?"""

    @query("GSI2", descending=True)
    def owing(club_id: UUID) -> None:
        """Who owes money, most first?"""

    @query("GSI2")
    def owing_between(club_id: UUID, owes: Range[int]) -> None:
        """Who owes about so much?"""

    @query(filter=("team",))
    def in_team(club_id: UUID, team: str | None) -> None:
        """Who plays in this team?"""


class Meeting(
    Entity,
    table=clubs,
    type="Meeting",
    key=("CLUB#{club_id}", "MEETING#{begins}#{meeting_id}"),
    GSI1=("CLUB#{club_id}#MEMBERS", "NAME#{title:folded 200}"),
):
    """When they meet; forgotten some time later."""

    club_id: UUID
    meeting_id: UUID
    begins: Seconds
    title: Name
    state: Literal["planned", "held"] = "planned"
    minutes: Annotated[str, Meta(max_length=100_000)] | None = None
    ttl: OrNull[ExpiresAt] = None

    @get
    def one(club_id: UUID, begins: Seconds, meeting_id: UUID) -> None:
        """One meeting."""

    @query()
    def of_club(club_id: UUID) -> None:
        """When does this club meet?"""

    @query()
    def within(club_id: UUID, begins: Range[Seconds]) -> None:
        """When does this club meet in this time?"""


class Listed(AnyOf[Member | Meeting]):
    """Whatever stands in a club's alphabetical list."""

    @query("GSI1")
    def of_club(club_id: UUID) -> None:
        """Everything of the club by name."""


class ClubWithMembers(ItemCollection):
    """A club and everyone in it."""

    club: Club
    members: list[Member]

    @query(consistent=True)
    def of(club_id: UUID) -> None:
        """A club with its members."""
