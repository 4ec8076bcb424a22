from collections import Counter
from datetime import date, timedelta
from itertools import pairwise

import pytest

from potluck.web import style
from potluck.web.drawings import WIDTH, VoteMove, columns, flow, heat_map, shortened, spark, told_apart, trend

FRIDAY = date(2026, 11, 13)


def test_a_heat_map_has_every_day_of_its_weeks_and_none_to_come():
    drawn = heat_map({FRIDAY: 4}, {FRIDAY: "Friday 13 November: 90 minutes"}, FRIDAY, weeks=26)
    assert len(drawn.days) == 25 * 7 + 5
    assert drawn.today == drawn.days[-1]
    assert (drawn.today.level, drawn.today.title) == (4, "Friday 13 November: 90 minutes")
    assert drawn.days[-2].title == "Thursday 12 November: rest"
    assert [mark.text for mark in drawn.months] == ["Jun", "Jul", "Aug", "Sep", "Oct", "Nov"]
    assert all(0 <= day.x <= WIDTH - drawn.cell + 0.1 for day in drawn.days)
    assert len({(day.x, day.y) for day in drawn.days}) == len(drawn.days)


@pytest.mark.parametrize("weeks", [1, 4, 52])
def test_a_heat_map_ends_on_its_last_day_whatever_the_weekday(weeks):
    for days in range(7):
        today = FRIDAY + timedelta(days=days)
        assert heat_map({}, {}, today, weeks).today.title.startswith(f"{today:%A}")


def test_columns_stand_on_the_axis_and_stay_under_the_highest_mark():
    drawn = columns([1.5, 6, 3], {0: "first"}, {1: "6:00"}, step=2, unit="h")
    assert [mark.text for mark in drawn.marks] == ["0 h", "2 h", "4 h", "6 h"]
    base, top = drawn.marks[0].y, drawn.marks[-1].y
    assert all(column.y + column.height == pytest.approx(base) for column in drawn.columns)
    assert drawn.columns[1].y == pytest.approx(top)
    assert [column.unfinished for column in drawn.columns] == [False, False, True]
    assert (drawn.columns[0].name, drawn.columns[1].value) == ("first", "6:00")


def test_columns_of_nothing_are_an_empty_chart():
    assert columns([], {}, {}, step=1, unit="h").columns == []
    assert columns([0, 0], {}, {}, step=1, unit="h").columns[0].height == 0


def test_a_flow_keeps_every_ballot():
    drawn = flow(style.ROUNDS, style.MOVES, style.LEAD)
    for x in {node.x for node in drawn.nodes}:
        assert sum(node.votes for node in drawn.nodes if node.x == x) == style.BALLOTS
    unit = drawn.nodes[0].height / drawn.nodes[0].votes
    assert all(node.height == pytest.approx(node.votes * unit, abs=0.02) for node in drawn.nodes)
    # Every ballot goes on: the stayers of each column, and those that move.
    assert len(drawn.ribbons) == 4 + 3 + (3 + 1) + 2 + (2 + 1) + 3
    assert {ribbon.kind for ribbon in drawn.ribbons} == {"lead", "", "rest"}


def test_the_leader_is_on_top_and_long_names_are_cut():
    names = {"A name that is much too long to be drawn": 3, "Short": 2}
    drawn = flow([names, {"Short": 5}], [[VoteMove("A name that is much too long to be drawn", "Short", 3)]], "Short")
    assert drawn.nodes[0].name == "Short"
    assert drawn.nodes[1].name == "A name that is mu…"
    assert drawn.nodes[0].kind == "lead"


def test_what_a_leader_has_too_many_goes_on_and_the_rest_stays():
    rounds = [{"a": 50, "b": 20, "c": 10}, {"a": 30, "b": 32, "c": 15}]
    drawn = flow(
        rounds,
        [[VoteMove("a", "b", 12), VoteMove("a", "c", 5), VoteMove("a", None, 3)]],
        "a",
        "b",
        names={"a": "Ada", "b": "Ben", "c": "Cyd"},
        said=lambda votes: f"{votes / 10}",
    )
    assert [node.name for node in drawn.nodes[:3]] == ["Ada", "Ben", "Cyd"]
    assert [node.said for node in drawn.nodes] == ["5.0", "2.0", "1.0", "3.0", "3.2", "1.5", "0.3"]
    # The leader's own, and what it gives to another leader; what goes to nobody, and what to the rest.
    assert Counter(ribbon.kind for ribbon in drawn.ribbons) == {"lead": 3, "": 2, "rest": 1}


def test_names_have_room_beside_the_first_of_many_columns():
    name = "A name that is long"
    rounds = [{name: 5, "b": 4, "c": 3}] * 5
    drawn = flow(rounds, [[]] * 4, name)
    assert len(drawn.nodes[0].name) >= 14
    x = sorted({node.x for node in drawn.nodes})
    assert x[-1] + drawn.node_width < WIDTH
    assert all(after > before for before, after in pairwise(x))


def test_wide_letters_take_the_room_of_two_and_none_is_cut_in_half():
    assert shortened("日本料理の店", 12) == "日本料理の店"
    assert shortened("日本料理の店", 7) == "日本料…"
    assert shortened("👩\u200d🍳 Chef", 4) == "👩…"
    assert told_apart(["Candidate number 12", "Candidate number 37", "Ada"], 12) == [
        "Candida…r 12",
        "Candida…r 37",
        "Ada",
    ]
    assert shortened("Cafe\u0301 bar", 6) == "Cafe\u0301…"


def test_a_trend_has_a_gap_where_there_is_nothing():
    drawn = trend([(1, 4, 7), (4, 4, 4), None, (10, 10, 10)], {0: "7 Sep", 3: "now"}, (1, 4, 7, 10))
    assert len(drawn.points) == 3
    # One line for the two that follow each other; one alone is a dot.
    assert (drawn.line.count("M"), drawn.line.count("L")) == (1, 1)
    assert drawn.band.endswith("Z")
    assert drawn.points[0].y == drawn.points[1].y > drawn.points[2].y
    assert [each.y for each in drawn.marks] == sorted((each.y for each in drawn.marks), reverse=True)
    assert drawn.points[2].y == drawn.marks[-1].y
    assert drawn.names[1].x == drawn.points[2].x <= drawn.plot_width


def test_a_spark_of_nothing_lies_on_its_base():
    flat, rising = spark([0.0] * 12), spark([0.0, 2.0, 4.0])
    assert flat.now.y > rising.now.y
    assert flat.now.x == rising.now.x < flat.width
    assert flat.line.count("L") == 11
