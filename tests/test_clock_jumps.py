"""The system's clock is set, and the suite says so; what time does by itself is no jump."""

import logging

import pytest

from potluck.clock_jumps import REMEMBERED_SECONDS, ClockWatch
from potluck.metrics import CLOCK_JUMPS
from potluck.states import CLOCK_JUMPED, lasting


class Clocks:
    def __init__(self) -> None:
        self.wall = 1_800_000_000.0
        self.monotonic = 50.0
        self.watch = ClockWatch(lambda: self.wall, lambda: self.monotonic)

    def go_on(self, seconds: float, *, wall: float | None = None) -> None:
        self.monotonic += seconds
        self.wall += seconds if wall is None else wall
        self.watch.look()


@pytest.fixture
def clocks():
    return Clocks()


@pytest.mark.parametrize(("by", "direction"), [(3600.0, "forward"), (-3600.0, "back")])
def test_a_jump_is_a_state_for_ten_minutes_and_a_line(clocks, caplog, by, direction):
    before = CLOCK_JUMPS.value(direction)
    clocks.go_on(1)
    assert lasting() == []
    clocks.go_on(1, wall=1 + by)
    assert lasting() == [CLOCK_JUMPED]
    assert [record.getMessage() for record in caplog.records] == [f"the system's clock jumped: 3600 s {direction}"]
    assert CLOCK_JUMPS.value(direction) == before + 1
    clocks.go_on(REMEMBERED_SECONDS - 1)
    assert lasting() == [CLOCK_JUMPED]
    clocks.go_on(2)
    assert lasting() == []


def test_a_clock_that_is_slewed_and_a_loop_that_is_late_are_no_jump(clocks, caplog):
    caplog.set_level(logging.INFO)
    for _ in range(1000):
        clocks.go_on(1, wall=1.0005)
    clocks.go_on(30)
    assert lasting() == []
    assert caplog.records == []


def test_a_process_that_is_held_up_between_the_two_clocks_sees_no_jump(clocks, caplog):
    clocks.go_on(1)
    later = iter([clocks.monotonic + 1, clocks.monotonic + 4])
    held_up = ClockWatch(lambda: clocks.wall, lambda: clocks.monotonic)
    held_up._monotonic = lambda: next(later)
    clocks.wall += 4
    held_up.look()
    assert lasting() == []
    assert caplog.records == []
