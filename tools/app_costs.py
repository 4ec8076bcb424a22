"""Count what an app costs to write, to change and to follow: `python tools/app_costs.py [--walk]`.

Lines as `wc -l` has them, the lines that name one field of an entity, and the files, functions and layers that one
request passes. Everything is found by folders, names and the public API, so that the same figures can be had of two
trees that have little else in common.
"""

import argparse
import ast
import asyncio
import json
import re
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "potluck"
API = "/api/v1"

# Made-up people and things may have the field or not.
FIELD_ASIDE = ("demo",)

ABOVE_THE_STORE = ("apps", "web", "people")
LAYERS = (*ABOVE_THE_STORE, "store", "table", "engines", "dynamo")
# What puts them together is none of them: its files count, but a function that it passed on leads to no other layer.
ASSEMBLY = "suite"
ASSEMBLING = ("__init__.py", "commands", "settings.py", "suite.py")
# Python 3.12 runs most of these as part of their function, 3.11 as functions of their own.
PARTS_OF_FUNCTIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})

WALKS = 3
SETTLING_SECONDS = 0.2


# --- lines -----------------------------------------------------------------------------------------------------------


def python_files(folder: Path, *without: str) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if not {*file.relative_to(folder).parts} & {*without})


def lines_of(files: Iterable[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)


# --- where a field is said -------------------------------------------------------------------------------------------


def words_of(name: str) -> list[str]:
    """The words of an identifier: NewStore and new_store are the same two."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def holds(name: str, words: list[str]) -> bool:
    found = words_of(name)
    return any(found[at : at + len(words)] == words for at in range(len(found)))


def names_in(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The identifiers in a piece of code, strings that could be one included, each with its line."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, each.lineno
            case ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                yield name, each.lineno
            case ast.Attribute(attr=name, end_lineno=int(line)):
                yield name, line
            case ast.Constant(value=str(name)) if name.isidentifier():
                yield name, each.lineno


def is_about(node: ast.AST, entity: list[str]) -> bool:
    """Whether a class or function has to do with an entity. A name that is nothing but its word may be anything's."""
    whole, several = "_".join(entity), [*entity[:-1], f"{entity[-1]}s"]
    return any(name != whole and (holds(name, entity) or holds(name, several)) for name, _ in names_in(node))


def field_lines(folder: Path, entity: str, name: str) -> dict[Path, list[int]]:
    """The lines that name a field of an entity, in what has to do with that entity, and those that define its type.

    A constant or type at the head of a module counts if one of those lines uses it.
    """
    about, wanted = words_of(entity), words_of(name)
    found: dict[Path, set[int]] = {}
    used: set[str] = set()
    definitions: list[tuple[str, Path, int]] = []
    for file in python_files(folder):
        if file.stem in FIELD_ASIDE:
            continue
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if is_about(node, about):
                    named = [(each, line) for each, line in names_in(node) if holds(each, wanted)]
                    lines = {line for each, line in named if each == name}
                    found.setdefault(file, set()).update(lines)
                    used |= {each for each, line in named if line in lines}
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                definitions += [
                    (each.id, file, node.lineno)
                    for each in targets
                    if isinstance(each, ast.Name) and holds(each.id, wanted)
                ]
    for defined, file, line in definitions:
        if defined in used:
            found.setdefault(file, set()).add(line)
    return {file: sorted(lines) for file, lines in sorted(found.items()) if lines}


# --- the way of a request --------------------------------------------------------------------------------------------


@dataclass
class Walk:
    """What of ours a request passes."""

    functions: set[CodeType] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)
    """Each with its layer, in the order in which they are first passed."""
    layers: list[str] = field(default_factory=list)
    """Those that run, one after the other: going into a function, and coming back to where it was called."""

    def files_in(self, layers: Iterable[str]) -> list[str]:
        return [file for file, layer in self.files.items() if layer in layers]

    def layers_in(self, layers: Iterable[str]) -> list[str]:
        """The way through these layers alone, whatever is called from them in between."""
        return [layer for layer, _ in groupby(each for each in self.layers if each in layers)]


walking: ContextVar[bool] = ContextVar("walking", default=False)


class Tracer:
    """Follows whatever runs in the request's own context, and the threads that work for it.

    The threads count for functions and files only: what they do goes on beside the way of the request.
    """

    def __init__(self) -> None:
        self.walk: Walk | None = None
        self.main = threading.get_ident()
        self.places: dict[CodeType, tuple[str, str] | None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        here = threading.get_ident() == self.main
        if self.walk is None or event not in ("call", "return") or (here and not walking.get()):
            return
        place = self.place(frame.f_code)
        if place is None:
            return
        file, layer = place
        self.walk.functions.add(frame.f_code)
        self.walk.files.setdefault(file, layer)
        if here:
            self.walk.layers.append(layer)

    def place(self, code: CodeType) -> tuple[str, str] | None:
        """The file of ours that code is in, and its layer."""
        if code not in self.places:
            file = Path(code.co_filename)
            ours = file.is_relative_to(SOURCE) and code.co_name not in PARTS_OF_FUNCTIONS
            self.places[code] = (str(file.relative_to(SOURCE)), layer_of(file)) if ours else None
        return self.places[code]


def layer_of(file: Path) -> str:
    """Its folder; of the modules beside those, what assembles them is above, and the rest is the store with its own."""
    first = file.relative_to(SOURCE).parts[0]
    if first in LAYERS:
        return first
    return ASSEMBLY if first in ASSEMBLING else "store"


@contextmanager
def traced() -> Iterator[Tracer]:
    """Follow this thread and those that are started in here."""
    tracer = Tracer()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        yield tracer
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def asked(application: Any, method: str, path: str, token: str = "", body: Any = None) -> Any:
    """Call the application as a server would, without a socket."""
    raw = b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
    headers.append((b"content-length", str(len(raw)).encode()))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 40_000),
        "server": ("testserver", 80),
        "state": {},
    }
    status, answer = 0, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, answer
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            answer += message.get("body", b"")

    await application(scope, receive, send)
    assert 200 <= status < 300, (method, path, status, answer)
    return json.loads(answer)


