"""The card of shareables on a person's home page."""

from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.own_list import own_list
from potluck.people import Principal
from potluck.store import Clock, Store
from potluck.web import HomeCard

# Enough for nearly everybody: beyond it only the latest are counted.
SHAREABLES_AT_A_GLANCE = 100


async def home_card(store: Store, clock: Clock, principal: Principal) -> HomeCard:
    """Says how many of the caller's shareables are open."""
    made = (await store.page(await own_list(store, principal.user_id), SHAREABLES_AT_A_GLANCE)).items
    found = [each for each in await store.get_many([Shareable.one(each.short_id) for each in made]) if each is not None]
    open_count = sum(not each.expired(clock()) for each in found)
    return HomeCard(f"{open_count} open" if open_count else "None open" if found else "")
