"""Questions that a journal cannot answer: about other people, about reasons, and about what is better."""

from __future__ import annotations

import re
from collections.abc import Collection

from potluck.apps.journal.assistant.lexer import plain_question
from potluck.apps.journal.assistant.wording import vocabulary
from potluck.apps.journal.periods import MONTHS, WEEKDAYS

_TRAIN = (
    r"(?:train(?:s|ed|ing)?|roll(?:s|ed|ing)?|spar(?:s|red|ring)?|practi[sc](?:es?|ed|ing)|drill(?:s|ed|ing)?"
    r"|compet(?:es?|ed|ing)|work(?:s|ed|ing)? out|miss(?:ed)?|skip(?:ped)?|rest(?:ed)?|improv(?:es?|ed|ing))"
)
_OFTEN = r"(?:(?:last|first|ever|usually|often|also|actually|been|even|not|really|on) )*"
_NOUNS = (
    r"(?:sessions?|training|intensity|hours|rounds|streak|knee|shoulder|back|progress|journal|entr(?:y|ies)|week|month"
    r"|year|average|gi|no-gi)"
)
_OWN = vocabulary(
    """i we she he they you it that this there my the her his their our your a an me us not name anyone anybody someone
    somebody everyone coach"""
).union(MONTHS, WEEKDAYS)
_NOT_AFTER = "".join(f"(?<!{word} )" for word in ("with", "against", "by", "from", "mention"))


def asks_why(question: str) -> bool:
    return _matches(r"\b(?:why|how come|what for|(?:the )?reasons?|what caused|because of what)\b", question)


def asks_what_is_shared(question: str) -> bool:
    """Whether it asks which parts are private, shared or hidden; a private lesson is an ordinary session."""
    return _matches(
        r"\b(?:private(?! (?:lessons?|class(?:es)?|coach\w*))|privately|hidden|unshared|shared)\b", question
    )


def leaves_something_out(question: str) -> bool:
    """Whether it excludes something, so that quoting that would be the opposite of an answer."""
    return _matches(
        r"\b(?:without|except|excluding|other than|apart from|not (?:tagged|with|in|on|about|mention\w*))\b", question
    )


def ambiguous_date(question: str) -> str | None:
    """A date of two numbers of which either could be the month, if there is one."""
    match = re.search(r"(?<![\d/.])(?:0?[1-9]|1[0-2])/(?:0?[1-9]|1[0-2])(?![\d.])(?:/\d{2,4})?", _plain(question))
    return None if match is None else match[0]


def asks_to_judge(question: str) -> bool:
    """Whether it asks for a judgement, which numbers cannot give."""
    return _matches(r"\b(?:better|worse|improv\w+|progress\w*|regress\w*|plateau\w*|good enough)\b", question)


def asks_for_a_timetable(question: str) -> bool:
    """Whether it asks when classes take place, which no entry says."""
    event = r"(?:class(?:es)?|training|practice|open mats?|comp(?:etition)? class|seminars?|lessons?)"
    return _matches(
        rf"^(?:so |and )?(?:(?:is|are|will) there (?:be )?(?:an? |any |the )?(?:[\w-]+ )?{event}\b"
        r"|is there (?:an? |any )?(?:[\w-]+ )?session\b"
        r"|(?:do|does) (?:we|the gym|the dojo|the academy) (?:have|open)\b"
        rf"|(?:when|what time) (?:is|are|does) (?:the )?(?:[\w-]+ )?{event}"
        r"(?: (?:on|at|today|tonight|start|starts|begin)\b|$)"
        r"|is (?:the )?(?:gym|dojo|academy|mat) (?:open|closed)\b)",
        question,
    )


def asks_ahead(question: str) -> bool:
    """Whether it asks about the future or for advice, which no entry gives."""
    return asks_for_a_timetable(question) or _matches(
        r"^(?:will|should|shall|book|recommend|buy|remind|schedule)\b"
        r"|\b(?:will|should|shall) (?:i|she|he|we|they)\b"
        r"|^when (?:is|are) (?:the|my) next\b"
        r"|\b(?:tomorrow|gonna|going to (?:be|win|train))\b|^how (?:do|can|should) (?:i|you|we) ",
        question,
    )


def another_person(
    question: str, athlete: str, is_own: bool, others: Collection[str] = (), journal: str = ""
) -> str | None:
    """The person whose training it asks about, if not the athlete: a name, or "you" for the coach who asks.

    A word that `journal` uses for a kind of training is not a name: "team training".
    """
    text = f" {_plain(question)} "
    for name in others:
        for part in [_plain(name), *_plain(name).split()]:
            if part in _plain(athlete).split() or len(part) < 2:
                continue
            if re.search(rf"{_NOT_AFTER}(?<![\w-]){re.escape(part)}(?![\w-])", text):
                return name
    if not is_own and re.search(rf" (?:did|do|have|had|am|was|will) i {_OFTEN}{_TRAIN} ", text):
        return "you"
    known = set(_plain(athlete).split())
    subject = re.search(
        rf" (?:did|does|has|is|was|had|will) (?P<name>[^\W\d_]+(?: [^\W\d_]+)?) {_OFTEN}(?P<verb>{_TRAIN}) ", text
    )
    if subject is not None and f"{subject['name']} {subject['verb']}" not in journal:
        first = subject["name"].split()[0]
        if first not in _OWN | known and _is_name(first, question):
            return first.capitalize()
    owner = re.search(rf" (?P<name>[^\W\d_]+) 's (?:[^\W\d_]+ )?{_NOUNS} ", text)
    if owner is not None and owner["name"] not in _OWN | known and _is_name(owner["name"], question):
        return owner["name"].capitalize()
    return None


def _is_name(word: str, question: str) -> bool:
    """Whether the word is capitalised, or nothing in the question is."""
    return re.search(rf"\b{re.escape(word.capitalize())}\b", question) is not None or question == question.lower()


def _matches(pattern: str, question: str) -> bool:
    return re.search(pattern, _plain(question)) is not None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[.,]", " ", plain_question(text)).split())
