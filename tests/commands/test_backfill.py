import asyncio
import contextlib
import re
import sys
from datetime import UTC, datetime
from uuid import UUID

import pytest

from potluck.apps.shopping.entities import Member, inventory
from potluck.commands.main import main
from potluck.commands.table_modules import apps_with_tables
from potluck.engines import open_engine
from potluck.people.entities import EmailAddress, accounts
from potluck.store import Store
from potluck.table import absent, put


@contextlib.asynccontextmanager
async def families_in(folder, families):
    """An open store with a member in each family, whose row lacks the key that finds them by person."""
    folder.mkdir()
    engine = await open_engine(path=folder / "potluck.db")
    try:
        store = Store(engine, lambda: datetime.now(UTC))
        await store.create_tables(inventory)
        at = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
        for number in range(families):
            ada = {"member_id": UUID(int=1), "name": "Ada", "email": "ada@example.org"}
            member = Member(family_id=UUID(int=number), created_at=at, updated_at=at, **ada)
            row = put(member, when=absent).request().body["Item"]
            old = {name: value for name, value in row.items() if name not in ("GSI1PK", "GSI1SK")}
            await engine.call("PutItem", {"TableName": inventory.name, "Item": old})
        yield store
    finally:
        await engine.close()


async def test_backfill_gives_old_rows_their_keys_while_the_store_is_open(tmp_path, capsys):
    arguments = ["backfill", "shopping", "Member", "--data", str(tmp_path / "data")]
    async with families_in(tmp_path / "data", 3) as store:
        assert await store.all(Member.families_of(UUID(int=1), "active")) == []
        for rewritten in (3, 0):
            assert await asyncio.to_thread(main, arguments) == 0
            assert capsys.readouterr() == (f"Member: rows read: 3, rewritten: {rewritten}\n", "")
            assert len(await store.all(Member.families_of(UUID(int=1), "active"))) == 3


async def test_backfill_gives_addresses_their_normal_form(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    engine = await open_engine(path=tmp_path / "data" / "potluck.db")
    try:
        store = Store(engine, lambda: datetime.now(UTC))
        await store.create_tables(accounts)
        await store.put(EmailAddress(folded="ada@bücher.example", user_id=UUID(int=1)))
        for rewritten in (1, 0):
            arguments = ["backfill", "people", "EmailAddress", "--data", str(tmp_path / "data")]
            assert await asyncio.to_thread(main, arguments) == 0
            assert capsys.readouterr() == (f"EmailAddress: rows read: 1, rewritten: {rewritten}\n", "")
        assert await store.get(EmailAddress.by_folded("ada@xn--bcher-kva.example")) is not None
    finally:
        await engine.close()


async def test_backfill_shows_a_bar_on_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["potluck.store.backfill"], "ROWS_AT_ONCE", 1)
    monkeypatch.setattr("potluck.commands.progress_bar.REDRAWN_EVERY", 0.0)
    async with families_in(tmp_path / "data", 4):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        arguments = ["backfill", "shopping", "Member", "--data", str(tmp_path / "data")]
        assert await asyncio.to_thread(main, arguments) == 0
    shown = re.findall(r"rewriting \[[#.]{30}\] +(\d+)%", capsys.readouterr().err)
    assert shown[:4] == ["25", "50", "75", "100"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pools", "Poll"], f"there is no app and no module pools; the apps are {', '.join(apps_with_tables())}\n"),
        (
            ["polls", "Pole"],
            "polls has no entity Pole; its entities are Code, Count, CountPart, CreatedPoll, Deletion, Poll, ",
        ),
        (["polls", "Poll"], "the store has no table ranked-choice-polls; `potluck serve` creates it\n"),
        (["shopping", "Member"], "a row of Member cannot be rewritten: Member at "),
    ],
)
async def test_what_backfill_cannot_do_is_one_sentence(tmp_path, capsys, arguments, said):
    async with families_in(tmp_path / "data", 1) as store:
        key = Member.by_id(UUID(int=0), UUID(int=1)).key
        unnamed = {"UpdateExpression": "REMOVE #name", "ExpressionAttributeNames": {"#name": "name"}}
        await store.engine.call("UpdateItem", {"TableName": inventory.name, "Key": key, **unnamed})
        assert await asyncio.to_thread(main, ["backfill", *arguments, "--data", str(tmp_path / "data")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"potluck: {said}")
    assert told.err.count("\n") == 1


def test_there_is_nothing_to_backfill_where_there_is_no_store(tmp_path, capsys):
    assert main(["backfill", "polls", "Poll", "--data", str(tmp_path / "data")]) == 1
    assert "there is no store at" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
