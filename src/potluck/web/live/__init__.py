"""Live updates: what changes in a list, told to everyone who looks at it, from the table's own change log.

    position = await live.position(query)            # before the list is read, so that nothing falls in between
    page = await store.page(query, limit)

    @get("/lists/{list_id:uuid}/events")
    async def events(request: Request, ...) -> Response[None]:
        return live.stream(request, by=caller, of=query, see=view_for(caller), allowed=still_a_member)

    @get("/lists/{list_id:uuid}/changes")
    async def changes(since: str, ...) -> Changes:
        return await live.changes(since, of=query, see=view_for(caller))

**What is told.** A change is told if the item was or is in the list, and the caller may see a difference: `see` gives
what they may see of an entity, None for nothing. What was nothing and is something is `created`, what becomes nothing
is `deleted`, and where both views are equal there is no event at all.

**Where it begins.** At the `Last-Event-ID` header, else at `?since=`, else now. A position holds for every worker and
after a restart, and for the partition that it was given out for: whoever comes to another brings none that reaches back
to before they came. Where the log does not reach back so far, the stream says `reset`: read the list again; what
changes from then on follows.

**How long it lasts.** Before events are sent, and every 15 seconds, `allowed` is asked; when it says no, or raises, the
stream ends. It ends with `Live.stop()` as well, and the client comes back after a second, to another worker perhaps.
"""

from potluck.web.live.live import Allowed, Changed, Changes, Live, Message, Render
from potluck.web.live.telling import EventName, See, Told

__all__ = ["Allowed", "Changed", "Changes", "EventName", "Live", "Message", "Render", "See", "Told"]
