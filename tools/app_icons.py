"""Draw the icons of the installed app from static/plate.svg: circles only, so nothing but arithmetic is needed."""

import struct
import zlib
from math import hypot
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

STATIC = Path(__file__).resolve().parent.parent / "src" / "potluck" / "web" / "static"

Colour = tuple[float, float, float]

# The cloth of the hem, for icons that a phone cuts to its own shape: paprika on white, nine checks across.
WHITE: Colour = (255, 255, 255)
WEAVE: Colour = (245, 113, 78)
WEAVE_SHARE = 0.34
CHECKS = 9

# A phone may cut away everything outside the middle four fifths.
SAFE = 0.66


class Circle(NamedTuple):
    x: float
    y: float
    radius: float
    fill: Colour


def plate() -> tuple[float, list[Circle]]:
    """The side of the drawing, and its circles from the bottom up."""
    root = ElementTree.parse(STATIC / "plate.svg").getroot()
    side = float(root.attrib["viewBox"].split()[2])
    circles = []
    for shape in root:
        hexadecimal = shape.attrib["fill"].lstrip("#")
        if len(hexadecimal) == 3:
            hexadecimal = "".join(digit * 2 for digit in hexadecimal)
        red, green, blue = bytes.fromhex(hexadecimal)
        circles.append(
            Circle(*(float(shape.attrib[name]) for name in ("cx", "cy", "r")), (float(red), float(green), float(blue)))
        )
    return side, circles


def mixed(under: Colour, over: Colour, share: float) -> Colour:
    return (
        under[0] + (over[0] - under[0]) * share,
        under[1] + (over[1] - under[1]) * share,
        under[2] + (over[2] - under[2]) * share,
    )


def cloth(x: int, y: int, size: int) -> Colour:
    """Two weaves over each other, as the style sheet lays them."""
    colour = WHITE
    for place in (x, y):
        if int(place * CHECKS / size) % 2 == 0:
            colour = mixed(colour, WEAVE, WEAVE_SHARE)
    return colour


def drawn(size: int, *, on_cloth: bool) -> bytes:
    """Rows of red, green, blue and how opaque; edges are as soft as the share of the pixel that they cover."""
    side, circles = plate()
    scale = size / side * (SAFE if on_cloth else 1)
    middle = size / 2
    rows = bytearray()
    for y in range(size):
        for x in range(size):
            colour: Colour = cloth(x, y, size) if on_cloth else circles[0].fill
            opaque = 1.0 if on_cloth else 0.0
            for circle in circles:
                centre_x, centre_y = middle + (circle.x - side / 2) * scale, middle + (circle.y - side / 2) * scale
                away = hypot(x + 0.5 - centre_x, y + 0.5 - centre_y)
                share = min(1.0, max(0.0, circle.radius * scale - away + 0.5))
                if share:
                    colour = mixed(colour, circle.fill, share)
                    opaque = max(opaque, share)
            rows += bytes(round(part) for part in (*colour, opaque * 255))
    return bytes(rows)


def png(size: int, pixels: bytes) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = b"".join(b"\0" + pixels[y * size * 4 : (y + 1) * size * 4] for y in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


ICONS = {
    "plate-192.png": (192, False),
    "plate-512.png": (512, False),
    "maskable-192.png": (192, True),
    "maskable-512.png": (512, True),
    "apple-touch.png": (180, True),
}


def main() -> None:
    for name, (size, on_cloth) in ICONS.items():
        (STATIC / "icons" / name).write_bytes(png(size, drawn(size, on_cloth=on_cloth)))
    print(f"{len(ICONS)} icons in {STATIC / 'icons'}")


if __name__ == "__main__":
    main()
