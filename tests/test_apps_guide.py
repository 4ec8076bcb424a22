"""The app of the guide: the page quotes its files, they pass their tests and mypy, and it is as short as it says."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree

from tools.quote_examples import EXAMPLES, GUIDE, quoted_files, quoting

ROOT = Path(__file__).parent.parent
CHORES = EXAMPLES / "chores"

# Code of the app without imports and blank lines; and all of its files, with templates and tests.
MOST_LINES = 150
MOST_LINES_OF_ALL = 500


def test_the_guide_quotes_every_file_as_it_is():
    guide = GUIDE.read_text()
    assert quoting(guide) == guide, "run: python tools/quote_examples.py"
    assert quoted_files(guide) == {str(path.relative_to(EXAMPLES)) for path in files() if path.name != "__init__.py"}


def test_the_app_of_the_guide_works_and_mypy_knows_its_types():
    assert "2 passed" in run("pytest", "-q", "-p", "no:cacheprovider", CHORES)
    assert "no findings" in run("potluck.commands.main", "design", "chores.entities", "--lint")
    assert "Success" in mypy_of(EXAMPLES).stdout


def test_mypy_finds_a_wrong_type_in_a_module_of_the_app(tmp_path):
    copytree(CHORES, tmp_path / "chores")
    with (tmp_path / "chores" / "chores.py").open("a") as module:
        module.write('\nwrong: int = "text"\n')
    checked = mypy_of(tmp_path)
    assert checked.returncode == 1
    assert "chores/chores.py" in checked.stdout, checked.stdout + checked.stderr


def test_the_app_of_the_guide_is_as_short_as_it_says():
    code = [path for path in files() if path.suffix == ".py" and not path.name.startswith("test_")]
    lines = [line for path in code for line in path.read_text().splitlines() if line.strip()]
    assert len([line for line in lines if not line.startswith(("from ", "import "))]) <= MOST_LINES
    assert sum(len(path.read_text().splitlines()) for path in files()) <= MOST_LINES_OF_ALL


def files() -> list[Path]:
    return [path for path in CHORES.rglob("*") if path.suffix in (".py", ".html")]


def mypy_of(folder: Path) -> subprocess.CompletedProcess[str]:
    """Mypy on the app in this folder. Without PYTHONPATH: mypy reports nothing in a module that it finds there."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["MYPYPATH"] = os.pathsep.join((str(folder), "src"))
    return started(("mypy", "-m", "chores.app"), environment)


def run(*command: str | Path) -> str:
    paths = os.pathsep.join(map(str, (EXAMPLES, ROOT, ROOT / "src")))
    ran = started(command, os.environ | {"PYTHONPATH": paths})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def started(command: Sequence[str | Path], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", *command), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
