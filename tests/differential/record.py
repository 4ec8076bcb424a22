"""Record anew: `python -m tests.differential.record`, for all chapters or for those that are named.

What was recorded before is written over: look at the difference before it is committed. Behaviour that was changed on
purpose belongs in `intended.py`, with its reason, for as long as two versions are compared.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.differential.chapters import CHAPTERS
from tests.differential.recording import FOLDER, save
from tests.differential.script import play


async def record(names: list[str], into: Path = FOLDER) -> None:
    for name in names or CHAPTERS:
        chapter, options = CHAPTERS[name]
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            entries = await play(name, chapter, Path(folder), **options)
        save(name, entries, into)
        print(f"{name}: {len(entries)} steps in {time.perf_counter() - began:.1f} s")
        for entry in entries:
            if "error" in entry:
                print(f"  {entry['step']}: {entry['error']}")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:]))
