"""The language and the topic of a question."""

from __future__ import annotations

import re

from potluck.apps.journal.tokenizer import words_in


def vocabulary(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


# Words that are not the topic of a question.
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

# Auxiliaries, light verbs, indefinite pronouns and adverbs: never the topic of an entry.
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


def is_foreign(question: str) -> bool:
    """Whether a question is written in another language than English."""
    words = re.findall(r"[^\W\d_]+", _unaccented(question.casefold()))
    foreign = sum(word in FOREIGN for word in words)
    english = sum(word in ENGLISH for word in words)
    return foreign >= 2 and foreign > english


def topic_of(question: str, names: str = "") -> tuple[str, ...]:
    """The words that a question is about, without these names."""
    ignored = STOP_WORDS.union(words_in(names))
    return tuple(dict.fromkeys(word for word in words_in(question) if word not in ignored and len(word) > 1))


def _unaccented(text: str) -> str:
    return text.translate(str.maketrans("áàâãäéèêëíìîïóòôõöúùûüçñ", "aaaaaeeeeiiiiooooouuuucn"))
