"""Shareables: laying one out, reading it, changing, cloning and deleting it; and a maker's own list."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.polls.deletion import Deletions, deleting
from potluck.apps.polls.entities import Deletion, Poll
from potluck.apps.polls.fields import AboutCandidates, Candidates, MaxRankings, MethodName, Seats
from potluck.apps.polls.polls import PollMade, copied, created, following
from potluck.apps.shareables.access import Editor, Keeper, Reader, ShareMaker, ToShareable
from potluck.apps.shareables.entities import ChecklistItem, CreatedShareable, Shareable, ShareSession
from potluck.apps.shareables.fields import (
    KEPT,
    LONGEST_LIFE,
    MOST_ITEMS,
    USUAL_LIFE_DAYS,
    Days,
    Kind,
    Name,
    Note,
    Passcode,
    Role,
)
from potluck.apps.shareables.items import ItemView, NewItem, in_order, new_item, new_values
from potluck.apps.shareables.passcodes import (
    EQUAL,
    PasscodeChange,
    SessionOpened,
    Unlock,
    WrongPasscode,
    new_passcode,
    opened,
    replaced,
    same,
    unlocked,
)
from potluck.field_types import Length, Message
from potluck.people.errors import InvalidFields, WrongField
from potluck.people.secrets import Random, new_id
from potluck.store import Store
from potluck.table import absent, delete, put, the, update
from potluck.table.operations import Operation
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, PageForm
from potluck.web.allowances import Allowance
from potluck.web.errors import THROTTLED, NotFound
from potluck.web.inputs import UNSET, Change, Input, Unset
from potluck.web.pagination import References
from potluck.web.requests import camel
from potluck.web.views import View, computed, view_plan
from potluck.web.writes import Outcome, Writes, or_retry

__all__ = [
    "Clone",
    "NewShareable",
    "OwnShareable",
    "ShareableChange",
    "ShareableMade",
    "ShareableView",
    "change_shareable",
    "clone_shareable",
    "create_shareable",
    "delete_shareable",
    "deletion_of",
    "one_shareable",
    "open_session",
    "own",
    "replace_passcodes",
    "shareables",
]

HOME = "/shareables"
TOO_LATE = f"expiresAt must be in the future, and at most {LONGEST_LIFE.days} days from now"


# --- what is shown ----------------------------------------------------------------------------------------------------


class BallotView(View[Poll]):
    """What voters put in order."""

    candidates: list[str]
    max_rankings: int | None
    method: MethodName
    seats: int

    @computed
    def candidate_descriptions(poll: Poll) -> dict[str, str]:
        return poll.candidate_descriptions or {}

    @computed
    def lot_order(poll: Poll) -> list[str]:
        """Who is favoured where nothing else decides, first to last; drawn before the first vote."""
        return poll.names(poll.lots)


class Contents(Struct, frozen=True):
    """What is in a shareable, and what the caller is in it."""

    role: Role
    now: datetime
    items: list[ItemView] | Unset = UNSET
    poll: BallotView | Unset = UNSET

    @classmethod
    async def load(cls, at: ToShareable, found: Sequence[Shareable]) -> "Contents":
        (shareable,) = found
        role = at.role_in(shareable) or "view"
        if shareable.poll_id is None:
            rows = in_order(await at.rows.all(ChecklistItem.of(shareable.short_id)))
            return cls(role, at.now, items=await at.show(ItemView, rows))
        poll = await at.rows.get(Poll.one(shareable.poll_id))
        return cls(role, at.now, poll=UNSET if poll is None else view_plan(BallotView).show(poll))


class OwnShareable(View[Shareable]):
    """A shareable in its maker's list."""

    short_id: str
    entity: Kind
    name: str
    note: str | None
    expires_at: datetime
    viewers_can_tick: bool
    version: int

    @computed
    def purge_at(shareable: Shareable) -> datetime:
        """When it is gone for everybody; from `expiresAt` on, its admins alone see it."""
        return shareable.purge_at

    @computed
    def asks_viewers(shareable: Shareable) -> bool:
        """Whether a passcode is needed to look."""
        return shareable.view_passcode is not None


class ShareableView(OwnShareable):
    """A shareable with what is in it, as the caller sees it."""

    @computed
    def role(shareable: Shareable, contents: Contents) -> Role:
        return contents.role

    @computed
    def expired(shareable: Shareable, contents: Contents) -> bool:
        return shareable.expired(contents.now)

    @computed
    def items(shareable: Shareable, contents: Contents) -> list[ItemView] | Unset:
        """Of a checklist, in order."""
        return contents.items

    @computed
    def poll(shareable: Shareable, contents: Contents) -> BallotView | Unset:
        return contents.poll


