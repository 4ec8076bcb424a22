"""Drawings of books as SVG, spine and front cover. They depend on the title alone, so a book always looks the same.

They use no stylesheet, so they can be embedded in a page or served as pictures. `SHARED` has the definitions that all
drawings of a page use.
"""

from collections.abc import Sequence
from functools import lru_cache
from unicodedata import bidirectional, east_asian_width
from zlib import crc32

from markupsafe import Markup, escape

from potluck.apps.library.search_words import words_of

# Cloth and foil colours; every pair has a contrast ratio of 6.6 or more.
COLOURS = (
    ("#7d2617", "#fbe6d6"), ("#24513a", "#eaf3dc"), ("#25386e", "#e6edff"), ("#5e2450", "#fde3f2"),
    ("#0b5a5c", "#d9f5f2"), ("#5a3d1c", "#fdeccd"), ("#3d4650", "#eef1f4"), ("#e3a63d", "#33200a"),
    ("#a9bf8b", "#1f2c12"), ("#9db8e8", "#16244a"), ("#eba9a0", "#4c1512"), ("#efe2cb", "#4a2a12"),
    ("#ee8464", "#35100a"), ("#2b211b", "#f7c069"),
)  # fmt: skip
BODY = "Figtree, system-ui, sans-serif"
DISPLAY = f"Bricolage Grotesque, {BODY}"
# The typefaces of titles: SVG attributes, and the average width of a letter relative to its height.
TYPES = (
    (f'font-family="{DISPLAY}" font-weight="800" letter-spacing="-.01em"', 0.6),
    (f'font-family="{BODY}" font-weight="700"', 0.57),
    (f'font-family="{BODY}" font-weight="700" letter-spacing=".06em"', 0.72),
    (f'font-family="{DISPLAY}" font-weight="500"', 0.56),
)
CAPITALS = 2
PLAIN_WEAVE, BANDS, LINES, ENDS, GROOVES = range(5)
TEXTURES = 5

# The rounding of a spine, the hinge of a cover, a weave, and the perforation of a film.
SHARED = Markup(
    '<linearGradient id="bk-round"><stop offset="0" stop-opacity=".1"/><stop offset=".03" stop-color="#fff" '
    'stop-opacity=".06"/><stop offset=".1" stop-color="#fff" stop-opacity=".26"/><stop offset=".19" stop-color="#fff" '
    'stop-opacity=".03"/><stop offset=".3" stop-color="#fff" stop-opacity="0"/><stop offset=".8" stop-opacity=".02"/>'
    '<stop offset=".92" stop-opacity=".16"/><stop offset="1" stop-opacity=".36"/></linearGradient>'
    '<linearGradient id="bk-hinge"><stop offset="0" stop-opacity=".2"/><stop offset=".035" stop-color="#fff" '
    'stop-opacity=".22"/><stop offset=".075" stop-opacity=".2"/><stop offset=".11" stop-opacity="0"/>'
    '<stop offset="1" stop-opacity=".06"/></linearGradient>'
    '<pattern id="bk-weave" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 1h4M1 0v4" stroke="#fff" '
    'stroke-opacity=".13"/><path d="M0 3h4M3 0v4" stroke="#000" stroke-opacity=".09"/></pattern>'
    '<pattern id="bk-film" width="10" height="11" patternUnits="userSpaceOnUse"><rect x="2" y="3" width="5" height="5" '
    'rx="1.2" fill-opacity=".45"/></pattern>'
)


def cover_number(title: str, collection: str | None = None) -> int:
    """The hash that determines a drawing: of the title, or in a collection of its name, so that the set matches."""
    return crc32(" ".join(words_of(collection or title)).encode())


