"""How well and how fast titles are found, beside a rapidfuzz scan and SQLite's FTS5: `python -m benchmarks.search`.

The titles are made up from the words below. Of each of 300 of them a query is made: as it is, with one typo or two,
with a word left out, with only its first 60 %, with its words shuffled; not one that more than ten titles fit exactly.
It is found if it is among the first ten.
"""

import argparse
import gc
import json
import os
import platform
import random
import resource
import sqlite3
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from rapidfuzz import fuzz, process

from potluck.apps.library.search import Entry, SearchIndex, best, words_of

RESULTS = Path(__file__).parent / "results"
MANY, VERY_MANY = 100_000, 1_000_000
QUERIES = 300
FIRST = 10
RECALL_TARGET, P95_TARGET = 0.95, 100.0

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
LETTERS = "abcdefghijklmnopqrstuvwxyz"


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


# --- what people type -------------------------------------------------------------------------------------------------


def typo(text: str, drawn: random.Random) -> str:
    """One letter too many, too few, another one, or two swapped."""
    place = drawn.randrange(len(text) - 1)
    return drawn.choice(
        [
            text[:place] + text[place + 1 :],
            text[:place] + drawn.choice(LETTERS) + text[place:],
            text[:place] + drawn.choice(LETTERS) + text[place + 1 :],
            text[:place] + text[place + 1] + text[place] + text[place + 2 :],
        ]
    )


def dropped(text: str, drawn: random.Random) -> str:
    words = text.split()
    if len(words) > 2:
        del words[drawn.randrange(len(words))]
    return " ".join(words)


def shuffled(text: str, drawn: random.Random) -> str:
    words = text.split()
    drawn.shuffle(words)
    return " ".join(words)


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


# --- the sides --------------------------------------------------------------------------------------------------------


def ours(titles: list[tuple[str, str]]) -> Callable[[str], list[str]]:
    index = SearchIndex()
    names = {}
    for number, (title, author) in enumerate(titles):
        index.put(Entry(id=UUID(int=number), title=title, others=(author,)))
        names[number] = title
    return lambda query: [names[each.id.int] for each in best([index], query, FIRST)]


def scanned(titles: list[tuple[str, str]]) -> Callable[[str], list[str]]:
    folded = [" ".join(words_of(title)) for title, _ in titles]
    return lambda query: [
        titles[place][0] for _, _, place in process.extract(query, folded, scorer=fuzz.token_sort_ratio, limit=FIRST)
    ]


def full_text(titles: list[tuple[str, str]]) -> Callable[[str], list[str]]:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(title, author, tokenize='unicode61 remove_diacritics 2')")
    database.executemany("insert into t values (?, ?)", titles)
    database.commit()

    def search(query: str) -> list[str]:
        words = words_of(query)
        wanted = " ".join(f'"{each}"' for each in words[:-1]) + f' "{words[-1]}"*'
        asked = "select title from t where t match ? order by rank limit ?"
        return [title for (title,) in database.execute(asked, (wanted, FIRST))]

    return search


SIDES = {"potluck": ours, "rapidfuzz, every title": scanned, "SQLite FTS5, by words": full_text}


def measured(many: int, sides: dict[str, Any]) -> dict[str, Any]:
    titles = made_up(many)
    wanted = queries(titles)
    results: dict[str, Any] = {}
    for name, make in sides.items():
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        search = make(titles)
        built = time.perf_counter() - start
        times, hits, firsts = [], dict.fromkeys(KINDS, 0), 0
        for kind, query, title in wanted:
            start = time.perf_counter()
            found = search(query)
            times.append((time.perf_counter() - start) * 1000)
            hits[kind] += title in found
            firsts += title in found[:3]
        each = QUERIES / len(KINDS)
        results[name] = {
            "recall": sum(hits.values()) / QUERIES,
            "first_three": firsts / QUERIES,
            "by_kind": {kind: count / each for kind, count in hits.items()},
            "median_ms": statistics.median(times),
            "p95_ms": statistics.quantiles(times, n=20)[-1],
            "built_seconds": built,
            "grew_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        }
        print(many, name, json.dumps(results[name]), flush=True)
        del search
    return results


def markdown(found: dict[int, dict[str, Any]]) -> str:
    lines = [
        "# Search",
        "",
        f"`python -m benchmarks.search`, Python {platform.python_version()}, rapidfuzz {version('rapidfuzz')},"
        f" SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores. {QUERIES} queries in equal parts: "
        + ", ".join(KINDS)
        + ".",
    ]
    for many, sides in found.items():
        lines += ["", f"## {many:,} titles", "", "| | recall@10 | first three | median | p95 | built in | "
                  + " | ".join(KINDS) + " |", "|---" * (6 + len(KINDS)) + "|"]  # fmt: skip
        for name, each in sides.items():
            kinds = " | ".join(f"{value:.2f}" for value in each["by_kind"].values())
            lines.append(
                f"| {name} | {each['recall']:.3f} | {each['first_three']:.3f} | {each['median_ms']:.1f} ms |"
                f" {each['p95_ms']:.1f} ms | {each['built_seconds']:.1f} s | {kinds} |"
            )
    ours_of = found[MANY]["potluck"]
    met = ours_of["recall"] >= RECALL_TARGET and ours_of["p95_ms"] < P95_TARGET
    lines += ["", f"Held to: recall@10 of {RECALL_TARGET} and a p95 under {P95_TARGET:.0f} ms on {MANY:,} titles:"
              f" {'met' if met else 'NOT met'}."]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the million titles")
    quick = parser.parse_args().quick
    found = {MANY: measured(MANY, SIDES)}
    if not quick:
        found[VERY_MANY] = measured(VERY_MANY, {"potluck": ours})
        RESULTS.joinpath("search.md").write_text(markdown(found))
        RESULTS.joinpath("search.json").write_text(json.dumps(found, indent=2) + "\n")
    print(markdown(found))


if __name__ == "__main__":
    main()
