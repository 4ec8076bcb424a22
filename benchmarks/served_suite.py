"""`potluck serve` in processes of its own, to be measured, killed and started again on the same port and store."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 60.0
IN_A_CONTAINER = """
import sys
from potluck.dynamo.storage import connection
connection.memory_limit = lambda: %d
from potluck.commands.main import main
sys.exit(main(["serve"]))
"""
PAGE, TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    """What the processes of a server take now."""

    bytes: int
    """Resident memory, what is mapped of files included."""
    anonymous_bytes: int
    """Resident memory of their own."""
    processor_seconds: float


class ServedSuite:
    """A server with this many workers, on a store in this folder."""

    def __init__(
        self,
        folder: Path,
        workers: int = 1,
        memory: int | None = None,
        python: str = sys.executable,
        **settings: str,
    ) -> None:
        """With `memory`, one worker that believes its container has this many bytes; `python` is of its environment."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.data = folder / "data"
        self._workers = workers
        self._python = python
        self._settings = settings
        self._program = ["-m", "potluck", "serve"] if memory is None else ["-c", IN_A_CONTAINER % memory]
        self._process: subprocess.Popen[bytes] | None = None
        self._seen: dict[int, float] = {}
        """By process, dead ones included, the processor time it had when it was last looked at."""
        self.log = folder / "log"

    async def start(self) -> None:
        """Start it, and return once it can be used."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220
                [self._python, *self._program],
                env={
                    **{name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")},
                    "POTLUCK_DATA": str(self.data),
                    "POTLUCK_PORT": str(self.port),
                    "POTLUCK_WORKERS": str(self._workers),
                    # So that each person can come from an address of their own.
                    "POTLUCK_PROXIES": "127.0.0.1",
                    "POTLUCK_OPEN_LIBRARY": "off",
                    **self._settings,
                },
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not await self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the suite does not start:\n{self.log.read_text()}")
            await asyncio.sleep(0.05)

    async def _is_ready(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
            return (await reader.read()).startswith(b"HTTP/1.1 200")
        except OSError:
            return False
        finally:
            writer.close()

    def processes(self) -> list[int]:
        """The process that was started, and its workers."""
        assert self._process is not None
        pid = self._process.pid
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []
        return [pid, *map(int, children)]

    def used(self) -> Used:
        resident = anonymous = 0
        for pid in self.processes():
            try:
                _, pages, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
                times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            resident += pages * PAGE
            anonymous += (pages - shared) * PAGE
            self._seen[pid] = (int(times[11]) + int(times[12])) / TICKS
        return Used(resident, anonymous, sum(self._seen.values()))

    def kill_worker(self) -> None:
        """kill -9 of one worker; of a server with one process, of that."""
        os.kill(self.processes()[-1], signal.SIGKILL)

    def kill(self) -> None:
        """kill -9 of all its processes at once."""
        assert self._process is not None
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Stop it as an operator would."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE_SECONDS)
