import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from potluck.commands.main import main
from potluck.metrics.instruments import declared
from potluck.settings import Settings
from potluck.states import STATES

ROOT = Path(__file__).parent.parent
DECISIONS = ROOT / "docs" / "decisions"
DOCUMENTS = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "src/**/*.md", "tests/**/*.md")
    for file in ROOT.glob(pattern)
)


def named(document: Path) -> str:
    return str(document.relative_to(ROOT))


def text(name: str) -> str:
    return (ROOT / name).read_text()


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_between_files_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if not re.match(r"[a-z]+:", target):
            path, _, heading = target.partition("#")
            found = (document.parent / path).resolve() if path else document
            assert found.exists(), target
            if heading:
                headings = re.findall(r"^#+ (.+)$", found.read_text(), re.M)
                assert heading in {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in headings}


def is_history(document):
    """Whether it is a decision that says below its heading which later one replaced it, or a part of it."""
    note = document.read_text().split("\n\n")[1]
    return document.parent == ROOT / "docs/decisions" and re.fullmatch(r"\*.*decision \d+\]\(.*\*", note, re.S)


# What a replaced decision names is as it was then.
@pytest.mark.parametrize("document", [each for each in DOCUMENTS if not is_history(each)], ids=named)
def test_files_named_in_documents_exist(document):
    for name in re.findall(r"`((?:src|tests|docs|examples|benchmarks|\.ci)/[\w./-]*)`", document.read_text()):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("app", sorted(each.parent for each in ROOT.glob("src/potluck/apps/*/README.md")), ids=named)
def test_the_readme_of_an_app_names_all_that_is_in_its_folder(app):
    said = (app / "README.md").read_text()
    parts = [each.name for each in app.iterdir() if not each.name.startswith("__") and each.name != "README.md"]
    missing = [each for each in sorted(parts) if f"({each}" not in said]
    if missing:
        links = "\n".join(f"[{each}]({each})" for each in missing)
        pytest.fail(f"{named(app)}/README.md links every file and folder beside it, and lacks:\n{links}", pytrace=False)


@pytest.mark.parametrize(
    "folder", ["", "table", "web", "web/http", "web/live", "web/server", "store", "streams", "validation"]
)
def test_architecture_names_every_module_of_the_layers(folder):
    said = text("ARCHITECTURE.md")
    modules = [each.name for each in (ROOT / "src/potluck" / folder).glob("*.py") if not each.name.startswith("__")]
    assert [each for each in sorted(modules) if f"{each}`" not in said] == []


def test_architecture_follows_a_request_and_a_change_through_real_files():
    names = set(re.findall(r"`(src/potluck/[\w/]+\.py)`", text("ARCHITECTURE.md")))
    assert len(names) >= 15


def defined_in(module: Path) -> set[str]:
    """The functions, classes and methods of a module, methods as `Class.method`."""
    names = set()
    for part in ast.parse(module.read_text()).body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(part.name)
        if isinstance(part, ast.ClassDef):
            methods = [line for line in part.body if isinstance(line, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {f"{part.name}.{method.name}" for method in methods}
    return names


def test_architecture_names_functions_that_are_there():
    steps = re.findall(r"`(src/potluck/[\w/]+\.py):([\w.]+)`", text("ARCHITECTURE.md"))
    assert len(steps) >= 30
    assert [f"{path}:{name}" for path, name in steps if name not in defined_in(ROOT / path)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_make_target_named_in_documents_is_there(document):
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.M))
    for target in re.findall(r"(?:`|^ {4})make ([a-z]+)\b", document.read_text(), re.M):
        assert target in targets, target


def test_help_lists_every_target_of_the_makefile():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in [
        "setup",
        "serve",
        "demo",
        "test",
        "lint",
        "types",
        "bench",
        "soak",
        "docs",
        "check",
        "lock",
        "references",
    ]:
        assert f"  make {target} " in shown


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / "docs" / "engine.md"], ids=named)
def test_python_in_documents_is_python(document):
    snippets = re.findall(r"```python\n(.*?)```", document.read_text(), re.S)
    assert snippets
    for snippet in snippets:
        compile(snippet, document.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_readme_and_the_command_list_every_setting_with_its_default(capsys):
    rows = re.findall(r"^\| `(POTLUCK_[A-Z_]+)` \| (.+?) \|", text("README.md"), re.M)
    assert [(variable, default.replace("`", "")) for variable, default in rows] == [
        (each.variable, each.default) for each in Settings.declared()
    ]
    with pytest.raises(SystemExit):
        main(["--help"])
    assert re.findall(r"^  (POTLUCK_[A-Z_]+) ", capsys.readouterr().out, re.M) == [variable for variable, _ in rows]


def test_the_documents_for_operators_name_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z-]+)", capsys.readouterr().out, re.M)
    said = text("README.md") + text("docs/operating.md")
    assert "serve" in commands
    assert [each for each in commands if f"potluck {each}" not in said] == []


