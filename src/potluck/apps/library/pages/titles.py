"""The page of all titles: everything in the caller's own libraries in one list."""

from typing import Any

from potluck.apps.library.libraries import of_existing_libraries
from potluck.apps.library.pages.rows import ShelfRowView
from potluck.apps.library.titles import titles, titles_of
from potluck.web import Show, SignedIn

ON_ONE_PAGE = 100


@titles.page("", "library/titles.html")
async def titles_page(at: SignedIn, show: Show) -> dict[str, Any]:
    sealed_for = f"{at.principal.user_id} titles"
    after = at.core.cursors.unseal_or_start(show.query.get("after", ""), sealed_for)
    part = await at.store.page(titles_of(at), ON_ONE_PAGE, after)
    return {
        "rows": await at.show(ShelfRowView, await of_existing_libraries(at.store, part.items)),
        "later": after is not None,
        "more": "" if part.next is None else at.core.cursors.seal(part.next, sealed_for),
    }
