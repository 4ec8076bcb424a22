"""Covers for the demo's books: a sky with a sun or moon, hills or water, and the title; deterministic by title."""

import io
from collections.abc import Sequence
from random import Random

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, EDGE = 400, 600, 34
TITLE_SIZE, NAME_SIZE = 50, 24
# Sky, sun or moon, and land or water; and the colour of the text, which contrasts with the sky.
PALETTES = (
    ("#f3e6d0", "#e7623e", ("#1f5e6b", "#2b7a8a", "#174852"), "#1b3c44"),
    ("#20263f", "#f4dca0", ("#39456e", "#2c355a", "#171c31"), "#f4dca0"),
    ("#e9b7a0", "#b3263e", ("#8f4a52", "#5b2436", "#42182a"), "#42182a"),
    ("#f7f1e6", "#c9803e", ("#b5c19a", "#7d9163", "#4d6140"), "#3d4a2a"),
    ("#12293b", "#f0ece0", ("#275a78", "#3d86a5", "#1b4058"), "#f0ece0"),
    ("#f6d38a", "#fdf6e3", ("#d1793c", "#a4531f", "#71340f"), "#5b2a0c"),
)


def painted_cover(title: str, by: str) -> bytes:
    """A JPEG in the proportions of a cover, two by three."""
    drawn = Random(title)
    sky, light, ground, ink = drawn.choice(PALETTES)
    picture = Image.new("RGB", (WIDTH, HEIGHT), sky)
    brush = ImageDraw.Draw(picture)
    horizon = drawn.randrange(330, 400)
    radius, x = drawn.randrange(70, 115), drawn.randrange(110, WIDTH - 110)
    brush.ellipse((x - radius, horizon - radius * 1.3, x + radius, horizon + radius * 0.7), fill=light)
    for layer, colour in enumerate(ground):
        top = horizon + layer * 62
        points = [(step * 50, top + drawn.randrange(-22, 23)) for step in range(9)]
        brush.polygon([*points, (WIDTH, HEIGHT), (0, HEIGHT)], fill=colour)
    _write(brush, _lines(title), EDGE, TITLE_SIZE, ink)
    _write(brush, [by], HEIGHT - EDGE - NAME_SIZE, NAME_SIZE, "#fdf8f1")
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=85)
    return written.getvalue()


def _lines(title: str) -> Sequence[str]:
    lines: list[str] = []
    for word in title.split():
        if lines and len(lines[-1]) + len(word) < 13:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _write(brush: ImageDraw.ImageDraw, lines: Sequence[str], top: int, size: int, ink: str) -> None:
    font = ImageFont.load_default(size)
    for number, line in enumerate(lines):
        brush.text((EDGE, top + number * size * 1.12), line, fill=ink, font=font)
