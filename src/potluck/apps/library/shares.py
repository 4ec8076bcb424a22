"""Shares: who else has access to a library. A share begins with an invitation, and ending it takes effect at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.entities import Library, Share, SharedLibrary
from potluck.apps.library.fields import LibraryId, owner_of, user_of
from potluck.apps.library.libraries import APP, TAG, libraries, place_of
from potluck.apps.library.page_frame import LIBRARY, frame_of
from potluck.people import (
    Account,
    AccountGone,
    AnyEmail,
    Email,
    Invitation,
    InvitationInvalid,
    InvitationOfPlace,
    TooMany,
    normal_email,
    withdrawing,
)
from potluck.store import Store, attempts
from potluck.table import Operation, absent, delete, present, put, the, update
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
    account_as_read,
    computed,
    invite,
    or_retry,
)

MOST_SHARES = 100
# Three rows of each invitation and two of each share fit into one transaction, together with its checks.
ENDED_AT_ONCE = 18
GUEST = "guest"
"""The one role that invitations to a library give."""


class OwnShare(ProblemError, slug="own-library", status=409, title="It is your own"):
    """The library is the caller's own, so there is no share to leave. Its owner can delete it."""


class ShareView(View[Share | InvitationOfPlace]):
    """Somebody who may look, or has been invited to."""

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
    """A note for the owner: it is looked up nowhere, and opens nothing."""


class OfShare(OwnLibrary):
    """The owner of the library, about somebody with whom it is shared."""

    email: AnyEmail


shares = Actions(
    OwnLibrary, None, ShareView, api="/libraries/{library_id}/shares", page=f"{LIBRARY}/shares", tag=TAG,
    frame=frame_of("sharing"),
)  # fmt: skip


@shares.create(TooMany, secret=True)
async def share(at: OwnLibrary, new: NewShare) -> Writes[InvitationMade]:
    """Invite somebody to look. Whoever opens the link signed in may look from then on, once. Only the owner may."""
    return await invite(at, APP, place_of(at.owner_id, at.library_id), GUEST, new.email)


@shares.list(order=lambda share: (share.status, share.email, share.since.timestamp(), share.name or ""))
async def all_shares(at: OwnLibrary) -> Sequence[Share | InvitationOfPlace]:
    """Who looks into a library, then who is invited to. Only the owner may look."""
    return [*await at.store.all(Share.of_library(at.owner_id, at.library_id)), *await _invited(at)]


@shares.delete("/{email}")
async def unshare(at: OfShare) -> Writes[None]:
    """From this moment on, whoever was invited by this address looks no more. Only the owner may."""
    return await revoking(at, at.email)


async def revoking(at: OwnLibrary, email: str) -> Writes[None]:
    """End all shares and invitations of an e-mail address; NotFound if there are none."""
    address = normal_email(email)
    async for _ in attempts("ending shares", at.store.patience):
        library, looking, invited = await _by_address(at, address)
        if not looking and not invited:
            raise NotFound
        # If an invitation is accepted meanwhile, the write is refused, and the next attempt finds a share instead.
        some = invited[:ENDED_AT_ONCE]
        withdrawn = [or_retry(write) for each in some for write in withdrawing(each, when=present)]
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
    everybody = await at.store.all(Share.of_library(at.owner_id, at.library_id))
    looking = [each for each in everybody if normal_email(each.email) == address]
    return library, looking, [each for each in await _invited(at) if normal_email(each.email or "") == address]


@libraries.action("POST", "/leave", OwnShare)
async def leave_library(at: InLibrary, library: Library) -> Writes[None]:
    """Look no more into a library that somebody else shares."""
    if at.owns:
        raise OwnShare
    mine = await at.store.get(Share.one(at.owner_id, at.library_id, at.caller_id))
    return Writes(None, *ending_shares(library, [] if mine is None else [mine]))


async def _invited(at: OwnLibrary) -> list[InvitationOfPlace]:
    return await at.core.people.invitations.of_place(APP, place_of(at.owner_id, at.library_id))


def ending_shares(library: Library, ended: Sequence[Share]) -> list[Operation | Outcome]:
    """The writes that end shares: both rows of each, and the address in the library's row."""
    left = list(library.shared_to)
    for each in ended:
        if each.email in left:
            left.remove(each.email)
    pointers = [SharedLibrary.one(each.shared_to_id, each.library_id) for each in ended]
    return [*map(delete, ended), *map(delete, pointers), or_retry(_shared_to(library, left))]


def _shared_to(library: Library, emails: list[str]) -> Operation:
    """The update of the addresses in the library's row. Nobody edits them by hand, so its version stays."""
    ref = Library.one(library.owner_id, library.library_id)
    still = the(Library.shared_to).still(library.shared_to)
    return update(ref, the(Library.shared_to).becomes(emails), when=still, keep_version=True)


# --- what the suite asks of an app that invites -----------------------------------------------------------------------


class LibraryJoined(Struct, rename="camel", frozen=True, kw_only=True):
    library_id: LibraryId


async def place_name(store: Store, place: str) -> str | None:
    """The name of an invitation's library; None if it no longer exists."""
    found = await store.get(Library.one(*_named(place)))
    return None if found is None else found.library_name


async def join(at: SignedIn, invitation: Invitation) -> Writes[Struct]:
    """Give the caller access to the library, unless they have it."""
    user_id = at.principal.user_id
    owner_id, library_id = _named(invitation.place)
    library, account, pointer = await at.store.get_together(
        Library.one(owner_id, library_id),
        Account.by_id(user_id),
        SharedLibrary.one(owner_of(user_id), library_id),
    )
    note = await at.store.get(InvitationOfPlace.by_id(APP, invitation.place, invitation.invitation_id))
    if account is None:
        raise AccountGone
    if library is None or note is None or invitation.invited_by != user_of(owner_id):
        raise InvitationInvalid
    answer = LibraryJoined(library_id=library_id)
    if pointer is not None:
        return Writes(answer)
    if len(library.shared_to) >= MOST_SHARES:
        raise TooMany("people with whom a library is shared", MOST_SHARES)
    email = note.email or account.email
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
        account_as_read(account),
        or_retry(put(pointer, when=absent)),
        or_retry(put(own_side)),
        or_retry(counted),
    )


def _named(place: str) -> tuple[str, UUID]:
    owner_id, _, library_id = place.partition(" ")
    return owner_id, UUID(library_id)
