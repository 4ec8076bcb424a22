"""The words of a question as the assistant compares them: plain spelling, corrected typos, its language."""

from __future__ import annotations

import re
from collections.abc import Collection

from potluck.apps.journal.periods import MONTHS, WEEKDAYS
from potluck.apps.journal.tokenizer import words_in


def vocabulary(words: str) -> frozenset[str]:
    """Words that are written one after the other."""
    return frozenset(words.split())


CONTRACTIONS = (
    (r"\b(did|do|does|have|has|had|was|were|is|are|could|would|should)n'?t\b", r"\1 not"),
    (r"\bcan'?t\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(what|when|where|how|who|which|that|it|there)'s\b", r"\1 is"),
    (r"\b(what|when|where|how|who)'d\b", r"\1 did"),
    (r"\b(i|we|they|you)'ve\b", r"\1 have"),
    (r"\b(i|we|they|you)'d\b", r"\1 had"),
    (r"\b(i|we|they|you)'ll\b", r"\1 will"),
    (r"\bi'm\b", "i am"),
    (r"\b(we|they|you)'re\b", r"\1 are"),
    (r"\bnon?[\s-]?gi\b", "no-gi"),
    (r"\bopenmat\b", "open mat"),
    (r"\bw/o(?=\s)", "without"),
    (r"\bw(?:/(?=\s)|(?=\s))", "with"),
    (r"\s&\s", " and "),
    (r"\bhrs\b", "hours"),
    (r"\bmins\b", "minutes"),
    (r"\bsess\b", "sessions"),
    (r"\bppl\b", "people"),
    (r"\bwhats\b", "what is"),
    (r"\b(?:mnay|meny|manny)\b", "many"),
    (r"\b(?:hwo|hou)\b", "how"),
    (r"\bwehn\b", "when"),
    (r"\b(?:offen|ofen|oftn|oftne)\b", "often"),
    (r"\b(?:wek|weke|weel)\b", "week"),
    (r"\b(?:lst|lats)\b", "last"),
    (r"\b(?:trian|trane|tran)\b", "train"),
    (r"\b(?:teh|hte)\b", "the"),
)
# What may be misspelt: the words that decide how a question is read. Names and techniques are left as they are.
SPELLABLE = frozenset(
    (
        *MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS),
        "session", "sessions", "training", "trainings", "trained", "train", "times", "hours", "minutes", "rounds",
        "round", "intensity", "average", "longest", "shortest", "hardest", "easiest", "streak", "often", "weeks",
        "months", "years", "yesterday", "today", "compare", "percentage", "percent", "between", "since", "before",
        "after", "coach", "comment", "comments", "which", "month", "consecutive", "rolled", "tagged", "mention",
        "mentioned", "weekday", "weekend", "weekends", "quarter", "summer", "winter", "autumn", "busiest", "latest",
        "recent", "total",
    )
)  # fmt: skip
# One letter away from a word above, and a word of its own.
OWN_WORDS = vocabulary(
    """trail trails brain drain trait rain strain strained trainer trainers sound sounds pound pounds wound found
    ground bound tomes limes times' tires later lately lasted wrist write white weeds moths mouths mouth streaky stream
    steak hour tours fours yours house counted couch coaches coached coaching roller roll rolls roles tugged mentions
    commented moth tense intense intensive quarters summers soften aboard abort witch thirst fist bust burst feast
    leaps aftern"""
)
SHORTEST_TYPO = 5
# Words that say nothing about a question's topic.
STOP_WORDS = frozenset(
    words_in(
        """a about after again all also am an and any anything are as at average be been before but by can could count
        did do does doing done ever every far for from get go got had has have he her hers him his how i if in into is
        it its just last long longest many matches me mine more most much my myself no not nothing of often on or our
        out over past roll rolled said say says session sessions she should since so some still take than that the their
        them then there they this time times to today total train trained training until up was we week weeks went were
        what when where which who why will with work worked would yesterday you your hour hours minute minutes month
        months year years day days round rounds s t d m re ve ll please tell show give find entry entries journal hard
        intensity spend spent write wrote number"""
    )
)

