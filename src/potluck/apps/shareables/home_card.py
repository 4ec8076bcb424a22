"""Shareables' card on the home page."""

from potluck.apps.shareables.own_list import existing, own_list
from potluck.people import Principal
from potluck.store import Store
from potluck.web import HomeCard, _

# Of a person's hundreds of shareables, only the latest are counted.
SHAREABLES_AT_A_GLANCE = 100


async def home_card(store: Store, principal: Principal) -> HomeCard:
    """How many of the caller's shareables are open."""
    rows = (await store.page(await own_list(store, principal.user_id), SHAREABLES_AT_A_GLANCE)).items
    shareables = await existing(store, rows)
    if not shareables:
        return HomeCard.first(
            _("A list that anyone with its code can open and tick."), _("New list"), "/shareables/new"
        )
    open_count = sum(not shareable.expired(store.clock()) for shareable in shareables)
    return HomeCard(_("%(count)s open", count=open_count) if open_count else _("None open"))
