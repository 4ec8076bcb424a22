"""Names and ids that are in use: the errors, and the writes that raise them."""

from typing import Any
from uuid import UUID

from potluck.apps.shopping.entities import Deletable, Deletion
from potluck.table import WriteRefused, absent, check, put
from potluck.web import AlreadyThere, Outcome, ProblemError, Unset, or_raise


class IdTaken(AlreadyThere):
    """The id that the caller chose is in use, by `existing` or by something that is being deleted."""

    def __init__(self, existing: Any = None) -> None:
        members = {} if existing is None else {"existing": existing}
        super().__init__("This id is already in use", **members)


class NameTaken(
    ProblemError,
    slug="name-taken",
    status=409,
    title="Name already in use",
    remedy="Choose another name, or use what already has this one.",
    field="name",
):
    """The family already has a store, a storage location or an inventory item with this name. Case and surrounding
    spaces make no difference."""

    def __init__(self, name: str) -> None:
        super().__init__(f"“{name}” already exists")


async def name_taken(refusal: WriteRefused) -> ProblemError | None:
    """NameTaken, if the write was refused because of a unique name."""
    return None if refusal.value is None else NameTaken(refusal.value)


def put_new(thing: Any, what: Deletable, chosen_id: UUID | Unset) -> list[Outcome]:
    """Put a new row that others can link to, under a new id or one that the client chose."""

    async def taken(refusal: WriteRefused) -> ProblemError | None:
        return await name_taken(refusal) or IdTaken(refusal.current)

    outcome = or_raise(put(thing, when=absent), taken)
    if not isinstance(chosen_id, UUID):
        return [outcome]
    # As long as links to a deleted row with this id are being cleared, links to the new row would be cleared too.
    unused = check(Deletion.by_id(thing.family_id, what, chosen_id), when=absent)
    return [outcome, or_raise(unused, IdTaken)]
