"""Splitting an expression into tokens, and the service's way of pointing at an unexpected one."""

import re
from typing import NamedTuple, NoReturn

from potluck.dynamo.expressions.failures import ExpressionError

WORD = "word"
NAME = "#name"
VALUE = ":value"
INDEX = "index"
END = "end"
UNKNOWN = "unknown"

KEYWORDS = frozenset(("SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN"))

_pattern = re.compile(
    r"""[ \t\r\n]*+
    (?: (?P<word>[A-Za-z][A-Za-z0-9_]*)
      | (?P<name>\#[A-Za-z0-9_]+)
      | (?P<value>:[A-Za-z0-9_]+)
      | (?P<index>0|[1-9][0-9]*)
      | (?P<symbol><=|>=|<>|[=<>()\[\],.+-])
      | (?P<unknown>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_kinds = {"word": WORD, "name": NAME, "value": VALUE, "index": INDEX, "unknown": UNKNOWN}


class Token(NamedTuple):
    """`kind` is a keyword in capitals, the symbol itself, or one of the kinds above."""

    kind: str
    text: str
    start: int
    end: int


def cut(text: str) -> list[Token]:
    """All tokens of the text; the last one marks the end."""
    tokens: list[Token] = []
    position = 0
    while match := _pattern.match(text, position):
        group = match.lastgroup or "unknown"
        word = match[group]
        start, position = match.span(group)
        kind = word if group == "symbol" else _kinds[group]
        if kind is WORD and word.upper() in KEYWORDS:
            kind = word.upper()
        tokens.append(Token(kind, word, start, position))
    tokens.append(Token(END, "<EOF>", len(text), len(text)))
    return tokens


def unexpected(text: str, tokens: list[Token], position: int) -> NoReturn:
    """Refuse the token at this position, showing it between its neighbours."""
    start = tokens[position - 1].start if position else 0
    end = tokens[min(position + 1, len(tokens) - 1)].end
    raise ExpressionError(f'Syntax error; token: "{tokens[position].text}", near: "{text[start:end]}"')
