"""An answer is given again in the state that it was read in, in its time, and as long as there is room."""

import pytest

from potluck.table.query_cache import QueryCache
from potluck.table.row_cache import NEVER


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
def answers(clock):
    return QueryCache(clock, most_bytes=100)


def test_what_was_answered_is_known_in_the_same_state_only(answers):
    answers.keep("who?", "monday", "Ada", NEVER, 10)
    assert answers.find("who?", "monday") == "Ada"
    assert answers.find("who?", "tuesday") is None
    assert answers.find("where?", "monday") is None
    # Nothing was forgotten by asking.
    assert answers.find("who?", "monday") == "Ada"


def test_what_was_read_in_another_state_is_forgotten_when_something_is_kept(answers):
    answers.keep("who?", "monday", "Ada", NEVER, 10)
    answers.keep("where?", "tuesday", "home", NEVER, 10)
    assert answers.find("who?", "tuesday") is None
    assert answers.find("who?", "monday") is None
    assert answers.find("where?", "tuesday") == "home"


def test_nothing_is_known_before_anything_was_kept(answers):
    assert answers.find("who?", None) is None


@pytest.mark.parametrize("nothing", [(), [], "", 0])
def test_an_answer_that_nothing_was_found_is_an_answer(answers, nothing):
    answers.keep("who?", "monday", nothing, NEVER, 10)
    assert answers.find("who?", "monday") == nothing


def test_an_answer_holds_from_when_it_was_kept_until_its_second(answers, clock):
    answers.keep("who?", "monday", "Ada", 1_010, 10)
    for now, known in ((1_000, True), (1_009, True), (1_010, False), (1_009, True), (999, False), (1_000, True)):
        clock.now = now
        assert (answers.find("who?", "monday") == "Ada") is known, now


def test_where_time_is_no_question_the_clock_is_not_asked(answers, clock):
    answers.keep("who?", "monday", "Ada", NEVER, 10)
    asked, clock.now = clock.asked, 0
    assert answers.find("who?", "monday") == "Ada"
    assert clock.asked == asked


def test_the_latest_answer_counts(answers):
    answers.keep("who?", "monday", "Ada", NEVER, 10)
    answers.keep("who?", "monday", "Ben", NEVER, 10)
    assert answers.find("who?", "monday") == "Ben"


def test_no_more_bytes_are_kept_than_allowed(answers):
    for number in range(50):
        answers.keep(number, "monday", number, NEVER, 30)
        assert answers.find(number, "monday") == number
        assert sum(answers.find(each, "monday") is not None for each in range(50)) <= 3


def test_what_is_too_large_is_not_kept_and_pushes_nothing_out(answers):
    answers.keep("who?", "monday", "Ada", NEVER, 90)
    answers.keep("everyone?", "monday", "a book", NEVER, 101)
    assert answers.find("everyone?", "monday") is None
    assert answers.find("who?", "monday") == "Ada"


def test_nobody_is_given_what_another_thread_read_in_a_state_of_its_own(answers):
    """The other keeps its answer just when this one has found that its own state is the known one."""

    class Interrupted:
        def __eq__(self, other):
            answers.keep("who?", "another's", "from before", NEVER, 10)
            return True

        def __hash__(self):
            return 1

    state = Interrupted()
    answers.keep("who?", "monday", "Ada", NEVER, 10)
    assert answers.find("who?", state) in ("Ada", None)
