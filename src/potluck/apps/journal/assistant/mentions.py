"""Whether a text mentions phrases, in any grammatical form, or pain in a part of the body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from potluck.apps.journal.tokenizer import folded, sentences_of

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
NO_GI = re.compile(r"\bno[\s-]?gi\b", re.IGNORECASE)
IRREGULAR = {
    "lost": "lose", "losing": "lose", "won": "win", "felt": "feel", "slept": "sleep", "taught": "teach",
    "fought": "fight", "broke": "break", "broken": "break", "caught": "catch", "wrote": "write", "written": "write",
    "got": "get", "went": "go", "made": "make", "took": "take", "thought": "think", "kept": "keep", "swept": "sweep",
    "swollen": "swell", "threw": "throw", "thrown": "throw", "ran": "run", "swam": "swim", "tore": "tear",
    "torn": "tear", "using": "use", "used": "use", "tried": "try",
    "rolled": "roll", "injury": "injur", "injuries": "injur", "feet": "foot", "soreness": "sore", "achy": "ache",
    "painful": "pain", "hurting": "hurt", "shot": "shoot", "shots": "shoot", "held": "hold", "fell": "fall",
    "fallen": "fall", "gave": "give", "given": "give", "came": "come", "ate": "eat", "eaten": "eat",
    "tightness": "tight",
    # Words that would share the stem of another: tap, mat, spin, strip.
    "tape": "taping", "tapes": "taping", "taped": "taping", "mate": "mates", "spine": "spines", "stripe": "stripes",
    "stripes": "stripes", "mates": "mates", "taping": "taping",
    "stiffness": "stiff", "swelling": "swell", "drew": "draw",
    "forgot": "forget", "forgotten": "forget", "drawn": "draw", "led": "lead",
}  # fmt: skip
SHORTEST_STEM = 3

Phrase = tuple[str, ...]
"""A sequence of stems."""


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """The stem that the forms of an English word share: drill for drills, drilled and drilling."""
    word = folded(word)
    if word in IRREGULAR:
        return _without_e(IRREGULAR[word])
    for ending in ("ing", "ies", "ied", "ed", "es", "s"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < SHORTEST_STEM:
            continue
        if ending in ("ies", "ied"):
            return f"{stem}y"
        if ending == "es" and not stem.endswith(("s", "x", "z", "ch", "sh")):
            continue
        if ending == "s" and stem.endswith(("s", "u", "i")):
            return word
        if ending in ("ing", "ed"):
            if not re.search("[aeiouy]", stem):
                return word
            if stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
        return _without_e(stem)
    return _without_e(word)


def _without_e(word: str) -> str:
    return word.removesuffix("e") if len(word) > SHORTEST_STEM else word


def stems_in(text: str) -> list[str]:
    return [stem_of(match[0]) for match in WORD.finditer(NO_GI.sub("nogi", text))]


def phrase_of(words: Iterable[str]) -> Phrase:
    return tuple(stem for word in words for stem in stems_in(word))


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem_of, words.split()))


PAIN_STEMS = _stems(
    """hurt pain sore ache injury tweak strain sprain swell stiff bruise tear twist numb throb inflamed limp ouch"""
)
# These mean pain next to any part of the body.
TROUBLE_STEMS = PAIN_STEMS | _stems("pinch jam bother trouble physio doctor wreck purple cramp crack flare bug ice")
# These mean pain next to a part of the body that is rarely mentioned otherwise.
CUES = TROUBLE_STEMS | _stems("again bad brace problem popped pop weak click tight lock acting issue")
# Words that say the opposite: "held up", "fine for once".
RELIEF = _stems("fine good ok okay great hold held heal better perfect")
# Negations of a word for pain: "no pain", "not sore any more".
_DENIED = re.compile(
    r"\b(?:no|not|never|without|zero|isn'?t|wasn'?t|didn'?t|doesn'?t|don'?t|hardly any|free of)"
    r"(?:\s+(?:a|any|more|longer|at|all|so|even|the|really|much|bit|of)){0,3}\s+(?P<word>[^\W\d_]+)"
    r"|(?P<free>[^\W\d_]+)[\s-]free\b",
    re.IGNORECASE,
)
BODY_PARTS = _stems(
    """knee shoulder back neck elbow wrist finger ankle hip rib toe foot hand thumb hamstring groin head ear jaw
    leg arm calf shin quad nose eye lip body"""
)
# "Back" is usually not a part of the body.
NEEDS_PAIN = _stems("back head hand arm leg body foot hip eye")
# Words after or before a part of the body that make it the name of a technique.
TECHNIQUE_AFTER = _stems(
    """cut slide slice shield bar on through wedge block tap pick escape bump toss throw switch heist drag triangle lock
    control take mount step door crank hook sweep fight post pressure choke ride entangle guard"""
)
TECHNIQUE_BEFORE = _stems("single double")


class Sentence(NamedTuple):
    """A sentence, verbatim, and the stems of its words."""

    text: str
    stems: Sequence[str]

    def has(self, phrase: Phrase) -> bool:
        length = len(phrase)
        return any(tuple(self.stems[at : at + length]) == phrase for at in range(len(self.stems) - length + 1))

    def has_pain(self, part: str | None) -> bool:
        """Whether it mentions pain in this part of the body, or in any. "No pain" does not."""
        denied = {stem_of(match["word"] or match["free"]) for match in _DENIED.finditer(self.text)}
        stems = [stem for stem in self.stems if stem not in denied]
        if part is None and any(stem in PAIN_STEMS for stem in stems):
            return True
        if not PAIN_STEMS.intersection(stems) and RELIEF.intersection(self.stems):
            return False
        parts = {stem for at, stem in enumerate(self.stems) if stem in BODY_PARTS and not self._is_technique(at)}
        wanted = parts if part is None else parts & {part}
        return any(
            stem in (TROUBLE_STEMS if term in NEEDS_PAIN else CUES) and stem != term
            for term in wanted
            for stem in stems
        )

    def speaks_of(self, part: str) -> bool:
        """Whether a word that is usually not a part of the body is one here: "my back", "lower back"."""
        own = {"my", "left", "right", "lower", "upper", "her", "his"}
        owned = any(stem == part and self.stems[at - 1] in own for at, stem in enumerate(self.stems) if at)
        return owned or self.has_pain(part) or (part == "hip" and self.stems[0] == part)

    def has_part(self, part: str) -> bool:
        """Whether it mentions a part of the body outside the name of a technique."""
        return any(stem == part and not self._is_technique(at) for at, stem in enumerate(self.stems))

    def _is_technique(self, at: int) -> bool:
        after = self.stems[at + 1] if at + 1 < len(self.stems) else ""
        return after in TECHNIQUE_AFTER or (at > 0 and self.stems[at - 1] in TECHNIQUE_BEFORE)


def sentences_in(texts: Iterable[str]) -> list[Sentence]:
    return [Sentence(sentence, stems_in(sentence)) for text in texts for sentence in sentences_of(text)]
