"""Shareables: reading, unlocking, changing and deleting one; and the list of a person's own."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.polls.deletion import Deletions, deleting
from potluck.apps.polls.entities import Deletion, Poll
from potluck.apps.polls.fields import MethodName
from potluck.apps.polls.polls import following
from potluck.apps.shareables.access import Editor, Keeper, Reader, ShareMaker, ToShareable
from potluck.apps.shareables.entities import ChecklistItem, DeletedItem, Shareable, ShareSession
from potluck.apps.shareables.fences import raise_fences
from potluck.apps.shareables.fields import (
    KEPT,
    LONGEST_LIFE,
    USUAL_LIFE_DAYS,
    Kind,
    Name,
    Note,
    Role,
)
from potluck.apps.shareables.items import ChecklistItemView, in_order, new_values
from potluck.apps.shareables.own_list import existing, in_own_list, off_own_list, own_list
from potluck.apps.shareables.passcodes import (
    PasscodeChange,
    SessionOpened,
    Unlock,
    WrongPasscode,
    replaced,
    unlocked,
)
from potluck.people import Throttled
from potluck.store import Store
from potluck.table import Operation, delete, put, the, update
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    UNSET,
    Actions,
    Edit,
    NotFound,
    Outcome,
    PageForm,
    References,
    SignedIn,
    Unset,
    View,
    Writes,
    _,
    computed,
    or_retry,
)

HOME = "/shareables"
TOO_LATE = f"expiresAt must be in the future, and at most {LONGEST_LIFE.days} days from now"


# --- what is shown ----------------------------------------------------------------------------------------------------


class BallotView(View[Poll]):
    """The candidates of a poll, and how it is counted."""

    candidates: list[str]
    max_rankings: int | None
    method: MethodName
    seats: int

    @computed
    def candidate_descriptions(poll: Poll) -> dict[str, str]:
        return poll.candidate_descriptions or {}

    @computed
    def lot_order(poll: Poll) -> list[str]:
        """Who wins a tie that nothing else breaks, most favoured first; drawn before the first vote."""
        return poll.names(poll.lot_order)


class Contents(Struct, frozen=True):
    """The contents of a shareable, and the caller's role in it."""

    role: Role
    now: datetime
    items: list[ChecklistItemView] | Unset = UNSET
    poll: BallotView | Unset = UNSET

    @classmethod
    async def load(cls, at: ToShareable, shareables: Sequence[Shareable]) -> "Contents":
        (shareable,) = shareables
        role = at.role_in(shareable) or "view"
        if shareable.poll_id is None:
            rows = in_order(await at.store.all(ChecklistItem.of(shareable.short_id)))
            return cls(role, at.now, items=await at.show(ChecklistItemView, rows))
        poll = await at.store.get(Poll.one(shareable.poll_id))
        return cls(role, at.now, poll=UNSET if poll is None else BallotView.show(poll))


class OwnShareable(View[Shareable]):
    """A shareable in its creator's list."""

    short_id: str
    entity: Kind
    name: str
    note: str | None
    expires_at: datetime
    viewers_can_tick: bool
    version: int

    @computed
    def purge_at(shareable: Shareable) -> datetime:
        """When it is deleted; from `expiresAt` until then, only its admins see it."""
        return shareable.purge_at

    @computed
    def asks_viewers(shareable: Shareable) -> bool:
        """Whether a passcode is needed to view it."""
        return shareable.view_passcode is not None


class ShareableView(OwnShareable):
    """A shareable with its contents, as the caller sees it."""

    @computed
    def role(shareable: Shareable, contents: Contents) -> Role:
        return contents.role

    @computed
    def expired(shareable: Shareable, contents: Contents) -> bool:
        return shareable.expired(contents.now)

    @computed
    def items(shareable: Shareable, contents: Contents) -> list[ChecklistItemView] | Unset:
        """The items of a checklist, in order."""
        return contents.items

    @computed
    def poll(shareable: Shareable, contents: Contents) -> BallotView | Unset:
        return contents.poll


# --- what is sent -----------------------------------------------------------------------------------------------------


class ShareableChange(Edit[Shareable]):
    name: Name | Unset = UNSET
    note: Note | Unset | None = UNSET
    expires_at: datetime | Unset = UNSET
    viewers_can_tick: bool | Unset = UNSET


def end_of(at: ShareMaker, expires_at: datetime | Unset, days: int | Unset = UNSET) -> datetime:
    """The time it expires, in UTC to the second; ValidationError if that is in the past or too far ahead."""
    if expires_at is UNSET:
        return at.now + timedelta(days=days or USUAL_LIFE_DAYS)
    end = expires_at.astimezone(UTC).replace(microsecond=0)
    if not at.now < end <= at.now + LONGEST_LIFE:
        raise ValidationError(FieldError("expiresAt", TOO_LATE))
    return end


