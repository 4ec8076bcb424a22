"""The form that creates a shareable, and the card to share it by, which shows new passcodes once."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from potluck.apps.shareables.access import PasscodeNeeded, Reader
from potluck.apps.shareables.creation import NewShareable, ShareableMade, create_shareable
from potluck.apps.shareables.entities import ChecklistItem
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.apps.shareables.pages.device import keep_opened
from potluck.apps.shareables.pages.expiry import OPEN_FOR, TermsForm, days_to_choose
from potluck.apps.shareables.pages.frame import (
    FRESH_COOKIE,
    ONE,
    address_of,
    keep_session,
    layout_context,
    page,
    to_unlock,
)
from potluck.apps.shareables.passcodes import new_passcode
from potluck.apps.shareables.shareables import HOME, shareables
from potluck.people import NotNow, Random, hash_of
from potluck.validation import FieldError, Text, ValidationError, decode_tree
from potluck.web import Call, Cookie, Endpoints, Line, blank, qr_code, redirect

FRESH_SECONDS = 600

pages = Endpoints()


class NewForm(TermsForm):
    entity: Line = "checklist"
    name: Line = ""
    note: Line = ""
    lines: Annotated[str, Text(0, 100_000, "That is more than fits on a list", trim=False)] = ""
    """Items or candidates, one per line."""
    asks: bool = False
    """Whether viewers need a passcode."""
    view_passcode: Line = ""
    admin_passcode: Line = ""

    def as_sent(self, random: Random) -> dict[str, Any]:
        """The same as API input."""
        lines = [each.strip() for each in self.lines.splitlines() if each.strip()]
        inside = {"candidates": lines} if self.entity == "poll" else {"items": [{"name": each} for each in lines]}
        view = self.view_passcode.strip() or new_passcode(random) if self.asks else None
        passcodes = {"viewPasscode": view, "adminPasscode": self.admin_passcode.strip() or None}
        common = {"entity": self.entity, "name": self.name, "note": self.note or None}
        return {**common, **inside, **passcodes, **self.expiry()}


@pages.get(f"{HOME}/new")
async def new(call: Call) -> Response:
    return page(call, "new", form=blank(NewForm, {"entity": call.query.get("kind", "checklist")}), **_choices(call))


@pages.post(HOME)
async def make(call: Call) -> Response:
    filled = await call.form(NewForm)
    refusal: Exception | None = None
    if filled.is_valid:
        try:
            sent = decode_tree(NewShareable, filled.value.as_sent(call.context.random))
            return to_card(call, await call.perform(shareables, create_shareable, sent))
        except ValidationError as error:
            refusal = _beside_fields(error)
        except NotNow as error:
            refusal = error
    refused = call.refused(filled, refusal)
    return page(call, "new", status=refused.status, headers=refused.headers, form=refused.form, **_choices(call))


def _choices(call: Call) -> dict[str, Any]:
    return {"open_for": OPEN_FOR, "most_items": MOST_ITEMS, **days_to_choose(call.core.clock())}


def _beside_fields(error: ValidationError) -> ValidationError:
    """The errors, moved to the form's one field for items and candidates."""
    inside = ("items", "candidates")
    return ValidationError(
        *(
            FieldError("lines" if each.field.partition("[")[0] in inside else each.field, each.message)
            for each in error.errors
        )
    )


# --- the card ---------------------------------------------------------------------------------------------------------


class Fresh(Struct, array_like=True, frozen=True):
    """Passcodes that were just set, for the one page that shows them."""

    view: str | None = None
    admin: str | None = None
    replaced: bool = False
    """Whether they replace earlier ones."""


def to_card(call: Call, made: ShareableMade) -> Response:
    """Redirect to its card, signed in as its admin."""
    session = keep_session(call, made.short_id, made.admin_token)
    fresh = shown_once(call, made.short_id, Fresh(made.view_passcode, made.admin_passcode))
    # What is made signed in is in the person's own list.
    listed = keep_opened(call, made.short_id, hash_of(made.admin_token)) if call.principal is None else ()
    return redirect(f"{address_of(made.short_id)}/share", *session, *fresh, *listed)


def shown_once(call: Call, short_id: str, fresh: Fresh) -> Sequence[Cookie]:
    """The cookies by which the card shows these passcodes once, without putting them in a URL or storing them."""
    return call.keep(FRESH_COOKIE, msgspec.json.encode(fresh).decode(), FRESH_SECONDS, address_of(short_id))


@pages.get(f"{ONE}/share")
async def share(call: Call) -> Response:
    try:
        at = await call.admit(Reader)
    except PasscodeNeeded:
        return redirect(to_unlock(call))
    kept = call.visitor.cookie(FRESH_COOKIE)
    fresh = msgspec.json.decode(kept, type=Fresh) if kept else Fresh()
    shown = layout_context(at)
    items = 0
    if at.shareable.poll_id is None:
        items = len(await at.store.all(ChecklistItem.of(at.short_id)))
    taken_away = call.drop(FRESH_COOKIE, shown["address"]) if kept else ()
    return page(call, "share", *taken_away, fresh=fresh, items=items, qr=qr_code(shown["link"]), **shown)
