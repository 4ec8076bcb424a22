"""What a User-Agent header says about a device: the browser or program, and the system it runs on."""

import re
from typing import NamedTuple

# A header can be as long as the server lets it be.
READ_OF_HEADER = 500

# The first that matches counts: most browsers also give the names of others.
PROGRAMS = (
    (r"Edg(?:e|A|iOS)?/", "Edge"),
    (r"OPR/|OPiOS/", "Opera"),
    (r"SamsungBrowser/", "Samsung Internet"),
    (r"Vivaldi/", "Vivaldi"),
    (r"Firefox/|FxiOS/", "Firefox"),
    (r"Chrome/|Chromium/|CriOS/", "Chrome"),
    (r"Safari/", "Safari"),
    (r"^curl/", "curl"),
    (r"^Wget/", "Wget"),
    (r"^HTTPie/", "HTTPie"),
    (r"^python-|^Python/", "Python"),
    (r"^Go-http-client/", "Go"),
    (r"^node\b|^undici\b|^axios/", "Node.js"),
    (r"^okhttp/", "OkHttp"),
)
SYSTEMS = (
    (r"iPhone|iPod", "iPhone"),
    (r"iPad", "iPad"),
    (r"Android", "Android"),
    (r"CrOS", "ChromeOS"),
    (r"Windows", "Windows"),
    (r"Macintosh|Mac OS X", "Mac"),
    (r"Linux|X11", "Linux"),
)


class Device(NamedTuple):
    """Names from the tables above, never text from the header."""

    program: str | None = None
    system: str | None = None


def device_of(user_agent: str) -> Device:
    """The device that sends this User-Agent, as far as its header says."""
    read = user_agent[:READ_OF_HEADER]
    return Device(_first(PROGRAMS, read), _first(SYSTEMS, read))


def _first(names: tuple[tuple[str, str], ...], header: str) -> str | None:
    return next((name for pattern, name in names if re.search(pattern, header)), None)
