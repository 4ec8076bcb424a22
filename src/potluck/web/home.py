"""The home page: the apps' cards for people who are signed in, and an introduction for others and for developers."""

import asyncio
import logging
from collections.abc import Sequence

from starlette.responses import Response

from potluck.people.authentication import Principal
from potluck.states import WORK_FAILING, Trouble
from potluck.web.app import App, HomeCard
from potluck.web.app_entry import AppEntry
from potluck.web.endpoints import Call, Endpoints
from potluck.web.health import answers

# An app that takes longer is left out: the others are not kept waiting.
CARD_SECONDS = 2.0
CALM_SECONDS = 10.0

log = logging.getLogger("potluck.web")


def home(apps: Sequence[App], catalogue: Sequence[AppEntry]) -> Endpoints:
    """The page at `/`."""
    names = {entry.id: entry.name for entry in catalogue}
    samples = {app.name: app.sample for app in apps if app.sample is not None}
    pages = Endpoints()
    failing = {
        app.name: Trouble(WORK_FAILING, log, f"the home card of {app.name} fails", calm_seconds=CALM_SECONDS)
        for app in apps
    }

    @pages.get("/")
    async def front(call: Call) -> Response:
        principal = call.principal
        if principal is None:
            return call.page(
                "welcome.html",
                catalogue=catalogue,
                samples=samples,
                engine=call.core.settings.engine,
                registration=call.core.settings.registration,
            )
        app_cards = await asyncio.gather(*(_card(app, principal, failing[app.name]) for app in apps))
        cards = {app.name: card for app, card in zip(apps, app_cards, strict=True)}
        return call.page(
            "home.html",
            catalogue=catalogue,
            facts={name: card.fact for name, card in cards.items() if card is not None},
            waiting=[(name, item) for name, card in cards.items() if card is not None for item in card.waiting],
            next_steps=[
                (entry, card.next_step)
                for entry in catalogue
                if (card := cards.get(entry.id)) is not None and card.next_step is not None
            ],
            silent=[names.get(name, name) for name, card in cards.items() if card is None],
            offline=True,
            plain=call.visitor.lacks_https,
        )

    @pages.get("/developers")
    async def developers(call: Call) -> Response:
        engine = call.core.settings.engine
        return call.page("developers.html", engine=engine, answering=await answers(call.core.engine))

    return pages


async def _card(app: App, principal: Principal, failing: Trouble) -> HomeCard | None:
    """The app's card; None if it fails or takes too long, so that the others are still shown."""
    try:
        async with asyncio.timeout(CARD_SECONDS):
            card = await app.home_card(principal)
    except Exception as error:
        failing.met(error)
        return None
    failing.over()
    return card
