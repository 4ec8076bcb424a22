"""The addresses of the library's pages, and their navigation."""

from collections.abc import Awaitable, Callable
from typing import Any

from potluck.apps.library.drawn_books import SHARED
from potluck.web import Section, _

HOME = "/library"
LIBRARY = f"{HOME}/{{library_id}}"
ITEM = f"{LIBRARY}/items/{{item_id}}"
SEARCH, LENT, SHARING = f"{HOME}/search", f"{HOME}/lent", f"{HOME}/sharing"
TITLES = f"{HOME}/titles"
SECTIONS = (
    ("shelves", "library-big", _("Shelves"), HOME),
    ("search", "search", _("Search"), SEARCH),
    ("lent", "hand-helping", _("Who has what"), LENT),
    ("sharing", "users", _("Sharing"), SHARING),
)


def frame_of(current: str) -> Callable[[Any], Awaitable[dict[str, Any]]]:
    """The template values that all pages of a section share."""
    sections = [Section(address, icon, name, section == current) for section, icon, name, address in SECTIONS]

    async def frame(at: Any) -> dict[str, Any]:
        return {"app": "library", "here": _("Library"), "sections": sections, "drawn": SHARED}

    return frame
