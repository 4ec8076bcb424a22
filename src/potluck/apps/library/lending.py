"""Lending: who has what, decided by a conditional write, and the history of each item."""

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.entities import Book, Event, Library, LibraryItem, Loan, Video
from potluck.apps.library.fields import Borrower, Due, owner_of
from potluck.apps.library.items import items
from potluck.apps.library.libraries import TAG
from potluck.apps.library.page_frame import LENT, frame_of
from potluck.apps.library.placement import Item
from potluck.store import Store
from potluck.table import Query, WriteRefused, delete, fold, put, the
from potluck.validation import FieldError, ValidationError
from potluck.web import Actions, Input, NotFound, ProblemError, SignedIn, View, Writes, computed, or_raise


class AlreadyLent(ProblemError, slug="already-lent", status=409, title="Somebody has it"):
    """It is out already, and the answer says who has it. It has to come back before it can be lent again."""

    @classmethod
    def to(cls, borrower: str) -> "AlreadyLent":
        return cls(f"{borrower} has it", lentTo=borrower)


class NotLent(ProblemError, slug="not-lent", status=409, title="It is not lent"):
    """Only what is out can come back, and this is on the shelf."""


class Lend(Input):
    to: Borrower
    until: Due | None = None
    """When it should be back, to be reminded of it."""


class EventView(View[Event]):
    """Something that happened to an item."""

    type: Literal["LENT", "RETURNED"]
    updated_at: datetime

    @computed
    def borrower(event: Event) -> str:
        return event.event


class Borrowed:
    """The items that are out, and of which library each is."""

    def __init__(self, found: dict[tuple[UUID, UUID], Item]) -> None:
        self._found = found

    @classmethod
    async def load(cls, at: SignedIn, loans: list[Loan]) -> "Borrowed":
        refs = [LibraryItem.one(each.owner_id, each.library_id, each.item_id) for each in loans]
        rows = await at.store.get_many(refs)
        return cls({(each.library_id, each.item_id): each for each in rows if each is not None})

    def of(self, loan: Loan) -> Item | None:
        return self._found.get((loan.library_id, loan.item_id))


class LoanView(View[Loan]):
    """Something that is out: what, at whose, and since when."""

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
    """Lend a book or a video. Of several at once, one succeeds; the others are told who has it. Only the owner may."""
    now = at.core.clock()
    if sent.until is not None and sent.until < now.date():
        raise ValidationError(FieldError("until", "The return date is in the past. Choose today or a later day"))
    if item.lent_to is not None:
        raise AlreadyLent.to(item.lent_to)
    loan = Loan(owner_id=at.owner_id, library_id=item.library_id, item_id=item.item_id, lent_at=now, due=sent.until)
    after, write = at.edit(item, the(type(item).lent_to).becomes(sent.to), when=the(type(item).lent_to).is_none())
    return Writes(after, or_raise(write, _lent_meanwhile), put(_event(after, "LENT", sent.to, now)), put(loan))


@items.action("POST", "/return", NotLent)
async def give_back(at: OwnLibrary, item: Book | Video) -> Writes[Book | Video]:
    """A book or a video is back. Only the owner may say so."""
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
    """Who had it, newest first. Only the owner may look."""
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
    """What the caller has lent, in all of their libraries: by who has it, then by how long."""
    return await loans_of(at.store, at.principal.user_id)


async def loans_of(store: Store, user_id: UUID) -> list[Loan]:
    """What a person has lent, without the loans from deleted libraries that are still to be cleared."""
    owner_id = owner_of(user_id)
    found = await store.all(Loan.of_owner(owner_id))
    ids = list(dict.fromkeys(each.library_id for each in found))
    there = await store.get_many([Library.one(owner_id, each) for each in ids])
    kept = {each.library_id for each in there if each is not None}
    return [each for each in found if each.library_id in kept]


def _event(item: Item, type: Literal["LENT", "RETURNED"], borrower: str, now: datetime) -> Event:
    """The event, keyed by the version it created, so that two in one instant stay distinct and in order."""
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
