"""Runs a command's asynchronous work."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from potluck.commands.progress_bar import ProgressBar
from potluck.commands.refusal import CommandError
from potluck.web.server.reasons import reason_of

T = TypeVar("T")


def run_or_refuse(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine; failures that the operator can fix become a one-sentence refusal."""
    try:
        return run_async(work)
    except CommandError:
        raise
    except Exception as error:
        reason = reason_of(error)
        if reason is None:
            raise
        raise CommandError(reason) from error


def run_async(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(work)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    try:
        import uvloop
    except ModuleNotFoundError:
        # It belongs to the server extra; without it, the same work takes a little longer.
        return None
    return uvloop.new_event_loop


@contextmanager
def progress_of(work: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, until the block ends."""
    bar = ProgressBar(sys.stderr)
    try:
        yield lambda part: bar.show(work, part)
    finally:
        bar.clear()
