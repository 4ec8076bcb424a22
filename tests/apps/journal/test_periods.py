"""Periods as people write them, read on a fixed day; each row's days were worked out with a calendar."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from potluck.apps.journal.periods import Period, outside, periods_in
from potluck.apps.journal.times import EARLIEST

# A Wednesday.
TODAY = date(2026, 11, 18)

ONE = {
    # Months, by any name, and the latest that has begun.
    "in March": "2026-03-01 2026-03-31",
    "mar 2026": "2026-03-01 2026-03-31",
    "in Sept.": "2026-09-01 2026-09-30",
    "in november": "2026-11-01 2026-11-30",
    "in December": "2025-12-01 2025-12-31",
    "last March": "2026-03-01 2026-03-31",
    "last November": "2025-11-01 2025-11-30",
    "this March": "2026-03-01 2026-03-31",
    "march last year": "2025-03-01 2025-03-31",
    "March of 2025": "2025-03-01 2025-03-31",
    "march’25": "2025-03-01 2025-03-31",
    "the month of May": "2026-05-01 2026-05-31",
    "2026-04": "2026-04-01 2026-04-30",
    # Quarters, halves, seasons, years.
    "Q3": "2026-07-01 2026-09-30",
    "in Q4 2025": "2025-10-01 2025-12-31",
    "third quarter of last year": "2025-07-01 2025-09-30",
    "this quarter": "2026-10-01 2026-12-31",
    "last quarter": "2026-07-01 2026-09-30",
    "first half of 2026": "2026-01-01 2026-06-30",
    "the second half of the year": "2026-07-01 2026-12-31",
    "H1": "2026-01-01 2026-06-30",
    "last summer": "2026-06-01 2026-08-31",
    "in the fall": "2026-09-01 2026-11-30",
    "last winter": "2025-12-01 2026-02-28",
    "this year": "2026-01-01 2026-12-31",
    "this year so far": "2026-01-01 2026-12-31",
    "year to date": "2026-01-01 2026-11-18",
    "last year": "2025-01-01 2025-12-31",
    "in 2025": "2025-01-01 2025-12-31",
    # Weeks and days.
    "this week": "2026-11-16 2026-11-22",
    "last week": "2026-11-09 2026-11-15",
    "the week before last": "2026-11-02 2026-11-08",
    "week 45": "2026-11-02 2026-11-08",
    "the week of 14 November": "2026-11-09 2026-11-15",
    "first week of March": "2026-03-01 2026-03-07",
    "last two weeks of October": "2026-10-18 2026-10-31",
    "last weekend": "2026-11-14 2026-11-15",
    "this weekend": "2026-11-14 2026-11-15",
    "last month": "2026-10-01 2026-10-31",
    "today": "2026-11-18 2026-11-18",
    "yesterday": "2026-11-17 2026-11-17",
    "the day before yesterday": "2026-11-16 2026-11-16",
    "on Monday": "2026-11-16 2026-11-16",
    "on Wednesday": "2026-11-18 2026-11-18",
    "last Wednesday": "2026-11-11 2026-11-11",
    "last friday": "2026-11-13 2026-11-13",
    "14 November": "2026-11-14 2026-11-14",
    "on the 14th of November": "2026-11-14 2026-11-14",
    "Nov 20": "2025-11-20 2025-11-20",
    "on November 14th, 2025": "2025-11-14 2025-11-14",
    "on Saturday, 14 November": "2026-11-14 2026-11-14",
    "on the 20th": "2026-10-20 2026-10-20",
    "29 February": "2024-02-29 2024-02-29",
    "2026-11-14": "2026-11-14 2026-11-14",
    "14.11.2025": "2025-11-14 2025-11-14",
    "14/11/2025": "2025-11-14 2025-11-14",
    "11/14/2025": "2025-11-14 2025-11-14",
    # Holidays that have the same date each year.
    "on Christmas": "2025-12-25 2025-12-25",
    "Christmas Eve 2024": "2024-12-24 2024-12-24",
    "New Year's Eve": "2025-12-31 2025-12-31",
    "on New Year’s Day": "2026-01-01 2026-01-01",
    "since the new year": "2026-01-01 2026-11-18",
    "on Halloween": "2026-10-31 2026-10-31",
    # Relative to today.
    "the last 2 weeks": "2026-11-05 2026-11-18",
    "in the past ten days": "2026-11-09 2026-11-18",
    "the last 12 months": "2025-11-19 2026-11-18",
    "past month": "2026-10-19 2026-11-18",
    "last couple of weeks": "2026-11-05 2026-11-18",
    "3 days ago": "2026-11-15 2026-11-15",
    "two weeks ago": "2026-11-02 2026-11-08",
    "a month ago": "2026-10-01 2026-10-31",
    # Ranges and bounds.
    "from March to May": "2026-03-01 2026-05-31",
    "between March and May": "2026-03-01 2026-05-31",
    "jan-mar 2026": "2026-01-01 2026-03-31",
    "March through June 2025": "2025-03-01 2025-06-30",
    "from November to February": "2025-11-01 2026-02-28",
    "from October to December": "2026-10-01 2026-12-31",
    "from December 2025 to February": "2025-12-01 2026-02-28",
    "from 1 to 14 March": "2026-03-01 2026-03-14",
    "March 1-14": "2026-03-01 2026-03-14",
    "between 28 December and 3 January": "2025-12-28 2026-01-03",
    "from last Monday to yesterday": "2026-11-16 2026-11-17",
    "since March": "2026-03-01 2026-11-18",
    "since the start of the year": "2026-01-01 2026-11-18",
    "since last week": "2026-11-09 2026-11-18",
    "from 3 June on": "2026-06-03 2026-11-18",
    "after June": "2026-07-01 2026-11-18",
    "before June": f"{EARLIEST} 2026-05-31",
    "until June": f"{EARLIEST} 2026-06-30",
}  # fmt: skip

NONE = (
    "", "how may I train", "rolled with Jan", "did I fall", "on Mondays", "next week", "early March", "mid-March",
    "at the end of May", "3/4/2026", "between 6 and 8", "over 90 minutes", "the last few weeks", "week of training",
    "2000 minutes", "a half of half guard", "the third round", "sat down", "marching",
)  # fmt: skip

SEVERAL = {
    "compare June and July": ("2026-06-01 2026-06-30", "2026-07-01 2026-07-31"),
    "in 2025 vs 2026": ("2025-01-01 2025-12-31", "2026-01-01 2026-12-31"),
    "more in November than in November last year": ("2026-11-01 2026-11-30", "2025-11-01 2025-11-30"),
}


def as_text(period: Period) -> str:
    return f"{period.first} {period.last}"


@pytest.mark.parametrize(("text", "days"), ONE.items(), ids=ONE)
def test_a_phrase_is_one_period_and_nothing_is_left_over(text: str, days: str):
    (mention,) = periods_in(text, TODAY)
    assert as_text(mention.period) == days
    assert outside(text, [mention]).strip() == ""


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_exact_period_is_none(text: str):
    assert periods_in(text, TODAY) == []


@pytest.mark.parametrize(("text", "days"), SEVERAL.items(), ids=SEVERAL)
def test_several_periods_stay_apart(text: str, days: tuple[str, ...]):
    assert tuple(as_text(each.period) for each in periods_in(text, TODAY)) == days


def test_a_mention_is_found_inside_a_question():
    text = "What did I write about half guard in November?"
    mentions = periods_in(text, TODAY)
    assert [text[each.start : each.end] for each in mentions] == ["in November"]
    assert outside(text, mentions).split() == ["What", "did", "I", "write", "about", "half", "guard", "?"]


def test_a_range_can_be_read_as_two_to_compare():
    apart = periods_in("compare March to May", TODAY, ranges=False)
    assert [each.period.first.month for each in apart] == [3, 5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("in march", "in March 2026"),
        ("last year", "in 2025"),
        ("yesterday", "on 17 November 2026"),
        ("Q3", "from 1 July 2026 to 30 September 2026"),
        ("before June", "up to 31 May 2026"),
    ],
)
def test_an_answer_can_name_it(text: str, words: str):
    (mention,) = periods_in(text, TODAY)
    assert mention.period.words == words


def test_its_moments_are_those_of_the_time_zone():
    (mention,) = periods_in("14 November", TODAY)
    first, last = mention.period.span(ZoneInfo("Asia/Tokyo"))
    assert first == datetime(2026, 11, 13, 15, tzinfo=UTC)
    assert last == datetime(2026, 11, 14, 14, 59, 59, 999_000, tzinfo=UTC)


@pytest.mark.parametrize("today", [date(2027, 1, 1), date(2024, 2, 29), date(2026, 3, 31), date(2026, 12, 31)])
def test_every_phrase_can_be_read_on_any_day(today: date):
    for text in ONE:
        for mention in periods_in(text, today):
            assert EARLIEST <= mention.period.first <= mention.period.last


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("in December", "2026-12-01 2026-12-31"),
        ("last week", "2026-12-21 2026-12-27"),
        ("this week", "2026-12-28 2027-01-03"),
        ("from November to February", "2026-11-01 2027-02-28"),
        ("last month", "2026-12-01 2026-12-31"),
        ("28 December", "2026-12-28 2026-12-28"),
        ("last winter", "2025-12-01 2026-02-28"),
        ("Q4", "2026-10-01 2026-12-31"),
        ("the last 3 days", "2026-12-30 2027-01-01"),
        ("two months ago", "2026-11-01 2026-11-30"),
    ],
)
def test_new_year_is_no_boundary(text: str, days: str):
    (mention,) = periods_in(text, date(2027, 1, 1))
    assert as_text(mention.period) == days
