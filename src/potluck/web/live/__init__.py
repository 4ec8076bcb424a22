"""Live updates: what changes in a list, told to everyone who looks at it, from the table's own change log.

    position = await live.position(query)            # before the list is read, so that nothing falls in between
    page = await store.page(query, limit)

    @get("/lists/{list_id:uuid}/events")
    async def events(request: Request, ...) -> Response[None]:
        return live.stream(
            request, by=caller, of=query, see=view_for(caller), allowed=still_a_member, right=Right(Member.by_id(...))
        )

    @get("/lists/{list_id:uuid}/changes")
    async def changes(since: str, ...) -> Changes:
        return await live.changes(since, of=query, see=view_for(caller), right=Right(Member.by_id(...)))

**What is told.** A change is told if the item was or is in the list, and the caller may see a difference: `see` gives
what they may see of an entity, None for nothing. What was nothing and is something is `created`, what becomes nothing
is `deleted`, and where both views are equal there is no event at all. What becomes different by itself, at a time that
is known, changes no row: `turns` says when, and it is told then.

**Where it begins.** At the `Last-Event-ID` header, else at `?since=`, else now. A position holds for every worker and
after a restart, and for the partition that it was given out for: whoever comes to another brings none that reaches back
to before they came. Where the log does not reach back so far, the stream says `reset`: read the list again; what
changes from then on follows. So it does for somebody who was in, was put out and came again: `right` is the row by
which they may look, and a position from before it was taken away, or given back, is as good as one that is too old.
Whether they may look at the place where they begin anew, a stream asks `allowed`; after `changes`, its route asks.

**How long it lasts.** Before events are sent, and every 15 seconds, `allowed` is asked; when it says no, or raises, the
stream ends. It ends with `Live.stop()` as well, and the client comes back after a second, to another worker perhaps.
Where the table's stream cannot be read for ten seconds, streams end with a wish to come back later; until it can be
read again, whoever comes is told that the store is busy. Lists are read meanwhile, and their positions are good.
"""

from potluck.web.live.live import Allowed, Changed, Changes, Live, Message, Render, Turns
from potluck.web.live.rights import Right
from potluck.web.live.telling import EventName, See, Told

__all__ = ["Allowed", "Changed", "Changes", "EventName", "Live", "Message", "Render", "Right", "See", "Told", "Turns"]
