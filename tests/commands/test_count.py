"""`potluck count` in the terminal."""

import io
import json
import os
import shlex
import subprocess
import sys
from typing import get_args

import pytest

from potluck.apps.polls.ballot_files import BallotFile, Format, write
from potluck.commands import count, progress_bar
from potluck.commands.main import main

BALLOTS = {
    "candidates": ["Ann", "Bob", "Undeclared Write-ins"],
    "ballots": [
        {"ranking": ["Ann"], "count": 4},
        {"ranking": ["Bob"], "count": 3},
        {"ranks": [["Undeclared Write-ins"], ["Bob"]], "count": 2},
    ],
}


@pytest.fixture
def counted(tmp_path, capsys):
    def run(*arguments, ballots=BALLOTS, name="ballots.json"):
        file = tmp_path / name
        written = ballots if isinstance(ballots, str | bytes) else json.dumps(ballots)
        file.write_bytes(written if isinstance(written, bytes) else written.encode())
        status = main(["count", str(file), *arguments])
        return status, *capsys.readouterr()

    return run


def test_text_shows_every_round_and_the_winner(counted):
    status, out, err = counted()
    assert (status, err) == (0, "")
    assert "Round 1: 5 votes elect" in out
    assert "Undeclared Write-ins, not declared as candidates, cannot win and leave first." in out
    assert "\nBob is elected.\n" in out


ENDED = {
    "candidates": ["Ann", "Bob", "Cid"],
    "ballots": [
        {"ranks": [["Ann"]], "count": 9},
        {"ranks": [["Bob"]], "count": 6},
        {"ranks": [["Cid"]], "count": 1},
        {"ranks": [["Cid"], ["Ann", "Bob"]], "count": 1},
        {"ranks": [["Cid"], [], [], ["Ann"]], "count": 1},
        {"ranks": [["Cid"], ["Cid"], ["Ann"]], "count": 1},
    ],
}


def test_why_ballots_ended_is_said_in_words(counted):
    options = ("--skipped-ranks", "1", "--repeats", "exhaust", "--continue-to-two")
    _, out, _ = counted(*options, ballots=ENDED)
    for words in (
        "(no choice left)",
        "(ended at an overvote)",
        "(ended at skipped ranks)",
        "(ended at a repeated name)",
    ):
        assert words in out
    _, seats, _ = counted("--seats", "2", ballots={**ENDED, "ballots": ENDED["ballots"][:3]})
    assert "(surplus, all seats filled)" in seats
    for cause in ("exhaustedChoices", "overvotes", "skippedRankings", "repeatedRankings", "finalRoundSurplus"):
        assert cause not in out + seats


def test_json_is_the_shape_of_the_api(counted):
    status, out, _ = counted("--format", "json")
    assert status == 0
    answer = json.loads(out)
    assert answer["winners"] == ["Bob"]
    assert [each["eliminated"] for each in answer["rounds"]] == [["Undeclared Write-ins"], []]


def test_csv_has_a_header_and_the_winner(counted):
    _, out, _ = counted("--format", "csv")
    assert out.startswith("round,kind,name,votes")
    assert ",winner,Bob," in out


def test_options_reach_the_rules(counted):
    _, out, _ = counted(
        *("--method", "stv", "--seats", "2", "--decimals", "2", "--overvote", "skip", "--skipped-ranks", "1"),
        *(
            "--repeats",
            "exhaust",
            "--ties",
            "lot",
            "--lot-order",
            "reversed",
            "--undeclared",
            "bob",
            "--format",
            "json",
        ),
        *("--fractional-quota", "--one-winner-per-round", "--quota", "hare", "--max-rankings", "3"),
        *("--minimum-votes", "1", "--stop-after", "9"),
    )
    answer = json.loads(out)
    assert answer["lotOrder"] == ["Undeclared Write-ins", "Bob", "Ann"]
    assert answer["rules"] == {
        "method": "stv",
        "seats": 2,
        "continueToTwo": False,
        "batchElimination": False,
        "overvote": "skip",
        "skippedRanks": 1,
        "repeats": "exhaust",
        "undeclared": [2],
        "ties": "lot",
        "decimals": 2,
        "fractionalQuota": True,
        "oneWinnerPerRound": True,
        "quota": "hare",
        "maxRankings": 3,
        "minimumVotes": 1,
        "firstRoundThreshold": False,
        "sharePercent": None,
        "omega": None,
        "stopAfter": 9,
        "seed": None,
    }


