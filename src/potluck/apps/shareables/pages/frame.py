"""What the pages have in common: their files, what stands around a shareable, and what a browser keeps of it."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.pages.frame import FILES as POLLS_FILES
from potluck.apps.shareables.access import SHARE_COOKIE, Reader, ToShareable
from potluck.apps.shareables.ballots import VOTE_COOKIE, VOTER_COOKIE
from potluck.apps.shareables.pages.terms import days_to_choose
from potluck.apps.shareables.passcodes import SESSION_LASTS
from potluck.apps.shareables.shareables import HOME
from potluck.web.app_files import AppFiles
from potluck.web.endpoints import Call
from potluck.web.http.responses import Cookie
from potluck.web.layout import Section

__all__ = [
    "BALLOT_FILES",
    "FILES",
    "FRESH_COOKIE",
    "ONE",
    "address_of",
    "around",
    "days_left",
    "forget_one",
    "frame",
    "keep_session",
    "page",
    "previews",
    "to_unlock",
    "vote_sections",
]

ONE = f"{HOME}/{{short_id}}"
FILES = AppFiles(Path(__file__).parent.parent / "static", f"{HOME}/files")
# Of a ballot, whether or not polls are served.
BALLOT_FILES = AppFiles(POLLS_FILES.folder, f"{HOME}/ballot-files")
# Nothing of it is to be found by searching.
UNLISTED = {"x-robots-tag": "noindex"}
# Passcodes that were just set, for the one page that shows them.
FRESH_COOKIE = "potluck-share-fresh"
# Messengers and search engines fetch a link to show what is behind it; each says who it is. Cubot makes telephones.
PREVIEWS = re.compile(
    r"(?<!cu)bot\b|crawl|spider|scrap|preview|externalhit|embed|unfurl|snippet|iframely"
    r"|whatsapp|skype|viber|mastodon|pleroma|akkoma|cardyb",
    re.IGNORECASE,
)
UNITS = ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute"))


def frame() -> dict[str, Any]:
    """What every page shows."""
    return {"file": FILES.address, "ballot_file": BALLOT_FILES.address}


def page(call: Call, name: str, *cookies: Cookie, headers: Mapping[str, str] | None = None, **context: Any) -> Response:
    """A page of the app; none is found by searching, and who only previews a link is told nothing of a shareable."""
    if "shareable" in context and previews(call):
        name, cookies = "preview", ()
    context = {**frame(), **context}
    return call.page(f"shareables/{name}.html", *cookies, headers={**UNLISTED, **(headers or {})}, **context)


def previews(call: Call) -> bool:
    """Whether somebody fetches the page only to show what is behind its address."""
    return PREVIEWS.search(call.request.headers.get("user-agent", "")) is not None


def address_of(short_id: str) -> str:
    return f"{HOME}/{short_id}"


def to_unlock(call: Call) -> str:
    """Where whoever asks for this shareable gives its passcode."""
    return f"{address_of(call.text('short_id'))}/unlock"


def around(at: ToShareable) -> dict[str, Any]:
    """What a page shows of a shareable whatever it is about."""
    shareable = at.shareable
    address = address_of(at.short_id)
    return {
        **frame(),
        "shareable": shareable,
        "kind": "poll" if shareable.entity == "poll" else "list",
        "address": address,
        "link": f"{at.visitor.origin}{address}",
        "admin": at.role == "admin",
        "open": not shareable.expired(at.now),
        "left": days_left(shareable.expires_at, at.now),
        **days_to_choose(at.now),
        # Something is kept here that can be forgotten.
        "unlocked": at.session is not None,
    }


def days_left(end: datetime, now: datetime) -> str:
    """How long it is open, in the largest unit that says something."""
    for unit, name in UNITS:
        # What was laid out for a week a moment ago has a week left.
        if (count := (end - now + unit / 24) // unit) > 0:
            return f"{count} {name}{'' if count == 1 else 's'} left"
    return "closes within a minute"


def vote_sections(at: Reader, current: str) -> list[Section]:
    """The parts of a poll, for the bar under the thumb."""
    parts = (("vote", "vote", "Vote", ""), ("results", "chart-column", "Results", "/results"))
    return [Section(address_of(at.short_id) + path, icon, name, each == current) for each, icon, name, path in parts]


# --- what a browser keeps, for the pages of that shareable alone ------------------------------------------------------


def keep_session(call: Call, short_id: str, token: str) -> Sequence[Cookie]:
    return call.keep(SHARE_COOKIE, token, int(SESSION_LASTS.total_seconds()), address_of(short_id))


def forget_one(call: Call, short_id: str) -> list[Cookie]:
    """The cookies that take away all that is kept of it."""
    names = (SHARE_COOKIE, VOTER_COOKIE, VOTE_COOKIE, FRESH_COOKIE)
    return [cookie for name in names for cookie in call.drop(name, address_of(short_id))]
