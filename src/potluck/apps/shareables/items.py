"""The items of a checklist: added, edited and ordered by admins, ticked by whoever may look."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.shareables.access import Editor, Participant
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS, ItemId, ItemIds, Name, Note
from potluck.field_types import Message
from potluck.people.secrets import Random, new_id
from potluck.table import Condition, absent, delete, present, put, the, update
from potluck.web.actions import Actions, PageForm
from potluck.web.errors import ALREADY_EXISTS, NotFound, ProblemError
from potluck.web.inputs import UNSET, Change, Input, New, Unset
from potluck.web.rate_limits import RateLimit
from potluck.web.views import View
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

__all__ = [
    "LIST",
    "ItemChange",
    "ItemView",
    "ListEditor",
    "ListFull",
    "NewItem",
    "NewOrder",
    "OrderChanged",
    "TickingOff",
    "add_item",
    "change_item",
    "delete_item",
    "in_order",
    "items",
    "new_item",
    "new_values",
    "reorder_items",
]


class ListFull(
    ProblemError, slug="list-full", title="The list is full", detail=f"A checklist has at most {MOST_ITEMS} items"
):
    """A checklist is always changed as a whole, so it can have only so many items."""


class ItemThere(ProblemError):
    problem = ALREADY_EXISTS


class TickingOff(
    ProblemError,
    slug="ticking-off",
    status=403,
    title="Viewers do not tick here",
    detail="Its admins have turned ticking off for viewers",
):
    """Whoever looks after this list has decided that only admins tick."""


class OrderChanged(
    ProblemError,
    slug="order-changed",
    title="The order changed meanwhile",
    remedy="Look at the list as it is now, and move yours again.",
    detail="These are not the items that are on the list now",
):
    """An order names every item of the list once. Somebody has added or deleted one since it was looked at. Nothing was
    changed; `itemIds` is the order as it is now."""


class InChecklist(Participant):
    """Who may look at a checklist, until it expires; what they may do there, the rule asks."""

    kinds = frozenset({"checklist"})
    edits = None
    """Whether they are about to edit, or only tick; None while nobody knows."""

    def hold_to(self, *, edits: bool) -> None:
        """Raise for somebody who may not, now or when it is written."""
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

    def allowed(self) -> Condition:
        if self.edits is False and self.role == "view":
            return super().allowed() & (the(Shareable.viewers_can_tick) == True)  # noqa: E712 - a condition
        return super().allowed()


class ListEditor(Editor):
    """The admins of a checklist, until it expires."""

    kinds = frozenset({"checklist"})

    async def items(self) -> list[ChecklistItem]:
        return in_order(await self.rows.all(ChecklistItem.of(self.short_id)))

    def items_change(self, *, as_read: bool) -> Outcome:
        """Tells whoever orders or adds at the same time to look again; `as_read`: refused if others were faster."""
        version = the(Shareable.items_version)
        when = version == self.shareable.items_version if as_read else None
        return or_retry(update(Shareable.one(self.short_id), version.add(1), when=when))


class ItemView(View[ChecklistItem]):
    checklist_item_id: UUID
    order: int
    name: str
    note: str | None
    done: bool
    done_at: datetime | None
    version: int


class NewItem(New[ChecklistItem]):
    name: Name
    note: Note | None = None
    checklist_item_id: ItemId | Unset = UNSET
    """Chosen by a device that was offline."""


class ItemChange(Change[ChecklistItem]):
    name: Name | Unset = UNSET
    note: Note | Unset | None = UNSET
    done: bool | Unset = UNSET


class NewOrder(Input):
    item_ids: ItemIds
    """Every item of the list once, first to last."""


def in_order(found: Iterable[ChecklistItem]) -> list[ChecklistItem]:
    return sorted(found, key=lambda item: (item.order, item.checklist_item_id))


def new_item(shareable: Shareable, order: int, new: NewItem, random: Random) -> ChecklistItem:
    return ChecklistItem(
        short_id=shareable.short_id,
        checklist_item_id=new.checklist_item_id or new_id(random),
        order=order,
        name=new.name,
        note=new.note,
        ttl=shareable.ttl,
    )


def new_values(thing: Any, change: Change[Any]) -> dict[str, Any]:
    """What a change says that is not so already, by name."""
    said = {name: getattr(change, name) for name in change.__struct_fields__ if name != "version"}
    return {name: value for name, value in said.items() if value is not UNSET and value != getattr(thing, name)}


LIST = "/shareables/{short_id}"

items = Actions(InChecklist, ChecklistItem.one, ItemView, api=f"{LIST}/items", page=f"{LIST}/items", tag="Shareables")


@items.action("POST", "", ListFull, ItemThere, status=201, serialized=True)
async def add_item(at: ListEditor, new: NewItem) -> Writes[ChecklistItem]:
    """Add an item to the end of a checklist. Admins only."""
    there = await at.items()
    if len(there) >= MOST_ITEMS:
        raise ListFull
    item = new_item(at.shareable, there[-1].order + 1 if there else 0, new, at.services.random)
    return Writes(item, at.items_change(as_read=True), or_raise(put(item, when=absent), ItemThere))


# A party of sixty behind one address, each ticking and unticking for some minutes, must not be told to wait.
TICKS = RateLimit("ticks", 20_000)


@items.change(TickingOff, rate_limit=TICKS, form=PageForm(path="/change", then=LIST, versioned=False))
async def change_item(at: InChecklist, item: ChecklistItem, change: ItemChange) -> Writes[ChecklistItem]:
    """Tick an item, or edit it. Whoever may look may tick, unless `viewersCanTick` is off; the rest is for admins."""
    at.hold_to(edits=change.name is not UNSET or change.note is not UNSET)
    new = new_values(item, change)
    if not new:
        return Writes(item)
    if "done" in new:
        new["done_at"] = at.now if new["done"] else None
    after, write = at.edit(item, *(the(getattr(ChecklistItem, name)).becomes(value) for name, value in new.items()))
    return Writes(after, write)


@items.delete(form=PageForm(path="/delete", then=LIST))
async def delete_item(at: ListEditor, item: ChecklistItem) -> Writes[None]:
    """Delete an item. Admins only."""
    return Writes(None, at.items_change(as_read=False), delete(item, when=present))


@items.action("PUT", "/order", OrderChanged, serialized=True, form=PageForm(then=LIST))
async def reorder_items(at: ListEditor, wanted: NewOrder) -> Writes[list[ChecklistItem]]:
    """Put the items of a checklist in another order. Admins only."""
    there = await at.items()
    by_id = {item.checklist_item_id: item for item in there}
    if sorted(wanted.item_ids) != sorted(by_id):
        raise OrderChanged(itemIds=list(by_id))
    # The numbers that are in use stay in use, each by one item: what keeps its place is not written.
    after = [replace(by_id[each], order=item.order) for each, item in zip(wanted.item_ids, there, strict=True)]
    moved = [item for item in after if item.order != by_id[item.checklist_item_id].order]
    if not moved:
        return Writes(after)
    return Writes(
        after,
        at.items_change(as_read=True),
        *(
            or_retry(
                update(
                    ChecklistItem.one(at.short_id, item.checklist_item_id),
                    the(ChecklistItem.order).becomes(item.order),
                    # Whoever ticks it meanwhile means the item, and not its place.
                    keep_version=True,
                )
            )
            for item in moved
        ),
    )


class Move(Input):
    by: Annotated[Literal[-1, 1], Message("An item moves up or down by one")]


@items.form("/move", then=LIST, serialized=True)
async def move_item(at: ListEditor, item: ChecklistItem, wanted: Move) -> Writes[list[ChecklistItem]]:
    """Let an item change places with the one before it or after it."""
    ids = [each.checklist_item_id for each in await at.items()]
    if item.checklist_item_id not in ids:
        raise NotFound
    place = ids.index(item.checklist_item_id)
    other = min(max(place + wanted.by, 0), len(ids) - 1)
    ids[place], ids[other] = ids[other], ids[place]
    return await reorder_items(at, NewOrder(item_ids=ids))
