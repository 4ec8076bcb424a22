"""How many event streams a worker has open for each caller, and how many it allows."""

import logging
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

from potluck.people.authentication import Principal
from potluck.people.errors import Throttled
from potluck.states import WORK_FAILING, Trouble
from potluck.table.errors import Unavailable
from potluck.web.live.reader import ListReader

# All these limits are per worker. Each stream takes some 25 KB and a file descriptor.
MOST_STREAMS = 10_000
# Shared by all anonymous callers; the rest is reserved for people who are signed in.
MOST_STREAMS_OF_STRANGERS = 5_000
# A person has a few per open window, as does an anonymous client; more means a program that forgets to close them.
MOST_STREAMS_OF_ONE = 200
# Behind one address there may be many people, or one who registered many accounts.
MOST_STREAMS_OF_CLIENT = 2_000
STRANGERS = "strangers"
RETRY_AFTER_SECONDS = 30
CALM_SECONDS = 60.0

log = logging.getLogger(__name__)


class Listener(NamedTuple):
    """Who is listening: someone signed in, or an anonymous caller known only by their client address."""

    principal: Principal | None
    client: str

    @property
    def limits(self) -> dict[Hashable, int]:
        """Every counter that this caller's streams count towards, with its limit."""
        mine: dict[Hashable, int] = {("client", self.client): MOST_STREAMS_OF_CLIENT}
        if self.principal is not None:
            return {self.principal.user_id: MOST_STREAMS_OF_ONE, **mine}
        return {("stranger", self.client): MOST_STREAMS_OF_ONE, **mine, STRANGERS: MOST_STREAMS_OF_STRANGERS}


class OpenStreams:
    """The open streams of a worker, by their readers."""

    def __init__(self) -> None:
        self.readers: set[ListReader] = set()
        self.by_counter: Counter[Hashable] = Counter()
        self.stopped = False
        self.failing = Trouble(
            WORK_FAILING, log, "event streams end with an error", level=logging.ERROR, calm_seconds=CALM_SECONDS
        )

    def check_room_for(self, by: Listener) -> None:
        """Unavailable or Throttled if this caller can have no further stream."""
        if len(self.readers) >= MOST_STREAMS:
            raise Unavailable("this worker has as many open streams as it can")
        for counter, most in by.limits.items():
            if self.by_counter[counter] >= most:
                if counter is STRANGERS:
                    raise Unavailable("this worker has as many open streams of strangers as it can")
                raise Throttled(RETRY_AFTER_SECONDS)

    def add(self, reader: ListReader, by: Listener) -> None:
        """Count a stream; one for which there is no room any more is ended."""
        self.failing.over()
        limits = by.limits
        room_for_caller = all(self.by_counter[counter] < most for counter, most in limits.items())
        if self.stopped or len(self.readers) >= MOST_STREAMS or not room_for_caller:
            # Other streams were opened since this one was asked for; a client that reconnects is refused properly.
            reader.end()
        self.readers.add(reader)
        self.by_counter.update(limits.keys())

    def discard(self, reader: ListReader, by: Listener) -> None:
        self.readers.discard(reader)
        for counter in by.limits:
            self.by_counter[counter] -= 1
            if not self.by_counter[counter]:
                del self.by_counter[counter]

    def stop(self) -> None:
        """End all streams, and those that are still to be opened."""
        self.stopped = True
        for reader in list(self.readers):
            reader.end()
