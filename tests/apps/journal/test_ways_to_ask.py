"""Ways to ask, as people on phones write: abbreviations, ranks, what was not done, pronouns, names and pain."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from itertools import pairwise

import pytest

from potluck.apps.journal.assistant.answers import answer_to
from potluck.apps.journal.assistant.lexer import plain_question
from potluck.apps.journal.assistant.limits import ambiguous_date, another_person, asks_ahead
from potluck.apps.journal.assistant.mentions import Sentence, stem_of, stems_in
from potluck.apps.journal.assistant.questions import reading_of, readings_of
from potluck.apps.journal.assistant.scope import Journal
from potluck.apps.journal.tokenizer import sentences_of, with_next
from tests.apps.journal.test_questions import CONTEXT, REMARKS, ROWS, SESSIONS, TODAY, answer, has, long, read


@pytest.mark.parametrize(
    ("short", "plain"),
    [
        ("avg mins per sess", "How many minutes is my average session?"),
        ("tot hrs this yr", "How many hours this year?"),
        ("rnds last wk", "How many rounds last week?"),
        ("nogi sess in june", "How many no-gi sessions in June?"),
        ("how many sat sessions this yr", "How many sessions on Saturdays this year?"),
        ("hours since xmas", "How many hours since Christmas?"),
        ("did i hit 100 sessions this year", "Did I reach 100 sessions this year?"),
        ("how many classes did i make it to in june", "How many sessions in June?"),
        ("how many sessions in june werent nogi", "How many sessions in June were not in no-gi?"),
        ("ok be honest with me how many sessions in june lol", "How many sessions in June?"),
        ("hey quick q: how many rounds in june pls", "How many rounds in June?"),
        ("my mum wants to know how many hours in june", "How many hours in June?"),
        ("if u count everything how many rounds in june", "How many rounds in June?"),
        ("whatd i do yday", "What did I do yesterday?"),
        ("how many sessions b4 8 in the morning", "How many sessions before 8 am?"),
        ("what do all my june sessions add up to in hours", "How many hours in June?"),
        ("my best month hours wise", "Which month had the most hours?"),
        ("times i trained in june", "How many times did I train in June?"),
        ("which day of the week do i avoid", "Which day of the week do I train least often?"),
        ("whens the last time a session got a 9 from me", "When was the last session with intensity 9?"),
        ("laziest training", "My easiest session"),
        ("leave out the no gi sessions: avg intensity in june", "Average intensity in June without no-gi"),
        ("gi n no gi sessions in june", "gi and no-gi sessions in June"),
        (
            "sessions in the month before vs the month after 17 june",
            "sessions in the month before 17 june vs the month after 17 june",
        ),
    ],
)
def test_a_short_way_to_ask_is_answered_like_the_long_one(short: str, plain: str):
    assert answer(short).content == answer(plain).content


@pytest.mark.parametrize(
    "question",
    [
        "is there class on monday?",
        "is there a session on monday",
        "are there any classes today",
        "when is training on monday",
        "do we have class on friday",
        "is the gym open on sunday",
    ],
)
def test_a_timetable_is_not_in_the_journal(question: str):
    assert read(question) is None
    assert asks_ahead(question)


def test_what_is_said_first_is_what_a_pronoun_refers_to():
    assert plain_question("lapel stuff: how many sessions were tagged with that") == (
        "how many sessions were tagged with lapel"
    )
    assert plain_question("is it my left or right") == "is it my left or right"


def test_a_training_with_a_name_is_no_person():
    question = "how hard is team training usually"
    assert another_person(question, "Ana", is_own=True) == "Team"
    assert another_person(question, "Ana", is_own=True, journal="tough team training today") is None


@pytest.mark.parametrize(
    "question",
    ["how many sessions did i ignore in june", "how hard on a scale of 1 to 5", "how many sessions got a 9 from Sana"],
)
def test_what_only_looks_like_a_short_way_to_ask_has_no_reading(question: str):
    assert read(question) is None


def test_a_break_that_is_left_out_is_not_the_longest():
    days = sorted({row.day for row in ROWS})
    breaks = sorted(((after - before).days - 1, before, after) for before, after in pairwise(days))
    (_, before, after), (length, *_) = breaks[-1], max(each for each in breaks if each[0] < breaks[-1][0])
    said = answer(f"longest break apart from {long(before + timedelta(days=2))}").content
    assert f"{length} days without" in said
    assert long(before) not in said.partition(":")[2]
    assert long(after) not in said.partition(":")[2]


def test_the_point_of_a_number_ends_no_sentence():
    assert sentences_of("57.4 kg at the weigh-in. Won.") == ["57.4 kg at the weigh-in.", "Won."]


def test_words_of_one_question_are_no_filter_of_the_next():
    question = "did the armbar make me lazy? sessions in june"
    assert readings_of(question, CONTEXT) == ()


def test_a_date_of_two_numbers_is_read_unless_it_can_be_two_days():
    assert plain_question("what did i do 6.5.?") == "what did i do 6 may"
    assert plain_question("on 25/6") == "on 25 june"
    assert ambiguous_date("what did i do on 6/5?") == "6/5"
    assert ambiguous_date("on 25/6") is None


# --- ranks ------------------------------------------------------------------------------------------------------------


def test_the_second_of_an_order_is_not_its_first():
    tags = Counter(tag for row in ROWS for tag in row.tags)
    number = sorted(tags.values(), reverse=True)[1]
    said = answer("name the tag i use second most").content
    assert all(f"“{tag}”" in said.partition(":")[0] for tag in tags if tags[tag] == number)
    longest = sorted((row.minutes for row in ROWS), reverse=True)[1]
    assert f"with {longest} minutes" in answer("what was my 2nd longest session").content
    months = Counter((row.day.year, row.day.month) for row in ROWS)
    assert f"with {sorted(months.values(), reverse=True)[1]} sessions." in answer("second busiest month").content


# --- what was not done ------------------------------------------------------------------------------------------------


def weeks_without(rows: list[date], first: date, last: date) -> list[date]:
    """The Mondays of whole weeks that touch the days and have none of these."""
    monday = first - timedelta(days=first.weekday())
    mondays = [monday + timedelta(days=7 * number) for number in range((last - monday).days // 7 + 1)]
    return [each for each in mondays if not any(each <= day < each + timedelta(days=7) for day in rows)]


@pytest.mark.parametrize("month", [1, 4, 6, 8])
def test_a_week_that_reaches_beyond_the_month_is_looked_at_whole(month: int):
    first, last = date(2026, month, 1), date(2026, month + 1, 1) - timedelta(days=1)
    name = f"{first:%B}"
    empty = weeks_without([row.day for row in ROWS], first, last)
    said = answer(f"was there a week in {name} where i didnt train").content
    assert said.startswith(f"Yes: {len(empty)} week" if empty else "No week without a session"), said
    assert all(long(each) in said for each in empty)
    every = answer(f"did i train every week in {name}").content
    assert every.startswith("No: " if empty else "Yes: ")


@pytest.mark.parametrize("question", ["which days in june did i not train", "when did i not train in june"])
def test_days_without_training_are_named(question: str):
    assert answer(question).content == answer("How many days off in June?").content


def test_weeks_without_something_are_counted():
    tag = Counter(tag for row in ROWS for tag in row.tags).most_common(1)[0][0]
    done = [row.day for row in ROWS if has(tag)(row)]
    empty = weeks_without(done, date(2026, 1, 1), TODAY - timedelta(days=7))
    assert answer(f"how many weeks without {tag} this year").content.startswith(f"{len(empty)} week")


def test_a_break_is_told_whole_also_where_the_month_cuts_it():
    days = sorted({row.day for row in ROWS})
    first, last = date(2026, 8, 1), date(2026, 8, 31)
    touching = [pair for pair in pairwise(days) if pair[0] < last and pair[1] > first]
    longest = max((after - before).days - 1 for before, after in touching)
    assert answer("how long was my longest break in august").content.startswith(f"{longest} days without a session")
    week = sum((after - before).days - 1 > 7 for before, after in pairwise(days))
    said = answer("how many breaks longer than a week").content
    assert said.startswith(f"{week} break") if week else said.startswith("No break of more than 7 days")


# --- what a question refers to ----------------------------------------------------------------------------------------


def test_which_of_the_two_compares_the_two_questions_before():
    june = read("How many rounds in June?")
    july = read("and July?", june)
    reading = reading_of("which of the two was harder", CONTEXT._replace(previous=july, earlier=june))
    assert reading is not None
    found = answer_to(reading, Journal(SESSIONS, REMARKS, TODAY))
    assert found is not None
    for number in (6, 7):
        rows = [row.intensity for row in ROWS if (row.day.year, row.day.month) == (2026, number)]
        assert f"{sum(rows) / len(rows):.1f}" in found.content


def test_a_pronoun_is_the_topic_of_the_question_before():
    before = "When did I last drill half guard?"
    assert answer("how many times did i do it this year", before) == answer(
        "how many times did i do half guard this year"
    )


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("How many sessions in June?", "how many of them were nogi", "How many no-gi sessions in June?"),
        ("How many gi sessions in June?", "avg intensity", "average intensity in the gi in June"),
        ("How many times did I drill half guard?", "how many times this year", "How often half guard this year?"),
        ("longest session this year", "and the shortest", "shortest session this year"),
        ("hours in June", "per week?", "hours per week in June"),
    ],
)
def test_a_follow_up_is_answered_like_the_whole_question(before: str, question: str, whole: str):
    assert answer(question, before).content == answer(whole).content


def test_being_tapped_is_not_tapping():
    (term,) = read("How many times did I get tapped?").where.terms  # type: ignore[union-attr]
    for text, counts in (
        ("Got tapped twice.", True),
        ("Tapped Jonas twice.", False),
        ("Held by tape.", False),
    ):
        assert any(Sentence(text, stems_in(text)).has(phrase) for phrase in term.phrases) is counts


def test_a_name_of_the_journal_may_have_common_words():
    context = CONTEXT._replace(words={*CONTEXT.words, "great", "lakes"}, text="great lakes open, first match won.")
    reading = reading_of("how did great lakes go for me", context)
    assert reading is not None
    assert [term.words for term in reading.where.terms] == ["great lakes"]
    assert reading_of("how did great lakes go for me", CONTEXT) is None


def test_a_quote_goes_on_to_what_came_of_it():
    text = "Rhein Open in Cologne. Won two matches. Lost the semifinal. Drove home."
    assert with_next(text, "Rhein Open in Cologne.", 2) == "Rhein Open in Cologne. Won two matches. Lost the semifinal."


# --- words for pain, and forms of words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "hurts"),
    [
        ("Hip pinches a bit, nothing dramatic.", True),
        ("Hip felt good, no pinching at all.", False),
        ("Hip escape drills, then rounds.", False),
        ("My hip is not sore any more.", False),
    ],
)
def test_trouble_that_is_denied_is_no_trouble(text: str, hurts: bool):
    assert Sentence(text, stems_in(text)).has_pain("hip") is hurts


def test_forms_of_a_word_have_one_stem():
    for one, other in (("shots", "shoot"), ("wrestle", "wrestling"), ("sleep", "slept"), ("weigh", "weighed")):
        assert stem_of(one) == stem_of(other)
