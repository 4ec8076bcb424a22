"""What shareables store and how it is found: the tables ShortIdPool and Shareables.

Entities, keys and attributes are in the order of the tables' design and have its names; what we add comes after. A
comment says where we differ from it, and why.
"""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from potluck.apps.shareables.fields import KEPT, ItemId, Kind, Name, Note, Role, ShortId
from potluck.table import (
    Counter,
    Entity,
    ExpiresAt,
    InKeys,
    KeyOnly,
    LeftOut,
    Milliseconds,
    Seconds,
    Table,
    Version,
    get,
    query,
    scan,
)

# Segments of keys are lowercase, as all of the design's tables and examples have them; its conventions say uppercase.

short_id_pool = Table(
    "ShortIdPool",
    "pk",
    "sk",
    numbers=("pk",),
    accepted={"scan: ShortIdPoolEntry.every": "the pool has a fixed size, and is read whole only to refill it"},
)
shareables = Table(
    "Shareables",
    "pk",
    "sk",
    ttl="ttl",
    accepted={"shared-row: Shareable.items_version": "only the few admins add and reorder; a tick writes no other row"},
)


# Three letters, three letters, five digits: uppercase while it is in the pool, lowercase once it is claimed.
PooledShortId = Annotated[str, Meta(pattern="^[A-Z]{3}-[A-Z]{3}-[0-9]{5}$", max_length=13)]

# Argon2id in its standard encoding, salt included.
PasscodeHash = Annotated[str, Meta(min_length=1, max_length=200)]
TokenHash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)]
# Identifies a server process for as long as it runs.
WorkerId = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", min_length=32, max_length=32)]

Order = Annotated[int, Meta(ge=0, lt=1_000_000_000)]
VersionNumber = Annotated[int, Meta(ge=1, lt=10**15)]

POOL_PARTITIONS = 1000
POOL_BUCKETS = 100


def _time_in_key(text: str) -> datetime:
    return datetime.strptime(text, "%Y%m%dt%H%M%Sz").replace(tzinfo=UTC)


class ShortIdPoolEntry(Entity, table=short_id_pool, key=("{partition}", "available#{bucket:02}")):
    """An unused short id; deleted by the transaction that creates a shareable with it."""

    partition: Annotated[int, Meta(ge=0, lt=POOL_PARTITIONS), KeyOnly]
    bucket: Annotated[int, Meta(ge=0, lt=POOL_BUCKETS), KeyOnly]
    id: PooledShortId

    @scan
    def every() -> None:
        """Which buckets of the pool are full?"""

    # Eventually consistent is enough: claiming an entry that is gone fails.
    @query()
    def in_partition(partition: int) -> None:
        """Which ids can be claimed?"""


# One entity for checklists and polls, distinguished by the attribute `entity`: the kind behind a short id is unknown
# until the row is read, both have a name, passcodes and expiry, and each adds only one field.
class Shareable(Entity, table=shareables, key=("shareable#{short_id}", "01#")):
    """A checklist or a poll that is shared by its short id; its row decides access for everything under it."""

    entity: Kind
    short_id: ShortId
    name: Name
    view_passcode: PasscodeHash | None = None
    admin_passcode: PasscodeHash
    expires_at: Milliseconds
    note: Note | None = None  # The design has it on checklists only.
    # From here on our additions, left out when empty. What a poll adds is in the table of polls.
    poll_id: UUID | None = None
    viewers_can_tick: Annotated[bool, LeftOut] = True
    # Incremented when items are added, deleted or reordered, so that reordering an outdated list is refused.
    items_version: Annotated[Counter, LeftOut] = 0
    version: Annotated[Version, LeftOut] = 1
    # Who created it while signed in: they need no passcode.
    creator_id: UUID | None = None
    created_at: Seconds | None = None
    # A year after expires_at; admins can read and clone it until then.
    ttl: ExpiresAt | None = None

    def expired(self, now: datetime) -> bool:
        """Whether only its admins still see it: from the second of `expires_at` on."""
        return now >= self.expires_at

    @property
    def purge_at(self) -> datetime:
        """When it is deleted."""
        return self.expires_at + KEPT

    def passcode_of(self, role: Role) -> str | None:
        """The stored hash of this role's passcode."""
        return self.admin_passcode if role == "admin" else self.view_passcode

    # Consistent: it decides access on every request.
    @get(consistent=True)
    def one(short_id: ShortId) -> None:
        """What is behind this short id, and who may see or change it?"""


