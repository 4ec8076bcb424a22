"""What the pages share: the frame around a shareable, and its cookies."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import Response

from potluck.apps.shareables.access import SHARE_COOKIE, Reader, ToShareable
from potluck.apps.shareables.ballots import VOTE_COOKIE, VOTER_COOKIE
from potluck.apps.shareables.pages.expiry import days_to_choose
from potluck.apps.shareables.pages.settings import SettingsForm, as_filled_in
from potluck.apps.shareables.passcodes import SESSION_LASTS
from potluck.apps.shareables.shareables import HOME
from potluck.web import Call, Cookie, Section, blank

ONE = f"{HOME}/{{short_id}}"
# Search engines must not list any page.
UNLISTED = {"x-robots-tag": "noindex"}
# Passcodes that were just set, for the one page that shows them.
FRESH_COOKIE = "potluck-share-fresh"
# User agents of messengers and search engines, which fetch a link to preview it. Cubot is a maker of phones.
PREVIEWS = re.compile(
    r"(?<!cu)bot\b|crawl|spider|scrap|preview|externalhit|embed|unfurl|snippet|iframely"
    r"|whatsapp|skype|viber|mastodon|pleroma|akkoma|cardyb",
    re.IGNORECASE,
)
UNITS = ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute"))


def page(call: Call, name: str, *cookies: Cookie, headers: Mapping[str, str] | None = None, **context: Any) -> Response:
    """A page of the app: never indexed, and without anything of a shareable if it is fetched for a link preview."""
    if "shareable" in context and previews(call):
        name, cookies = "preview", ()
    return call.page(f"shareables/{name}.html", *cookies, headers={**UNLISTED, **(headers or {})}, **context)


def previews(call: Call) -> bool:
    """Whether the page is fetched for a link preview or by a crawler."""
    return PREVIEWS.search(call.request.headers.get("user-agent", "")) is not None


def address_of(short_id: str) -> str:
    return f"{HOME}/{short_id}"


def to_unlock(call: Call) -> str:
    """The address of the page that asks for this shareable's passcode."""
    return f"{address_of(call.text('short_id'))}/unlock"


def layout_context(at: ToShareable) -> dict[str, Any]:
    """What every page about a shareable shows."""
    shareable = at.shareable
    address = address_of(at.short_id)
    return {
        "shareable": shareable,
        "settings": blank(SettingsForm, as_filled_in(shareable)),
        "kind": "poll" if shareable.entity == "poll" else "list",
        "address": address,
        "link": f"{at.visitor.origin}{address}",
        "admin": at.role == "admin",
        "open": not shareable.expired(at.now),
        "left": days_left(shareable.expires_at, at.now),
        **days_to_choose(at.now),
        # Offers to forget the session on this device.
        "unlocked": at.session is not None,
    }


def days_left(end: datetime, now: datetime) -> str:
    """How long it stays open, in the largest unit that fits."""
    for unit, name in UNITS:
        # Rounded up a little: created for a week a moment ago, it has a week left.
        if (count := (end - now + unit / 24) // unit) > 0:
            return f"{count} {name}{'' if count == 1 else 's'} left"
    return "closes within a minute"


def vote_sections(at: Reader, current: str) -> list[Section]:
    """The sections of a poll, for the bottom bar."""
    parts = (("vote", "vote", "Vote", ""), ("results", "chart-column", "Results", "/results"))
    return [Section(address_of(at.short_id) + path, icon, name, each == current) for each, icon, name, path in parts]


# --- cookies, scoped to the pages of one shareable --------------------------------------------------------------------


def keep_session(call: Call, short_id: str, token: str) -> Sequence[Cookie]:
    return call.keep(SHARE_COOKIE, token, int(SESSION_LASTS.total_seconds()), address_of(short_id))


def forget_one(call: Call, short_id: str) -> list[Cookie]:
    """Expired cookies, which delete everything the browser keeps about it."""
    names = (SHARE_COOKIE, VOTER_COOKIE, VOTE_COOKIE, FRESH_COOKIE)
    return [cookie for name in names for cookie in call.drop(name, address_of(short_id))]
