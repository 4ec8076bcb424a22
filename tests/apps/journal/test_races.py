"""What others do between a rule's reads and its write: the write decides, and whoever is out has written nothing."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from potluck.apps.journal import comments, entries, links, threads
from potluck.apps.journal.app import JournalApp
from potluck.apps.journal.context import journal_context
from potluck.apps.journal.entities import Sections, SessionMetrics, roll_model
from potluck.people.authentication import Principal
from potluck.people.entities import Account, accounts
from potluck.people.errors import AccountGone
from potluck.store import Store
from potluck.web.direct_calls import Direct
from potluck.web.errors import Conflict, NotFound
from tests.apps.worlds import Meanwhile, by_key, meanwhile, registered
from tests.engine_targets import BOTH
from tests.people.assembly import Clock
from tests.stores import recorded_store
from tests.web.cores import core_on


@dataclass
class World:
    store: Store
    clock: Clock
    direct: Direct
    mara: Principal
    renzo: Principal
    entry: Any

    @property
    def of(self) -> dict[str, Any]:
        return {"entry_id": self.entry.entry_id}

    async def end_link(self) -> None:
        self.clock.forward(seconds=1)
        await self.direct.do(links.end_link, self.mara, links.WhichSide(), user_id=self.renzo.user_id)

    async def dump(self) -> Any:
        return await by_key(self.store.engine, roll_model)


@pytest.fixture(params=BOTH)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    async with recorded_store(request.param, tmp_path, accounts, roll_model, wrap=Meanwhile) as (store, _):
        clock = Clock()
        rows = Store(store.engine, clock)
        core = core_on(rows, clock)
        direct = Direct(core, JournalApp.subjects, journal_context(core, bytes(32)))
        mara, renzo = [await registered(rows, name, f"{name}@example.org") for name in ("Mara", "Renzo")]
        made = await direct.do(links.request_link, mara, links.NewLink(coach_email="renzo@example.org"))
        await direct.join(renzo, made.token, links.APP, links.join)
        metrics = SessionMetrics(duration_minutes=60, intensity=5, rounds=0, gi_or_no_gi="gi")
        new = entries.NewEntry(sections=Sections(shared="armbar"), session_metrics=metrics)
        entry = await direct.do(entries.add_entry, mara, new)
        yield World(rows, clock, direct, mara, renzo, entry)


async def test_a_coach_who_is_out_in_between_has_said_and_asked_nothing(world: World):
    about = threads.NewThread(scope="shared", athlete_id=world.mara.user_id)
    thread = await world.direct.do(threads.begin_thread, world.renzo, about)
    body = comments.NewComment(body="Hips first.")
    question = threads.NewMessage(content="armbar")
    told = await world.direct.do(comments.add_comment, world.renzo, body, **world.of)
    ids = {**world.of, "comment_id": told.comment_id}
    before = set(await world.dump())
    for rule, sent, more in (
        (comments.add_comment, body, {**world.of}),
        (comments.change_comment, comments.CommentChange(body="Late."), {**ids, "version": 1}),
        (comments.delete_comment, None, ids),
        (threads.ask, question, {"thread_id": thread.thread_id}),
        (threads.begin_thread, about, {}),
    ):
        meanwhile(world.store, world.end_link)
        if rule is threads.begin_thread:
            # It reads nothing of the athlete's, and shows nothing.
            await world.direct.do(rule, world.renzo, sent, **more)
            assert await world.direct.list(threads.own_threads, world.renzo) == []
        else:
            with pytest.raises(NotFound):
                await world.direct.do(rule, world.renzo, sent, **more)
            assert set(await world.dump()) == before
        world.clock.forward(seconds=1)
        made = await world.direct.do(links.request_link, world.mara, links.NewLink(coach_email="renzo@example.org"))
        await world.direct.join(world.renzo, made.token, links.APP, links.join)
    (comment,) = await world.direct.list(comments.comments_on, world.mara, **world.of)
    assert (comment.body, comment.version) == ("Hips first.", 1)


async def test_an_entry_that_moves_or_goes_in_between_is_told_as_it_is(world: World):
    async def moved() -> None:
        change = entries.EntryChange(date=world.entry.date.replace(year=2039))
        await world.direct.do(entries.change_entry, world.mara, change, version=1, **world.of)

    change = entries.EntryChange(sections=entries.SectionsChange(shared="kimura"))
    meanwhile(world.store, moved)
    with pytest.raises(Conflict) as conflict:
        await world.direct.do(entries.change_entry, world.mara, change, version=1, **world.of)
    assert conflict.value.current.version == 2
    assert conflict.value.current.date.year == 2039

    async def gone() -> None:
        await world.direct.do(entries.delete_entry, world.mara, **world.of)

    for by, rule, sent, more in (
        (world.mara, entries.change_entry, change, {"version": 2}),
        (world.renzo, comments.add_comment, comments.NewComment(body="Hips first."), {}),
    ):
        meanwhile(world.store, gone)
        with pytest.raises(NotFound):
            await world.direct.do(rule, by, sent, **world.of, **more)
        left = [key for key in await world.dump() if str(world.entry.entry_id) in f"{key}"]
        assert left == []
        world.store.engine.first = None  # type: ignore[attr-defined]
        metrics = SessionMetrics(duration_minutes=60, intensity=5, rounds=0, gi_or_no_gi="gi")
        new = entries.NewEntry(sections=Sections(shared="armbar"), session_metrics=metrics)
        world.entry = await world.direct.do(entries.add_entry, world.mara, new)


async def test_an_entry_that_moves_between_two_reads_is_found_where_it_is(world: World):
    async def moved(year: int, version: int) -> None:
        change = entries.EntryChange(date=world.entry.date.replace(year=year))
        await world.direct.do(entries.change_entry, world.mara, change, version=version, **world.of)

    # META was read, and said another date.
    its_date = r"GetItem .*'ENTRY#\d{4}-\d\d-\d\dT"
    meanwhile(world.store, lambda: moved(2039, 1), its_date)
    seen = await world.direct.read(entries.one_entry, world.renzo, **world.of)
    assert seen.date.year == 2039
    meanwhile(world.store, lambda: moved(2038, 2), its_date)
    change = entries.EntryChange(sections=entries.SectionsChange(shared="kimura"))
    with pytest.raises(Conflict):
        await world.direct.do(entries.change_entry, world.mara, change, version=2, **world.of)


async def test_a_comment_and_a_move_that_meet_are_both_done(world: World):
    body = comments.NewComment(body="Hips first.")

    async def moved(version: int = 1) -> None:
        change = entries.EntryChange(date=world.entry.date.replace(year=2038 + version))
        await world.direct.do(entries.change_entry, world.mara, change, version=version, **world.of)

    async def said() -> None:
        await world.direct.do(comments.add_comment, world.renzo, body, **world.of)

    meanwhile(world.store, moved)
    await said()
    meanwhile(world.store, said)
    await moved(2)
    (entry,) = await world.direct.list(entries.own_entries, world.mara, entries.EntryFilter())
    assert (entry.date.year, entry.version, entry.comments, entry.new_comments) == (2040, 3, 2, 2)


async def test_nothing_is_begun_for_an_account_that_is_being_deleted(world: World):
    async def forgotten() -> None:
        await world.store.delete(Account.by_id(world.mara.user_id))

    new = threads.NewThread(scope="private")
    meanwhile(world.store, forgotten)
    with pytest.raises(AccountGone):
        await world.direct.do(threads.begin_thread, world.mara, new)
    assert not any("AI_THREAD" in sort for _, sort in await world.dump())
