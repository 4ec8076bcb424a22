"""A large body is decoded in a thread, one at a time, so that other requests are answered meanwhile."""

import asyncio
import threading
from typing import Any

import pytest

from potluck.validation.decoding import MOST_NESTED, decode
from potluck.validation.errors import ValidationError
from potluck.web import api, inputs
from potluck.web.inputs import Input
from potluck.web.large_bodies import LONGEST_AT_ONCE, decoded
from tests.apps.journal.gym import Gym, gym_on
from tests.engine_targets import EMBEDDED
from tests.web.suites import bearer

PATIENCE = 10


async def test_only_a_large_body_is_decoded_in_a_thread():
    def thread(body: bytes) -> threading.Thread:
        return threading.current_thread()

    assert await decoded(thread, b"x" * LONGEST_AT_ONCE) is threading.current_thread()
    assert await decoded(thread, b"x" * (LONGEST_AT_ONCE + 1)) is not threading.current_thread()


async def test_large_bodies_are_decoded_one_at_a_time():
    busy = threading.Lock()

    def alone(body: bytes) -> bool:
        if not busy.acquire(blocking=False):
            return False
        sum(range(100_000))
        busy.release()
        return True

    body = b"x" * (LONGEST_AT_ONCE + 1)
    assert all(await asyncio.gather(*(decoded(alone, body) for _ in range(20))))


async def test_others_are_answered_while_a_large_import_is_decoded(tmp_path, monkeypatch):
    begun, others_answered, seen = threading.Event(), threading.Event(), []

    def slow(kind: Any, body: bytes) -> Any:
        begun.set()
        seen.append(others_answered.wait(PATIENCE))
        return decode(kind, body)

    async with gym_on(EMBEDDED, tmp_path) as gym:
        mara = await gym.person("Mara")
        monkeypatch.setattr(api, "decode", slow)
        importing = asyncio.ensure_future(preview(gym, mara))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        assert (await gym.client.get("/api/v1/journal/entries", headers=bearer(mara))).status_code == 200
        others_answered.set()
        assert (await importing).status_code == 422
    assert seen == [True]


async def preview(gym: Gym, by: Any) -> Any:
    body = b'{"entries": "%s"}' % (b"x" * 2 * LONGEST_AT_ONCE)
    headers = {**bearer(by), "content-type": "application/json"}
    return await gym.client.post("/api/v1/journal/import/preview", content=body, headers=headers)


class Numbers(Input):
    lists: list[list[int]]


async def test_a_large_json_text_inside_a_form_is_decoded_in_a_thread_as_well(monkeypatch):
    threads = []

    def noted(kind: Any, text: bytes) -> Any:
        threads.append(threading.current_thread())
        return decode(kind, text)

    monkeypatch.setattr(inputs, "decode", noted)
    assert (await Numbers.decode_json(b'{"lists": [[1]]}')).lists == [[1]]
    large = b'{"lists": [%s]}' % b",".join([b"[1, 2]"] * LONGEST_AT_ONCE)
    assert len((await Numbers.decode_json(large)).lists) == LONGEST_AT_ONCE
    with pytest.raises(ValidationError) as wrong:
        await Numbers.decode_json(b"no JSON" * LONGEST_AT_ONCE)
    assert [error.field for error in wrong.value.errors] == ["body"]
    assert [thread is threading.current_thread() for thread in threads] == [True, False, False]


def test_a_body_has_a_bounded_number_of_lists_and_objects():
    inner = ",".join(["[]"] * (MOST_NESTED - 2))
    assert len(decode(Numbers, f'{{"lists": [{inner}]}}'.encode()).lists) == MOST_NESTED - 2
    with pytest.raises(ValidationError, match="at most 200,000 lists and objects"):
        decode(Numbers, f'{{"lists": [{inner},[]]}}'.encode())
