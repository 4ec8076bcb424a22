"""What a check says."""

from typing import Literal, NamedTuple


class Diagnosis(NamedTuple):
    """One line: what was looked at, and whether it is well."""

    check: str
    status: Literal["ok", "note", "problem"]
    """A note is advice; only a problem makes the exit status 1."""
    text: str
    """What is so; of a note or a problem, also what to do."""


def ok(check: str, text: str) -> Diagnosis:
    return Diagnosis(check, "ok", text)


def note(check: str, text: str) -> Diagnosis:
    return Diagnosis(check, "note", text)


def problem(check: str, text: str) -> Diagnosis:
    return Diagnosis(check, "problem", text)
