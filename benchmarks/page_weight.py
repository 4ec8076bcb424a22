"""What the main pages weigh, and when a phone on a slow network shows them and can use them.

    python -m benchmarks.page_weight                    # this checkout; keeps its figures
    python -m benchmarks.page_weight --before CHECKOUT  # another one, measured first, as "before"
    python -m benchmarks.page_weight --only home --rounds 1   # prints, and keeps nothing

Chromium, over its DevTools protocol: 400 kbit/s each way, 400 ms for each request, the processor slowed down four
times. That is "3G Slow" of WebPageTest; DevTools' preset of a similar name has a latency of 2 s. The server is
uvicorn on loopback, with HTTP/1.1: six connections, and no further cost for opening one. Bytes are those on the wire,
headers included.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from benchmarks.measuring import say
from benchmarks.served_suite import ServedSuite
from tests.e2e.browsing import launched

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
KEPT = RESULTS / "page_weight.json"
LATENCY_MS = 400
BYTES_PER_SECOND = 400_000 // 8
SLOWER = 4
PHONE: Any = {"width": 390, "height": 844}
ROUNDS = 3
QUIET_SECONDS = 1.5
KINDS = {"Document": "page", "Stylesheet": "style", "Script": "script", "Font": "font", "Image": "image"}
GOAL_BYTES, GOAL_PAINT, GOAL_INTERACTIVE, GOAL_SHIFT = 90_000, 2.5, 4.0, 0.1

OBSERVER = """
window.measured = { shift: 0, largest: 0, busy: 0 };
const watch = (type, take) =>
  new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
watch("layout-shift", (entry) => { if (!entry.hadRecentInput) window.measured.shift += entry.value; });
watch("largest-contentful-paint", (entry) => { window.measured.largest = entry.startTime; });
watch("longtask", (entry) => {
  window.measured.busy = Math.max(window.measured.busy, entry.startTime + entry.duration);
});
"""
FIGURES = """
() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  const { domContentLoadedEventEnd } = performance.getEntriesByType("navigation")[0];
  const interactive = Math.max(paint, domContentLoadedEventEnd, window.measured.busy);
  return { paint, interactive, ...window.measured };
}
"""


@dataclass
class Load:
    """One load of one page; seconds and bytes."""

    bytes: int
    requests: int
    paint: float
    largest: float
    interactive: float
    shift: float
    by_kind: dict[str, int] = field(default_factory=dict)


class Wire:
    """The bytes that a page's requests took, by kind."""

    def __init__(self, session: CDPSession) -> None:
        self.by_kind: dict[str, int] = {}
        self.requests = 0
        self.latest = time.monotonic()
        self._kinds: dict[str, str] = {}
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.loadingFinished", self._finished)
        session.on("Network.responseReceived", self._answered)

    def _asked(self, event: dict[str, Any]) -> None:
        self.latest = time.monotonic()

    def _answered(self, event: dict[str, Any]) -> None:
        self.latest = time.monotonic()
        self._kinds[event["requestId"]] = KINDS.get(event["type"], "other")

    def _finished(self, event: dict[str, Any]) -> None:
        self.latest = time.monotonic()
        if event["encodedDataLength"] > 0:
            kind = self._kinds.get(event["requestId"], "other")
            self.by_kind[kind] = self.by_kind.get(kind, 0) + int(event["encodedDataLength"])
            self.requests += 1


def loaded(context: BrowserContext, address: str) -> Load:
    page = context.new_page()
    try:
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": LATENCY_MS,
                "downloadThroughput": BYTES_PER_SECOND,
                "uploadThroughput": BYTES_PER_SECOND,
            },
        )
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        wire = Wire(session)
        page.add_init_script(OBSERVER)
        page.goto(address, wait_until="load", timeout=120_000)
        while time.monotonic() - wire.latest < QUIET_SECONDS:
            page.wait_for_timeout(200)
        figures = page.evaluate(FIGURES)
        return Load(
            sum(wire.by_kind.values()),
            wire.requests,
            figures["paint"] / 1000,
            figures["largest"] / 1000,
            figures["interactive"] / 1000,
            figures["shift"],
            wire.by_kind,
        )
    finally:
        page.close()


def middle(loads: list[Load]) -> Load:
    """The medians of some loads of one page."""
    figures: dict[str, Any] = {
        name: statistics.median(getattr(load, name) for load in loads)
        for name in ("bytes", "requests", "paint", "largest", "interactive", "shift")
    }
    kinds = {kind for load in loads for kind in load.by_kind}
    by_kind = {kind: int(statistics.median(load.by_kind.get(kind, 0) for load in loads)) for kind in sorted(kinds)}
    return Load(**figures, by_kind=by_kind)


def python_of(checkout: Path) -> str:
    return str(checkout / ".venv" / "bin" / "python")


