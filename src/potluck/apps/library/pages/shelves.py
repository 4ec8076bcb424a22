"""The page of a person's libraries, the shelf of each in three looks, and the settings of a library."""

import asyncio
from typing import Any

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.entities import Library, LibraryItem, Loan, Share, ShelfRow
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
from potluck.validation import ValidationError
from potluck.web import SealedCookie, Show, SignedIn, Writes

# How many items one page of a shelf shows.
ON_ONE_SHELF = 300
# How many items fill the board of a library, and for how many libraries one is drawn.
ON_ONE_BOARD, BOARDS = 16, 24
LOOK = SealedCookie("potluck-library-look", path=HOME)


async def own_libraries(at: SignedIn) -> tuple[list[LibraryView], list[LibraryView]]:
    """The person's own libraries, and those shared with them, each list sorted by name."""
    rows = await libraries_of(at.store, at.principal.user_id)
    found = sorted(await at.show(LibraryView, rows), key=by_name)
    return [each for each in found if each.owned], [each for each in found if not each.owned]


@libraries.page("", "library/libraries.html")
async def libraries_page(at: SignedIn, show: Show) -> dict[str, Any]:
    rows = await libraries_of(at.store, at.principal.user_id)
    found = sorted(await at.show(LibraryView, rows), key=by_name)
    owners = {each.library_id: each.owner_id for each in rows}

    async def board(library: LibraryView) -> list[ShelfRowView]:
        query = ShelfRow.of_library(owners[library.library_id], library.library_id)
        return await at.show(ShelfRowView, (await at.store.page(query, ON_ONE_BOARD)).items)

    boards = await asyncio.gather(*map(board, found[:BOARDS]))
    return {
        "own": [each for each in found if each.owned],
        "shared": [each for each in found if not each.owned],
        "boards": {library.library_id: rows for library, rows in zip(found, boards, strict=False)},
        "form": show.form(NewLibrary),
        # The script of a shelf that is no longer shared leads here.
        "over": "over" in show.query,
    }


libraries.form("", then=LIBRARY, on=libraries_page)(create_library)


# --- one shelf --------------------------------------------------------------------------------------------------------


@libraries.page("", "library/shelf.html")
async def shelf_page(at: InLibrary, library: Library, show: Show) -> dict[str, Any]:
    known = [each for each, *_ in LOOKS]
    asked = show.query.get("look", "")
    if asked in known:
        show.set(LOOK, asked)
    look = next((each for each in (asked, LOOK.value(at.visitor)) if each in known), known[0])
    sealed_for = f"{at.principal.user_id} {at.library_id} shelf"
    after = show.query.get("after", "")
    try:
        goes_on = at.core.cursors.unseal(after, sealed_for) if after else None
    except ValidationError:
        # An outdated cursor, or somebody else's: show the shelf from its beginning.
        goes_on = None
    # The live position is taken before the shelf is read, so that no change is missed.
    query = shelf_rows(at)
    position = await at.position(query)
    part = await at.store.page(query, ON_ONE_SHELF, goes_on)
    rows = await at.show(ShelfRowView, part.items)
    (view,) = await at.show(LibraryView, [library])
    return {
        "library": view,
        "rows": rows,
        "look": look,
        "looks": LOOKS,
        "position": position,
        "first": rows[0].place if rows and goes_on is not None else "",
        "last": rows[-1].place if rows and part.next is not None else "",
        "later": goes_on is not None,
        "more": "" if part.next is None else at.core.cursors.seal(part.next, sealed_for),
        "others": [each for several in await own_libraries(at) for each in several],
        "lent": await at.store.count(Loan.in_library(at.owner_id, at.library_id)) if at.owns else 0,
        "lookers": await _lookers(at) if at.owns else [],
        # The script of a collection that was taken apart leads here.
        "apart": "apart" in show.query,
    }


async def _lookers(at: InLibrary) -> list[str]:
    """The names of the people the library is shared with."""
    return sorted(each.name for each in await at.store.all(Share.of_library(at.owner_id, at.library_id)))


# --- the library as a whole -------------------------------------------------------------------------------------------


@libraries.page("/settings", "library/settings.html")
async def library_page(at: OwnLibrary, library: Library, show: Show) -> dict[str, Any]:
    (view,) = await at.show(LibraryView, [library])
    clash = show.clash if isinstance(show.clash, LibraryView) else None
    form = show.form(LibraryChange, view)
    return {
        "library": view,
        "form": form,
        "conflict": form.conflict(clash, {"libraryName": "Name", "description": "Description"}),
        "still_lent": show.refusal if isinstance(show.refusal, StillLent) else None,
        "out": await _out(at),
    }


async def _out(at: OwnLibrary) -> list[tuple[str, str]]:
    """What is lent from the library, and to whom."""
    loans = await at.store.all(Loan.in_library(at.owner_id, at.library_id))
    items = await at.store.get_many([LibraryItem.one(at.owner_id, at.library_id, each.item_id) for each in loans])
    return [(each.title, each.lent_to) for each in items if each is not None and each.lent_to is not None]


libraries.form("/settings", then=LIBRARY, on=library_page)(change_library)


@libraries.form(
    "/delete", then=HOME, flash="The library is gone, with everything in it.", on=library_page, frees_room=True
)
async def delete_by_page(at: OwnLibrary, library: Library, sure: Forced) -> Writes[None]:
    return await delete_library(at, library, sure)


libraries.form("/leave", then=HOME, flash="You left the library.", frees_room=True)(leave_library)
