"""A small chart parser: declarative rules over the words of a question, and every way to cover it with phrases.

A rule is written `Category key=value @meaning: one way | another way`. In a way, lower-case items are words ("day/days"
is either), capitalised ones are categories, and "?" makes an item optional. The value of a match is the constant, or
what the meaning makes of the values of its categories, or their only value. A rule with a key makes a phrase that says
this about the question. A category without a value is only spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from potluck.apps.journal.assistant.reading import Filter

MOST_COVERS = 60
"""Covers per position, the cheapest first."""

Edges = list[tuple[int, Any]]
Terminal = Callable[[int], Iterable[tuple[int, Any]]]


class _Item(NamedTuple):
    words: frozenset[str]
    category: str
    optional: bool


class _Rule(NamedTuple):
    items: tuple[_Item, ...]
    key: str
    constant: Any
    meaning: Callable[..., Any] | None
    is_filter: bool

    def value(self, values: Sequence[Any]) -> Any:
        """The value of a match; None if its parts contradict each other."""
        value = self.constant
        if self.meaning is not None:
            value = self.meaning(*values)
        elif value is None:
            value = values[0] if len(values) == 1 else True
        if value is None or not self.key:
            return value
        return Filter(**{self.key: value}) if self.is_filter else (self.key, value)


class Phrase(NamedTuple):
    """A meaning, and the words that say it."""

    key: str
    value: Any
    start: int
    end: int


def _item(text: str) -> _Item:
    bare = text.removesuffix("?")
    is_category = bare[0].isupper()
    words = frozenset() if is_category else frozenset(bare.split("/") if bare != "/" else [bare])
    return _Item(words, bare if is_category else "", text.endswith("?") and text != "?")


_HEAD = re.compile(r"(?P<category>\w+)(?: (?P<key>\w+)?(?:=(?P<value>\S+))?)?(?: ?@(?P<meaning>\w+))?: ")


def _constant(text: str | None) -> Any:
    """A number, a name, or a name with the most (+) or the least (-) of it."""
    if text is None or text.isdigit():
        return text and int(text)
    if text[-1] in "+-":
        return text[:-1] or None, text[-1] == "-"
    return text.replace("_", " ")


class Grammar:
    def __init__(self, text: str, meanings: Mapping[str, Callable[..., Any]]) -> None:
        self.rules: dict[str, list[_Rule]] = {}
        for line in filter(None, re.sub(r"\n +", " ", text).splitlines()):
            head = _HEAD.match(line)
            assert head is not None, line
            meaning = meanings[head["meaning"]] if head["meaning"] else None
            category, constant = head["category"], _constant(head["value"])
            for way in re.split(r"\s\|\s", line[head.end() :]):
                items = tuple(_item(item) for item in way.split())
                rule = _Rule(items, head["key"] or "", constant, meaning, category == "Filter")
                self.rules.setdefault(category, []).append(rule)
        self.words = frozenset(
            word for some in self.rules.values() for way in some for item in way.items for word in item.words
        )


class QuestionChart:
    """What can be read at each position of a question, each worked out once."""

    def __init__(self, grammar: Grammar, words: Sequence[str], terminals: dict[str, Terminal]) -> None:
        self._grammar = grammar
        self._words = words
        self._terminals = terminals
        self._edges: dict[tuple[str, int], Edges] = {}

    def at(self, category: str, place: int) -> Edges:
        """The ends and values of all matches of this category that begin here."""
        known = self._edges.get((category, place))
        if known is not None:
            return known
        self._edges[category, place] = []
        edges: Edges = []
        if category in self._terminals:
            edges += self._terminals[category](place)
        for rule in self._grammar.rules.get(category, ()):
            for end, values in self._matches(rule.items, 0, place):
                value = rule.value([one for one in values if one is not True])
                if value is not None and (end, value) not in edges:
                    edges.append((end, value))
        self._edges[category, place] = edges
        return edges

    def _matches(self, items: Sequence[_Item], number: int, place: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
        if number == len(items):
            yield place, ()
            return
        item = items[number]
        if item.optional:
            yield from self._matches(items, number + 1, place)
        if item.category:
            for middle, value in self.at(item.category, place):
                for end, values in self._matches(items, number + 1, middle):
                    yield end, (value, *values)
        elif place < len(self._words) and self._words[place] in item.words:
            yield from self._matches(items, number + 1, place + 1)

    def covers(self, cost: Callable[[Phrase], int]) -> list[tuple[int, tuple[Phrase, ...]]]:
        """The ways to cover every word, the cheapest first.

        "Start" phrases stand before every other phrase, "Middle" ones after another, "Top" ones anywhere. "Filler" and
        "Lead" say nothing, and a "Start" may follow a "Lead".
        """
        known: dict[tuple[int, bool], list[tuple[int, tuple[Phrase, ...]]]] = {}

        def rest(place: int, begun: bool) -> list[tuple[int, tuple[Phrase, ...]]]:
            if place == len(self._words):
                return [(0, ())]
            if (place, begun) in known:
                return known[place, begun]
            options: dict[tuple[tuple[str, Any], ...], tuple[int, tuple[Phrase, ...]]] = {}
            # If the question can begin here, its first words are no fillers.
            asks = not begun and any(value[0] == "ask" for _, value in self.at("Start", place))
            for category in ("Top", "Middle" if begun else "Start", *(() if asks else ("Filler", "Lead"))):
                for end, value in self.at(category, place):
                    is_empty = category in ("Filler", "Lead") or isinstance(value, str)
                    first = Phrase("", None, place, end) if is_empty else Phrase(value[0], value[1], place, end)
                    for price, phrases in rest(end, begun or category != "Lead"):
                        whole = (first, *phrases) if first.key else phrases
                        meaning = tuple((phrase.key, phrase.value) for phrase in whole)
                        option = (price + cost(first), whole)
                        if meaning not in options or option[0] < options[meaning][0]:
                            options[meaning] = option
            known[place, begun] = sorted(options.values(), key=lambda option: option[0])[:MOST_COVERS]
            return known[place, begun]

        return rest(0, False)
