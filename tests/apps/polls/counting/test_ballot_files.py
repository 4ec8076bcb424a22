"""Ballot files: what is written is read back, quirks are understood, and what cannot be counted is refused."""

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.apps.polls import ballot_files
from potluck.apps.polls.ballot_files import BallotFile, Format, UnreadableBallots, read, write
from potluck.apps.polls.ballot_files.contents import CandidateNumbers
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE
from tests.apps.polls.counting.strategies import contests, marked_votes

NAMES = ["Ann", "Bob", "Cid", "Dot", "Eve"]
WRITTEN = get_args(Format)


def trimmed(votes):
    counts = {}
    for ranking, many in votes.items():
        while ranking and ranking[-1] == ():
            ranking = ranking[:-1]
        counts[ranking] = counts.get(ranking, 0) + many
    return counts


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=40)
@given(contest=contests(marked_votes))
def test_what_is_written_is_read_back(format, contest):
    candidates, votes, _ = contest
    file = BallotFile(candidates=NAMES[:candidates], ballots=trimmed(votes))
    again = read(write(file, format).encode(), format)
    assert (again.candidates, again.ballots) == (file.candidates, file.ballots)


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=100)
@given(
    names=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8),
        min_size=2,
        max_size=4,
        unique_by=lambda name: name.casefold(),
    )
)
def test_any_names_survive(format, names):
    try:
        file = BallotFile(candidates=CandidateNumbers(names).names, ballots={(1, 2): 3, (2,): 1})
    except UnreadableBallots:
        return
    again = read(write(file, format).encode(), format)
    assert (again.candidates, again.ballots) == (file.candidates, file.ballots)


def test_names_stay_as_the_file_has_them_however_the_ballots_spell_them():
    # Whoever looks up a tally by the name in their own file finds it.
    names = ["ANN  B. LEE", "Cafe\u0301"]
    file = read(json.dumps({"candidates": names, "ballots": [["ann b. lee", "Caf\u00e9"], [names[0]]]}).encode())
    assert (file.candidates, file.ballots) == (names, {(1, 2): 1, (1,): 1})


def test_the_order_of_lines_in_a_file_changes_nothing_about_it():
    one = read(b"rank 1,rank 2\nBob,Ann\nAnn,\n")
    other = read(b"rank 1,rank 2\nAnn,\nBob,Ann\n")
    assert (one.candidates, one.ballots) == (other.candidates, other.ballots)


def test_an_overvote_without_names_is_kept_where_the_format_can_say_it():
    file = BallotFile(candidates=["Ann", "Bob"], ballots={(1, UNNAMED_OVERVOTE): 2, (2,): 1})
    for format in ("json", "csv"):
        assert read(write(file, format).encode()).ballots == file.ballots
    with pytest.raises(UnreadableBallots, match="BLT cannot express"):
        write(file, "blt")


def test_json_understands_rankings_ranks_and_bare_lists():
    file = read(
        b'{"candidates": ["Ann", {"name": "Bob"}], "seats": 2, "lotOrder": ["Bob", "Ann"], "ballots": ['
        b'{"ranking": ["ann ", "BOB"], "count": 3}, {"ranks": [[], ["Bob"], ["Ann", "Bob"]]}, ["Bob", null, ""]]}'
    )
    assert file.ballots == {(1, 2): 3, ((), 2, (1, 2)): 1, (2,): 1}
    assert (file.seats, file.lot_order) == (2, [2, 1])


def test_csv_by_candidate_understands_gaps_equals_and_other_separators():
    file = read("\ufeffballot id;count;Ann;Bob;Undeclared Write-ins\r\nx1;2;1;1;3\r\n\r\nx2;1;;2;\r\n".encode())
    assert file.candidates == ["Ann", "Bob", "Undeclared Write-ins"]
    assert file.ballots == {((1, 2), (), 3): 2, ((), 2): 1}
    assert file.undeclared == [3]


def test_csv_by_rank_understands_what_machines_write():
    file = read(
        b'Cast Vote Record,Precinct,1st Choice,2nd Choice,3rd choice\n1,P,"Ann, A.",undervote,overvote\n2,P,Bob|Cid,,\n'
    )
    assert file.candidates == ["Ann, A.", "Bob", "Cid"]
    assert file.ballots == {(1, (), UNNAMED_OVERVOTE): 1, ((2, 3),): 1}


def test_csv_by_rank_goes_by_the_number_of_a_rank_not_by_the_place_of_its_column():
    # Two columns of one rank are an overvote, and a rank without a column is one that everybody left empty.
    file = read(b"rank 4,rank 1,rank 1,rank 2\nD,A,B,C\n,A,A,\n")
    assert file.ballots == {((1, 2), 3, (), 4): 1, (1,): 1}
    assert read(b"rank 0,rank 1\nA,B\n").ballots == {(1, 2): 1}
    # A first column without a heading numbers the lines, and spreadsheets leave commas at their ends.
    assert read(b",rank 1,rank 2,\n0,A,B,,\n").ballots == {(1, 2): 1}


def test_windows_and_utf_16_files_are_read():
    assert read("rank 1\nZoë\n".encode("cp1252")).candidates == ["Zoë"]
    assert read("rank 1\nZoë\n".encode("utf-16")).candidates == ["Zoë"]


