"""The forms that create a shareable, and its share card, which shows new passcodes once."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from potluck.apps.polls.pages.frame import METHOD_NAMES, METHOD_NOTES
from potluck.apps.polls.pages.poll_form import read_lines
from potluck.apps.shareables.access import ONE, SHARE_COOKIE, PasscodeNeeded, Reader, ShareMaker
from potluck.apps.shareables.creation import NewShareable, ShareableMade, create_shareable
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.apps.shareables.pages.device import ANYONES_COOKIE, listed_first
from potluck.apps.shareables.pages.expiry import OPEN_FOR, TermsForm, days_to_choose
from potluck.apps.shareables.pages.frame import FRESH_COOKIE, address_of, home_sections, layout_context
from potluck.apps.shareables.passcodes import EQUAL, new_passcode
from potluck.apps.shareables.shareables import shareables
from potluck.people import hash_of
from potluck.validation import Text
from potluck.web import FormOf, Input, Line, SealedCookie, Show, Writes, _, qr_code

Lines = Annotated[str, Text(0, 100_000, _("This is too long."), kind="raw", trim=False)]


class NewForm(TermsForm):
    """What lists and polls have in common."""

    asks: bool = False
    """Whether viewers need a passcode."""
    view_passcode: Line = ""
    admin_passcode: Line = ""

    def terms(self, at: ShareMaker) -> dict[str, Any]:
        """Passcodes and expiry as API input."""
        view = self.view_passcode.strip() or new_passcode(at.core.random) if self.asks else None
        return {"viewPasscode": view, "adminPasscode": self.admin_passcode.strip() or None, **self.expiry()}


class NewListForm(NewForm, FormOf[NewShareable]):
    name: Line = ""
    note: Line = ""
    lines: Lines = ""
    """Items, one per line."""

    errors_at = {"items": "lines"}  # noqa: RUF012 - declared in FormOf

    def as_input(self, at: ShareMaker) -> NewShareable:
        items = [{"name": line.strip()} for line in self.lines.splitlines() if line.strip()]
        list_itself = {"entity": "checklist", "name": self.name, "note": self.note or None, "items": items}
        return NewShareable.decode({**list_itself, **self.terms(at)})


class NewPollForm(NewForm, FormOf[NewShareable]):
    """The fields of a poll are called as in the Polls app, whose form is the same."""

    asks: bool = False
    title: Line = ""
    description: Lines = ""
    candidates: Lines = ""
    """One per line, with a description after a bar."""
    seats: Line = ""
    max_rankings: Line = ""
    method: Line = ""

    errors_at = {"name": "title", "note": "description", "candidateDescriptions": "candidates"}  # noqa: RUF012

    def as_input(self, at: ShareMaker) -> NewShareable:
        names, descriptions = read_lines(self.candidates)
        numbers = {"seats": self.seats, "maxRankings": self.max_rankings}
        poll = {
            "entity": "poll",
            "name": self.title,
            "note": self.description or None,
            "candidates": names,
            "candidateDescriptions": descriptions,
            **{name: int(text) if text.isdecimal() else text for name, text in numbers.items() if text},
            **({"method": self.method} if self.method else {}),
        }
        return NewShareable.decode({**poll, **self.terms(at)})


@shareables.page("/new", "shareables/new.html")
async def new(at: ShareMaker, show: Show) -> Mapping[str, Any]:
    return {"form": show.form(NewListForm), "most_items": MOST_ITEMS, **_terms(at, "/new")}


@shareables.page("/polls/new", "shareables/new_poll.html")
async def new_poll(at: ShareMaker, show: Show) -> Mapping[str, Any]:
    begun = msgspec.to_builtins(show.done) if isinstance(show.done, BegunPoll) else {}
    form = show.form(NewPollForm, {**begun, "asks": True})
    return {"form": form, "method_names": METHOD_NAMES, "method_notes": METHOD_NOTES, **_terms(at, "/polls/new")}


def _terms(at: ShareMaker, path: str) -> dict[str, Any]:
    """What the pages of both forms show."""
    days = days_to_choose(at.core.clock())
    return {"sections": home_sections(path), "open_for": OPEN_FOR, "equal_passcodes": EQUAL, **days}


class BegunPoll(Input):
    """What was typed in the form of the Polls app before its author wanted a passcode."""

    title: Line = ""
    description: Lines = ""
    candidates: Lines = ""
    seats: Line = ""
    max_rankings: Line = ""
    method: Line = ""


@shareables.form("/polls/new", on=new_poll, then="", frees_room=True)
async def take_over(at: ShareMaker, begun: BegunPoll) -> Writes[BegunPoll]:
    """Go on with it here."""
    return Writes(begun)


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

shareables.form("", takes=NewListForm, on=new, then=to_card, sets=KEYS_OF_NEW)(create_shareable)
shareables.form("/polls", takes=NewPollForm, on=new_poll, then=to_card, sets=KEYS_OF_NEW)(create_shareable)


@shareables.page("/share", "shareables/share.html", secret=True, instead={PasscodeNeeded: f"{ONE}/unlock"})
async def share(at: Reader, shareable: Shareable, show: Show) -> Mapping[str, Any]:
    text = FRESH_COOKIE.value(at.visitor)
    if text:
        show.drop(FRESH_COOKIE)
    context = layout_context(at)
    items = 0 if shareable.poll_id is not None else len(await at.store.all(ChecklistItem.of(at.short_id)))
    fresh = msgspec.json.decode(text, type=Fresh) if text else Fresh()
    return {**context, "fresh": fresh, "items": items, "qr": qr_code(context["link"])}
