import asyncio
from datetime import UTC, datetime
from uuid import UUID

from potluck.apps.polls.entities import CountRow, Poll, Vote, ranked_choice_polls
from potluck.commands.main import main
from potluck.engines import open_engine
from potluck.store import Store
from potluck.table import absent


async def test_recount_builds_counts_from_votes_while_the_store_is_open(tmp_path, capsys):
    data, poll_id = tmp_path / "data", UUID("123e4567-e89b-12d3-a456-426614174000")
    at = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    arguments = ["polls", "recount", "--data", str(data)]
    assert main(arguments) == 1
    assert "there is no store at" in capsys.readouterr().err

    async def recount(*polls):
        status = await asyncio.to_thread(main, [*arguments, *map(str, polls)])
        return status, *capsys.readouterr()

    data.mkdir()
    engine = await open_engine(path=data / "potluck.db")
    try:
        store = Store(engine, lambda: at)
        await store.create_tables(ranked_choice_polls)
        poll = Poll(poll_id=poll_id, title="Languages", candidates=["Go", "Rust"], created_at=at)
        await store.put(poll, when=absent)
        for number, name in enumerate(["Go", "Go", "Rust", "Zig"]):
            await store.put(Vote(poll_id=poll_id, vote_id=UUID(int=number), rankings=[name], voted_at=at))
        told = f"{poll_id}: votes: 3, counted before: 0, counts changed: 2"
        unreadable = "; not counted, because they rank an unknown candidate: 1\n"
        capsys.readouterr()
        assert await recount() == (0, told + unreadable, "")
        assert {each.ranking: each.count for each in await store.all(CountRow.of_poll(poll_id))} == {(1,): 2, (2,): 1}
        again = f"{poll_id}: votes: 3, counted before: 3, counts changed: 0{unreadable}"
        assert await recount(UUID(int=0), poll_id) == (1, again, f"{UUID(int=0)}: there is no such poll\n")
        status, said, told = await recount("mine")
        assert (status, said) == (1, "")
        assert told.startswith("potluck: name a poll by its id")
    finally:
        await engine.close()
