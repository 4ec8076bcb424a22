"""The states that an operator should know of, and the troubles that cause them, each logged at most once a minute.

    self._unreadable = Trouble(STREAM_UNREADABLE, log, f"the stream of {table} cannot be read")
    ...
    except Unavailable as error:
        self._unreadable.met(error)
    else:
        self._unreadable.over()

A state has the same name in the log, in `/readyz`, in `potluck_state` and in `potluck doctor`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakSet

LINE_SECONDS = 60.0
"""How often a trouble that lasts has a line."""


class State(NamedTuple):
    """Something that is wrong, by the name that it has everywhere."""

    name: str
    meaning: str
    refuses: bool = False
    """Whether requests are refused because of it. They have no lines of their own while it lasts."""
    follows_from: tuple[str, ...] = ()
    """States that explain this one: while one of them lasts, this one has no lines."""


DISK_FULL = State("disk-full", "the disk has no room: only reading, deleting and signing in work", refuses=True)
STORE_DAMAGED = State("store-damaged", "a page or a row of the embedded store cannot be read", refuses=True)
WRITES_FAILING = State("writes-failing", "the embedded store cannot be written, for another reason", refuses=True)
ENGINE_UNREACHABLE = State("engine-unreachable", "Amazon DynamoDB does not answer", refuses=True)
THROTTLED = State("throttled", "Amazon DynamoDB refuses requests because there are too many", refuses=True)
CLOCK_JUMPED = State("clock-jumped", "the clock was set, or the machine slept, in the last ten minutes")
STREAM_UNREADABLE = State(
    "stream-unreadable",
    "a table's change log cannot be read, so live updates wait",
    follows_from=("engine-unreachable", "store-damaged"),
)
FAN_OUT_DOWN = State(
    "fan-out-down", "the fan-out does not answer, so each process reads the change logs and live updates may be later"
)
CONSUMER_FAILING = State(
    "consumer-failing",
    "a consumer cannot handle a record, so what follows from it waits or is set aside",
    follows_from=("engine-unreachable", "store-damaged", "disk-full"),
)
WORK_FAILING = State(
    "work-failing",
    "background work fails, and is tried again",
    follows_from=("engine-unreachable", "store-damaged", "disk-full"),
)

BACKUP_FAILING = State(
    "backup-failing", "the last scheduled backup failed; the ones before it are kept", follows_from=("store-damaged",)
)

STATES = (
    DISK_FULL,
    STORE_DAMAGED,
    WRITES_FAILING,
    ENGINE_UNREACHABLE,
    THROTTLED,
    CLOCK_JUMPED,
    STREAM_UNREADABLE,
    FAN_OUT_DOWN,
    CONSUMER_FAILING,
    WORK_FAILING,
    BACKUP_FAILING,
)


class Trouble:
    """One cause of a state. It has a line when it begins, one a minute while it is met again, and one when it is over.

    One that comes and goes has at most two lines a minute. It may be met on any thread.
    """

    def __init__(
        self,
        state: State,
        log: logging.Logger,
        what: str,
        *,
        level: int = logging.WARNING,
        calm_seconds: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`what` says in our own words what fails. It is over only if it was not met for `calm_seconds`."""
        self.state = state
        self.lasts = False
        self._what = what
        self._log = log
        self._level = level
        self._calm_seconds = calm_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._began = self._met_at = self._line_at = float("-inf")
        self._times = 0
        self._times_since_line = 0
        self._is_logged = False
        """Whether the log says that it lasts."""

    def met(self, why: BaseException | str = "", *, traceback: bool = True) -> None:
        """Note that it was met. Of an exception, the log has the type, and where it came from if that is of use."""
        with self._lock:
            now = self._met_at = self._monotonic()
            is_due = now - self._line_at >= LINE_SECONDS
            if not self.lasts:
                self.lasts, self._began, self._times = True, now, 0
                _note(self, lasts=True)
                if is_due:
                    self._times_since_line = 0
            self._times += 1
            self._times_since_line += 1
            if not is_due or _is_explained(self.state):
                return
            again, times, seconds = self._is_logged, self._times_since_line, now - max(self._line_at, self._began)
            self._line_at, self._times_since_line, self._is_logged = now, 0, True
        about = {"state": self.state.name}
        if times == 1 and not again:
            error = why if traceback and isinstance(why, BaseException) else None
            self._log.log(self._level, "%s: %s", self._what, why or self.state.meaning, exc_info=error, extra=about)
        else:
            text = "%s: %s, %s in %.0f s"
            meaning = why or self.state.meaning
            self._log.log(self._level, text, self._what, meaning, _how_often(times), seconds, extra=about)

    def over(self) -> None:
        """Note that it is over, if it lasted."""
        if not self.lasts:
            return
        with self._lock:
            now = self._monotonic()
            if not self.lasts or now - self._met_at < self._calm_seconds:
                return
            was_logged = self._is_logged
            self._end()
        if was_logged:
            text, about = "%s: over after %.0f s, %s", {"state": self.state.name}
            self._log.log(self._level, text, self._what, now - self._began, _how_often(self._times), extra=about)

    def forget(self) -> None:
        """End it without a line: what it is about has been closed."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self.lasts = self._is_logged = False
        _note(self, lasts=False)


def _how_often(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


_troubles: WeakSet[Trouble] = WeakSet()
_troubles_lock = threading.Lock()


def lasting() -> list[State]:
    """The states that this process is in."""
    if not _troubles:
        return []
    with _troubles_lock:
        names = {trouble.state.name for trouble in _troubles}
    return [state for state in STATES if state.name in names]


def _note(trouble: Trouble, *, lasts: bool) -> None:
    with _troubles_lock:
        (_troubles.add if lasts else _troubles.discard)(trouble)


def _is_explained(state: State) -> bool:
    return bool(state.follows_from) and any(other.name in state.follows_from for other in lasting())
