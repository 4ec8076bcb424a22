"""The page of a shareable: the list or the poll, live; and an expired one."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from starlette.responses import Response

from potluck.apps.shareables.access import ONE, Expired, PasscodeNeeded, Reader, ToShareable
from potluck.apps.shareables.entities import DeletedItem, Shareable
from potluck.apps.shareables.fields import MOST_ITEMS, ItemId
from potluck.apps.shareables.items import ChecklistItemView
from potluck.apps.shareables.live import LiveShareable
from potluck.apps.shareables.pages.admin import to_clone
from potluck.apps.shareables.pages.device import listed_first
from potluck.apps.shareables.pages.frame import address_of, layout_context
from potluck.apps.shareables.pages.opening import home
from potluck.apps.shareables.pages.voting import ballot
from potluck.apps.shareables.shareables import ShareableView, shareables
from potluck.validation import path_value, schema_of
from potluck.web import MaybeSince, NotFound, Show


@shareables.page(None, "shareables/over.html")
async def over(at: ToShareable) -> Mapping[str, Any]:
    return layout_context(at)


@shareables.page("", "shareables/list.html", instead={NotFound: home, PasscodeNeeded: f"{ONE}/unlock", Expired: over})
async def look(at: Reader, shareable: Shareable, show: Show) -> Any:
    if show.path != address_of(at.short_id):
        # It was spelled in another way.
        return show.redirect(address_of(at.short_id))
    if at.principal is None or at.principal.user_id != shareable.creator_id:
        cookie, listed = listed_first(at.visitor, at.short_id, at.token_hash if at.session else None)
        if listed is not None:
            show.set(cookie, listed)
    expired = shareable.expired(at.now)
    if shareable.poll_id is not None and not expired:
        return show.page(ballot)
    position = await at.position(*LiveShareable(at).lists)
    people = await at.services.presence.people(at.short_id)
    context = {**layout_context(at), "position": position, "people": people, **await _contents(at)}
    if expired:
        return show.template("shareables/expired.html", {**context, **to_clone(show)})
    return {**context, "deleted": await _deleted(at, show.query.get("deleted", ""))}


async def _deleted(at: Reader, text: str) -> DeletedItem | None:
    """The item that this admin just deleted, if they can still restore it."""
    item_id = path_value(schema_of(ItemId), "deleted", text)
    if at.role != "admin" or not isinstance(item_id, UUID):
        return None
    return await at.store.get(DeletedItem.one(at.short_id, item_id))


async def _contents(at: Reader) -> dict[str, Any]:
    (shown,) = await at.show(ShareableView, [at.shareable])
    items = shown.items or []
    return {
        "items": items,
        "done": sum(each.done for each in items),
        "last": max((each.done_at for each in items if each.done_at is not None), default=None),
        "may_tick": _may_tick(at),
        "full": len(items) >= MOST_ITEMS,
    }


def _may_tick(at: Reader) -> bool:
    return not at.shareable.expired(at.now) and (at.role == "admin" or at.shareable.viewers_can_tick)


@shareables.page("/events")
async def events(at: Reader, shareable: Shareable, wanted: MaybeSince, show: Show) -> Response:
    def row(item: ChecklistItemView) -> str:
        return show.render("shareables/item.html", {"item": item, "may_tick": _may_tick(at), **layout_context(at)})

    return LiveShareable(at).stream(wanted.since or None, row)