BLT = b"""\xef\xbb\xbf# a comment
4 2
-3
[tie 4 3 2 1]
3 1 2 0   # three voters
(id7) 3 2=4 - 1 0
2.0 4 0
1 0
0
"Ann" "Bob"
"Cid"
Dot
"A "good" title"
"""


def test_blt_understands_withdrawals_equals_gaps_ids_and_comments():
    file = read(BLT)
    assert file.candidates == ["Ann", "Bob", "Dot"]
    # Who has withdrawn leaves no gap.
    assert file.ballots == {(1, 2): 3, ((2, 3), (), 1): 1, (3,): 2, (): 1}
    assert (file.seats, file.title, file.lot_order) == (2, 'A "good" title', [1, 2, 3])


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        (b"", "", "empty"),
        (b'{"candidates": ["A"],\n "ballots": [', "line 2", "not JSON"),
        (b'{"candidates": ["A"], "ballots": [{"ranking": ["B"], "count": 1}]}', "ballot 1", "“B” is not a candidate"),
        (b'{"candidates": ["A"], "ballots": [["A"], {"ranking": ["A"], "count": 1.5}]}', "ballot 2", "whole number"),
        (b'{"candidates": ["A"], "ballots": [{"ranking": ["A"], "count": true}]}', "ballot 1", "whole number"),
        (b'{"candidates": ["A", "a"], "ballots": []}', "candidates", "occurs twice"),
        (b'{"candidates": ["A"], "ballots": [{"ranking": [1]}]}', "ballot 1", "must be a name"),
        (b"[3]", "ballot 1", "list of names"),
        (b'{"candidates": ["A"], "lotOrder": 5, "ballots": []}', "lotOrder", "the wrong type"),
        (b"rank 1,rank 99999\nA,B\n", "line 1", "is not a rank"),
        # What would be lost without a word: a rank that is misspelt, a candidate's column among ranks, a cell too many.
        (b"rank 1,rnak 2\nA,B\n", "line 1", "“rnak 2” is neither a rank"),
        (b"count,rank 1,Ann,Bob\n1,A,1,2\n", "line 1", "“Ann” and “Bob” are neither ranks"),
        (b"rank 1,votes,count\nA,2,3\n", "line 1", "“votes” and “count” are neither ranks"),
        (b"rank 1,rank 2\nA,B,C\n", "line 2", "“C” has no heading"),
        (b"rank 1,,rank 2\nA,B,C\n", "line 2", "“B” has no heading"),
        (b"rank " + b"9" * 5_000 + b",rank 2\nA,B\n", "line 1", "is not a rank"),
        (b"count,A,B\n1,1,2\nx,2,1\n", "line 3", "its count is “x”"),
        (b"count,A,B\n1,1,first\n", "line 2", "“first” under “B” is not a rank"),
        (b"count,A,B\n1,1,0\n", "line 2", "“0” under “B” is not a rank"),
        (b"count,A,B\n1,1,2,3\n", "line 2", "4 cells"),
        (b"2 1\n1 3 0\n0\n", "line 2", "“3” is not one of the candidates 1 to 2"),
        (b"2 1\n1 2\n1 1 0\n0\n", "line 2", "ends with 0"),
        (b"2 1\n1 2 0\n", "line 2", "the file ends"),
        (b'2 1\n1 2 0\n"A"\n"B"\n', "line 3", "no line with 0"),
        (b'2 1\n1 2 0\n0\n"A"\n', "line 4", "only 1 names"),
        (b"2 1\nx 2 0\n0\n", "line 2", "starts with the number"),
        (b"2 1\n0.5 2 0\n0\n", "line 2", "starts with the number"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_place_and_reason(text, where, why):
    with pytest.raises(UnreadableBallots) as refused:
        read(text)
    assert str(refused.value).startswith(where)
    assert why in str(refused.value)


@settings(max_examples=60)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_anything_else_is_read_or_refused_but_never_fails(data):
    for format in (None, *ballot_files.FORMATS):
        try:
            read(data, format)
        except UnreadableBallots:
            continue


def test_progress_is_told_on_the_way():
    told = []
    read(b"count,A,B\n" + b"1,2,1\n" * 100_000, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 1
    assert 0 < told[0] < told[-1] <= 1


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\u202e"])
def test_a_name_with_an_invisible_command_in_it_is_refused_by_candidate(sign):
    text = json.dumps({"candidates": ["Ann", f"Bo{sign}b"], "ballots": [{"ranking": ["Ann"], "count": 1}]})
    with pytest.raises(UnreadableBallots, match="candidates: the name of candidate 2 must"):
        read(text.encode(), "json")


def test_json_can_mark_a_candidate_as_excluded():
    listed = ["Ann", {"name": "Bob", "excluded": True}, {"name": "Cid", "excluded": False}]
    ballots = [{"ranking": ["Bob", "Cid"], "count": 2}, {"ranking": ["Ann", "Bob"]}, {"ranking": ["Bob"]}]
    file = read(json.dumps({"candidates": listed, "lotOrder": ["Bob", "Cid", "Ann"], "ballots": ballots}).encode())
    assert (file.candidates, file.lot_order) == (["Ann", "Cid"], [2, 1])
    assert file.ballots == {(2,): 2, (1,): 1, (): 1}
    for wrong in ([{"name": "Ann", "excluded": "yes"}], [{"name": "Ann", "excluded": True}]):
        with pytest.raises(UnreadableBallots, match="candidates"):
            read(json.dumps({"candidates": wrong, "ballots": []}).encode(), "json")
