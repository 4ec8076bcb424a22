"""Reads a question completely, or not at all.

    reading_of("How many no-gi sessions in July?", context) -> Reading("total", where=…, periods=…) | None

The question is covered with phrases of the grammar, so that each of its words belongs to one. A word, a number, a
negation or a comparison that belongs to none means that the question was not understood: then nothing is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple

from potluck.apps.journal.assistant.chart import Phrase, QuestionChart
from potluck.apps.journal.assistant.follow_ups import followed_up
from potluck.apps.journal.assistant.grammar import GRAMMAR, UNKNOWN
from potluck.apps.journal.assistant.lexer import MOST_WORDS, PERIOD_WORDS, plain_question, tokens_of
from potluck.apps.journal.assistant.limits import asks_for_a_timetable, asks_what_is_shared, asks_why
from potluck.apps.journal.assistant.mentions import BODY_PARTS, TECHNIQUE_AFTER, phrase_of, stem_of
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Reading
from potluck.apps.journal.assistant.shapes import shaped
from potluck.apps.journal.assistant.wording import vocabulary
from potluck.apps.journal.periods import NUMBERS, ORDINALS, WEEKDAYS, Period, mention_at, periods_in

Covers = Sequence[tuple[int, tuple[Phrase, ...]]]
MOST_EXTRA_COST = 35
LONGEST_THING = 4
COMMENT_WORDS = frozenset({"comment", "comments", "commented", "coach", "feedback"})
# Short words in the names of techniques; other short words may mean anything.
SHORT_IN_A_NAME = frozenset({"x", "z", "k", "de", "la"})
# Words of the grammar that may also begin or end a name.
BEGINS_A_NAME = frozenset({"half", "single", "double", "open", "closed", "side", "back", "top", "bottom", "hip", "leg"})
ENDS_A_NAME = frozenset(
    {"class", "mat", "mats", "training", "sparring", "drill", "drilling", "rounds", "escapes", "work"}
)


_PRONOUN = re.compile(
    r"\b(about|do|did|done|doing|try|tried|use|used|drill|drilled|practised|practiced|train|trained|mention|mentioned|with"
    r"|against|on) (?:it|that|this|them|him|those)\b(?=$| (?:in|on|this|last|since|before|after|again|most|ever|too)\b)"
)
"""A pronoun in place of the topic."""


# Words that connect a name with the rest of a question, and are not part of it.
NO_NAME = vocabulary(
    """the and with for from about not but did was were had has have are his her their our than then when what how who
    which where why you she they that this these those into onto over under more most less least many much often last
    next ever any all some session sessions training class round rounds tagged after before during without between
    since until till per each every only just minutes hours hour week month year day days weeks months my"""
)


class Context(NamedTuple):
    """What is needed to read a question."""

    today: date
    athlete: str = ""
    """The name of the athlete whose journal it is."""
    is_own: bool = True
    coaches: Collection[str] = ()
    """The names of people who commented."""
    previous: Reading | None = None
    """The previous question, for "and in April?"."""
    earlier: Reading | None = None
    """The question before that one, for "which of the two was harder?"."""
    words: Collection[str] = ()
    """Words of the journal, which are not typos."""
    tags: Collection[str] = ()
    """Tags of the journal; a tag may have several words."""
    reader: str = ""
    """The name of the person who asks."""
    text: str = ""
    """The text of the journal in lower case: words that are adjacent in it may be a name."""


def speaks_of_comments(question: str) -> bool:
    """Whether a question may be about comments, so that the authors' names matter."""
    return (
        re.search(
            r"\b(?:coach\w*|comment\w*|feedback|advice|advise\w*|say|says|said|tell|told|think\w*|thought|suggest\w*"
            r"|recommend\w*|tips?|write|wrote|work on|improve|weakness\w*|focus|remark\w*|opinion|who|weak\w*"
            r"|mention\w*|notes?|noted|gave|give)\b",
            plain_question(question, COMMENT_WORDS),
        )
        is not None
    )


def asks_for_a_number(question: str) -> bool:
    """Whether a question asks for a number, even if it is not fully understood."""
    return (
        re.search(
            r"\b(?:how (?:many|often|much|long|frequently)|average|percentage|percent|number of|longest)\b",
            plain_question(question, GRAMMAR.words),
        )
        is not None
    )


def reading_of(question: str, context: Context) -> Reading | None:
    """The complete reading of a question, or None."""
    if asks_why(question) or asks_what_is_shared(question) or asks_for_a_timetable(question):
        return None
    parsed = _Question(question, context)
    return parsed.reading or parsed.own_comments or parsed.body


