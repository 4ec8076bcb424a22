"""Arguments that several commands have, and the numbers they accept."""

import argparse
from pathlib import Path

from potluck.settings import Settings

MOST_ROWS_PER_SECOND = 1_000_000


def add_data(
    parser: "argparse.ArgumentParser | argparse._MutuallyExclusiveGroup",
    settings: Settings,
    help: str = "the folder that holds the store",
) -> None:
    parser.add_argument("--data", type=Path, default=settings.data, help=f"{help} (%(default)s)")


def add_listening(parser: argparse.ArgumentParser, host: str, port: int) -> None:
    parser.add_argument("--host", default=host, help="the address to listen on (%(default)s)")
    parser.add_argument(
        "--port", type=_port, default=port, help="the port to listen on, 0 for any free one (%(default)s)"
    )


def add_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate", type=_rate, metavar="ROWS", help="at most this many rows a second; without it, as many as possible"
    )


def number(text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
    return int(text)


def decimal(text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {most:g}")
    return value


def _rate(text: str) -> int:
    return number(text, 1, MOST_ROWS_PER_SECOND)


def _port(text: str) -> int:
    return number(text, 0, 65535)
