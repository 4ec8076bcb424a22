"""The two doors of people: the calls under /api/v1, and the pages where one signs in and looks after one's account."""

from collections.abc import Sequence

from potluck.people.entities import Account
from potluck.web.app import App, Core
from potluck.web.callers import Door
from potluck.web.people import pages, routes
from potluck.web.people.account import Desk
from potluck.web.people.export import Exports
from potluck.web.people.places import PlaceNames, WaysIn

__all__ = ["doors"]


def doors(core: Core, door: Door, apps: Sequence[App]) -> App:
    """People as the assembly takes an app."""
    people = core.people
    return App(
        name="people",
        tables=[],
        services={
            "accounts": people.accounts,
            "sessions": people.sessions,
            "tokens": people.tokens,
            "invitations": people.invitations,
            "resets": people.resets,
            "desk": Desk(people, door),
            "exports": Exports(people.accounts, apps, core.clock),
            "places": PlaceNames(apps),
            "ways_in": WaysIn(apps, people.invitations),
        },
        routes=routes.ROUTES,
        pages=pages.PAGES,
        views={Account: routes.me_shown},
    )
