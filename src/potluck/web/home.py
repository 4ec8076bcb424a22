"""The front page: for whoever is signed in, what the apps have to say; for a visitor, what this is."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from litestar import HttpMethod, Request, route
from litestar.response import Template
from litestar.types import ControllerRouterHandler

from potluck.people.authentication import Principal
from potluck.web.app import App, Core, HomeCard
from potluck.web.callers import Door
from potluck.web.dishes import Dish
from potluck.web.health import answers
from potluck.web.layout import page
from potluck.web.people.showing import lacks_https

__all__ = ["home"]

# An app that takes longer is left out: the others are not kept waiting.
CARD_SECONDS = 2.0

log = logging.getLogger("potluck.web")


def home(core: Core, apps: Sequence[App], dishes: Sequence[Dish]) -> ControllerRouterHandler:
    """The page at `/`."""
    names = {dish.id: dish.name for dish in dishes}

    @route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False)
    async def front(request: Request[Any, Any, Any], visitor: Principal | None, door: Door) -> Template:
        if visitor is None:
            return page(
                "welcome.html",
                None,
                dishes=dishes,
                engine=core.settings.engine,
                answering=await answers(core.engine),
                registration=core.people.accounts.registration,
            )
        said = await asyncio.gather(*(_card(app, visitor) for app in apps))
        cards = {app.name: card for app, card in zip(apps, said, strict=True)}
        return page(
            "home.html",
            visitor,
            dishes=dishes,
            facts={name: card.fact for name, card in cards.items() if card is not None},
            waiting=[(name, each) for name, card in cards.items() if card is not None for each in card.waiting],
            silent=[names.get(name, name) for name, card in cards.items() if card is None],
            plain=lacks_https(request, door),
        )

    return front


async def _card(app: App, visitor: Principal) -> HomeCard | None:
    """What the app has to say; None if it cannot say it just now, which is no reason to say nothing at all."""
    try:
        async with asyncio.timeout(CARD_SECONDS):
            return await app.home_card(visitor)
    except Exception:
        log.exception("the home card of %s failed", app.name)
        return None
