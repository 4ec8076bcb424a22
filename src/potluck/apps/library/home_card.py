"""The library's card on the home page: how many items are lent, what is due, and the longest loans."""

from datetime import datetime

from potluck.apps.library.entities import Library, Loan, SharedLibrary
from potluck.apps.library.fields import owner_of
from potluck.apps.library.lending import lent_items, loans_of
from potluck.apps.library.page_frame import HOME, LENT
from potluck.people import Principal
from potluck.store import Store
from potluck.web import HomeCard, _, formats, ngettext

# Shorter loans that are not due are not mentioned.
LONG_DAYS = 60
MOST_WAITING = 3
DAYS_OF_MONTH = 30


async def home_card(store: Store, now: datetime, caller: Principal) -> HomeCard:
    """The card for all libraries of a person."""
    loans = sorted(await loans_of(store, caller.user_id), key=lambda loan: (loan.lent_at, loan.item_id))
    if not loans:
        if await _has_libraries(store, caller):
            return HomeCard()
        return HomeCard.first(_("What you own, who has it, and who can see it."), _("Add book"), HOME)
    card = HomeCard(_("%(count)s lent", count=formats.number_text(len(loans))))
    due = sorted(
        ((loan.due, loan) for loan in loans if loan.due is not None and loan.due <= now.date()),
        key=lambda pair: pair[0],
    )
    long = [loan for loan in loans if loan.due is None and (now - loan.lent_at).days >= LONG_DAYS]
    waiting = [*(loan for _day, loan in due), *long][:MOST_WAITING]
    for loan, item in await lent_items(store, waiting):
        back = f"{HOME}/{loan.library_id}/items/{loan.item_id}/return?next=/"
        note = _lent_note(loan, item.lent_to or "", now)
        card.add(item.title, note, LENT, "hourglass", _("Returned"), at=back, sends={})
    return card


async def _has_libraries(store: Store, caller: Principal) -> bool:
    owner_id = owner_of(caller.user_id)
    own = await store.first(Library.of_owner(owner_id))
    return own is not None or await store.first(SharedLibrary.with_person(owner_id)) is not None


def _lent_note(loan: Loan, borrower: str, now: datetime) -> str:
    if loan.due is None:
        return _("%(borrower)s has had it for %(time)s", borrower=borrower, time=how_long(loan.lent_at, now))
    if loan.due == now.date():
        return _("%(borrower)s has it. Due today.", borrower=borrower)
    return _("%(borrower)s has it. It was due on %(day)s.", borrower=borrower, day=formats.date_text(loan.due, "date"))


def how_long(since: datetime, now: datetime) -> str:
    """A rounded duration: in days up to two weeks, in weeks up to two months, then in months."""
    days = max(0, (now - since).days)
    if days < 1:
        return _("less than a day")
    if days < 14:
        return ngettext("%(num)s day", "%(num)s days", days)
    if days < 2 * DAYS_OF_MONTH:
        return ngettext("%(num)s week", "%(num)s weeks", days // 7)
    return ngettext("%(num)s month", "%(num)s months", days // DAYS_OF_MONTH)
