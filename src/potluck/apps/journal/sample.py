"""Twelve weeks of made-up training, for the front page."""

from potluck.web import Sample, drawings

HOURS = (3.5, 4, 2.5, 5, 4.5, 0, 3, 5.5, 4, 6, 4.5, 5)
SAMPLE = Sample("journal/sample.html", {"hours": drawings.columns(HOURS, {}, {9: "6"}, 2, "h")})
