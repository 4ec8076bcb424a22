"""Records in names: the shape that the API answers, the sentences, the tables."""

import csv
import io

import msgspec

from potluck.apps.polls.counting import METHODS, Rules, count, results
from potluck.apps.polls.counting.amounts import amount, listed, percent
from potluck.apps.polls.counting.tables import as_csv, as_text

NAMES = ["Ann", "Bob", "=Cid"]
VOTES = {(1, 2): 4, (2, 1): 3, (3, 2): 2, (3,): 1}


def shown(**rules):
    return msgspec.to_builtins(results(count(3, VOTES, Rules(**rules), [2, 1, 3]), NAMES, votes_version=7))


def test_the_shape_is_the_one_of_the_api():
    answer = shown()
    assert answer["status"] == "final"
    assert (answer["method"], answer["seats"], answer["votes"], answer["votesVersion"]) == ("irv", 1, 10, 7)
    assert answer["winners"] == ["Bob"]
    first, last = answer["rounds"]
    assert first == {
        "round": 1,
        "tallies": {"Ann": "4", "Bob": "3", "=Cid": "3"},
        "threshold": "6",
        "eliminated": ["=Cid"],
        "elected": [],
        "exhausted": {},
        "transfers": [{"from": "=Cid", "to": {"Bob": "2"}, "exhausted": {"exhaustedChoices": "1"}}],
        "ties": [
            {
                "over": "elimination",
                "candidates": ["Bob", "=Cid"],
                "chosen": ["=Cid"],
                "byLot": False,
                "decidedBy": "head-to-head",
                "sentence": "Bob and =Cid are tied to be eliminated, each with 3 votes. Head to head, =Cid loses to "
                "Bob.",
            }
        ],
        "sentence": "No candidate has 6 votes, more than half of the 10 still active. =Cid has the fewest votes, "
        "3, and is eliminated. Bob and =Cid are tied to be eliminated, each with 3 votes. Head to head, =Cid loses to "
        "Bob. Transfer of 3 votes from =Cid: 2 to Bob, 1 exhausted.",
    }
    assert last["tallies"] == {"Ann": "4", "Bob": "5"}
    assert last["exhausted"] == {"exhaustedChoices": "1"}
    assert last["sentence"] == (
        "Bob has 5 of the 9 votes still active (55.6% of them, 50% of all ballots). That’s more than half: Bob is "
        "elected."
    )
    assert answer["pairwise"]["Ann"] == {"Bob": 4, "=Cid": 7}
    assert answer["condorcetWinner"] == "Bob"
    assert answer["otherMethods"] == {
        "schulze": ["Bob"],
        "ranked-pairs": ["Bob"],
        "borda": ["Bob"],
        "plurality": ["Ann"],
    }
    assert answer["lotOrder"] == ["Bob", "Ann", "=Cid"]
    assert answer["rules"]["overvote"] == "exhaust"


def test_without_votes_winners_and_rounds_are_empty():
    answer = msgspec.to_builtins(results(count(3, {}), NAMES, status="live"))
    assert (answer["winners"], answer["rounds"], answer["otherMethods"]) == ([], [], {})
    assert answer["sentence"] == "No candidate leads yet. There are no votes."


def test_condorcet_methods_show_what_they_went_by():
    assert shown(method="schulze")["strongestPaths"]["Bob"] == {"Ann": 5, "=Cid": 7}
    assert shown(method="ranked-pairs")["pairs"][0] == {
        "winner": "Bob",
        "loser": "=Cid",
        "votes": 7,
        "against": 3,
        "locked": True,
    }
    assert shown(method="schulze")["rounds"][0]["sentence"] == (
        "Bob beats each of the others head to head. Bob is elected."
    )


def test_every_step_of_every_method_is_said():
    for method in ("irv", "stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality"):
        for seats in (1,) if method == "irv" else (1, 2):
            for each in shown(method=method, seats=seats)["rounds"]:
                assert each["sentence"].endswith(".")


def test_amounts_are_exact_and_short():
    assert [amount(units, 5) for units in (150000, 100000, 684848, 1, 0)] == ["1.5", "1", "6.84848", "0.00001", "0"]
    assert [percent(1, 3), percent(2, 3), percent(1, 2), percent(1, 2000), percent(0, 0)] == [
        "33.3%",
        "66.7%",
        "50%",
        "0.1%",
        "0%",
    ]
    assert [listed("A"), listed("AB"), listed("ABC")] == ["A", "A and B", "A, B and C"]


def test_csv_has_a_line_for_each_figure_and_no_formula():
    rows = list(csv.DictReader(io.StringIO(as_csv(results(count(3, VOTES), NAMES)))))
    tallies = [(row["round"], row["name"], row["votes"]) for row in rows if row["kind"] == "candidate"]
    assert tallies == [("1", "Ann", "4"), ("1", "Bob", "3"), ("1", "'=Cid", "3"), ("2", "Ann", "4"), ("2", "Bob", "5")]
    assert [row["name"] for row in rows if row["kind"] == "winner"] == ["Bob"]


def test_a_sentence_that_begins_with_a_name_is_no_formula_either():
    for method in METHODS:
        # Most methods begin with who is elected.
        written = as_csv(results(count(2, {(1, 2): 2, (2, 1): 1}, Rules(method=method)), ["=1+1", "\uff1dB"]))
        cells = [each for row in csv.reader(io.StringIO(written)) for each in row]
        assert not [each for each in cells if each.startswith(("=", "\uff1d"))]


def test_text_lines_figures_up_by_their_points_and_names_by_their_width():
    text = as_text(results(count(3, {(1, 2): 9, (2,): 1, (3,): 1}, Rules(method="stv", seats=2)), ["安", "Bo", "C"]))
    assert "  安  4  " not in text
    assert "\n  安  9  elected\n  Bo  1\n" in text
    assert "安 and Bo are elected." in text
