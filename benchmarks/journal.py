"""How good the journal's search is, and what it costs: `python -m benchmarks.journal`.

A made-up journal of 3,000 entries, in which each is about one thing and mentions another, and 300 questions about those
things. What is relevant is known from how an entry was made, not from the words in it: words of a thing are left out,
shared with others and used in passing. Rankings are held against it by nDCG@10: ours, as the app finds it in the
embedded engine; the newest first; the number of words that match; and the bm25 of SQLite's FTS5.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import log2
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from benchmarks.measuring import percentile, say
from potluck.apps.journal.entities import Entry, EntryMeta, Sections, SessionMetrics, roll_model
from potluck.apps.journal.journals import WholeJournal
from potluck.apps.journal.keywords import row_of, words_of_entry
from potluck.apps.journal.ranking import query_words
from potluck.apps.journal.search import found_in
from potluck.apps.journal.tokenizer import words_in
from potluck.engines import open_engine
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import Entity, absent, put
from potluck.table.operations import Operation

RESULTS = Path(__file__).parent / "results"
ENTRIES, QUESTIONS, THINGS = 3_000, 300, 60
LOOKED_AT = 10
ATHLETE = UUID(int=1)
SEED = 2039

# What everybody writes in every entry.
COMMON = words_in(
    "today round rounds felt good tired slow again late left right side kept lost tried worked first last "
    "class warm up partner bigger heavier drill drilled live open mat coach said breath grip grips knee "
    "hip hips head arm elbow weight "
)


class Written(NamedTuple):
    entry: Entry
    grades: dict[int, int]
    """How much it is about each thing."""


class Question(NamedTuple):
    text: str
    about: int


def vocabulary(chance: random.Random) -> list[list[str]]:
    """The words of each thing: some that only it has, some that it shares with others, the usual ones first."""
    letters = "bcdfghklmnprstvw"
    made = [f"{a}{b}{c}{d}o" for a in letters for b in "aeiou" for c in letters[:6] for d in letters[6:12]]
    chance.shuffle(made)
    words = iter(made)
    pool = list(islice(words, 90))
    return [[next(words), next(words), *chance.sample(pool, 4), next(words), next(words)] for _ in range(THINGS)]


def journal(chance: random.Random, things: list[list[str]]) -> list[Written]:
    began = datetime(2030, 1, 1, 18, tzinfo=UTC)
    found = []
    for number in range(ENTRIES):
        main, other = chance.sample(range(THINGS), 2)
        length = chance.choice((15, 25, 40, 80, 160))
        text = chance.choices(COMMON, k=length)
        # Usual words often, unusual ones now and then.
        text += chance.choices(things[main], weights=(8, 7, 6, 5, 4, 3, 2, 1), k=chance.randint(3, 8))
        text += chance.choices(things[other], weights=(8, 7, 6, 5, 4, 3, 2, 1), k=chance.randint(0, 2))
        # A word in passing says nothing about what the entry is about.
        text += [chance.choice(chance.choice(things)) for _ in range(chance.randint(0, 3))]
        chance.shuffle(text)
        when = began + timedelta(hours=number * 26)
        half = chance.randrange(len(text))
        entry = Entry(
            entry_id=UUID(int=chance.getrandbits(128), version=4),
            athlete_id=ATHLETE,
            created_at=when,
            updated_at=when,
            sections=Sections(shared=" ".join(text[:half]), private=" ".join(text[half:])),
            session_metrics=SessionMetrics(duration_minutes=60, intensity=5, rounds=3, gi_or_no_gi="gi"),
            date=when,
        )
        found.append(Written(entry, {main: 2, other: 1}))
    return found


def questions(chance: random.Random, things: list[list[str]]) -> list[Question]:
    found = []
    for number in range(QUESTIONS):
        about = number % THINGS
        words = chance.sample(things[about], chance.randint(1, 4)) + chance.sample(COMMON, chance.randint(0, 2))
        chance.shuffle(words)
        found.append(Question(" ".join(words), about))
    return found


def ndcg(order: Sequence[UUID], grades: dict[UUID, int]) -> float:
    """How good the first ten are, 1 being as good as they could be."""
    gained = sum((2 ** grades.get(each, 0) - 1) / log2(place + 2) for place, each in enumerate(order[:LOOKED_AT]))
    best = sorted(grades.values(), reverse=True)[:LOOKED_AT]
    return gained / sum((2**each - 1) / log2(place + 2) for place, each in enumerate(best))


# --- the others -------------------------------------------------------------------------------------------------------


def text_of(entry: Entry) -> str:
    return f"{entry.sections.shared} {entry.sections.private}"


def by_count(written: Sequence[Written]) -> Callable[[str], list[UUID]]:
    having = {each.entry.entry_id: set(words_in(text_of(each.entry))) for each in written}
    newest = [each.entry.entry_id for each in sorted(written, key=lambda each: each.entry.date, reverse=True)]

    def search(question: str) -> list[UUID]:
        wanted = set(words_in(question))
        found = [each for each in newest if wanted & having[each]]
        return sorted(found, key=lambda each: -len(wanted & having[each]))

    return search


def by_time(written: Sequence[Written]) -> Callable[[str], list[UUID]]:
    having = {each.entry.entry_id: set(words_in(text_of(each.entry))) for each in written}
    newest = [each.entry.entry_id for each in sorted(written, key=lambda each: each.entry.date, reverse=True)]

    def search(question: str) -> list[UUID]:
        wanted = set(words_in(question))
        return [each for each in newest if wanted & having[each]]

    return search


def by_fts5(written: Sequence[Written]) -> Callable[[str], list[UUID]]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE entries USING fts5(id UNINDEXED, body)")
    rows = [(str(each.entry.entry_id), text_of(each.entry)) for each in written]
    database.executemany("INSERT INTO entries VALUES (?, ?)", rows)

    def search(question: str) -> list[UUID]:
        wanted = " OR ".join(f'"{word}"' for word in words_in(question))
        sql = "SELECT id FROM entries WHERE entries MATCH ? ORDER BY bm25(entries) LIMIT ?"
        return [UUID(each) for (each,) in database.execute(sql, (wanted, LOOKED_AT))]

    return search


# --- the run ----------------------------------------------------------------------------------------------------------


async def measured() -> tuple[dict[str, float], dict[str, float]]:
    chance = random.Random(SEED)
    things = vocabulary(chance)
    written, asked = journal(chance, things), questions(chance, things)
    others = {"newest first": by_time(written), "match count": by_count(written), "FTS5 bm25": by_fts5(written)}
    scores: dict[str, list[float]] = {"ours": [], **{name: [] for name in others}}
    seconds, units, calls = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(await open_engine(path=Path(folder) / "journal.db"))
        store = Store(recording, lambda: datetime.now(UTC))
        await store.create_tables(roll_model)
        say(f"writing {ENTRIES:,} entries")
        for start in range(0, ENTRIES, 50):
            some = [each.entry for each in written[start : start + 50]]
            rows = [
                row
                for entry in some
                for row in (entry, *(row_of(entry, word) for word in words_of_entry(entry)), _meta(entry))
            ]
            await store.write_each([_put(row) for row in rows])
        say(f"asking {QUESTIONS} questions")
        own = WholeJournal(store, ATHLETE)
        for question in asked:
            grades = {
                each.entry.entry_id: each.grades[question.about] for each in written if question.about in each.grades
            }
            began = time.perf_counter()
            with recording.scope() as made:
                found = await found_in(own, query_words(question.text))
            seconds.append(time.perf_counter() - began)
            units.append(made.read_units)
            calls.append(len(made.operations))
            scores["ours"].append(ndcg([each.entry.entry_id for each in found], grades))
            for name, search in others.items():
                scores[name].append(ndcg(search(question.text), grades))
        await recording.close()
    costs = {
        "milliseconds, median": statistics.median(seconds) * 1_000,
        "milliseconds, p99": percentile(seconds, 0.99) * 1_000,
        "calls, median": statistics.median(calls),
        "read units, median": statistics.median(units),
    }
    return {name: statistics.mean(each) for name, each in scores.items()}, costs


def _keyword_rows(entry: Entry) -> list[Entity]:
    return [row_of(entry, word) for word in words_of_entry(entry)]


def _meta(entry: Entry) -> EntryMeta:
    return EntryMeta(entry_id=entry.entry_id, athlete_id=entry.athlete_id, created_at=entry.created_at, date=entry.date)


def _put(row: Entity) -> Operation:
    return put(row, when=absent) if isinstance(row, Entry) else put(row)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    began = time.monotonic()
    scores, costs = asyncio.run(measured())
    ratio = scores["ours"] / scores["FTS5 bm25"]
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; {ENTRIES:,} entries, "
        f"{QUESTIONS} questions, seed {SEED}. The run took {time.monotonic() - began:.0f} s."
    )
    lines = ["| ranking | nDCG@10 |", "|---|---:|", *(f"| {name} | {score:.3f} |" for name, score in scores.items())]
    lines += ["", f"Ours is {ratio:.2f} of FTS5's bm25; the target is 0.95.", "", "| a search | |", "|---|---:|"]
    lines += [f"| {name} | {value:,.1f} |" for name, value in costs.items()]
    text = f"# The journal's search, last measured\n\n{machine}\n\n" + "\n".join(lines) + "\n"
    (RESULTS / "journal.md").write_text(text)
    found = {"machine": machine, "ndcg": scores, "ratio": ratio, "costs": costs}
    (RESULTS / "journal.json").write_text(json.dumps(found, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
