"""Access: the owner of a library may do everything; the people it is shared with may only view it."""

from collections.abc import Sequence
from typing import Any

from potluck.apps.library.entities import Library, SharedLibrary
from potluck.apps.library.fields import LibraryId, owner_of
from potluck.table import Operation, Ref, WriteRefused, check, present
from potluck.web import NotFound, ProblemError, SignedIn


class OwnerOnly(ProblemError, slug="owner-only", status=403, title="Owner only"):
    """You can view and search a library that is shared with you. Only its owner can change it, lend from it, or see
    who has what."""


class InLibrary(SignedIn):
    """The owner of the library in the path, or a person it is shared with."""

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
        return (check(self.grant_row(), when=present),)

    def refuse(self, refusal: WriteRefused) -> None:
        if refusal.current is None:
            raise NotFound from refusal

    def grant_row(self) -> Ref[Any]:
        kind: Any = Library if self.owns else SharedLibrary
        ref: Ref[Any] = kind.one(self.caller_id, self.library_id)
        return ref


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
    """The person a view is for: some fields are only for the owner."""

    def __init__(self, caller_id: str) -> None:
        self._caller_id = caller_id

    @classmethod
    async def load(cls, at: SignedIn, things: Sequence[Any]) -> "Viewer":
        return cls(owner_of(at.principal.user_id))

    def owns(self, thing: Any) -> bool:
        return bool(thing.owner_id == self._caller_id)
