"""Who was put out and let in again is not told what happened meanwhile, whatever position they kept."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from potluck.engines.embedded import open_embedded
from potluck.store import Store
from potluck.table import the
from potluck.validation.errors import ValidationError
from potluck.web.live import Grant, Live, reader
from tests.patience import PATIENCE_SECONDS
from tests.web.contract.wire import listening as streaming
from tests.web.contract.worlds import Book, bearer_headers, book_of
from tests.web.live.boards import KEY, SOMEBODY, Card, Elsewhere, boards, clock, heard_by, listening, shown, yes
from tests.web.people.doors import Doors, doors_on
from tests.web.suites import API

# --- over HTTP -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with doors_on(tmp_path) as doors:
        yield doors


async def listed(doors: Doors, book: Book, who: Any) -> Any:
    return (await doors.ask("GET", book.notes, by=who)).json()


async def changes(doors: Doors, book: Book, who: Any, since: str) -> Any:
    answer = await doors.ask("GET", f"{book.notes}/changes?since={since}", by=who)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def told(doors: Doors, book: Book, who: Any, since: str, count: int) -> list[Any]:
    """So many changes since the position, as soon as they are told."""
    found: list[Any] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(found) < count:
            answer = await changes(doors, book, who, since)
            assert not answer["reset"]
            found += answer["changes"]
            since = answer["position"]
            await asyncio.sleep(0)
    return found


class Away:
    """Ben in Ada's book: the positions that he had, and what she wrote while he was out of it."""

    def __init__(self, book: Book, ben: Any) -> None:
        self.book, self.ben = book, ben
        self.kept: list[str] = []
        self.hers = ""

    async def goes_and_comes(self) -> None:
        await self.book.put_out(self.ben)
        note = await self.book.add("Ben must not hear")
        deleted = await self.book.doors.ask("DELETE", f"{self.book.notes}/{note['noteId']}", by=self.book.by)
        assert deleted.status_code == 204
        await self.book.add("Stays")
        await self.book.let_in(self.ben)


@pytest.fixture
async def away(doors: Doors) -> Away:
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    away = Away(book, ben)
    since = (await listed(doors, book, ben))["position"]
    await book.add("Heard")
    async with streaming(doors.application, f"{API}{book.notes}/events?since={since}", bearer_headers(ben)) as his:
        (event,) = await his.until(1)
    # From a list, from an event, from an answer: whichever he kept.
    away.kept += [since, event.id, (await changes(doors, book, ben, event.id))["position"]]
    away.hers = (await listed(doors, book, ada))["position"]
    await away.goes_and_comes()
    return away


async def test_the_changes_since_an_old_position_of_their_own_begin_anew(doors: Doors, away: Away) -> None:
    for since in away.kept:
        answer = await changes(doors, away.book, away.ben, since)
        assert (answer["changes"], answer["reset"], answer["more"]) == ([], True, False)
        # What is there they read in the list, and from there on they miss nothing.
        now = await listed(doors, away.book, away.ben)
        assert "Stays" in {note["title"] for note in now["items"]}
        new = await away.book.add("Heard again")
        for position in (answer["position"], now["position"]):
            (change,) = await told(doors, away.book, away.ben, position, 1)
            assert (change["event"], change["item"]["noteId"]) == ("created", new["noteId"])


@pytest.mark.parametrize("how", ["header", "query"])
async def test_a_stream_from_an_old_position_of_their_own_begins_anew(doors: Doors, away: Away, how: str) -> None:
    for since in away.kept:
        path, headers = f"{API}{away.book.notes}/events", bearer_headers(away.ben)
        if how == "query":
            path += f"?since={since}"
        else:
            headers.append(("last-event-id", since))
        async with streaming(doors.application, path, headers) as his:
            assert [each.event for each in await his.until(1)] == ["reset"]
            await away.book.add("Heard again")
            events = await his.until(2)
        assert [each.event for each in events] == ["reset", "created"]
        assert b"must not hear" not in his.body


async def test_whoever_was_in_all_the_time_is_told_everything(doors: Doors, away: Away) -> None:
    answer = await told(doors, away.book, away.book.by, away.hers, 3)
    assert [each["event"] for each in answer] == ["created", "deleted", "created"]


async def test_a_stream_that_is_open_when_they_go_and_come_tells_nothing_of_it(doors: Doors, away: Away) -> None:
    since = (await listed(doors, away.book, away.ben))["position"]
    path = f"{API}{away.book.notes}/events?since={since}"
    async with streaming(doors.application, path, bearer_headers(away.ben)) as his:
        await his.until(begun=True)
        await away.goes_and_comes()
        await away.book.add("Heard again")
        await his.until(1)
        # It ended, or it began anew: that depends on when it looked.
        assert {each.event for each in his.events} <= {"reset", "created"}
        assert b"must not hear" not in his.body


# --- wherever the position is found ----------------------------------------------------------------------------------


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    engine = await open_embedded(tmp_path / "store.db")
    store = Store(engine, clock)
    await store.create_tables(boards)
    yield store
    await engine.close()


