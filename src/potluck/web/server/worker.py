"""One worker of the pool: what the processes run that worker_pool.py starts."""

import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from socket import socket
from typing import NoReturn

from potluck.web.server.metrics_page import offered_to_nobody, to_the_parent
from potluck.web.server.reasons import reason_of
from potluck.web.server.uvicorn_server import serve_here
from potluck.web.server.worker_pool import KILLED_AFTER_SECONDS, REACHABLE

STDIN = 0


def work(writing: int, metrics_channel: int | None = None) -> int:
    """Run as a worker; returns the exit status. Over the channel, the parent asks for metrics."""
    # Until the server has its own handlers: SIGTERM ends the process, and Ctrl+C is left to the parent.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    make, settings, descriptors = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_parent, name="parent", daemon=True).start()
    reported = False

    def report(words: bytes) -> None:
        nonlocal reported
        if not reported:
            reported = True
            with suppress(OSError):
                os.write(writing, words)
            os.close(writing)

    try:
        metrics = offered_to_nobody if metrics_channel is None else to_the_parent(socket(fileno=metrics_channel))
        sockets = [socket(fileno=descriptor) for descriptor in descriptors]
        serve_here(make, settings, sockets, lambda: report(REACHABLE), metrics)
    except Exception as error:
        problem = reason_of(error)
        if problem is None or reported:
            raise
        report(problem.encode())
        return 1
    return 0


def _end_with_the_parent() -> NoReturn:
    """Stop when the pipe that the parent holds open ends: the parent is gone, however it died."""
    # Not through sys.stdin, whose lock this thread would hold while the process exits.
    with suppress(OSError):
        while os.read(STDIN, 1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(KILLED_AFTER_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(work(*map(int, sys.argv[1:])))
