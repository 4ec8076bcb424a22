"""What the library stores and how it is found: the table MediaLibrary.

Entities, keys and attributes are in the order of the table's design and under its names. What we add comes last: in an
entity its `version`, and behind the design's entities those that it does not have. A comment says where we differ from
the design, and why.
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
    between,
    first_of,
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
        "scan: InLibrary.every": "only after the consistency manager lost its place in the log",
        "overlap: LibraryItem.stored_in reads Event": "for changes to every item, each of which costs more",
        "overlap: LibraryItem.in_library reads Collection": "the index is one list of both; collections are few in it",
        "constant-partition: AwaitedTitle in GSI1": "only books that were added while nothing could be looked up",
        "shared-row: Library.total_items": "one person adds to a library, and an import adds in batches",
        "shared-row: Collection.item_count": "one person adds to a collection, and an import adds in batches",
    },
)

ANY_ORDER = between(FIRST_ORDER, LAST_ORDER)

# Names are collated in the sort keys of both indexes, which need not be unique: as folded names they have no accents,
# are lower case and hold nothing that sorts before "#", and in addition they sort as on a shelf. A space sorts before
# "#", so "Foo Bar" would land inside collection "Foo"; "É" would sort after "z"; "#" would end the name too early; "The
# Foo" would be under T, and 10 before 9. The attributes keep the spelling.
# The name of a collection is never cut, and names that differ when folded differ when collated, so items of two
# collections never mix. It may take 616 bytes, which leaves 396 of a key's 1,024 to the title: there titles are cut,
# and sort by their first 390 bytes.
COLLECTION = "item#{name:collated}"
IN_COLLECTION = "item#{collection_name:collated}#{order:05}#{title:collated 390}"
# "~" sorts after every digit: first the collection, then its items, then a standalone item of the same name. All other
# names come before or after the three, because a collated name holds neither "#" nor anything that sorts before it.
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
    # The account's name; everything in the library takes it from here, as it takes the library's. A record as the
    # design has it says nothing of it until the name changes.
    owner_name: PersonName = "Somebody"

    # This row decides who may open a library, so it is read consistently.
    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID) -> None:
        """One library of a person."""

    # Not by the main table: `library#` is also how everything inside a library begins.
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
    # Names that fold alike are one name: here, where it must be unique, as in GSI1, where it keeps items together.
    name: Annotated[CollectionName, Unique("owner#{owner_id}", "unique#library#{library_id}#collection#{name:folded}")]
    description: CollectionDescription | None = None
    item_count: Counter = 0
    version: Version = 1

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, collection_id: UUID) -> None:
        """One collection of a library."""

    # Not by GSI1: a collection is filed under `item#` there, beside its items, so `collection#` finds nothing.
    @query(consistent=True)
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """All collections in a library."""


class Book(
    Entity,
    table=media_library,
    type="BOOK",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", first_of(IN_COLLECTION, STANDALONE)),
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
    # Which picture is kept for it, as a Cover
    cover_hash: CoverHash | None = None
    # Its owner's own words; nobody else sees them
    note: Note | None = None
    # While its title is still to be looked up by its ISBN, see AwaitedTitle
    title_awaited: Annotated[bool, LeftOut] = False

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item that is known to be a book."""


