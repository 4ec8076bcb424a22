"""Tests that need what this machine may not have are left out loudly; in CI, leaving one out is a failure."""

import gc
import os
import signal
import threading
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

from potluck import states
from potluck.acceleration import BY_ENVIRONMENT, PLAIN
from tests.needs import LEFT_OUT, need

# The tests that test files inherit say what differs, as their own do.
pytest.register_assert_rewrite("tests.access_cases", "tests.golden_rows")

CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def pytest_collection_finish() -> None:
    # Some ten thousand tests and all of the code stay until the end: nobody need look through them for garbage again.
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Before each test, as an event loop that has listened for the signal leaves nobody who does.
    signal.signal(signal.SIGTERM, stopped)
    # Those of a process, and not of what a test before this one has left behind.
    states._troubles.clear()
    for mark in item.iter_markers("needs"):
        need(*mark.args)
    if item.get_closest_marker("accelerated") and BY_ENVIRONMENT == PLAIN:
        pytest.skip("asserts what an acceleration does, and POTLUCK_PLAIN=1 turns all of them off")


def stopped(number: int, frame: Any) -> None:
    """A run that somebody puts an end to says where it was, and stops what it started."""
    raise KeyboardInterrupt(f"stopped in {os.environ.get('PYTEST_CURRENT_TEST', 'no test of this process')}")


def at_any_pace() -> None:
    """Whether an example takes long, to make or to try, tells of the machine and not of the code."""
    from hypothesis import HealthCheck, settings

    slow = HealthCheck.too_slow
    settings.register_profile("at any pace", settings(), deadline=None, suppress_health_check=[slow])
    settings.load_profile("at any pace")


class Late:
    """Names whoever takes too long: of what waits in an event loop, the stack that is shown then says nothing."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.out = os.dup(2)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        said = f"\n{item.nodeid} is at it for {self.seconds:g} seconds\n".encode()
        timer = threading.Timer(self.seconds, os.write, (self.out, said))
        timer.daemon = True
        timer.start()
        try:
            return (yield)
        finally:
            timer.cancel()


class LeftOut:
    """Counts what was left out, by reason, and has the last word on the outcome."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if LEFT_OUT in reason:
                self.reasons[reason.removeprefix(LEFT_OUT)] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if CI and self.reasons and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.reasons:
            return
        terminalreporter.section("LEFT OUT ON THIS MACHINE", sep="!", red=CI, yellow=not CI, bold=True)
        for reason, tests in self.reasons.most_common():
            terminalreporter.line(f"{tests:5} test{'s' if tests > 1 else ' '}  {reason}")
        terminalreporter.line(
            "With CI set, a test left out is a failure." if CI else "`.ci/run` installs what these need."
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.sharing import ByFile

    return ByFile(config, log)


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, stopped)
    # Those of a process, and not of what a test before this one has left behind.
    states._troubles.clear()
    if config.pluginmanager.hasplugin("hypothesispytest"):
        at_any_pace()
    config.pluginmanager.register(LeftOut(), "left-out")
    if seconds := float(config.getini("faulthandler_timeout") or 0):
        config.pluginmanager.register(Late(seconds), "late")
