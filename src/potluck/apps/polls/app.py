"""Polls, as they are handed to the assembly."""

from pathlib import Path

from potluck.apps.polls.demo import demo_of
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.polls.pages import PAGES
from potluck.apps.polls.problems import ERRORS
from potluck.apps.polls.routes import ROUTES
from potluck.apps.polls.service import VOTER_IDS, open_polls
from potluck.people.authentication import Principal
from potluck.web.app import App, Core, HomeCard, Waiting
from potluck.web.dishes import DISHES
from potluck.web.secret import derived, load_secret

__all__ = ["polls_app"]

APP = "polls"
ADDRESS = "/polls"


def polls_app(core: Core) -> App:
    """The app on the suite's core."""
    polls = open_polls(core.store, core.clock, derived(load_secret(core.settings), VOTER_IDS))
    (dish,) = (each for each in DISHES if each.id == APP)

    async def home_card(caller: Principal) -> HomeCard:
        found = await polls.at_a_glance(caller)
        return HomeCard(
            found.fact,
            [
                Waiting(each.title, each.note, f"{ADDRESS}/{each.poll_id}/results", dish.icon, "Look")
                for each in found.to_close
            ],
        )

    return App(
        name=APP,
        tables=[ranked_choice_polls],
        services={"polls": polls},
        routes=ROUTES,
        pages=PAGES,
        templates=Path(__file__).parent / "templates",
        dish=dish._replace(address=ADDRESS),
        consumers=polls.consumers(),
        errors=ERRORS,
        export=polls.departures.export,
        still_needed=polls.departures.still_needed,
        forget=polls.departures.forget,
        home_card=home_card,
        demo=demo_of(polls),
    )
