"""Count in how many ways one thing can be done: `python tools/app_costs.py`.

Everything is read from the source, so that other checkouts can be counted, too: `--tree ../before`. `--where` lists
what was counted.
"""

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The decorators of handlers: plain endpoints, and what is declared.
PLAIN = frozenset({"get", "post", "put", "patch"})
DECLARED = frozenset({"page", "form", "action", "read", "list", "create", "change", "delete"})
# What a store is asked to write, and what a store is called.
COMMITS = frozenset({"transact", "write_each", "put", "update", "upsert", "delete", "modify"})
A_STORE = re.compile(r"(?:^|[._])(?:store|rows)$")
COMMITTER = "web/commits.py"
# What people's rules do not answer for: attempts that are counted, sessions extended by use, rows that are over anyway.
BOOKKEEPING = frozenset(
    f"people/{name}.py"
    for name in ("throttling", "authentication", "sessions", "tokens", "invitations", "email_addresses")
)
READS_STREAMS = frozenset({"DescribeStream", "GetShardIterator", "GetRecords"})
# A function that tells this many schema types apart is a dispatcher.
TOLD_APART = 3
# A field of Journal's entries that is stored, sent, shown, changed and exported, and means nothing else.
FIELD = "rounds"
FIELD_ASIDE = ("demo.py", "assistant")
GUIDE_FILE = re.compile(r"```python\n# (chores/[\w./]+)\n(.*?)```", re.S)

SENDS = re.compile(r"""method:\s*(?:["'](?:POST|PUT|PATCH|DELETE)["']|method\b)|\bmethod,""")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Cost:
    what: str
    here: str
    aim: str
    where: list[str] = field(default_factory=list)


class Tree:
    """A source tree, parsed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "src" / "potluck"

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        files = sorted(self.source.rglob("*.py"))
        return {str(file.relative_to(self.source)): ast.parse(file.read_text()) for file in files}

    @cached_property
    def scripts(self) -> dict[str, str]:
        files = [file for file in sorted(self.source.rglob("*.js")) if "vendor" not in file.parts]
        return {str(file.relative_to(self.source)): file.read_text() for file in files}

    def below(self, *folders: str) -> dict[str, ast.Module]:
        return {name: tree for name, tree in self.modules.items() if name.startswith(folders)}

    def without(self, *folders: str) -> dict[str, ast.Module]:
        return {name: tree for name, tree in self.modules.items() if not name.startswith(folders)}


def nodes(trees: dict[str, ast.Module]) -> Iterator[tuple[str, ast.AST]]:
    for name, tree in trees.items():
        for node in ast.walk(tree):
            yield name, node


# --- what an app author has to know -----------------------------------------------------------------------------------


def imported(tree: Tree) -> dict[str, set[str]]:
    """The modules outside the apps that apps import from, with the names they import."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, node in nodes(tree.below("apps/")):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if _outside_apps(module):
                found[module] |= {name.name for name in names}
            case ast.Import(names=names):
                for name in names:
                    if _outside_apps(name.name):
                        found[name.name] |= set()
    return found


def _outside_apps(module: str) -> bool:
    return module.split(".")[0] == "potluck" and not f"{module}.".startswith("potluck.apps.")


def handlers(tree: Tree) -> tuple[list[str], list[str]]:
    """Functions that answer requests: plain endpoints, and declared ones."""
    plain, declared = [], []
    for name, node in nodes(tree.below("apps/", "web/", "people/")):
        if isinstance(node, Function):
            verbs = {_verb(decorator) for decorator in node.decorator_list}
            if verbs & PLAIN:
                plain.append(f"{name}: {node.name}")
            elif verbs & DECLARED:
                declared.append(f"{name}: {node.name}")
    return plain, declared


def _verb(decorator: ast.expr) -> str:
    match decorator:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=verb)):
            return verb
    return ""


def classes(tree: Tree) -> dict[str, list[str]]:
    """Where each class is defined."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, node in nodes(tree.modules):
        if isinstance(node, ast.ClassDef):
            found[node.name].append(name)
    return found


def repeated_classes(tree: Tree) -> dict[str, list[str]]:
    return {name: files for name, files in sorted(classes(tree).items()) if len(files) > 1}


# --- second ways ------------------------------------------------------------------------------------------------------


def commits(tree: Tree) -> list[str]:
    """The calls that commit a write by themselves, outside the runner."""
    lower = ("dynamo/", "engines/", "table/", "store", "backfill.py", "streams")
    return [
        f"{name}:{node.lineno}: {ast.unparse(node.func)}"
        for name, node in nodes(tree.without(*lower))
        if name != COMMITTER
        and isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in COMMITS
        and A_STORE.search(ast.unparse(node.func.value))
    ]


def naming_operations(tree: Tree, operations: frozenset[str]) -> list[str]:
    """The modules above the engines that call one of these operations by name."""
    found = {
        name
        for name, node in nodes(tree.without("dynamo/", "engines/"))
        if isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Constant) and argument.value in operations
    }
    return sorted(found)


def dispatchers(tree: Tree) -> list[str]:
    """Functions outside the module of schema types that tell them apart."""
    module = next((name for name in ("validation/types.py", "web/schema/types.py") if name in tree.modules), None)
    if module is None:
        return []
    types = {
        node.name for node in tree.modules[module].body if isinstance(node, ast.ClassDef) and node.name.endswith("Type")
    }
    found = []
    for name, node in nodes({name: each for name, each in tree.modules.items() if name != module}):
        if isinstance(node, Function):
            told = {name for test in _type_tests(node) for name in _names(test) if name in types}
            if len(told) >= TOLD_APART:
                found.append(f"{name}: {node.name} ({len(told)})")
    return found


def _type_tests(function: Function) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        match node:
            case ast.MatchClass(cls=tested):
                yield tested
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, tested]):
                yield tested


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


def field_lines(tree: Tree, name: str, folder: str = "apps/journal/") -> list[str]:
    """The lines of an app's Python that name a field."""
    found = set()
    for file, node in nodes(tree.below(folder)):
        if not file.removeprefix(folder).startswith(FIELD_ASIDE):
            for word, line in _words(node):
                if word == name:
                    found.add((file, line))
    return [f"{file}:{line}" for file, line in sorted(found)]


