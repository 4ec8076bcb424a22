"""`potluck count`: count a ballot file in the terminal."""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, TextIO, get_args

import msgspec

from potluck.apps.polls import ballot_files
from potluck.apps.polls.ballot_files import BallotFile, UnreadableBallots
from potluck.apps.polls.ballot_files.contents import CandidateNumbers
from potluck.apps.polls.ballot_files.json_ballots import usual_method
from potluck.apps.polls.counting import METHODS, CannotCount, Rules, TieOrder, count, results
from potluck.apps.polls.counting.rules import MOST_DECIMALS, TieRule
from potluck.apps.polls.counting.seeded_draws import SeededDraws
from potluck.apps.polls.counting.tables import as_csv, as_text
from potluck.commands.progress_bar import ProgressBar
from potluck.settings import Settings

# Smaller files are counted before anyone could read a progress bar.
LARGE_BYTES = 2_000_000
# Piped input beyond this size is buffered on disk.
MOST_IN_MEMORY = 64 << 20
# Control characters except the line end, and characters that override the direction of text.
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the ballot file; - reads standard input")
    parser.add_argument(
        "--method", choices=METHODS, help="the counting method (the file's, otherwise irv, or stv for several seats)"
    )
    parser.add_argument("--seats", type=int, metavar="N", help="the number of seats (the file's, otherwise 1)")
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="the output format (%(default)s)"
    )
    parser.add_argument("--input", choices=ballot_files.FORMATS, help="the file's format, if it cannot be detected")
    parser.add_argument(
        "--continue-to-two", action="store_true", help="continue after a majority until two candidates are left"
    )
    parser.add_argument(
        "--batch-elimination",
        action="store_true",
        help="eliminate together all candidates who cannot catch up even with their combined votes",
    )
    parser.add_argument(
        "--overvote",
        choices=("exhaust", "skip", "exhaust-if-several"),
        default="exhaust",
        help="how to treat a rank with several candidates (%(default)s)",
    )
    parser.add_argument(
        "--skipped-ranks",
        type=_ranks,
        metavar="N",
        help="exhaust a ballot after more than this many empty ranks in a row (any number)",
    )
    parser.add_argument(
        "--repeats",
        choices=("ignore", "exhaust"),
        default="ignore",
        help="how to treat a candidate ranked twice (%(default)s)",
    )
    parser.add_argument(
        "--undeclared",
        action="append",
        metavar="NAME",
        help="the candidate that collects undeclared write-ins, which is eliminated first and cannot win; may be "
        "repeated (a candidate called “Undeclared Write-ins”)",
    )
    parser.add_argument(
        "--ties",
        choices=get_args(TieRule),
        help="what breaks ties before the lot order: earlier rounds and then the tied head to head, earlier rounds "
        "alone, or nothing (head-to-head; scottish-stv has previous-rounds; minneapolis-stv, wigm and meek have lot)",
    )
    parser.add_argument(
        "--lot-order",
        metavar="ORDER",
        help="candidate numbers, the favoured first, such as 3,1,2; “reversed”; or “shuffled”, by --seed, as RCTab's "
        "generated permutation (the file's, otherwise the order in which the candidates are listed)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw every tie separately from this seed, as RCTab's random ties; with --lot-order shuffled, the order",
    )
    parser.add_argument(
        "--decimals",
        type=int,
        metavar="N",
        help=f"the decimal places of votes, 0 to {MOST_DECIMALS} (stv and wigm 4, meek 9; others by their law)",
    )
    parser.add_argument(
        "--fractional-quota",
        action=argparse.BooleanOptionalAction,
        help="stv, wigm, meek: use a fractional quota (the default for wigm and meek)",
    )
    parser.add_argument(
        "--quota", choices=("droop", "hare"), default="droop", help="stv: divide votes by seats plus one, or by seats"
    )
    parser.add_argument("--max-rankings", type=int, metavar="N", help="read only this many ranks of each ballot (all)")
    parser.add_argument(
        "--minimum-votes", type=int, default=0, metavar="N", help="eliminate candidates with fewer votes first"
    )
    parser.add_argument(
        "--first-round-threshold",
        action="store_true",
        help="irv: more than half of the first round's votes elects, in every round; bottoms-up: the share is of them",
    )
    parser.add_argument(
        "--share",
        type=int,
        metavar="PERCENT",
        help="bottoms-up: stop when every remaining candidate has this share of the votes",
    )
    parser.add_argument("--omega", type=int, metavar="N", help="meek: stop distributing below 10 to the -N votes (6)")
    parser.add_argument("--stop-after", type=int, metavar="ROUND", help="stop after this round")
    parser.add_argument(
        "--one-winner-per-round", action="store_true", help="stv: elect at most one candidate per round"
    )


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Count a ballot file (JSON, CSV, BLT, or PrefLib's .soc, .soi, .toc, .toi) and show every round. Exit status:
    0 counted, 1 refused with a message, 2 usage error."""
    bar = ProgressBar(sys.stderr)
    try:
        file = _read(args, bar)
        bar.show("counting", 1.0)
        order, tie_order = _lot_order(args, file)
        record = count(len(file.candidates), file.ballots, _rules(args, file), order, tie_order=tie_order)
    except (UnreadableBallots, CannotCount, OSError) as problem:
        bar.clear()
        _print(_harmless(f"potluck count: {args.file}: {problem}\n"), sys.stderr)
        return 1
    bar.clear()
    counted = results(record, file.candidates)
    if args.format == "json":
        _print(msgspec.json.format(msgspec.json.encode(counted), indent=1).decode() + "\n", sys.stdout)
    elif args.format == "csv":
        _print(as_csv(counted), sys.stdout)
    else:
        _print(_harmless(as_text(counted)), sys.stdout)
    return 0


def _print(text: str, out: TextIO) -> None:
    """Print until the reader closes the pipe; characters that the output's encoding lacks are escaped."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        # The reader closed the pipe. Without this, Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _read(args: argparse.Namespace, bar: ProgressBar) -> BallotFile:
    suffix = args.file.suffix.lower().removeprefix(".")
    format = args.input or ballot_files.SUFFIXES.get(suffix)
    with _opened(args.file) as data:
        if data.seek(0, os.SEEK_END) < LARGE_BYTES:
            return ballot_files.read(data, format)
        bar.show("reading", 0.0)
        return ballot_files.read(data, format, lambda part: bar.show("reading", part))


def _opened(path: Path) -> IO[bytes]:
    """A seekable file; piped input is buffered first."""
    if str(path) != "-" and path.is_file():
        return path.open("rb")
    aside = tempfile.SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    if str(path) == "-":
        shutil.copyfileobj(sys.stdin.buffer, aside)
    else:
        with path.open("rb") as pipe:
            shutil.copyfileobj(pipe, aside)
    return aside


def _rules(args: argparse.Namespace, file: BallotFile) -> Rules:
    seats = args.seats if args.seats is not None else file.seats or 1
    names = CandidateNumbers(file.candidates)
    undeclared = file.undeclared
    if args.undeclared is not None:
        undeclared = [names.number(name, "--undeclared") for name in args.undeclared]
    return Rules(
        method=args.method or file.method or usual_method(seats),
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
        quota=args.quota,
        max_rankings=args.max_rankings,
        minimum_votes=args.minimum_votes,
        first_round_threshold=args.first_round_threshold,
        share_percent=args.share,
        omega=args.omega,
        stop_after=args.stop_after,
        seed=None if args.lot_order == "shuffled" else args.seed,
    )


def _lot_order(args: argparse.Namespace, file: BallotFile) -> tuple[list[int], TieOrder]:
    """The order that breaks ties, and where it comes from; a draw from a seed starts from the candidates by name."""
    listed = list(range(1, len(file.candidates) + 1))
    by_name = sorted(listed, key=lambda number: file.candidates[number - 1])
    if args.lot_order is None:
        if args.seed is not None:
            return by_name, "seed"
        return (file.lot_order, "lots") if file.lot_order else (listed, "listed")
    if args.lot_order == "reversed":
        return listed[::-1], "given"
    if args.lot_order == "shuffled":
        if args.seed is None:
            raise CannotCount("a shuffled lot order needs a seed")
        return SeededDraws(args.seed).shuffled(by_name), "lots"
    try:
        return [int(number) for number in args.lot_order.split(",")], "given"
    except ValueError as problem:
        raise CannotCount("the lot order is candidates' numbers with commas between them") from problem


def _harmless(text: str) -> str:
    """Without terminal control sequences or direction overrides: names come from untrusted files."""
    return COMMANDS.sub("\N{REPLACEMENT CHARACTER}", text)


def _ranks(text: str) -> int | None:
    return None if text == "any" else int(text)
