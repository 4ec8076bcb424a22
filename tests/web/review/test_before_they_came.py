"""What happened in a list before somebody could see it is not told to them afterwards, whatever position they have."""

import asyncio

import pytest

from tests.web.contract.wire import listening
from tests.web.contract.worlds import bearer_headers, book_of
from tests.web.suites import API


async def position_of(doors, book, who):
    return (await doors.ask("GET", book.notes, by=who)).json()["position"]


@pytest.fixture
async def newcomer(doors):
    """Ben, who comes into Ada's book after she deleted a note; and where his own book stood before all that."""
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    hers, his = await book_of(doors, ada), await book_of(doors, ben)
    earlier = await position_of(doors, his, ben)
    note = await hers.add("Divorce lawyer")
    assert (await doors.ask("DELETE", f"{hers.notes}/{note['noteId']}", by=ada)).status_code == 204
    await asyncio.sleep(0.05)
    await hers.let_in(ben)
    return hers, ben, earlier


async def test_a_position_of_another_list_is_none_of_this_one(doors, newcomer):
    book, ben, earlier = newcomer
    changes = await doors.ask("GET", f"{book.notes}/changes?since={earlier}", by=ben)
    assert (changes.status_code, "lawyer" in changes.text) == (422, False)
    assert changes.json()["errors"] == [{"field": "since", "message": "since must be a position of this list"}]


async def test_a_browser_that_brings_one_begins_anew(doors, newcomer):
    book, ben, earlier = newcomer
    headers = [*bearer_headers(ben), ("last-event-id", earlier)]
    async with listening(doors.application, f"{API}{book.notes}/events", headers) as listener:
        assert [each.event for each in await listener.until(1)] == ["reset"]
        await book.add("After")
        await listener.until(2)
        assert b"lawyer" not in listener.body


async def test_where_events_come_from_is_a_position_of_this_list_alone(doors):
    ada = await doors.join()
    one, other = await book_of(doors, ada), await book_of(doors, ada)
    since = await position_of(doors, one, ada)
    await one.add("Heard")
    changed = (await doors.ask("GET", f"{one.notes}/changes?since={since}", by=ada)).json()
    for position in (changed["position"], changed["changes"][0]["position"]):
        assert (await doors.ask("GET", f"{one.notes}/changes?since={position}", by=ada)).status_code == 200
        assert (await doors.ask("GET", f"{other.notes}/changes?since={position}", by=ada)).status_code == 422
    async with listening(doors.application, f"{API}{one.notes}/events", bearer_headers(ada)) as listener:
        await listener.until(begun=True)
        await one.add("Heard too")
        (event,) = await listener.until(1)
    assert (await doors.ask("GET", f"{one.notes}/changes?since={event.id}", by=ada)).status_code == 200
    assert (await doors.ask("GET", f"{other.notes}/changes?since={event.id}", by=ada)).status_code == 422
