"""`potluck count` in the terminal."""

import argparse
import io
import json

import pytest

from potluck import progress_bar
from potluck.apps.polls import count_command

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
        file.write_text(ballots if isinstance(ballots, str) else json.dumps(ballots))
        parser = argparse.ArgumentParser()
        count_command.add_parser(parser.add_subparsers(required=True))
        chosen = parser.parse_args(["count", str(file), *arguments])
        status = chosen.run(chosen, None)
        return status, *capsys.readouterr()

    return run


def test_text_shows_every_round_and_the_winner(counted):
    status, out, err = counted()
    assert (status, err) == (0, "")
    assert "Round 1, 5 to be elected" in out
    assert "Undeclared Write-ins, not having been declared, cannot win and leave first." in out
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
        *("--fractional-quota", "--one-winner-per-round"),
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
    parser = argparse.ArgumentParser()
    count_command.add_parser(parser.add_subparsers(required=True))
    chosen = parser.parse_args(["count", "/nowhere/ballots.blt"])
    assert count_command.run(chosen) == 1
    assert "No such file" in capsys.readouterr().err


def test_names_in_a_file_cannot_command_the_terminal(counted):
    names = ["\x1b[2JAnn", "\u202eBob", "می\u200cخواهم"]
    status, out, _ = counted(ballots={"candidates": names, "ballots": [[names[0], names[1]]]})
    assert status == 0
    assert "Ann" in out
    assert names[2] in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    status, _, err = counted(ballots={"candidates": ["Ann"], "ballots": [["\x1b]0;Zed\x07"]]})
    assert status == 1
    assert "\x1b" not in err
    assert "Zed" in err


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_large_file_has_a_bar_where_somebody_looks(counted, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(count_command.sys, "stderr", screen)
    monkeypatch.setattr(progress_bar, "REDRAWN_EVERY", 0.0)
    monkeypatch.setattr(count_command, "LARGE_BYTES", 100_000)
    lines = "1 2 1 0\n" * 25_000
    status, out, _ = counted("--format", "json", ballots=f'2 1\n{lines}0\n"A"\n"B"\n', name="large.blt")
    assert status == 0
    assert json.loads(out)["votes"] == 25_000
    assert "reading [" in screen.getvalue()
    assert screen.getvalue().endswith("\r\033[K")
