"""The card of shareables on a person's home page."""

from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.own_list import own_list
from potluck.people.authentication import Principal
from potluck.store import Clock, Store
from potluck.web.app import HomeCard

__all__ = ["home_card"]

# Enough for nearly everybody: beyond it only the latest are counted.
SHAREABLES_AT_A_GLANCE = 100


async def home_card(rows: Store, clock: Clock, principal: Principal) -> HomeCard:
    """Says how many of the caller's shareables are open."""
    made = (await rows.page(await own_list(rows, principal.user_id), SHAREABLES_AT_A_GLANCE)).items
    found = [each for each in await rows.get_many([Shareable.one(each.short_id) for each in made]) if each is not None]
    lying_open = sum(not each.expired(clock()) for each in found)
    return HomeCard(f"{lying_open} open" if lying_open else "None open" if found else "")
