"""The form that creates a shareable, and its share card, which shows new passcodes once."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from potluck.apps.shareables.access import ONE, SHARE_COOKIE, PasscodeNeeded, Reader, ShareMaker
from potluck.apps.shareables.creation import NewShareable, ShareableMade, create_shareable
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.apps.shareables.pages.device import ANYONES_COOKIE, listed_first
from potluck.apps.shareables.pages.expiry import OPEN_FOR, TermsForm, days_to_choose
from potluck.apps.shareables.pages.frame import FRESH_COOKIE, address_of, home_sections, layout_context
from potluck.apps.shareables.passcodes import new_passcode
from potluck.apps.shareables.shareables import shareables
from potluck.people import hash_of
from potluck.validation import Text
from potluck.web import FormOf, Line, SealedCookie, Show, qr_code


class NewForm(TermsForm, FormOf[NewShareable]):
    entity: Line = "checklist"
    name: Line = ""
    note: Line = ""
    lines: Annotated[str, Text(0, 100_000, "This is too long for a list", kind="raw", trim=False)] = ""
    """Items or candidates, one per line."""
    asks: bool = False
    """Whether viewers need a passcode."""
    view_passcode: Line = ""
    admin_passcode: Line = ""

    errors_at = {"items": "lines", "candidates": "lines"}  # noqa: RUF012 - declared in FormOf

    def as_input(self, at: ShareMaker) -> NewShareable:
        lines = [line.strip() for line in self.lines.splitlines() if line.strip()]
        inside = {"candidates": lines} if self.entity == "poll" else {"items": [{"name": line} for line in lines]}
        view = self.view_passcode.strip() or new_passcode(at.core.random) if self.asks else None
        passcodes = {"viewPasscode": view, "adminPasscode": self.admin_passcode.strip() or None}
        common = {"entity": self.entity, "name": self.name, "note": self.note or None}
        return NewShareable.decode({**common, **inside, **passcodes, **self.expiry()})


@shareables.page("/new", "shareables/new.html")
async def new(at: ShareMaker, show: Show) -> Mapping[str, Any]:
    form = show.form(NewForm, {"entity": show.query.get("kind", "checklist")})
    return {
        "sections": home_sections("/new"),
        "form": form,
        "open_for": OPEN_FOR,
        "most_items": MOST_ITEMS,
        **days_to_choose(at.core.clock()),
    }


# --- the card ---------------------------------------------------------------------------------------------------------


class Fresh(Struct, array_like=True, frozen=True):
    """Passcodes that were just set, for the one page that shows them."""

    view: str | None = None
    admin: str | None = None
    replaced: bool = False
    """Whether they replace earlier ones."""


def fresh_text(fresh: Fresh) -> str:
    """The value of the cookie from which the card shows these passcodes once: in no URL, and never stored."""
    return msgspec.json.encode(fresh).decode()


def to_card(at: Any, new: ShareableMade) -> str:
    """The address of the card of a new shareable."""
    return f"{address_of(new.short_id)}/share"


def _listed(at: ShareMaker, new: ShareableMade) -> str | None:
    """This device's list, with the new shareable; a signed-in person finds it in their own list."""
    return listed_first(at, new.short_id, hash_of(new.admin_token))[1] if at.principal is None else None


# The creator is its admin in this browser.
KEYS_OF_NEW: Mapping[SealedCookie, Any] = {
    SHARE_COOKIE: "admin_token",
    FRESH_COOKIE: lambda at, new: fresh_text(Fresh(new.view_passcode, new.admin_passcode)),
    ANYONES_COOKIE: _listed,
}

shareables.form("", takes=NewForm, on=new, then=to_card, sets=KEYS_OF_NEW)(create_shareable)


@shareables.page("/share", "shareables/share.html", secret=True, instead={PasscodeNeeded: f"{ONE}/unlock"})
async def share(at: Reader, shareable: Shareable, show: Show) -> Mapping[str, Any]:
    text = FRESH_COOKIE.value(at.visitor)
    if text:
        show.drop(FRESH_COOKIE)
    context = layout_context(at)
    items = 0 if shareable.poll_id is not None else len(await at.store.all(ChecklistItem.of(at.short_id)))
    fresh = msgspec.json.decode(text, type=Fresh) if text else Fresh()
    return {**context, "fresh": fresh, "items": items, "qr": qr_code(context["link"])}
