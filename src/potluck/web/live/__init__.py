"""Live updates: everyone who is viewing a list gets its changes as events, read from the table's own change log.

To show a list and keep it up to date, ask `Live.position` first, then read the list, then open the stream from that
position: nothing falls in between. `Live.open` gives an `EventSource`, which `EventStreamResponse` sends over HTTP;
`Live.changes` gives the same changes as one answer, to a client that polls.

**Which events.** A change becomes an event if the item was or is in the list and the caller sees a difference: `see`
returns what they may see of an entity, None for nothing. From nothing to something is `created`, from something to
nothing `deleted`, and if both views are equal there is no event. Something may also change by itself at a known time,
with no row written, such as a poll that ends: `schedule` says when, and an `updated` event is sent then.

**Where it begins.** At the `Last-Event-ID`, else at `since`, else now. A position is valid on every worker and after a
restart, but only for the partition and the caller it was made for: a position from elsewhere, or another caller's, does
not show what happened in a list before the caller had access. If the log does not reach back to the position, or more
than 10,000 changes of the table came after it, the stream sends `reset`: read the list again; later changes follow.
The same happens to someone who lost access and got it back. `grant` is the row that gives them access, and a position
from before that row was taken away or restored counts as too old. A stream that starts over asks `allowed`; a caller of
`changes` has to check access after it.

**How long it lasts.** `allowed` is asked before events are sent and every 15 seconds; the stream ends when it returns
False or raises. It also ends with `Live.stop()`, and the client reconnects after a second, perhaps to another worker.
If the table's stream cannot be read for ten seconds, open streams end and ask clients to reconnect later; until it can
be read again, new ones are refused with Unavailable. Lists can be read meanwhile, and their positions are valid.
"""

from potluck.web.live.access import Grant
from potluck.web.live.event_stream import EventSource, EventStreamResponse
from potluck.web.live.events import Event, EventName, Projection
from potluck.web.live.live import Changes, EventChange, Live
from potluck.web.live.open_streams import Listener
from potluck.web.live.stream import Allowed, NamedEvent, Render, Schedule

__all__ = [
    "Allowed",
    "Changes",
    "Event",
    "EventChange",
    "EventName",
    "EventSource",
    "EventStreamResponse",
    "Grant",
    "Listener",
    "Live",
    "NamedEvent",
    "Projection",
    "Render",
    "Schedule",
]
