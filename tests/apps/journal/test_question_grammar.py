"""Questions made of every measure, period and filter, recounted; and with a word too many, which has no reading."""

import inspect
import random
from collections.abc import Callable
from itertools import product

import pytest

from potluck.apps.journal.assistant.grammar import GRAMMAR
from tests.apps.journal.test_questions import (
    MAY,
    OCTOBER,
    Q3,
    ROWS,
    YEAR,
    Pick,
    Row,
    answer,
    any_day,
    both,
    cited,
    days,
    gi,
    has,
    hours,
    intensity,
    no_gi,
    on,
    only_count,
    read,
    rounds,
)

SEED = 7
SAMPLE = 400


# How it is asked, with places for a filter and a period; what the answer begins with.
MEASURES: dict[str, Callable[[list[Row]], str]] = {
    "How many sessions {filter} {period}?": only_count,
    "number of trainings {filter} {period}": only_count,
    "{period}, how many times did I train {filter}": only_count,
    "how often have I trained {filter} {period}?": only_count,
    "can you tell me how many classes I attended {filter} {period}": only_count,
    "total hours {filter} {period}": hours,
    "How much time did I spend on the mats {filter} {period}?": hours,
    "what's my mat time {filter} {period}?": hours,
    "How many rounds did I do {filter} {period}?": rounds,
    "sum of rounds {filter} {period}": rounds,
    "What was my average intensity {filter} {period}?": intensity,
    "how hard did I train {filter} {period}": intensity,
    "did I train {filter} {period}?": lambda rows: f"Yes: {only_count(rows)}",
    "show me the sessions {filter} {period}": only_count,
    "When did I last train {filter} {period}?": lambda rows: f"On {rows[-1].day.day} ",
}
PERIODS: dict[str, Pick] = {
    "in May": MAY,
    "in Q3": Q3,
    "this year": YEAR,
    "last month": OCTOBER,
    "between April and June": days((2026, 4, 1), (2026, 6, 30)),
    "since 3 August": days((2026, 8, 3), (2026, 11, 18)),
    "in the second half of July": days((2026, 7, 16), (2026, 7, 31)),
    "during the last 60 days": days((2026, 9, 20), (2026, 11, 18)),
    "before April": days((2025, 1, 1), (2026, 3, 31)),
    "": any_day,
}
FILTERS: dict[str, Pick] = {
    "": any_day,
    "in the gi": gi,
    "no-gi": no_gi,
    "on Mondays": on(0),
    "in the evening": lambda row: row.hour >= 17,
    "with intensity 6 or more": lambda row: row.intensity >= 6,
    "for at least 90 minutes": lambda row: row.minutes >= 90,
    "with more than 4 rounds": lambda row: row.rounds > 4,
    "with half guard": has("half guard"),
    "no-gi with intensity above 5": lambda row: no_gi(row) and row.intensity > 5,
    "on Fridays in the gi": both(on(4), gi),
    "but not on Saturdays": lambda row: not on(5)(row),
    "without drilling": lambda row: not has("drill")(row),
}


def rows_of(period: str, filter_: str) -> list[Row]:
    return [row for row in ROWS if PERIODS[period](row) and FILTERS[filter_](row)]


def has_an_answer(measure: str, period: str, filter_: str) -> bool:
    # "Did I train for at least 90 minutes in May?" asks for a total, and "Did I train?" for nothing in particular.
    about_nothing = measure.startswith(("did", "show", "what's my mat")) and not period + filter_
    return (
        bool(rows_of(period, filter_))
        and not about_nothing
        and not (measure.startswith("did") and "minutes" in filter_)
    )


ALL = [each for each in product(MEASURES, PERIODS, FILTERS) if has_an_answer(*each)]


def asked(measure: str, period: str, filter_: str) -> str:
    return " ".join(measure.format(period=period, filter=filter_).split()).lstrip(", ").replace(" ?", "?")


@pytest.mark.parametrize(("measure", "period", "filter_"), random.Random(SEED).sample(ALL, SAMPLE))
def test_every_measure_goes_with_every_period_and_filter(measure: str, period: str, filter_: str):
    question = asked(measure, period, filter_)
    rows = rows_of(period, filter_)
    found = answer(question)
    assert found.content.startswith(MEASURES[measure](rows)), found.content
    last = "When" in question
    assert cited(found) == ({rows[-1].number} if last else {row.number for row in rows})


# Each changes what is asked, and none is in the grammar.
SPOILERS = (
    "almost", "planned", "unless rainy", "twice as many", "hardly", "instead of running", "only sometimes",
    "supposedly", "says Leo", "per partner", "if injured", "except sometimes", "never", "neither", "roughly 12",
    "times 3", "minus two",
)  # fmt: skip


@pytest.mark.parametrize(("spoiler", "number"), [*product(SPOILERS, range(6))])
def test_a_word_too_many_means_no_reading(spoiler: str, number: int):
    chance = random.Random(f"{SEED} {spoiler} {number}")
    measure, period, filter_ = chance.choice(ALL)
    words = asked(measure, period, filter_).rstrip("?").split()
    place = chance.randrange(2, len(words) + 1)
    question = " ".join([*words[:place], spoiler, *words[place:]])
    assert read(question) is None, question


def test_a_long_text_is_no_question():
    assert read("How many sessions in the gi") is not None
    assert read("How many sessions" + " in the gi" * 30) is None


def test_every_meaning_takes_what_its_rule_has():
    """A rule whose meaning takes another number of values would fail only when somebody says it."""
    spelling = {
        category
        for category, rules in GRAMMAR.rules.items()
        if all(rule.constant is None and rule.meaning is None and not rule.key for rule in rules)
    }
    # A category that passes on a value is no mere spelling; nor is one whose values come from the words themselves.
    while passed := {
        category
        for category in spelling
        for rule in GRAMMAR.rules[category]
        if sum(item.category not in spelling and item.category != "Athlete" for item in rule.items if item.category)
        == 1
    }:
        spelling -= passed
    for rules in GRAMMAR.rules.values():
        for rule in rules:
            if rule.meaning is None or rule.meaning is round:
                continue
            counted = [item for item in rule.items if item.category and item.category not in {*spelling, "Athlete"}]
            least = sum(not item.optional for item in counted)
            for number in range(least, len(counted) + 1):
                inspect.signature(rule.meaning).bind(*range(number))
