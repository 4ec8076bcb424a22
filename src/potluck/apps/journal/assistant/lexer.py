"""The words of a question: plain spelling, corrected typos, and their positions."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from potluck.apps.journal.assistant.wording import vocabulary
from potluck.apps.journal.periods import MONTHS, NUMBERS, WEEKDAYS


class QuestionWord(NamedTuple):
    text: str
    start: int
    end: int


_TOKEN = re.compile(r"no-gi|\d+(?:st|nd|rd|th)\b|\d+(?:\.\d+)?|[^\W\d_]+(?:'(?!s\b)[^\W\d_]+)*\d*|'s|[^\w\s]")
# Contractions, abbreviations and typos that are too short to be recognised by their letters.
_PLAIN = (
    (r"\b(did|do|does|have|has|had|was|were|is|are|could|would|should)n'?t\b", r"\1 not"),
    (r"\bcan'?t\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(what|when|where|how|who|which|that|it|there)'?s\b(?<!its)", r"\1 is"),
    (r"\b(what|when|where|how|who)'?d\b", r"\1 did"),
    (r"\b(i|we|they|you)'ve\b", r"\1 have"),
    (r"\b(i|we|they|you)'d\b", r"\1 had"),
    (r"\b(i|we|they|you)'ll\b", r"\1 will"),
    (r"\bi'?m\b", "i am"),
    (r"\b(we|they|you)'re\b", r"\1 are"),
    (r"\bnon?[\s-]?gi\b", "no-gi"),
    (r"\bopenmats?\b", "open mat"),
    (r"\bcomp class(es)?\b", r"competition class\1"),
    (r"\bhow ?many\b", "how many"),
    (r"\b(i|we|they)ve\b", r"\1 have"),
    (r"\bw/o(?=\s)", "without"),
    (r"\bw(?:/(?=\s)|(?=\s))", "with"),
    (r"\s&\s", " and "),
    (r"\s[-–—]+\s(?=(?:in |on )?(?:how|what|when|which|did|do|was|were|is|total|count|any)\b)", " , "),
    (r"≥", " at least "),
    (r"≤", " at most "),
    (r"(\d)\s*(hrs?|hours?|h|mins?|minutes?|am|pm)\b", r"\1 \2"),
    (r"\b(\d+) h (\d\d)\b", r"\1 h \2"),
    (r"\b(\d+)h(\d\d)\b", r"\1 h \2"),
    (r"\ba\.m\b\.?", "am"),
    (r"\bp\.m\b\.?", "pm"),
    (r"\b(?:hrs?|huors|hors)\b", "hours"),
    (r"\bmins?\b(?! of)", "minutes"),
    (r"\b(?:sess|seshs?|seshes)\b", "sessions"),
    (r"\b(?:tot|ttl)\b", "total"),
    (r"\bwk\b", "week"),
    (r"\bwks\b", "weeks"),
    (r"\bmos\b", "months"),
    (r"(?<=this )mo\b|(?<=last )mo\b|(?<=per )mo\b", "month"),
    (r"\bhit(?= (?:\d|a hundred))", "reach"),
    (r"\b(?:yday|ystd|yest|yesterdays)\b", "yesterday"),
    (r"\bx-?mas\b", "christmas"),
    (r"\bnew years\b(?! (?:eve|day))", "new year"),
    (r"\b(?:bc|cuz|coz)\b", "because"),
    (r"\bb4\b", "before"),
    (r",?\s+i mean\b,?", " "),
    (r"\bn\b(?!')", "and"),
    (r"\bur\b", "your"),
    (r"\brn\b", "right now"),
    (r"\bgimme\b", "give me"),
    (r"\blemme\b", "let me"),
    (r"\b(hours?|minutes|time|rounds?|intensity|sessions?)[\s-]?wise\b", r"by \1"),
    (r"\b(the (?:day|week|month)) before (vs|and|or|than) (the (?:day|week|month)) after (.+)$",
     r"\1 before \4 \2 \3 after \4"),
    (r"\b(?:tourney|tourneys)\b", "tournament"),
    (r"\bcomps\b", "competitions"),
    (r"\bcomp\b", "competition"),
    (r"\bint\b", "intensity"),
    (r"\b(?:rnds?|rds)\b", "rounds"),
    (r"\b(?:num|nr|no\. of)\b(?= of|\s+\w)", "number"),
    (r"\b#(?= of)", "number"),
    (r"\bmon(?=s?\b(?: sess| class| training| vs|$))|(?<=on )mon\b|(?<=every )mon\b|(?<=last )mon\b", "monday"),
    (r"\btues?(?=s?\b)", "tuesday"),
    (r"\bweds?\b", "wednesday"),
    (r"\bthu(?:rs?)?\b", "thursday"),
    (r"\bfri(?=s?\b)", "friday"),
    (r"\bsat(?=s?\b(?: sess| class| training| morning| open|s| vs|$))|(?<=on )sat\b|(?<=every )sat\b|(?<=last )sat\b",
     "saturday"),
    (r"\bsun(?=s?\b(?: sess| class| training| morning| open|s| vs|$))|(?<=on )sun\b|(?<=every )sun\b|(?<=last )sun\b",
     "sunday"),
    (r"\bppl\b", "people"),
    (r"\bavg\b\.?", "average"),
    (r"\bvs\b\.?", "vs"),
    (r"\bpct\b", "percent"),
    (r"\b(?:mnay|meny|manny|mny)\b", "many"),
    (r"\b(?:hwo|hou|hw)\b", "how"),
    (r"\bwehn\b", "when"),
    (r"\b(?:offen|ofen|oftn|oftne|oten|ofetn)\b", "often"),
    (r"\b(?:wek|weke|weel|wekk)\b", "week"),
    (r"\b(?:lst|lats|lsat)\b", "last"),
    (r"\b(?:trian|trane|tran)\b", "train"),
    (r"\b(?:teh|hte|th)\b", "the"),
    (r"\b(?:ddi|dd|di)\b", "did"),
    (r"\b(?:waht|wat|wht)\b", "what"),
    (r"\b(?:thsi|tihs)\b", "this"),
    (r"\bmoth\b", "month"),
    (r"\byr\b", "year"),
    (r"\byrs\b", "years"),
    (r"\b(?:hav|hve)\b", "have"),
    (r"\bjuli\b", "july"),
    (r"\bjanurary\b", "january"),
    (r"\bu\b", "you"),
)  # fmt: skip
# Small talk before or after a question, which changes nothing about it.
_PREAMBLE = re.compile(
    r"^(?:(?:ok(?:ay)?|hey|hi|hello|yo|oh|um+|hm+|well|right|lol|haha+|alright|pls|plz|please|btw|thanks|thx|question"
    r"|(?:just )?(?:a )?quick (?:q|question|one)|(?:just )?(?:be |to be )?honest(?:ly)?(?: with me)?"
    r"|(?:i am |i was )?just (?:wondering|curious|checking|asking)|(?:i am|i was) (?:wondering|curious)|wondering"
    r"|my (?:mum|mom|mother|dad|father|wife|husband|partner|girlfriend|boyfriend|friend|sister|brother|son|daughter"
    r"|boss|coach) (?:wants to know|is asking|asks|asked|keeps asking|wonders)"
    r"|(?:for )?real talk|out of (?:interest|curiosity)"
    r"|if (?:you|i|we) (?:count|add)(?: up)? (?:everything|it all)(?: up)?"
    r"|(?:can|could) you (?:pls|please) tell me|do you know|any (?:idea|clue))(?:\W+|$))+"
)
_AFTERTHOUGHT = re.compile(
    r"(?:\W+(?:lol|haha+|pls|plz|please|tho|though|thx|thanks|thank you|btw|ty|(?<!or )(?<!my )(?<!left )right"
    r"|be honest|just (?:wondering|curious|checking|asking)|(?:i am|i was) (?:wondering|curious)|do you know"
    r"|any (?:idea|clue)))+\W*$"
)
# "Lapel stuff: how many sessions were tagged with that": the last word refers to what comes first.
_FRONTED = re.compile(
    r"^(?P<topic>[^\W\d_]+(?: [^\W\d_]+)??)(?: stuff| things?)?\s*[:.,–—-]\s+"
    r"(?P<rest>(?:in )?(?:how|what|when|which)\b.*"
    r"\b(?:tagged(?: with| as)?|about|with|mention|mentioned|did i do|drill)) (?:that|it|this|those|them|her|him)\W*$"
)
# "6.5.", "25/6"; "7/10" is an intensity.
_DAY_AND_MONTH = re.compile(r"(?<![\d./])(\d{1,2})(?:(\.)(?=\d{1,2}\.(?!\d))|(/)(?!10\b))(\d{1,2})(?![\d/])\.?")
# Words of their own that are one letter away from a word of the grammar.
_OWN_WORDS = vocabulary(
    """stuff trail trails brain drain trait rain strain strained trainer trainers sound sounds pound pounds wound found
    ground bound tomes limes tires later lately lasted wrist write white weeds moths mouths mouth streaky stream
    steak hour tours fours yours house counted couch coaches coached coaching roller roles tugged mentions commented
    moth tense intense intensive summers soften aboard abort witch thirst fist bust burst feast leaps three there
    those these where were here hear heart hurt short shirt sport spot sore store wore worn word words work world
    would could should shoulder elbow head hand heads hands mind mine mile miles most must mist missed kissed pass
    passed past paste best rest nest test west beat beaten heat seat meat meet feet feel fell felt fall fail file
    film firm farm form from front belt belts melt better letter latter matter master faster eater water winter win
    wins wine line lines lone love live lives like likes liked lake late rate rates rated grade game games name
    names same some come home hope hold cold gold told sold bold bald ball call tall hall wall well will hill bill
    fill full pull bull arms legs cross crosses grip grips frame frames guard guards mount mounts sweep sweeps sleep
    slept slip slow show slew throw threw through though thought taught caught fought bought light night might fight
    right sight tight eight weight weigh height competed compete completed complete partner partners injured tired
    fired hired wired nervous scared calm angry happy sad sick ill flu energy mood style stripe stripes promotion
    promoted drink eat food diet calories money cost price pay paid won lost lose tapped tap taps submission
    submissions escape escapes pressure passing retention choke chokes lock locks leg drill drills drilled moves
    move moved mats matt people person stretch stretching running run ran ride cycling swim swimming yoga weights
    lifting gym match matches medal medals party birthday wedding holiday holidays vacation travel trip flight
    office school exam exams boss wife husband skip skipped skipping miss misses missing cancel cancelled goal goals
    plan plans planned improve improved"""
)
# Words of periods, which are misspelt as often as words of the grammar.
PERIOD_WORDS = frozenset((
    *MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *NUMBERS, "yesterday", "today", "weekend", "weekends",
    "quarter", "summer", "winter", "autumn", "spring", "christmas", "fortnight", "between", "since", "previous",
    "second", "third", "fourth", "first", "month", "months", "years", "weeks", "until", "before", "after",
    "halloween", "valentine", *(month[:3] for month in MONTHS), "sept", "fall", "tonight", "easter",
))  # fmt: skip
_ENDINGS = ("s", "d", "r", "y", "ly", "ed", "er", "es")
MOST_WORDS = 60
"""A longer text is not a question."""
SHORTEST_TYPO = 4
SHORTEST_WORD = 5
LONG = 8
"""Words of this many letters may contain two typos."""


def plain_question(question: str, known: Collection[str] = (), own_words: Collection[str] = ()) -> str:
    """The question in lower case, with contractions written out, and typos of `known` words corrected.

    `own_words` stay unchanged.
    """
    text = question.casefold().replace("’", "'").replace("‘", "'").replace("`", "'")
    for pattern, instead in _PLAIN:
        text = re.sub(pattern, instead, text)
    text = _PREAMBLE.sub("", text) or text
    text = _AFTERTHOUGHT.sub("", text) or text
    text = _FRONTED.sub(r"\g<rest> \g<topic>", text)
    text = _DAY_AND_MONTH.sub(_written_out, text)
    text = re.sub(r"'s\b|(?<=s)'(?=\s|$)", " 's ", text)
    text = re.sub(r"[^\w\s.,:/%+<>='–-]|(?<!\d)[.:]|[.:](?!\d)", " ", text)
    if known and len(text.split()) <= MOST_WORDS:
        text = re.sub(r"[^\W\d_]+", lambda match: _corrected(match[0], frozenset(known), own_words), text)
    return " ".join(text.split()).strip(" ,.-")


def _written_out(match: re.Match[str]) -> str:
    """A date of two numbers with its month as a word; an ambiguous date stays unchanged."""
    day, month = int(match[1]), int(match[4])
    if match[3]:
        if day <= 12 and month <= 12 and day != month:
            return match[0]
        month, day = sorted((day, month))
    return f"{day} {MONTHS[month - 1]} " if 1 <= month <= 12 and 1 <= day <= 31 else match[0]


def tokens_of(plain: str) -> list[QuestionWord]:
    return [QuestionWord(match[0], *match.span()) for match in _TOKEN.finditer(plain)]


@cache
def _goals(known: frozenset[str]) -> dict[str, list[str]]:
    """Possible corrections by first letter, which is assumed to be correct."""
    goals: dict[str, list[str]] = {}
    for word in sorted(PERIOD_WORDS | known):
        goals.setdefault(word[:1], []).append(word)
    return goals


def _corrected(word: str, known: frozenset[str], own_words: Collection[str]) -> str:
    goals = _goals(known).get(word[0], [])
    if len(word) < SHORTEST_TYPO or word in goals or word in _OWN_WORDS or word in own_words:
        return word
    if word.endswith("s") and (word[:-1] in _OWN_WORDS or word[:-1] in own_words):
        return word
    for most in (1, 2) if len(word) >= LONG else (1,):
        near = {goal for goal in goals if len(goal) >= SHORTEST_WORD and _distance(word, goal, most) <= most}
        if len(near) == 2 and f"{min(near, key=len)}s" in near:
            near = {max(near, key=len) if word.endswith("s") else min(near, key=len)}
        if near:
            return near.pop() if len(near) == 1 else word
    return word


def _distance(word: str, goal: str, most: int) -> int:
    """The number of missing, doubled, wrong or swapped letters; anything above `most` is too many."""
    # A different ending is a different word.
    if word.startswith(goal) or goal.removeprefix(word) in _ENDINGS:
        return most + 1
    return OSA.distance(word, goal, score_cutoff=most)
