"""The table MediaLibrary: what the library stores, and how it is found.

Entities, keys and attributes have the order and the names of the table's design. Our additions come last: the `version`
of an entity, and the entities that the design does not have. Comments say where we differ from the design, and why.
"""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, field

from potluck.apps.library.fields import (
    FIRST_ORDER,
    LAST_ORDER,
    Borrower,
    Cast,
    CollectionDescription,
    CollectionId,
    CollectionName,
    CoverHash,
    Due,
    Duration,
    Email,
    Isbn,
    ItemId,
    LibraryDescription,
    LibraryId,
    LibraryName,
    Note,
    Order,
    OwnerId,
    People,
    PersonName,
    PictureUrl,
    Summary,
    Title,
    TmdbId,
    Year,
)
from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    ExpiresAt,
    KeyOnly,
    LeftOut,
    Milliseconds,
    OrNull,
    Range,
    Table,
    Unique,
    Version,
    get,
    query,
    scan,
)

media_library = Table(
    "MediaLibrary",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")},
    ttl="Ttl",
    type_attribute="EntityType",
    names="pascal",
    accepted={
        "scan: LibraryRow.every": "only after the consistency manager lost its place in the log",
        "overlap: LibraryItem.stored_in reads Event": "for changes to every item, each of which costs more",
        "overlap: LibraryItem.in_library reads Collection": "the index is one list of both; collections are few in it",
        "constant-partition: AwaitedTitle in GSI1": "only books that were added while no provider answered",
        "shared-row: Library.total_items": "one person adds to a library, and an import adds in batches",
        "shared-row: Collection.item_count": "one person adds to a collection, and an import adds in batches",
    },
)

ANY_ORDER = Range(FIRST_ORDER, LAST_ORDER)

# Names are collated in the sort keys of both indexes, which need not be unique: like folded names they are lower case,
# without accents and without characters that sort before "#", and in addition they sort as on a shelf. A space sorts
# before "#", so "Foo Bar" would be inside collection "Foo"; "É" would sort after "z"; "#" would end the name too early;
# "The Foo" would be under T, and 10 before 9. The attributes keep the spelling.
# The name of a collection is never cut, and names that differ when folded differ when collated, so items of two
# collections never mix. A name takes up to 616 bytes, which leaves 396 of a key's 1,024 for the title: titles are cut
# there, and sort by their first 390 bytes.
COLLECTION = "item#{name:collated}"
IN_COLLECTION = "item#{collection_name:collated}#{order:05}#{title:collated 390}"
# "~" sorts after every digit: first the collection, then its items, then a standalone item of the same name. All other
# names come before or after the three, because a collated name has neither "#" nor any character that sorts before it.
STANDALONE = "item#{title:collated 390}#~"
BY_TITLE = "item#{title:collated 390}"


class Library(
    Entity,
    table=media_library,
    type="LIBRARY",
    key=("owner#{owner_id}", "library#{library_id}"),
    GSI1=("owner#{owner_id}", "library#{library_name:collated}"),
):
    """A person's media collection."""

    owner_id: OwnerId
    library_id: LibraryId
    library_name: Annotated[LibraryName, Unique("owner#{owner_id}", "unique#library#{library_name}")]
    description: LibraryDescription | None = None
    total_items: Counter = 0
    shared_to: Annotated[list[Email], Meta(max_length=100)] = field(default_factory=list)
    updated_at: Milliseconds
    version: Version = 1
    # The account's name; the items copy it from here, as they copy the library's name. The design's own records do not
    # have it until the name changes.
    owner_name: PersonName = "Someone"

    # Consistent, because this row decides who may open a library.
    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID) -> None:
        """One library of a person."""

    # Not by the main table: there, the keys of everything in a library begin with `library#` too.
    @query("GSI1")
    def of_owner(owner_id: OwnerId) -> None:
        """All libraries of a person, by name."""


class Collection(
    Entity,
    table=media_library,
    type="COLLECTION",
    key=("owner#{owner_id}", "library#{library_id}#collection#{collection_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", COLLECTION),
):
    """A named group of items within a library."""

    owner_id: OwnerId
    library_id: LibraryId
    collection_id: CollectionId
    # Names that fold alike are one name, here, where it must be unique, and in GSI1, where it keeps items together.
    name: Annotated[CollectionName, Unique("owner#{owner_id}", "unique#library#{library_id}#collection#{name:folded}")]
    description: CollectionDescription | None = None
    item_count: Counter = 0
    version: Version = 1

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, collection_id: UUID) -> None:
        """One collection of a library."""

    # Not by GSI1: a collection's key there begins with `item#`, like that of an item, so `collection#` finds nothing.
    @query(consistent=True)
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """All collections in a library."""


