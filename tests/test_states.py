"""A trouble that is met again and again: what the log says of it, and which state the process is in."""

import logging

import pytest

from potluck.states import DISK_FULL, ENGINE_UNREACHABLE, STATES, STREAM_UNREADABLE, State, Trouble, lasting

log = logging.getLogger("potluck.tests")


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO)

    def lines() -> list[str]:
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return lines


def trouble(time: Time, state: State = DISK_FULL, **options) -> Trouble:
    return Trouble(state, log, "the disk is full", monotonic=time, **options)


def test_what_fails_274_times_has_a_line_when_it_begins_one_a_minute_and_one_when_it_is_over(time, said):
    full = trouble(time)
    for _ in range(274):
        full.met("no room")
        time.now += 0.5
    full.over()
    assert said() == [
        "the disk is full: no room",
        "the disk is full: no room, 120 times in 60 s",
        "the disk is full: no room, 120 times in 60 s",
        "the disk is full: over after 137 s, 274 times",
    ]


def test_what_comes_and_goes_has_two_lines_a_minute(time, said):
    full = trouble(time)
    for _ in range(59):
        full.met("no room")
        full.over()
        time.now += 1
    assert said() == ["the disk is full: no room", "the disk is full: over after 0 s, once"]
    time.now += 10
    full.met("no room")
    assert said() == ["the disk is full: no room"]


def test_what_comes_and_goes_is_over_only_once_it_has_stayed_away(time, said):
    full = trouble(time, calm_seconds=5.0)
    full.met("no room")
    time.now += 4
    full.over()
    assert full.lasts
    full.met("no room")
    time.now += 5
    full.over()
    assert not full.lasts
    assert said() == ["the disk is full: no room", "the disk is full: over after 9 s, 2 times"]


def test_an_exception_is_told_with_its_traceback_once(time, caplog):
    full = trouble(time)
    try:
        raise OSError("a secret path")
    except OSError as error:
        full.met(error)
        time.now += 60
        full.met(error)
    assert [record.exc_info is not None for record in caplog.records] == [True, False]
    assert {record.state for record in caplog.records} == {"disk-full"}


def test_a_process_is_in_the_states_of_its_troubles(time):
    one, other = trouble(time), trouble(time)
    assert lasting() == []
    one.met()
    other.met()
    assert lasting() == [DISK_FULL]
    one.over()
    assert lasting() == [DISK_FULL]
    other.forget()
    assert lasting() == []


def test_a_trouble_that_nobody_holds_any_more_is_no_state(time):
    forgotten = trouble(time)
    forgotten.met()
    del forgotten
    assert lasting() == []


def test_what_follows_from_another_state_has_no_lines_of_its_own(time, said):
    unreachable, unreadable = trouble(time, ENGINE_UNREACHABLE), trouble(time, STREAM_UNREADABLE)
    unreachable.met("no route")
    unreadable.met("no route")
    assert lasting() == [ENGINE_UNREACHABLE, STREAM_UNREADABLE]
    unreadable.over()
    assert said() == ["the disk is full: no route"]
    unreadable.met("no route")
    unreachable.over()
    unreadable.met("trimmed")
    assert said() == ["the disk is full: over after 0 s, once", "the disk is full: trimmed, 2 times in 0 s"]


def test_every_state_has_a_name_of_its_own_and_follows_from_states_that_there_are():
    names = [state.name for state in STATES]
    assert len(set(names)) == len(names)
    assert {name for state in STATES for name in state.follows_from} <= set(names)
