"""The search page: results as you type, from your own libraries and those shared with you."""

from typing import Any

from markupsafe import Markup

from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.search import MOST_FOUND, marked
from potluck.apps.library.searching import ItemHit, SearchQuery, hits, items_at, searching
from potluck.validation import ValidationError, decode_tree
from potluck.web import Show, SignedIn, initials

# How many results are shown at first, and how many more each time.
AT_ONCE = 30


@searching.page("", "library/search.html")
async def search_page(at: SignedIn, show: Show) -> dict[str, Any]:
    typed = show.query.get("q", "").strip()
    found: list[ItemHit] = []
    rows: list[ShelfRowView] = []
    wrong = ""
    shown = _shown(show.query.get("shown", ""))
    if typed:
        try:
            wanted = decode_tree(SearchQuery, {"q": typed})
            found = await hits(at, wanted.text)
            rows = await at.show(ShelfRowView, await items_at(at, found[:shown]))
        except ValidationError as refused:
            wrong = refused.errors[0].message
    return {
        "q": typed,
        "wrong": wrong,
        "own": [each for each in rows if each.owned],
        "shared": [(each, initials(each.owner_name)) for each in rows if not each.owned],
        "count": len(found) if rows else 0,
        "shown": shown,
        "more": min(AT_ONCE, len(found) - shown),
        "most": MOST_FOUND,
        "marked": lambda text: _with_marks(text, typed),
    }


def _shown(asked: str) -> int:
    """How many results to show: as many as the address says, in whole steps."""
    wanted = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 6 else AT_ONCE
    return min(max(1, -(-wanted // AT_ONCE)) * AT_ONCE, MOST_FOUND)


def _with_marks(text: str, typed: str) -> Markup:
    """The text as markup, with the matches highlighted."""
    parts = (Markup("<mark>{}</mark>" if hit else "{}").format(part) for part, hit in marked(text, typed))
    return Markup("").join(parts)
