"""Pictures that a host may answer with."""

import io
import struct
import zlib

from PIL import Image

__all__ = ["picture", "png_of", "with_scans"]


def picture(kind="PNG", size=(900, 1200), mode="RGBA", color=None, **options):
    written = io.BytesIO()
    usual = (200, 30, 30, 128) if mode == "RGBA" else (200, 30, 30)
    Image.new(mode, size, usual if color is None else color).save(written, kind, **options)
    return written.getvalue()


def with_scans(number, size=(32, 32)):
    """A progressive JPEG whose last scan comes again and again, until there are so many."""
    written = picture("JPEG", size, "RGB", progressive=True)
    last, end = written.rindex(b"\xff\xda"), written.rindex(b"\xff\xd9")
    return written[:end] + written[last:end] * (number - written.count(b"\xff\xda")) + written[end:]


def png_of(size):
    """A black and white PNG that says it has this size, and has the data of ten lines."""
    header = struct.pack(">IIBBBBB", *size, 1, 0, 0, 0, 0)
    data = zlib.compress(bytes(10 * (1 + (size[0] + 7) // 8)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