def test_decisions_are_indexed_and_short():
    pages = sorted(DECISIONS.glob("[0-9]*.md"), key=lambda page: int(page.name.partition("-")[0]))
    assert re.findall(r"\]\((.+)\)", (DECISIONS / "README.md").read_text()) == [page.name for page in pages]
    for page in pages:
        content = page.read_text()
        assert len(content.splitlines()) < 60, page.name
        for part in ("**Context.**", "**Decision.**", "**Consequences.**"):
            assert part in content, page.name


def outside(requirements):
    """Without the extras that name other extras."""
    return [each for each in requirements if not each.startswith("potluck[")]


def test_every_dependency_has_its_line():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    required = project["dependencies"] + [name for extra in project["optional-dependencies"].values() for name in extra]
    npm = " ".join(re.findall(r"^(?:REFERENCES|SCRIPT_TOOLS) := (.*)$", text("Makefile"), re.M)).split()
    lines = [line for line in text("docs/decisions/13-dependencies.md").splitlines() if line.startswith("|")]
    explained = {name for line in lines for name in re.findall(r"[\w-]+", line.split("|")[1])}
    for requirement in outside(required) + npm:
        assert re.match(r"(?:@\w+/)?([\w-]+)", requirement)[1] in explained, requirement


def test_the_lock_has_hashes_and_no_address():
    lock = text("requirements.lock")
    assert not re.search(r"https?://|index-url|find-links|^-", lock, re.M)
    pinned = re.findall(r"^[\w.\[\]-]+==", lock, re.M)
    unhashed = re.findall(r"^[\w.\[\]-]+==[^\\\n]*$", lock, re.M)
    assert len(pinned) > 30
    assert not unhashed


def test_the_lock_is_the_one_pyproject_asks_for():
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", text("requirements.lock"), re.M)}
    project = tomllib.loads(text("pyproject.toml"))
    required = project["project"]["dependencies"] + project["build-system"]["requires"]
    required += [name for extra in project["project"]["optional-dependencies"].values() for name in extra]
    for requirement in outside(required):
        assert re.match(r"[\w.-]+", requirement)[0].lower() in locked, requirement


def test_operators_find_every_metric_and_every_state_with_what_it_means():
    said = text("docs/operating.md")
    rows = re.findall(r"^\| `((?:potluck|process)_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$", said, re.M)
    metrics = declared()
    assert rows == [
        (each.name, each.kind, ", ".join(f"`{label}`" for label in each.labels), each.meaning) for each in metrics
    ]
    states = re.findall(
        r"^\| `([a-z-]+)` \| (.*?) \| (.+?) \|$", said.partition("### States")[2].partition("###")[0], re.M
    )
    assert [(name, meaning) for name, meaning, _ in states] == [(each.name, each.meaning) for each in STATES]
    assert set(re.findall(r"\bpotluck_[a-z_]+", said)) <= {
        f"{each.name}{part}" for each in metrics for part in ("", "_count", "_bucket", "_sum")
    }
