import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine_targets import local_endpoint
from tests.processes import running

TOUR = Path(__file__).parent.parent / "examples" / "engine_tour.py"


def tour(*arguments: str) -> str:
    toured = subprocess.run(
        [sys.executable, str(TOUR), *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert toured.returncode == 0, toured.stdout + toured.stderr
    return toured.stdout


def test_the_tour_holds_on_the_embedded_engine(tmp_path):
    with running("dynamodb", "--port", "0", cwd=tmp_path) as (_, address):
        said = tour(address)
    assert [line[0] for line in said.splitlines()] == ["1", "2", "3", " ", "4", "5", "T"]


@pytest.mark.needs("dynamodb-local")
def test_the_tour_holds_on_dynamodb_local():
    assert "That is the tour." in tour(local_endpoint(), "--skip-expiry")
