"""The type checker knows what entities, questions, answers and rules are: mypy finds every mistake in the samples."""

import re
from pathlib import Path

import pytest
from mypy import api

from tests.reader import Reader, blocks

ROOT = Path(__file__).parent.parent.parent
TUTORIAL = ROOT / "docs" / "tutorial.md"
# From here on the tutorial's reader changes the design, and the programs from before no longer fit it.
CHANGED_FROM = "## 12. Changing your mind"
SAMPLES = Path(__file__).parent / "types"
MARK = re.compile(r"# error: ([\w-]+(?:, [\w-]+)*)$")

# A line of a file, and the code of an error there.
Error = tuple[str, int, str]


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> set[Error]:
    """What mypy says of all samples, and of a project that was made by the tutorial, in one run."""
    tutorial = Reader(tmp_path_factory.mktemp("tutorial"))
    text, changed, _ = TUTORIAL.read_text().partition(CHANGED_FROM)
    assert changed
    for block in blocks(text):
        if block.language == "python":
            tutorial.write(block)
    said, complaints, _ = api.run(
        [
            *("--config-file", str(ROOT / "pyproject.toml"), "--strict"),
            *("--no-error-summary", "--hide-error-context", "--no-pretty", "--show-absolute-path"),
            *("--cache-dir", str(ROOT / ".mypy_cache" / "samples")),
            *map(str, [*sorted(SAMPLES.glob("*.py")), *sorted(tutorial.folder.glob("*.py"))]),
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
