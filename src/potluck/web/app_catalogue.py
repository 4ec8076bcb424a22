"""The five apps, as the pages around them speak of them."""

from typing import NamedTuple


class AppEntry(NamedTuple):
    """One app; without an address it is not here yet."""

    id: str
    name: str
    icon: str
    does: str
    address: str = ""
    hue: str = ""
    """One of those in hues.py; the five below have theirs by their id, in tokens.css."""


CATALOGUE = (
    AppEntry("shareables", "Shareables", "list-checks", "Lists and polls that anyone with the short id can open."),
    AppEntry("shopping", "Shopping", "shopping-basket", "What the family has and what it needs. Works without signal."),
    AppEntry("journal", "Journal", "notebook-pen", "A training journal: part shared with coaches, part only yours."),
    AppEntry("polls", "Polls", "vote", "Ranked choice, counted in the open, so that everyone can check."),
    AppEntry("library", "Library", "library-big", "Books and videos: who has them, and who may look."),
)
