"""Shares: who else has access to a library. A share begins with an invitation, and ending it takes effect at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.entities import Library, Share, SharedLibrary
from potluck.apps.library.fields import LibraryId, TypedEmail, owner_of, user_of
from potluck.apps.library.libraries import TAG, invitations, libraries, place_of
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.people import (
    Email,
    InvitationOfPlace,
    TooMany,
    normal_email,
)
from potluck.store import Store
from potluck.table import Operation, absent, delete, put, the, update
from potluck.web import (
    Actions,
    Input,
    InvitationMade,
    NotFound,
    Outcome,
    ProblemError,
    SignedIn,
    Step,
    View,
    Writes,
    computed,
    or_retry,
)

MOST_SHARES = 100
# Four rows of each invitation and two of each share fit into one transaction, together with its checks.
ENDED_AT_ONCE = 15
GUEST = "guest"
"""The one role that invitations to a library give."""


class OwnShare(ProblemError, slug="own-library", status=409, title="This is your own library"):
    """You own this library, so there is no share to leave. You can delete it instead."""


class ShareView(View[Share | InvitationOfPlace]):
    """A person who can view a library, or is invited to."""

    @computed
    def email(share: Share | InvitationOfPlace) -> str:
        return share.email or ""

    @computed
    def status(share: Share | InvitationOfPlace) -> Literal["looking", "pending"]:
        return "looking" if isinstance(share, Share) else "pending"

    @computed
    def name(share: Share | InvitationOfPlace) -> str | None:
        return share.name if isinstance(share, Share) else None

    @computed
    def since(share: Share | InvitationOfPlace) -> datetime:
        return share.created_at

    @computed
    def expires_at(share: Share | InvitationOfPlace) -> datetime | None:
        return datetime.fromtimestamp(share.ttl, UTC) if isinstance(share, InvitationOfPlace) else None


class NewShare(Input):
    email: Email
    """A note for the owner. It is looked up nowhere, and gives no access."""


class OfShare(OwnLibrary):
    """The owner of the library, with the e-mail address of a share."""

    email: TypedEmail


shares = Actions(
    OwnLibrary, None, ShareView, api="/libraries/{library_id}/shares", page=f"{LIBRARY}/shares", tag=TAG,
    frame=frame_of("sharing"),
)  # fmt: skip


@shares.create(TooMany, secret=True)
async def share(at: OwnLibrary, new: NewShare) -> Writes[InvitationMade]:
    """Invite someone to view a library. The first to accept the link, signed in, gets access. Owner only."""
    return await invitations.invite(at, place_of(at.owner_id, at.library_id), GUEST, new.email)


@shares.list(order=lambda share: (share.status, share.email, share.since.timestamp(), share.name or ""))
async def all_shares(at: OwnLibrary) -> Sequence[Share | InvitationOfPlace]:
    """List the people with access, then those who are invited. Owner only."""
    return [*await at.store.all(Share.of_library(at.owner_id, at.library_id)), *await _invited(at)]


@shares.delete("/{email}")
async def unshare(at: OfShare) -> Writes[None]:
    """Stop sharing with everyone invited by this address, at once. Owner only."""
    return await revoking(at, at.email)


async def revoking(at: OwnLibrary, email: str) -> Writes[None]:
    """End all shares and invitations of an e-mail address; NotFound if there are none."""
    address = normal_email(email)
    async for _ in at.store.attempts("ending shares"):
        library, looking, invited = await _by_address(at, address)
        if not looking and not invited:
            raise NotFound
        # If an invitation is accepted meanwhile, the write is refused, and the next attempt finds a share instead.
        some = invited[:ENDED_AT_ONCE]
        withdrawn = [write for invitation in some for write in invitations.withdrawing(invitation)]
        writes = [*withdrawn, *(ending_shares(library, looking[:ENDED_AT_ONCE]) if looking else ())]
        if len(looking) <= ENDED_AT_ONCE and len(invited) <= ENDED_AT_ONCE:
            return Writes(None, *writes)
        await at.commit(Step(*writes))
    raise AssertionError("attempts end by raising")


async def _by_address(at: OwnLibrary, address: str) -> tuple[Library, list[Share], list[InvitationOfPlace]]:
    """The library, with the current shares and invitations of an address."""
    library = await at.store.get(Library.one(at.owner_id, at.library_id))
    if library is None:
        raise NotFound
    rows = await at.store.all(Share.of_library(at.owner_id, at.library_id))
    looking = [row for row in rows if normal_email(row.email) == address]
    invited = [row for row in await _invited(at) if normal_email(row.email or "") == address]
    return library, looking, invited


@libraries.action("POST", "/leave", OwnShare)
async def leave_library(at: InLibrary, library: Library) -> Writes[None]:
    """Leave a library that someone shares with you."""
    if at.owns:
        raise OwnShare
    mine = await at.store.get(Share.one(at.owner_id, at.library_id, at.caller_id))
    return Writes(None, *ending_shares(library, [] if mine is None else [mine]))


async def _invited(at: OwnLibrary) -> list[InvitationOfPlace]:
    return await invitations.of_place(at, place_of(at.owner_id, at.library_id))


def ending_shares(library: Library, ended: Sequence[Share]) -> list[Operation | Outcome]:
    """The writes that end shares: both rows of each, and the address in the library's row."""
    left = list(library.shared_to)
    for row in ended:
        if row.email in left:
            left.remove(row.email)
    pointers = [SharedLibrary.one(row.shared_to_id, row.library_id) for row in ended]
    return [*map(delete, ended), *map(delete, pointers), or_retry(_shared_to(library, left))]


