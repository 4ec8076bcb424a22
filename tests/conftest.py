"""Tests that need what this machine may not have are left out loudly; in CI, leaving one out is a failure."""

import os
from collections import Counter

import pytest

from tests.needs import LEFT_OUT, need

# The tests that test files inherit say what differs, as their own do.
pytest.register_assert_rewrite("tests.access_cases", "tests.golden_rows")

CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        need(*mark.args)


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


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LeftOut(), "left-out")
