import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CASES = """
import pytest
from tests.needs import need

@pytest.fixture
def reference():
    need("dynamodb-local")

@pytest.mark.needs("java")
def test_marked(): assert False, "it ran"

def test_by_fixture(reference): assert False, "it ran"

def test_that_needs_nothing(): pass

@pytest.mark.skip(reason="for a reason of its own")
def test_skipped_otherwise(): pass
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the cases above under the project's own conftest, on a machine whose path is empty."""
    (folder / "test_cases.py").write_text(CASES)
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PATH", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", "pyproject.toml", str(folder)],
        cwd=ROOT,
        env=kept | {"PATH": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_missing_is_left_out_loudly(tmp_path):
    ran = run(tmp_path)
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout + ran.stderr
    assert "1 passed, 3 skipped" in ran.stdout
    assert "LEFT OUT ON THIS MACHINE" in ran.stdout
    assert "1 test   java: java is not on the path" in ran.stdout
    assert "1 test   dynamodb-local: java is not on the path" in ran.stdout
    assert "for a reason of its own" not in ran.stdout.partition("LEFT OUT")[2].partition("=====")[0]


def test_in_ci_leaving_out_is_failing(tmp_path):
    assert run(tmp_path, CI="true").returncode == pytest.ExitCode.TESTS_FAILED
