"""What the page of results draws: bars, rounds to step to, and how ballots moved."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.apps.polls.counting import Rules, count
from potluck.apps.polls.pages import charts as charts_package
from potluck.apps.polls.pages.charts import charts
from potluck.apps.polls.pages.charts.flows import in_short
from potluck.apps.polls.pages.charts.steps import in_steps
from tests.apps.polls.counting.strategies import contests
from tests.apps.polls.doors import CANDIDATES


def test_of_many_rounds_a_few_are_offered_to_step_to():
    names = [f"Candidate {number}" for number in range(1, 31)]
    record = count(30, {(number,): number for number in range(1, 31)}, Rules())
    for chosen in range(1, len(record.rounds) + 1):
        drawn = charts(record, names, chosen)
        numbers = [each.number for each in drawn.round.links]
        assert len(numbers) <= 7
        assert (numbers[0], numbers[-1]) == (1, len(record.rounds))
        assert [each.number for each in drawn.round.links if each.current] == [chosen]
        assert {drawn.round.before, drawn.round.after} - {chosen} <= set(numbers)


def test_the_winners_card_says_when_no_votes_decided():
    tied = charts(count(2, {(1,): 1, (2,): 1}, Rules(), [2, 1]), ["Ann", "Bob"])
    assert tied.winners == ["Bob"]
    assert re.sub("<[^>]*>", "", tied.decided) == "Ann and Bob were tied. Lots decided."
    undrawn = charts(count(2, {(1,): 1, (2,): 1}, Rules()), ["Ann", "Bob"])
    assert "No lots were drawn" in undrawn.decided
    assert charts(count(2, {(1,): 2, (2,): 1}, Rules(), [2, 1]), ["Ann", "Bob"]).decided == ""
    page = Path(charts_package.__file__).parents[2] / "templates/polls/outcome.html"
    card = page.read_text().partition('<section class="winner"')[2].partition("</section>")[0]
    assert "{{ drawn.decided }}" in card


def test_names_in_sentences_are_marked_and_cannot_be_markup():
    record = count(2, {(1,): 2, (2, 1): 1}, Rules())
    drawn = charts(record, ["<b>Ada</b>", "חופשה"], 1)
    assert "<b><bdi>&lt;b&gt;Ada&lt;/b&gt;</bdi></b> has 2 of the 3 votes" in drawn.round.sentence


def test_a_round_that_ties_a_hundred_names_some_and_says_how_many_more():
    names = [f"Candidate {number}" for number in range(1, 101)]
    drawn = charts(count(100, dict.fromkeys(((number,) for number in range(1, 101)), 1), Rules()), names, 1)
    assert " and 96 others are tied to be eliminated" in drawn.round.sentence


def test_candidates_without_a_vote_leave_together_in_one_step():
    names = [f"Candidate {number}" for number in range(1, 13)]
    record = count(12, {(1, 2): 2, (2, 1): 2, (3, 2): 1}, Rules())
    # The rules eliminate them one by one, and the record keeps that.
    assert len(record.rounds) == 11
    drawn = charts(record, names, 1)
    assert drawn.rounds == 3
    assert re.sub("<[^>]*>", "", drawn.round.sentence) == (
        "Candidate 12, Candidate 11, Candidate 10, Candidate 9 and 5 others have no votes and leave together."
    )
    assert [line.cells[1].value for line in drawn.table if line.name == "Candidate 3"] == ["1"]
    last = charts(record, names, 3)
    assert "Candidate 2</bdi></b> has 3 of the 5 votes" in last.round.sentence
    assert len(last.table[0].cells) == 3


def test_a_tie_that_looks_back_names_the_step_it_looked_at():
    # Dot and Eve leave together; later Bob and Cid are tied, and the first real round tells them apart.
    record = count(6, {(1,): 5, (2,): 3, (3,): 2, (4, 3): 1}, Rules())
    drawn = charts(record, ["Ann", "Bob", "Cid", "Dot", "Eve", "Fay"], 3)
    assert "had fewer votes in round 2" in drawn.round.sentence


def test_while_a_poll_is_open_nobody_is_elected():
    record = count(3, {(1, 2): 4, (2, 1): 3, (3, 2): 2}, Rules())
    live, final = (charts(record, CANDIDATES, 2, live=open) for open in (True, False))
    assert "would be elected" in live.round.sentence
    assert [bar.fate for bar in live.round.bars] == ["leads", ""]
    assert "is elected" in final.round.sentence
    assert [bar.fate for bar in final.round.bars] == ["elected", ""]


def test_the_winners_card_names_a_head_to_head_winner_who_is_not_elected():
    squeezed = charts(count(3, {(1, 2, 3): 4, (3, 2, 1): 4, (2, 1, 3): 3}, Rules()), ["Ann", "Bob", "Cid"])
    assert re.sub("<[^>]*>", "", squeezed.beaten) == (
        "Head to head, Bob beats each of the others, but was eliminated in round 1 with too few votes."
    )
    page = Path(charts_package.__file__).parents[2] / "templates/polls/outcome.html"
    card = page.read_text().partition('<section class="winner"')[2].partition("</section>")[0]
    assert "{{ drawn.beaten }}" in card


def test_what_a_full_bar_stands_for():
    record = count(3, {(1, 2): 4, (2, 1): 3, (3,): 3}, Rules())
    drawn = charts(record, CANDIDATES, 1)
    first = drawn.round.bars[0]
    assert (first.value, first.share, first.note) == ("4", 40.0, "40%")
    assert [each.value for each in drawn.last] == ["4", "3"]
    assert drawn.line.at == 50.0
    assert charts(count(3, {}, Rules()), CANDIDATES) is None


# --- the flow --------------------------------------------------------------------------------------------------------

RIBBON = re.compile(r"M([\d.]+) ([\d.]+)C[\d.]+ [\d.]+ [\d.]+ [\d.]+ ([\d.]+) ([\d.]+)V([\d.]+)C")
SEATS = {"irv": 1, "stv": 2, "scottish-stv": 3}


def nodes_by_column(drawing):
    columns = {}
    for node in drawing.nodes:
        columns.setdefault(node.x, []).append(node)
    return [columns[x] for x in sorted(columns)]


@settings(max_examples=150)
@given(contests(most=6), st.sampled_from(sorted(SEATS)), st.one_of(st.none(), st.integers(1, 8)))
def test_every_ballot_that_leaves_a_column_arrives_in_the_next(contest, method, chosen):
    candidates, votes, lots = contest
    record = in_steps(count(candidates, votes, Rules(method=method, seats=min(SEATS[method], candidates)), lots))
    names = [f"Candidate {number}" for number in range(1, candidates + 1)]
    shown = charts(record, names, chosen).flow
    if shown is None:
        assert len(record.rounds) == 1
        return
    drawing = shown.drawing
    columns = nodes_by_column(drawing)
    assert len(columns) == shown.last - shown.first + 1 == min(5, len(record.rounds))
    assert len({sum(node.votes for node in column) for column in columns}) == 1
    leaving, arriving = Counter(), Counter()
    for ribbon in drawing.ribbons:
        x1, _, x2, y2, end = map(float, RIBBON.match(ribbon.path).groups())
        assert end >= y2
        leaving[x1] += end - y2
        arriving[x2] += end - y2
    for column, after in pairwise(columns):
        height = sum(node.height for node in column)
        # To a tenth of a unit a ribbon, as paths are written.
        assert leaving[round(column[0].x + drawing.node_width, 1)] == pytest.approx(height, abs=2)
        assert arriving[round(after[0].x, 1)] == pytest.approx(height, abs=2)


def test_a_surplus_is_drawn_and_told_exactly():
    votes = {(1, 2): 7, (1, 3): 4, (2,): 3, (3,): 3, (4, 3): 2}
    record = count(4, votes, Rules(method="stv", seats=2))
    names = ["Ada", "Ben", "Cyd", "Dot"]
    shown = charts(record, names, 1).flow
    first = record.rounds[0]
    assert first.elected == (1,)
    (transfer,) = first.transfers
    (moved,) = (move for move in shown.moves if move.round == 1)
    assert (moved.source, moved.why) == ("Ada", "surplus")
    told = dict(moved.to)
    assert told["Ben"] == "2.5452"
    assert set(told) == {names[number - 1] for number in transfer.to} | {""}
    ada = [column[0] for column in nodes_by_column(shown.drawing)]
    # What Ada has too many goes on; the quota stays, in the colour of those who are elected.
    assert [node.said for node in ada[:2]] == ["11", "7"]
    assert {node.kind for node in ada} == {"lead"}
    assert shown.rounded
    assert "5.5" in {node.said for node in nodes_by_column(shown.drawing)[1]}
    assert shown.lead == ""


def test_who_leaves_and_who_is_exhausted_is_told_with_the_round():
    record = count(3, {(1, 2): 4, (2, 1): 3, (3,): 1, (3, 2): 1}, Rules())
    shown = charts(record, CANDIDATES).flow
    assert [tuple(move) for move in shown.moves] == [
        (1, CANDIDATES[2], "eliminated", [(CANDIDATES[1], "1"), ("", "1")]),
    ]
    assert (shown.first, shown.last, shown.lead, shown.rounded) == (1, 2, CANDIDATES[0], False)


@pytest.mark.parametrize(("method", "seats"), [("irv", 1), ("stv", 3), ("stv", 30), ("scottish-stv", 3)])
def test_of_a_hundred_a_dozen_are_drawn_apart_and_the_others_together(method, seats):
    names = [f"Candidate {number}" for number in range(1, 101)]
    votes = {(number, number % 100 + 1, (number * 7) % 100 + 1): number for number in range(1, 99)}
    votes = {tuple(dict.fromkeys(ranking)): many for ranking, many in votes.items()}
    record = count(100, votes, Rules(method=method, seats=seats), compare=False)
    for chosen in (None, 1, len(record.rounds) // 2, len(record.rounds)):
        shown = charts(record, names, chosen).flow
        columns = nodes_by_column(shown.drawing)
        # A dozen, and who is exhausted.
        assert max(map(len, columns)) <= 13
        assert len({sum(node.votes for node in column) for column in columns}) == 1
        assert all(node.y + node.height <= shown.drawing.height for node in shown.drawing.nodes)
        assert sum(len(move.to) for move in shown.moves) < 400
    from_the_first = charts(record, names, 1).flow
    assert "89 others" in {node.name for node in from_the_first.drawing.nodes}
    assert [mark.text for mark in from_the_first.drawing.rounds] == ["Round 1", "2", "3", "4", "5"]


def test_numbers_in_a_drawing_are_short():
    unit = 10_000
    short = {0: "0", 65_000: "6.5", 70_000: "7", 4_125_000: "412", 98_765_000: "9,876", 123_450_000: "12.3k"}
    assert {units: in_short(units, unit) for units in short} == short
    assert in_short(500_000, 1) == "500k"
    assert in_short(1_000_000, 1) == "1M"
    assert in_short(12_345_678, 1) == "12.3M"