class Book(
    Entity,
    table=media_library,
    type="BOOK",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", (IN_COLLECTION, STANDALONE)),
    GSI2=("owner#{owner_id}", BY_TITLE),
):
    """A book within a library."""

    owner_id: OwnerId
    library_id: LibraryId
    item_id: ItemId
    title: Title
    authors: People = field(default_factory=list)
    summary: Summary | None = None
    isbn: Isbn | None = None
    picture_url: PictureUrl | None = None
    collection_id: OrNull[CollectionId] = None
    collection_name: OrNull[CollectionName] = None
    order: OrNull[Order] = None
    type: Literal[0] = 0  # a book
    lent_to: OrNull[Borrower] = None
    library_name: LibraryName
    owner_name: PersonName
    version: Version = 1
    # The hash of its Cover
    cover_hash: CoverHash | None = None
    # Only the owner sees it
    note: Note | None = None
    # While its title is still to be looked up by its ISBN; see AwaitedTitle
    title_awaited: Annotated[bool, LeftOut] = False

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item that is known to be a book."""


class Video(
    Entity,
    table=media_library,
    type="VIDEO",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", (IN_COLLECTION, STANDALONE)),
    GSI2=("owner#{owner_id}", BY_TITLE),
):
    """A video, DVD or Blu-ray, within a library."""

    owner_id: OwnerId
    library_id: LibraryId
    item_id: ItemId
    title: Title
    summary: Summary | None = None
    directors: People = field(default_factory=list)
    cast: Cast = field(default_factory=list)
    release_year: Year | None = None
    duration: Duration | None = None
    tmdb_id: TmdbId | None = None
    picture_url: PictureUrl | None = None
    collection_id: OrNull[CollectionId] = None
    collection_name: OrNull[CollectionName] = None
    order: OrNull[Order] = None
    type: Literal[1] = 1  # a video
    lent_to: OrNull[Borrower] = None
    library_name: LibraryName
    owner_name: PersonName
    version: Version = 1
    # The hash of its Cover
    cover_hash: CoverHash | None = None
    # Only the owner sees it
    note: Note | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item that is known to be a video."""


Item = Book | Video

# With a timestamp alone, two events at the same instant would be one row. The item's version, which every loan and
# return increments, keeps them apart and in order.
EVENT = "event#{updated_at}#{item_version:08}"


class Event(
    Entity,
    table=media_library,
    type="EVENT",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}#" + EVENT),
    GSI1=("owner#{owner_id}#library#{library_id}#item#{item_id}", EVENT),
):
    """One lending or return in an item's history."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    item_version: Annotated[int, Meta(ge=1, le=99_999_999), KeyOnly]
    type: Literal["LENT", "RETURNED"]
    event: Borrower
    updated_at: Milliseconds

    # By the main table, so that owners see what they have just lent.
    @query(consistent=True, descending=True)
    def of_item(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """All events of an item, newest first."""

    @query("GSI1")
    def chronologically(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """All events of an item, oldest first."""


class SharedLibrary(
    Entity,
    table=media_library,
    type="SHARED_LIBRARY",
    key=("owner#{shared_to_id}", "shared-library#{library_id}"),
):
    """A pointer to a library that is shared with another person. While it exists, that person has access."""

    shared_to_id: OwnerId
    shared_from_id: OwnerId
    shared_from_name: PersonName
    library_id: LibraryId

    @get(consistent=True)
    def one(shared_to_id: OwnerId, library_id: UUID) -> None:
        """May this person view this library?"""

    # Consistent, because it decides what a person may list and search.
    @query(consistent=True)
    def with_person(shared_to_id: OwnerId) -> None:
        """All libraries shared with a person."""


# Access patterns that return several types of rows.


class LibraryItem(AnyOf[Book | Video]):
    """Get a book or a video."""

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item of a library, book or video."""

    # It also reads the events, whose keys begin with `item#` too, so items are not listed by it. But it misses none of
    # them, while an index may lag.
    @query(consistent=True)
    def stored_in(owner_id: OwnerId, library_id: UUID) -> None:
        """All items in a library, for a change that must miss none."""

    @query("GSI1")
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """All items in a library alphabetically, the items of a collection together and in its order."""

    # ANY_ORDER ends before "~": a prefix would also find a standalone item with the name of the collection.
    @query("GSI1")
    def in_collection(owner_id: OwnerId, library_id: UUID, collection_name: str, order: Range[int]) -> None:
        """The items of a collection in its order."""

    @query("GSI2")
    def of_owner(owner_id: OwnerId) -> None:
        """All items across all libraries of a person, by title."""


class ShelfRow(AnyOf[Collection | Book | Video]):
    """A row of a library's shelf."""

    @query("GSI1")
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """All items and collections in a library alphabetically, each collection followed by its items."""


# What follows is not in the design.


