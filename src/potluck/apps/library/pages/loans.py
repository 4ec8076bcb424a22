"""The page of all loans from the caller's libraries, by borrower."""

from datetime import date, datetime
from typing import Any, NamedTuple

from potluck.apps.library.home_card import LONG_DAYS, how_long
from potluck.apps.library.lending import LoanView, lent_items, loans, loans_of, own_loans
from potluck.apps.library.pages.rows import ShelfRowView
from potluck.table import fold
from potluck.web import Show, SignedIn, _, initials, ngettext


class Out(NamedTuple):
    """A loan on the page: its dates, its duration if it is long, and whether it is overdue."""

    row: ShelfRowView
    since: datetime
    due: date | None
    long: str
    overdue: bool


@loans.page("", "library/lent.html")
async def lent_page(at: SignedIn, show: Show) -> dict[str, Any]:
    # The live position is taken before anything is read, so that no change is missed.
    position = await at.position(own_loans(at))
    pairs = await lent_items(at.store, await loans_of(at.store, at.principal.user_id))
    rows = await at.show(ShelfRowView, [item for _, item in pairs])
    now = at.now
    by_person: dict[str, tuple[str, list[Out]]] = {}
    for (loan, item), row in sorted(zip(pairs, rows, strict=True), key=lambda pair: pair[0][0].lent_at):
        overdue = loan.due is not None and loan.due < now.date()
        long = how_long(loan.lent_at, now) if (now - loan.lent_at).days >= LONG_DAYS else ""
        entry = Out(row, loan.lent_at, loan.due, long, overdue)
        # Under the spelling of the person's longest loan.
        by_person.setdefault(fold(str(item.lent_to)), (str(item.lent_to), []))[1].append(entry)
    # Ordered by each person's longest loan.
    people = [(name, initials(name), outs) for name, outs in by_person.values()]
    return {
        "columns": (people[::2], people[1::2]),
        "count": len(rows),
        "summary": _(
            "%(items)s lent to %(people)s.",
            items=ngettext("%(num)s item", "%(num)s items", len(rows)),
            people=ngettext("%(num)s person", "%(num)s people", len(people)),
        ),
        "loans": await at.show(LoanView, [loan for loan, _ in pairs]),
        "position": position,
    }
