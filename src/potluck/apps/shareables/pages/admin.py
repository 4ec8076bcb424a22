"""The pages for admins: settings, items, passcodes, cloning and deleting."""

from datetime import datetime
from typing import Any

from starlette.responses import Response

from potluck.apps.shareables.access import Editor, Keeper, Reader
from potluck.apps.shareables.creation import Clone, clone_shareable
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.apps.shareables.items import LIST, ItemChange, ListEditor, NewItem, add_item, change_item, items
from potluck.apps.shareables.pages.creation import Fresh, shown_once, to_card
from potluck.apps.shareables.pages.expiry import OPEN_FOR, TermsForm, end_of
from potluck.apps.shareables.pages.frame import ONE, address_of, keep_session, layout_context, page
from potluck.apps.shareables.pages.settings import SettingsForm, as_filled_in, labels_of
from potluck.apps.shareables.passcodes import PasscodeChange, Unlock, new_passcode
from potluck.apps.shareables.shareables import (
    ShareableChange,
    change_shareable,
    open_session,
    replace_passcodes,
    shareables,
)
from potluck.people import NotNow
from potluck.validation import ValidationError, decode_tree
from potluck.web import UNSET, Call, Endpoints, Form, Input, Line, Show, Writes, blank, redirect

pages = Endpoints()


# --- its name, its note and its rules ---------------------------------------------------------------------------------


@shareables.page("/edit", "shareables/edit.html")
async def edit_page(at: Editor, shareable: Shareable, show: Show) -> dict[str, Any]:
    # The page of the shareable sends some of the fields.
    form = show.form(SettingsForm, as_filled_in(shareable)).filled_up(as_filled_in(shareable))
    labels = labels_of(shareable, form.sent)
    theirs = None if show.clash is None else as_filled_in(show.clash)
    conflict = form.conflict(show.clash, labels, theirs, {"until": _day, "expiresAt": _day})
    return {**layout_context(at), "form": form, "conflict": conflict}


def _day(typed: str) -> datetime | str:
    """A day or a time that was typed, for a page to show; as it was typed if it is neither."""
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
    return {**layout_context(at), "form": show.form(NewItem), "most_items": MOST_ITEMS}


items.form("", then=LIST, on=add_page, serialized=True)(add_item)


@items.page("/edit", "shareables/edit_item.html")
async def item_page(at: ListEditor, item: ChecklistItem, show: Show) -> dict[str, Any]:
    form = show.form(ItemChange, item)
    conflict = form.conflict(show.clash, {"name": "What", "note": "Note"})
    return {**layout_context(at), "item": item, "form": form, "conflict": conflict}


items.form("/edit", then=LIST, on=item_page)(change_item)


# --- passcodes --------------------------------------------------------------------------------------------------------


class PasscodesForm(Input):
    view: Line = ""
    admin: Line = ""
    open: bool = False
    """Whether viewers need no passcode from now on."""
    made: bool = False
    """Whether to generate new ones, replacing all existing ones."""


@pages.get(f"{ONE}/passcodes")
async def passcodes_page(call: Call) -> Response:
    at = await call.admit(Editor)
    return page(call, "passcodes", form=blank(PasscodesForm), **layout_context(at))


@pages.post(f"{ONE}/passcodes")
async def passcodes(call: Call) -> Response:
    at = await call.admit(Editor)
    filled = await call.form(PasscodesForm)
    refusal: Exception | None = None
    if filled.is_valid:
        given = _wanted(at, filled.value)
        try:
            await call.perform(shareables, replace_passcodes, decode_tree(PasscodeChange, given))
            view, admin = given.get("view"), given.get("admin")
            cookies = [*shown_once(call, at.short_id, Fresh(view, admin, replaced=True))] if view or admin else []
            if admin and at.session is not None:
                # Replacing the passcode ended their own session.
                opened = await call.perform(shareables, open_session, Unlock(passcode=admin))
                cookies += keep_session(call, at.short_id, opened.token)
            return redirect(f"{address_of(at.short_id)}/share" if cookies else address_of(at.short_id), *cookies)
        except (ValidationError, NotNow) as error:
            refusal = error
    return _again(call, "passcodes", filled, refusal, at)


def _wanted(at: Editor, said: PasscodesForm) -> dict[str, str | None]:
    """The form as API input."""
    if said.made:
        random = at.services.random
        view = {} if at.shareable.view_passcode is None else {"view": new_passcode(random)}
        return {**view, "admin": new_passcode(random)}
    view_said = {"view": None} if said.open else {"view": said.view} if said.view.strip() else {}
    return {**view_said, **({"admin": said.admin} if said.admin.strip() else {})}


# --- cloning ----------------------------------------------------------------------------------------------------------


class CloneForm(TermsForm):
    name: Line = ""
    keep_ticks: bool = False

    def as_sent(self) -> dict[str, Any]:
        """The same as API input."""
        named = {"name": self.name} if self.name.strip() else {}
        return {**named, **self.expiry(), "keepTicks": self.keep_ticks}


@pages.get(f"{ONE}/clone")
async def clone_page(call: Call) -> Response:
    at = await call.admit(Keeper)
    return page(call, "clone", **layout_context(at), **to_clone(), done=await _ticked(at))


@pages.post(f"{ONE}/clone")
async def clone(call: Call) -> Response:
    at = await call.admit(Keeper)
    filled = await call.form(CloneForm)
    refusal: Exception | None = None
    if filled.is_valid:
        try:
            sent = decode_tree(Clone, filled.value.as_sent())
            return to_card(call, await call.perform(shareables, clone_shareable, sent))
        except (ValidationError, NotNow) as error:
            refusal = error
    return _again(call, "clone", filled, refusal, at, **to_clone(), done=await _ticked(at))


def to_clone() -> dict[str, Any]:
    """What the form to clone one shows."""
    return {"form": blank(CloneForm), "open_for": OPEN_FOR}


async def _ticked(at: Keeper) -> int:
    return sum(each.done for each in await at.store.all(ChecklistItem.of(at.short_id)))


# --- deleting ---------------------------------------------------------------------------------------------------------


@shareables.page("/delete", "shareables/delete.html")
async def delete_page(at: Keeper, shareable: Shareable) -> dict[str, Any]:
    return layout_context(at)


def _again(call: Call, name: str, filled: Form[Any], refusal: Exception | None, at: Reader, **context: Any) -> Response:
    refused = call.refused(filled, refusal)
    shown = {**layout_context(at), **context, "form": refused.form}
    return page(call, name, status=refused.status, headers=refused.headers, **shown)
