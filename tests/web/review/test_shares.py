"""Nobody takes so much at once that there is nothing left for others."""

import asyncio
import contextlib

from potluck.web.live import open_streams
from potluck.web.people import export
from potluck.web.people.account import AccountData
from tests.patience import until
from tests.web.contract.wire import listening, sent
from tests.web.contract.worlds import bearer_headers, book_of
from tests.web.suites import API


async def test_one_person_has_only_so_many_streams_open(doors, monkeypatch):
    monkeypatch.setattr(open_streams, "MOST_STREAMS_OF_ONE", 3)
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    path = f"{API}{book.notes}/events"
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            listener = await stack.enter_async_context(listening(doors.application, path, bearer_headers(ada)))
            await listener.until(begun=True)
        again = (await doors.sign_in()).json()
        refused = await sent(doors.application, "GET", path, bearer_headers(again))
        assert (refused.status, refused.media_type) == (429, "application/problem+json")
        assert int(refused.header("retry-after")) > 0
        his = await stack.enter_async_context(listening(doors.application, path, bearer_headers(ben)))
        await his.until(begun=True)
    async with listening(doors.application, path, bearer_headers(ada)) as listener:
        await listener.until(begun=True)


async def test_a_worker_has_only_so_many_streams_open(doors, monkeypatch):
    monkeypatch.setattr(open_streams, "MOST_STREAMS", 1)
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    path = f"{API}{book.notes}/events"
    async with listening(doors.application, path, bearer_headers(ada)) as listener:
        await listener.until(begun=True)
        refused = await sent(doors.application, "GET", path, bearer_headers(ben))
        assert (refused.status, bool(refused.header("retry-after"))) == (503, True)


async def test_one_person_has_only_so_many_exports_under_way(doors, monkeypatch):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    all_asked, exported = asyncio.Event(), AccountData.export

    async def export_once_all_asked(self, user_id):
        await all_asked.wait()
        async for row in exported(self, user_id):
            yield row

    monkeypatch.setattr(AccountData, "export", export_once_all_asked)
    asking = [asyncio.create_task(doors.ask("GET", "/me/export", by=ada)) for _ in range(8)]

    async def others_are_refused():
        return sum(each.done() for each in asking) >= len(asking) - export.EXPORTS_OF_ONE

    await until(others_are_refused)
    all_asked.set()
    many = await asyncio.gather(*asking)
    statuses = [each.status_code for each in many]
    assert (statuses.count(200), statuses.count(429)) == (export.EXPORTS_OF_ONE, 8 - export.EXPORTS_OF_ONE)
    assert all(int(each.headers["retry-after"]) > 0 for each in many if each.status_code == 429)
    # What was fetched is over, and nobody else had to wait for it.
    for who in (ada, ben, ada, ada):
        assert (await doors.ask("GET", "/me/export", by=who)).status_code == 200
