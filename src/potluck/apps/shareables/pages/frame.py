"""What the pages share: the layout around a shareable, and its cookies."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from potluck.apps.shareables.access import ONE, SHARE_COOKIE, Reader, ToShareable
from potluck.apps.shareables.ballots import VOTE_COOKIE, VOTER_COOKIE
from potluck.apps.shareables.pages.expiry import days_to_choose
from potluck.apps.shareables.pages.settings import SettingsForm, as_filled_in
from potluck.apps.shareables.passcodes import EQUAL
from potluck.apps.shareables.shareables import HOME
from potluck.web import Form, SealedCookie, Section, _, ngettext

# Passcodes that were just set, for the one page that shows them.
FRESH_COOKIE = SealedCookie("potluck-share-fresh", path=ONE, days=600 / 86_400, shown=True)
# A browser's cookies for one shareable.
COOKIES_OF_ONE = (SHARE_COOKIE, VOTER_COOKIE, VOTE_COOKIE, FRESH_COOKIE)
UNITS: tuple[tuple[timedelta, Callable[[int], str]], ...] = (
    (timedelta(days=1), lambda count: ngettext("%(num)s day left", "%(num)s days left", count)),
    (timedelta(hours=1), lambda count: ngettext("%(num)s hour left", "%(num)s hours left", count)),
    (timedelta(minutes=1), lambda count: ngettext("%(num)s minute left", "%(num)s minutes left", count)),
)


HOME_SECTIONS = (("", "link", _("Open")), ("/new", "plus", _("New list")))


def home_sections(path: str) -> list[Section]:
    """The sections of the app; `path` is that of the current one."""
    return [Section(HOME + section, icon, title, section == path) for section, icon, title in HOME_SECTIONS]


def address_of(short_id: str) -> str:
    return f"{HOME}/{short_id}"


def layout_context(at: ToShareable) -> dict[str, Any]:
    """Template values of every page about a shareable."""
    shareable = at.shareable
    address = address_of(at.short_id)
    return {
        "shareable": shareable,
        "settings": Form.blank(SettingsForm, as_filled_in(shareable)),
        "kind": "poll" if shareable.entity == "poll" else "list",
        "address": address,
        "link": f"{at.visitor.origin}{address}",
        "equal_passcodes": EQUAL,
        "admin": at.role == "admin",
        "open": not shareable.expired(at.now),
        "left": days_left(shareable.expires_at, at.now),
        **days_to_choose(at.now),
        # Offers to forget the session on this device.
        "unlocked": at.session is not None,
    }


def days_left(end: datetime, now: datetime) -> str:
    """How long it stays open, in the largest unit that fits."""
    for unit, text in UNITS:
        # Rounded up a little: if it was created for a week a moment ago, it has a week left.
        if (count := (end - now + unit / 24) // unit) > 0:
            return text(count)
    return _("Less than a minute left")


def vote_sections(at: Reader, current: str) -> list[Section]:
    """The sections of a poll, for the bottom bar."""
    parts = (("vote", "vote", _("Vote"), ""), ("results", "chart-column", _("Results"), "/results"))
    return [Section(address_of(at.short_id) + path, icon, title, name == current) for name, icon, title, path in parts]
