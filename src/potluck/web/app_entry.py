"""How pages speak of an app."""

from typing import NamedTuple


class AppEntry(NamedTuple):
    """An app in the navigation and on the home page."""

    id: str
    name: str
    icon: str
    does: str
    address: str
    hue: str = ""
    """One of those in hues.py; the five apps have theirs by their id, in tokens.css."""