class _Looks:
    """The look of a book, derived from its cover number."""

    def __init__(self, title: str, collection: str | None) -> None:
        number = cover_number(title, collection)
        self.cloth, self.foil = COLOURS[number % len(COLOURS)]
        self.texture = number // len(COLOURS) % TEXTURES
        # No capitals in a set: they would leave no room for the volume number.
        self.type = number // 70 % (2 if collection else len(TYPES))
        self.height = 172 if collection else 148 + number // 280 % 6 * 5
        self.said, self.wide = TYPES[self.type]

    def title(self, text: str) -> str:
        return text.upper() if self.type == CAPITALS else text

    def length(self, text: str) -> float:
        return _length(text, self.wide)

    def stroke(self, path: str) -> str:
        return f'<path d="{path}" fill="none" stroke="{self.foil}" stroke-width="1.2" stroke-opacity=".8"/>'

    def dot(self, x: float, y: float, radius: float) -> str:
        ring = f'<circle cx="{x}" cy="{y}" r="{radius}" fill="none" stroke="{self.foil}" stroke-width="1.2"/>'
        return f'{ring}<circle cx="{x}" cy="{y}" r="{radius * 0.42:.1f}" fill="{self.foil}"/>'

    def band(self, y: float, width: float, height: float, opacity: str = "1") -> str:
        return f'<rect y="{y}" width="{width}" height="{height}" fill="{self.foil}" fill-opacity="{opacity}"/>'


@lru_cache(4096)
def spine(title: str, by: str, kind: str = "book", collection: str | None = None, volume: int | None = None) -> Markup:
    """The spine of a book on a shelf: its title on one or two lines, and the surname of its author or director."""
    looks = _Looks(title, collection)
    tall = looks.height
    lines = _two_lines(looks.title(title))
    top = 20 if looks.texture in (BANDS, LINES, ENDS) else 10
    plain_foot = 34 if looks.texture == LINES else 22 if looks.texture in (BANDS, ENDS) else 10
    foot = 42 if volume is not None else plain_foot
    room = tall - top - foot
    size = max(min(room / max(max(map(looks.length, lines)), 0.5), 15.5 if len(lines) > 1 else 19), 11)
    surname = _cut(by.split()[-1], 18) if by and volume is None else ""
    text = size * 1.14 * len(lines) + (14.5 if surname else 0)
    wide = max(44, round(text + 15))
    middle, start = top + room / 2, wide / 2 + text / 2
    rows = "".join(
        f'<text font-size="{size:.1f}" {looks.said} transform="translate({start - size * (0.86 + 1.14 * at):.1f} '
        f'{middle}) rotate(90)">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    if surname:
        rows += (
            f'<text font-size="11.5" font-family="{BODY}" font-weight="600" letter-spacing=".02em" '
            f'transform="translate({start - text + 3:.1f} {middle}) rotate(90)">{escape(surname)}</text>'
        )
    if volume is not None:
        number = f'<text x="{wide / 2}" y="{tall - 18}" font-size="19" font-family="{DISPLAY}" font-weight="800">'
        rows += f"{number}{volume}</text>"
    inside = _spine_texture(looks, kind, wide, tall, numbered=volume is not None)
    return Markup(
        f'<svg class="sp" width="{wide / 16}rem" height="{tall / 16}rem" viewBox="0 0 {wide} {tall}" '
        f'aria-hidden="true" focusable="false">'
        f'<rect width="{wide}" height="{tall}" rx="2.5" fill="{looks.cloth}"/>{inside}'
        f'<rect width="{wide}" height="{tall}" rx="2.5" fill="url(#bk-round)"/>'
        f'<g fill="{looks.foil}" text-anchor="middle"{_direction(title)}>{rows}</g></svg>'
    )


def _spine_texture(looks: _Looks, kind: str, wide: float, tall: float, *, numbered: bool) -> str:
    if kind == "video":
        drawn = "".join(
            f'<rect width="10" height="{tall}" fill="url(#bk-film)" transform="translate({x})"/>' for x in (0, wide - 9)
        )
    elif looks.texture == PLAIN_WEAVE:
        drawn = f'<rect width="{wide}" height="{tall}" fill="url(#bk-weave)"/>'
    elif looks.texture == BANDS:
        drawn = looks.band(9, wide, 8, ".16") + looks.band(tall - 17, wide, 8, ".16")
    elif looks.texture == LINES:
        drawn = looks.stroke(f"M0 10h{wide}M0 14h{wide}M0 {tall - 10}h{wide}")
        drawn += "" if numbered else looks.dot(wide / 2, tall - 21, 5.4)
    elif looks.texture == ENDS:
        drawn = looks.band(0, wide, 13) + looks.band(tall - 9, wide, 9)
    else:
        left, right = wide * 0.3, wide * 0.72
        drawn = (
            f'<path d="M{left:.1f} 0v{tall}M{right:.1f} 0v{tall}" stroke="#000" stroke-opacity=".13"/>'
            f'<path d="M{left + 1:.1f} 0v{tall}M{right + 1:.1f} 0v{tall}" stroke="#fff" stroke-opacity=".14"/>'
        )
    ruled = numbered and looks.texture != ENDS
    return drawn + (looks.stroke(f"M6 {tall - 40}h{wide - 12}") if ruled else "")


@lru_cache(4096)
def face(title: str, by: str, kind: str = "book", collection: str | None = None, volume: int | None = None) -> Markup:
    """The front of the same book, in the proportions of a cover: two by three."""
    inside = _face(title, by, kind, collection, volume)
    return Markup(f'<svg class="face" viewBox="0 0 120 180" aria-hidden="true" focusable="false">{inside}</svg>')


def drawn_cover(
    title: str, by: str, collection: str | None = None, volume: int | None = None, kind: str = "book"
) -> str:
    """The front as a standalone picture."""
    inside = _face(title, by, kind, collection, volume)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 180" width="400" height="600" role="img">'
        f"<title>{escape(title)}</title><defs>{SHARED}</defs>{inside}</svg>"
    )