class ShareableMade(Struct, rename="camel", frozen=True, kw_only=True):
    """A shareable that was just laid out; its passcodes are never shown again."""

    short_id: str
    url: str
    entity: Kind
    name: str
    expires_at: datetime
    purge_at: datetime
    admin_passcode: str
    view_passcode: str | None
    admin_token: str


# --- what is sent -----------------------------------------------------------------------------------------------------


class Terms(Input):
    """Until when it is open, 30 days if nothing is said; and its passcodes."""

    expires_at: datetime | Unset = UNSET
    expires_in_days: Days | Unset = UNSET
    view_passcode: Passcode | Unset | None = UNSET
    """With none, whoever has the id may look. A clone for which none is named gets one if the original has one."""
    admin_passcode: Passcode | None = None
    """If there is none, it is made up."""

    @staticmethod
    def check(sent: "Terms") -> Iterator[WrongField]:
        if sent.expires_at is not UNSET and sent.expires_in_days is not UNSET:
            yield WrongField("expiresInDays", "Say either expiresAt or expiresInDays")
        if same(sent.view_passcode, sent.admin_passcode):
            yield WrongField("adminPasscode", EQUAL)


class NewShareable(Terms):
    """A checklist with its items, or a ranked-choice poll with its candidates."""

    entity: Annotated[Kind, Message("entity must be checklist or poll")]
    name: Name
    note: Note | None = None
    items: Annotated[list[NewItem], Length(0, MOST_ITEMS, f"A checklist has at most {MOST_ITEMS} items")] | Unset = (
        UNSET
    )
    candidates: Candidates | Unset = UNSET
    candidate_descriptions: AboutCandidates | Unset = UNSET
    max_rankings: MaxRankings | Unset = UNSET
    method: MethodName | Unset = UNSET
    seats: Seats | Unset = UNSET

    @staticmethod
    def check(sent: Any) -> Iterator[WrongField]:
        yield from Terms.check(sent)
        if sent.entity == "checklist":
            for name in OF_POLLS:
                if getattr(sent, name) is not UNSET:
                    yield WrongField(camel(name), "A checklist has items")
            chosen = [each.checklist_item_id for each in sent.items or () if each.checklist_item_id is not UNSET]
            if len(set(chosen)) < len(chosen):
                yield WrongField("items", "Two items have the same id")
        else:
            if sent.candidates is UNSET:
                yield WrongField("candidates", "A poll has candidates")
            if sent.items is not UNSET:
                yield WrongField("items", "A poll has candidates")


OF_POLLS = ("candidates", "candidate_descriptions", "max_rankings", "method", "seats")


class ShareableChange(Change[Shareable]):
    name: Name | Unset = UNSET
    note: Note | Unset | None = UNSET
    expires_at: datetime | Unset = UNSET
    viewers_can_tick: bool | Unset = UNSET


class Clone(Terms):
    """What is to be otherwise than in the original."""

    name: Name | Unset = UNSET
    keep_ticks: bool = False


def _size(new: NewShareable) -> int:
    """What it takes of what strangers may lay out: a long list counts for several short ones."""
    texts = [new.note, *(each.note for each in new.items or ()), *(each.name for each in new.items or ())]
    return 1 + sum(len(each) for each in texts if each is not None) // CHARACTERS_OF_ONE


CHARACTERS_OF_ONE = 5_000
SHAREABLES = Allowance("shareables", 300, weight=_size)
CLONES = Allowance("clones", 60)


def _end(at: ShareMaker, expires_at: datetime | Unset, days: int | Unset = UNSET) -> datetime:
    """When it expires, in UTC to the second; InvalidFields for what is over, or too far away."""
    if expires_at is UNSET:
        return at.now + timedelta(days=days or USUAL_LIFE_DAYS)
    end = expires_at.astimezone(UTC).replace(microsecond=0)
    if not at.now < end <= at.now + LONGEST_LIFE:
        raise InvalidFields(WrongField("expiresAt", TOO_LATE))
    return end


def _ttl(end: datetime) -> int:
    return int((end + KEPT).timestamp())


# --- laying one out ---------------------------------------------------------------------------------------------------


