"""Conflicts over names and ids that are in use already: the errors, and writes that raise them when refused."""

from typing import Any
from uuid import UUID

from potluck.apps.shopping.entities import Deletable, Deletion
from potluck.table import NotUnique, WriteRefused, absent, check, put
from potluck.web import AlreadyThere, Outcome, ProblemError, Unset, or_raise


class IdTaken(AlreadyThere):
    """Something has the id that the caller chose: `existing`, or what is just being deleted."""

    def __init__(self, existing: Any = None) -> None:
        members = {} if existing is None else {"existing": existing}
        super().__init__("Something with this id exists already", **members)


class NameTaken(
    ProblemError,
    slug="name-taken",
    status=409,
    title="This name is taken",
    remedy="Choose another name, or use the one that is there.",
    field="name",
):
    """The family has a store, a storage location, or a thing in its inventory of this name.
    Case and the space around a name make no difference."""

    def __init__(self, name: str) -> None:
        super().__init__(f"“{name}” exists already")


async def name_taken(refusal: WriteRefused) -> ProblemError | None:
    """NameTaken, if a unique name is what refused the write."""
    return NameTaken(refusal.value) if isinstance(refusal, NotUnique) else None


def put_new(thing: Any, what: Deletable, chosen_id: UUID | Unset) -> list[Outcome]:
    """Put something new that other rows can link to, perhaps under an id that the client chose."""

    async def taken(refusal: WriteRefused) -> ProblemError | None:
        return await name_taken(refusal) or IdTaken(refusal.current)

    putting = or_raise(put(thing, when=absent), taken)
    if not isinstance(chosen_id, UUID):
        return [putting]
    # While links to a deleted row of this id are still being cleared, links to the new one would be cleared too.
    unused = check(Deletion.by_id(thing.family_id, what, chosen_id), when=absent)
    return [putting, or_raise(unused, IdTaken)]