def ttl_of(end: datetime) -> int:
    return int((end + KEPT).timestamp())


# --- the actions ------------------------------------------------------------------------------------------------------

shareables = Actions(ToShareable, Shareable.one, ShareableView, api=HOME, page=HOME, tag="Shareables")
own = Actions(SignedIn, Shareable.one, OwnShareable, api=HOME, tag="Shareables")


@own.list()
async def own_shareables(at: SignedIn) -> References[Shareable]:
    """List the shareables you created while signed in, newest first."""

    async def get(created: Any) -> list[Shareable]:
        return await existing(at.store, created)

    return References(await own_list(at.store, at.principal.user_id), get)


@shareables.read()
async def one_shareable(at: Reader, shareable: Shareable) -> Shareable:
    """Get a shareable with its items in order, and your role. Viewers see it until it expires, admins for another
    year."""
    return shareable


@shareables.action("POST", "/sessions", WrongPasscode, Throttled, status=201, secret=True, idempotent=False)
async def open_session(at: ToShareable, shareable: Shareable, sent: Unlock) -> Writes[SessionOpened]:
    """Exchange a passcode for a session token in its role, valid for seven days or until that passcode is replaced."""
    return await unlocked(at, shareable, sent.passcode)


@shareables.action("PUT", "/passcodes")
async def replace_passcodes(at: Editor, shareable: Shareable, change: PasscodeChange) -> Writes[Shareable]:
    """Replace passcodes. Sessions that were opened with a replaced one end at once. Admins only."""
    return await replaced(at, shareable, change)


@shareables.change()
async def change_shareable(at: Editor, shareable: Shareable, change: ShareableChange) -> Writes[Shareable]:
    """Edit a shareable, or how long it stays open. Admins only."""
    if change.expires_at is not UNSET:
        change = replace(change, expires_at=end_of(at, change.expires_at))
    new = new_values(shareable, change)
    if not new:
        return Writes(shareable)
    moves = "expires_at" in new
    ends_access = new.get("viewers_can_tick") is False or (moves and new["expires_at"] < shareable.expires_at)
    if moves:
        new["ttl"] = ttl_of(new["expires_at"])
    version = the(Shareable.items_version)
    after, write = at.edit(
        shareable,
        *(the(getattr(Shareable, name)).becomes(value) for name, value in new.items()),
        *([version.add(1)] if moves or ends_access else []),
        when=version == shareable.items_version if moves else None,
    )
    others: list[Operation | Outcome] = []
    then: Callable[[], Awaitable[object]] | None = (lambda: raise_fences(at.store, after)) if ends_access else None
    if shareable.poll_id is not None:
        follows = following(await poll_of(at, shareable), after.name, after.note, after.expires_at, at.store)
        others += [or_retry(operation) for operation in follows.operations]
        then = follows.then
    if moves:
        # Its rows expire together with it, including those added concurrently.
        for item in await at.store.all(ChecklistItem.of(at.short_id)):
            row = ChecklistItem.one(at.short_id, item.checklist_item_id)
            others.append(or_retry(update(row, the(ChecklistItem.ttl).becomes(after.ttl), keep_version=True)))
        if shareable.creator_id is not None:
            others.append(put(in_own_list(after)))
    return Writes(after, or_retry(write), *others, then=then)


@shareables.delete(form=PageForm(path="/delete", then=HOME, flash=_("Deleted for everyone.")))
async def delete_shareable(at: Keeper, shareable: Shareable) -> Writes[None]:
    """Delete a shareable with everything in it. Admins only, also after it has expired."""
    return await deletion_of(at.store, shareable, at.now)


async def poll_of(at: ToShareable, shareable: Shareable) -> Poll:
    assert shareable.poll_id is not None
    poll = await at.store.get(Poll.one(shareable.poll_id))
    if poll is None:
        raise NotFound
    return poll


async def deletion_of(store: Store, shareable: Shareable, now: datetime) -> Writes[None]:
    """The writes that delete it with its items or its poll; sessions and deleted items, by then useless, go after."""
    version = the(Shareable.items_version)
    writes: list[Operation] = [delete(shareable, when=version == shareable.items_version)]
    writes += [delete(item) for item in await store.all(ChecklistItem.of(shareable.short_id))]
    writes += off_own_list(shareable)
    poll = None if shareable.poll_id is None else await store.get(Poll.one(shareable.poll_id))
    if poll is not None:
        writes += deleting(poll, now)

    async def tidy() -> None:
        sessions = await store.all(ShareSession.of(shareable.short_id))
        items = [] if shareable.poll_id is not None else await store.all(DeletedItem.of(shareable.short_id))
        await store.write_each(map(delete, (*sessions, *items)))
        if poll is not None:
            await Deletions(store).begin(Deletion(poll_id=poll.poll_id, deleted_at=now))

    return Writes(None, *map(or_retry, writes), after=tidy)
