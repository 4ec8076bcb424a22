"""How well and how fast things are found, compared with rapidfuzz and SQLite's FTS5: `python -m benchmarks.search`.

First in a household's library (`search_corpus.py`), by what people type there. Then among a hundred thousand titles
made up from the words below, each with an author and some in a collection. Of each of 300 titles, and of names, a query
is made: as it is, with one typo or two, with a word left out, with only its first 60 %, with its words shuffled; not
one that more than ten fit exactly.
"""

import argparse
import gc
import json
import os
import platform
import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from rapidfuzz import fuzz, process

from benchmarks.search_corpus import Question, Thing, household
from benchmarks.search_corpus import questions as household_questions
from benchmarks.typing_errors import dropped, shuffled, typo
from potluck.apps.library.search import SearchEntry, SearchIndex, best
from potluck.apps.library.search_words import words_of

RESULTS = Path(__file__).parent / "results"
MANY = 100_000
QUERIES = 300
EACH = 50
FIRST = 10
PEOPLE_TARGET, RECALL_TARGET, P95_TARGET = 0.98, 0.95, 100.0
BY_RANK = "select rowid from t where t match ? order by rank limit ?"
# Queries of these kinds may fit other names as well, which are then meant too.
ANY_OF = ("a word left out", "the first 60 %")

# Everything is made of these; a syllable more makes a name of them.
SEEDS = {
    "nouns": """harbour lantern orchard winter river mirror garden clockmaker island letter kitchen mountain shadow
engine widow cartographer bridge forest summer train piano window ferry library storm baker moth
ladder ocean stone sparrow tailor violin desert tower candle village market teacher painter salt
copper station cellar meadow feather compass anchor paper thief emperor daughter brother captain
keeper stranger rainbow silence memory""",
    "adjectives": """silent crooked golden last forgotten distant little broken hidden second burning frozen hollow
patient restless blue scarlet northern empty secret wandering ancient quiet bitter gentle borrowed
unlikely pale""",
    "syllables": "ka lo mi ren tas vel dor ana bri chi esk fal gor hul ivo jan kel lum nor osk pra quin rus sol tem",
}
NOUNS, ADJECTIVES, SYLLABLES = map(str.split, SEEDS.values())
PATTERNS = (
    "The {a} {n}", "{a} {n}s of {p}", "The {n} and the {m}", "A {n} in {p}", "{p}", "{n} of the {a} {m}",
    "The {a} {n} of {p}", "Under the {n}s of {p}", "{p} and the {a} {n}", "The {n} who lost {p}", "{m} {n}",
)  # fmt: skip


def made_up(many: int) -> list[tuple[str, str]]:
    """So many different titles, each with an author."""
    drawn = random.Random(2024)

    def name() -> str:
        return "".join(drawn.choices(SYLLABLES, k=drawn.randint(2, 4))).capitalize()

    found: dict[str, str] = {}
    while len(found) < many:
        words = {
            "a": drawn.choice(ADJECTIVES).capitalize(),
            "n": drawn.choice(NOUNS).capitalize(),
            "m": drawn.choice(NOUNS).capitalize(),
            "p": name(),
        }
        title = drawn.choice(PATTERNS).format(**words)
        found.setdefault(title, f"{name()} {name()}")
    return list(found.items())


def catalogue(titles: list[tuple[str, str]]) -> list[Thing]:
    """The titles as things to search, every fifth in a collection of about four."""
    drawn = random.Random(5)
    series: list[str] = []
    things = []
    for number, (title, by) in enumerate(titles):
        volume = None
        if number % 5 == 0:
            volume = number // 5 % 4 + 1
            if volume == 1:
                name = "".join(drawn.choices(SYLLABLES, k=3)).capitalize()
                series.append(f"{name} {drawn.choice(NOUNS)}s {drawn.choice(ADJECTIVES)}")
        things.append(Thing(number, title, (by,), series=series[-1] if volume else None, volume=volume))
    return things


# --- what people type -------------------------------------------------------------------------------------------------


