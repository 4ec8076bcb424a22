"""What the system knows about this process; on systems without /proc, its processor time alone."""

import os
import time
from contextlib import suppress
from pathlib import Path

from potluck.metrics import CPU_SECONDS, MEMORY_BYTES, OPEN_FILES, START_SECONDS

PROC = Path("/proc/self")
# Set when this module is imported, by the first lines of the process.
_started = time.time()


def measure_process() -> None:
    """Set the metrics of this process."""
    CPU_SECONDS.add(amount=time.process_time() - CPU_SECONDS.value())
    START_SECONDS.set(_started)
    with suppress(OSError):
        MEMORY_BYTES.set(resident_bytes())
        OPEN_FILES.set(len(os.listdir(PROC / "fd")))


def resident_bytes() -> int:
    """Resident memory, mapped files included."""
    return int((PROC / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