GRANT = Grant(Card.by_name("people", "ben"), lambda card: card.text == "in")


def ben(text: str) -> Card:
    return Card(board="people", card="ben", text=text)


async def secret(store: Store, *numbers: int) -> None:
    for number in numbers:
        await store.put(Card(board="b", card=f"s{number}", text="secret"))


@pytest.mark.parametrize("records", [2000, 4], ids=["memory", "log"])
async def test_positions_from_before_are_reset_from_memory_and_from_the_log(store: Store, records: int) -> None:
    live = Live(store.engine, clock, key=KEY, buffer_records=records)
    # In a partition of its own, and a row that stays when they go.
    member = await store.put(ben("in"))
    start = await live.position(boards)
    await store.put(Card(board="b", card="one", text="for all"))
    await store.put(Card(board="people", card="eve", text="in"))
    member = await store.update(member, the(Card.rank).becomes(2))
    await asyncio.sleep(0.1)
    assert [each.item.card for each in await heard_by(live, start, grant=GRANT)] == ["one"]
    member = await store.update(member, the(Card.text).becomes("out"))
    await secret(store, *range(120))
    await asyncio.sleep(0.1)
    while_out = await live.position(boards)
    await secret(store, 120)
    await store.update(member, the(Card.text).becomes("in"))
    await asyncio.sleep(0.1)
    for since in (start, while_out):
        assert await heard_by(live, since, grant=GRANT) == ["reset"]
        async with listening(live, since, grant=GRANT) as listener:
            await listener.heard(1)
            await store.put(Card(board="b", card="after"))
            await listener.heard(2)
        await store.delete(Card.by_name("b", "after"))
        assert [each.event for each in listener.events] == ["reset", "created"]
        assert b"secret" not in listener.raw
    # Others are told all of it.
    assert len(await heard_by(live, start)) > 120
    await live.stop()


async def test_who_comes_for_the_first_time_goes_on_from_where_the_list_was_read(store: Store) -> None:
    live = Live(store.engine, clock, key=KEY)
    position = await live.position(boards)  # which may be a moment earlier than their own coming
    await store.put(ben("in"))
    await store.put(Card(board="b", card="one"))
    assert [each.item.card for each in await heard_by(live, position, grant=GRANT)] == ["one"]
    await live.stop()


async def test_a_position_is_good_for_whom_it_was_made_for(store: Store) -> None:
    live = Live(store.engine, clock, key=KEY)
    ada, eve = UUID(int=1), UUID(int=2)
    board = Card.on_board("b")
    hers = await live.position(board, caller=ada)
    everybodys = await live.position(board)
    await secret(store, 1)

    async def heard(since: str, caller: UUID | None) -> int:
        return len((await live.changes(since, of=board, see=lambda item: item, caller=caller)).changes)

    assert await heard(hers, ada) == await heard(everybodys, ada) == await heard(everybodys, None) == 1
    for other in (eve, None):
        with pytest.raises(ValidationError, match="a position of this list"):
            await heard(hers, other)
    # What a stream or a call gives to go on from is hers too.
    later = (await live.changes(hers, of=board, see=lambda item: item, caller=ada)).position
    with pytest.raises(ValidationError):
        await heard(later, eve)
    await live.stop()


async def test_further_back_than_is_read_is_reset(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_READ", 10)
    live = Live(store.engine, clock, key=KEY, buffer_records=4)
    await store.put(ben("in"))
    await asyncio.sleep(0.1)
    start = await live.position(boards)
    await secret(store, *range(8))
    await asyncio.sleep(0.1)
    assert len(await heard_by(live, start, grant=GRANT)) == 8
    await secret(store, *range(8, 16))
    await asyncio.sleep(0.1)
    assert await heard_by(live, start, grant=GRANT) == ["reset"]
    assert await heard_by(live, start) == ["reset"]
    await live.stop()


async def test_a_position_is_told_only_where_they_may_look_after_it(store: Store) -> None:
    """Else it would be one from while they were out, and good when they are in again."""
    live = Live(store.engine, clock, key=KEY, recheck_seconds=0.05)
    may = [False]

    async def allowed() -> bool:
        return may[0]

    # They were put out between their request and the stream's beginning.
    async with listening(live, allowed=allowed, grant=GRANT) as listener:
        await listener.until(lambda: listener.ended)
    assert listener.last_id == ""
    may[0] = True
    async with listening(live, allowed=allowed, grant=GRANT) as listener:
        first = listener.last_id
        may[0] = False
        await store.put(Card(board="elsewhere", card="one"))
        await listener.until(lambda: listener.ended)
    assert listener.last_id == first
    await live.stop()


async def test_a_grant_in_a_table_that_is_not_followed_is_a_mistake(store: Store) -> None:
    live = Live(store.engine, clock, key=KEY)
    with pytest.raises(ValueError, match="not followed"):
        live.open(None, of=Elsewhere.on_board("b"), see=shown, allowed=yes, by=SOMEBODY, grant=GRANT)
    await live.stop()
