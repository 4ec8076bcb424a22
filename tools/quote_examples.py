"""Copies the files of examples/chores into the guide that quotes them: `python tools/quote_examples.py`.

A quoted file is a block of docs/apps.md that begins with its name: `# chores/app.py`, or `{# chores/… #}` in HTML.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "apps.md"
EXAMPLES = ROOT / "examples"

QUOTED = re.compile(r"(```(?:python|html)\n(?:# |\{# )(chores/[\w./]+)(?: #\})?\n)(.*?)(```)", re.S)


def quoting(guide: str) -> str:
    """The guide with every quoted file as it is on disk."""
    return QUOTED.sub(lambda block: block[1] + (EXAMPLES / block[2]).read_text() + block[4], guide)


def quoted_files(guide: str) -> set[str]:
    return {block[2] for block in QUOTED.finditer(guide)}


if __name__ == "__main__":
    GUIDE.write_text(quoting(GUIDE.read_text()))
