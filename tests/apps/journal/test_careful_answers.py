"""Answers that would be easy to get slightly wrong: close averages, ties, months that are not whole."""

from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest

from potluck.apps.journal.assistant.answers import answer_to, answers_to
from potluck.apps.journal.assistant.evidence import TrainingSession
from potluck.apps.journal.assistant.limits import another_person, asks_what_is_shared, leaves_something_out
from potluck.apps.journal.assistant.questions import readings_of
from potluck.apps.journal.assistant.scope import Journal
from tests.apps.journal.test_questions import (
    CONTEXT,
    JANUARY,
    JULY,
    JUNE,
    NOTHING_THERE,
    ROWS,
    SESSIONS,
    TODAY,
    Pick,
    Row,
    answer,
    cited,
    has,
    knee_hurts,
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
        "Compare my average longest session in January and February",
        "average streak in January vs February",
        "What is my average longest session?",
    ],
)
def test_a_measure_that_the_reading_does_not_use_means_no_reading(question: str):
    assert read(question) is None


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("Compare average sessions per week in January and February", lambda rows: len(rows)),
        ("average hours per week in January vs February", lambda rows: sum(row.minutes for row in rows)),
    ],
)
def test_rates_are_compared_by_the_week(question: str, measure: Callable[[list[Row]], int]):
    said = answer(question).content
    for pick, days in ((JANUARY, 31), (month(2), 28)):
        rate = measure([row for row in ROWS if pick(row)]) / (days / 7)
        shown = (
            f": {rate:.1f} sessions a week" if "sessions" in question else f": {rate // 60:.0f} h {rate % 60:02.0f} a"
        )
        assert shown in said


@pytest.mark.parametrize(
    ("question", "unit", "number"),
    [
        ("In how many weeks did I train more than 3 times?", lambda day: day.isocalendar()[:2], 4),
        ("Which months had at least 10 sessions?", lambda day: (day.year, day.month), 10),
        ("On how many days did I train twice?", lambda day: day, 2),
    ],
)
def test_weeks_and_months_that_reach_a_number(question: str, unit: Callable[[date], Any], number: int):
    groups: dict[Any, list[Row]] = {}
    for row in ROWS:
        groups.setdefault(unit(row.day), []).append(row)
    reached = [rows for rows in groups.values() if len(rows) >= number]
    found = answer(question)
    assert found.content.startswith(f"{len(reached) or 'No'} ")
    assert cited(found) == {row.number for rows in reached for row in rows}


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
    some = [TODAY - timedelta(days=ago) for ago in (22, 13, 10, 1)]
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


# --- words without a meaning of their own -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What was the last thing I wrote?", f"On {long(ROWS[-1].day)}"),
        ("When did I first try the armbar?", f"On {long(next(row.day for row in ROWS if has('armbar')(row)))}"),
        ("What's the longest break I took?", "15 days without a session"),
        ("Has my coach ever told me anything about my hips?", "2 comments that mention “hips”."),
        ("What did Renzo tell me lately?", "3 comments by Renzo."),
        ("What does my coach keep telling me?", "3 comments."),
        ("What did Renzo say last time?", "The latest comment by Renzo:"),
    ],
)
def test_filler_words_are_not_looked_for(question: str, begins: str):
    assert answer(question).content.startswith(begins)


@pytest.mark.parametrize(
    "question",
    [
        "How many times was I grumpy?",
        "How often did I smash?",
        "How many times did armbars and berimbolos work together?",
    ],
)
def test_only_a_clear_thing_is_said_to_be_missing(question: str):
    reading = read(question)
    if reading is not None:
        found = answer(question)
        assert (found.content, found.closest) == ("", True)


@pytest.mark.parametrize(
    "question",
    [
        "Why did I stop training in June?", "How come I trained less in June?", "Did I do anything new?",
        "What's the reason I trained in March?",
    ],
)  # fmt: skip
def test_reasons_are_never_counted(question: str):
    assert read(question) is None


# --- the body, and how things went ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "How's my knee been?", "How is my knee?", "Is my knee bothering me?", "When did my knee act up?",
        "Is my knee getting better?", "Has my knee been ok?",
        "How's Mara's knee holding up?",
    ],
)  # fmt: skip
def test_the_state_of_a_part_of_the_body_is_read_from_pain_and_not_from_techniques(question: str):
    found = answer(question)
    assert cited(found) == {row.number for row in ROWS if knee_hurts(row)}
    assert "knee cut" not in found.content.lower()
    if question.startswith("How"):
        assert found.content.startswith("What the entries say about the knee")


def test_lately_is_the_last_four_weeks_and_says_so():
    recent = [row for row in ROWS if row.day > TODAY - timedelta(days=28)]
    found = answer("How has my knee been lately?")
    assert cited(found) == {row.number for row in recent if knee_hurts(row)}
    assert f"from {long(TODAY - timedelta(days=27))} to {long(TODAY)}" in found.content
    assert answer("How often have I trained recently?").content.startswith(f"{len(recent)} sessions from ")


def test_since_a_part_of_the_body_acted_up():
    last = [row for row in ROWS if knee_hurts(row)][-1]
    found = answer("How long since my knee last acted up?")
    assert found.content.startswith(f"{(TODAY - last.day).days} days: ")
    assert cited(found) == {last.number}


def test_how_something_went_is_answered_in_words_alone():
    found = answer("How did the tournament go?")
    assert found.content.startswith("What the entries say about “tournament”")
    assert all(each.quote for each in found.evidence)
    tagged = answer("How did the competition go?")
    assert any("competition class" in row.tags for row in ROWS)
    assert (tagged.content, tagged.closest) == ("", True)


