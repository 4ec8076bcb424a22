"""The search page: results as you type, from your own libraries and those shared with you."""

from typing import Any

from markupsafe import Markup

from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.search import marked
from potluck.apps.library.searching import SearchQuery, search, searching
from potluck.people.errors import InvalidFields
from potluck.web.access import SignedIn
from potluck.web.actions import Show
from potluck.web.layout import initials
from potluck.web.schema.decoding import decode_tree

__all__ = ["search_page"]

MOST_FOUND = 30


@searching.page("", "library/search.html")
async def search_page(at: SignedIn, show: Show) -> dict[str, Any]:
    typed = show.query.get("q", "").strip()
    found: list[ShelfRowView] = []
    wrong = ""
    if typed:
        try:
            wanted = decode_tree(SearchQuery, {"q": typed, "limit": MOST_FOUND})
            found = await at.show(ShelfRowView, await search(at, wanted))
        except InvalidFields as refused:
            wrong = refused.errors[0].message
    return {
        "q": typed,
        "wrong": wrong,
        "own": [each for each in found if each.owned],
        "shared": [(each, initials(each.owner_name)) for each in found if not each.owned],
        "count": len(found),
        "most": MOST_FOUND,
        "marked": lambda text: _with_marks(text, typed),
    }


def _with_marks(text: str, typed: str) -> Markup:
    """The text as markup, with the matches highlighted."""
    parts = (Markup("<mark>{}</mark>" if hit else "{}").format(part) for part, hit in marked(text, typed))
    return Markup("").join(parts)