def readings_of(question: str, context: Context) -> tuple[Reading, ...]:
    """What a question asks, possibly two things joined by "and"; empty if a part of it was not understood."""
    asks = r"(?=(?:how|what|when|which|did|do|was|were)\b)"
    parts = re.split(rf"(?<=\w)[?,;.]*\s+(?:and|but)\s+{asks}|[?;]\s+{asks}", question, flags=re.IGNORECASE)
    one = other = None
    if len(parts) == 2 and not asks_why(question):
        one, other = reading_of(parts[0], context), reading_of(parts[1], context._replace(previous=None))
    if one is None or other is None:
        whole = reading_of(question, context)
        # Words of one question do not filter the next.
        if whole is None or (whole.where.terms and re.search(r"\w\?+\s+\w", question)):
            return ()
        return (whole,)
    # "… in June, and what was my average intensity?": period and filter apply to both.
    if other.kind in ("total", "average", "extreme", "summary", "worn", "share", "groups", "days off"):
        if not other.periods and other.anchor is None and len(one.periods) == 1:
            other = other._replace(periods=one.periods)
        if other.where == NOTHING:
            other = other._replace(where=one.where, hard_words=one.hard_words)
    return one, other


def _cost(phrase: Phrase) -> int:
    """Fewer phrases are better, and a search in texts is the last resort."""
    if not phrase.key:
        return 11
    if phrase.key == "topic":
        return 15 if phrase.end - phrase.start > 1 and phrase.value[-1] in ("class", "classes", "mat", "mats") else 40
    if phrase.key == "where" and phrase.value.terms:
        return 20 if all(term.is_clear for term in phrase.value.terms) else 30
    if phrase.key == "not_done":
        # "Competition class" is one name, not a class and a filter.
        return 12 - min(2, max((len(one) for term in phrase.value.terms for one in term.phrases), default=0))
    if phrase.key == "where" and (phrase.value.without or phrase.value.commented is not None):
        return 15
    return 10


def _cheapest(covers: Covers, read: Callable[[Sequence[Phrase]], Reading | None]) -> Reading | None:
    """The reading of the cheapest cover that has one; None if two of the same cost differ."""
    readings: list[Reading] = []
    price = 0
    for cost, phrases in covers:
        if (readings and cost > price) or cost > covers[0][0] + MOST_EXTRA_COST:
            break
        reading = read(phrases)
        if reading is not None and reading not in readings:
            readings.append(reading)
            price = cost
    return readings[0] if len(readings) == 1 else None


