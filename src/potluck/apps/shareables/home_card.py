"""Shareables' card on the home page."""

from potluck.apps.shareables.own_list import existing, own_list
from potluck.people import Principal
from potluck.store import Store
from potluck.web import HomeCard

# Of a person's hundreds of shareables, only the latest are counted.
SHAREABLES_AT_A_GLANCE = 100


async def home_card(store: Store, principal: Principal) -> HomeCard:
    """How many of the caller's shareables are open."""
    rows = (await store.page(await own_list(store, principal.user_id), SHAREABLES_AT_A_GLANCE)).items
    shareables = await existing(store, rows)
    open_count = sum(not shareable.expired(store.clock()) for shareable in shareables)
    return HomeCard(f"{open_count} open" if open_count else "None open" if shareables else "")
