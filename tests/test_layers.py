import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = (
    *(
        "__main__.py",
        "commands/main.py",
        "aws/policies.py",
        "suite.py",
        "doctor/diagnoses.py",
        "backups/folder.py",
        "settings.py",
        "acceleration.py",
        "extras.py",
        "lazy_names.py",
        "setting_types.py",
        "connections/limits.py",
    ),
    *("store/store.py", "streams/consumer.py", "validation/types.py"),
    *("metrics/process.py", "states.py", "clock_jumps.py", "testing/plugin.py", "seeds/seeding.py"),
    *("web/health.py", "people/accounts.py", "moving/pace.py", "table/keys.py", "engines/aws.py", "dynamo/values.py"),
    *("apps/polls/entities.py", "apps/library/entities.py", "apps/__init__.py"),
)


def lint_imports(folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_point_one_way():
    linted = lint_imports(ROOT, ROOT / "src")
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("dynamo/values.py", "import potluck.engines"),
        ("dynamo/values.py", "import potluck.settings"),
        ("dynamo/values.py", "import botocore"),
        ("engines/aws.py", "import potluck.web.health"),
        ("web/health.py", "import potluck.suite"),
        ("apps/polls/entities.py", "import potluck.commands.main"),
        ("store/store.py", "import potluck.web.health"),
        ("table/keys.py", "import potluck.store"),
        ("table/keys.py", "import starlette"),
        ("dynamo/values.py", "import uvicorn"),
        ("streams/consumer.py", "import cryptography"),
        ("validation/types.py", "import rapidfuzz"),
        ("people/accounts.py", "import potluck.apps.polls.entities"),
        ("apps/polls/entities.py", "import potluck.apps.library.entities"),
        ("apps/polls/entities.py", "import potluck.web.health"),
        ("attic.py", ""),
    ],
)
def test_an_import_against_the_layers_is_caught(tmp_path, module, line):
    # A tree of empty modules under the project's own contracts, with one line too many.
    for name in (*MODULES, module):
        file = tmp_path / "src" / "potluck" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        (file.parent / "__init__.py").touch()
    (tmp_path / "src" / "potluck" / module).write_text(line)
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())

    linted = lint_imports(tmp_path, tmp_path / "src")

    assert linted.returncode == 1
    assert "1 broken" in linted.stdout, linted.stdout + linted.stderr


@pytest.mark.parametrize(
    ("operation", "modules"),
    [
        # Declared scans, and those of whole tables, which backfills and moves need.
        ("Scan", {"table/access.py", "store/scanning.py"}),
        *((each, {"streams/log.py"}) for each in ("DescribeStream", "GetShardIterator", "GetRecords")),
    ],
)
def test_scans_are_declared_and_one_module_reads_streams(operation, modules):
    package = ROOT / "src" / "potluck"
    asked = re.compile(rf'(call|Request|retry)\([^)]*"{operation}"')
    senders = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if asked.search(path.read_text()) and path.relative_to(package).parts[0] not in ("dynamo", "engines")
    }
    assert senders == modules
