"""The library's card on the home page: how many items are lent, and the longest loans."""

from datetime import datetime

from potluck.apps.library.lending import lent_items, loans_of
from potluck.apps.library.page_frame import LENT
from potluck.people import Principal
from potluck.store import Store
from potluck.web import HomeCard

# Loans shorter than this are not mentioned.
LONG_DAYS = 60
MOST_WAITING = 2
DAYS_OF_MONTH = 30


async def home_card(store: Store, now: datetime, caller: Principal) -> HomeCard:
    """The card for all libraries of a person."""
    loans = sorted(await loans_of(store, caller.user_id), key=lambda loan: (loan.lent_at, loan.item_id))
    if not loans:
        return HomeCard()
    card = HomeCard(f"{len(loans)} lent, the longest for {how_long(loans[0].lent_at, now)}")
    overdue = [
        loan
        for loan in loans
        if (now - loan.lent_at).days >= LONG_DAYS or (loan.due is not None and loan.due < now.date())
    ]
    for loan, item in await lent_items(store, overdue[:MOST_WAITING]):
        card.add(item.title, f"{item.lent_to} has it, {how_long(loan.lent_at, now)}", LENT, "hourglass", "Look")
    return card


def how_long(since: datetime, now: datetime) -> str:
    """A rounded duration: in days up to two weeks, in weeks up to two months, then in months."""
    days = max(0, (now - since).days)
    if days < 1:
        return "less than a day"
    if days < 14:
        return _many(days, "day")
    if days < 2 * DAYS_OF_MONTH:
        return _many(days // 7, "week")
    return _many(days // DAYS_OF_MONTH, "month")


def _many(count: int, unit: str) -> str:
    return f"{count} {unit}" + ("" if count == 1 else "s")
