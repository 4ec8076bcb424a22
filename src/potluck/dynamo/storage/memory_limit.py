"""How much memory this process may use: what its control group allows, as in a container, or what the machine has."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

GROUPS = Path("/proc/self/cgroup")
MOUNTED = Path("/sys/fs/cgroup")


@cache
def memory_limit() -> int:
    """In bytes. Looked up once: it rarely changes while a process runs."""
    return min([*_limits(GROUPS, MOUNTED), _of_the_machine()])


def _limits(groups: Path, mounted: Path) -> list[int]:
    """The limits of the group and of all above it; in a container, the innermost visible one may be at the root."""
    limits: list[int] = []
    with suppress(OSError):
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                folder, name = mounted, "memory.max"
            elif "memory" in controllers.split(","):
                folder, name = mounted / "memory", "memory.limit_in_bytes"
            else:
                continue
            inside = folder / path.lstrip("/")
            for group in (inside, *inside.parents):
                with suppress(OSError, ValueError):
                    limits.append(int((group / name).read_text()))
                if group == folder:
                    break
    return limits


def _of_the_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        # Such as Windows, which does not say it in this way.
        return 1 << 32
