"""The document of the shareables, taken literally."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from potluck.table import Entity, InKeys, KeyOnly, Milliseconds, Table

short_id_pool = Table("ShortIdPool", "pk", "sk", numbers=("pk",))
shareables = Table("Shareables", "pk", "sk", type_attribute="entity")

# "Dynamic segments are lowercase, with spaces and - removed."
ShortId = Annotated[
    str,
    Meta(min_length=13, max_length=13),
    InKeys(lambda text: text.replace("-", ""), lambda text: f"{text[:3]}-{text[3:6]}-{text[6:]}", max_bytes=11),
]


class ShortIdPoolEntry(Entity, table=short_id_pool, key=("{partition}", "available#{bucket:02}")):
    """Used to reserve a unique ShortId for an entity."""

    partition: Annotated[int, Meta(ge=0, le=999), KeyOnly]
    bucket: Annotated[int, Meta(ge=0, le=99), KeyOnly]
    id: Annotated[str, Meta(max_length=13)]


class Checklist(Entity, table=shareables, type="checklist", key=("shareable#{short_id}", "01#")):
    """A shareable with items."""

    short_id: ShortId
    name: str
    view_passcode: str
    admin_passcode: str
    expires_at: Milliseconds
    note: str


class Poll(Entity, table=shareables, type="poll", key=("shareable#{short_id}", "01#")):
    """A shareable with votes."""

    short_id: ShortId
    name: str
    view_passcode: str
    admin_passcode: str
    expires_at: Milliseconds


class ChecklistItem(Entity, table=shareables, key=("checklist_item#{short_id}", "01#{checklist_item_id:hex}#")):
    """A line of a checklist."""

    short_id: ShortId
    checklist_item_id: UUID
    order: int
    name: str
    note: str | None = None