class Video(
    Entity,
    table=media_library,
    type="VIDEO",
    key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
    GSI1=("owner#{owner_id}#library#{library_id}", first_of(IN_COLLECTION, STANDALONE)),
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
    # Which picture is kept for it, as a Cover
    cover_hash: CoverHash | None = None
    # Its owner's own words; nobody else sees them
    note: Note | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item that is known to be a video."""


# A timestamp alone would let two events of one instant be one row. The item's version, which every lending and every
# return raises, keeps them two, and in order.
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

    # By the main table, so that the owner sees what they have just lent.
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
    """A pointer to a library that was shared with another person; while it is there, that person may look."""

    shared_to_id: OwnerId
    shared_from_id: OwnerId
    shared_from_name: PersonName
    library_id: LibraryId

    @get(consistent=True)
    def one(shared_to_id: OwnerId, library_id: UUID) -> None:
        """May this person look into this library?"""

    # It decides what a person may list and search, so it is read consistently.
    @query(consistent=True)
    def with_person(shared_to_id: OwnerId) -> None:
        """All libraries shared with a person."""


# Access patterns that return several kinds of rows.


class LibraryItem(AnyOf[Book | Video]):
    """A book or a video."""

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """One item of a library, book or video."""

    # Reads the events too, which begin with `item#` as well, so this is not how items are listed. It is how every last
    # one of them is found, whatever the indexes know yet.
    @query(consistent=True)
    def stored_in(owner_id: OwnerId, library_id: UUID) -> None:
        """All items in a library, for a change that must miss none."""

    @query("GSI1")
    def in_library(owner_id: OwnerId, library_id: UUID) -> None:
        """All items in a library alphabetically, those of a collection together and in its order."""

    # ANY_ORDER ends before "~"; all that begins with the name would include a standalone item of that name.
    @query("GSI1")
    def in_collection(owner_id: OwnerId, library_id: UUID, collection_name: str, order: Range[int]) -> None:
        """The items of a collection in its order."""

    @query("GSI2")
    def of_owner(owner_id: OwnerId) -> None:
        """All items across all libraries of a person, by title."""


class ShelfRow(AnyOf[Collection | Book | Video]):
    """What stands on a library's shelves."""

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
    """The owner's side of a SharedLibrary: whose pointer to delete when a library, a share or an account goes.

    Both are put and deleted together. An invitation that nobody has accepted yet is not here but with the people.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    shared_to_id: Annotated[OwnerId, KeyOnly]
    # As the owner typed it, and the name of the person who accepted that invitation
    email: Email
    name: PersonName
    created_at: Milliseconds

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, shared_to_id: OwnerId) -> None:
        """By which name and address does this person look?"""

    @query(consistent=True)
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """With whom is this library shared?"""


class CollectionMember(
    Entity,
    table=media_library,
    type="COLLECTION_MEMBER",
    key=("owner#{owner_id}", "library#{library_id}#member#{collection_id}#{order:05}#{item_id}"),
):
    """That an item is in a collection, found by the collection's id.

    When a collection is renamed or deleted, its items are filed in GSI1 under a name it no longer has, some perhaps
    under one older still, and an index may lag: an item missed there would keep the wrong name for ever. Filtering the
    library's rows by CollectionId would miss nothing, but read the whole library and its history for three books. This
    row, put and deleted in the transaction that puts an item into a collection or takes it out, does neither. Its order
    stands in its key, so that the last one is found by one read.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    collection_id: Annotated[CollectionId, KeyOnly]
    order: Annotated[Order, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]

    @query(consistent=True)
    def of_collection(owner_id: OwnerId, library_id: UUID, collection_id: UUID) -> None:
        """Which items are in this collection, whatever name they carry for it?"""


class Loan(
    Entity,
    table=media_library,
    type="LOAN",
    key=("owner#{owner_id}", "loan#{library_id}#{item_id}"),
):
    """That an item is out; put when it is lent and deleted when it comes back. Who has it is said by the item."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    lent_at: Milliseconds
    due: Due | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Since when is this out?"""

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
    """That a book was added by its ISBN alone, and when its title is looked up next; deleted once it has one.

    After the last try there is no next one, and the row is not in the index.
    """

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    tries: Annotated[int, Meta(ge=0, le=1000)] = 0
    next_at: Milliseconds | None = None

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Is the title of this book still to come?"""

    @query("GSI1")
    def in_turn() -> None:
        """All titles that are to be looked up, the next one first."""


class Relocation(
    Entity,
    table=media_library,
    type="RELOCATION",
    key=("owner#{owner_id}", "library#{library_id}#moved#{item_id}"),
):
    """That an item went to another library and left a part of its history behind, which is still to follow."""

    owner_id: Annotated[OwnerId, KeyOnly]
    library_id: Annotated[LibraryId, KeyOnly]
    item_id: Annotated[ItemId, KeyOnly]
    moved_to: LibraryId

    @get(consistent=True)
    def one(owner_id: OwnerId, library_id: UUID, item_id: UUID) -> None:
        """Where did the item go whose history is here?"""


# A row holds 400 KB; a cover as we write it takes some 30 KB.
LARGEST_COVER = 200_000


class Cover(Entity, table=media_library, type="COVER", key=("owner#{owner_id}#covers", "item#{item_id}")):
    """The picture of an item, re-encoded; in a partition of its own, where nobody reads it who wants the words."""

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


# What a provider is asked for: "isbn#9780306406157", "video#the_third_man".
Wanted = Annotated[str, Meta(min_length=1, max_length=210)]


class KnownElsewhere(Entity, table=media_library, type="KNOWN_ELSEWHERE", key=("lookup#{wanted}", "{provider}")):
    """What a provider said, kept so that it is not asked again."""

    wanted: Annotated[Wanted, KeyOnly]
    provider: Annotated[str, Meta(min_length=1, max_length=30), KeyOnly]
    # As JSON; None if the provider does not know it
    found: Annotated[str, Meta(max_length=60_000)] | None = None
    ttl: ExpiresAt

    @get
    def one(wanted: str, provider: str) -> None:
        """Was this asked lately, and what was the answer?"""


class LibraryRow(AnyOf[Library | Collection | Book | Video | Event | Share | CollectionMember | Relocation]):
    """Whatever belongs to a library."""

    # Ids have one length, so this finds the library itself and nothing of another.
    @query(consistent=True, prefix="library#{library_id}")
    def of_library(owner_id: OwnerId, library_id: UUID) -> None:
        """A library and everything in it, so that nothing of it is left behind."""


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
    """Whatever belongs to a person, with the pointers to what others share with them."""

    @query(consistent=True)
    def of_owner(owner_id: OwnerId) -> None:
        """Everything of a person: to export, to forget, or to follow a new name."""


class InLibrary(AnyOf[Library | Collection | CollectionMember | Book | Video | Event | Share | Relocation]):
    """Whatever repeats a name or counts something that is said elsewhere."""

    @scan(consistent=True)
    def every() -> None:
        """What may be out of date, in every library?"""
