"""Answers that would be easy to get slightly wrong: close averages, ties, months that are not whole."""

from datetime import timedelta
from itertools import pairwise

import pytest

from potluck.apps.journal.assistant.evidence import TrainingSession
from tests.apps.journal.test_questions import (
    JANUARY,
    JULY,
    JUNE,
    ROWS,
    SESSIONS,
    Pick,
    answer,
    cited,
    long,
    month,
    read,
)


def mean(pick: Pick, measure: str) -> float:
    values = [getattr(row, measure) for row in ROWS if pick(row)]
    return sum(values) / len(values)


# --- comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "Compare my average intensity in August and September",
        "Did I train harder in August or September?",
        "Was my intensity higher in August than in September?",
    ],
)
def test_averages_that_round_to_the_same_number_are_still_told_apart(question: str):
    august, september = mean(month(8), "intensity"), mean(month(9), "intensity")
    assert august != september
    assert f"{august:.1f}" == f"{september:.1f}"
    said = answer(question).content
    assert f": {august:.2f} of 10" in said
    assert f": {september:.2f} of 10" in said
    assert f"That is {abs(august - september):.2f} more in September 2026." in said


@pytest.mark.parametrize(
    ("question", "one", "other", "measure"),
    [
        ("Compare my rounds per session in January with July", JANUARY, JULY, "rounds"),
        ("How many rounds per session in January and in July?", JANUARY, JULY, "rounds"),
        ("Did I do more rounds per session in June than in July?", JUNE, JULY, "rounds"),
        ("average session length in June compared to July", JUNE, JULY, "minutes"),
    ],
)
def test_per_session_is_compared_per_session(question: str, one: Pick, other: Pick, measure: str):
    digits = 1 if measure == "rounds" else 0
    found = answer(question)
    for pick in (one, other):
        assert f": {mean(pick, measure):.{digits}f} {measure} a session" in found.content
    assert "Together" not in found.content
    assert cited(found) == {row.number for row in ROWS if one(row) or other(row)}


@pytest.mark.parametrize(
    "question",
    [
        "Compare average sessions per week in January and February",
        "average hours per week in January vs February",
        "What is my average longest session?",
    ],
)
def test_a_measure_that_the_reading_does_not_use_means_no_reading(question: str):
    assert read(question) is None


# --- ties -------------------------------------------------------------------------------------------------------------


def test_a_shared_record_is_said_to_be_shared():
    trained = sorted({row.day for row in ROWS})
    pairs = [after for before, after in pairwise(trained) if after - before == timedelta(days=1)]
    said = answer("longest streak?").content
    assert said.startswith(f"2 days in a row is the longest streak, reached {len(pairs)} times, the latest time from ")
    tags: dict[str, int] = {}
    for row in ROWS:
        for tag in row.tags:
            tags[tag] = tags.get(tag, 0) + 1
    fifth = sorted(tags.values(), reverse=True)[4]
    said = answer("What are my most used tags?").content
    for tag, number in tags.items():
        assert (f"“{tag}” {number}" in said) == (number >= fifth)
    longest = [row for row in ROWS if row.minutes == max(each.minutes for each in ROWS)]
    assert (
        f"{len(longest) - 3} more sessions have {longest[0].minutes} minutes, too."
        in answer("3 longest sessions").content
    )


def test_two_breaks_of_the_same_length_are_both_named():
    trained = sorted({each.day for each in SESSIONS})[-40:]
    some = [trained[0] + timedelta(days=ago) for ago in (0, 9, 12, 21)]
    sessions = [TrainingSession(SESSIONS[0].entry, day) for day in reversed(some)]
    said = answer("longest break?", sessions=sessions).content
    assert said.startswith("8 days without a session: ")
    for before, after in (some[:2], some[2:]):
        assert f"between {long(before)} and {long(after)}" in said


# --- months that are not whole ----------------------------------------------------------------------------------------


def test_a_month_that_is_not_whole_does_not_win_the_least():
    months: dict[tuple[int, int], int] = {}
    for row in ROWS:
        months[row.day.year, row.day.month] = months.get((row.day.year, row.day.month), 0) + 1
    whole = {key: number for key, number in months.items() if key not in ((2025, 11), (2026, 11))}
    assert min(months, key=lambda key: months[key]) not in whole, "the demo should begin in the middle of a month"
    found = answer("Which month did I train least?")
    assert found.content.startswith(f"April 2026: the fewest sessions, with {min(whole.values())} sessions.")
    assert f"November 2025 (the first session that I can read is on {long(ROWS[0].day)})" in found.content
    assert "November 2026 (not over yet)" in found.content
    assert cited(found) == {row.number for row in ROWS if (row.day.year, row.day.month) == (2026, 4)}
