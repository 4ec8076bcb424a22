"""Scripts without a page: their own tests, run by Node, and what each of them may do."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from potluck.apps.shopping.line_parser import read_lines
from tests.patience import PATIENCE_SECONDS

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCE = ROOT / "src" / "potluck"
KIT = "web/static/js/kit"
# A classic script, which cannot import: it answers requests of pages when there is no network.
WORKER = "web/static/worker.js"

LINES = (
    "2 milk", "2x milk", "2 × milk", "500 g flour", "500g flour", "  - bread ", "* [x] 3 eggs", "• tea", "☐ 2 l water",
    "7up", "0 zeros", "100000 grains", "100001 grains", "1000000 more", "12", "3  ", "2 kg", "x", "", "  ",
    "[ ] 1 LB nails", "+ 4 figs", "– salt", "2\u00a0milk", "½ melon", "a\nb\r\nc\rd", "a\x0bb\x0cc", "a\u2028b",
    "-dash", "5 x", "5x",
)  # fmt: skip


def scripts() -> Iterable[Path]:
    return (file for file in SOURCE.rglob("static/**/*.js") if "vendor" not in file.parts)


def scripts_with(pattern: str) -> set[str]:
    """The scripts that have this outside of comments."""
    code = {file: re.sub(r"(?m)^\s*(//|/?\*).*$", "", file.read_text()) for file in scripts()}
    return {file.relative_to(SOURCE).as_posix() for file, text in code.items() if re.search(pattern, text)}


@pytest.mark.needs("node")
@pytest.mark.parametrize("name", sorted(file.name for file in HERE.glob("*.test.js")))
def test_a_module_keeps_its_promises(name):
    ran = subprocess.run(
        ["node", "--test", f"tests/scripts/{name}"], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.needs("node")
def test_the_script_reads_lines_as_the_server_does():
    program = f"""
      import {{ readLines }} from "{(SOURCE / "apps/shopping/static/line-parser.js").as_uri()}";
      const read = (text) => readLines(text).map((line) => [line.name, line.quantity, line.unit]);
      console.log(JSON.stringify({json.dumps(LINES)}.map(read)));
    """
    ran = subprocess.run(
        ["node", "--input-type=module", "--eval", program],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True,
    )  # fmt: skip
    expected = [[[line.name, line.quantity, line.unit] for line in read_lines(text)] for text in LINES]
    assert dict(zip(LINES, json.loads(ran.stdout), strict=True)) == dict(zip(LINES, expected, strict=True))


def test_one_script_sends_requests():
    assert scripts_with(r"\bfetch\(|XMLHttpRequest|sendBeacon") == {f"{KIT}/send.js", WORKER}


def test_one_script_reads_event_streams():
    assert scripts_with(r"EventSource|text/event-stream") == {f"{KIT}/event-stream.js"}


def test_one_script_fetches_pages_again():
    assert scripts_with(r"DOMParser|text/html") == {f"{KIT}/page-parts.js"}


def test_one_script_opens_databases():
    assert scripts_with(r"indexedDB\.|openDB\(") == {f"{KIT}/store.js", WORKER}


def test_nothing_is_built():
    """What a script imports is a file beside it, or further away: the browser finds it at the same place."""
    for file in scripts():
        for path in re.findall(r"""(?:from|import)\s*\(?"([^"]+)"[;)]""", file.read_text()):
            assert path.startswith("."), (file, path)
            assert (file.parent / path).resolve().is_file(), (file, path)
