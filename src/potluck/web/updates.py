"""Live updates of what is no list, such as the results of a poll: an app says what differs, and the subject serves
it, to programs and to pages.

    @outcome.live(ResultsHidden)
    @outcome.live_page("/results/events")
    class PollUpdates(Updates[SeesResults]):
        \"\"\"The results, as they change.\"\"\"

        def lists(self) -> Sequence[Query[Any]]:
            return [Results.of(self.at.poll_id).query]
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar, get_args

import msgspec
from starlette.responses import Response

from potluck.people.throttling import RateLimit
from potluck.validation.encoding import encode
from potluck.validation.field_types import Text
from potluck.web.access import Access
from potluck.web.inputs import UNSET, Input
from potluck.web.live import Changes, Event, EventChange, EventSource, EventStreamResponse, NamedEvent
from potluck.web.live.positions import LONGEST_POSITION

if TYPE_CHECKING:
    from potluck.table.membership import AnyQuery
    from potluck.web.declarations import Show

A = TypeVar("A", bound=Access)


class MaybeSince(Input):
    since: Annotated[str, Text(0, LONGEST_POSITION, kind="raw", trim=False)] | msgspec.UnsetType = UNSET


class Updates(Generic[A]):
    """What one caller gets of a subject as it changes, for as long as they have access."""

    access: ClassVar[type[Access]]
    whole: ClassVar[bool] = False
    """Whether any change means the same: read everything again. `/changes` then has at most one."""
    rate_limit: ClassVar[RateLimit | None] = None
    """What streams count towards, if they cost more than reading: such as a write when they begin."""

    def __init__(self, at: A, show: Show | None = None) -> None:
        """`show` is what a page renders its events with; a program has none."""
        self.at = at
        self.show = show

    def __init_subclass__(cls) -> None:
        for base in vars(cls).get("__orig_bases__", ()):
            (access,) = get_args(base)
            if isinstance(access, type):
                cls.access = access

    # --- what a subject says ------------------------------------------------------------------------------------------

    def lists(self) -> Sequence[AnyQuery]:
        """The lists to follow: the same for events and changes, so that a position of one is valid for the other."""
        raise NotImplementedError

    def see(self, row: Any) -> Any:
        """What a row shows the caller, None for nothing; an event is sent only if this changes."""
        raise NotImplementedError

    def see_since(self, row: Any) -> Any:
        """The same for `/changes`, whose caller was sent nothing before."""
        return self.see(row)

    async def event(self, name: str, item: Any) -> tuple[str, Any]:
        """The event's name, and its data: a text, or what is encoded as JSON. `item` is None when `end` is reached."""
        return name, item

    def end(self) -> datetime | None:
        """When it changes by itself, with no row written; None for never."""
        return None

    async def allowed(self) -> bool:
        """Whether the caller still has access; raising means no. Asked before events are sent, and now and then."""
        if not await self.at.visitor.still():
            return False
        await self.at.readmit()
        return True

    def while_open(self) -> AbstractAsyncContextManager[Any] | None:
        """What is entered once a stream has begun, and left when it ends; None for nothing."""
        return None

    # --- what follows from it -----------------------------------------------------------------------------------------

    async def position(self) -> str:
        """Where a page begins to follow; ask for it before reading what it shows."""
        return await self.at.position(*self.lists())

    def stream(self, since: str | None) -> Response:
        at = self.at
        source = at.core.live.open(
            since,
            at.visitor.last_event_id,
            of=self.lists(),
            see=self.see,
            allowed=self.allowed,
            by=at.visitor.listening,
            grant=at.grant(),
            caller=at.follower,
            render=self._rendered,
            schedule=self.end,
        )
        while_open = self.while_open()
        if while_open is None:
            return EventStreamResponse(source)
        return EventStreamResponse(EventSource(_held_open(source, while_open), source.end))

    async def changes(self, since: str | None) -> Changes:
        """List changes since a position; without one, get the current position."""
        at, of = self.at, self.lists()
        answer = await at.core.live.changes(
            since, of=of, see=self.see_since, grant=at.grant(), caller=at.follower, schedule=self.end
        )
        if not self.whole:
            return answer
        changed: list[EventChange] = []
        if answer.changes or answer.reset:
            _, item = await self.event("updated", None)
            changed = [EventChange(event="updated", position=answer.position, item=item)]
        return Changes(changes=changed, position=answer.position, reset=answer.reset, more=answer.more)

    async def _rendered(self, event: Event) -> NamedEvent:
        name, data = await self.event(event.name, event.item)
        return NamedEvent(name, data if isinstance(data, str) else encode(data))


async def _held_open(source: EventSource, while_open: AbstractAsyncContextManager[Any]) -> AsyncIterator[bytes]:
    """The same chunks, with `while_open` entered after the first position: what entering changes is the first event."""
    entered = False
    try:
        async with AsyncExitStack() as until_gone:
            async for chunk in source.chunks:
                yield chunk
                if not entered and b"id: " in chunk:
                    entered = True
                    await until_gone.enter_async_context(while_open)
    finally:
        await source.close()


Rule = Callable[..., Coroutine[Any, Any, Any]]


def events_rule(updates: type[Updates[Any]], *, on_page: bool = False) -> Rule:
    """The rule of `/events`: it takes an access, perhaps the thing of the path, a MaybeSince, and on a page a Show."""

    async def events(at: Access, *arguments: Any) -> Response:
        if updates.rate_limit is not None:
            at.core.rate_limiter.take(updates.rate_limit, at.visitor)
        parameters, show = arguments[-2:] if on_page else (arguments[-1], None)
        return updates(at, show).stream(parameters.since or None)

    return _named(events, updates, "events", updates.__doc__)


def changes_rule(updates: type[Updates[Any]]) -> Rule:
    async def changes(at: Access, *arguments: Any) -> Changes:
        since = arguments[-1].since
        return await updates(at).changes(None if since is UNSET else since)

    return _named(changes, updates, "changes", Updates.changes.__doc__)


def _named(rule: Rule, updates: type[Updates[Any]], name: str, doc: str | None) -> Rule:
    rule.__name__, rule.__module__, rule.__doc__ = name, updates.__module__, doc
    return rule