class _Question:
    """A question, and everything that its words can mean."""

    def __init__(self, question: str, context: Context) -> None:
        self.context = context
        own = {*context.words, *plain_question(context.athlete).split()}
        own.update(part for name in context.coaches for part in plain_question(name).split())
        self.plain = plain_question(question, GRAMMAR.words, own)
        self._names = {part for name in (context.athlete, *context.coaches) for part in plain_question(name).split()}
        for name in self._names:
            self.plain = re.sub(rf"\b{re.escape(name)}s\b", f"{name} 's", self.plain)
        self._stems = {
            stem for some in (context.words, context.tags) for text in some for stem in phrase_of(text.split())
        }
        self.plain = self._resolved(self.plain)
        self.tokens = tokens_of(self.plain)
        self.words = [token.text for token in self.tokens]
        self._ends = {token.end: number + 1 for number, token in enumerate(self.tokens)}
        self._tags = sorted({phrase_of(tag.split()) for tag in context.tags if tag}, key=len, reverse=True)

    def _resolved(self, plain: str) -> str:
        """The question with pronouns replaced, and "did the coach mention" as "did the coach say about"."""
        coaches = {part for name in self.context.coaches for part in plain_question(name).split()}
        authors = "|".join(map(re.escape, sorted({*coaches, "my coach", "my coaches", "anyone"})))
        mentions = rf"\b((?:did|has|does|have) (?:{authors})(?: ever| also)?) mention(?:ed)? (?!me\b)"
        plain = re.sub(mentions, r"\1 say about ", plain) if coaches else plain
        previous = self.context.previous
        if previous is not None and previous.where.terms:
            words = previous.where.terms[0].words.replace("” or “", " or ")
            plain = _PRONOUN.sub(lambda match: f"{match[1]} {words}", plain)
        return plain

    @cached_property
    def reading(self) -> Reading | None:
        """The cheapest reading; None if there is none, or several."""
        if not self.words or len(self.words) > MOST_WORDS:
            return None
        chart = QuestionChart(GRAMMAR, self.words, {
            "Number": self._number, "Ordinal": self._ordinal, "Weekday": self._weekday, "Weekdays": self._weekdays,
            "Period": self._period, "Day": self._day, "Thing": self._thing, "Known": self._known,
            "Written": self._written, "Body": self._body, "Any_word": self._any_word, "Named": self._named,
            "Coach": self._coach, "Athlete": self._athlete,
        })  # fmt: skip
        covers = chart.covers(_cost)
        today, previous, earlier = self.context.today, self.context.previous, self.context.earlier
        followed = None
        if previous is not None:
            followed = _cheapest(covers, lambda phrases: followed_up(phrases, self.words, previous, earlier, today))
        return followed or _cheapest(covers, lambda phrases: shaped(phrases, self.words, today))

    @property
    def own_comments(self) -> Reading | None:
        """For a coach who asks what they said, if nothing more was understood: all of their comments."""
        match = re.search(
            r"\b(?:what|when)\b.* i (?:\w+ )?(?:say|said|saying|tell|told|telling|write|wrote|written|comment(?:ed)?"
            r"|advised?)\b",
            self.plain,
        )
        return None if self.context.is_own or match is None else Reading("comments", by=self.context.reader, number=0)

    @property
    def body(self) -> Reading | None:
        """For a question about the state of a part of the body: what the entries say about pain in it."""
        parts = [phrase for place in range(len(self.words)) for _, phrase in self._body(place)]
        if len(parts) != 1 or asks_for_a_number(self.plain):
            return None
        if re.search(r"\b(?:coach\w*|comment\w*|more|less)\b|\b(?:not|never)\b", self.plain):
            return None
        own = re.search(
            rf"\b(?:my|her|his|their|the|'s)(?: left| right| lower| upper| bad| old)? {parts[0][0]}\b", self.plain
        )
        state = r"\b(?:bother\w*|act\w*|flar\w+|hold\w*|held|feel\w*|felt|doing|ok|okay|fine|heal\w*|injured)\b"
        if own is None or not (
            re.search(state, self.plain) or re.match(r"(?:how|is|are|has|was|does|do)\b", self.plain)
        ):
            return None
        mentions = periods_in(self.plain, self.context.today)
        if len(mentions) > 1:
            return None
        where = Filter(pain=True, part=parts[0][0], part_stem=parts[0][1])
        if re.search(r"\b(?:last time|when)\b.*\b(?:hurt|sore|pain\w*|ache\w*)\b", self.plain):
            return Reading("last", where=where, periods=tuple(mention.period for mention in mentions))
        return Reading("pain", where=where, periods=tuple(mention.period for mention in mentions), asks_how=True)

    # --- what the words can be ----------------------------------------------------------------------------------------

    def _number(self, place: int) -> Iterator[tuple[int, float]]:
        word = self.words[place] if place < len(self.words) else ""
        if re.fullmatch(r"\d{1,5}(?:\.\d+)?", word):
            yield place + 1, float(word)
        elif word == "zero":
            yield place + 1, 0.0
        elif word in NUMBERS:
            yield place + 1, float(NUMBERS[word])

    def _ordinal(self, place: int) -> Iterator[tuple[int, int]]:
        word = self.words[place] if place < len(self.words) else ""
        if word in ORDINALS:
            yield place + 1, ORDINALS[word]
        elif re.fullmatch(r"\d{1,3}(?:st|nd|rd|th)", word):
            yield place + 1, int(word[:-2])

    def _weekday(self, place: int) -> Iterator[tuple[int, int]]:
        word = self.words[place] if place < len(self.words) else ""
        for number, name in enumerate(WEEKDAYS):
            if word == name or (
                (len(word) >= 3 and word in (name[:3], name[:4], name[:5])) and word not in ("sun", "sat", "mon")
            ):
                yield place + 1, number

    def _weekdays(self, place: int) -> Iterator[tuple[int, int]]:
        word = self.words[place] if place < len(self.words) else ""
        if word.endswith("s") and word[:-1] in WEEKDAYS:
            yield place + 1, WEEKDAYS.index(word[:-1])

    def _period(self, place: int) -> Iterator[tuple[int, Period]]:
        if place >= len(self.tokens):
            return
        for ranges in (True, False):
            mention = mention_at(self.plain, self.tokens[place].start, self.context.today, ranges)
            if mention is None or mention.end not in self._ends:
                continue
            end = self._ends[mention.end]
            words = [word for word in self.words[place:end] if word not in ("on", "for", "of")]
            # A weekday alone may be a period or a filter.
            if len(words) > 1 or not list(self._weekday(end - 1)):
                yield end, mention.period

    def _day(self, place: int) -> Iterator[tuple[int, Period]]:
        """A single day, without a preposition."""
        for end, period in self._period(place):
            if period.days == 1 and self.words[place] not in ("after", "before", "since", "until", "on", "in"):
                yield end, period

    def _thing(self, place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """A tag, or consecutive words that no rule contains."""
        yield from self._known(place)
        end = place
        while end < len(self.words) and end - place < LONGEST_THING + 2:
            word = self.words[end]
            if word == "-" and end > place:
                end += 1
                continue
            begins = word in BEGINS_A_NAME and end + 1 < len(self.words) and self._is_open(end + 1)
            ends = word in ENDS_A_NAME and end > place
            named = self._is_named(end) or (end > place and self._is_named(end - 1))
            begins = begins or (named and not self._is_open(end) and end == place)
            if not (begins or ends or named or self._is_open(end)):
                return
            end += 1
            if not begins:
                words = tuple(word for word in self.words[place:end] if word != "-")
                if any(len(word) > 2 for word in words):
                    yield end, words

    def _named(self, place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Two words that are adjacent in the journal, one of which may be common."""
        if place < len(self.words) and self._is_named(place):
            yield from (phrase for phrase in self._written(place) if phrase[0] == place + 2)

    def _is_named(self, place: int) -> bool:
        """Whether a word and the next are a name in the journal: "Great Lakes", "Autumn Cup"."""
        pair = self.words[place : place + 2]
        if len(pair) < 2 or min(map(len, pair)) < 3 or not all(map(str.isalpha, pair)):
            return False
        if not (self._is_open(place) or self._is_open(place + 1)) or {*pair} & NO_NAME:
            return False
        return " ".join(pair) in self.context.text

    def _known(self, place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        stems = [stem_of(word) for word in self.words[place : place + 6] if word != "-"]
        for tag in self._tags:
            if tag and tuple(stems[: len(tag)]) == tag and tag not in (("gi",), ("nogi",)):
                end = place
                taken = 0
                while taken < len(tag):
                    taken += self.words[end] != "-"
                    end += 1
                yield end, tuple(word for word in self.words[place:end] if word != "-")

    def _written(self, place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Words that the journal contains."""
        for end, words in self._thing(place):
            if len(words) > 1 and list(self._body(place)):
                continue
            if all(stem_of(word) in self._stems for word in words):
                yield end, words

    def _any_word(self, place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """A word of the grammar that the journal also contains: "what did she say about rest?"."""
        word = self.words[place] if place < len(self.words) else ""
        is_last = place + 1 == len(self.words)
        if not is_last or len(word) < 4 or word not in self.context.words or self._is_open(place):
            return
        if word not in NO_NAME and word not in PERIOD_WORDS and word not in NUMBERS:
            yield place + 1, (word,)

    def _is_open(self, place: int) -> bool:
        """Whether a word may be part of a name."""
        word = self.words[place]
        if word in SHORT_IN_A_NAME:
            return True
        if word in plain_question(self.context.athlete).split():
            return False
        if (
            word in GRAMMAR.words
            or word in UNKNOWN
            or word in PERIOD_WORDS
            or word in NUMBERS
            or word in ORDINALS
            or word.endswith("ly")
        ):
            return False
        return len(word) > 2 and word.isalpha() and not list(self._weekday(place)) and not list(self._weekdays(place))

    def _body(self, place: int) -> Iterator[tuple[int, tuple[str, str]]]:
        """A part of the body, outside the name of a technique."""
        word = self.words[place] if place < len(self.words) else ""
        after = self.words[place + 1] if place + 1 < len(self.words) else ""
        if stem_of(word) in BODY_PARTS and (not after or stem_of(after) not in TECHNIQUE_AFTER):
            yield place + 1, (word, stem_of(word))

    def _coach(self, place: int) -> Iterator[tuple[int, str]]:
        for name in self.context.coaches:
            parts = plain_question(name).split()
            if self.words[place : place + len(parts)] == parts:
                yield place + len(parts), name
            elif place < len(self.words) and len(self.words[place]) > 1 and self.words[place] in parts:
                yield place + 1, name
        if not self.context.is_own and self.words[place : place + 1] in (["i"], ["me"], ["my"]):
            yield place + 1, self.context.reader

    def _athlete(self, place: int) -> Iterator[tuple[int, bool]]:
        parts = plain_question(self.context.athlete).split()
        if parts and self.words[place : place + len(parts)] == parts:
            yield place + len(parts), True
        if place < len(self.words) and len(self.words[place]) > 1 and self.words[place] in parts:
            yield place + 1, True
