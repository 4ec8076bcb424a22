"""The sharing page: the guests and invitations of each library, and the libraries that others share."""

from typing import Any
from uuid import UUID

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.entities import Share
from potluck.apps.library.fields import TypedEmail, owner_of
from potluck.apps.library.libraries import invitations, place_of
from potluck.apps.library.page_frame import SHARING, frame_of
from potluck.apps.library.pages.shelves import own_libraries
from potluck.apps.library.shares import NewShare, ShareView, revoking, share, shares
from potluck.web import Actions, Input, Show, SignedIn, Writes, _, initials

sharing: Actions[Any] = Actions(SignedIn, page=SHARING, frame=frame_of("sharing"))


class Stop(Input):
    email: TypedEmail


@sharing.page("", "library/sharing.html")
async def sharing_page(at: SignedIn, show: Show) -> dict[str, Any]:
    return await _shown(at, show)


@shares.page("", "library/sharing.html")
async def shares_page(at: OwnLibrary, show: Show) -> dict[str, Any]:
    """The same page after a form about one library, with a new invitation link or with the error in the address."""
    return await _shown(at, show, at.library_id)


async def _shown(at: SignedIn, show: Show, about: UUID | None = None) -> dict[str, Any]:
    own, shared = await own_libraries(at)
    owner_id = owner_of(at.principal.user_id)
    people_of = {}
    for library in own:
        people = await at.store.all(Share.of_library(owner_id, library.library_id))
        invited = await invitations.of_place(at, place_of(owner_id, library.library_id))
        views = await at.show(ShareView, [*people, *invited])
        people_of[library.library_id] = [(view, initials(view.name or "")) for view in views]
    return {
        # The library in question first, then the shared ones, then those that are not shared.
        "own": sorted(own, key=lambda library: (library.library_id != about, not people_of[library.library_id])),
        "shared": shared,
        "people_of": people_of,
        "about": about,
        "form": show.form(NewShare),
        "made": show.done,
        "now": at.now,
    }


shares.form("", then="", on=shares_page)(share)


@shares.form("/stop", then=SHARING, flash=_("Stopped sharing."), on=shares_page, frees_room=True)
async def stop(at: OwnLibrary, who: Stop) -> Writes[None]:
    return await revoking(at, who.email)
