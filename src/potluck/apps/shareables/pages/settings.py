"""The form of a shareable's settings, on the shareable's page and on a page of its own."""

from datetime import datetime
from typing import Any

from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.fields import Name, Note
from potluck.web import UNSET, Line, Unset, Versioned, _


class SettingsForm(Versioned):
    """A change as the page sends it, which may have the last day that the shareable is open."""

    name: Name | Unset = UNSET
    note: Note | Unset | None = UNSET
    viewers_can_tick: bool | Unset = UNSET
    until: Line = ""
    """The last day, in UTC."""
    expires_at: datetime | Unset = UNSET
    """The end of that day in the person's own time zone, filled in by a script."""


def as_filled_in(shareable: Any) -> dict[str, Any]:
    """The form filled in with the settings of a Shareable, or of its view."""
    end: datetime = shareable.expires_at
    return {
        "name": shareable.name,
        "note": shareable.note or "",
        "viewersCanTick": shareable.viewers_can_tick,
        "until": f"{end:%Y-%m-%d}",
        "expiresAt": f"{end:%Y-%m-%dT%H:%M:%SZ}",
        "version": shareable.version,
    }


def labels_of(shareable: Shareable, sent: frozenset[str]) -> dict[str, str]:
    """Labels of the fields in a conflict; with a script, the time is sent instead of the day."""
    end = "expiresAt" if "expiresAt" in sent else "until"
    ticks = {"viewersCanTick": _("Viewers can tick items")} if shareable.entity == "checklist" else {}
    return {"name": _("Name"), "note": _("Note"), **ticks, end: _("Open until")}