def _words(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Name(id=word) | ast.keyword(arg=str(word)) | ast.arg(arg=word):
            yield word, node.lineno
        case ast.Attribute(attr=word, end_lineno=int(line)):
            yield word, line
        case ast.Constant(value=str(word)) if word.isidentifier():
            yield word, node.lineno


# --- scripts ----------------------------------------------------------------------------------------------------------


def scripts_with(tree: Tree, wanted: Callable[[str], bool]) -> list[str]:
    return [name for name, text in tree.scripts.items() if wanted(text)]


def event_clients(tree: Tree) -> list[str]:
    """The scripts that open event streams, and htmx's own where a template or a script has it do so."""
    found = scripts_with(tree, lambda text: "new EventSource(" in text or "text/event-stream" in text)
    pages = [file.read_text() for file in tree.source.rglob("*.html")]
    by_htmx = any("sse-connect" in text or "hx-sse" in text for text in [*pages, *tree.scripts.values()])
    return [*found, *(["htmx"] if by_htmx else [])]


def senders(tree: Tree) -> list[str]:
    """The scripts that send something by themselves."""
    return scripts_with(tree, lambda text: "fetch(" in text and SENDS.search(text) is not None)


def refreshers(tree: Tree) -> list[str]:
    """The scripts that fetch a page and put parts of it in place."""
    return scripts_with(tree, lambda text: "DOMParser" in text)


# --- lines ------------------------------------------------------------------------------------------------------------


def python_lines(folder: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in folder.rglob("*.py"))


def guide_lines(tree: Tree) -> int:
    """The code of the guide's app, without blank lines and tests."""
    folder = tree.root / "examples" / "chores"
    if folder.exists():
        files = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.py")}
    else:
        files = dict(GUIDE_FILE.findall((tree.root / "docs" / "apps.md").read_text()))
    code = [text for name, text in files.items() if "test" not in name]
    return sum(bool(line.strip()) for text in code for line in text.splitlines())


# --- the table --------------------------------------------------------------------------------------------------------


def costs(tree: Tree) -> list[Cost]:
    """What is counted, how much it is, how much it is to be, and where."""
    modules = imported(tree)
    names = sorted({f"{module}: {name}" for module, names in modules.items() for name in names})
    plain, declared = handlers(tree)
    repeated = repeated_classes(tree)
    own_commits = commits(tree)
    services = [
        place for place in own_commits if place.startswith("people/") and place.split(":")[0] not in BOOKKEEPING
    ]
    streams = naming_operations(tree, READS_STREAMS)
    scans = [name for name in naming_operations(tree, frozenset({"Scan"})) if not name.startswith(("store/", "table/"))]
    in_scripts = (event_clients(tree), senders(tree), refreshers(tree))
    types = dispatchers(tree)
    named = field_lines(tree, FIELD)
    return [
        Cost("modules that apps import from", f"{len(modules)}", "≤ 6", sorted(modules)),
        Cost("names that apps import", f"{len(names)}", "≤ 110", names),
        Cost("handlers that are plain endpoints", f"{len(plain)} of {len(plain) + len(declared)}", "≤ 20", plain),
        Cost(
            "class names defined more than once",
            f"{len(repeated)}",
            "≤ 15",
            [f"{name}: {', '.join(files)}" for name, files in repeated.items()],
        ),
        Cost("ways to commit a write", f"{2 if services else 1}", "1", services),
        Cost("— commits outside the runner", f"{len(own_commits)}", "background work only", own_commits),
        Cost("programs that read a stream", f"{len(streams)}", "1", streams),
        Cost("Scans paged by their callers", f"{len(scans)}", "0", scans),
        Cost(
            "SSE clients / senders / page refreshers in JavaScript",
            " / ".join(str(len(found)) for found in in_scripts),
            "1 / 1 / 1",
            [name for found in in_scripts for name in found],
        ),
        Cost("dispatchers over the schema types", f"{len(types)}", "the types' own methods", types),
        Cost(
            f"lines and files that name `{FIELD}`, a field of Journal's entries",
            f"{len(named)} in {_files(named)}",
            "≤ 5 in 3",
            named,
        ),
        Cost("the guide's app, lines", f"{guide_lines(tree):,}", "≤ 500"),
        Cost("Python in `src`, lines", f"{python_lines(tree.source):,}", "≤ 66,000"),
    ]


def _files(places: Iterable[str]) -> int:
    return len({place.partition(":")[0] for place in places})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout to count")
    parser.add_argument("--where", action="store_true", help="list what was counted")
    chosen = parser.parse_args()
    print("| what | here | aim |\n|---|---:|---|")
    counted = costs(Tree(chosen.tree))
    for cost in counted:
        print(f"| {cost.what} | {cost.here} | {cost.aim} |")
    if chosen.where:
        for cost in counted:
            print(f"\n{cost.what}: {cost.here}", *cost.where, sep="\n  ")


if __name__ == "__main__":
    main()
