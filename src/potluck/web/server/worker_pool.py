"""A pool of workers on one socket: started, watched, replaced when one dies, and stopped together.

The parent binds the socket and never accepts; each worker is a process that accepts connections from it. Two pipes
connect a worker to its parent: through one it gets its orders, and its end means that the parent is gone; through the
other it reports that it is serving, or why it cannot.
"""

import asyncio
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from socket import socket, socketpair

from potluck.settings import Settings, SettingsError
from potluck.web.http.request_log import logging_in_lines
from potluck.web.server.metrics_page import PoolMetrics, page
from potluck.web.server.serve import GRACE_SECONDS, Make

# A worker that has not stopped this long after it was told to is killed.
KILLED_AFTER_SECONDS = GRACE_SECONDS + 2.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 30.0
# After a worker has run for this long, its death does not count with the ones before it.
STEADY_SECONDS = 60.0
# After this many failed starts in a row, with no other worker serving, the pool gives up.
FAILED_STARTS = 5

REACHABLE = b"reachable"

log = logging.getLogger("potluck.workers")


def supervise(
    make: Make,
    settings: Settings,
    sockets: Sequence[socket],
    announce: Callable[[], None],
    metrics_sockets: Sequence[socket] = (),
) -> int:
    """Run the workers until told to stop, and serve the metrics of all of them; returns the exit status."""
    if os.name != "posix":
        raise SettingsError("POTLUCK_WORKERS must be 1 on this system: workers share a socket as only POSIX can")
    order = pickle.dumps((make, settings, [listening.fileno() for listening in sockets]))
    with logging_in_lines(settings):
        return asyncio.run(_Workers(order, sockets, settings.workers, announce, metrics_sockets).run())


@dataclass(slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    reachable: bool
    problem: str
    """Why it could not start, if it said so."""
    metrics: socket | None
    """Our end of the socket pair over which it answers with its metrics."""


class _Workers:
    def __init__(
        self,
        order: bytes,
        sockets: Sequence[socket],
        number: int,
        announce: Callable[[], None],
        metrics_sockets: Sequence[socket] = (),
    ) -> None:
        self._order = order
        self._metrics_sockets = metrics_sockets
        self._metrics = PoolMetrics()
        self._sockets = sockets
        self._number = number
        self._announce = announce
        self._announced = False
        self._serving = 0
        self._processes: set[asyncio.subprocess.Process] = set()
        self._stopping = asyncio.Event()
        self._status = 0

    async def run(self) -> int:
        async with page(self._metrics_sockets, self._metrics.gather):
            return await self._run()

    async def _run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._told_to_stop, number)
        workers = [asyncio.create_task(self._keep()) for _ in range(self._number)]
        ended = asyncio.gather(*workers)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((ended, stopping), return_when=asyncio.FIRST_COMPLETED)
            # While any process holds the socket open, it accepts connections that will not be answered.
            for listening in self._sockets:
                listening.close()
            self._end(signal.SIGTERM)
            await asyncio.wait((ended,), timeout=KILLED_AFTER_SECONDS)
        finally:
            self._end(signal.SIGKILL)
        await ended
        return self._status

    async def _keep(self) -> None:
        """Keep one worker running, replacing it when it dies, until told to stop."""
        deaths = 0
        while not self._stopping.is_set():
            worker = await self._start()
            began = time.monotonic()
            if worker.reachable:
                self._count(1)
            async with nullcontext() if worker.metrics is None else self._metrics.of_worker(worker.metrics):
                status = await worker.process.wait()
            self._processes.discard(worker.process)
            if worker.reachable:
                self._count(-1)
            if self._stopping.is_set():
                return
            deaths = deaths + 1 if time.monotonic() - began < STEADY_SECONDS else 1
            if not worker.reachable and (not self._announced or (not self._serving and deaths >= FAILED_STARTS)):
                self._give_up(worker.problem or f"a worker could not start and ended with status {status}")
                return
            pause = min(FIRST_PAUSE_SECONDS * 2 ** (deaths - 1), LONGEST_PAUSE_SECONDS)
            log.warning("worker %d ended with status %d and is replaced", worker.process.pid, status)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()

    async def _start(self) -> _Worker:
        reading, writing = os.pipe()
        ours, its = socketpair() if self._metrics_sockets else (None, None)
        passed = [writing] if its is None else [writing, its.fileno()]
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "potluck.web.server.worker",
                *map(str, passed),
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(*passed, *(listening.fileno() for listening in self._sockets)),
                # The same import path as here.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                # A Ctrl+C at the terminal goes to the parent only, which stops the workers.
                process_group=0,
            )
        except BaseException:
            os.close(reading)
            if ours is not None:
                ours.close()
            raise
        finally:
            os.close(writing)
            if its is not None:
                its.close()
        self._processes.add(process)
        if self._stopping.is_set():
            # Told to stop while this one was being started, so it was not among those that were stopped.
            self._end(signal.SIGKILL)
        assert process.stdin is not None
        with suppress(ConnectionError):
            process.stdin.write(self._order)
            await process.stdin.drain()
        report = await _read_all(reading)
        reachable = report == REACHABLE
        return _Worker(process, reachable, "" if reachable else report.decode(errors="replace"), ours)

    def _count(self, change: int) -> None:
        self._serving += change
        # The last may be ready only once all are being stopped, when the sockets are closed: nothing to announce then.
        if self._serving == self._number and not self._announced and not self._stopping.is_set():
            self._announced = True
            self._announce()

    def _give_up(self, problem: str) -> None:
        if not self._stopping.is_set():
            print(f"potluck: {problem}", file=sys.stderr, flush=True)
            self._status = 1
            self._stopping.set()

    def _told_to_stop(self, number: int) -> None:
        if self._stopping.is_set() and number == signal.SIGINT:
            self._status = self._status or 128 + number
            self._end(signal.SIGKILL)
        self._stopping.set()

    def _end(self, number: signal.Signals) -> None:
        for process in self._processes:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    # Not send_signal(), which polls the process and takes the exit status from its waiter.
                    os.kill(process.pid, number)


async def _read_all(descriptor: int) -> bytes:
    """Everything written to a pipe until its last writer has closed it."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    try:
        return await reader.read()
    finally:
        transport.close()
