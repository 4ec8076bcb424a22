"""The page at the front door: what Potluck is, and what is not there yet."""

from litestar import HttpMethod, route
from litestar.datastructures import State
from litestar.response import Template

from potluck.web.dishes import DISHES
from potluck.web.health import answers

__all__ = ["welcome"]


@route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD])
async def welcome(state: State) -> Template:
    return Template(
        "welcome.html",
        context={"dishes": DISHES, "engine": state.settings.engine, "answering": await answers(state.engine)},
        headers={"cache-control": "no-cache"},
    )
