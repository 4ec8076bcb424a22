import os
import signal
import subprocess
import sys

from potluck.web.server.worker_pool import _Workers


class Worker:
    """A process as an event loop has it that does not know yet that it has ended."""

    returncode = None

    def __init__(self, process):
        self.pid = process.pid
        self.send_signal = process.send_signal


def test_whoever_waits_for_a_worker_learns_how_it_ended_whoever_was_told_to_end_meanwhile():
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    workers = _Workers(b"", [], 1, lambda: None)
    workers._processes.add(Worker(process))
    workers._end(signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1]) == 3