# --- negatives of a part ----------------------------------------------------------------------------------------------


def test_every_negative_about_a_part_says_so():
    for question in (*NOTHING_THERE, "How many comments by Renzo in March 2024?"):
        reading = read(question)
        assert reading is not None
        found = answer_to(reading, Journal(SESSIONS, [], TODAY, "in what Mara shares"))
        assert found is not None
        assert found.content.startswith("In what Mara shares, no ")
    compared = read("Did I train more in March 2024 or in March 2026?")
    assert compared is not None
    found = answer_to(compared, Journal(SESSIONS, [], TODAY, "in the shared parts"))
    assert found is not None
    assert "That is in the shared parts." in found.content


# --- other people -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("How many times did Leo train in October?", "Leo"),
        ("When did Ida last train?", "Ida Berg"),
        ("what is leo's average intensity?", "Leo"),
        ("How is Ida doing?", "Ida Berg"),
        ("Did Jonas train last week?", "Jonas"),
        ("When did I last train?", "you"),
        ("How often did Mara train?", None),
        ("How often did she roll with Leo?", None),
        ("When did Mara's knee last hurt?", None),
        ("How was last week's training?", None),
        ("What did I tell Mara about hips?", None),
        ("Did Renzo comment on October's sessions?", None),
    ],
)
def test_another_person_is_recognised(question: str, who: str | None):
    assert another_person(question, "Mara", False, ["Leo", "Ida Berg"]) == who


# --- parts of the week and of the day, and two questions in one -------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "groups"),
    [
        (
            "Do I train more on weekdays or weekends?",
            {"weekdays": lambda row: row.day.weekday() < 5, "weekends": lambda row: row.day.weekday() >= 5},
        ),
        (
            "Do I train in the morning or in the evening?",
            {
                "the morning (before 12:00)": lambda row: row.hour < 12,
                "the afternoon (12:00 to 16:59)": lambda row: 12 <= row.hour < 17,
                "the evening (from 17:00)": lambda row: row.hour >= 17,
            },
        ),
    ],
)
def test_parts_of_the_week_and_of_the_day_are_set_against_each_other(question: str, groups: dict[str, Pick]):
    numbers = {name: len([row for row in ROWS if pick(row)]) for name, pick in groups.items()}
    said = answer(question).content
    best = max(numbers, key=lambda name: numbers[name])
    assert said.startswith(f"{best[:1].upper()}{best[1:]}: the most sessions, with {numbers[best]} sessions.")
    for name, number in numbers.items():
        assert f"{name} {number} session" in said


def test_days_with_two_sessions_are_counted():
    day = SESSIONS[3].day
    sessions = [*SESSIONS[:4], TrainingSession(SESSIONS[3].entry, day, 9), *SESSIONS[4:]]
    found = answer("Did I ever train twice in one day?", sessions=sessions)
    assert found.content == f"1 day with two or more sessions: {long(day)}."


def test_two_questions_in_one_are_both_answered_or_none():
    june = [row for row in ROWS if JUNE(row)]
    readings = readings_of("How many times did I train in June and what was my average intensity?", CONTEXT)
    found = answers_to(readings, Journal(SESSIONS, [], TODAY))
    assert found is not None
    assert found.content == (
        f"{len(june)} sessions in June 2026. {mean(JUNE, 'intensity'):.1f} of 10 is the average intensity of"
        f" {len(june)} sessions in June 2026."
    )
    assert cited(found) == {row.number for row in june}
    last = readings_of("How often did I train in June and when did I last train?", CONTEXT)
    found = answers_to(last, Journal(SESSIONS, [], TODAY))
    assert found is not None
    assert f"On {long(ROWS[-1].day)}" in found.content
    assert readings_of("How many times did I train in June and how many sweeps did I hit?", CONTEXT) == ()


def test_what_is_better_is_not_said():
    assert answer("Was October better than September?").content.startswith("I can’t say what is better, but")


# --- abbreviations, number words, what is left out --------------------------------------------------------------------


def test_an_abbreviation_is_read_and_never_denied():
    found, spelt = (answer(f"sessions {word} intensity 8 or more in June") for word in ("w", "with"))
    assert found.content == spelt.content
    assert cited(found) == {row.number for row in ROWS if JUNE(row) and row.intensity >= 8}
    assert read("How many sessions with qx in June?") is None


@pytest.mark.parametrize("question", ["Have I ever trained {} days in a row?", "Did I train {} consecutive days?"])
def test_so_many_days_in_a_row_are_compared_with_the_longest_streak(question: str):
    days = sorted({row.day for row in ROWS})
    longest = streak = 1
    for one, other in pairwise(days):
        streak = streak + 1 if other - one == timedelta(days=1) else 1
        longest = max(longest, streak)
    assert longest == 2
    assert answer(question.format("two")).content.startswith("Yes, 2 days in a row")
    assert answer(question.format("three")).content.startswith("No, never 3 days in a row: 2 days")


@pytest.mark.parametrize("question", ["How many entries have a private part?", "How many sessions did I keep hidden?"])
def test_which_parts_are_private_is_never_counted(question: str):
    assert read(question) is None
    assert asks_what_is_shared(question)
    assert not asks_what_is_shared("How many private lessons in June?")


def test_what_leaves_something_out_is_recognised():
    assert leaves_something_out("Sessions without open mat tag in May")
    assert not leaves_something_out("Sessions with open mat in May")
