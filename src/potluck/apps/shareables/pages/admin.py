"""The pages for admins: settings, items, passcodes, cloning and deleting."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from potluck.apps.shareables.access import SHARE_COOKIE, Editor, Keeper
from potluck.apps.shareables.creation import Clone, clone_shareable
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.apps.shareables.items import (
    LIST,
    ChecklistItemEdit,
    ListEditor,
    NewChecklistItem,
    add_item,
    change_item,
    items,
)
from potluck.apps.shareables.pages.creation import KEYS_OF_NEW, Fresh, fresh_text, to_card
from potluck.apps.shareables.pages.expiry import OPEN_FOR, TermsForm, end_of
from potluck.apps.shareables.pages.frame import FRESH_COOKIE, address_of, layout_context
from potluck.apps.shareables.pages.settings import SettingsForm, as_filled_in, labels_of
from potluck.apps.shareables.passcodes import PasscodeChange, new_passcode, opened
from potluck.apps.shareables.shareables import ShareableChange, change_shareable, replace_passcodes, shareables
from potluck.table import put
from potluck.web import UNSET, FormOf, Line, Show, Writes, _

# --- its name, its note and its rules ---------------------------------------------------------------------------------


@shareables.page("/edit", "shareables/edit.html")
async def edit_page(at: Editor, shareable: Shareable, show: Show) -> dict[str, Any]:
    # The shareable's own page sends only some of the fields.
    form = show.form(SettingsForm, as_filled_in(shareable)).filled_up(as_filled_in(shareable))
    labels = labels_of(shareable, form.sent)
    theirs = None if show.clash is None else as_filled_in(show.clash)
    conflict = form.conflict(show.clash, labels, theirs, {"until": _day, "expiresAt": _day})
    return {**layout_context(at), "form": form, "conflict": conflict}


def _day(typed: str) -> datetime | str:
    """A day or time that was typed, for a page to show; as it was typed if it is neither."""
    try:
        return datetime.fromisoformat(typed)
    except ValueError:
        return typed


@shareables.form("/settings", then=LIST, on=edit_page)
async def change_by_form(at: Editor, shareable: Shareable, sent: SettingsForm) -> Writes[Shareable]:
    end = sent.expires_at
    if end is UNSET and sent.until not in ("", shareable.expires_at.date().isoformat()):
        end = end_of(sent.until)
    change = ShareableChange(name=sent.name, note=sent.note, expires_at=end, viewers_can_tick=sent.viewers_can_tick)
    return await change_shareable(at, shareable, change)


# --- its items --------------------------------------------------------------------------------------------------------


@items.page("", "shareables/add.html")
async def add_page(at: ListEditor, show: Show) -> dict[str, Any]:
    return {**layout_context(at), "form": show.form(NewChecklistItem), "most_items": MOST_ITEMS}


items.form("", then=LIST, on=add_page, serialized=True)(add_item)


@items.page("/edit", "shareables/edit_item.html")
async def item_page(at: ListEditor, item: ChecklistItem, show: Show) -> dict[str, Any]:
    form = show.form(ChecklistItemEdit, item)
    conflict = form.conflict(show.clash, {"name": _("Item"), "note": _("Note")})
    return {**layout_context(at), "item": item, "form": form, "conflict": conflict}


items.form("/edit", then=LIST, on=item_page)(change_item)


# --- passcodes --------------------------------------------------------------------------------------------------------


class PasscodesForm(FormOf[PasscodeChange]):
    view: Line = ""
    admin: Line = ""
    open: bool = False
    """Whether viewers need no passcode from now on."""
    made: bool = False
    """Whether to generate new ones, replacing all existing ones."""

    def as_input(self, at: Editor) -> PasscodeChange:
        return PasscodeChange.decode(self._wanted(at))

    def _wanted(self, at: Editor) -> dict[str, str | None]:
        if self.made:
            view = {} if at.shareable.view_passcode is None else {"view": new_passcode(at.core.random)}
            return {**view, "admin": new_passcode(at.core.random)}
        typed_view = {"view": None} if self.open else {"view": self.view} if self.view.strip() else {}
        return {**typed_view, **({"admin": self.admin} if self.admin.strip() else {})}


class PasscodesSet(Struct, frozen=True, kw_only=True):
    """The passcodes that were set, and the new session of the admin who set them."""

    fresh: str | None
    token: str | None


@shareables.page("/passcodes", "shareables/passcodes.html")
async def passcodes_page(at: Editor, shareable: Shareable, show: Show) -> dict[str, Any]:
    return {**layout_context(at), "form": show.form(PasscodesForm)}


def _after_passcodes(at: Editor, passcodes: PasscodesSet) -> str:
    return f"{address_of(at.short_id)}/share" if passcodes.fresh else address_of(at.short_id)


@shareables.form(
    "/passcodes",
    takes=PasscodesForm,
    on=passcodes_page,
    then=_after_passcodes,
    sets={FRESH_COOKIE: "fresh", SHARE_COOKIE: "token"},
)
async def replace_by_form(at: Editor, shareable: Shareable, change: PasscodeChange) -> Writes[PasscodesSet]:
    writes = await replace_passcodes(at, shareable, change)
    view, admin = change.view or None, change.admin or None
    fresh = fresh_text(Fresh(view, admin, replaced=True)) if view or admin else None
    if admin is None or at.session is None:
        return writes.answering(PasscodesSet(fresh=fresh, token=None))
    # Replacing the passcode ends their own session.
    session, row = opened(at, writes.answer, "admin")
    return Writes(PasscodesSet(fresh=fresh, token=session.token), *writes.operations, put(row), secret=True)


# --- cloning ----------------------------------------------------------------------------------------------------------


class CloneForm(TermsForm, FormOf[Clone]):
    name: Line = ""
    keep_ticks: bool = False

    def as_input(self, at: Keeper) -> Clone:
        named = {"name": self.name} if self.name.strip() else {}
        return Clone.decode({**named, **self.expiry(), "keepTicks": self.keep_ticks})


@shareables.page("/clone", "shareables/clone.html")
async def clone_page(at: Keeper, shareable: Shareable, show: Show) -> dict[str, Any]:
    return {**layout_context(at), **to_clone(show), "done": await _ticked(at)}


shareables.form("/clone", takes=CloneForm, on=clone_page, then=to_card, sets=KEYS_OF_NEW)(clone_shareable)


def to_clone(show: Show) -> dict[str, Any]:
    """Template values of the form that clones one."""
    return {"form": show.form(CloneForm), "open_for": OPEN_FOR}


async def _ticked(at: Keeper) -> int:
    return sum(item.done for item in await at.store.all(ChecklistItem.of(at.short_id)))


# --- deleting ---------------------------------------------------------------------------------------------------------


@shareables.page("/delete", "shareables/delete.html")
async def delete_page(at: Keeper, shareable: Shareable) -> dict[str, Any]:
    return layout_context(at)