def _shared_to(library: Library, emails: list[str]) -> Operation:
    """The update of the addresses in the library's row. People do not edit them, so its version stays."""
    ref = Library.one(library.owner_id, library.library_id)
    still = the(Library.shared_to).still(library.shared_to)
    return update(ref, the(Library.shared_to).becomes(emails), when=still, keep_version=True)


# --- what the suite asks of an app that invites -----------------------------------------------------------------------


class LibraryJoined(Struct, rename="camel", frozen=True, kw_only=True):
    library_id: LibraryId


async def place_name(store: Store, place: str) -> str | None:
    """The name of an invitation's library; None if it no longer exists."""
    library = await store.get(Library.one(*_named(place)))
    return None if library is None else library.library_name


async def join(at: SignedIn, invitation: InvitationOfPlace) -> Writes[LibraryJoined] | None:
    """Give the caller access to the library, unless they have it."""
    user_id = at.principal.user_id
    owner_id, library_id = _named(invitation.place)
    account = await at.own_account()
    library, pointer = await at.store.get_together(
        Library.one(owner_id, library_id), SharedLibrary.one(owner_of(user_id), library_id)
    )
    if library is None or invitation.invited_by != user_of(owner_id):
        return None
    answer = LibraryJoined(library_id=library_id)
    if pointer is not None:
        return Writes(answer)
    if len(library.shared_to) >= MOST_SHARES:
        raise TooMany("people a library is shared with", MOST_SHARES)
    email = invitation.email or account.email
    own_side = Share(
        owner_id=owner_id,
        library_id=library_id,
        shared_to_id=owner_of(user_id),
        email=email,
        name=account.name,
        created_at=at.core.clock(),
    )
    pointer = SharedLibrary(
        shared_to_id=owner_of(user_id),
        shared_from_id=owner_id,
        shared_from_name=library.owner_name,
        library_id=library_id,
    )
    named = the(Library.owner_name).still(library.owner_name)
    counted = _shared_to(library, [*library.shared_to, email]).and_when(named)
    return Writes(
        answer,
        or_retry(put(pointer, when=absent)),
        or_retry(put(own_side)),
        or_retry(counted),
    )


def _named(place: str) -> tuple[str, UUID]:
    owner_id, _, library_id = place.partition(" ")
    return owner_id, UUID(library_id)
