import asyncio

import pytest

from potluck.store.retries import MOST_ATTEMPTS, Attempts
from potluck.store.sending import Patience
from potluck.table import Unavailable

AT_ONCE = Patience(first_wait=0, longest_wait=0)


async def test_attempts_are_numbered_until_there_were_too_many():
    sorting = Attempts("sorting", AT_ONCE)
    assert [await anext(sorting) for _ in range(MOST_ATTEMPTS)] == list(range(MOST_ATTEMPTS))
    with pytest.raises(Unavailable, match="sorting: others were faster"):
        await anext(sorting)


async def test_who_succeeds_leaves_nothing_to_be_closed():
    """An async generator that is left midway takes a task of its own, after each write."""
    loop = asyncio.get_running_loop()
    begun = []

    def counted(loop, work, **options):
        begun.append(work)
        return asyncio.Task(work, loop=loop, **options)

    loop.set_task_factory(counted)
    async for _ in Attempts("sorting", AT_ONCE):
        break
    await asyncio.sleep(0)
    loop.set_task_factory(None)
    assert begun == []
