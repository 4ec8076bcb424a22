"""The type checker knows what an entity, a question and an answer are: mypy finds every mistake in the samples."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parent.parent.parent
SAMPLES = Path(__file__).parent / "types"
MARK = re.compile(r"# error: ([\w-]+(?:, [\w-]+)*)$")

# A line of a file, and the code of an error there.
Error = tuple[str, int, str]


@pytest.fixture(scope="module")
def found() -> set[Error]:
    """What mypy says of all samples, in one run."""
    said, complaints, _ = api.run(
        [
            *("--config-file", str(ROOT / "pyproject.toml"), "--strict"),
            *("--no-error-summary", "--hide-error-context", "--no-pretty", "--show-absolute-path"),
            *("--cache-dir", str(ROOT / ".mypy_cache" / "samples")),
            *map(str, sorted(SAMPLES.glob("*.py"))),
        ]
    )
    assert not complaints
    errors = set()
    for line in said.splitlines():
        if ": note: " in line:
            continue
        error = re.fullmatch(r"(.+?):(\d+): error: .*\[([\w-]+)\]", line)
        assert error, line
        errors.add((Path(error[1]).name, int(error[2]), error[3]))
    return errors


def marked(sample: str) -> set[Error]:
    lines = (SAMPLES / sample).read_text().splitlines()
    marks = ((number, MARK.search(line)) for number, line in enumerate(lines, 1))
    return {(sample, number, code) for number, mark in marks if mark for code in mark[1].split(", ")}


def test_what_is_right_has_no_error(found):
    assert [error for error in found if error[0] != "wrong.py"] == []


def test_what_is_wrong_has_the_errors_it_is_marked_with(found):
    expected = marked("wrong.py")
    assert len(expected) > 40
    assert sorted(error for error in found if error[0] == "wrong.py") == sorted(expected)
