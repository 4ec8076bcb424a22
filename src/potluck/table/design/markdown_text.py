"""Small pieces of markdown."""

from collections.abc import Iterable, Sequence

__all__ = ["anchor", "code", "listed", "rows_of"]


def rows_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    # A bar ends a cell, also inside code.
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as it is to be typed."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def listed(words: Sequence[str], last: str = "and") -> str:
    """One, two and three."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def anchor(heading: str) -> str:
    """What a link to a heading of letters, digits and spaces is called."""
    return heading.lower().replace(" ", "-")
