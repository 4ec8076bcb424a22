"""A design whose types the type checker is asked about."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    ExpiresAt,
    ItemCollection,
    KeyOnly,
    LeftOut,
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

gardens = Table("Gardens", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, ttl="ttl", type_attribute="type")

Name = Annotated[str, Meta(min_length=1, max_length=60)]
Height = Annotated[int, Meta(ge=0, le=9999)]
State = Literal["planned", "growing", "eaten"]


class Bed(Entity, table=gardens, type="Bed", key=("BED#{bed_id}", "BED")):
    """A piece of ground."""

    bed_id: UUID
    name: Annotated[Name, Unique("BEDS", "NAME#{name:folded}")]
    visits: Counter = 0
    version: Version = 1

    @get
    def one(bed_id: UUID) -> None:
        """Which bed is this?"""


class Plant(
    Entity,
    table=gardens,
    type="Plant",
    key=("BED#{bed_id}", "PLANT#{plant_id}"),
    GSI1=("BED#{bed_id}#HEIGHTS", "{height:04}"),
):
    """Something that grows in a bed."""

    bed_id: UUID
    plant_id: UUID
    name: Name
    state: State = "planned"
    height: Height
    note: OrNull[Name] = None
    tags: frozenset[str] = frozenset()
    planted_at: Seconds | None = None
    climbs: Annotated[bool, LeftOut] = False
    version: Version = 1

    @get(consistent=True)
    def one(bed_id: UUID, plant_id: UUID) -> None:
        """Which plant is this?"""

    @query()
    def in_bed(bed_id: UUID) -> None:
        """What grows in this bed?"""

    @query("GSI1")
    def of_height(bed_id: UUID, height: Range[int]) -> None:
        """What is about so high?"""


class Weed(
    Entity,
    table=gardens,
    type="Weed",
    key=("BED#{bed_id}", "WEED#{name}"),
    GSI1=("BED#{bed_id}#HEIGHTS", "{height:04}"),
):
    """Something that grows in a bed, but not for long."""

    bed_id: UUID
    name: Name
    height: Height
    ttl: ExpiresAt

    @query()
    def named(bed_id: UUID, name: StartsWith) -> None:
        """Which weeds have a name that begins so?"""


class Harvest(Entity, table=gardens, type="Harvest", key=("BED#{bed_id}", "HARVEST#{plant}")):
    """How much was picked, made by whoever picks first."""

    bed_id: Annotated[UUID, KeyOnly]
    plant: Annotated[Name, KeyOnly]
    picked: Counter = 0
    pickers: frozenset[str] = frozenset()

    @get
    def one(bed_id: UUID, plant: str) -> None:
        """How much was picked of this?"""


class Growing(AnyOf[Plant | Weed]):
    """Whatever grows."""

    @query("GSI1")
    def by_height(bed_id: UUID) -> None:
        """What grows in this bed, lowest first?"""

    @query()
    def in_bed(bed_id: UUID) -> None:
        """What grows in this bed? From the first kind to the last."""


class WholeBed(ItemCollection):
    """A bed and all that is in it."""

    bed: Bed
    plants: list[Plant]
    weeds: list[Weed]

    @query()
    def of(bed_id: UUID) -> None:
        """What is in this bed?"""
