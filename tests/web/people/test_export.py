"""Taking everything along: lossless, in the same order every time, and nothing that a spreadsheet would run."""

import asyncio
import csv
import io
import json
import tracemalloc
import zipfile
from hashlib import sha256
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from potluck.people.errors import Throttled
from potluck.web.csv_files import BYTE_ORDER_MARK, RUN, inert
from potluck.web.people.export import EXPORTS_OF_ONE, Exports
from tests.people.assembly import Clock
from tests.web.made_apps import app_with
from tests.web.people.doors import PASSWORD

FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1+1",
    "\u00a0=1",
    '"=1+1',
    "'=1+1",
    "' \"=cmd|' /C calc'!A0",
    "\ufeff=1",
    "＝1+1",
    "+49 30 1234",
    "-",
    "--1",
    "-1-1",
]
TEXTS = ["", "Ada", "1+1", "a=b", "-5", "-5.25", "-1e-9", "5", " a", "'quoted'", "1-2", "[=1]", "ünï"]


def opened(answer):
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    return zipfile.ZipFile(io.BytesIO(answer.content))


def table(archive, name):
    raw = archive.read(name)
    assert raw.startswith(BYTE_ORDER_MARK)
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


@pytest.fixture
async def ada(doors):
    ada = await doors.join()
    ben = await doors.join("ben@example.org", "Ben")
    book = (await doors.ask("POST", "/books", {"name": "=Plans"}, by=ada)).json()["bookId"]
    await doors.ask("PUT", f"/books/{book}/members/{ben['userId']}", by=ada)
    for title in ("=1+1", "-5", 'a "quoted", word', "Línea nueva"):
        await doors.ask(
            "POST", f"/books/{book}/notes", {"title": title, "text": "Línea\nnueva", "private": "mine"}, by=ada
        )
    await doors.ask("POST", f"/books/{book}/notes", {"title": "Ben's", "private": "Ben's own"}, by=ben)
    await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)
    await doors.invite("notes", book, "member", UUID(ada["userId"]))
    return ada


async def test_the_zip_has_everything_of_the_person_and_the_manifest_counts_it(doors, ada):
    answer = await doors.ask("GET", "/me/export", by=ada)
    assert answer.headers["content-disposition"] == 'attachment; filename="potluck-2040-01-01.zip"'
    assert answer.headers["cache-control"] == "no-store"
    assert int(answer.headers["content-length"]) == len(answer.content)
    archive = opened(answer)
    assert archive.testzip() is None
    manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("potluck-export", 1)
    assert (manifest["exportedAt"], manifest["userId"]) == ("2040-01-01T12:00:00.000Z", ada["userId"])
    assert "apostrophe" in " ".join(manifest["notes"])
    assert [each["name"] for each in manifest["files"]] == [
        "people.json",
        "people/account.csv",
        "people/sessions.csv",
        "people/apiTokens.csv",
        "people/invitations.csv",
        "notes.json",
        "notes/books.csv",
        "notes/notes.csv",
    ]
    assert archive.namelist() == [*(each["name"] for each in manifest["files"]), "manifest.json"]
    for listed in manifest["files"]:
        content = archive.read(listed["name"])
        assert (listed["bytes"], listed["sha256"]) == (len(content), sha256(content).hexdigest())
        if listed["name"].endswith(".json"):
            assert listed["rows"] == {name: len(rows) for name, rows in json.loads(content).items()}
        else:
            assert list(listed["rows"].values()) == [len(table(archive, listed["name"])) - 1]
    inert_cells = {each["name"]: each["madeInert"] for each in manifest["files"] if each["madeInert"]}
    assert inert_cells == {"notes/books.csv": 1, "notes/notes.csv": 1}


async def test_the_json_is_lossless_and_the_tables_hold_the_same(doors, ada):
    archive = opened(await doors.ask("GET", "/me/export", by=ada))
    people = json.loads(archive.read("people.json"))
    (account,) = people["account"]
    assert (account["email"], account["name"], account["version"]) == ("ada@example.org", "Ada", 1)
    assert [each["name"] for each in people["apiTokens"]] == ["Backup"]
    notes = json.loads(archive.read("notes.json"))["notes"]
    assert {each["title"] for each in notes} == {"=1+1", "-5", 'a "quoted", word', "Línea nueva"}
    header, *rows = table(archive, "notes/notes.csv")
    assert header == ["noteId", "title", "text", "author", "version", "updatedAt", "private"]
    assert [dict(zip(header, row, strict=True))["title"] for row in rows] == [inert(each["title"]) for each in notes]
    raw = archive.read("notes/notes.csv")
    assert raw.count(b"\r\n") == 1 + len(notes)
    assert b'"a ""quoted"", word"' in raw


