"""A cover for what has none: drawn from the words alone, so that the same title looks the same for ever."""

from xml.sax.saxutils import escape
from zlib import crc32

from potluck.apps.library.search import words_of

__all__ = ["cover_number", "drawn_cover"]

WIDTH, HEIGHT, EDGE = 200, 300, 18
LINE_LENGTH, MOST_LINES = 13, 6
# Cloth and ink; each pair reads well.
COLOURS = (
    ("#7a2e2e", "#f6e7d2"), ("#23485c", "#f1ead9"), ("#2f5d4a", "#f4efdd"), ("#5b3a66", "#f3e6ee"),
    ("#8a5a1f", "#fff4e0"), ("#1f3b6e", "#e9eef8"), ("#a04a2c", "#fdeee2"), ("#3b3b3b", "#f2efe9"),
    ("#586b2a", "#f5f3dc"), ("#6e1f45", "#f9e6ef"), ("#0f5a5e", "#e4f3f1"), ("#e3c98f", "#3a2a12"),
    ("#c9d6df", "#22313d"), ("#d9b8a7", "#40221a"),
)  # fmt: skip


def cover_number(title: str, collection: str | None = None) -> int:
    """What a drawing is made by: the title, or for the volumes of a collection its name."""
    return crc32(" ".join(words_of(collection or title)).encode())


def drawn_cover(title: str, by: str, collection: str | None = None, volume: int | None = None) -> str:
    """An SVG of a book's face: a colour, a pattern, the title, who made it, and which volume it is."""
    number = cover_number(title, collection)
    cloth, ink = COLOURS[number % len(COLOURS)]
    lines = _lines(title)
    size = 24 if len(lines) <= 3 else 19
    words = "".join(
        f'<text x="{EDGE + 6}" y="{70 + place * size * 1.2:.0f}" font-size="{size}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )
    below = f'<text x="{EDGE + 6}" y="{HEIGHT - 34}" font-size="14">{escape(_cut(by, 24))}</text>' if by else ""
    mark = f'<text x="{WIDTH - EDGE - 8}" y="46" font-size="18" text-anchor="end">{volume}</text>' if volume else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{cloth}"/>{_pattern(number // len(COLOURS) % 4, ink)}'
        f'<g fill="{ink}" font-family="Georgia, serif">{words}{below}{mark}</g></svg>'
    )


def _pattern(which: int, ink: str) -> str:
    frame = f'fill="none" stroke="{ink}" stroke-opacity="0.55"'
    inner = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE
    return (
        f'<rect x="{EDGE - 6}" y="{EDGE - 6}" width="{inner[0] + 12}" height="{inner[1] + 12}" {frame}/>',
        f'<path d="M0 30H{WIDTH}M0 36H{WIDTH}M0 {HEIGHT - 24}H{WIDTH}" {frame} stroke-width="2"/>',
        f'<path d="M10 0V{HEIGHT}M14 0V{HEIGHT}" {frame}/>',
        f'<circle cx="{WIDTH // 2}" cy="{HEIGHT - 90}" r="46" {frame} stroke-width="2"/>',
    )[which]


def _lines(title: str) -> list[str]:
    """The title in a few short lines; what does not fit ends with an ellipsis."""
    lines: list[str] = []
    for word in title.split():
        if lines and len(lines[-1]) + 1 + len(word) <= LINE_LENGTH:
            lines[-1] += f" {word}"
        else:
            lines.append(_cut(word, LINE_LENGTH))
    return [*lines[: MOST_LINES - 1], "…"] if len(lines) > MOST_LINES else lines


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
