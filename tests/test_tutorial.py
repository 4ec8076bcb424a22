"""The tutorial, the reference and the README are carried out as a reader would, and say what is true."""

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.commands import POTLUCK, running
from tests.engine_targets import EMBEDDED, LOCAL, local_endpoint

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs" / "tutorial.md"
REFERENCE = ROOT / "docs" / "table.md"

# Where the tutorial lets its reader start `potluck dynamodb`; a test takes whatever port is free.
SAID_ADDRESS = "http://127.0.0.1:8001"
# The part that the tests run against each implementation of DynamoDB.
SECOND_PART = "## 13. The same on DynamoDB"
# What a reader does by hand: make a folder, install, and start a server, for which the tests have ways of their own.
BY_HAND = re.compile(r"(mkdir|cd|python -m venv|source|pip install|potluck dynamodb) ")
COMMAND_SECONDS = 60


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(text: str, first_line: int = 1) -> list[Block]:
    return [
        Block(found[1], found[2], first_line + text.count("\n", 0, found.start()))
        for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    ]


@dataclass
class Reader:
    """Someone who follows the tutorial: a folder with their files, and a shell with its variables."""

    folder: Path
    address: str = SAID_ADDRESS
    variables: dict[str, str] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        if block.language == "python":
            self.write(block)
        elif block.language == "console":
            for command, said in commands(block.text):
                self.enter(command, said, block.line)
        else:
            assert block.language == "sh", f"line {block.line}: nobody carries out a block of {block.language}"
            for line in block.text.splitlines():
                assert BY_HAND.match(line), f"line {block.line}: {line} is never carried out"

    def write(self, block: Block) -> None:
        named = re.match(r"# (\w+\.py)\n\n?", block.text)
        assert named, f"line {block.line}: a python block begins with the name of its file"
        file = self.folder / named[1]
        text = block.text[named.end() :].replace(SAID_ADDRESS, self.address)
        file.write_text(combined(file.read_text(), text) if file.exists() else text)

    def enter(self, command: str, said: str, line: int) -> None:
        command = command.replace(SAID_ADDRESS, self.address)
        if command.startswith("export "):
            self.variables |= dict(assignment.split("=", 1) for assignment in shlex.split(command)[1:])
            return
        ran = subprocess.run(
            executable(command),
            cwd=self.folder,
            env=environment() | self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert timeless(ran.stdout) == timeless(said), f"line {line}: $ {command}"


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    return [(found[1], found[2]) for found in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M)]


def executable(command: str) -> list[str]:
    words = shlex.split(command)
    programs = {"python": [sys.executable], "potluck": POTLUCK, "pytest": [sys.executable, "-m", "pytest"]}
    return [*programs[words[0]], *words[1:]]


def environment() -> dict[str, str]:
    """Ours without what would lead a reader's program elsewhere: settings, credentials, options of this very run."""
    own = ("AWS_", "POTLUCK_", "PYTEST_", "SHED_")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(own)},
        # The plugins of our own tests are not the reader's.
        "COLUMNS": "120",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def timeless(said: str) -> str:
    """What was said, whatever time it took and however wide the screen was."""
    return re.sub(r" +\[100%\]", " [100%]", re.sub(r"in \d+\.\d+s", "in 0.01s", said)).rstrip()


def combined(file: str, addition: str) -> str:
    """The file as a reader changes it who is shown a part of it again: what has a name there is replaced in its place.

    What is new goes before the part it is shown before, imports to the imports, and the rest to the end.
    """
    there = {key: node for node in ast.parse(file).body if (key := _shown_as(node))}
    first_import = next(node for node in there.values() if isinstance(node, ast.Import | ast.ImportFrom))
    new_lines = addition.splitlines(keepends=True)
    changes: list[tuple[int, int, list[str]]] = []
    waiting: list[str] = []
    for node in ast.parse(addition).body:
        text = new_lines[_first_line(node) - 1 : node.end_lineno]
        old = there.get(_shown_as(node) or "")
        if old is not None:
            changes.append((_first_line(old) - 1, old.end_lineno, waiting + text))
            waiting = []
        elif isinstance(node, ast.Import | ast.ImportFrom):
            changes.append((first_import.lineno - 1, first_import.lineno - 1, text))
        else:
            waiting += [*text, "\n", "\n"]
    lines = file.splitlines(keepends=True)
    for start, end, text in sorted(changes, key=lambda change: change[:2], reverse=True):
        lines[start:end] = text
    return "".join([*lines, "\n\n", *waiting] if waiting else lines)


def _shown_as(node: ast.stmt) -> str | None:
    """What makes a statement the same one when it is shown again."""
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name
        case ast.Import():
            return f"import {node.names[0].name}"
        case ast.ImportFrom():
            return f"from {node.module}"
    return None


def _first_line(node: Any) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


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
        start = _first_line(node) - 1
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
