"""The page of all titles: everything in the caller's own libraries in one list."""

from typing import Any

from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.titles import in_libraries, titles, titles_of
from potluck.validation import ValidationError
from potluck.web import Show, SignedIn

ON_ONE_PAGE = 100


@titles.page("", "library/titles.html")
async def titles_page(at: SignedIn, show: Show) -> dict[str, Any]:
    sealed_for = f"{at.principal.user_id} titles"
    after = show.query.get("after", "")
    try:
        goes_on = at.core.cursors.unseal(after, sealed_for) if after else None
    except ValidationError:
        # An outdated cursor, or another person's: show the list from its beginning.
        goes_on = None
    part = await at.store.page(titles_of(at), ON_ONE_PAGE, goes_on)
    return {
        "rows": await at.show(ShelfRowView, await in_libraries(at, part.items)),
        "later": goes_on is not None,
        "more": "" if part.next is None else at.core.cursors.seal(part.next, sealed_for),
    }
