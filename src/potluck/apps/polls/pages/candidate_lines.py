"""Candidates as they are typed: one to a line, and after a bar what is said of them."""

import re
from collections.abc import Mapping, Sequence

__all__ = ["as_lines", "read_lines"]

# A bar that belongs to a name has a backslash before it.
BAR = re.compile(r"(?<!\\)\|")


def read_lines(text: str) -> tuple[list[str], dict[str, str]]:
    """The names, and what is said of some of them."""
    names: list[str] = []
    said: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, *about = (part.strip().replace("\\|", "|") for part in BAR.split(line, maxsplit=1))
        names.append(name)
        if about and about[0]:
            said[name] = about[0]
    return names, said


def as_lines(names: Sequence[str], said: Mapping[str, str]) -> str:
    """The lines that say it; a line break in what is said of a candidate becomes a space."""
    return "\n".join(
        " | ".join(part.replace("|", "\\|") for part in (name, " ".join(said.get(name, "").split())) if part)
        for name in names
    )
