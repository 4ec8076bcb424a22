"""POTLUCK_PLAIN turns every acceleration off, and only one module knows the variable."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from potluck.acceleration import ALL, PLAIN, chosen_by
from potluck.dynamo.database import Database
from potluck.dynamo.storage.commits import Commits
from tests.toy import NotesApp
from tests.web.suites import ask, data, signed_up, suite_on

SOURCE = Path(__file__).parent.parent / "src" / "potluck"
CHOSEN = "from potluck.acceleration import BY_ENVIRONMENT, PLAIN; print(BY_ENVIRONMENT == PLAIN)"
PACKED = ("row", "rows_of", "query_rows", "transact", "state", "unpack")


def test_all_or_nothing_is_chosen():
    assert set(asdict(ALL).values()) == {True}
    assert set(asdict(PLAIN).values()) == {False}
    assert (chosen_by("1"), chosen_by("0"), chosen_by(None)) == (PLAIN, ALL, ALL)


@pytest.mark.parametrize(("value", "plain"), [("1", "True"), ("0", "False"), ("", "False")])
def test_an_engine_without_settings_goes_by_the_environment(value, plain):
    environment = {**os.environ, "POTLUCK_PLAIN": value}
    run = subprocess.run(
        [sys.executable, "-c", CHOSEN], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == plain


def test_one_module_reads_the_variable():
    """Settings read it too, as they read all variables, and ask this module what it means."""
    readers = [path.name for path in SOURCE.rglob("*.py") if 'environ.get("POTLUCK_PLAIN")' in path.read_text()]
    assert readers == ["acceleration.py"]


async def test_a_plain_suite_calls_its_engine_for_everything(tmp_path, monkeypatch):
    for name in PACKED:
        monkeypatch.setattr(Database, name, refused)
    async with suite_on(tmp_path, [NotesApp], accelerations=PLAIN) as (client, application):
        ada = await signed_up(client)
        book = data(await ask(client, "POST", "/books", {"name": "One"}, by=ada), 201)["bookId"]
        data(await ask(client, "POST", f"/books/{book}/notes", {"title": "A note"}, by=ada), 201)
        for _ in range(3):
            assert len(data(await ask(client, "GET", f"/books/{book}/notes", by=ada))["items"]) == 1
            assert data(await ask(client, "GET", f"/books/{book}", by=ada))["name"] == "One"
        # The index of the write-ahead log is not even mapped.
        assert type(application.state.engine.file.commits) is Commits


def refused(*_: object) -> None:
    raise AssertionError("an acceleration was used")
