"""Someone who follows a document: writes the files it shows, enters the commands, and compares what is printed."""

import ast
import multiprocessing
import os
import re
import runpy
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SAID_ADDRESS", "Block", "Reader", "blocks", "combined", "commands", "environment", "first_line"]

# Where the tutorial lets its reader start `potluck dynamodb`; a test takes whatever port is free.
SAID_ADDRESS = "http://127.0.0.1:8001"
# What a reader does by hand: make a folder, install, and start a server, for which the tests have ways of their own.
BY_HAND = re.compile(r"(mkdir|cd|python -m venv|source|pip install|potluck dynamodb) ")
# A line that stands for lines of output that are not shown.
LEFT_OUT = "…"
COMMAND_SECONDS = 60
# What the programs import, loaded once in the process that each of them is forked from: it takes longer than they do.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    [
        "pytest",
        "boto3",
        "potluck.store.backfill",
        "potluck.commands.main",
        "potluck.engines.aws",
        "potluck.engines.embedded",
    ]
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(text: str, begins_at: int = 1) -> list[Block]:
    return [
        Block(found[1], found[2], begins_at + text.count("\n", 0, found.start()))
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
            assert block.text.startswith("$ "), f"line {block.line}: a console block begins with a command"
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
        printed = timeless(ran(shlex.split(command), self.folder, environment() | self.variables))
        if LEFT_OUT in said.splitlines():
            for part in said.split(f"{LEFT_OUT}\n"):
                assert part in printed, f"line {line}: $ {command}"
                printed = printed[printed.index(part) + len(part) :]
        else:
            assert printed == timeless(said), f"line {line}: $ {command}"


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    return [(found[1], found[2]) for found in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M)]


def ran(words: list[str], folder: Path, variables: dict[str, str]) -> str:
    """What a command prints that is run in a process of its own."""
    with tempfile.NamedTemporaryFile() as output:
        process = processes.Process(target=run, args=(words, folder, variables, output.name))
        process.start()
        process.join(COMMAND_SECONDS)
        if process.is_alive():
            process.kill()
            raise TimeoutError(" ".join(words))
        return Path(output.name).read_text()


def run(words: list[str], folder: Path, variables: dict[str, str], output: str) -> None:
    """In the new process: all that the shell does for a command, and then the command."""
    printing = os.open(output, os.O_WRONLY)
    os.dup2(printing, sys.__stdout__.fileno())
    os.dup2(printing, sys.__stderr__.fileno())
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    program, *arguments = words
    sys.path.insert(0, str(folder))
    if program == "python":
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
        return
    sys.argv = words
    if program == "pytest":
        import pytest

        sys.exit(pytest.main(arguments))
    assert program == "potluck"
    from potluck.commands.main import main

    sys.exit(main(arguments))


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
        text = new_lines[first_line(node) - 1 : node.end_lineno]
        old = there.get(_shown_as(node) or "")
        if old is not None:
            changes.append((first_line(old) - 1, old.end_lineno, waiting + text))
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
        case ast.Assign(targets=[ast.Name(name)]):
            return name
        case ast.Import():
            return f"import {node.names[0].name}"
        case ast.ImportFrom():
            return f"from {node.module}"
    return None


def first_line(node: Any) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
