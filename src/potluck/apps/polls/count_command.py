"""`potluck count`: count a ballot file in the terminal."""

import argparse
import re
import sys
from pathlib import Path

import msgspec

from potluck.apps.polls import ballot_files
from potluck.apps.polls.ballot_files import BallotFile, UnreadableBallots
from potluck.apps.polls.ballot_files.contents import Names
from potluck.apps.polls.counting import METHODS, CannotCount, Rules, count, results
from potluck.apps.polls.counting.rules import MOST_DECIMALS
from potluck.apps.polls.counting.tables import as_csv, as_text
from potluck.progress_bar import ProgressBar

__all__ = ["add_parser", "run"]

# Smaller files are counted before a bar could be read.
LARGE_BYTES = 2_000_000
# Control characters but for the line's end, and the signs that override the direction of what follows.
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "count",
        help="count a ballot file by any method, showing every round",
        description="Count a ballot file (JSON, CSV or BLT) and show every round. Exit status: 0 counted, 1 refused "
        "with a sentence, 2 called wrongly.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the ballots; - reads them from standard input")
    parser.add_argument("--method", choices=METHODS, help="irv, or stv if there are several seats, unless given")
    parser.add_argument("--seats", type=int, metavar="N", help="how many are elected (1, or what the file says)")
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="how to show it (%(default)s)"
    )
    parser.add_argument("--input", choices=ballot_files.FORMATS, help="the file's format, where it cannot be told")
    parser.add_argument("--continue-to-two", action="store_true", help="go on after a majority until two are left")
    parser.add_argument(
        "--batch-elimination", action="store_true", help="eliminate at once all who could not catch up even together"
    )
    parser.add_argument(
        "--overvote",
        choices=("exhaust", "skip", "exhaust-if-several"),
        default="exhaust",
        help="what a rank with several names does to a ballot (%(default)s)",
    )
    parser.add_argument(
        "--skipped-ranks",
        type=_ranks,
        metavar="N",
        help="how many ranks in a row may be empty before a ballot ends (any number)",
    )
    parser.add_argument(
        "--repeats",
        choices=("ignore", "exhaust"),
        default="ignore",
        help="what naming somebody again does (%(default)s)",
    )
    parser.add_argument(
        "--undeclared",
        action="append",
        metavar="NAME",
        help="a name that stands for undeclared write-ins, who leave first and cannot win; may be given several times "
        "(a candidate called “Undeclared Write-ins” unless given)",
    )
    parser.add_argument(
        "--ties",
        choices=("previous-rounds", "lot"),
        default="previous-rounds",
        help="whether earlier rounds break ties before the lot order does (%(default)s)",
    )
    parser.add_argument(
        "--lot-order",
        metavar="ORDER",
        help="candidates' numbers, the favoured first, as in 3,1,2; or “reversed” "
        "(the file's, or else the candidates' own order)",
    )
    parser.add_argument(
        "--decimals",
        type=int,
        default=Rules().decimals,
        metavar="N",
        help=f"what stv carries votes to, 0 to {MOST_DECIMALS} (%(default)s)",
    )
    parser.add_argument("--fractional-quota", action="store_true", help="stv: a quota that is not in whole votes")
    parser.add_argument("--one-winner-per-round", action="store_true", help="stv: elect only one in a round")
    parser.set_defaults(run=lambda chosen, *_: run(chosen))
    return parser


def run(args: argparse.Namespace) -> int:
    """Count the file and print the result; what cannot be counted is said on standard error."""
    bar = ProgressBar(sys.stderr)
    try:
        file = _read(args, bar)
        bar.show("counting", 1.0)
        record = count(len(file.candidates), file.ballots, _rules(args, file), _lot_order(args, file))
    except (UnreadableBallots, CannotCount, OSError) as problem:
        bar.clear()
        print(_harmless(f"potluck count: {args.file}: {problem}"), file=sys.stderr)
        return 1
    bar.clear()
    counted = results(record, file.candidates)
    if args.format == "json":
        print(msgspec.json.format(msgspec.json.encode(counted), indent=1).decode())
    elif args.format == "csv":
        print(as_csv(counted), end="")
    else:
        print(_harmless(as_text(counted)), end="")
    return 0


def _read(args: argparse.Namespace, bar: ProgressBar) -> BallotFile:
    data = sys.stdin.buffer.read() if str(args.file) == "-" else args.file.read_bytes()
    suffix = args.file.suffix.lower().removeprefix(".")
    format = args.input or (suffix if suffix in ballot_files.FORMATS else None)
    if len(data) < LARGE_BYTES:
        return ballot_files.read(data, format)
    bar.show("reading", 0.0)
    return ballot_files.read(data, format, lambda part: bar.show("reading", part))


def _rules(args: argparse.Namespace, file: BallotFile) -> Rules:
    seats = args.seats if args.seats is not None else file.seats or 1
    names = Names(file.candidates)
    undeclared = file.undeclared
    if args.undeclared is not None:
        undeclared = [names.number(name, "--undeclared") for name in args.undeclared]
    return Rules(
        method=args.method or ("irv" if seats == 1 else "stv"),
        seats=seats,
        continue_to_two=args.continue_to_two,
        batch_elimination=args.batch_elimination,
        overvote=args.overvote,
        skipped_ranks=args.skipped_ranks,
        repeats=args.repeats,
        undeclared=tuple(sorted(set(undeclared))),
        ties=args.ties,
        decimals=args.decimals,
        fractional_quota=args.fractional_quota,
        one_winner_per_round=args.one_winner_per_round,
    )


def _lot_order(args: argparse.Namespace, file: BallotFile) -> list[int]:
    everybody = list(range(1, len(file.candidates) + 1))
    if args.lot_order is None:
        return file.lot_order or everybody
    if args.lot_order == "reversed":
        return everybody[::-1]
    try:
        return [int(number) for number in args.lot_order.split(",")]
    except ValueError as problem:
        raise CannotCount("the lot order is candidates' numbers with commas between them") from problem


def _harmless(text: str) -> str:
    """Without what would command a terminal or turn a line around: the names come from a file of anybody's."""
    return COMMANDS.sub("\N{REPLACEMENT CHARACTER}", text)


def _ranks(text: str) -> int | None:
    return None if text == "any" else int(text)
