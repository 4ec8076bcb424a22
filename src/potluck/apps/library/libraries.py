"""Libraries: a person's own, and those that others share with them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary, Viewer
from potluck.apps.library.entities import Book, Library, LibraryRow, Loan, SharedLibrary, Video
from potluck.apps.library.fields import Force, LibraryDescription, LibraryId, LibraryName, owner_of
from potluck.apps.library.page_frame import HOME, frame_of
from potluck.people import TooMany
from potluck.store import Store
from potluck.table import absent, collate, delete, put
from potluck.web import (
    UNSET,
    Actions,
    AlreadyThere,
    Edit,
    Input,
    Invitations,
    New,
    ProblemError,
    SignedIn,
    Unset,
    View,
    Writes,
    _,
    computed,
    or_raise,
)

R = TypeVar("R", bound=Book | Video | Loan)

APP = "library"
invitations = Invitations(APP)
TAG = "Library"
# All of them are listed, and searched, in one request.
MOST_LIBRARIES = 200


class LibraryThere(AlreadyThere, field="libraryName", detail=_("You already have a shelf with this name.")):
    """The name is in use."""


class StillLent(ProblemError, slug="still-lent", status=409, title="Items are lent"):
    """Deleting a lent item also deletes the record of who has it. Ask for it back first, or delete it anyway with
    `?force=true`."""


class LibraryView(View[Library]):
    """A library. Only its owner sees the version and who it is shared with."""

    library_id: UUID
    library_name: str
    description: str | None
    total_items: int
    owner_name: str
    updated_at: datetime

    @computed
    def owned(library: Library, viewer: Viewer) -> bool:
        return viewer.owns(library)

    @computed
    def shared_to(library: Library, viewer: Viewer) -> list[str] | Unset:
        return library.shared_to if viewer.owns(library) else UNSET

    @computed
    def version(library: Library, viewer: Viewer) -> int | Unset:
        return library.version if viewer.owns(library) else UNSET


class NewLibrary(New[Library]):
    library_name: LibraryName
    description: LibraryDescription | None = None
    library_id: LibraryId | Unset = UNSET
    """Chosen by a device that was offline."""


class LibraryChange(Edit[Library]):
    library_name: LibraryName | Unset = UNSET
    description: LibraryDescription | Unset | None = UNSET


class Forced(Input):
    force: Force = "false"
    """Also delete what is lent."""


libraries = Actions(
    InLibrary, Library.one, LibraryView, api="/libraries", page=HOME, tag=TAG, frame=frame_of("shelves")
)


def place_of(owner_id: str, library_id: UUID) -> str:
    """The identifier of a library in invitations."""
    return f"{owner_id} {library_id}"


def by_name(library: Any) -> tuple[str, str]:
    return collate(library.library_name), str(library.library_id)


async def libraries_of(store: Store, user_id: UUID) -> list[Library]:
    """The libraries that a person can open now: their own and those shared with them."""
    owner_id = owner_of(user_id)
    own = await store.all(Library.of_owner(owner_id))
    pointers = await store.all(SharedLibrary.with_person(owner_id))
    shared = await store.get_many([Library.one(pointer.shared_from_id, pointer.library_id) for pointer in pointers])
    return [*own, *(library for library in shared if library is not None)]


async def of_existing_libraries(store: Store, rows: Sequence[R]) -> list[R]:
    """These rows without those of deleted libraries, which the consumer still has to delete."""
    keys = list(dict.fromkeys((row.owner_id, row.library_id) for row in rows))
    libraries = await store.get_many([Library.one(*key) for key in keys])
    existing = {library.library_id for library in libraries if library is not None}
    return [row for row in rows if row.library_id in existing]


@libraries.list(order=by_name)
async def all_libraries(at: SignedIn) -> list[Library]:
    """List your libraries and those shared with you, by name."""
    return await libraries_of(at.store, at.principal.user_id)


@libraries.create(LibraryThere, TooMany)
async def create_library(at: SignedIn, new: NewLibrary) -> Writes[Library]:
    """Create a library. Its name is unique among those of its owner."""
    account = await at.own_account()
    await at.must_fit(Library.of_owner(owner_of(account.user_id)), MOST_LIBRARIES, "libraries of one person")
    if new.library_id is not UNSET:
        left = await at.store.first(LibraryRow.of_library(owner_of(account.user_id), new.library_id))
        if left is not None:
            # A library with this id was just deleted, and the rest of its content would become that of the new one.
            raise LibraryThere
    library = at.make(
        new,
        owner_id=owner_of(account.user_id),
        owner_name=account.name,
        library_id=new.library_id or at.new_id(),
    )
    return Writes(library, or_raise(put(library, when=absent), LibraryThere))


@libraries.read()
async def one_library(at: InLibrary, library: Library) -> Library:
    """Get one of your libraries, or one that is shared with you."""
    return library


@libraries.change(LibraryThere)
async def change_library(at: OwnLibrary, library: Library, change: LibraryChange) -> Writes[Library]:
    """Rename a library or edit its description. Owner only."""
    return at.apply(library, change)


@libraries.delete("", StillLent)
async def delete_library(at: OwnLibrary, library: Library, forced: Forced) -> Writes[None]:
    """Delete a library with everything in it. Its shares end at once. Owner only."""
    if forced.force != "true":
        lent = await at.store.count(Loan.in_library(at.owner_id, library.library_id))
        if lent:
            raise StillLent(lent=lent)
    place = place_of(at.owner_id, library.library_id)
    # The consumer deletes its content, which cannot be reached without this row.
    return Writes(None, delete(library), after=lambda: invitations.withdraw_all(at, place))