def _face(title: str, by: str, kind: str, collection: str | None, volume: int | None) -> str:
    looks = _Looks(title, collection)
    lines = _lines(looks.title(title), 11 if looks.type == CAPITALS else 12)
    size = min(16.5 if len(lines) > 2 else 21, 88 / max(max(map(looks.length, lines)), 0.5))
    begins = 106 if _direction(title) else 18
    first = 34 if looks.texture in (BANDS, LINES, ENDS) else 28
    rows = "".join(
        f'<text x="{begins}" y="{first + size * (0.7 + 1.16 * at):.1f}" font-size="{size:.1f}" {looks.said}>'
        f"{escape(line)}</text>"
        for at, line in enumerate(lines)
    )
    if volume is not None:
        rows += f'<text x="{begins}" y="142" font-size="26" font-family="{DISPLAY}" font-weight="800">{volume}</text>'
    if by:
        shown = by if len(by) < 17 else _cut(by.split()[-1], 16)
        rows += f'<text x="{begins}" y="159" font-size="11.5" font-family="{BODY}" font-weight="600">'
        rows += f"{escape(shown)}</text>"
    return (
        f'<rect width="120" height="180" fill="{looks.cloth}"/>{_face_texture(looks, kind)}'
        f'<rect width="120" height="180" fill="url(#bk-hinge)"/>'
        f'<g fill="{looks.foil}" text-anchor="start"{_direction(title)}>{rows}</g>'
    )


def _face_texture(looks: _Looks, kind: str) -> str:
    if kind == "video":
        return "".join(
            f'<rect width="10" height="180" fill="url(#bk-film)" transform="translate({x})"/>' for x in (1, 110)
        )
    if looks.texture == PLAIN_WEAVE:
        weave = '<rect width="120" height="180" fill="url(#bk-weave)"/>'
        return weave + looks.stroke("M12 8h101v164h-101z")
    if looks.texture == BANDS:
        return looks.band(9, 120, 8, ".16") + looks.band(163, 120, 8, ".16")
    if looks.texture == LINES:
        return looks.stroke("M0 12h120M0 16h120M0 168h120") + looks.dot(97, 124, 11)
    if looks.texture == ENDS:
        return looks.band(0, 120, 15) + looks.band(170, 120, 10)
    return "".join(
        f'<circle cx="120" cy="180" r="{radius}" fill="{looks.foil}" fill-opacity=".16"/>' for radius in (84, 52)
    )


