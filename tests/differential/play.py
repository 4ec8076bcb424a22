"""Play the script and compare it with the recording: `python -m tests.differential.play`, or with names of chapters.

It prints what differs and is not in `intended.toml`. `--routes` prints which addresses are not played.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.differential.chapters import CHAPTERS
from tests.differential.differences import differences, report, unexpected
from tests.differential.intended import load_rules
from tests.differential.recording import load
from tests.differential.routes import not_played
from tests.differential.script import play


async def main(names: list[str], *, routes: bool) -> int:
    rules = load_rules()
    played, found = [], []
    for name in names or CHAPTERS:
        chapter, options = CHAPTERS[name]
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as store:
            played.append(await play(name, chapter, Path(store), **options))
        compared = differences(load(name), played[-1].entries, rules)
        left = unexpected(compared, rules)
        found += left
        accepted = f", {len(compared) - len(left)} accepted" if len(compared) > len(left) else ""
        seconds = time.perf_counter() - began
        print(
            f"{name}: {len(played[-1].entries)} steps, {len(left)} differences{accepted}, {seconds:.1f} s", flush=True
        )
    if found:
        print("\n" + report(found))
    if not names:
        for rule in rules:
            if not rule.used:
                print(f"\nThis rule matches nothing: {rule.why}")
    if routes:
        missing = not_played(played)
        print(f"\n{len(missing)} addresses are missing", *(f"{at}: {what}" for at, what in missing.items()), sep="\n")
    print(f"\n{sum(len(each.entries) for each in played)} steps, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="chapter", help=f"one of {', '.join(CHAPTERS)}")
    parser.add_argument("--routes", action="store_true", help="list the addresses that are not played")
    chosen = parser.parse_args()
    sys.exit(asyncio.run(main(chosen.chapters, routes=chosen.routes)))