async def test_it_holds_nothing_of_others_and_no_secret(doors, ada):
    archive = opened(await doors.ask("GET", "/me/export", by=ada))
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for absent in ("Ben's", "argon2", 'hash"', ada["token"], PASSWORD, "plt_", "pli_"):
        assert absent not in everything


async def test_the_same_again_is_the_same_to_the_byte(doors, ada):
    first, second = [await doors.ask("GET", "/me/export", by=ada) for _ in range(2)]
    assert first.content == second.content


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_begins_with_an_apostrophe(text):
    assert inert(text) == f"'{text}"


@pytest.mark.parametrize("text", TEXTS)
def test_whatever_else_stays_as_it_is(text):
    assert inert(text) == text


@given(st.text(alphabet="=+-@'\" \t\r\n1.a"))
def test_who_takes_the_apostrophe_away_has_the_text_again(text):
    cell = inert(text)
    runs = cell.startswith("'") and RUN.match(cell[1:]) and inert(cell[1:]) != cell[1:]
    assert (cell[1:] if runs else cell) == text


# --- an app with a lot in it -----------------------------------------------------------------------------------------


class Row(Struct, rename="camel"):
    row_number: int
    text: str
    tags: list[str]
    left_out: str | None = None


class Another(Struct, rename="camel"):
    row_number: int
    amount: float


async def nobody(user_id):
    return
    yield


class NoAccounts:
    async def export(self, user_id):
        raise AssertionError


def exports_of(export):
    exports = Exports(NoAccounts(), [app_with("big", export=export)(None)], Clock())
    exports._sources[0] = ("people", nobody)
    return exports


async def test_memory_does_not_grow_with_what_is_exported():
    async def export(user_id):
        for number in range(400):
            yield "rows", Row(number, f"{number} " + "ab" * 25_000, ["=x"])

    exports = exports_of(export)
    tracemalloc.start()
    try:
        file = await exports.make(UUID(int=1))
        size = 0
        async for piece in file.pieces():
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == file.size
    # 40 MB in JSON and CSV together.
    assert peak < 8_000_000
    assert file.file.closed


async def test_tables_may_come_mixed_and_rows_of_a_table_may_differ():
    async def export(user_id):
        yield "b", Row(1, "one", ["=x", "y"])
        yield "a", Row(2, "two", [])
        yield "b", Another(3, -1.5)

    file = await exports_of(export).make(UUID(int=1))
    archive = zipfile.ZipFile(io.BytesIO(b"".join([piece async for piece in file.pieces()])))
    assert list(json.loads(archive.read("big.json"))) == ["b", "a"]
    assert table(archive, "big/b.csv") == [
        ["rowNumber", "text", "tags", "leftOut", "amount"],
        ["1", "one", '["=x","y"]', "", ""],
        ["3", "", "", "", "-1.5"],
    ]
    assert json.loads(archive.read("people.json")) == {}


async def test_whoever_stops_reading_leaves_no_file_behind():
    async def export(user_id):
        yield "rows", Row(1, "x" * 200_000, [])

    file = await exports_of(export).make(UUID(int=1))
    pieces = file.pieces()
    await anext(pieces)
    await pieces.aclose()
    assert file.file.closed


async def test_whatever_becomes_of_one_it_is_not_counted_for_ever():
    async def export(user_id):
        yield "rows", Row(1, "one", [])

    exports = exports_of(export)
    for how in ("dropped unread", "read in part", "read") * EXPORTS_OF_ONE:
        file = await exports.make(UUID(int=1))
        if how != "dropped unread":
            pieces = file.pieces()
            await anext(pieces)
            if how == "read":
                assert [piece async for piece in pieces] == []
            await pieces.aclose()
            await exports.make(UUID(int=1))
        del file
    held = [await exports.make(UUID(int=1)) for _ in range(EXPORTS_OF_ONE)]
    with pytest.raises(Throttled):
        await exports.make(UUID(int=1))
    assert await exports.make(UUID(int=2))
    assert len(held) == EXPORTS_OF_ONE


async def test_an_app_that_fails_fails_the_export_and_the_next_one_is_made():
    failing = [True]

    async def export(user_id):
        yield "rows", Row(1, "one", [])
        if failing:
            raise RuntimeError("broken")

    exports = exports_of(export)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            await exports.make(UUID(int=1))
    failing.clear()
    made = await asyncio.gather(*(exports.make(UUID(int=1)) for _ in range(EXPORTS_OF_ONE)))
    assert len({file.file.read() for file in made}) == 1
