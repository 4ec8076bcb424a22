"""The system's clock is set while the suite runs: it goes on, says so, and notices what expired by the new time."""

import asyncio
import glob
from pathlib import Path

import httpx
import pytest

from tests.patience import PATIENCE_SECONDS, until
from tests.processes import running
from tests.web.suites import ask, data, signed_up

LIBRARIES = "/usr/lib/*/faketime/libfaketimeMT.so.1"


class SystemClock:
    """The wall clock of a process, set by writing a file; its monotonic clock goes on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set("+0")
        self.settings = {
            "LD_PRELOAD": glob.glob(LIBRARIES)[0],
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, offset: str) -> None:
        written = self._file.with_suffix(".new")
        written.write_text(f"{offset}\n")
        written.replace(self._file)


@pytest.mark.needs("faketime")
async def test_a_clock_that_is_set_ahead_and_back_is_a_state_and_signs_out_who_should_be(tmp_path):
    clock = SystemClock(tmp_path)
    log: list[str] = []
    with running("serve", "--port", "0", cwd=tmp_path, **clock.settings) as (process, address):
        reading = asyncio.create_task(asyncio.to_thread(lambda: log.extend(process.stdout)))
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as client:

            async def states() -> list[str]:
                answer = await client.get("/readyz")
                assert answer.status_code == 200
                return answer.json()["states"]

            async def jumped() -> bool:
                return "clock-jumped" in await states()

            ada = await signed_up(client)
            assert not await jumped()
            # Longer than a session lasts.
            clock.set("+40d")
            await until(jumped)
            assert (await ask(client, "GET", "/me", by=ada)).status_code == 401
            leo = await signed_up(client, "leo@example.org", "Leo")
            clock.set("-1d")
            data(await ask(client, "GET", "/me", by=leo))
            data(await ask(client, "POST", "/families", {"name": "Elm Street"}, by=leo), 201)
        process.kill()
        await reading
    jumps = [line for line in log if '"state":"clock-jumped"' in line]
    # One line a minute: of the jump back only on a machine that needed that long until then.
    assert 1 <= len(jumps) <= 2
    assert "the system's clock jumped: " in jumps[0]
    assert "s forward" in jumps[0]
