"""Splitting a statement into tokens."""

import re
from typing import NamedTuple

from potluck.dynamo.partiql.keywords import KEYWORDS
from potluck.dynamo.partiql.nodes import Position

NAME = "name"
TEXT = "text"
NUMBER = "number"
ION = "ion"
END = "end"

_pattern = re.compile(
    r"""(?: [ \t\r\n\f\v]+ | --[^\n]* | /\*.*?\*/ )*+
    (?: (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
      | (?P<quoted>"(?:[^"]|"")*")
      | (?P<text>'(?:[^']|'')*')
      | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<ion>`[^`]*`)
      | (?P<symbol><<|>>|<=|>=|<>|!=|\|\||[=<>(){}\[\],.:;?@*/%+-])
    )""",
    re.VERBOSE | re.DOTALL,
)
# Possessive, as above: tried in all its divisions, a run of spaces before what is no token would never end.
_rest = re.compile(r"(?:[ \t\r\n\f\v]+|--[^\n]*|/\*.*?\*/)*+", re.DOTALL)


class Malformed(Exception):
    """The text is not a statement of PartiQL."""


class StatementToken(NamedTuple):
    """`kind` is a keyword in capitals, the symbol itself, or one of the kinds above."""

    kind: str
    text: str
    at: Position


def cut(text: str) -> list[StatementToken]:
    """All tokens of the text; the last one marks the end."""
    tokens: list[StatementToken] = []
    position, line, line_start = 0, 1, 0
    while match := _pattern.match(text, position):
        group = match.lastgroup or ""
        word = match[group]
        start, end = match.span(group)
        line += text.count("\n", position, start)
        line_start = max(line_start, text.rfind("\n", 0, start) + 1)
        position = end
        tokens.append(_token(group, word, Position(line, start - line_start + 1, len(word))))
    if _rest.fullmatch(text, position) is None:
        raise Malformed
    tokens.append(StatementToken(END, "", Position(line, len(text) - line_start + 1, 0)))
    return tokens


def _token(group: str, word: str, at: Position) -> StatementToken:
    if group == "word":
        return StatementToken(word.upper() if word.upper() in KEYWORDS else NAME, word, at)
    if group == "quoted":
        return StatementToken(NAME, word[1:-1].replace('""', '"'), at)
    if group == "text":
        return StatementToken(TEXT, word[1:-1].replace("''", "'"), at)
    return StatementToken({"number": NUMBER, "ion": ION}.get(group, word), word, at)
