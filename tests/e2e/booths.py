"""The suite with Polls alone, in a process of its own: `python -m tests.e2e.booths FOLDER [WORKERS [PORT]]`.

And polls for browsers, made and voted in without typing, where the typing is not what is looked at.
"""

import sys
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import APIRequestContext

from potluck.apps.polls.app import PollsApp
from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy
from tests.patience import PATIENCE_SECONDS

__all__ = ["CLUB", "CLUB_VOTES", "Booth", "MadePoll", "Office"]

# Four rounds: twelve each for two, and the third decides.
CLUB = ("Lake cabin", "Mountain hut", "Seaside camp", "City weekend", "Barbecue at home")
CLUB_VOTES = (
    (8, (0, 1, 2, 3, 4)),
    (4, (0, 3)),
    (12, (1, 3, 4)),
    (6, (2, 0, 3)),
    (2, (2, 1)),
    (1, (2,)),
    (3, (3, 1, 0)),
    (2, (3, 2, 0)),
    (1, (4, 0)),
    (1, (4, 3, 2)),
    (1, (4,)),
)


class Booth(Toy):
    module = "tests.e2e.booths"


@dataclass(frozen=True)
class MadePoll:
    id: str
    admin_key: str
    candidates: Sequence[str]

    @property
    def page(self) -> str:
        return f"/polls/{self.id}"

    @property
    def api(self) -> str:
        return f"/polls/{self.id}"


class Office:
    """The JSON door, as a program asks it."""

    def __init__(self, asking: APIRequestContext, address: str) -> None:
        self.asking = asking
        self.address = address

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.asking.fetch(f"{self.address}/api/v1{path}", method=method, data=body, headers=named)
        assert answer.ok, (answer.status, answer.text())
        return answer.json() if answer.body() else None

    def poll(
        self, candidates: Sequence[str] = CLUB, title: str = "Where does the club go in June?", **said: Any
    ) -> MadePoll:
        made = self.call("POST", "/polls", {"title": title, "candidates": list(candidates), **said})
        return MadePoll(made["id"], made["adminKey"], made["candidates"])

    def vote(self, poll: MadePoll, *ranking: int, **said: Any) -> Any:
        rankings = [poll.candidates[place] for place in ranking]
        return self.call("POST", f"{poll.api}/votes", {"rankings": rankings, **said})

    def wait_for_count(self, poll: MadePoll, votes: int) -> None:
        """Return once the results include this many votes: a busy server counts them a little later."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.call("GET", f"{poll.api}/results")["votes"] != votes:
            assert time.monotonic() < deadline, f"The results never included {votes} votes"
            time.sleep(0.05)

    def club(self, **said: Any) -> MadePoll:
        """The poll that everybody knows, with its 41 votes."""
        poll = self.poll(**said)
        for times, ranking in CLUB_VOTES:
            for _ in range(times):
                self.vote(poll, *ranking)
        return poll


def with_polls(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, PollsApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.booths:with_polls"))
