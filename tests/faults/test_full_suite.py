"""The suite on a disk without a free byte: people read, sign in and delete, and nothing else is taken."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from potluck.apps.library.app import LibraryApp
from potluck.apps.polls.app import PollsApp
from potluck.dynamo.database import Database
from potluck.dynamo.storage.reserve import LARGEST, Reserve
from tests.faults.audit import check_file
from tests.faults.held_open import TABLE, fill, item
from tests.faults.power_cut_vfs import FaultyDisk
from tests.web.suites import PASSWORD, ask, data, problem, signed_up, suite_on

MB = 1_000_000
TOTAL = 500 * MB
PLENTY = 400 * MB
BOOKS = 80
Usage = namedtuple("Usage", "total used free")


class SmallDisk(FaultyDisk):
    """A disk of some hundred MB that holds a store, its reserve, and what other programs keep there."""

    def __init__(self, folder: Path, *, default: bool = False) -> None:
        super().__init__(default=default)
        self.folder = folder
        self.room = TOTAL
        self.others = 0

    def used(self) -> int:
        reserves = sum(each.stat().st_size for each in self.folder.rglob("*-reserve"))
        return super().used() + reserves + self.others

    def free(self) -> int:
        return max(0, self.room - self.used())

    def leave(self, free: int) -> None:
        """Let other programs take all but this."""
        self.others = 0
        self.others = self.free() - free


@pytest.fixture
def disk(tmp_path, monkeypatch):
    with SmallDisk(tmp_path, default=True) as disk:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(TOTAL, TOTAL - disk.free(), disk.free()))
        yield disk


APPS = (LibraryApp, PollsApp)


async def shelf(client, owner) -> str:
    library = data(await ask(client, "POST", "/libraries", {"libraryName": "Home"}, by=owner), 201)
    for number in range(BOOKS):
        book = {"title": f"Book {number}", "authors": ["Some One"], "summary": "x" * 900}
        data(await ask(client, "POST", f"/libraries/{library['libraryId']}/books", book, by=owner), 201)
    return f"/libraries/{library['libraryId']}"


async def sign_in(client) -> dict:
    return data(await ask(client, "POST", "/sessions", {"email": "ada@example.org", "password": PASSWORD}), 201)


async def use_of_a_full_disk(client, library: str) -> None:
    """Sign in, read, be refused, delete the library with all that is in it, and leave."""
    by = await sign_in(client)
    items = data(await ask(client, "GET", f"{library}/items", by=by))["items"]
    new = {"title": "Where to?", "candidates": ["Lake", "Hut"]}
    problem(await ask(client, "POST", "/polls", new, by=by), 503, "no-room")
    for each in items[:10]:
        data(await ask(client, "DELETE", f"{library}/items/{each['itemId']}", by=by), 204)
    for _ in range(5):
        await sign_in(client)
    data(await ask(client, "DELETE", f"{library}?force=true", by=by), 204)
    data(await ask(client, "POST", "/me/sessions/end-others", by=by), 204)
    data(await ask(client, "POST", "/me/delete", {"password": PASSWORD}, by=by), 204)


async def test_on_a_disk_without_a_free_byte_people_sign_in_delete_and_leave(tmp_path, disk):
    async with suite_on(tmp_path, APPS) as (client, _):
        library = await shelf(client, await signed_up(client, "ada@example.org", "Ada"))
        disk.leave(0)
        assert disk.free() == 0
        await use_of_a_full_disk(client, library)
        assert disk.refused_writes > 0
    check_file(str(tmp_path / "data" / "potluck.db"))


async def test_it_starts_on_a_disk_without_a_free_byte(tmp_path, disk):
    async with suite_on(tmp_path, APPS) as (client, _):
        library = await shelf(client, await signed_up(client, "ada@example.org", "Ada"))
    disk.leave(0)
    async with suite_on(tmp_path, APPS) as (client, _):
        await use_of_a_full_disk(client, library)
    check_file(str(tmp_path / "data" / "potluck.db"))


async def test_what_the_file_has_yet_to_take_is_not_free(tmp_path, disk):
    async with suite_on(tmp_path, APPS) as (client, application):
        ada = await signed_up(client, "ada@example.org", "Ada")
        await shelf(client, ada)
        owed = application.state.engine.owed_bytes()
        assert owed > BOOKS * 900
        new = {"title": "Where to?", "candidates": ["Lake", "Hut"]}
        application.state.core.storage_quota._at = float("-inf")
        disk.leave(50 * MB + owed // 2)
        problem(await ask(client, "POST", "/polls", new, by=ada), 503, "no-room")


async def test_a_full_disk_without_a_reserve_is_said_to_be_full(tmp_path, disk, caplog):
    async with suite_on(tmp_path, APPS) as (client, application):
        await signed_up(client, "ada@example.org", "Ada")
        application.state.engine.file.reserve.release()
        disk.leave(0)
        refused = []
        for _ in range(50):
            answer = await ask(client, "POST", "/sessions", {"email": "ada@example.org", "password": PASSWORD})
            if answer.status_code != 201:
                refused.append(answer)
        assert refused
        for each in refused:
            problem(each, 503, "no-room")
        assert (await client.get("/readyz")).json()["states"] == ["disk-full"]
        disk.leave(PLENTY)
        await sign_in(client)
        application.state.engine.file.reserve.keep()
        assert (await client.get("/readyz")).json()["states"] == []
    lines = [record.getMessage() for record in caplog.records if getattr(record, "state", "") == "disk-full"]
    assert [": over after" in line for line in lines] == [False, True]


async def test_the_log_is_reused_before_the_reserve(tmp_path, disk):
    async with await Database.open(tmp_path / "store.db", reserve=True) as database:
        await fill(database, 0, 300)
        disk.leave(0)
        reserve = tmp_path / "store.db-reserve"
        assert reserve.exists()
        for number in range(300):
            await database.call("DeleteItem", {"TableName": TABLE, "Key": {"pk": item(number)["pk"]}})
        assert not (await database.call("Scan", {"TableName": TABLE}))["Items"]


def test_space_is_set_aside_only_while_the_disk_is_filling_up(tmp_path, monkeypatch):
    free = [10_000 * MB]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(20_000 * MB, 20_000 * MB - free[0], free[0]))
    reserve, file = Reserve(str(tmp_path / "store.db"), wanted=True), tmp_path / "store.db-reserve"
    reserve.keep()
    assert not file.exists()
    assert not reserve.is_spent
    free[0] = 900 * MB
    reserve.keep()
    assert file.stat().st_size == LARGEST
    assert file.stat().st_blocks * 512 >= LARGEST
    assert reserve.release()
    assert reserve.is_spent
    assert not reserve.release()
    # What was just released is not set aside again, by whichever process.
    free[0] = LARGEST
    other = Reserve(str(tmp_path / "store.db"), wanted=True)
    for each in (reserve, other):
        each.keep()
        assert each.is_spent
    free[0] = 900 * MB
    reserve.keep()
    assert file.exists()
    assert not reserve.is_spent
