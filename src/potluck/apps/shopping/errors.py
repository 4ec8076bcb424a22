"""What Shopping refuses, in its own words; problems.py says which problem each of them is."""

from msgspec import Struct

__all__ = [
    "AlreadyRestocked",
    "AlreadyThere",
    "DuplicateItem",
    "LastAdmin",
    "NameTaken",
    "NotRestockable",
    "NothingThere",
    "NothingToUndo",
    "OnlyAdmins",
    "ShoppingError",
]


class ShoppingError(Exception):
    """Whatever is refused here; its text may be shown to the person it is refused to."""


class NothingThere(ShoppingError):
    """It does not exist, or not for this caller: the two are told alike."""

    def __init__(self) -> None:
        super().__init__("There is nothing here, or nothing that is yours to see")


class OnlyAdmins(ShoppingError):
    """A member asks for what the family's admins do."""

    def __init__(self) -> None:
        super().__init__("Only an admin of the family may do this")


class LastAdmin(ShoppingError):
    """The family would be left without an admin."""

    def __init__(self) -> None:
        super().__init__("A family keeps its last admin: make somebody else an admin first, or delete the family")


class DuplicateItem(ShoppingError):
    """The inventory item is on the list already, as `existing`; with `allowDuplicate` it is put there once more."""

    def __init__(self, existing: Struct) -> None:
        super().__init__("This is on the list already")
        self.existing = existing


class AlreadyThere(ShoppingError):
    """Something has the id that the caller chose: `existing`, or what is just being deleted."""

    def __init__(self, existing: Struct | None) -> None:
        super().__init__("Something with this id exists already")
        self.existing = existing


class NameTaken(ShoppingError):
    """Another store, or another location, of the family has this name, whatever its case and the space around it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"“{name}” exists already")
        self.name = name


class AlreadyRestocked(ShoppingError):
    """The purchase was added to the inventory before."""

    def __init__(self) -> None:
        super().__init__("This purchase was added to the inventory already")


class NotRestockable(ShoppingError):
    """It is not bought yet, or free text that no inventory item stands behind."""

    def __init__(self) -> None:
        super().__init__("Only what is purchased and comes from the inventory can be added to it")


class NothingToUndo(ShoppingError):
    """The token was never given, was used, or is over: which of them is not told."""

    def __init__(self) -> None:
        super().__init__("This can no longer be undone")