KINDS: dict[str, Callable[[str, random.Random], str]] = {
    "as it is": lambda text, drawn: text,
    "one typo": typo,
    "two typos": lambda text, drawn: typo(typo(text, drawn), drawn),
    "a word left out": dropped,
    "the first 60 %": lambda text, drawn: text[: max(3, round(len(text) * 0.6))],
    "shuffled": shuffled,
}


def queries(titles: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Each with its kind, and the title that is meant."""
    drawn = random.Random(7)
    kinds = list(KINDS)
    found: list[tuple[str, str, str]] = []
    words = [(title.lower(), set(title.lower().split())) for title, _ in titles]
    while len(found) < QUERIES:
        title, _ = drawn.choice(titles)
        kind = kinds[len(found) % len(kinds)]
        query = KINDS[kind](title.lower(), drawn)
        said = set(query.split())
        # "the baker who" is as much the one title as two hundred others; nobody could say which is meant.
        fits = (1 for text, known in words if text.startswith(query) or said <= known)
        if len(list(islice(fits, FIRST + 1))) <= FIRST:
            found.append((kind, query, title))
    return found


def people_and_collections(things: list[Thing]) -> dict[str, list[Question]]:
    """The names of people and collections, in each of those ways that a name of two words allows."""
    drawn = random.Random(11)
    asked: dict[str, list[Question]] = {}
    for what in ("person", "collection"):
        named: dict[str, set[int]] = {}
        for thing in things:
            name = thing.people[0] if what == "person" else thing.series
            if name is not None:
                named.setdefault(name.lower(), set()).add(thing.number)
        some = list(islice(named, 5000))
        for kind in ("as it is", "one typo", "two typos", "a word left out", "the first 60 %"):
            questions = asked[f"{what}, {kind}"] = []
            while len(questions) < EACH:
                name = drawn.choice(some)
                text = name.split()[-1] if (what, kind) == ("person", "a word left out") else KINDS[kind](name, drawn)
                meant = set(named[name])
                if kind in ANY_OF:
                    said = set(text.split())
                    for other, numbers in named.items():
                        if other.startswith(text) or said <= set(other.split()):
                            meant |= numbers
                if len(meant) <= FIRST:
                    questions.append(Question(text, frozenset(meant)))
    return asked


# --- the sides --------------------------------------------------------------------------------------------------------

Search = Callable[[str], list[int]]


def ours(things: list[Thing]) -> Search:
    index = SearchIndex()
    collections: dict[str, UUID] = {}
    for thing in things:
        if thing.series is not None and thing.series not in collections:
            collections[thing.series] = UUID(int=len(things) + len(collections))
            index.put(SearchEntry(collections[thing.series], thing.series, is_collection=True))
        index.put(
            SearchEntry(
                UUID(int=thing.number),
                thing.title,
                thing.people,
                None if thing.series is None else collections[thing.series],
                order=thing.volume,
                isbn=thing.isbn,
            )
        )
    return lambda query: [each.id.int for each in best([index], query, FIRST)]


def _fields(thing: Thing) -> list[str]:
    """What the others get: everything in the form that ours compares, with the number where people type it."""
    said = (thing.title, *thing.people, f"{thing.series or ''} {thing.volume or ''}", thing.isbn or "")
    return [text for each in said if (text := " ".join(words_of(each)))]


def rapidfuzz_scan(things: list[Thing]) -> Search:
    """rapidfuzz's own best scorer over everything that is known of each item."""
    texts = [" ".join(_fields(each)) for each in things]

    def search(query: str) -> list[int]:
        text = " ".join(words_of(query))
        return [place for _, _, place in process.extract(text, texts, scorer=fuzz.WRatio, limit=FIRST)]

    return search


def rapidfuzz_titles(things: list[Thing]) -> Search:
    texts = [" ".join(words_of(each.title)) for each in things]

    def search(query: str) -> list[int]:
        text = " ".join(words_of(query))
        return [place for _, _, place in process.extract(text, texts, scorer=fuzz.token_sort_ratio, limit=FIRST)]

    return search


def fts5(tokenizer: str, things: list[Thing]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(f"create virtual table t using fts5(said, tokenize='{tokenizer}')")
    rows = ((thing.number, " ".join(_fields(thing))) for thing in things)
    database.executemany("insert into t (rowid, said) values (?, ?)", rows)
    database.commit()
    return database


def fts5_words(things: list[Thing]) -> Search:
    """All words, the last one as a prefix."""
    database = fts5("unicode61 remove_diacritics 2", things)

    def search(query: str) -> list[int]:
        words = words_of(query)
        wanted = " ".join(f'"{each}"' for each in words[:-1]) + f' "{words[-1]}"*'
        return [number for (number,) in database.execute(BY_RANK, (wanted, FIRST))]

    return search


def fts5_trigrams(things: list[Thing]) -> Search:
    """Any of the query's trigrams, by bm25; what is too short to have one, as a part of the text."""
    database = fts5("trigram", things)

    def search(query: str) -> list[int]:
        text = " ".join(words_of(query))
        trigrams = dict.fromkeys(text[start : start + 3] for start in range(len(text) - 2))
        if not trigrams:
            asked = "select rowid from t where said like ? limit ?"
            return [number for (number,) in database.execute(asked, (f"%{text}%", FIRST))]
        wanted = " OR ".join(f'"{each}"' for each in trigrams)
        return [number for (number,) in database.execute(BY_RANK, (wanted, FIRST))]

    return search


SIDES: dict[str, Callable[[list[Thing]], Search]] = {
    "potluck": ours,
    "SQLite FTS5, trigrams": fts5_trigrams,
    "SQLite FTS5, words": fts5_words,
    "rapidfuzz, everything": rapidfuzz_scan,
    "rapidfuzz, titles": rapidfuzz_titles,
}


# --- measuring --------------------------------------------------------------------------------------------------------


class Score(NamedTuple):
    """How well the questions of a class were answered, on average, and in what processor time."""

    recall: float
    """Of those that were meant, or of ten if there are more, how many are among the first ten."""
    reciprocal_rank: float
    precision: float
    """Of those that were answered, how many were meant. Where nothing is meant, an empty answer is right."""
    median_ms: float
    p95_ms: float


def score(search: Search, questions: list[Question]) -> Score:
    recalls, ranks, precisions, times = [], [], [], []
    for text, meant in questions:
        start = time.process_time()
        found = search(text)
        times.append((time.process_time() - start) * 1000)
        hits = len(meant & set(found))
        nothing_wrong = float(not meant and not found)
        recalls.append(hits / min(FIRST, len(meant)) if meant else nothing_wrong)
        ranks.append(next((1 / rank for rank, each in enumerate(found, 1) if each in meant), nothing_wrong))
        precisions.append(hits / len(found) if found else nothing_wrong)
    p95 = statistics.quantiles(times, n=20)[-1]
    means = (statistics.mean(each) for each in (recalls, ranks, precisions))
    return Score(*means, statistics.median(times), p95)


def measured(
    things: list[Thing], asked: dict[str, list[Question]], sides: Iterable[str]
) -> dict[str, dict[str, Score]]:
    """By side, the score of each class; with the time and the memory that its index takes."""
    results: dict[str, dict[str, Score]] = {}
    for name in sides:
        gc.collect()
        start = time.process_time()
        search = SIDES[name](things)
        built = time.process_time() - start
        results[name] = {kind: score(search, questions) for kind, questions in asked.items()}
        print(f"{len(things):,} titles, {name}: built in {built:.1f} s", flush=True)
        del search
    return results


def lost(found: dict[str, dict[str, Score]], what: str) -> list[str]:
    """Where another side is better than ours, by class."""
    ours_of = found["potluck"]
    return [
        f"{kind}: {name} {getattr(each, what):.3f}, ours {getattr(ours_of[kind], what):.3f}"
        for name, by_kind in found.items()
        for kind, each in by_kind.items()
        if getattr(each, what) > getattr(ours_of[kind], what) + 0.0005
    ]


def table(found: dict[str, dict[str, Score]], asked: dict[str, list[Question]], *columns: str) -> list[str]:
    lines = []
    for column in columns:
        lines += ["", f"**{column.replace('_', ' ')}**", "", f"| class | queries | {' | '.join(found)} |"]
        lines.append("|---|---:" + "|---:" * len(found) + "|")
        for kind, questions in asked.items():
            digits = 1 if column.endswith("ms") else 3
            values = (f"{getattr(by_kind[kind], column):.{digits}f}" for by_kind in found.values())
            lines.append(f"| {kind} | {len(questions)} | {' | '.join(values)} |")
    return lines


def made_up_questions(things: list[Thing], titles: list[tuple[str, str]]) -> dict[str, list[Question]]:
    numbers = {thing.title: thing.number for thing in things}
    asked: dict[str, list[Question]] = {f"title, {kind}": [] for kind in KINDS}
    for kind, text, title in queries(titles):
        asked[f"title, {kind}"].append(Question(text, frozenset({numbers[title]})))
    return asked | people_and_collections(things)


def markdown(parts: list[tuple[list[Thing], dict[str, list[Question]], dict[str, dict[str, Score]]]]) -> str:
    lines = [
        "# Search",
        "",
        f"`python -m benchmarks.search`, Python {platform.python_version()}, rapidfuzz {version('rapidfuzz')},"
        f" SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores. Each figure is the mean over the queries of a"
        " class; times are processor time.",
    ]
    for things, asked, found in parts:
        lines += ["", f"## {len(things):,} titles"]
        columns = ("recall", "reciprocal_rank", "precision") if len(things) < MANY else ("recall",)
        lines += table(found, asked, *columns, "median_ms", "p95_ms")
        if len(found) > 1:
            worse = lost(found, "recall")
            lines += ["", "Another side finds more in: " + ("; ".join(worse) or "no class") + "."]
    of_household = parts[0][2]["potluck"]
    people = min(of_household["surname"].recall, of_household["surname, one typo"].recall)
    lines += [
        "",
        f"Held to: surnames, as they are and with a typo, at a recall@10 of {PEOPLE_TARGET}: {people:.3f},"
        f" {'met' if people >= PEOPLE_TARGET else 'NOT met'}.",
    ]
    for things, _, found in parts[1:]:
        lowest = min(found["potluck"].items(), key=lambda each: each[1].recall)
        slowest = max(found["potluck"].items(), key=lambda each: each[1].p95_ms)
        lines += [
            f"On {len(things):,} titles, each class at {RECALL_TARGET}: {lowest[0]} {lowest[1].recall:.3f},"
            f" {'met' if lowest[1].recall >= RECALL_TARGET else 'NOT met'}, and a p95 under {P95_TARGET:.0f} ms:"
            f" {slowest[0]} {slowest[1].p95_ms:.1f} ms, {'met' if slowest[1].p95_ms < P95_TARGET else 'NOT met'}.",
        ]
    return "\n".join(lines) + "\n"


def keep(parts: list[tuple[list[Thing], dict[str, list[Question]], dict[str, dict[str, Score]]]]) -> None:
    text = markdown(parts)
    RESULTS.joinpath("search.md").write_text(text)
    figures = {
        len(things): {side: {kind: each._asdict() for kind, each in by_kind.items()} for side, by_kind in found.items()}
        for things, _, found in parts
    }
    RESULTS.joinpath("search.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the household's library")
    quick = parser.parse_args().quick
    things = household()
    asked = household_questions(things)
    parts = [(things, asked, measured(things, asked, SIDES))]
    # Kept now, too: the rest takes long on a busy machine.
    keep(parts)
    if not quick:
        titles = made_up(MANY)
        many = catalogue(titles)
        asked = made_up_questions(many, titles)
        parts.append((many, asked, measured(many, asked, ["potluck", "SQLite FTS5, trigrams", "rapidfuzz, titles"])))
        keep(parts)


if __name__ == "__main__":
    main()