# Auxiliaries, light verbs, indefinite pronouns and adverbs: none of them is what an entry is about.
FILLERS = vocabulary(
    """thing things something anything everything nothing stuff someone anyone somebody anybody take took taken taking
    try tried tries trying attempt attempted make made makes making use used uses using learn learned learnt ever yet
    even actually basically literally maybe perhaps quite rather simply kinda somewhat bit lot lots happen happened
    happens told telling saying bring brought feel felt feeling feels seem seemed look looked looking"""
)
STOP_WORDS |= FILLERS | vocabulary(
    """only new old lately recently between stop stopped quit keep keeps kept start started begin began always never
    sometimes usually normally currently now again enough too very almost nearly around better best worse worst good
    bad well ok okay fine early late first second third next previous latest recent same other others another each both
    either neither none must may might shall cannot being during within without against before under above below per
    compare compared than whether come came going gone did done anyone mention mentioned mentions gi nogi coach comment
    comments say saying think thought thinks feedback advice us whose whom while because though although mostly
    generally typically twice once away off down week weekend weekday morning evening afternoon night longest shortest
    break gap took getting gets gotten goes having does doing were been am taught anymore overall really
    truly somehow somewhere"""
)

ENGLISH = vocabulary(
    """the a an i my me did do does is are was were have has had what when how which who where why often many much long
    in on at of to for from with and or since last first most more than this that week month year train trained training
    session sessions about it you your she he they her his their hours minutes rounds"""
)
FOREIGN = vocabulary(
    """wie oft habe ich im wann mein meine meinem meinen letzte letzten letzter letztes waren hat haben und oder
    der das den dem des ein eine einen mit von zu bei nicht viele viel lange stunden trainiert woche monat jahr mir
    mich gestern heute welche welcher welches wer wo warum
    combien quand est ai je mon ma mes le la les des du dans avec pour sur fois dernier derniere entraine quel quelle
    cuantas cuantos cuanto cuando como que mi mis el los las en con por veces ultimo ultima entrene fue
    quantas quantos quanto quando minha meu meus minhas foi treinei vezes ultimo ultima com por em na os as
    quante quanti quanto volte ho mio mia miei allenato allenata ultimo ultima
    hoe vaak heb ik wanneer mijn laatste keer getraind"""
)


def plain_question(question: str, own_words: Collection[str] = ()) -> str:
    """The question in lower case, contractions written out and typos corrected; `own_words` are left as they are."""
    text = question.casefold().replace("’", "'").replace("‘", "'").replace("`", "'")
    for pattern, instead in CONTRACTIONS:
        text = re.sub(pattern, instead, text)
    text = re.sub(r"'s\b|(?<=s)'(?=\s|$)", " 's ", text)
    text = re.sub(r"[^\w\s.,/%+<>='–-]", " ", text)
    words = re.split(r"(\s+)", text)
    return "".join(_corrected(word, own_words) for word in words).strip()


def is_foreign(question: str) -> bool:
    """Whether a question is written in another language than English."""
    words = re.findall(r"[^\W\d_]+", _unaccented(question.casefold()))
    foreign = sum(word in FOREIGN for word in words)
    english = sum(word in ENGLISH for word in words)
    return foreign >= 2 and foreign > english


def topic_of(question: str, names: str = "") -> tuple[str, ...]:
    """The words that a question is about; not these names."""
    ignored = STOP_WORDS.union(words_in(names))
    return tuple(dict.fromkeys(word for word in words_in(question) if word not in ignored and len(word) > 1))


def _unaccented(text: str) -> str:
    return text.translate(str.maketrans("áàâãäéèêëíìîïóòôõöúùûüçñ", "aaaaaeeeeiiiiooooouuuucn"))


def _corrected(word: str, own_words: Collection[str]) -> str:
    core = word.strip(".,")
    if len(core) < SHORTEST_TYPO - 1 or not core.isalpha() or core in SPELLABLE or core in OWN_WORDS:
        return word
    if core in own_words:
        return word
    near = {each for each in SPELLABLE if len(each) >= SHORTEST_TYPO and _is_typo(core, each)}
    if len(near) == 2 and f"{min(near, key=len)}s" in near:
        near = {max(near, key=len)}
    return word.replace(core, near.pop()) if len(near) == 1 else word


def _is_typo(word: str, of: str) -> bool:
    """Whether one letter is missing, doubled, wrong or swapped with the next; the first letter is always right."""
    if word[0] != of[0] or abs(len(word) - len(of)) > 1:
        return False
    # A plural or another ending is a word of its own.
    if of in (word + "s", word[:-1]) or word in (of + "s", of[:-1]):
        return False
    start = next((place for place, (one, other) in enumerate(zip(word, of, strict=False)) if one != other), None)
    if start is None:
        return False
    rest, goal = word[start:], of[start:]
    return goal in (goal[0] + rest, rest[1:]) or rest[1:] == goal[1:] or rest[1::-1] + rest[2:] == goal
