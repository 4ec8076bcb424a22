"""The page of all libraries, the shelf of a library in three looks, and its settings."""

import asyncio
from typing import Any

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.entities import Library, Loan, Share, ShelfRow
from potluck.apps.library.lending import lent_items
from potluck.apps.library.libraries import (
    Forced,
    LibraryChange,
    LibraryView,
    NewLibrary,
    StillLent,
    by_name,
    change_library,
    create_library,
    delete_library,
    libraries,
    libraries_of,
)
from potluck.apps.library.page_frame import HOME, LIBRARY
from potluck.apps.library.pages.rows import LOOKS, ShelfRowView, shelf_rows
from potluck.apps.library.shares import leave_library
from potluck.web import SealedCookie, Show, SignedIn, Writes

# The items on one page of a shelf.
ON_ONE_SHELF = 300
# The items on the board of a library, and the libraries that get a board.
ON_ONE_BOARD, BOARDS = 16, 24
LOOK = SealedCookie("potluck-library-look", path=HOME)


async def own_libraries(at: SignedIn) -> tuple[list[LibraryView], list[LibraryView]]:
    """The caller's own libraries, and those shared with them, both by name."""
    rows = await libraries_of(at.store, at.principal.user_id)
    views = sorted(await at.show(LibraryView, rows), key=by_name)
    return [view for view in views if view.owned], [view for view in views if not view.owned]


@libraries.page("", "library/libraries.html", offline=True)
async def libraries_page(at: SignedIn, show: Show) -> dict[str, Any]:
    rows = await libraries_of(at.store, at.principal.user_id)
    views = sorted(await at.show(LibraryView, rows), key=by_name)
    owners = {library.library_id: library.owner_id for library in rows}

    async def board(library: LibraryView) -> list[ShelfRowView]:
        query = ShelfRow.of_library(owners[library.library_id], library.library_id)
        return await at.show(ShelfRowView, (await at.store.page(query, ON_ONE_BOARD)).items)

    boards = await asyncio.gather(*map(board, views[:BOARDS]))
    return {
        "own": [view for view in views if view.owned],
        "shared": [view for view in views if not view.owned],
        "boards": {library.library_id: rows for library, rows in zip(views, boards, strict=False)},
        "form": show.form(NewLibrary),
        # The script of a shelf redirects here when it is no longer shared.
        "over": "over" in show.query,
    }


libraries.form("", then=LIBRARY, on=libraries_page)(create_library)


# --- one shelf --------------------------------------------------------------------------------------------------------


@libraries.page("", "library/shelf.html", offline=True)
async def shelf_page(at: InLibrary, library: Library, show: Show) -> dict[str, Any]:
    names = [name for name, *_ in LOOKS]
    choice = show.query.get("look", "")
    if choice in names:
        show.set(LOOK, choice)
    look = next((name for name in (choice, LOOK.value(at.visitor)) if name in names), names[0])
    sealed_for = f"{at.principal.user_id} {at.library_id} shelf"
    after = at.core.cursors.unseal_or_start(show.query.get("after", ""), sealed_for)
    # The live position is taken before the shelf is read, so that no change is missed.
    query = shelf_rows(at)
    position = await at.position(query)
    part = await at.store.page(query, ON_ONE_SHELF, after)
    rows = await at.show(ShelfRowView, part.items)
    (view,) = await at.show(LibraryView, [library])
    return {
        "library": view,
        "rows": rows,
        "look": look,
        "looks": LOOKS,
        "position": position,
        "first": rows[0].place if rows and after is not None else "",
        "last": rows[-1].place if rows and part.next is not None else "",
        "later": after is not None,
        "more": "" if part.next is None else at.core.cursors.seal(part.next, sealed_for),
        "others": [view for views in await own_libraries(at) for view in views],
        "lent": await at.store.count(Loan.in_library(at.owner_id, at.library_id)) if at.owns else 0,
        "lookers": await _lookers(at) if at.owns else [],
        # The script of a collection redirects here when it was deleted.
        "apart": "apart" in show.query,
    }


async def _lookers(at: InLibrary) -> list[str]:
    """The names of the people the library is shared with."""
    return sorted(share.name for share in await at.store.all(Share.of_library(at.owner_id, at.library_id)))


# --- the library as a whole -------------------------------------------------------------------------------------------


@libraries.page("/settings", "library/settings.html")
async def library_page(at: OwnLibrary, library: Library, show: Show) -> dict[str, Any]:
    (view,) = await at.show(LibraryView, [library])
    form = show.form(LibraryChange, view)
    return {
        "library": view,
        "form": form,
        "conflict": form.conflict(show.clash, {"libraryName": "Name", "description": "Description"}),
        "still_lent": show.refusal if isinstance(show.refusal, StillLent) else None,
        "out": await _out(at),
    }


async def _out(at: OwnLibrary) -> list[tuple[str, str]]:
    """The titles lent from the library, each with its borrower."""
    loans = await at.store.all(Loan.in_library(at.owner_id, at.library_id))
    return [(item.title, str(item.lent_to)) for _, item in await lent_items(at.store, loans)]


libraries.form("/settings", then=LIBRARY, on=library_page)(change_library)


@libraries.form(
    "/delete", then=HOME, flash="The library is gone, with everything in it.", on=library_page, frees_room=True
)
async def delete_by_page(at: OwnLibrary, library: Library, sure: Forced) -> Writes[None]:
    return await delete_library(at, library, sure)


libraries.form("/leave", then=HOME, flash="You left the library.", frees_room=True)(leave_library)
