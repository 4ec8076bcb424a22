"""Whether the time of a refusal tells who has an account, or what asks for a passcode: `python -m benchmarks.sign_in`.

The suite itself with argon2 as it is served, asked over ASGI without a socket, so that nothing but the answer is timed.
A wrong password and an unknown address alternate, and so do a wrong passcode of a list with a view passcode and of one
without. The throttle counts every attempt, and allows it.
"""

import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measuring import Finding, as_json, markdown, say
from potluck.apps.shareables import passcodes
from potluck.apps.shareables.app import ShareablesApp
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.people import access

RESULTS = Path(__file__).parent / "results"
SESSIONS = "/api/v1/sessions"

TRIES = 100
WARMING_UP = 5
WITHIN = 0.10
NO_LIMIT = 10**9

PASSWORD = "correct horse battery staple"
KNOWN = {"email": "ada@example.org", "password": "another horse battery staple"}
# As long, so that there is as much to read.
UNKNOWN = {"email": "eve@example.org", "password": "another horse battery staple"}

WRONG = {"passcode": "trestle-tables"}
TRIES_AT_PASSCODES = ("TRIES_FROM", "TRIES_AT", "TRIES_FROM_AT")

Try = Callable[[], Awaitable[float]]


@dataclass(frozen=True)
class Side:
    name: str
    path: str
    body: dict[str, str]


async def measured(client: httpx.AsyncClient, one: Side, other: Side) -> dict[str, list[float]]:
    """Milliseconds of each try; each side is asked in each round, in turning order, the second of them twice."""

    def asking(side: Side) -> Try:
        async def ask() -> float:
            start = time.perf_counter()
            answer = await client.post(side.path, json=side.body)
            seconds = time.perf_counter() - start
            assert answer.status_code == 401, answer.text
            return seconds * 1000

        return ask

    sides = {"one": asking(one), "other": asking(other), "other again": asking(other)}
    taken: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for number in range(WARMING_UP + TRIES):
        names = names[1:] + names[:1]
        for name in names:
            milliseconds = await sides[name]()
            if number >= WARMING_UP:
                taken[name].append(milliseconds)
    return taken


async def compared(client: httpx.AsyncClient, what: str, one: Side, other: Side) -> Finding:
    taken = await measured(client, one, other)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ratio = medians["one"] / medians["other"]
    return Finding(
        what,
        f"{one.name} {medians['one']:.1f} ms",
        f"{other.name} {medians['other']:.1f} ms",
        ratio,
        f"within {WITHIN:.0%}",
        abs(ratio - 1) <= WITHIN,
        control=medians["other again"] / medians["other"],
    )


def lift_the_throttle() -> None:
    for module, name in (
        (access, "SIGN_INS_FROM"),
        (access, "SIGN_INS_TO"),
        *((passcodes, each) for each in TRIES_AT_PASSCODES),
    ):
        setattr(module, name, replace(getattr(module, name), attempts=NO_LIMIT))


async def run(folder: Path) -> list[Finding]:
    lift_the_throttle()
    async with assembled(Settings(data=folder), (ShareablesApp,)) as application:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            account: dict[str, Any] = {"email": KNOWN["email"], "password": PASSWORD, "name": "Ada"}
            made = await client.post("/api/v1/accounts", json=account)
            assert made.status_code == 201, made.text
            lists = [await _laid_out(client, view) for view in (None, "lemonade")]
            say(f"{TRIES} tries of each")
            return [
                await compared(
                    client,
                    "an attempt to sign in, refused",
                    Side("unknown address", SESSIONS, UNKNOWN),
                    Side("wrong password", SESSIONS, KNOWN),
                ),
                await compared(
                    client,
                    "a wrong passcode",
                    Side("of a list for whoever has the id", lists[0], WRONG),
                    Side("of one with a view passcode", lists[1], WRONG),
                ),
            ]


async def _laid_out(client: httpx.AsyncClient, view: str | None) -> str:
    """Where a passcode of a new list is given."""
    said = {"entity": "checklist", "name": "Packing", "viewPasscode": view}
    made = await client.post("/api/v1/shareables", json=said)
    assert made.status_code == 201, made.text
    return f"/api/v1/shareables/{made.json()['shortId']}/sessions"


def main() -> None:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"argon2-cffi {version('argon2-cffi')}; medians of {TRIES} tries each, "
        f"the run took {time.monotonic() - start:.0f} s."
    )
    text = f"# Refused sign-ins and passcodes, last measured\n\n{machine}\n\n{markdown(found)}\n"
    (RESULTS / "sign_in.md").write_text(text)
    (RESULTS / "sign_in.json").write_text(json.dumps({"machine": machine, "findings": as_json(found)}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
