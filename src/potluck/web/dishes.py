"""The five apps, as the pages around them speak of them."""

from typing import NamedTuple

__all__ = ["DISHES", "Dish"]


class Dish(NamedTuple):
    """One app: its id is also its hue; without an address it is not here yet."""

    id: str
    name: str
    icon: str
    does: str
    address: str = ""


DISHES = (
    Dish("shareables", "Shareables", "list-checks", "Lists and polls that anyone with the short id can open."),
    Dish("shopping", "Shopping", "shopping-basket", "What the family has and what it needs. Works without signal."),
    Dish("journal", "Journal", "notebook-pen", "A training journal: part shared with coaches, part only yours."),
    Dish("polls", "Polls", "vote", "Ranked choice, counted in the open, so that everyone can check."),
    Dish("library", "Library", "library-big", "Books and videos: who has them, and who may look."),
)
