"""Attempts are counted per key and window, to the second, by one write each."""

import asyncio
from datetime import timedelta

import pytest

from potluck.people.errors import Throttled
from potluck.people.throttling import RateLimit
from tests.people.assembly import WRITERS
from tests.stores import NOW

THREE_A_MINUTE = RateLimit("trying", 3, timedelta(minutes=1))


async def test_attempts_past_the_limit_are_refused_until_the_window_ends(people):
    people.clock.forward(seconds=10)
    for _ in range(3):
        await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")
    for seconds, left in ((0, 50), (20, 30), (29, 1)):
        people.clock.forward(seconds=seconds)
        with pytest.raises(Throttled) as refused:
            await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")
        assert refused.value.retry_after == left
    people.clock.forward(seconds=1)
    assert people.clock.now == NOW + timedelta(minutes=1)
    await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")


async def test_whoever_waits_as_long_as_told_is_not_refused(embedded_people):
    people = embedded_people
    people.clock.forward(seconds=59, microseconds=999_999)
    for _ in range(3):
        await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")
    with pytest.raises(Throttled) as refused:
        await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")
    assert refused.value.retry_after == 1
    people.clock.forward(seconds=refused.value.retry_after)
    await people.throttles.attempt(THREE_A_MINUTE, "192.0.2.1")


async def test_keys_and_limits_are_counted_apart(embedded_people):
    throttles = embedded_people.throttles
    for who in ("192.0.2.1", "192.0.2.2", "192.0.2.1 "):
        for _ in range(3):
            await throttles.attempt(THREE_A_MINUTE, who)
    await throttles.attempt(RateLimit("trying something else", 1, timedelta(minutes=1)), "192.0.2.1")


async def test_an_attempt_is_one_write_and_its_row_is_gone_with_its_window(embedded_people):
    people = embedded_people
    with people.recording.scope() as calls:
        await people.throttles.attempt(THREE_A_MINUTE, "ada@example.org")
    assert (calls.operations, calls.write_units) == (["UpdateItem"], 1.0)
    (row,) = await people.rows()
    assert row["ttl"]["N"] == str(int(NOW.timestamp()) + 60)
    assert "ada" not in repr(row)


async def test_of_fifty_attempts_at_once_as_many_pass_as_may(busy_people):
    limit = RateLimit("trying", 20, timedelta(minutes=1))
    passed = await asyncio.gather(*(busy_people.throttles.allows(limit, "192.0.2.1") for _ in range(WRITERS)))
    # A lost answer is counted again, so that a busy engine lets nobody guess more often.
    assert 10 <= sum(passed) <= 20


async def test_an_attempt_says_how_many_are_left_and_one_that_is_forgiven_does_not_count(people):
    clock, throttles = people.clock, people.throttles
    assert await throttles.attempt(THREE_A_MINUTE, "192.0.2.1") == 2
    for _ in range(5):
        assert await throttles.attempt(THREE_A_MINUTE, "192.0.2.1") == 1
        await throttles.forgive(THREE_A_MINUTE, "192.0.2.1", clock())
    # In another window there is nothing to be taken back.
    counted_at = clock()
    clock.forward(minutes=1)
    await throttles.forgive(THREE_A_MINUTE, "192.0.2.1", counted_at)
    assert await throttles.attempt(THREE_A_MINUTE, "192.0.2.1") == 2