def test_seats_and_method_come_from_the_file_where_nothing_is_said(counted):
    blt = '3 2\n4 1 0\n3 2 0\n1 3 0\n0\n"A"\n"B"\n"C"\n"Title"\n'
    _, out, _ = counted("--format", "json", ballots=blt, name="ballots.blt")
    assert json.loads(out)["method"] == "stv"
    assert json.loads(out)["winners"] == ["A", "B"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seats", "2", "--method", "irv"), "irv elects one"),
        (("--lot-order", "1,2"), "lot order must name each"),
        (("--lot-order", "x"), "candidates' numbers"),
        (("--undeclared", "Zed"), "“Zed” is not a candidate"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(counted, arguments, said):
    status, out, err = counted(*arguments)
    assert (status, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_sentence(capsys):
    assert main(["count", "/nowhere/ballots.blt"]) == 1
    assert "No such file" in capsys.readouterr().err


def test_names_in_a_file_cannot_command_the_terminal(counted):
    names = ["\x1b[2JAnn", "\u202eBob", "می\u200cخواهم"]
    for name in names[:2]:
        status, out, err = counted(ballots={"candidates": [name, "Bob"], "ballots": [[name]]})
        assert (status, out) == (1, "")
        assert "the name of candidate 1 must" in err
        assert "\x1b" not in err
        assert "\u202e" not in err
    status, out, _ = counted(ballots={"candidates": names[2:], "ballots": [names[2:]]})
    assert status == 0
    assert names[2] in out
    status, _, err = counted(ballots={"candidates": ["Ann"], "ballots": [["\x1b]0;Zed\x07"]]})
    assert status == 1
    assert "\x1b" not in err
    assert "Zed" in err


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_large_file_has_a_bar_where_somebody_looks(counted, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(count.sys, "stderr", screen)
    monkeypatch.setattr(progress_bar, "REDRAWN_EVERY", 0.0)
    monkeypatch.setattr(count, "LARGE_BYTES", 100_000)
    lines = "1 2 1 0\n" * 50_000
    status, out, _ = counted("--format", "json", ballots=f'2 1\n{lines}0\n"A"\n"B"\n', name="large.blt")
    assert status == 0
    assert json.loads(out)["votes"] == 50_000
    assert "reading [" in screen.getvalue()
    assert screen.getvalue().endswith("\r\033[K")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("votes.xlsx", b"PK\x03\x04rest", "a spreadsheet"),
        ("votes.csv", b"\xd0\xcf\x11\xe0rest", "a spreadsheet"),
        ("votes.csv", b"count,A\n1,\x001\n", "NUL bytes"),
        ("votes.csv", b"hello", "no ballots"),
        ("votes", b"hello\nworld\n", "“world” under “hello” is not a rank"),
        ("votes.blt", b"hello", "expected the numbers of candidates and seats"),
        ("votes.soi", b"hello", "expected a heading of PrefLib's"),
    ],
)
def test_what_is_no_ballot_file_is_refused_with_what_is_accepted(counted, name, content, said):
    status, out, err = counted(ballots=content, name=name)
    assert (status, out) == (1, "")
    assert said in err
    assert "Accepted are ballots in JSON, CSV, BLT and PrefLib's .soc, .soi, .toc and .toi" in err


PREFLIB = """# FILE NAME: 00000-00000001.toi
# TITLE: Leader
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 9
# ALTERNATIVE NAME 1: Ann, A.
# ALTERNATIVE NAME 2: Bob
# ALTERNATIVE NAME 3: Cid
4: 1,2
3: 2
2: {1,3},2
"""
OLD_PREFLIB = "3\n1,Ann, A.\n2,Bob\n3,Cid\n9,9,3\n4,1,2\n3,2\n2,{1,3},2\n"


@pytest.mark.parametrize("ballots", [PREFLIB, OLD_PREFLIB])
@pytest.mark.parametrize("name", ["00000-00000001.toi", "unknown"])
def test_preflib_files_are_counted(counted, ballots, name):
    status, out, _ = counted("--format", "json", "--overvote", "skip", ballots=ballots, name=name)
    answer = json.loads(out)
    assert status == 0
    assert answer["rounds"][0]["tallies"] == {"Ann, A.": "4", "Bob": "5", "Cid": "0"}


def test_an_output_without_the_letters_of_a_name_shows_their_numbers(tmp_path):
    file = tmp_path / "ballots.csv"
    file.write_text("count,Zoë,李\n2,1,2\n", encoding="utf-8")
    for encoding in ("ascii", "latin-1"):
        done = potluck("count", str(file), encoding=encoding)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\\u674e" in done.stdout
    refused = potluck("count", str(tmp_path / "Zoë.csv"), encoding="ascii")
    assert refused.returncode == 1
    assert b"Traceback" not in refused.stderr


def test_a_reader_who_has_seen_enough_is_not_complained_to(tmp_path):
    names = [f"Candidate {number}" for number in range(300)]
    file = tmp_path / "ballots.csv"
    file.write_text(",".join(names) + "\n" + ",".join(str(number + 1) for number in range(300)) + "\n")
    done = potluck("count", str(file), "--format", "json", reader="head -1")
    assert done.stderr == b""
    assert done.stdout == b"{\n"


def potluck(*arguments, encoding="utf-8", reader=None):
    command = shlex.join([sys.executable, "-m", "potluck.commands.main", *arguments])
    env = os.environ | {"PYTHONIOENCODING": encoding}
    return subprocess.run(f"{command} | {reader}" if reader else command, shell=True, env=env, capture_output=True)


def test_a_poll_s_ballots_are_recounted_with_its_lots_seats_and_method(counted):
    """Whatever decided the poll is in the file: otherwise another would win, and nothing would say so."""
    tie = BallotFile(candidates=["A", "B"], ballots={(1,): 1, (2,): 1}, seats=1, method="irv", lot_order=[2, 1])
    board = BallotFile(
        candidates=["A", "B", "C"],
        ballots={(1, 2): 3, (3,): 2, (2,): 2},
        seats=2,
        method="schulze",
        lot_order=[3, 1, 2],
    )
    for format in get_args(Format):
        _, out, _ = counted("--format", "json", ballots=write(tie, format), name=f"tie.{format}")
        answer = json.loads(out)
        assert (answer["winners"], answer["lotOrder"], answer["decidedBy"]) == (["B"], ["B", "A"], "lots")
        _, out, _ = counted("--format", "json", ballots=write(board, format), name=f"board.{format}")
        answer = json.loads(out)
        assert (answer["method"], answer["seats"], answer["lotOrder"]) == ("schulze", 2, ["C", "A", "B"])


def test_no_lot_is_claimed_that_nobody_drew(counted):
    tied = {"candidates": ["A", "B"], "ballots": [["A"], ["B"]]}
    for format in ("text", "csv", "json"):
        _, out, _ = counted("--format", format, ballots=tied)
        assert "Lots decided" not in out
        assert "lot order" not in out
        assert "No lots were drawn, so the order on the ballot decide" in out
        _, out, _ = counted("--format", format, "--lot-order", "2,1", ballots=tied)
        assert "Lots decided" not in out
        assert "The given order decided." in out
    _, out, _ = counted("--seed", "12345", ballots=tied)
    assert "A draw from the published seed decided." in out


def test_ties_are_drawn_from_a_seed_as_rctab_draws_them(counted):
    # java.util.Random of 0 says 0.73 first, and of 12345 it says 0.36.
    tied = {"candidates": ["B", "A"], "ballots": [["A"], ["B"]]}
    for seed, winner in (("0", "B"), ("12345", "A")):
        _, out, _ = counted("--format", "json", "--seed", seed, ballots=tied)
        assert json.loads(out)["winners"] == [winner]


def test_the_winner_of_a_tie_is_never_shown_as_a_plain_one(counted):
    tied = {"candidates": ["A", "B"], "lotOrder": ["B", "A"], "ballots": [["A"], ["B"]]}
    sentence = "B is elected. A and B were tied. Lots decided."
    _, out, _ = counted(ballots=tied)
    assert f"\n{sentence}\n" in out
    _, out, _ = counted("--format", "csv", ballots=tied)
    assert '\n,winner,B,,"elected, tie decided by lot",,,,\n' in out
    assert f",result,,,decided by lot,{sentence}," in out
    _, out, _ = counted("--format", "json", ballots=tied)
    answer = json.loads(out)
    assert (answer["sentence"], answer["decidedBy"], answer["winnersByTie"]) == (sentence, "lots", ["B"])


CIRCLE = {"candidates": ["Ann", "Bob", "Cid"], "ballots": [*[["Ann", "Bob", "Cid"]] * 4, *[["Bob", "Cid", "Ann"]] * 3]}
CIRCLE["ballots"] += [["Cid", "Ann", "Bob"]] * 2


def test_condorcet_methods_show_pairs_paths_and_margins(counted):
    _, out, _ = counted("--method", "schulze", ballots=CIRCLE)
    assert "  1 Ann          6 (+3)  4 (-1)\n" in out
    assert "Strongest paths" in out
    _, out, _ = counted("--method", "ranked-pairs", ballots=CIRCLE)
    assert "  Cid over Ann: 5 to 4, by 1, left out: it would close a circle" in out
    _, out, _ = counted("--method", "ranked-pairs", "--format", "csv", ballots=CIRCLE)
    assert ",pair,Ann,6,,,Bob,3,3\n" in out
    assert ",majority,Cid,5,left out,,Ann,4,1\n" in out
    _, out, _ = counted("--method", "schulze", "--format", "csv", ballots=CIRCLE)
    assert ",path,Ann,6,,,Bob,5,1\n" in out
