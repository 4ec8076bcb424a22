"""The guide to writing an app is carried out as a reader would: its files are written, and its own tests are run."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "apps.md"

# What the guide says of its length: code of the app, without blank lines, templates and tests.
MOST_LINES = 315

FILE = re.compile(r"```(?:python|html)\n(?:# |\{# )(chores/[\w./]+)(?: #\})?\n(.*?)```", re.S)


def files() -> dict[str, str]:
    return dict(FILE.findall(GUIDE.read_text()))


def test_the_app_of_the_guide_works(tmp_path):
    for name, text in files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ran = run(tmp_path, "pytest", "-q", "-c", ROOT / "pyproject.toml", "-p", "no:cacheprovider", "chores")
    assert "3 passed" in ran
    assert "no findings" in run(tmp_path, "potluck.commands.main", "design", "chores.entities", "--lint")


def run(folder: Path, *command: str | Path) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT, ROOT / "src")))}
    command = (sys.executable, "-m", *command)
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_app_of_the_guide_is_as_short_as_it_says():
    code = [text for name, text in files().items() if name.endswith(".py") and "test_" not in name]
    lines = [line for text in code for line in text.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES, len(lines)
