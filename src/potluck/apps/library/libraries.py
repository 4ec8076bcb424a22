"""Libraries: a person's own, and those that others share with them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from potluck.apps.library.access import InLibrary, OwnLibrary, Viewer
from potluck.apps.library.entities import Library, LibraryRow, Loan, SharedLibrary
from potluck.apps.library.fields import Force, LibraryDescription, LibraryId, LibraryName, owner_of
from potluck.apps.library.page_frame import HOME, frame_of
from potluck.people import Account, AccountGone, TooMany, new_id
from potluck.store import Store
from potluck.table import absent, check, collate, delete, put, the
from potluck.web import (
    UNSET,
    Actions,
    AlreadyThere,
    Edit,
    Input,
    New,
    ProblemError,
    SignedIn,
    Unset,
    View,
    Writes,
    computed,
    or_raise,
    or_retry,
)

APP = "library"
TAG = "Library"
# They are all listed, and searched, at once.
MOST_LIBRARIES = 200


class LibraryThere(AlreadyThere, field="libraryName", detail="You have a library of this name already"):
    """The name is in use."""


class StillLent(ProblemError, slug="still-lent", status=409, title="Something is lent"):
    """What is lent would be forgotten with who has it. Ask for it back first, or delete it all the same with
    `?force=true`."""


class LibraryView(View[Library]):
    """A library; with whom it is shared, and its version, only its owner sees."""

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
    """Also what is lent."""


libraries = Actions(
    InLibrary, Library.one, LibraryView, api="/libraries", page=HOME, tag=TAG, frame=frame_of("shelves")
)


def place_of(owner_id: str, library_id: UUID) -> str:
    """The identifier of a library in invitations."""
    return f"{owner_id} {library_id}"


def by_name(library: Any) -> tuple[str, str]:
    return collate(library.library_name), str(library.library_id)


async def libraries_of(store: Store, user_id: UUID) -> list[Library]:
    """The libraries that a person has access to now: their own and those shared with them."""
    owner_id = owner_of(user_id)
    own = await store.all(Library.of_owner(owner_id))
    pointers = await store.all(SharedLibrary.with_person(owner_id))
    shared = await store.get_many([Library.one(each.shared_from_id, each.library_id) for each in pointers])
    return [*own, *(each for each in shared if each is not None)]


@libraries.list(order=by_name)
async def all_libraries(at: SignedIn) -> list[Library]:
    """The caller's own libraries and those shared with them, by name."""
    return await libraries_of(at.store, at.principal.user_id)


@libraries.create(LibraryThere, TooMany)
async def create_library(at: SignedIn, new: NewLibrary) -> Writes[Library]:
    """Make a library. Its name is its owner's only one of that name."""
    account = await at.store.get(Account.by_id(at.principal.user_id))
    if account is None:
        raise AccountGone
    await at.must_fit(Library.of_owner(owner_of(account.user_id)), MOST_LIBRARIES, "libraries of one person")
    if new.library_id is not UNSET:
        left = await at.store.first(LibraryRow.of_library(owner_of(account.user_id), new.library_id))
        if left is not None:
            # A library with this id was just deleted, and its remaining shares and items would become this one's.
            raise LibraryThere
    library = at.make(
        new,
        owner_id=owner_of(account.user_id),
        owner_name=account.name,
        library_id=new.library_id or new_id(),
    )
    # The name must be current when it is copied; later changes are copied by the consumer.
    as_read = check(Account.by_id(account.user_id), when=the(Account.version).still(account.version))
    return Writes(library, or_retry(as_read), or_raise(put(library, when=absent), LibraryThere))


@libraries.read()
async def one_library(at: InLibrary, library: Library) -> Library:
    """A library of the caller's, or one shared with them."""
    return library


@libraries.change(LibraryThere)
async def change_library(at: OwnLibrary, library: Library, change: LibraryChange) -> Writes[Library]:
    """Give a library another name or description. Only the owner may; what is in it follows the name."""
    return at.apply(library, change)


@libraries.delete("", StillLent)
async def delete_library(at: OwnLibrary, library: Library, forced: Forced) -> Writes[None]:
    """Delete a library with everything in it. Only the owner may; nobody looks into it from this moment on."""
    if forced.force != "true":
        lent = await at.store.count(Loan.in_library(at.owner_id, library.library_id))
        if lent:
            raise StillLent(lent=lent)
    invitations = at.core.people.invitations
    place = place_of(at.owner_id, library.library_id)
    # Its content is deleted by the consumer; without this row nobody can reach it.
    return Writes(None, delete(library), after=lambda: invitations.withdraw_all(APP, place))
