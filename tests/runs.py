"""Runs of made-up tests under the project's own conftest, as processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

__all__ = ["ended", "started"]

ROOT = Path(__file__).parent.parent
# What the conftest needs, and no other plugin: those take longer to load than the made-up tests to run.
PLUGINS = ("-p", "xdist", "-p", "tests.conftest")
# Three processes that each import pytest.
RUN_SECONDS = 3 * PATIENCE_SECONDS


def started(folder: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """A run of the tests in this folder; what it says on either way out comes together."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            *PLUGINS,
            "-c",
            "pyproject.toml",
            f"--rootdir={folder}",
            *options,
            str(folder),
        ],
        cwd=ROOT,
        env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    """What a run said until it ended by itself; one that does not is ended, and fails with what it said."""
    try:
        return process.communicate(timeout=RUN_SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"It went on for {RUN_SECONDS} seconds, and said: {process.communicate()[0]}") from None
