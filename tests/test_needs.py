from pathlib import Path

import pytest

from tests.runs import ended, started

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


SHARED_OUT = pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "shared out"])


def run(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Run the cases above on a machine whose path is empty."""
    (folder / "test_cases.py").write_text(CASES)
    process = started(folder, *options, PATH=str(folder), **environment)
    said = ended(process)
    return process.returncode, said


@SHARED_OUT
def test_what_is_missing_is_left_out_loudly(tmp_path, options):
    status, said = run(tmp_path, *options)
    assert status == pytest.ExitCode.OK, said
    assert "1 passed, 3 skipped" in said
    assert "LEFT OUT ON THIS MACHINE" in said
    assert "1 test   java: java is not on the path" in said
    assert "1 test   dynamodb-local: java is not on the path" in said
    assert "for a reason of its own" not in said.partition("LEFT OUT")[2].partition("=====")[0]


@SHARED_OUT
def test_in_ci_leaving_out_is_failing(tmp_path, options):
    status, said = run(tmp_path, *options, CI="true")
    assert status == pytest.ExitCode.TESTS_FAILED, said