def gap(title: str, who: str) -> Markup:
    """The gap that a lent book leaves on the shelf, with a slip that names the borrower."""
    who = _cut(who, 14)
    return Markup(
        '<svg class="sp-gap" width="3.5rem" height="10.25rem" viewBox="0 0 56 164" aria-hidden="true" '
        'focusable="false"><rect class="gap-hole" x="1" y="1" width="54" height="163" rx="3"/>'
        '<text class="gap-title" font-size="12" transform="translate(8 154) rotate(90)">'
        f"{escape(_cut(title, 22))}</text>"
        '<path class="slip" d="M22 33a3 3 0 0 1 3-3h21a3 3 0 0 1 3 3v131H22z"/><circle class="slip-hole" cx="35.5" '
        f'cy="39" r="3"/><text class="slip-name" font-size="{_fitting(who, 106, 17)}" '
        f'transform="translate(30 52) rotate(90)">{escape(who)}</text></svg>'
    )


def bookend(name: str, note: str) -> Markup:
    """The bookend at the start of a collection, with its name and its number of items."""
    name = _cut(name, 19)
    return Markup(
        '<svg class="bookend" width="2.75rem" height="10.5rem" viewBox="0 0 44 168" aria-hidden="true" '
        'focusable="false"><path class="be-body" d="M44 168H2V46C2 19 20 0 44 0z"/><path class="be-edge" '
        f'd="M6 164V46C6 23 22 5 40 4"/><text class="be-name" font-size="{_fitting(name, 128, 16)}" '
        f'transform="translate(25 157) rotate(90)">{escape(name)}</text><text class="be-note" '
        f'font-size="11.5" transform="translate(11 157) rotate(90)">{escape(note)}</text></svg>'
    )


# --- fitting text --------------------------------------------------------------------------------------------------

ONE_LINE, LONGEST_LINE, MOST_LINES = 15, 19, 5
SMALLEST = 11
# The average width of a letter relative to its height, bold, and that of one that is as wide as it is high.
WIDTH, FULL_WIDTH = 0.6, 1.05


def _length(text: str, width: float = WIDTH) -> float:
    """The length of a text relative to the height of its letters."""
    return sum(FULL_WIDTH if east_asian_width(letter) in "WF" else width for letter in text)


def _fitting(text: str, room: float, largest: float) -> float:
    """The height of letters at which a text fits into this room."""
    return round(max(SMALLEST, min(largest, room / max(_length(text), WIDTH))), 1)


def _two_lines(title: str) -> list[str]:
    """The title for a spine: one line if it is short, else two of about the same length."""
    if len(title) <= ONE_LINE:
        return [title]
    first, second = "", ""
    for word in title.split():
        if first and (second or len(first) + len(word) / 2 > min(len(title) / 2, LONGEST_LINE)):
            second = f"{second} {word}".strip()
        else:
            first = f"{first} {word}".strip()
    return [_cut(line, LONGEST_LINE) for line in (first, second) if line]


def _lines(title: str, longest: int) -> Sequence[str]:
    """The title in a few short lines, cut with an ellipsis if it does not fit."""
    lines: list[str] = []
    for word in title.split():
        if lines and len(lines[-1]) + 1 + len(word) <= longest:
            lines[-1] += f" {word}"
        else:
            lines.append(_cut(word, LONGEST_LINE))
    if len(lines) > MOST_LINES:
        return [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]}…"]
    return lines or [title]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _direction(text: str) -> str:
    """The SVG attribute for right-to-left text, if needed."""
    first = next((kind for letter in text if (kind := bidirectional(letter)) in ("L", "R", "AL")), "L")
    return "" if first == "L" else ' direction="rtl"'
