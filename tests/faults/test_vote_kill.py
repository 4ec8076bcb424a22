"""kill -9 in the middle of a storm of votes: what was acknowledged is counted, once, and the audit is equal."""

import asyncio
import contextlib
import random
from subprocess import Popen
from typing import Any

import httpx
import pytest

from tests.patience import PATIENCE_SECONDS
from tests.processes import running
from tests.web.suites import ask, data

VOTERS = 16
MOST_ANSWERS = 80
"""A round ends after at most this many, and with it the process."""
RANKINGS = (["Ada", "Ben"], ["Ada", "Ben"], ["Ben"], ["Cyd", "Ada"])


class Votes:
    """The votes of a storm, each with a voter key of its own: repeated until they are acknowledged."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0
        self.under_way: set[int] = set()

    async def one(self, client: httpx.AsyncClient, path: str, number: int) -> None:
        self.under_way.add(number)
        body = {"rankings": RANKINGS[number % len(RANKINGS)], "voterKey": f"voter {number}"}
        answer = await ask(client, "POST", f"{path}/votes", body)
        # The second only if the process was killed between the vote and its answer.
        assert answer.status_code == 201 or answer.json()["type"].endswith("already-voted"), answer.text
        self.under_way.discard(number)

    async def until_killed(self, client: httpx.AsyncClient, path: str, process: Popen[str]) -> None:
        left = self.random.randint(1, MOST_ANSWERS)

        async def voter() -> None:
            nonlocal left
            with contextlib.suppress(httpx.TransportError):
                while True:
                    self.made += 1
                    await self.one(client, path, self.made)
                    left -= 1
                    if left == 0:
                        process.kill()

        await asyncio.gather(*(voter() for _ in range(VOTERS)))

    async def repeat(self, client: httpx.AsyncClient, path: str) -> None:
        """Send again what was under way when the process was killed."""
        await asyncio.gather(*(self.one(client, path, number) for number in sorted(self.under_way)))


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.soak)])
async def test_killed_in_a_storm_of_votes_each_one_is_counted_once_and_the_audit_is_equal(tmp_path, kills):
    votes = Votes(seed=1)
    poll: dict[str, Any] = {}
    path = ""
    for kill in range(kills + 1):
        with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
            async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as client:
                if not poll:
                    new = {"title": "Who?", "candidates": ["Ada", "Ben", "Cyd"]}
                    poll = data(await ask(client, "POST", "/polls", new), 201)
                    path = f"/polls/{poll['id']}"
                await votes.repeat(client, path)
                audit = data(await ask(client, "GET", f"{path}/audit", X_Admin_Key=poll["adminKey"]))
                assert (audit["equal"], audit["votes"], audit["counted"]) == (True, votes.made, votes.made)
                if kill < kills:
                    await votes.until_killed(client, path, process)
                    continue
                data(await ask(client, "POST", f"{path}/close", X_Admin_Key=poll["adminKey"]))
                final = data(await ask(client, "GET", f"{path}/results"))
                assert (final["status"], final["votes"]) == ("final", votes.made)
