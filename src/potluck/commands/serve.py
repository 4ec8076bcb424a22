"""`potluck serve`: run the suite."""

import argparse
from dataclasses import replace

from potluck.commands.arguments import add_data, add_listening, number
from potluck.extras import require_extra
from potluck.settings import MOST_WORKERS, Settings
from potluck.web.server.serve import serve


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_listening(parser, settings.host, settings.port)
    add_data(parser, settings, "the folder for all data")
    parser.add_argument(
        "--workers",
        type=_workers,
        default=settings.workers,
        metavar=f"1..{MOST_WORKERS}",
        help="the number of processes, each with its own limits; one per processor is enough (%(default)s)",
    )


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Run the suite until it is stopped."""
    # Before it listens: the application itself is imported by the workers.
    require_extra("suite")
    settings = replace(settings, host=chosen.host, port=chosen.port, data=chosen.data, workers=chosen.workers)
    location = str(settings.file) if settings.engine == "embedded" else "Amazon DynamoDB"
    # By name, because each worker process imports it.
    return serve("potluck.suite:assembled", settings, location)


def _workers(text: str) -> int:
    return number(text, 1, MOST_WORKERS)
