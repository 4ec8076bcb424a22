"""The page of loans: who has what, from all of the caller's libraries."""

from datetime import date, datetime
from typing import Any, NamedTuple

from potluck.apps.library.entities import LibraryItem
from potluck.apps.library.home_card import LONG_DAYS, how_long
from potluck.apps.library.lending import LoanView, loans, loans_of, own_loans
from potluck.apps.library.pages.rows import ShelfRowView
from potluck.table import fold
from potluck.web import Show, SignedIn, initials


class Out(NamedTuple):
    """A loan for the page: since when, when it is due, how long if that is long, and whether it is overdue."""

    row: ShelfRowView
    since: datetime
    due: date | None
    long: str
    overdue: bool


@loans.page("", "library/lent.html")
async def lent_page(at: SignedIn, show: Show) -> dict[str, Any]:
    # The live position is taken before anything is read, so that no change is missed.
    position = await at.position(own_loans(at))
    found = await loans_of(at.store, at.principal.user_id)
    refs = [LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in found]
    items = await at.store.get_many(refs)
    pairs = [(loan, item) for loan, item in zip(found, items, strict=True) if item is not None and item.lent_to]
    rows = await at.show(ShelfRowView, [item for _, item in pairs])
    now = at.now
    by_person: dict[str, tuple[str, list[Out]]] = {}
    for (loan, item), row in sorted(zip(pairs, rows, strict=True), key=lambda each: each[0][0].lent_at):
        overdue = loan.due is not None and loan.due < now.date()
        long = how_long(loan.lent_at, now) if (now - loan.lent_at).days >= LONG_DAYS else ""
        out = Out(row, loan.lent_at, loan.due, long, overdue)
        # Under the spelling of the person's longest loan.
        by_person.setdefault(fold(str(item.lent_to)), (str(item.lent_to), []))[1].append(out)
    # Ordered by each person's longest loan.
    people = [(name, initials(name), outs) for name, outs in by_person.values()]
    return {
        "columns": (people[::2], people[1::2]),
        "people": len(people),
        "count": len(rows),
        "loans": await at.show(LoanView, [loan for loan, _ in pairs]),
        "position": position,
    }
