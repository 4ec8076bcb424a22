"""The page at the front door: what Potluck is, and what is not there yet."""

from typing import NamedTuple

from litestar import HttpMethod, route
from litestar.datastructures import State
from litestar.response import Template

from potluck.web.health import answers

__all__ = ["DISHES", "welcome"]


class Dish(NamedTuple):
    """One app, as the front page announces it."""

    id: str
    name: str
    icon: str
    does: str


DISHES = (
    Dish("shareables", "Shareables", "list-checks", "Lists and polls that anyone with the short id can open."),
    Dish("shopping", "Shopping", "shopping-basket", "What the family has and what it needs. Works without signal."),
    Dish("journal", "Journal", "notebook-pen", "A training journal: part shared with coaches, part only yours."),
    Dish("polls", "Polls", "vote", "Ranked choice, counted in the open, so that everyone can check."),
    Dish("library", "Library", "library-big", "Books and videos: who has them, and who may look."),
)


@route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD])
async def welcome(state: State) -> Template:
    return Template(
        "welcome.html",
        context={"dishes": DISHES, "engine": state.settings.engine, "answering": await answers(state.engine)},
        headers={"cache-control": "no-cache"},
    )