class Share(
    Entity,
    table=media_library,
    type="SHARE",
    key=("owner#{owner_id}", "library#{library_id}#share#{shared_to_id}"),
):
    """The owner's side of a SharedLibrary: finds its pointer when a library, a share or an account is deleted.

    Both rows are put and deleted together. Pending invitations are in the table of people.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    shared_to_id: Annotated[OwnerId, KeyOnly]
    # The address as the owner typed it, and the name of the person who accepted the invitation
    email: Email
    name: PersonName
    created_at: Milliseconds

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, shared_to_id: OwnerId) -> None:
        """Under which name and address was this library shared with this person?"""

    @query(consistent=True)
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """Which people is this library shared with?"""


class CollectionMember(
    Entity,
    table=media_library,
    type="COLLECTION_MEMBER",
    key=("owner#{owner_id}", "library#{library_id}#member#{collection_id}#{order:05}#{item_id}"),
):
    """The membership of an item in a collection, found by the collection's id.

    When a collection is renamed or deleted, its items are in GSI1 under its former names, and an index may lag: an item
    that was missed there would keep the wrong name for ever. Filtering the library's rows by CollectionId would miss
    nothing, but would read the whole library with its history for three books. This row is put and deleted in the
    transaction that adds an item to a collection or removes it. The order is part of its key, so that one read finds
    the last item.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    collection_id: Annotated[CollectionId, KeyOnly]
    order: Annotated[Order, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]

    @query(consistent=True)
    def of_collection(owner_id: OwnerId, library_id: UUID, collection_id: UUID) -> None:
        """Which items are in this collection, whatever name they have for it?"""


class Loan(
    Entity,
    table=media_library,
    type="LOAN",
    key=("owner#{owner_id}", "loan#{library_id}#{item_id}"),
):
    """A loan: put when an item is lent, and deleted when it is returned. The item itself says who has it."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    lent_at: Milliseconds
    due: Due | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Since when is this item lent?"""

    @query(consistent=True)
    def of_owner(owner_id: OwnerId) -> None:
        """What has this person lent, in all libraries?"""

    @query(consistent=True)
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """What is lent out of this library?"""


class AwaitedTitle(
    Entity,
    table=media_library,
    type="AWAITED_TITLE",
    key=("owner#{owner_id}", "awaited#{library_id}#{item_id}"),
    GSI1=("awaited", "{next_at}#{item_id}"),
):
    """A book that was added by its ISBN alone, and when its title is looked up next. Deleted once it has a title.

    After the last attempt there is no next time, and the row is not in the index.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    tries: Annotated[int, Meta(ge=0, le=1000)] = 0
    next_at: Milliseconds | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Is the title of this book still missing?"""

    @query("GSI1")
    def in_turn() -> None:
        """All titles to look up, in the order in which they are due."""


class Relocation(
    Entity,
    table=media_library,
    type="RELOCATION",
    key=("owner#{owner_id}", "library#{library_id}#moved#{item_id}"),
):
    """An item that moved to another library before all of its history; the rest still has to follow."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    moved_to: LibraryId

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Where did the item move whose history is here?"""


# A row can have 400 KB; a re-encoded cover takes about 30 KB.
LARGEST_COVER = 200_000


class Cover(Entity, table=media_library, type="COVER", key=("owner#{owner_id}#covers", "item#{item_id}")):
    """The re-encoded picture of an item, in a separate partition, so that lists of items do not read pictures."""

    owner_id: Annotated[OwnerId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    source: PictureUrl
    hash: CoverHash
    image: Annotated[bytes, Meta(max_length=LARGEST_COVER)]

    @get(consistent=True)
    def one(owner_id: OwnerId, item_id: UUID) -> None:
        """What does this item look like?"""

    @query(consistent=True)
    def of_owner(owner_id: OwnerId) -> None:
        """All covers of a person, so that none is left behind."""


# What to look up: "isbn#9780306406157", "video#the_third_man".
Wanted = Annotated[str, Meta(min_length=1, max_length=210)]


class KnownElsewhere(Entity, table=media_library, type="KNOWN_ELSEWHERE", key=("lookup#{wanted}", "{provider}")):
    """The cached answer of a lookup provider."""

    wanted: Annotated[Wanted, KeyOnly]
    provider: Annotated[str, Meta(min_length=1, max_length=30), KeyOnly]
    # JSON; None if the provider has no match
    found: Annotated[str, Meta(max_length=60_000)] | None = None
    ttl: ExpiresAt

    @get
    def one(wanted: str, provider: str) -> None:
        """What did this provider answer lately?"""


class LibraryRow(AnyOf[Library | Collection | Book | Video | Event | Share | CollectionMember | Relocation]):
    """A row that belongs to a library."""

    # All ids have the same length, so this finds the library itself and nothing of another one.
    @query(consistent=True, prefix="library#{library_id}")
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """A library and everything in it, so that nothing is left behind."""

    @scan(consistent=True)
    def every() -> None:
        """Which rows may be out of date, in all libraries?"""


class OwnerRow(
    AnyOf[
        Library
        | Collection
        | Book
        | Video
        | Event
        | Share
        | CollectionMember
        | Relocation
        | Loan
        | AwaitedTitle
        | SharedLibrary
    ]
):
    """A row that belongs to a person, or a pointer to a library that is shared with them."""

    @query(consistent=True)
    def of_owner(owner_id: OwnerId) -> None:
        """Everything of a person: to export it, delete it, or rename it."""
