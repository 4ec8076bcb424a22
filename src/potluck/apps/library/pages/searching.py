"""The search page: results as you type, from one's own libraries and those shared with one."""

from typing import Any

from markupsafe import Markup

from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.search import MOST_FOUND, marked
from potluck.apps.library.searching import ItemHit, SearchQuery, hits, items_at, searching
from potluck.validation import ValidationError
from potluck.web import Show, SignedIn, initials

# The results shown at first, and added with each "more".
AT_ONCE = 30


@searching.page("", "library/search.html")
async def search_page(at: SignedIn, show: Show) -> dict[str, Any]:
    typed = show.query.get("q", "").strip()
    results: list[ItemHit] = []
    rows: list[ShelfRowView] = []
    wrong = ""
    shown = _shown(show.query.get("shown", ""))
    if typed:
        try:
            query = SearchQuery.decode({"q": typed})
            results = await hits(at, query.text)
            rows = await at.show(ShelfRowView, await items_at(at, results[:shown]))
        except ValidationError as refused:
            wrong = refused.errors[0].message
    return {
        "q": typed,
        "wrong": wrong,
        "own": [row for row in rows if row.owned],
        "shared": [(row, initials(row.owner_name)) for row in rows if not row.owned],
        "count": len(results) if rows else 0,
        "shown": shown,
        "more": min(AT_ONCE, len(results) - shown),
        "most": MOST_FOUND,
        "marked": lambda text: _with_marks(text, typed),
    }


def _shown(text: str) -> int:
    """The number of results that the address asks for, rounded up to whole steps."""
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else AT_ONCE
    return min(max(1, -(-count // AT_ONCE)) * AT_ONCE, MOST_FOUND)


def _with_marks(text: str, typed: str) -> Markup:
    """The text as markup, with the matches highlighted."""
    parts = (Markup("<mark>{}</mark>" if hit else "{}").format(part) for part, hit in marked(text, typed))
    return Markup("").join(parts)
