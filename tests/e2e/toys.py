"""The suite with the toy in it, in processes of its own that can be stopped and started again."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.patience import PATIENCE_SECONDS

__all__ = ["ROOT", "Toy"]

ROOT = Path(__file__).parent.parent.parent


class Toy:
    """One server on a folder, for as long as it is entered; another may be on the same."""

    module = "tests.e2e.toy_server"

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = environment
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Serve, at the same port as before if it served before."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module, str(self.folder), "1", str(self.port)],
            cwd=ROOT,
            env=kept | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", said)):
            line = self.process.stdout.readline()
            assert line, f"it stopped, having said: {said}"
            said += line
        self.port = int(found[1])

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(timeout=PATIENCE_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
