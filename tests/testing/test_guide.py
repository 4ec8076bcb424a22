"""The tests of the guide pass, before and after the change that it describes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.references import dynamodb_local

GUIDE = Path(__file__).parent.parent.parent / "docs" / "testing.md"
FILES = dict(re.findall(r"```python\n# ([\w. ]+)\n(.*?)```", GUIDE.read_text(), re.S))


def run(folder: Path, tests: str, **environment: str) -> str:
    (folder / "notes.py").write_text(FILES["notes.py"])
    (folder / "test_notes.py").write_text(FILES[tests])
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTEST_"))}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "potluck.testing.plugin", "-p", "no:cacheprovider", folder],
        cwd=folder,
        env={**plain, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.splitlines()[-1] if ran.returncode == 0 else ran.stdout + ran.stderr


@pytest.mark.parametrize("tests", ["test_notes.py", "test_notes.py with moto"])
def test_the_tests_of_the_guide_pass(tmp_path, tests):
    assert run(tmp_path, tests).startswith("3 passed")


@pytest.mark.needs("dynamodb-local")
def test_the_tests_of_the_guide_pass_on_dynamodb_local(tmp_path):
    with dynamodb_local(for_speed=False) as reference:
        last = run(tmp_path, "test_notes.py with DynamoDB Local", DYNAMODB_LOCAL=reference.endpoint)
    assert last.startswith("3 passed"), last


def test_each_variant_has_the_same_tests():
    tests = {name: re.findall(r"^def test_.*?(?=^def |\Z)", code, re.S | re.M) for name, code in FILES.items()}
    kept = {name: "".join(functions).strip() for name, functions in tests.items() if functions}
    assert len(kept) == 3
    assert len(set(kept.values())) == 1
