"""The metrics of a session on pages: their names, the values that a first entry begins with, and how they are shown."""

from potluck.apps.journal.aggregation import Totals
from potluck.apps.journal.entities import SessionMetrics
from potluck.web import _, formats, ngettext

WORN = {"gi": _("Gi"), "no-gi": _("No-gi"), "both": _("Both")}
# By field of the form.
LABELS = {
    "durationMinutes": _("Minutes"),
    "rounds": _("Rounds"),
    "intensity": _("How hard"),
    "giOrNoGi": _("What you wore"),
    "tags": _("Tags"),
}
FIRST_VALUES = {"durationMinutes": "60", "rounds": "5", "giOrNoGi": "gi"}


def facts(metrics: SessionMetrics) -> str:
    """The metrics of a session in one line."""
    return str(
        _(
            "%(minutes)s min · %(rounds)s · %(intensity)s of 10 · %(worn)s",
            minutes=metrics.duration_minutes,
            rounds=ngettext("%(num)s round", "%(num)s rounds", metrics.rounds),
            intensity=metrics.intensity,
            worn=WORN[metrics.gi_or_no_gi],
        )
    )


def duration(minutes: int) -> str:
    """A duration as people write it: 45 min, 3 h, 3 h 15."""
    whole, rest = divmod(minutes, 60)
    if not whole:
        return _("%(minutes)s min", minutes=rest)
    if not rest:
        return _("%(hours)s h", hours=formats.number_text(whole))
    return _("%(hours)s h %(minutes)s", hours=formats.number_text(whole), minutes=f"{rest:02}")


def sessions(count: int) -> str:
    return ngettext("%(num)s session", "%(num)s sessions", count)


def sums(total: Totals) -> dict[str, str]:
    """The sums that statistics show next to sessions, hours and load."""
    return {_("Rounds"): formats.number_text(total.rounds)}
