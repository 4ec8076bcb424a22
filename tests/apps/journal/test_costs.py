"""What each call costs, counted; the README has the same table."""

from pathlib import Path
from typing import Any

import potluck.apps.journal
from potluck.apps.journal import account, comments, entries, links, search, stats, threads
from potluck.apps.journal.app import JournalApp
from potluck.apps.journal.context import journal_context
from potluck.apps.journal.entities import Sections, SessionMetrics, roll_model
from potluck.people.entities import accounts
from potluck.store import Store
from potluck.web.direct_calls import Direct
from tests.apps.call_costs import CallCosts
from tests.apps.worlds import registered
from tests.engine_targets import EMBEDDED
from tests.people.assembly import Clock
from tests.stores import recorded_store
from tests.web.cores import core_on

README = Path(potluck.apps.journal.__file__).with_name("README.md")
METRICS = SessionMetrics(duration_minutes=60, intensity=5, rounds=3, gi_or_no_gi="gi")


async def measured(folder: Path) -> CallCosts:
    """Each call with its requests, read units and write units, in a journal where everything is small."""
    async with recorded_store(EMBEDDED, folder, accounts, roll_model) as (store, recording):
        costs = CallCosts(recording)
        cost = costs.count
        clock = Clock()
        rows = Store(store.engine, clock)
        core = core_on(rows, clock)
        direct = Direct(core, JournalApp.subjects, journal_context(core, bytes(32)))
        mara, renzo = [await registered(rows, name, f"{name}@example.com") for name in ("Mara", "Renzo")]

        def written(shared: str, private: str = "") -> Any:
            return entries.NewEntry(sections=Sections(shared=shared, private=private), session_metrics=METRICS)

        # How many there are is counted with the first of each kind, and again ten minutes later.
        first = await direct.do(entries.add_entry, mara, written("mount"))
        made = await cost("invite a coach", direct.do(
            links.request_link, mara, links.NewLink(coach_email="renzo@example.com")
        ))  # fmt: skip
        await cost("accept that", direct.join(renzo, made.token, links.APP, links.join))
        entry = await cost("write an entry of five words", direct.do(
            entries.add_entry, mara, written("armbar from guard", "knee hurts")
        ))  # fmt: skip
        of = {"entry_id": entry.entry_id}
        await cost("read an entry, as its athlete", direct.read(entries.one_entry, mara, **of))
        await cost("read an entry, as a coach", direct.read(entries.one_entry, renzo, **of))
        nothing = entries.EntryFilter()
        await cost("one's own entries", direct.list(entries.own_entries, mara, nothing))
        its = {"athlete_id": mara.user_id}
        await cost("an athlete's entries", direct.list(entries.entries_of_athlete, renzo, nothing, **its))
        change = entries.EntryChange(sections=entries.SectionsChange(shared="kimura from guard"))
        entry = await cost("change a word", direct.do(entries.change_entry, mara, change, version=1, **of))
        await direct.do(comments.add_comment, renzo, comments.NewComment(body="First."), **of)
        comment = await cost("comment", direct.do(
            comments.add_comment, renzo, comments.NewComment(body="Hips first."), **of
        ))  # fmt: skip
        await cost("the comments on an entry", direct.list(comments.comments_on, mara, **of))
        hiding = comments.CommentChange(visibility="hiddenByAthlete")
        ids = {**of, "comment_id": comment.comment_id}
        await cost("hide a comment", direct.do(comments.change_comment, mara, hiding, version=1, **ids))
        await cost("search one word, as its athlete", direct.read(search.find, mara, search.Wanted(q="kimura")))
        wanted = search.Wanted(q="kimura", athlete_id=mara.user_id)
        await cost("search one word, as a coach", direct.read(search.find, renzo, wanted))
        await cost("a year's statistics", direct.read(stats.training_stats, mara, stats.StatsOf()))
        await cost("one's athletes", direct.read(links.own_athletes, renzo))
        await cost("one's links", direct.read(links.own_links, mara))
        await direct.do(threads.begin_thread, mara, threads.NewThread(scope="private"))
        thread = await cost("begin a conversation", direct.do(
            threads.begin_thread, mara, threads.NewThread(scope="private")
        ))  # fmt: skip
        said = {"thread_id": thread.thread_id}
        question = threads.NewMessage(content="kimura?")
        await direct.do(threads.ask, mara, question, **said)
        await cost("ask about one word", direct.do(threads.ask, mara, question, **said))
        await cost("read a conversation", direct.list(threads.said_in, mara, **said))
        response = await direct.read(account.export_journal, mara)
        await cost("export two entries", _whole(response))
        await cost("end a link", direct.do(links.end_link, mara, links.WhichSide(), user_id=renzo.user_id))
        await cost("delete an entry", direct.do(entries.delete_entry, mara, entry_id=first.entry_id))
    return costs


async def _whole(response: Any) -> bytes:
    return b"".join([piece async for piece in response.body_iterator])


async def test_the_readme_says_what_each_call_costs(tmp_path: Path):
    (await measured(tmp_path)).must_be_in(README)
