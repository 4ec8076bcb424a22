"""Access: the owner of a library may do everything, the people it is shared with may only look."""

from collections.abc import Sequence
from typing import Any

from potluck.apps.library.entities import Library, SharedLibrary
from potluck.apps.library.fields import LibraryId, owner_of
from potluck.table import Operation, Ref, WriteRefused, check, present
from potluck.web import Grant, NotFound, ProblemError, SignedIn


class OwnerOnly(ProblemError, slug="owner-only", status=403, title="Only the owner may"):
    """A library that is shared with you can be looked at and searched; only its owner changes it, lends from it, or
    sees who has what."""


class InLibrary(SignedIn):
    """The owner of the library in the path, or somebody with whom it is shared."""

    finds_by = ("owner_id",)

    library_id: LibraryId

    def reads(self) -> Sequence[Ref[Any]]:
        self.caller_id = owner_of(self.principal.user_id)
        return (
            Library.one(self.caller_id, self.library_id),
            SharedLibrary.one(self.caller_id, self.library_id),
        )

    async def admit(self, *rows: Any) -> None:
        library, pointer = rows
        if library is None and pointer is not None:
            library = await self.store.get(Library.one(pointer.shared_from_id, self.library_id))
        if library is None:
            raise NotFound
        self.library: Library = library
        self.owner_id: str = library.owner_id

    @property
    def owns(self) -> bool:
        return self.owner_id == self.caller_id

    def checks(self) -> Sequence[Operation]:
        return (check(self._admitting(), when=present),)

    def refuse(self, refusal: WriteRefused) -> None:
        if refusal.current is None:
            raise NotFound from refusal

    def right(self) -> Grant | None:
        return Grant(self._admitting())

    def _admitting(self) -> Ref[Any]:
        """The row that gives the caller access."""
        kind: Any = Library if self.owns else SharedLibrary
        found: Ref[Any] = kind.one(self.caller_id, self.library_id)
        return found


class OwnLibrary(InLibrary):
    """The owner of the library in the path."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if not self.owns:
            raise OwnerOnly

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [OwnerOnly]


class Viewer:
    """Who is looking, for views that show some fields only to the owner."""

    def __init__(self, caller_id: str) -> None:
        self._caller_id = caller_id

    @classmethod
    async def load(cls, at: SignedIn, things: Sequence[Any]) -> "Viewer":
        return cls(owner_of(at.principal.user_id))

    def owns(self, thing: Any) -> bool:
        return bool(thing.owner_id == self._caller_id)
