"""A QR code as one SVG path."""

from typing import NamedTuple

import segno

# The standard requires a quiet zone of four modules around a code; the white card that it is on has the other two.
QUIET = 2


class QrCode(NamedTuple):
    modules: int
    """The side, in modules, with its quiet margin."""
    path: str
    """The dark ones."""


def qr_code(text: str) -> QrCode:
    """The text as a QR code that tolerates a seventh of it being unreadable."""
    matrix = segno.make(text, error="m", micro=False, boost_error=False).matrix
    drawn: list[str] = []
    for y, row in enumerate(matrix, QUIET):
        x = 0
        while x < len(row):
            start = x
            while x < len(row) and row[x]:
                x += 1
            if x > start:
                drawn.append(f"M{start + QUIET} {y}h{x - start}v1h-{x - start}z")
            x += 1
    return QrCode(len(matrix) + 2 * QUIET, "".join(drawn))
