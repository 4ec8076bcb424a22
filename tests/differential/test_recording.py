"""The suite answers as it was recorded: a scripted session of every call and page, held against `recording/`.

`python -m tests.differential.record` records anew; `intended.py` lists what is meant to be otherwise.
"""

from pathlib import Path

import pytest
import pytest_asyncio

from tests.differential.chapters import CHAPTERS
from tests.differential.differences import Difference, Intended, differences, report, unexpected
from tests.differential.intended import INTENDED
from tests.differential.recording import load
from tests.differential.script import play

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def found(tmp_path_factory: pytest.TempPathFactory) -> list[Difference]:
    """Every difference of every chapter."""
    all_of_them: list[Difference] = []
    for number, (name, (chapter, options)) in enumerate(CHAPTERS.items()):
        folder: Path = tmp_path_factory.mktemp(f"chapter{number}")
        all_of_them += differences(load(name), await play(name, chapter, folder, **options))
    return all_of_them


async def test_everything_is_answered_as_it_was_recorded(found):
    left, _ = unexpected(found, INTENDED)
    if left:
        pytest.fail(report(left), pytrace=False)


async def test_every_intended_difference_is_there(found):
    _, stale = unexpected(found, INTENDED)
    assert stale == [], "These are not there any more: take them out of intended.py"


async def test_every_operation_was_called_and_refused():
    (document, *_) = load("openapi")
    answered: dict[str, set[bool]] = {}
    for name in CHAPTERS:
        for entry in load(name):
            method, _, path = entry["request"].partition(" ")
            for operation in document["json"]["operations"]:
                if _is_at(operation, method, path.partition("?")[0]):
                    answered.setdefault(operation, set()).add(entry["status"] < 400)
    lacking = {
        operation: answered.get(operation, set())
        for operation in document["json"]["operations"]
        if answered.get(operation) != {True, False}
    }
    assert lacking == {}


async def test_a_difference_is_told_and_can_be_intended():
    was = {"step": "a/b", "status": 200, "html": ["<form>", "<input name='x'>"], "json": {"items": [{"name": "A"}]}}
    now = {"step": "a/b", "status": 404, "html": ["<form>"], "json": {"items": [{"name": "B"}]}}
    told = differences([was], [now])
    assert [each.where for each in told] == ["status", "html", "json/items/0/name"]
    assert "<input name='x'>" in report(told)
    meant = [Intended("a/*", "status", "because", now="404"), Intended("a/*", "headers/*", "because")]
    left, stale = unexpected(told, meant)
    assert [each.where for each in left] == ["html", "json/items/0/name"]
    assert stale == meant[1:]


async def test_a_member_that_is_null_is_not_an_absent_one():
    told = differences(
        [{"step": "a/b", "json": {"name": "A"}}], [{"step": "a/b", "json": {"name": "A", "hours": None}}]
    )
    assert [(each.where, each.was, each.now) for each in told] == [("json/hours", "(absent)", "null")]
    left, _ = unexpected(told, [Intended("*", "*", "because", rewrite=str)])
    assert left == told


def _is_at(operation: str, method: str, path: str) -> bool:
    asked, _, template = operation.partition(" ")
    wanted, given = template.split("/"), path.split("/")
    # Names of ids have spaces and no slashes; an operation that is written out comes before one with a parameter.
    return (
        asked == method
        and len(wanted) == len(given)
        and all(a == b or (a.startswith("{") and b not in LITERAL) for a, b in zip(wanted, given, strict=True))
    )


LITERAL = frozenset({"events", "changes", "bulk", "clear-purchased", "look", "accept", "current"})
