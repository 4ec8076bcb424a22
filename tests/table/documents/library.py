"""The document of the media library, taken literally as far as it can be declared at all."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    KeyOnly,
    Milliseconds,
    OrNull,
    Table,
    query,
)

media_library = Table(
    "MediaLibrary",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")},
    type_attribute="EntityType",
    names="pascal",
)

OwnerId = Annotated[str, Meta(pattern="^[0-9A-F]{32}$", min_length=32, max_length=32)]
Name = Annotated[str, Meta(max_length=100)]
# The document sets no bound on a title. Only with one this low does the key of an item in a collection fit.
Title = Annotated[str, Meta(max_length=150)]

IN_COLLECTION = "item#{collection_name}#{order:05}#{title}"


class Library(
    Entity,
    table=media_library,
    type="LIBRARY",
    key=("owner#{owner_id}", "library#{library_id}"),
    GSI1=("owner#{owner_id}", "library#{library_name}"),
):
    """User's media collection."""

    owner_id: OwnerId
    library_id: UUID
    library_name: Annotated[str, Meta(max_length=20)]
    description: Annotated[str, Meta(max_length=100)] | None = None
    total_items: Counter = 0
    shared_to: list[str]
    updated_at: Milliseconds

    @query()
    def of_user(owner_id: OwnerId) -> None:
        """Get all libraries for user: PK = owner#<userId> + SK begins_with library#."""

    @query("GSI1")
    def by_name(owner_id: OwnerId) -> None:
        """GSI1PK = owner#X: all libraries sorted by name."""


class Collection(
    Entity,
    table=media_library,
    type="COLLECTION",
    key=("owner#{owner_id}", "library#{library_id}#collection#{collection_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", "item#{name}"),
):
    """Named group of items within a library."""

    owner_id: OwnerId
    library_id: UUID
    collection_id: UUID
    name: Name
    description: Annotated[str, Meta(max_length=500)] | None = None
    item_count: Counter = 0

    @query()
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """Get all collections in library: SK begins_with library#<libId>#collection#."""


class Book(
    Entity,
    table=media_library,
    type="BOOK",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", (IN_COLLECTION, "item#{title}")),
    GSI2=("owner#{owner_id}", "item#{title}"),
):
    """Book item within a library."""

    owner_id: OwnerId
    library_id: UUID
    item_id: UUID
    title: Title
    authors: list[str]
    collection_id: OrNull[UUID] = None
    collection_name: OrNull[Name] = None
    order: OrNull[Annotated[int, Meta(ge=1, le=1000)]] = None


class Video(
    Entity,
    table=media_library,
    type="VIDEO",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", (IN_COLLECTION, "item#{title}")),
    GSI2=("owner#{owner_id}", "item#{title}"),
):
    """Video item within a library."""

    owner_id: OwnerId
    library_id: UUID
    item_id: UUID
    title: Title
    directors: list[str]
    collection_id: OrNull[UUID] = None
    collection_name: OrNull[Name] = None
    order: OrNull[Annotated[int, Meta(ge=1, le=1000)]] = None


class Event(
    Entity,
    table=media_library,
    type="EVENT",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}#event#{updated_at}"),
    GSI1=("owner#{owner_id}#library#{library_id}#item#{item_id}", "event#{updated_at}"),
):
    """Lending/return history entry."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[UUID, KeyOnly]
    item_id: Annotated[UUID, KeyOnly]
    type: Literal["LENT", "RETURNED"]
    event: Name
    updated_at: Milliseconds

    @query()
    def of_item(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Get all events for item: SK begins_with library#<libId>#item#<itemId>#event#."""

    @query("GSI1")
    def chronologically(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """GSI1PK = owner#X#library#Y#item#Z: all history events chronologically."""


class SharedLibrary(
    Entity,
    table=media_library,
    type="SHARED_LIBRARY",
    key=("owner#{shared_to_id}", "shared-library#{library_id}"),
):
    """Pointer to a library shared with another user."""

    shared_to_id: OwnerId
    shared_from_id: OwnerId
    shared_from_name: Name
    library_id: UUID

    @query()
    def of_user(shared_to_id: OwnerId) -> None:
        """Get shared libraries: SK begins_with shared-library#."""


class Item(AnyOf[Book | Video]):
    """A book or a video."""

    @query()
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """Get all items in library: SK begins_with library#<libId>#item# (returns both BOOKs and VIDEOs)."""

    @query("GSI2")
    def of_user(owner_id: OwnerId) -> None:
        """GSI2PK = owner#X: all items across all libraries, sorted by title."""


class Shelf(AnyOf[Collection | Book | Video]):
    """Collections appear alongside their items."""

    @query("GSI1")
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """GSI1PK = owner#X#library#Y: all items + collections in library, sorted alphabetically."""
