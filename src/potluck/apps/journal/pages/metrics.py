"""The metrics of a session on pages: their names, the values that a first entry begins with, and how they are shown."""

from potluck.apps.journal.aggregation import Totals
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.quantities import several

WORN = {"gi": "Gi", "no-gi": "No-gi", "both": "Both"}
# By field of the form.
LABELS = {"durationMinutes": "Minutes", "intensity": "How hard", "giOrNoGi": "What you wore"}
FIRST_VALUES = {"durationMinutes": "60", "rounds": "5", "giOrNoGi": "gi"}


def facts(metrics: SessionMetrics) -> str:
    """The metrics of a session in one line."""
    long = f"{metrics.duration_minutes} min · {several(metrics.rounds, 'round')}"
    return f"{long} · {metrics.intensity} of 10 · {WORN[metrics.gi_or_no_gi]}"


def sums(total: Totals) -> dict[str, str]:
    """The sums that statistics show next to sessions, hours and load."""
    return {"Rounds": f"{total.rounds:,}"}
