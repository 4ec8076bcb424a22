"""Record: `python -m tests.differential.record` for all chapters, or for those that are named.

This overwrites what was recorded. Differences that are meant belong in `intended.toml`; recording again is for changes
of the script itself, and is done with the version that the recording is about.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.differential.chapters import CHAPTERS
from tests.differential.recording import FOLDER, save
from tests.differential.script import play


async def record(names: list[str], folder: Path = FOLDER) -> None:
    for name in names or CHAPTERS:
        chapter, options = CHAPTERS[name]
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as store:
            played = await play(name, chapter, Path(store), **options)
        path = save(name, played.entries, folder)
        seconds = time.perf_counter() - began
        print(f"{name}: {len(played.entries)} steps in {seconds:.1f} s, {path.stat().st_size:,} bytes")
        for entry in played.entries:
            if "error" in entry:
                print(f"  {entry['step']}: {entry['error']}")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:]))