async def _laid_out(
    at: ShareMaker,
    like: Mapping[str, Any],
    terms: Terms,
    view_passcode: str | None,
    fill: Callable[[Shareable], tuple[Shareable, Iterable[Operation | Outcome]]],
) -> Writes[ShareableMade]:
    """A new shareable under an id of the pool; `fill` says what is in it."""
    end = _end(at, terms.expires_at, terms.expires_in_days)
    admin_passcode = terms.admin_passcode or new_passcode(at.services.random)
    hashing, client = at.services.hashing, at.visitor.client
    admin_hash = await hashing.hash(admin_passcode, client)
    view_hash = None if view_passcode is None else await hashing.hash(view_passcode, client)
    principal = at.principal
    # As late as can be, since others pick as well.
    entry = await at.services.pool.pick()
    empty = Shareable(
        short_id=entry.id.lower(),
        admin_passcode=admin_hash,
        view_passcode=view_hash,
        expires_at=end,
        creator_id=None if principal is None else principal.user_id,
        created_at=at.now,
        ttl=_ttl(end),
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
        *([] if principal is None else [put(_in_own_list(shareable))]),
        made=shareable.short_id,
    )


def _in_own_list(shareable: Shareable) -> CreatedShareable:
    assert shareable.creator_id is not None
    assert shareable.created_at is not None
    assert shareable.ttl is not None
    return CreatedShareable(
        creator_id=shareable.creator_id,
        created_at=shareable.created_at,
        short_id=shareable.short_id,
        ttl=shareable.ttl,
    )


def _with_poll(shareable: Shareable, made: Writes[PollMade]) -> tuple[Shareable, list[Operation]]:
    return replace(shareable, poll_id=made.answer.id), made.operations


# --- the actions ------------------------------------------------------------------------------------------------------

shareables = Actions(ToShareable, Shareable.one, ShareableView, api=HOME, page=HOME, tag="Shareables")
own = Actions(SignedIn, Shareable.one, OwnShareable, api=HOME, tag="Shareables")


@own.list()
def own_shareables(at: SignedIn) -> References[Shareable]:
    """The shareables that the caller made signed in, newest first."""

    async def get(created: Any) -> list[Shareable]:
        found = await at.rows.get_many([Shareable.one(each.short_id) for each in created])
        # One that is deleted just now has gone from both, but the list was read first.
        return [each for each in found if each is not None]

    return References(CreatedShareable.of_creator(at.principal.user_id), get)


@shareables.create(secret=True, allowance=SHAREABLES)
async def create_shareable(at: ShareMaker, new: NewShareable) -> Writes[ShareableMade]:
    """Lay out a checklist or a poll; nobody has to be signed in. Passcodes are told only now, and one for admins is
    made up if none is given."""
    random = at.services.random

    def fill(shareable: Shareable) -> tuple[Shareable, Iterable[Operation]]:
        if new.entity == "checklist":
            rows = [new_item(shareable, order, each, random) for order, each in enumerate(new.items or ())]
            return shareable, [put(each, when=absent) for each in rows]
        said = {name: value for name in OF_POLLS if (value := getattr(new, name)) is not UNSET}
        said |= {"title": new.name, "description": new.note, "expires_at": shareable.expires_at}
        return _with_poll(shareable, created(said, None, at.now, random, short_id=shareable.short_id))

    like = {"entity": new.entity, "name": new.name, "note": new.note}
    return await _laid_out(at, like, new, new.view_passcode or None, fill)


@shareables.read()
async def one_shareable(at: Reader, shareable: Shareable) -> Shareable:
    """A shareable with its items in order, and what the caller is in it. Viewers see it until it expires, admins for a
    year longer."""
    return shareable


@shareables.action("POST", "/sessions", WrongPasscode, THROTTLED, status=201, secret=True, kept=False)
async def open_session(at: ToShareable, shareable: Shareable, given: Unlock) -> Writes[SessionOpened]:
    """Give a passcode, for a token of its role. It ends after seven days, or when that passcode is replaced."""
    return await unlocked(at, shareable, given.passcode)


@shareables.action("PUT", "/passcodes")
async def replace_passcodes(at: Editor, shareable: Shareable, change: PasscodeChange) -> Writes[Shareable]:
    """Set other passcodes. Tokens that were got with a replaced one are dead at once. Admins only."""
    return await replaced(at, shareable, change)


