"""The built-in assistant: quotes the best sentences verbatim. It uses no model and no network, and invents nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from potluck.apps.journal.assistant import Passage, Prompt, Reply, cited
from potluck.apps.journal.assistant.mentions import stem_of
from potluck.apps.journal.entities import Citation
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.tokenizer import sentences_of, with_next, words_in

MOST_QUOTES = 3
MORE_SENTENCES = 2
NOTHING_TO_LOOK_FOR = (
    "I can’t tell what to look for. Ask about a time, a technique or a number, such as “How many hours in March?”"
)


class Embedded:
    """Deterministic: the same question about the same entries gets the same answer."""

    name: ClassVar[str] = "embedded"
    remote: ClassVar[bool] = False

    async def answer(self, prompt: Prompt) -> Reply:
        if prompt.computed is not None:
            return Reply(content=prompt.computed.content, citations=prompt.computed.citations)
        quotes = _best_sentences(prompt.passages, prompt.topic)
        lead = f"{prompt.lead} " if prompt.lead else ""
        if not quotes:
            nothing = prompt.nothing or ("" if lead else NOTHING_TO_LOOK_FOR)
            return Reply(content=f"{lead}{nothing}".strip(), citations=[])
        days = len({passage.entry_id for passage, _ in quotes})
        which = "This entry says" if days == 1 else f"These {days} entries say"
        if not prompt.matches:
            which = f"{days} other {'entry says' if days == 1 else 'entries say'}"
        elif prompt.matches > days:
            which = f"{days} of the {prompt.matches} entries that match {'says' if days == 1 else 'say'}"
        lines = [f"{lead}{which}:"]
        lines += [f"{_by(passage)}: “{citation.quote}”" for passage, citation in quotes]
        return Reply(content="\n".join(lines), citations=[citation for _, citation in quotes])


def _score(words: Sequence[str], topic: Sequence[str], matched: frozenset[str]) -> int:
    """How many words of the topic it contains, and how many follow one another as in the question."""
    if not matched.intersection(words):
        return 0
    stems = [stem_of(word) for word in words]
    places = [{at for at, stem in enumerate(stems) if stem == stem_of(word)} for word in topic]
    neighbours = sum(any(at + 1 in later for at in earlier) for earlier, later in pairwise(places))
    return 2 * sum(map(bool, places)) + neighbours or 1


def _by(passage: Passage) -> str:
    day = long_day(passage.day)
    return day if passage.comment_id is None else f"{passage.author or 'A comment'} on {day}"


def _best_sentences(passages: Sequence[Passage], topic: Sequence[str]) -> list[tuple[Passage, Citation]]:
    """The sentences that match the question best; every passage gets one before any gets a second.

    Words that follow one another in the question count more if they also do in the sentence.
    """
    scored: list[tuple[int, int, int, int]] = []
    for place, passage in enumerate(passages):
        hits = [_score(words_in(sentence), topic, passage.words) for sentence in sentences_of(passage.text)]
        order = sorted((number for number, hit in enumerate(hits) if hit), key=lambda number: (-hits[number], number))
        scored += [(rank, place, number, hits[number]) for rank, number in enumerate(order)]
    # Sentences that match far less than the best one are noise.
    most = max((hit for *_, hit in scored), default=0)
    best = sorted(item for item in scored if 2 * item[-1] >= most)
    # If one text alone matches best, the outcome is usually in the sentences that follow.
    only = {place for _, place, _, hit in best if hit == most}
    quotes: list[tuple[Passage, Citation]] = []
    for _, place, number, _ in best:
        passage = passages[place]
        more = MORE_SENTENCES if only == {place} else 0
        citation = cited(passage, with_next(passage.text, sentences_of(passage.text)[number], more))
        if citation is not None and not any(citation.quote in one.quote for _, one in quotes):
            quotes.append((passage, citation))
    return quotes[:MOST_QUOTES]
