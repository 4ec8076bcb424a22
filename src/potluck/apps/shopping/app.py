"""Shopping, as it is handed to the assembly."""

from pathlib import Path

from potluck.apps.shopping.demo import demo_of
from potluck.apps.shopping.entities import inventory
from potluck.apps.shopping.orphans import APP
from potluck.apps.shopping.pages import PAGES
from potluck.apps.shopping.problems import ERRORS
from potluck.apps.shopping.routes import ROUTES
from potluck.apps.shopping.service import Shopping, open_shopping
from potluck.apps.shopping.shopping_list import shopping_list
from potluck.people.authentication import Principal
from potluck.web.app import App, Core, HomeCard, Waiting
from potluck.web.dishes import DISHES

__all__ = ["shopping_app"]

ADDRESS = "/shopping"
# More of what runs low would push the other apps off the page.
MOST_WAITING = 3


def shopping_app(core: Core) -> App:
    """The app on the suite's core."""
    shopping = open_shopping(core.store, core.clock, core.people.invitations)
    (dish,) = (each for each in DISHES if each.id == APP)

    async def home_card(caller: Principal) -> HomeCard:
        return await _home_card(shopping, caller)

    return App(
        name=APP,
        tables=[inventory],
        subjects=[shopping_list],
        services={"shopping": shopping},
        routes=ROUTES,
        pages=PAGES,
        templates=Path(__file__).parent / "templates",
        dish=dish._replace(address=ADDRESS),
        consumers=shopping.consumers(),
        errors=ERRORS,
        export=shopping.departures.export,
        still_needed=shopping.departures.still_needed,
        forget=shopping.departures.forget,
        place_name=shopping.place_name,
        accept=shopping.members.accept,
        home_card=home_card,
        demo=demo_of(shopping),
    )


async def _home_card(shopping: Shopping, caller: Principal) -> HomeCard:
    found = await shopping.at_a_glance(caller)
    return HomeCard(
        found.fact,
        [
            Waiting(
                each.name,
                f"{each.quantity} {each.unit or 'left'}" if each.quantity else "None left",
                f"{ADDRESS}/{each.family_id}/inventory",
                "package",
                "Look",
            )
            for each in found.low[:MOST_WAITING]
        ],
    )
