"""The library's card on the home page: how much is lent, and what has been out the longest."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from potluck.apps.library.entities import LibraryItem
from potluck.apps.library.lending import loans_of
from potluck.people import Principal
from potluck.web import Core, HomeCard, Waiting

# Loans shorter than this are not mentioned.
LONG_DAYS = 60
MOST_WAITING = 2
DAYS_OF_MONTH = 30


def home_card_of(core: Core, address: str) -> Callable[[Principal], Awaitable[HomeCard]]:
    """The card for all libraries of a person; `address` is the page of their loans."""

    async def home_card(caller: Principal) -> HomeCard:
        out = sorted(await loans_of(core.store, caller.user_id), key=lambda each: (each.lent_at, each.item_id))
        if not out:
            return HomeCard()
        now = core.clock()
        fact = f"{len(out)} lent, the longest for {how_long(out[0].lent_at, now)}"
        overdue = [
            each
            for each in out
            if (now - each.lent_at).days >= LONG_DAYS or (each.due is not None and each.due < now.date())
        ]
        if not overdue:
            return HomeCard(fact)
        refs = [LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in overdue[:MOST_WAITING]]
        items = await core.store.get_many(refs)
        waiting = [
            Waiting(item.title, f"{item.lent_to} has it, {how_long(loan.lent_at, now)}", address, "hourglass", "Look")
            for loan, item in zip(overdue, items, strict=False)
            if item is not None and item.lent_to is not None
        ]
        return HomeCard(fact, waiting)

    return home_card


def how_long(since: datetime, now: datetime) -> str:
    """A duration as people say it: days for two weeks, weeks for two months, then months."""
    days = max(0, (now - since).days)
    if days < 1:
        return "less than a day"
    if days < 14:
        return _many(days, "day")
    if days < 2 * DAYS_OF_MONTH:
        return _many(days // 7, "week")
    return _many(days // DAYS_OF_MONTH, "month")


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
