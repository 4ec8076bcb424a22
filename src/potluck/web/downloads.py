"""What a downloaded file is called: after the thing it is made from, as every system can store it."""

from __future__ import annotations

import re
from unicodedata import category, combining, normalize
from urllib.parse import quote

# File systems take 255 bytes; browsers may add a number.
MOST_BYTES = 180
OTHERWISE = "potluck"
# Separators of paths and what Windows refuses.
REFUSED = frozenset('/\\:*?"<>|')
# Controls, format characters (which can reverse the order of the text), surrogates, private use, unassigned, line ends.
REFUSED_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Names of devices on Windows, whatever comes after the dot.
DEVICES = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]) *", re.IGNORECASE)
# RFC 8187: everything else is percent-encoded.
PLAIN_IN_HEADER = "!#$&+-.^_`|~"


def attachment(extension: str, *names: str) -> dict[str, str]:
    """The header of a file to download, named after these: `attachment("csv", poll.title, "results")`."""
    name = file_name(extension, *names)
    plain = _in_ascii(name)
    encoded = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe=PLAIN_IN_HEADER)}"
    return {"content-disposition": f'attachment; filename="{plain}"{encoded}'}


def file_name(extension: str, *names: str) -> str:
    """One name of these texts, without anything that a file system or a reader could take for something else."""
    parts = [part for part in map(_cleaned, names) if part]
    # What comes last is ours, and stays whole.
    ending = f" - {parts.pop()}.{extension}" if len(parts) > 1 else f".{extension}"
    stem = _cut(parts[0] if parts else OTHERWISE, MOST_BYTES - len(ending.encode()))
    return f"{'_' if DEVICES.fullmatch(stem.partition('.')[0]) else ''}{stem}{ending}"


def _cleaned(text: str) -> str:
    kept = (" " if one in REFUSED or category(one) in REFUSED_KINDS else one for one in normalize("NFC", text))
    # A dot at the beginning hides a file, a dash makes it an option, and Windows drops dots and spaces at the end.
    return " ".join("".join(kept).split()).strip(" .-~")


def _cut(text: str, most_bytes: int) -> str:
    while text and len(text.encode()) > most_bytes:
        text = text[:-1]
    return text.rstrip(" .-~")


def _in_ascii(name: str) -> str:
    """The name for programs that read no other: letters without their marks, and `_` for what ASCII does not have."""
    # Only canonical: by compatibility, a fullwidth slash would become one.
    bare = (one for one in normalize("NFD", name) if not combining(one))
    # Some browsers decode what follows a percent sign.
    return "".join(one if " " <= one <= "~" and one != "%" and one not in REFUSED else "_" for one in bare)
