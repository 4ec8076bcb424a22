"""The page of a shareable: the list or the poll, live; an expired one; and what link previews get."""

from typing import Any
from uuid import UUID

from starlette.responses import Response

from potluck.apps.shareables.access import Expired, PasscodeNeeded, Reader, ToShareable
from potluck.apps.shareables.entities import DeletedItem
from potluck.apps.shareables.fields import MOST_ITEMS, ItemId, spelled
from potluck.apps.shareables.items import ItemView
from potluck.apps.shareables.live import LiveShareable
from potluck.apps.shareables.pages.admin import to_clone
from potluck.apps.shareables.pages.device import keep_opened
from potluck.apps.shareables.pages.frame import ONE, address_of, layout_context, page, previews, to_unlock
from potluck.apps.shareables.pages.opening import nothing_there
from potluck.apps.shareables.pages.voting import poll_page
from potluck.apps.shareables.shareables import ShareableView
from potluck.validation import decode_query, path_value, schema_of
from potluck.web import Call, Endpoints, MaybeSince, NotFound, redirect

pages = Endpoints()


@pages.get(ONE)
async def look(call: Call) -> Response:
    typed = call.text("short_id")
    short_id = spelled(typed)
    if short_id != typed:
        return redirect(address_of(short_id))
    if previews(call):
        # The same whether it exists or not.
        return page(call, "preview")
    try:
        at = await call.admit(Reader)
    except NotFound:
        return await nothing_there(call, typed)
    except PasscodeNeeded:
        return redirect(to_unlock(call))
    except Expired as over:
        return page(call, "over", status=over.problem.status, **layout_context(await call.admit(ToShareable)))
    position = await at.position(*LiveShareable(at).lists)
    context = {**layout_context(at), "position": position, "people": await at.services.presence.people(at.short_id)}
    listed = () if _made_by(call, at) else keep_opened(call, at.short_id, at.token_hash if at.session else None)
    if at.shareable.expired(at.now):
        return page(call, "expired", *listed, **context, **await _contents(at), **to_clone())
    if at.shareable.poll_id is not None:
        return await poll_page(call, context, listed)
    return page(call, "list", *listed, **context, **await _contents(at), deleted=await _deleted(call, at))


async def _deleted(call: Call, at: Reader) -> DeletedItem | None:
    """The item that this admin just deleted, if they can still restore it."""
    named = path_value(schema_of(ItemId), "deleted", call.query.get("deleted", ""))
    if at.role != "admin" or not isinstance(named, UUID):
        return None
    return await at.store.get(DeletedItem.one(at.short_id, named))


def _made_by(call: Call, at: Reader) -> bool:
    return call.principal is not None and call.principal.user_id == at.shareable.creator_id


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


@pages.get(f"{ONE}/events")
async def events(call: Call) -> Response:
    at = await call.admit(Reader)
    since = decode_query(MaybeSince, call.request.query_params.multi_items(), strict=False).since

    def row(item: ItemView) -> str:
        shown = {"item": item, "may_tick": _may_tick(at), **layout_context(at)}
        return call.site.templates.render(call.request, "shareables/item.html", shown)

    return LiveShareable(at).stream(since or None, row)
