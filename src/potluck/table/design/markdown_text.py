"""Small pieces of markdown."""

from collections.abc import Iterable, Sequence


def rows_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    # A bar ends a cell, even inside code.
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as inline code."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def listed(words: Sequence[str], last: str = "and") -> str:
    """The words listed in prose: one, two and three."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def anchor(heading: str) -> str:
    """The anchor of a heading made of letters, digits and spaces."""
    return heading.lower().replace(" ", "-")
