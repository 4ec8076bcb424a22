"""Re-encodes an untrusted picture as a small JPEG without metadata, if its size is reasonable.

As a program, it does so for the picture on its standard input, with limits on memory and time: a crafted picture can
keep a decoder busy for hours or exhaust the memory. It imports nothing from Potluck, so that it starts fast.
"""

import io
import os
import re
import sys

from PIL import Image, ImageOps, UnidentifiedImageError

LONGEST_SIDE = 10_000
# Each pixel takes four bytes while the picture is scaled down.
MOST_PIXELS = 24_000_000
# Of a progressive JPEG: each scan makes the decoder process the whole picture. Encoders write about ten.
MOST_SCANS = 100
WIDTH, HEIGHT = 400, 600
QUALITY = 82
# For shelves and lists, where a cover is at most eight rem wide.
SMALL_WIDTH, SMALL_HEIGHT = 240, 360
SMALL_QUALITY = 74
ORIENTATION = 0x0112
ON_THEIR_SIDE = (5, 6, 7, 8)
# Other modes have palettes or one bit per pixel, and do not scale well.
RESIZED_WELL = ("RGB", "RGBA", "L", "LA", "CMYK", "YCbCr")
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")

MEMORY_BYTES = 768 * 1024 * 1024
PROCESSOR_SECONDS = 5
NOT_A_PICTURE = 65
"""The exit status of the program for an unusable picture."""

# JPEG markers. In the data of a scan, FF followed by another byte is data.
MARKER = re.compile(rb"\xff+([^\x00\xff])")
MARKER_AFTER_SCAN = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
START_OF_SCAN, END_OF_IMAGE = 0xDA, 0xD9
WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


class NotAPicture(Exception):
    """What was fetched is not a usable picture."""


def plain_picture(source: bytes) -> bytes:
    """The picture re-encoded as a small JPEG without metadata; NotAPicture if it is not valid."""
    try:
        with Image.open(io.BytesIO(source), formats=FORMATS) as opened:
            if max(opened.size) > LONGEST_SIDE or opened.width * opened.height > MOST_PIXELS:
                raise NotAPicture(f"it has {opened.width} times {opened.height} pixels")
            if opened.format in ("JPEG", "MPO") and has_too_many_scans(source):
                raise NotAPicture(f"it has more than {MOST_SCANS} scans")
            opened.draft("RGB", (WIDTH * 2, HEIGHT * 2))
            turned = opened.getexif().get(ORIENTATION) in ON_THEIR_SIDE
            # Scaled down before anything else, because every other step copies the picture.
            small: Image.Image = opened if opened.mode in RESIZED_WELL else opened.convert("RGBA")
            small.thumbnail((HEIGHT, WIDTH) if turned else (WIDTH, HEIGHT))
            picture = ImageOps.exif_transpose(small).convert("RGBA")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NotAPicture(str(error)) from error
    # Transparent parts become white.
    plain = Image.new("RGB", picture.size, "white")
    plain.paste(picture, mask=picture.getchannel("A"))
    jpeg = io.BytesIO()
    plain.save(jpeg, "JPEG", quality=QUALITY, optimize=True)
    return jpeg.getvalue()


def small_picture(plain: bytes) -> bytes:
    """A picture that was made by `plain_picture`, at the size of shelves and lists."""
    with Image.open(io.BytesIO(plain), formats=("JPEG",)) as picture:
        picture.draft("RGB", (SMALL_WIDTH, SMALL_HEIGHT))
        picture.thumbnail((SMALL_WIDTH, SMALL_HEIGHT))
        jpeg = io.BytesIO()
        picture.save(jpeg, "JPEG", quality=SMALL_QUALITY, optimize=True)
    return jpeg.getvalue()


def has_too_many_scans(jpeg: bytes) -> bool:
    """Whether a JPEG has more than MOST_SCANS scans, by its markers alone."""
    scans, at = 0, 2
    while match := (MARKER_AFTER_SCAN if scans else MARKER).search(jpeg, at):
        marker, at = match[1][0], match.end()
        if marker == END_OF_IMAGE:
            return False
        if marker == START_OF_SCAN:
            scans += 1
            if scans > MOST_SCANS:
                return True
        if marker not in WITHOUT_LENGTH:
            at += int.from_bytes(jpeg[at : at + 2])
    return False


def limit_this_process() -> None:
    """Limit the memory and the time of this process, where the system supports it, and lower its priority."""
    if os.name != "posix":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)


def main() -> int:
    limit_this_process()
    try:
        plain = plain_picture(sys.stdin.buffer.read())
    except (NotAPicture, MemoryError) as error:
        sys.stderr.write(str(error) or "it takes too much memory")
        return NOT_A_PICTURE
    sys.stdout.buffer.write(plain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