def filled(checkout: Path, data: Path) -> str:
    """The lines of `potluck demo`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    command = [python_of(checkout), "-m", "potluck", "demo", "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def addresses(demo: str) -> dict[str, str]:
    """The pages that are measured: the first page, then those for a signed-in person."""
    paths = [urlsplit(address).path for address in re.findall(r"^  (http\S+)$", demo, re.MULTILINE)]

    def below(app: str) -> str:
        return next(path for path in paths if path.startswith(f"/{app}/"))

    return {
        "front": "/",
        "home": "/",
        "shareables": "/shareables",
        "a list": below("shareables"),
        "shopping list": below("shopping"),
        "journal": "/journal/entries",
        "polls": "/polls",
        "a poll": below("polls"),
        "library": below("library"),
    }


def sign_in(page: Page, address: str, demo: str) -> None:
    found = re.search(r"(mara@\S+)\s+(\S+)", demo)
    assert found is not None
    page.goto(f"{address}/sign-in")
    page.locator("input[type=email]").first.fill(found[1])
    page.locator("input[type=password]").first.fill(found[2])
    with page.expect_navigation():
        page.locator("input[type=password]").first.press("Enter")
    assert urlsplit(page.url).path == "/", page.url


def loads_of(browser: Browser, address: str, demo: str, name: str, path: str, rounds: int) -> dict[str, Load]:
    """The page on a phone that was never here, and there again; signed in but for the front page."""
    loads: dict[str, list[Load]] = {"cold": [], "warm": []}
    with closing(browser.new_context()) as context:
        page = context.new_page()
        if name != "front":
            sign_in(page, address, demo)
        # Templates are compiled, and files compressed, when they are first asked for.
        page.goto(address + path)
        cookies: Any = context.cookies()
    for _ in range(rounds):
        with closing(browser.new_context(viewport=PHONE, device_scale_factor=2, has_touch=True)) as context:
            context.add_cookies(cookies)
            for visit in loads:
                loads[visit].append(loaded(context, address + path))
    return {visit: middle(taken) for visit, taken in loads.items()}


def measured(checkout: Path, only: list[str], rounds: int) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        suite = ServedSuite(Path(folder), python=python_of(checkout))
        demo = filled(checkout, suite.data)
        asyncio.run(suite.start())
        try:
            results: dict[str, dict[str, Any]] = {}
            address = f"http://127.0.0.1:{suite.port}"
            with launched() as browser:
                for name, path in addresses(demo).items():
                    if only and name not in only:
                        continue
                    loads = loads_of(browser, address, demo, name, path, rounds)
                    results[name] = {visit: asdict(load) for visit, load in loads.items()}
                    say(f"{name}: {row(name, results[name]['cold'])}")
            return results
        finally:
            suite.stop()


def row(name: str, load: dict[str, Any]) -> str:
    kinds = " | ".join(f"{load['by_kind'].get(kind, 0) / 1000:.1f}" for kind in (*KINDS.values(), "other"))
    met = (
        load["bytes"] <= GOAL_BYTES
        and load["paint"] <= GOAL_PAINT
        and load["interactive"] <= GOAL_INTERACTIVE
        and load["shift"] < GOAL_SHIFT
    )
    times = f"{load['paint']:.1f} | {load['largest']:.1f} | {load['interactive']:.1f} | {load['shift']:.3f}"
    kilobytes = f"{load['bytes'] / 1000:.1f} | {load['requests']:.0f}"
    return f"| {name} | {kilobytes} | {kinds} | {times} | {'yes' if met else 'no'} |"


def report(kept: dict[str, dict[str, Any]]) -> str:
    head = (
        "| page | kB | requests | page | style | script | font | image | other | first paint s | largest s "
        "| interactive s | shift | goal met |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    )
    parts = [
        "# What the main pages weigh",
        "",
        "By `python -m benchmarks.page_weight`: Chromium on a phone's screen, 400 kbit/s and 400 ms for each request,",
        "the processor four times slower, medians of some loads. kB are on the wire, with headers. Interactive is when",
        "what is painted also reacts: scripts have run and no long task is left. The goal for a first load: at most",
        "90 kB, first paint within 2.5 s, interactive within 4 s, and a layout shift below 0.1.",
        "What the service worker fetches is not counted, so a page that comes from it has no bytes.",
    ]
    for when in ("before", "after"):
        for visit in ("cold", "warm"):
            if when in kept:
                rows = [row(name, loads[visit]) for name, loads in kept[when].items()]
                parts += ["", f"## {when.capitalize()}, {visit}", "", head, *rows]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout, with its own .venv")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    when, checkout = ("after", HERE.parent) if chosen.before is None else ("before", chosen.before.resolve())
    results = measured(checkout, chosen.only, chosen.rounds)
    if chosen.only:
        print(report({when: results}))
        return
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept[when] = results
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    (RESULTS / "page_weight.md").write_text(report(kept))


if __name__ == "__main__":
    main()
