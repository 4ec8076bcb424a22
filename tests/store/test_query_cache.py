"""An answer is given again while nothing is written where it was read, in its time, and as long as there is room."""

import pytest

from potluck.store.query_cache import QueryCache
from potluck.store.row_cache import NEVER


class Clock:
    def __init__(self, now=1_000):
        self.now = now
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def touched():
    """In which state each place was last written to."""
    return {}


@pytest.fixture
def answers(clock, touched):
    def untouched(places, since):
        return all(touched.get(place, 0) <= since for place in places)

    return QueryCache(clock, untouched, most_bytes=100)


def known(answers, question, state):
    cached = answers.find(question, state)
    return None if cached is None else cached.answer


def test_what_was_answered_is_known_until_something_is_written_there(answers, touched):
    answers.add("who?", 3, "Ada", NEVER, 10, ("people", "roles"))
    answers.add("where?", 3, "home", NEVER, 10, ("places",))
    for state in (3, 4, 7):
        assert known(answers, "who?", state) == "Ada"
        assert known(answers, "when?", state) is None
    touched["roles"] = 8
    assert known(answers, "who?", 8) is None
    assert known(answers, "where?", 8) == "home"


def test_what_was_written_while_it_was_read_counts(answers, touched):
    touched["people"] = 4
    answers.add("who?", 3, "Ada", NEVER, 10, ("people",))
    assert known(answers, "who?", 4) is None
    answers.add("who?", 4, "Ben", NEVER, 10, ("people",))
    assert known(answers, "who?", 4) == "Ben"


def test_an_answer_of_a_later_state_is_none_of_an_earlier_one(answers):
    """Another thread may have read it since this one asked for the state."""
    answers.add("who?", 4, "Ben", NEVER, 10, ("people",))
    assert known(answers, "who?", 3) is None
    assert known(answers, "who?", 4) == "Ben"


def test_nothing_is_known_before_anything_was_kept(answers):
    assert known(answers, "who?", 0) is None


@pytest.mark.parametrize("nothing", [(), [], "", 0])
def test_an_answer_that_nothing_was_found_is_an_answer(answers, nothing):
    answers.add("who?", 1, nothing, NEVER, 10, ())
    assert known(answers, "who?", 1) == nothing


def test_an_answer_holds_from_when_it_was_kept_until_its_second(answers, clock):
    answers.add("who?", 1, "Ada", 1_010, 10, ())
    for now, holds in ((1_000, True), (1_009, True), (1_010, False), (1_009, True), (999, False), (1_000, True)):
        clock.now = now
        assert (known(answers, "who?", 1) == "Ada") is holds, now


def test_where_time_is_no_question_the_clock_is_not_asked(answers, clock):
    answers.add("who?", 1, "Ada", NEVER, 10, ())
    asked, clock.now = clock.asked, 0
    assert known(answers, "who?", 1) == "Ada"
    assert clock.asked == asked


def test_the_latest_answer_counts(answers):
    answers.add("who?", 1, "Ada", NEVER, 10, ())
    answers.add("who?", 1, "Ben", NEVER, 10, ())
    assert known(answers, "who?", 1) == "Ben"


def test_no_more_bytes_are_kept_than_allowed_and_what_is_asked_for_stays(answers):
    for number in range(50):
        answers.add(number, 1, number, NEVER, 20, ())
        assert known(answers, number, 1) == number
        assert known(answers, 0, 1) == 0
        assert sum(20 for each in range(50) if each in answers._newer or each in answers._older) <= 100


def test_what_is_too_large_is_not_kept_and_pushes_nothing_out(answers):
    answers.add("who?", 1, "Ada", NEVER, 45, ())
    answers.add("everyone?", 1, "a book", NEVER, 51, ())
    assert known(answers, "everyone?", 1) is None
    assert known(answers, "who?", 1) == "Ada"
