"""What a check found."""

from typing import Literal, NamedTuple


class Finding(NamedTuple):
    """One line: what was looked at, and whether it is well."""

    check: str
    status: Literal["ok", "note", "problem"]
    """A note is advice; only a problem makes the exit status 1."""
    text: str
    """What is so; of a note or a problem, also what to do."""


def ok(check: str, text: str) -> Finding:
    return Finding(check, "ok", text)


def note(check: str, text: str) -> Finding:
    return Finding(check, "note", text)


def problem(check: str, text: str) -> Finding:
    return Finding(check, "problem", text)
