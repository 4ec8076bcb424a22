"""Creating a shareable, a checklist with items or a poll, under an id from the pool; and cloning one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.polls.fields import AboutCandidates, Candidates, MaxRankings, MethodName, Seats
from potluck.apps.polls.polls import PollMade, copied, created
from potluck.apps.shareables.access import Keeper, ShareMaker
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS, Days, Kind, Name, Note, Passcode
from potluck.apps.shareables.items import NewChecklistItem, in_order, new_item
from potluck.apps.shareables.own_list import in_own_list
from potluck.apps.shareables.passcodes import EQUAL, new_passcode, opened, same
from potluck.apps.shareables.shareables import HOME, end_of, poll_of, shareables, ttl_of
from potluck.table import Operation, absent, put
from potluck.validation import FieldError, Length, Message
from potluck.web import UNSET, Input, Outcome, RateLimit, Unset, Writes


class ShareableMade(Struct, rename="camel", frozen=True, kw_only=True):
    """A new shareable; its passcodes are never shown again."""

    short_id: str
    url: str
    entity: Kind
    name: str
    expires_at: datetime
    purge_at: datetime
    admin_passcode: str
    view_passcode: str | None
    admin_token: str


class Terms(Input):
    """Its expiry, by default after 30 days; and its passcodes."""

    expires_at: datetime | Unset = UNSET
    expires_in_days: Days | Unset = UNSET
    view_passcode: Passcode | Unset | None = UNSET
    """Null: anyone with the id may view it. If omitted, a clone gets a generated one if the original has one."""
    admin_passcode: Passcode | None = None
    """Generated if omitted."""

    @staticmethod
    def check(sent: "Terms") -> Iterator[FieldError]:
        if sent.expires_at is not UNSET and sent.expires_in_days is not UNSET:
            yield FieldError("expiresInDays", "Send either expiresAt or expiresInDays")
        if same(sent.view_passcode, sent.admin_passcode):
            yield FieldError("adminPasscode", EQUAL)


class NewShareable(Terms):
    """A checklist with its items, or a ranked-choice poll with its candidates."""

    entity: Annotated[Kind, Message("entity must be checklist or poll")]
    name: Name
    note: Note | None = None
    items: (
        Annotated[list[NewChecklistItem], Length(0, MOST_ITEMS, f"A checklist has at most {MOST_ITEMS} items")] | Unset
    ) = UNSET
    candidates: Candidates | Unset = UNSET
    candidate_descriptions: AboutCandidates | Unset = UNSET
    max_rankings: MaxRankings | Unset = UNSET
    method: MethodName | Unset = UNSET
    seats: Seats | Unset = UNSET

    @staticmethod
    def check(sent: Any) -> Iterator[FieldError]:
        yield from Terms.check(sent)
        if sent.entity == "checklist":
            for name in OF_POLLS:
                if getattr(sent, name) is not UNSET:
                    yield FieldError.of(name, "A checklist has items")
            ids = [item.checklist_item_id for item in sent.items or () if item.checklist_item_id is not UNSET]
            if len(set(ids)) < len(ids):
                yield FieldError("items", "Two items have the same id")
        else:
            if sent.candidates is UNSET:
                yield FieldError("candidates", "A poll has candidates")
            if sent.items is not UNSET:
                yield FieldError("items", "A poll has candidates")


OF_POLLS = ("candidates", "candidate_descriptions", "max_rankings", "method", "seats")


class Clone(Terms):
    """What differs from the original."""

    name: Name | Unset = UNSET
    keep_ticks: bool = False


def _size(new: NewShareable) -> int:
    """How much of the rate limit it uses: a long list counts as several short ones."""
    texts = [new.note, *(item.note for item in new.items or ()), *(item.name for item in new.items or ())]
    return 1 + sum(len(text) for text in texts if text is not None) // CHARACTERS_OF_ONE


CHARACTERS_OF_ONE = 5_000
SHAREABLES = RateLimit("shareables", 300, weight=_size)
CLONES = RateLimit("clones", 60)


# --- creating one -----------------------------------------------------------------------------------------------------


async def _new_shareable(
    at: ShareMaker,
    like: Mapping[str, Any],
    terms: Terms,
    view_passcode: str | None,
    fill: Callable[[Shareable], tuple[Shareable, Iterable[Operation | Outcome]]],
) -> Writes[ShareableMade]:
    """The writes that create a shareable under an id from the pool; `fill` adds its contents."""
    end = end_of(at, terms.expires_at, terms.expires_in_days)
    admin_passcode = terms.admin_passcode or new_passcode(at.core.random)
    hashing, client = at.services.hashing, at.visitor.client
    admin_hash = await hashing.hash(admin_passcode, client)
    view_hash = None if view_passcode is None else await hashing.hash(view_passcode, client)
    principal = at.principal
    # As late as possible: the longer this takes, the likelier that another request claims the same id.
    entry = await at.services.pool.pick()
    empty = Shareable(
        short_id=entry.id.lower(),
        admin_passcode=admin_hash,
        view_passcode=view_hash,
        expires_at=end,
        creator_id=None if principal is None else principal.user_id,
        created_at=at.now,
        ttl=ttl_of(end),
        **like,
    )
    shareable, inside = fill(empty)
    session, row = opened(at, shareable, "admin")
    return Writes(
        ShareableMade(
            short_id=shareable.short_id,
            url=f"{at.visitor.origin}{HOME}/{shareable.short_id}",
            entity=shareable.entity,
            name=shareable.name,
            expires_at=end,
            purge_at=shareable.purge_at,
            admin_passcode=admin_passcode,
            view_passcode=view_passcode,
            admin_token=session.token,
        ),
        *at.services.pool.claim(entry, shareable),
        put(row),
        *inside,
        *([] if principal is None else [put(in_own_list(shareable))]),
        made=shareable.short_id,
    )


def _with_poll(shareable: Shareable, poll: Writes[PollMade]) -> tuple[Shareable, list[Operation]]:
    return replace(shareable, poll_id=poll.answer.id), poll.operations


# --- the actions ------------------------------------------------------------------------------------------------------


@shareables.create(secret=True, rate_limit=SHAREABLES)
async def create_shareable(at: ShareMaker, new: NewShareable) -> Writes[ShareableMade]:
    """Create a checklist or a poll; no account is needed. Passcodes are returned only this once; the admin passcode is
    generated if none is sent."""

    def fill(shareable: Shareable) -> tuple[Shareable, Iterable[Operation]]:
        if new.entity == "checklist":
            rows = [new_item(shareable, order, item, at.new_id) for order, item in enumerate(new.items or ())]
            return shareable, [put(row, when=absent) for row in rows]
        values = {name: value for name in OF_POLLS if (value := getattr(new, name)) is not UNSET}
        values |= {"title": new.name, "description": new.note, "expires_at": shareable.expires_at}
        poll = created(at.new_id(), values, None, at.now, at.core.random, short_id=shareable.short_id)
        return _with_poll(shareable, poll)

    like = {"entity": new.entity, "name": new.name, "note": new.note}
    return await _new_shareable(at, like, new, new.view_passcode or None, fill)


@shareables.action("POST", "/clone", status=201, secret=True, input_optional=True, rate_limit=CLONES)
async def clone_shareable(at: Keeper, shareable: Shareable, options: Clone) -> Writes[ShareableMade]:
    """Clone a shareable: the copy has a new id and new passcodes, no votes, and no ticks unless `keepTicks` is set.
    Admins only, also after it has expired."""
    name = shareable.name if options.name is UNSET else options.name
    items = in_order(await at.store.all(ChecklistItem.of(at.short_id)))
    poll = None if shareable.poll_id is None else await poll_of(at, shareable)

    def fill(clone: Shareable) -> tuple[Shareable, Iterable[Operation]]:
        if poll is not None:
            changes = {"title": name, "expires_at": clone.expires_at}
            copy = copied(at.new_id(), poll, None, at.now, at.core.random, short_id=clone.short_id, **changes)
            return _with_poll(clone, copy)
        return clone, [put(_cloned(item, clone, options.keep_ticks, at.new_id()), when=absent) for item in items]

    like = {field: getattr(shareable, field) for field in ("entity", "note", "viewers_can_tick")} | {"name": name}
    view_passcode = options.view_passcode
    if view_passcode is UNSET:
        view_passcode = None if shareable.view_passcode is None else new_passcode(at.core.random)
    return await _new_shareable(at, like, options, view_passcode, fill)


def _cloned(item: ChecklistItem, clone: Shareable, keep_ticks: bool, new_id: UUID) -> ChecklistItem:
    tick = {"done": item.done, "done_at": item.done_at} if keep_ticks else {"done": False, "done_at": None}
    new = {"short_id": clone.short_id, "checklist_item_id": new_id, "ttl": clone.ttl}
    return replace(item, **tick, **new, version=1, edited_in=1, ticked_in=1, fence=0)
