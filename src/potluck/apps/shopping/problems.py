"""Which problem each of Shopping's errors is, for the assembly."""

from collections.abc import Mapping
from typing import Any

from potluck.apps.shopping import errors
from potluck.web.errors import ALREADY_EXISTS, EXPIRED, FORBIDDEN, NOT_FOUND, Kind, Problem

__all__ = ["ERRORS"]

DUPLICATE_ITEM = Problem(
    "duplicate-item",
    409,
    "It is on the list already",
    "Somebody in the family has put the same thing on the list, and it is not bought yet. The answer has it as"
    " “existing”. Nothing was added.",
    "Change that one, or send the request again with allowDuplicate: true.",
)
LAST_ADMIN = Problem(
    "last-admin",
    409,
    "A family keeps its last admin",
    "A family always has somebody who can look after it. This would have taken its last admin, so it was not done.",
    "Make another member an admin first, or delete the family.",
)
NAME_TAKEN = Problem(
    "name-taken",
    409,
    "This name is taken",
    "The family has a store, or a storage location, of this name. Case and the space around a name make no difference.",
    "Choose another name, or use the one that is there.",
)
ALREADY_RESTOCKED = Problem(
    "already-restocked",
    409,
    "Added already",
    "What was bought is added to the inventory once, and that has happened. Nothing was added.",
    "Adjust the inventory item itself if its quantity is wrong.",
)
NOT_RESTOCKABLE = Problem(
    "not-restockable",
    409,
    "Nothing to add to",
    "Only an item that is purchased, and that comes from the inventory, can be added to the inventory.",
    "Check it off first. Free text has no place in the inventory until you make one.",
)


def _existing(error: errors.DuplicateItem | errors.AlreadyThere) -> Mapping[str, Any]:
    return {} if error.existing is None else {"existing": error.existing}


ERRORS: dict[type[Exception], Kind] = {
    errors.NothingThere: Kind(NOT_FOUND, detail=NOT_FOUND.explanation),
    errors.OnlyAdmins: Kind(FORBIDDEN),
    errors.LastAdmin: Kind(LAST_ADMIN),
    errors.DuplicateItem: Kind(DUPLICATE_ITEM, members=_existing),
    errors.AlreadyThere: Kind(ALREADY_EXISTS, members=_existing),
    errors.NameTaken: Kind(NAME_TAKEN),
    errors.AlreadyRestocked: Kind(ALREADY_RESTOCKED),
    errors.NotRestockable: Kind(NOT_RESTOCKABLE),
    errors.NothingToUndo: Kind(EXPIRED),
}
