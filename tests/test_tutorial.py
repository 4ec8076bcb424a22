"""The tutorial, the reference and the README are carried out as a reader would, and say what is true."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from potluck import table
from potluck.store import Store
from tests.engine_targets import EMBEDDED, LOCAL, local_endpoint
from tests.processes import running
from tests.reader import Block, Reader, blocks, combined, commands, environment, first_line

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs" / "tutorial.md"
REFERENCE = ROOT / "docs" / "table.md"

# The part that the tests run against each implementation of DynamoDB.
SECOND_PART = "## 13. The same on DynamoDB"


def parts() -> tuple[list[Block], list[Block]]:
    first, heading, second = TUTORIAL.read_text().partition(SECOND_PART)
    assert heading
    return blocks(first), blocks(second, 1 + first.count("\n"))


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Reader:
    """The reader's project when everything up to the second part has been done."""
    reader = Reader(tmp_path_factory.mktemp("shed"))
    for block in parts()[0]:
        reader.follow(block)
    return reader


@contextlib.contextmanager
def served(target: str, folder: Path) -> Iterator[str]:
    if target == LOCAL:
        yield local_endpoint()
        return
    with running("dynamodb", "--port", "0", cwd=folder) as (_, address):
        yield address


def test_the_tutorial_is_true_on_the_embedded_engine(project):
    assert (project.folder / "shed.db").is_file()


@pytest.mark.parametrize("target", [EMBEDDED, pytest.param(LOCAL, marks=pytest.mark.needs("dynamodb-local"))])
def test_the_tutorial_is_true_on_dynamodb(target, project, tmp_path):
    folder = shutil.copytree(project.folder, tmp_path / "shed")
    with served(target, tmp_path) as address:
        reader = Reader(folder, address)
        for block in parts()[1]:
            reader.follow(block)


def test_every_program_that_the_tutorial_shows_is_run():
    all_blocks = [block for part in parts() for block in part]
    shown = {re.match(r"# (\w+)\.py", block.text)[1] for block in all_blocks if block.language == "python"}
    entered = [command for each in all_blocks if each.language == "console" for command, _ in commands(each.text)]
    modules = {"shed", "stores"}
    assert modules < shown
    assert {name for name in shown if f" {name}.py" not in "".join(f"{command}\n" for command in entered)} == modules


def test_what_is_shown_again_takes_the_place_of_the_first():
    file = "from a import b\n\n\nclass A:\n    x = 1\n\n\n@b\ndef c():\n    pass\n"
    addition = (
        "import os\nfrom a import b, d\n\nX = 2\n\n\nclass A:\n    x = X\n\n\n@d\ndef c():\n    pass\n\n\nE = 3\n"
    )
    assert combined(file, addition) == (
        "import os\nfrom a import b, d\n\n\nX = 2\n\n\nclass A:\n    x = X\n\n\n@d\ndef c():\n    pass\n\n\nE = 3\n\n\n"
    )


def test_the_reference_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asyncio.run(_run_reference())


async def _run_reference() -> None:
    """Every block in order, as one program that may await; a comment under a print is what it prints."""
    namespace: dict[str, Any] = {"__name__": "reference"}
    shown = 0
    for block in blocks(REFERENCE.read_text()):
        assert block.language == "python"
        where = f"docs/table.md from line {block.line}"
        for statement, said in statements(block.text):
            printed = io.StringIO()
            code = compile(statement, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            with contextlib.redirect_stdout(printed):
                waiting = eval(code, namespace)
                if inspect.isawaitable(waiting):
                    await waiting
            assert printed.getvalue() == said, f"{where}: {statement}"
            shown += bool(said)
    assert shown


def test_the_reference_has_everything_that_can_be_used():
    reference = REFERENCE.read_text()
    in_code = " ".join(re.findall(r"`([^`\n]+)`", reference)) + " ".join(block.text for block in blocks(reference))
    methods = [name for name, member in vars(Store).items() if inspect.isfunction(member) and not name.startswith("_")]
    for name in [*table.__all__, *methods]:
        assert re.search(rf"(?<!\w){name}(?!\w)", in_code), name


def test_the_reference_has_everything_that_lint_finds():
    sources = "".join(file.read_text() for file in (ROOT / "src/potluck/table/lint").glob("*.py"))
    findings = set(re.findall(r'Finding\(\s+"([a-z-]+)"', sources))
    rows = REFERENCE.read_text().split("| finding | what it means |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z]+-[a-z-]+|overlap|filter|scan)`", rows)) == findings


def statements(text: str) -> Iterator[tuple[str, str]]:
    """Each statement of a block with the text of the comment that follows directly below it, if it is a print."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        said = []
        if "print(" in lines[node.end_lineno - 1] or "print(" in lines[node.lineno - 1]:
            for line in lines[node.end_lineno :]:
                if not line.startswith("# "):
                    break
                said.append(line.removeprefix("# ") + "\n")
        # Blank lines in front keep the numbers of the lines, for tracebacks.
        start = first_line(node) - 1
        yield "\n" * start + "\n".join(lines[start : node.end_lineno]), "".join(said)


def test_every_program_of_the_readme_prints_what_the_readme_says(tmp_path):
    readme = (ROOT / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```\s+It prints `([^`]+)`", readme, re.S)
    assert len(programs) == len(re.findall("```python", readme)) >= 2
    for number, (program, said) in enumerate(programs):
        folder = tmp_path / str(number)
        folder.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert ran.stdout == f"{said}\n", ran.stderr


@pytest.mark.parametrize("package", ["table", "web"])
def test_the_architecture_names_every_part_of_a_package_where_it_is(package):
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    rows = architecture.split(f"The parts of `src/potluck/{package}/`", 1)[1].split("\n## ", 1)[0]
    library = ROOT / "src" / "potluck" / package
    named = set()
    for row in re.findall(r"^\| (`.+) \|$", rows, re.M):
        where, what = row.split(" | ")
        places = re.findall(r"`([\w.]+/?)`", where)
        for name in places:
            assert (library / name).exists(), name
        named |= {name.rstrip("/") for name in places}
        for name in re.findall(r"`([\w*]+\.py)`", what):
            assert list((library / places[0]).glob(name)), f"{places[0]} {name}"
    parts = {path.name for path in library.iterdir()} - {"__init__.py", "__init__.pyi", "__pycache__"}
    assert named == parts
