"""The built-in assistant: quotes the best sentences verbatim. No model and no network, so nothing is made up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from potluck.apps.journal.assistant import Asked, Passage, Reply, cited
from potluck.apps.journal.entities import Citation
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.tokenizer import forms_of, sentences_of, with_next, words_in

MOST_QUOTES = 3
NOTHING_TO_LOOK_FOR = (
    "I can’t tell what to look for. Ask about a time, a technique or a number, such as “How many hours in March?”"
)


class Embedded:
    """Deterministic: the same question about the same entries gets the same answer."""

    name: ClassVar[str] = "embedded"
    remote: ClassVar[bool] = False

    async def answer(self, asked: Asked) -> Reply:
        if asked.computed is not None:
            return Reply(content=asked.computed.content, citations=asked.computed.citations)
        quotes = _best_sentences(asked.passages, asked.topic)
        lead = f"{asked.lead} " if asked.lead else ""
        if not quotes:
            nothing = asked.nothing or ("" if lead else NOTHING_TO_LOOK_FOR)
            return Reply(content=f"{lead}{nothing}".strip(), citations=[])
        days = len({passage.entry_id for passage, _ in quotes})
        which = "This entry says" if days == 1 else f"These {days} entries say"
        if asked.matches > days:
            which = f"{days} of the {asked.matches} entries that match {'says' if days == 1 else 'say'}"
        lines = [f"{lead}{which}:"]
        lines += [f"{_by(passage)}: “{citation.quote}”" for passage, citation in quotes]
        return Reply(content="\n".join(lines), citations=[citation for _, citation in quotes])


def _score(words: Sequence[str], topic: Sequence[str], matched: frozenset[str]) -> int:
    """How many words of the topic there are, and how many follow the one before as they do in the question."""
    if not matched.intersection(words):
        return 0
    places = [{at for at, word in enumerate(words) if word in forms_of(each)} for each in topic]
    neighbours = sum(any(at + 1 in later for at in earlier) for earlier, later in pairwise(places))
    return 2 * sum(map(bool, places)) + neighbours or 1


def _by(passage: Passage) -> str:
    day = long_day(passage.day)
    return day if passage.comment_id is None else f"{passage.author or 'A comment'} on {day}"


def _best_sentences(passages: Sequence[Passage], topic: Sequence[str]) -> list[tuple[Passage, Citation]]:
    """The sentences that say the most of the question; every passage gets one before any gets a second.

    Words that follow one another in the question count more where they do so in the sentence, too.
    """
    found: list[tuple[int, int, int, Passage, Citation]] = []
    for place, passage in enumerate(passages):
        sentences = sentences_of(passage.text)
        hits = [_score(words_in(each), topic, passage.words) for each in sentences]
        order = sorted(range(len(sentences)), key=lambda each: (-hits[each], each))
        for rank, number in enumerate(each for each in order if hits[each]):
            citation = cited(passage, with_next(passage.text, sentences[number]))
            if citation is not None:
                found.append((rank, place, number, passage, citation))
    best = sorted(found, key=lambda each: each[:3])[:MOST_QUOTES]
    return [(passage, citation) for *_, passage, citation in best]
