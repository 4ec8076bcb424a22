"""Lending: loans, decided by conditional writes, and the history of each item."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.entities import Book, Event, Item, LibraryItem, Loan, Video
from potluck.apps.library.fields import Borrower, Due, owner_of
from potluck.apps.library.items import items
from potluck.apps.library.libraries import TAG, of_existing_libraries
from potluck.apps.library.page_frame import LENT, frame_of
from potluck.store import Store
from potluck.table import Query, WriteRefused, delete, fold, put, the
from potluck.validation import FieldError, ValidationError
from potluck.web import Actions, Input, NotFound, ProblemError, SignedIn, View, Writes, _, computed, or_raise


class AlreadyLent(ProblemError, slug="already-lent", status=409, title="Already lent"):
    """This item is already lent, and the answer says who has it. It has to come back before it can be lent again."""

    @classmethod
    def to(cls, borrower: str) -> "AlreadyLent":
        return cls(f"{borrower} has it", lentTo=borrower)


class NotLent(ProblemError, slug="not-lent", status=409, title="Not lent"):
    """Only a lent item can be returned, and this one is on the shelf."""


class Lend(Input):
    to: Borrower
    until: Due | None = None
    """When it is due. The owner is reminded after that day."""


class EventView(View[Event]):
    """A loan or a return of an item."""

    type: Literal["LENT", "RETURNED"]
    updated_at: datetime

    @computed
    def borrower(event: Event) -> str:
        return event.event


class Borrowed:
    """The lent items, by library and id."""

    def __init__(self, items: dict[tuple[UUID, UUID], Item]) -> None:
        self._items = items

    @classmethod
    async def load(cls, at: SignedIn, loans: list[Loan]) -> "Borrowed":
        refs = [LibraryItem.one(loan.owner_id, loan.library_id, loan.item_id) for loan in loans]
        rows = await at.store.get_many(refs)
        return cls({(item.library_id, item.item_id): item for item in rows if item is not None})

    def of(self, loan: Loan) -> Item | None:
        return self._items.get((loan.library_id, loan.item_id))


class LoanView(View[Loan]):
    """A loan: the item, the borrower, and since when."""

    library_id: UUID
    item_id: UUID
    lent_at: datetime
    due: date | None

    @computed
    def title(loan: Loan, borrowed: Borrowed) -> str:
        item = borrowed.of(loan)
        return "" if item is None else item.title

    @computed
    def library_name(loan: Loan, borrowed: Borrowed) -> str:
        item = borrowed.of(loan)
        return "" if item is None else item.library_name

    @computed
    def lent_to(loan: Loan, borrowed: Borrowed) -> str:
        item = borrowed.of(loan)
        return "" if item is None or item.lent_to is None else item.lent_to


events = Actions(OwnLibrary, None, EventView, api="/libraries/{library_id}/items", tag=TAG)
loans = Actions(SignedIn, None, LoanView, api="/loans", page=LENT, tag=TAG, frame=frame_of("lent"))


@items.action("POST", "/lend", AlreadyLent)
async def lend(at: OwnLibrary, item: Book | Video, sent: Lend) -> Writes[Book | Video]:
    """Lend a book or a video. If several requests compete, one succeeds. Owner only."""
    now = at.core.clock()
    if sent.until is not None and sent.until < now.date():
        raise ValidationError(FieldError("until", _("The return date is in the past. Choose today or a later day.")))
    if item.lent_to is not None:
        raise AlreadyLent.to(item.lent_to)
    loan = Loan(owner_id=at.owner_id, library_id=item.library_id, item_id=item.item_id, lent_at=now, due=sent.until)
    after, write = at.edit(item, the(type(item).lent_to).becomes(sent.to), when=the(type(item).lent_to).is_none())
    return Writes(after, or_raise(write, _lent_meanwhile), put(_event(after, "LENT", sent.to, now)), put(loan))


@items.action("POST", "/return", NotLent)
async def give_back(at: OwnLibrary, item: Book | Video) -> Writes[Book | Video]:
    """Record that a book or a video was returned. Owner only."""
    if item.lent_to is None:
        raise NotLent
    after, write = at.edit(item, the(type(item).lent_to).becomes(None), when=the(type(item).lent_to) == item.lent_to)
    return Writes(
        after,
        or_raise(write, _back_meanwhile),
        put(_event(after, "RETURNED", item.lent_to, at.core.clock())),
        delete(Loan.one(at.owner_id, item.library_id, item.item_id)),
    )


class OfItem(OwnLibrary):
    """The owner of the library, about one of its items."""

    item_id: UUID


@events.list("/{item_id}/history")
async def history(at: OfItem) -> Query[Event]:
    """List the loans and returns of an item, newest first. Owner only."""
    if await at.store.get(LibraryItem.one(at.owner_id, at.library_id, at.item_id)) is None:
        raise NotFound
    return Event.of_item(at.owner_id, at.library_id, at.item_id)


def own_loans(at: SignedIn) -> Query[Loan]:
    """The caller's loans, as a query for live updates."""
    return Loan.of_owner(owner_of(at.principal.user_id))


@loans.list(
    order=lambda loan: (fold(loan.lent_to), loan.lent_at.timestamp(), str(loan.item_id)),
    live=own_loans,
    row="library/loan.html",
)
async def all_loans(at: SignedIn) -> list[Loan]:
    """List your loans from all your libraries, by borrower, longest first."""
    return await loans_of(at.store, at.principal.user_id)


async def loans_of(store: Store, user_id: UUID) -> list[Loan]:
    """A person's loans, except from deleted libraries."""
    return await of_existing_libraries(store, await store.all(Loan.of_owner(owner_of(user_id))))


async def lent_items(store: Store, loans: Sequence[Loan]) -> list[tuple[Loan, Item]]:
    """The loans with their items, without those that were returned meanwhile."""
    items = await store.get_many([LibraryItem.one(loan.owner_id, loan.library_id, loan.item_id) for loan in loans])
    pairs = zip(loans, items, strict=True)
    return [(loan, item) for loan, item in pairs if item is not None and item.lent_to is not None]


def _event(item: Item, type: Literal["LENT", "RETURNED"], borrower: str, now: datetime) -> Event:
    """The event, keyed by the version it created, so that two at the same instant stay distinct and in order."""
    return Event(
        owner_id=item.owner_id,
        library_id=item.library_id,
        item_id=item.item_id,
        item_version=item.version,
        type=type,
        event=borrower,
        updated_at=now,
    )


async def _lent_meanwhile(refusal: WriteRefused) -> ProblemError | None:
    if refusal.current is None:
        return NotFound()
    borrower = getattr(refusal.current, "lent_to", None)
    return None if borrower is None else AlreadyLent.to(borrower)


async def _back_meanwhile(refusal: WriteRefused) -> ProblemError | None:
    if refusal.current is None:
        return NotFound()
    return NotLent() if getattr(refusal.current, "lent_to", None) is None else None