async def walked() -> Walk:
    """One status change of an item on a shopping list, on the whole suite, after others have warmed it up."""
    from potluck.settings import Settings
    from potluck.suite import assembled

    with tempfile.TemporaryDirectory() as folder, traced() as tracer:
        async with assembled(Settings(data=Path(folder))) as application:
            account = {"email": "ada@example.org", "password": "correct horse battery", "name": "Ada"}
            token = (await asked(application, "POST", f"{API}/accounts", "", account))["token"]
            family = (await asked(application, "POST", f"{API}/families", token, {"name": "Walked"}))["familyId"]
            items = f"{API}/families/{family}/shopping-list"
            store = await asked(application, "POST", f"{API}/families/{family}/stores", token, {"name": "Grocer"})
            new = {"name": "Milk", "storeId": store["storeId"]}
            item = (await asked(application, "POST", items, token, new))["shoppingItemId"]
            versions = count(1)

            async def tick(status: str) -> None:
                change = {"status": status, "version": next(versions)}
                await asked(application, "PATCH", f"{items}/{item}/status", token, change)

            async def followed() -> Walk:
                await tick("pending")
                # What the writes before it woke up has its own way, and is not to be on this one.
                await asyncio.sleep(SETTLING_SECONDS)
                walk = tracer.walk = Walk()
                context = copy_context()
                context.run(walking.set, True)
                await asyncio.get_running_loop().create_task(tick("purchased"), context=context)
                tracer.walk = None
                return walk

            await tick("purchased")
            # Threads also work for others, if they happen to write: the walk with the least has only its own.
            return min([await followed() for _ in range(WALKS)], key=lambda walk: len(walk.functions))


# --- the table -------------------------------------------------------------------------------------------------------


def costs(entity: str, name: str, walk: Walk) -> list[tuple[str, str, str]]:
    """What is counted, how much it is, and how much it is to be."""
    shopping, polls = SOURCE / "apps" / "shopping", SOURCE / "apps" / "polls"
    said = field_lines(shopping, entity, name)
    above = walk.layers_in(ABOVE_THE_STORE)
    return [
        ("the toy app, lines", f"{lines_of(python_files(ROOT / 'tests' / 'toy')):,}", "≤ 300"),
        ("Shopping, lines", f"{lines_of(python_files(shopping)):,}", "≤ 4,200"),
        (
            "Polls without `counting/` and `ballot_files/`, lines",
            f"{lines_of(python_files(polls, 'counting', 'ballot_files')):,}",
            "≤ 3,600",
        ),
        ("`web/`, lines", f"{lines_of(python_files(SOURCE / 'web')):,}", "≤ 8,000"),
        (
            f"`{entity}.{name}`, lines and Python files",
            f"{sum(map(len, said.values()))} in {len(said)}",
            "≤ 5 in 2",
        ),
        ("status PATCH, files above the store", f"{len(walk.files_in((ASSEMBLY, *ABOVE_THE_STORE)))}", "≤ 16"),
        ("— layer changes above the store", f"{len(above) - 1}", "one way"),
        ("— how often it comes to the app", f"{above.count('apps')}", ""),
        ("— files, all in all", f"{len(walk.files)}", ""),
        ("— functions, all in all", f"{len(walk.functions)}", ""),
        ("— layer changes, all in all", f"{len(walk.layers_in(LAYERS)) - 1}", ""),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Count what an app costs to write, to change and to follow.")
    parser.add_argument("--field", default="Store.address", help="a field of Shopping; found in what names its entity")
    parser.add_argument("--walk", action="store_true", help="list the files that the request passes, in their order")
    parser.add_argument("--where", action="store_true", help="list the lines that name the field")
    chosen = parser.parse_args(arguments)
    entity, _, name = chosen.field.partition(".")
    walk = asyncio.run(walked())
    print("| what | here | aim |\n|---|---:|---|")
    for row in costs(entity, name, walk):
        print(f"| {' | '.join(row)} |")
    if chosen.where:
        print()
        for file, lines in field_lines(SOURCE / "apps" / "shopping", entity, name).items():
            print(f"{file.relative_to(ROOT)}: {', '.join(map(str, lines))}")
    if chosen.walk:
        print()
        for number, (passed, layer) in enumerate(walk.files.items(), 1):
            print(f"{number:3} {layer:8} {passed}")
        print(f"\nAbove the store: {' > '.join(walk.layers_in(ABOVE_THE_STORE))}")


if __name__ == "__main__":
    main()
