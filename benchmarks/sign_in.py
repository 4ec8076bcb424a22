"""Whether the time of an answer tells who has an account: `python -m benchmarks.sign_in`.

The suite itself with argon2 as it is served, asked over ASGI without a socket, so that nothing but the answer is timed.
A wrong password and an unknown address alternate; the throttle counts every attempt, and allows it.
"""

import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measuring import Finding, as_json, markdown, say
from potluck.people import sessions
from potluck.settings import Settings
from potluck.suite import assembled

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

Try = Callable[[], Awaitable[float]]


async def measured(client: httpx.AsyncClient) -> dict[str, list[float]]:
    """Milliseconds of each try; each side is asked in each round, in turning order, the first of them twice."""

    def asking(body: dict[str, str]) -> Try:
        async def ask() -> float:
            start = time.perf_counter()
            answer = await client.post(SESSIONS, json=body)
            seconds = time.perf_counter() - start
            assert answer.status_code == 401, answer.text
            return seconds * 1000

        return ask

    sides = {"wrong password": asking(KNOWN), "unknown address": asking(UNKNOWN), "wrong password again": asking(KNOWN)}
    taken: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for number in range(WARMING_UP + TRIES):
        names = names[1:] + names[:1]
        for name in names:
            milliseconds = await sides[name]()
            if number >= WARMING_UP:
                taken[name].append(milliseconds)
    return taken


def findings(taken: dict[str, list[float]]) -> list[Finding]:
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ratio = medians["unknown address"] / medians["wrong password"]
    return [
        Finding(
            "an attempt to sign in, refused",
            f"unknown address {medians['unknown address']:.1f} ms",
            f"wrong password {medians['wrong password']:.1f} ms",
            ratio,
            f"within {WITHIN:.0%}",
            abs(ratio - 1) <= WITHIN,
            control=medians["wrong password again"] / medians["wrong password"],
        )
    ]


def lift_the_throttle() -> None:
    for name in ("SIGN_INS_FROM", "SIGN_INS_TO"):
        limit = getattr(sessions, name)
        setattr(sessions, name, replace(limit, attempts=NO_LIMIT))


async def run(folder: Path) -> list[Finding]:
    lift_the_throttle()
    async with assembled(Settings(data=folder), ()) as application:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            account: dict[str, Any] = {"email": KNOWN["email"], "password": PASSWORD, "name": "Ada"}
            made = await client.post("/api/v1/accounts", json=account)
            assert made.status_code == 201, made.text
            say(f"{TRIES} tries of each")
            return findings(await measured(client))


def main() -> None:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"argon2-cffi {version('argon2-cffi')}; medians of {TRIES} tries each, "
        f"the run took {time.monotonic() - start:.0f} s."
    )
    text = f"# Refused sign-ins, last measured\n\n{machine}\n\n{markdown(found)}\n"
    (RESULTS / "sign_in.md").write_text(text)
    (RESULTS / "sign_in.json").write_text(json.dumps({"machine": machine, "findings": as_json(found)}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
