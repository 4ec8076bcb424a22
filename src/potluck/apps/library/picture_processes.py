"""Decodes untrusted pictures in processes that can be killed: see `pictures`."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

from potluck.apps.library import pictures
from potluck.apps.library.entities import LARGEST_COVER
from potluck.apps.library.pictures import NOT_A_PICTURE, NotAPicture

# Each may take several hundred megabytes.
MOST_AT_ONCE = 3
# In real time; a process also has a limit of processor time, which takes longer on a busy machine.
SECONDS = 20.0
PROGRAM = Path(pictures.__file__)


class PictureProcesses:
    """Decodes pictures: one at a time for each owner, a few at a time in all."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: set[asyncio.subprocess.Process] = set()
        self._stopped = False

    async def plain(self, source: bytes, owner_id: str) -> bytes:
        """The picture as a small JPEG; NotAPicture if it is invalid or too expensive, or if the server is stopping."""
        turn = self._turns.setdefault(owner_id, asyncio.Lock())
        async with turn, self._room:
            return await self._decoded(source)

    def stop(self) -> None:
        """Stop all decoding at once."""
        self._stopped = True
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()

    async def _decoded(self, source: bytes) -> bytes:
        if self._stopped:
            raise NotAPicture("the server is stopping")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-Wignore",
            PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # The path on which this process finds Pillow, and no secrets.
            env={"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        self._running.add(process)
        if self._stopped:
            # It was stopped while the process started.
            process.kill()
        try:
            async with asyncio.timeout(SECONDS):
                picture, reason = await process.communicate(source)
        except TimeoutError:
            raise NotAPicture("it takes too long") from None
        finally:
            self._running.discard(process)
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
        if process.returncode == NOT_A_PICTURE:
            raise NotAPicture(reason.decode(errors="replace"))
        if process.returncode or len(picture) > LARGEST_COVER:
            raise NotAPicture("it takes too much time or space")
        return picture