@shareables.change(form=PageForm(path="/settings", then=f"{HOME}/{{short_id}}"))
async def change_shareable(at: Editor, shareable: Shareable, change: ShareableChange) -> Writes[Shareable]:
    """Change a shareable, or until when it is open. Admins only."""
    if change.expires_at is not UNSET:
        change = replace(change, expires_at=_end(at, change.expires_at))
    new = new_values(shareable, change)
    if not new:
        return Writes(shareable)
    moves = "expires_at" in new
    if moves:
        new["ttl"] = _ttl(new["expires_at"])
    version = the(Shareable.items_version)
    after, write = at.edit(
        shareable,
        *(the(getattr(Shareable, name)).becomes(value) for name, value in new.items()),
        *([version.add(1)] if moves else []),
        when=version == shareable.items_version if moves else None,
    )
    others: list[Operation | Outcome] = []
    if shareable.poll_id is not None:
        poll = await _poll_of(at, shareable)
        follows = following(poll, after.name, after.note, after.expires_at)
        others += [or_retry(each) for each in follows.operations]
    if moves:
        # Everything under it is kept as long as it is, whoever adds something meanwhile.
        for item in await at.rows.all(ChecklistItem.of(at.short_id)):
            row = ChecklistItem.one(at.short_id, item.checklist_item_id)
            others.append(or_retry(update(row, the(ChecklistItem.ttl).becomes(after.ttl), keep_version=True)))
        if shareable.creator_id is not None:
            others.append(put(_in_own_list(after)))
    return Writes(after, or_retry(write), *others)


@shareables.delete(form=PageForm(path="/delete", then=f"{HOME}?said=deleted"))
async def delete_shareable(at: Keeper, shareable: Shareable) -> Writes[None]:
    """Delete a shareable with everything that belongs to it. Admins only, also after it has expired."""
    return await deletion_of(at.rows, shareable, at.now)


@shareables.action("POST", "/clone", status=201, secret=True, input_optional=True, allowance=CLONES)
async def clone_shareable(at: Keeper, shareable: Shareable, wanted: Clone) -> Writes[ShareableMade]:
    """Lay the same out again, under a new id and with new passcodes, without its votes, and without its ticks unless
    they are asked for. Admins only, also after it has expired."""
    random = at.services.random
    name = shareable.name if wanted.name is UNSET else wanted.name
    items = in_order(await at.rows.all(ChecklistItem.of(at.short_id)))
    poll = None if shareable.poll_id is None else await _poll_of(at, shareable)

    def fill(clone: Shareable) -> tuple[Shareable, Iterable[Operation]]:
        if poll is not None:
            otherwise = {"title": name, "expires_at": clone.expires_at}
            return _with_poll(clone, copied(poll, None, at.now, random, short_id=clone.short_id, **otherwise))
        return clone, [put(_cloned(item, clone, wanted.keep_ticks, random), when=absent) for item in items]

    like = {each: getattr(shareable, each) for each in ("entity", "note", "viewers_can_tick")} | {"name": name}
    view_passcode = wanted.view_passcode
    if view_passcode is UNSET:
        view_passcode = None if shareable.view_passcode is None else new_passcode(random)
    return await _laid_out(at, like, wanted, view_passcode, fill)


def _cloned(item: ChecklistItem, clone: Shareable, keep_ticks: bool, random: Random) -> ChecklistItem:
    kept = {"done": item.done, "done_at": item.done_at} if keep_ticks else {"done": False, "done_at": None}
    new = {"short_id": clone.short_id, "checklist_item_id": new_id(random), "ttl": clone.ttl, "version": 1}
    return replace(item, **kept, **new)


async def _poll_of(at: ToShareable, shareable: Shareable) -> Poll:
    assert shareable.poll_id is not None
    poll = await at.rows.get(Poll.one(shareable.poll_id))
    if poll is None:
        raise NotFound
    return poll


async def deletion_of(rows: Store, shareable: Shareable, now: datetime) -> Writes[None]:
    """What deletes it with its items, or its poll, at once; sessions mean nothing without it, and go after that."""
    version = the(Shareable.items_version)
    writes: list[Operation] = [delete(shareable, when=version == shareable.items_version)]
    writes += [delete(each) for each in await rows.all(ChecklistItem.of(shareable.short_id))]
    if shareable.creator_id is not None:
        writes.append(delete(_in_own_list(shareable)))
    poll = None if shareable.poll_id is None else await rows.get(Poll.one(shareable.poll_id))
    if poll is not None:
        writes += deleting(poll, now)

    async def tidied() -> None:
        sessions = await rows.all(ShareSession.of(shareable.short_id))
        await rows.write_each(map(delete, sessions))
        if poll is not None:
            await Deletions(rows).carry_on(Deletion(poll_id=poll.poll_id, deleted_at=now), promptly=True)

    return Writes(None, *map(or_retry, writes), after=tidied)