class ChecklistItem(
    Entity,
    table=shareables,
    key=("checklist_item#{short_id}", "01#{checklist_item_id:hex}#"),
):
    """One line of a checklist."""

    short_id: ShortId
    checklist_item_id: ItemId
    order: Order
    name: Name
    note: Note | None = None
    # From here on our additions, left out of an item that has not changed.
    done: Annotated[bool, LeftOut] = False
    done_at: Milliseconds | None = None
    version: Annotated[Version, LeftOut] = 1
    # The versions made by the last edit and by the last tick, so that an edit and a tick do not conflict.
    edited_in: Annotated[VersionNumber, LeftOut] = 1
    ticked_in: Annotated[VersionNumber, LeftOut] = 1
    # Copied from the shareable, whose row decides; here it only lets the sweeper delete the item.
    ttl: ExpiresAt | None = None
    # Ticks and edits of callers who were admitted by this version of the shareable, or an earlier one, are refused.
    fence: Annotated[int, Meta(ge=0), LeftOut] = 0

    @get(consistent=True)
    def one(short_id: ShortId, checklist_item_id: UUID) -> None:
        """One line of a checklist."""

    # A separate request, because a shareable and its items are in two partitions. Rows come in the order of their ids:
    # `order` is not part of the key, so that reordering rewrites no keys, and they are sorted in memory.
    @query(consistent=True)
    def of(short_id: ShortId) -> None:
        """All lines of a checklist."""


# The entities below are not in the design.


class DeletedItem(Entity, table=shareables, key=("deleted_item#{short_id}", "01#{checklist_item_id:hex}#")):
    """A deleted item as it was, for as long as its deletion can be undone."""

    short_id: ShortId
    checklist_item_id: ItemId
    order: Order
    name: Name
    note: Note | None = None
    done: Annotated[bool, LeftOut] = False
    done_at: Milliseconds | None = None
    item_version: Annotated[VersionNumber, LeftOut] = 1
    edited_in: Annotated[VersionNumber, LeftOut] = 1
    ticked_in: Annotated[VersionNumber, LeftOut] = 1
    ttl: ExpiresAt

    @get(consistent=True)
    def one(short_id: ShortId, checklist_item_id: UUID) -> None:
        """Can the deletion of this item still be undone?"""

    @query(consistent=True)
    def of(short_id: ShortId) -> None:
        """Which deleted items does a checklist have? They are deleted with it."""


class ShareSession(Entity, table=shareables, key=("session#{short_id}", "01#{token_hash}#")):
    """A session that was opened with a passcode, until it expires or that passcode is replaced.

    `passcode` is the hash of the passcode. Its salt is new whenever a passcode is set, so a session whose hash is no
    longer the shareable's is invalid at once, and those of the other passcode stay valid.
    """

    short_id: ShortId
    token_hash: Annotated[TokenHash, KeyOnly]
    role: Role
    passcode: PasscodeHash
    ttl: ExpiresAt

    @get(consistent=True)
    def one(short_id: ShortId, token_hash: TokenHash) -> None:
        """Which role does this token have, and by which passcode? Fetched together with the shareable."""

    @query(consistent=True)
    def of(short_id: ShortId) -> None:
        """Which sessions does a shareable have? They are deleted with it."""


class Onlookers(Entity, table=shareables, key=("onlookers#{short_id}", "01#{worker}#")):
    """How many people are viewing a shareable through one process. The row expires if that process dies."""

    short_id: ShortId
    worker: Annotated[WorkerId, KeyOnly]
    people: Annotated[int, Meta(ge=0, lt=1_000_000)]
    ttl: ExpiresAt

    @query(consistent=True)
    def of(short_id: ShortId) -> None:
        """How many people are viewing it now?"""


class CreatedShareable(Entity, table=shareables, key=("user#{creator_id:hex}", "01#{created_at}#{short_id}#")):
    """A shareable in its creator's own list: only a reference, so that it cannot differ from the shareable itself."""

    creator_id: Annotated[UUID, KeyOnly]
    created_at: Annotated[Seconds, KeyOnly, InKeys("{:%Y%m%dt%H%M%Sz}".format, _time_in_key, max_bytes=16)]
    short_id: Annotated[ShortId, KeyOnly]
    # Copied from the shareable.
    ttl: ExpiresAt

    @query(descending=True, consistent=True)
    def of_creator(creator_id: UUID) -> None:
        """Which shareables did this person create? Newest first; they themselves are then fetched by id, in a batch."""


# Stores from before CreatedShareable had its present key. A row is moved when its creator's list is read, or deleted
# with its shareable; no new ones are written.
class FormerCreatedShareable(Entity, table=shareables, key=("user#{creator_id}", "01#{created_at}#{short_id}#")):
    """A shareable in its creator's own list, under the key of earlier stores."""

    creator_id: Annotated[UUID, KeyOnly]
    created_at: Annotated[Seconds, KeyOnly]
    short_id: Annotated[ShortId, KeyOnly]
    ttl: ExpiresAt

    @query(consistent=True)
    def of_creator(creator_id: UUID) -> None:
        """Which rows of this person's list have yet to be moved?"""
