"""Large bodies are decoded in a thread, so that other requests are answered meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from potluck.metrics import THREADS_QUEUE

T = TypeVar("T")

# A larger body would keep other requests waiting for more than a few milliseconds while it is decoded.
LONGEST_AT_ONCE = 64_000

# Parsed, a body takes many times its memory, so only one is decoded at a time.
_large_bodies = ThreadPoolExecutor(1, thread_name_prefix="potluck-decode")


def measure_decoding() -> None:
    """Set the metrics of the thread that decodes large bodies."""
    THREADS_QUEUE.set(_large_bodies._work_queue.qsize(), "large bodies")


async def decoded(decode: Callable[[bytes], T], body: bytes) -> T:
    """The body as `decode` takes it apart: a large one in a thread, one at a time, so that other requests go on."""
    if len(body) <= LONGEST_AT_ONCE:
        return decode(body)
    return await asyncio.get_running_loop().run_in_executor(_large_bodies, decode, body)
