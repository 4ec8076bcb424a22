"""Potluck commands run as child processes, as a person runs them."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

__all__ = ["POTLUCK", "running", "stopped"]

POTLUCK = [sys.executable, "-m", "potluck"]


@contextmanager
def running(*arguments: str, cwd: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A potluck command that serves, and the address it printed; settings are variables of its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")} | settings
    process = subprocess.Popen(
        [*POTLUCK, *arguments], cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:\d+", said)):
            line = process.stdout.readline()
            assert line, f"it stopped, having said: {said}"
            said += line
        yield process, address[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def stopped(process: subprocess.Popen[str]) -> int:
    """Ask it to stop as Ctrl+C does, and wait for its exit status."""
    process.send_signal(signal.SIGINT)
    return process.wait(timeout=PATIENCE_SECONDS)
