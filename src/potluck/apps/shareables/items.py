"""The items of a checklist: added, edited and ordered by admins, ticked by viewers too."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.shareables.access import Editor, Participant
from potluck.apps.shareables.entities import ChecklistItem, DeletedItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS, ItemId, ItemIds, Name, Note
from potluck.table import Operation, absent, delete, present, put, the, update
from potluck.validation import Message
from potluck.web import (
    UNSET,
    Actions,
    AlreadyThere,
    Edit,
    Input,
    New,
    NotFound,
    Outcome,
    PageForm,
    ProblemError,
    RateLimit,
    Unset,
    View,
    Writes,
    _,
    or_raise,
    or_retry,
)


class ListFull(
    ProblemError,
    slug="list-full",
    title="The list is full",
    detail=_("A checklist has at most %(most)s items", most=MOST_ITEMS),
):
    """A checklist is changed as a whole, in one transaction, so the number of its items is limited."""


class TickingOff(
    ProblemError,
    slug="ticking-off",
    status=403,
    title="Viewers can’t tick here",
    detail="Its admins have turned ticking off for viewers",
):
    """On this list only admins can tick."""


class OrderChanged(
    ProblemError,
    slug="order-changed",
    title="The list has changed",
    remedy="Load the list again, and reorder it.",
    detail="These are not the current items of the list",
):
    """An order has every item of the list once, but items were added or deleted after it was loaded. Nothing was
    changed; `itemIds` is the current order."""


class InChecklist(Participant):
    """Anyone who may view a checklist, until it expires; the rule checks by `require` what they may do."""

    kinds = frozenset({"checklist"})
    fenced = True
    edits = None
    """Whether the caller edits (True) or only ticks (False); None until the rule knows."""

    def require(self, *, edits: bool) -> None:
        """Raise if the caller may not edit (or tick), now and when it is written."""
        self.edits = edits
        self.must_admit(self.shareable)

    def must_admit(self, shareable: Shareable | None) -> None:
        super().must_admit(shareable)
        assert shareable is not None
        if self.edits is None or self.role_in(shareable) == "admin":
            return
        if self.edits:
            self.refuse_viewer(shareable)
        if not shareable.viewers_can_tick:
            raise TickingOff


class ListEditor(Editor):
    """The admins of a checklist, until it expires."""

    kinds = frozenset({"checklist"})

    async def items(self) -> list[ChecklistItem]:
        return in_order(await self.store.all(ChecklistItem.of(self.short_id)))

    def items_change(self, *, as_read: bool) -> Outcome:
        """Increments the version that additions and reorderings check; with `as_read`, retries if it has changed."""
        version = the(Shareable.items_version)
        when = version == self.shareable.items_version if as_read else None
        return or_retry(update(Shareable.one(self.short_id), version.add(1), when=when))


class ChecklistItemView(View[ChecklistItem]):
    checklist_item_id: UUID
    order: int
    name: str
    note: str | None
    done: bool
    done_at: datetime | None
    version: int


class NewChecklistItem(New[ChecklistItem]):
    name: Name
    note: Note | None = None
    checklist_item_id: ItemId | Unset = UNSET
    """Chosen by the client, so that it can add items offline."""


class ChecklistItemEdit(Edit[ChecklistItem]):
    name: Name | Unset = UNSET
    note: Note | Unset | None = UNSET
    done: bool | Unset = UNSET

    @property
    def edits(self) -> bool:
        """Whether it changes more than the tick."""
        return self.name is not UNSET or self.note is not UNSET

    def outdated(self, thing: Any, version: int) -> bool:
        """An edit is outdated by another edit, a tick by another tick."""
        edited, ticked = version < thing.edited_in, version < thing.ticked_in
        return version > thing.version or (self.edits and edited) or (self.done is not UNSET and ticked)


class Restored(Input):
    checklist_item_id: ItemId


class NewOrder(Input):
    item_ids: ItemIds
    """Every item of the list once, first to last."""


def in_order(items: Iterable[ChecklistItem]) -> list[ChecklistItem]:
    return sorted(items, key=lambda item: (item.order, item.checklist_item_id))


def new_item(shareable: Shareable, order: int, new: NewChecklistItem, new_id: Callable[[], UUID]) -> ChecklistItem:
    return ChecklistItem(
        short_id=shareable.short_id,
        checklist_item_id=new.checklist_item_id or new_id(),
        order=order,
        name=new.name,
        note=new.note,
        ttl=shareable.ttl,
        fence=shareable.version - 1,
    )


def new_values(thing: Any, change: Edit[Any]) -> dict[str, Any]:
    """The fields that the change actually changes, by name."""
    values = {name: getattr(change, name) for name in change.__struct_fields__ if name != "version"}
    return {name: value for name, value in values.items() if value is not UNSET and value != getattr(thing, name)}


LIST = "/shareables/{short_id}"
UNDO_LASTS = timedelta(minutes=10)
COPIED_FIELDS = ("short_id", "checklist_item_id", "order", "name", "note", "done", "done_at", "edited_in", "ticked_in")

items = Actions(
    InChecklist, ChecklistItem.one, ChecklistItemView, api=f"{LIST}/items", page=f"{LIST}/items", tag="Shareables"
)


@items.action("POST", "", ListFull, AlreadyThere, status=201, serialized=True)
async def add_item(at: ListEditor, new: NewChecklistItem) -> Writes[ChecklistItem]:
    """Add an item to the end of a checklist. Admins only."""
    others = await at.items()
    if len(others) >= MOST_ITEMS:
        raise ListFull
    item = new_item(at.shareable, others[-1].order + 1 if others else 0, new, at.new_id)
    return Writes(item, at.items_change(as_read=True), or_raise(put(item, when=absent), AlreadyThere))


# Sixty people at a party, sharing one address and ticking for minutes, must not be rate-limited.
TICKS = RateLimit("ticks", 20_000)


@items.change(TickingOff, rate_limit=TICKS, form=PageForm(path="/change", then=LIST, versioned=False))
async def change_item(at: InChecklist, item: ChecklistItem, change: ChecklistItemEdit) -> Writes[ChecklistItem]:
    """Tick an item, or edit it. Viewers may tick, unless `viewersCanTick` is off; everything else is for admins."""
    at.require(edits=change.edits)
    new = new_values(item, change)
    if not new:
        return Writes(item)
    version = item.version + 1
    if new.keys() & {"name", "note"}:
        new["edited_in"] = version
    if "done" in new:
        new |= {"done_at": at.now if new["done"] else None, "ticked_in": version}
    changes = (the(getattr(ChecklistItem, name)).becomes(value) for name, value in new.items())
    after, write = at.edit(item, *changes, when=the(ChecklistItem.fence) < at.shareable.version)
    # After a retry, a concurrent tick and edit both succeed; of two edits, the second is a conflict.
    return Writes(after, or_retry(write))


@items.delete(form=PageForm(path="/delete", then=f"{LIST}?deleted={{checklist_item_id}}"))
async def delete_item(at: ListEditor, item: ChecklistItem) -> Writes[None]:
    """Delete an item. Admins only; for ten minutes they can restore it."""
    # The copy for restoring is of the item as it was read, so a later change is read first.
    deletion = or_retry(delete(item, when=the(ChecklistItem.version) == item.version))
    return Writes(None, at.items_change(as_read=False), deletion, put(_deleted(item, at.now)))


@items.action("POST", "/restore", ListFull, AlreadyThere, status=201, serialized=True, form=PageForm(then=LIST))
async def restore_item(at: ListEditor, deletion: Restored) -> Writes[ChecklistItem]:
    """Restore an item that was deleted less than ten minutes ago: as it was, in its place. Admins only."""
    deleted = await at.store.get(DeletedItem.one(at.short_id, deletion.checklist_item_id))
    if deleted is None:
        raise NotFound
    others = await at.items()
    if len(others) >= MOST_ITEMS:
        raise ListFull
    item = _restored(deleted, at.shareable)
    moved = _making_room(others, item.order)
    return Writes(
        item,
        at.items_change(as_read=True),
        # Of two concurrent requests, one restores it.
        or_retry(delete(deleted, when=present)),
        or_raise(put(item, when=absent), AlreadyThere),
        *map(or_retry, moved),
    )


def _deleted(item: ChecklistItem, now: datetime) -> DeletedItem:
    fields = {name: getattr(item, name) for name in COPIED_FIELDS}
    return DeletedItem(**fields, item_version=item.version, ttl=int((now + UNDO_LASTS).timestamp()))


def _restored(deleted: DeletedItem, shareable: Shareable) -> ChecklistItem:
    fields = {name: getattr(deleted, name) for name in COPIED_FIELDS}
    return ChecklistItem(**fields, version=deleted.item_version, ttl=shareable.ttl, fence=shareable.version - 1)


def _making_room(others: Iterable[ChecklistItem], order: int) -> list[Operation]:
    """The writes that free this order number, if an item that was added since has it."""
    moved: list[Operation] = []
    for item in others:
        if item.order == order + len(moved):
            moved.append(_moved(item, item.order + 1))
    return moved


@items.action("PUT", "/order", OrderChanged, serialized=True, form=PageForm(then=LIST))
async def reorder_items(at: ListEditor, order: NewOrder) -> Writes[list[ChecklistItem]]:
    """Reorder the items of a checklist. Admins only."""
    before = await at.items()
    by_id = {item.checklist_item_id: item for item in before}
    if sorted(order.item_ids) != sorted(by_id):
        raise OrderChanged(itemIds=list(by_id))
    # The same order numbers are reused, so that items that keep their place are not written.
    after = [replace(by_id[item_id], order=item.order) for item_id, item in zip(order.item_ids, before, strict=True)]
    moved = [item for item in after if item.order != by_id[item.checklist_item_id].order]
    if not moved:
        return Writes(after)
    return Writes(
        after,
        at.items_change(as_read=True),
        *(or_retry(_moved(item, item.order)) for item in moved),
    )


def _moved(item: ChecklistItem, order: int) -> Operation:
    row = ChecklistItem.one(item.short_id, item.checklist_item_id)
    # Moving an item must not make a concurrent tick of it a version conflict.
    return update(row, the(ChecklistItem.order).becomes(order), keep_version=True)


class ItemMove(Input):
    by: Annotated[Literal[-1, 1], Message("An item moves up or down by one")]


@items.form("/move", then=LIST, serialized=True)
async def move_item(at: ListEditor, item: ChecklistItem, move: ItemMove) -> Writes[list[ChecklistItem]]:
    """Swap an item with the one before or after it."""
    ids = [row.checklist_item_id for row in await at.items()]
    if item.checklist_item_id not in ids:
        raise NotFound
    place = ids.index(item.checklist_item_id)
    other = min(max(place + move.by, 0), len(ids) - 1)
    ids[place], ids[other] = ids[other], ids[place]
    return await reorder_items(at, NewOrder(item_ids=ids))
