"""Reads a question: a complete Reading, or none.

    reading_of("How many no-gi sessions in July?", context) -> Reading("total", where=…, periods=…) | None

Phrases are recognised one after the other, and each takes its words out of the question. What is left at the end must
be words without a meaning of their own, or something to look for in the entries. A number, a negation or a comparison
that has no place means that the question was not understood: then there is no reading, and nothing is counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, Literal, NamedTuple

from potluck.apps.journal.assistant.frames import GAP, SESSIONS, SUBJECT, Frame, Words, decided
from potluck.apps.journal.assistant.limits import asks_what_is_shared, asks_why
from potluck.apps.journal.assistant.mentions import BODY_PARTS, PAIN_STEMS, TECHNIQUE_AFTER, phrase_of, stem_of
from potluck.apps.journal.assistant.reading import NOTHING, Anchor, Bounds, Filter, Measure, Reading, Term, Unit
from potluck.apps.journal.assistant.wording import FILLERS, plain_question, vocabulary
from potluck.apps.journal.periods import NUMBERS, WEEKDAYS, Mention, Period, periods_in
from potluck.apps.journal.times import EARLIEST

# How people ask about a part of the body without a word for pain.
_STATE = (
    r"(?:bother(?:s|ed|ing)?(?: (?:me|her|him|them|NAME))?"
    r"|(?:act(?:s|ed|ing)?|play(?:s|ed|ing)?|flar(?:es?|ed|ing))(?: up)?"
    r"|hold(?:s|ing)? up|held up|giv(?:es?|ing) (?:me|her|him|them) (?:trouble|problems|grief)|feel(?:s|ing)?|felt"
    r"|doing|ok|okay|fine|heal(?:ed|ing|thy)?|injured)"
)
SHORT = 5
"""Words of a question that may be a follow-up without saying so."""


class Context(NamedTuple):
    """What a question is read against."""

    today: date
    athlete: str = ""
    """The name of the athlete whose journal it is."""
    is_own: bool = True
    coaches: Collection[str] = ()
    """The names of those who commented."""
    previous: Reading | None = None
    """The question before, for "and in April?"."""
    words: Collection[str] = ()
    """Words of the journal, which are no typos."""
    reader: str = ""
    """The name of the coach who asks, if it is one."""


# --- vocabulary -------------------------------------------------------------------------------------------------------

# Words that change nothing about what is asked.
IGNORED = (
    vocabulary(
        """a an the i me my mine we our us you your she he they her his hers their them NAME 's s did do does doing done
    have has had was were is are am be been being of in on at for to with by it its that these those there please any
    all ever total overall altogether just really actually so far also then journal diary log logged record recorded
    written write wrote about mention mentions mentioned mentioning talk talked note noted notes contain
    containing include including involving involve work worked working practise practised practice practiced practicing
    focus focused went go gone going get got train trained training roll rolled rolling spar sparred sparring session
    sessions trainings class classes entry entries time times when what which show tell give list find see say says said
    from and bjj mat mats ok hey hi now many can could one ones against tagged tag tags where happen happened
    during spend spent spending date attend attended visit visited come came held count number being amount together"""
    )
    | FILLERS
)
# What follows one of these is more often a verb or an adjective than the name of something.
NOT_BEFORE_A_NOUN = vocabulary(
    """i we she he they you it NAME was were is are am be been being have has had to not get got feel felt and so when
    really just also that which who"""
)
# Short words that are part of a technique's name; any other short word may mean anything.
SHORT_IN_A_NAME = frozenset({"x", "z", "k", "de", "la"})
# After a word to look for, these are part of it: "competition class", "open mat".
PART_OF_A_NAME = frozenset({"class", "mat", "mats"})
# Words that mean something for the answer, and that no recogniser placed: the question was not understood.
UNPLACED = vocabulary(
    """not no never none without except but because why if unless while until till before after since between than more
    most less least fewer fewest same other others another each every per only both either neither nor or vs versus too
    enough well better best worse worst improve improved improving progress increase increasing decrease decreasing how
    who whom whose will would should shall must might may next tomorrow future later earlier ago recently lately early
    late first last second third previous latest recent new old average mean median usual usually typical typically
    normal normally percent percentage share ratio rate ranking rank top bottom double half twice once thrice several
    few couple some during long longer longest short shorter shortest hard harder hardest easy easier easiest light
    tough intense intensity effort duration hours hour minutes minute rounds round days day weeks week months month
    years year quarter weekday weekdays weekend weekends morning mornings evening evenings afternoon afternoons night
    tonight streak row consecutive compare compared difference trend much often frequently regularly always sometimes
    almost nearly about? around roughly over under above below within out up down good bad great miss missed skip
    skipped cancelled canceled instead favourite favorite kind type weight weigh cost calories eat ate win won beat
    beats improvement goal goals plan planned want predict expect stop stopped stopping quit keep keeps kept start
    started begin began still again"""
) - {"half", "about?"}  # fmt: skip

_LESS_THAN = r"(?:less than|under|below|shorter than|lower than|fewer than|<)"
_MORE_THAN = r"(?:more than|over|above|longer than|greater than|higher than|harder than|exceeding|>)"
_AT_LEAST = r"(?:at least|a minimum of|minimum|no less than|not less than|>=)"
_AT_MOST = r"(?:at most|no more than|not more than|a maximum of|maximum|up to|<=)"
_OR_MORE = r"(?:\s*\+|,? (?:or|and) (?:more|higher|above|over|longer|greater|harder|up|upwards?|better)|plus)(?![\w])"
_OR_LESS = r"(?:,? (?:or|and) (?:less|lower|fewer|below|under|shorter|easier))\b"
_BEFORE = (
    rf"(?:(?P<atleast>{_AT_LEAST})|(?P<atmost>{_AT_MOST})|(?P<more>{_MORE_THAN})|(?P<less>{_LESS_THAN})"
    r"|(?:exactly|of|at|=|was|is|were|a))?\s*"
)
_COMPARED = rf"(?:(?P<atleast>{_AT_LEAST})|(?P<atmost>{_AT_MOST})|(?P<more>{_MORE_THAN})|(?P<less>{_LESS_THAN}))"
_AFTER = rf"(?:(?P<ormore>{_OR_MORE})|(?P<orless>{_OR_LESS}))?"
_AFTER_UNIT = _AFTER.replace("ormore", "ormore2").replace("orless", "orless2")
_SMALL = rf"(?:\d{{1,3}}|{'|'.join(NUMBERS)})"
_N = rf"(?P<n>{_SMALL})"
_TWO = rf"(?:between|from)?\s*(?P<low>{_SMALL})\s*(?:and|to|-|–)\s*(?P<high>{_SMALL})"
_OF_TEN = r"(?:\s*(?:/|out of|of)\s*(?:10|ten))?"
_LEVEL = r"(?:intensit(?:y|ies)|effort|rpe)(?: level| rating| score)?"
_RATED = r"(?:rated|scored|marked)"
_LENGTH = (
    rf"(?:(?P<hours>\d{{1,2}}(?:\.\d)?|an|{'|'.join(list(NUMBERS)[:12])})[\s-]?(?:hours?|hrs?|h)\b"
    r"(?:\s*(?:and )?(?:(?P<half>a half)|(?P<rest>\d{1,2})(?:\s?(?:minutes?|mins?|m)\b)?(?![\w])))?"
    rf"|(?P<minutes>\d{{1,4}}|{'|'.join(NUMBERS)})[\s-]?(?:minutes?|mins?|min)\b|(?P<halfhour>half an hour)"
    r"|(?P<hourhalf>(?:an|one) hour and a half))"
)


def speaks_of_comments(question: str) -> bool:
    """Whether a question may be about what others wrote, so that their names matter."""
    text = plain_question(question)
    return (
        re.search(
            r"\b(?:coach\w*|comment\w*|feedback|advice|advise\w*|say|says|said|tell|told|think\w*|thought|suggest\w*"
            r"|recommend\w*|tips?|write|wrote|work on|improve|weakness\w*|focus|remark\w*|opinion)\b",
            text,
        )
        is not None
    )


def asks_for_a_number(question: str) -> bool:
    """Whether a question expects something to be counted, read whole or not."""
    return (
        re.search(
            r"\b(?:how (?:many|often|much|long|frequently)|average|percentage|percent|number of|longest)\b",
            plain_question(question),
        )
        is not None
    )


def reading_of(question: str, context: Context) -> Reading | None:
    """The complete reading of a question, or None."""
    text = plain_question(question, context.words)
    text = _with_names(text, context)
    # "Did I train every Monday?" is about the days without a session, too.
    if (
        asks_why(question)
        or asks_what_is_shared(question)
        or re.match(rf"(?:did|have|has|do|does) {SUBJECT} .*\b(?:every|each)\b", text)
    ):
        return None
    return _read(text, context) or _of_own_comments(text, context) or _of_the_body(text, context)


def readings_of(question: str, context: Context) -> tuple[Reading, ...]:
    """What a question asks, which may be two things joined by "and"; empty if a part of it was not understood."""
    asks = r"(?=(?:how|what|when|which|did|do|was|were)\b)"
    parts = re.split(rf"(?<=\w)[?,;.]*\s+(?:and|but)\s+{asks}|[?;]\s+{asks}", question, flags=re.IGNORECASE)
    if len(parts) == 1:
        whole = reading_of(question, context)
        return () if whole is None else (whole,)
    if len(parts) > 2 or asks_why(question):
        return ()
    one, other = reading_of(parts[0], context), reading_of(parts[1], context._replace(previous=None))
    if one is None or other is None:
        return ()
    # "In June, and what was my average intensity?": the days and the filter are said once.
    if other.kind in ("total", "average", "extreme", "summary", "worn", "share", "groups", "days off"):
        if not other.periods and other.anchor is None and len(one.periods) == 1:
            other = other._replace(periods=one.periods)
        if other.where == NOTHING:
            other = other._replace(where=one.where, hard_words=one.hard_words)
    return one, other


def _of_own_comments(text: str, context: Context) -> Reading | None:
    """All comments of a coach who asks what they said, where nothing more could be read."""
    said = re.search(
        r"\b(?:what|when)\b.* i (?:\w+ )?(?:say|said|saying|tell|told|telling|write|wrote|written|comment(?:ed)?"
        r"|advised?)\b",
        text,
    )
    return None if context.is_own or said is None else Reading("comments", by=context.reader, number=0)


def _of_the_body(text: str, context: Context) -> Reading | None:
    """What the entries say about pain in a part of the body, where its state is asked for and could not be read."""
    asked = Words(text)
    part = _part_in(asked.text)
    if part is None or asks_for_a_number(text) or re.search(r"\b(?:coach\w*|comment\w*|more|less)\b", text):
        return None
    if re.search(rf"\b{_STATE}\b", text) is None and re.match(r" (?:how|is|are|has|was|does|do)\b", asked.text) is None:
        return None
    mentions = periods_in(text, context.today)
    periods = (mentions[0].period,) if len(mentions) == 1 else ()
    where = Filter(pain=True, part=part, part_stem=stem_of(part))
    return Reading("pain", where=where, periods=periods, asks_how=True) if len(mentions) <= 1 else None


def _part_in(text: str) -> str | None:
    """The part of the body that a question is about, other than in the name of a technique."""
    for match in re.finditer(
        r"(?<![\w-])(?:my|her|his|their|the|NAME 's)(?: left| right| lower| upper| bad| old)? (?P<part>[a-z]+)"
        r"(?= (?P<next>[a-z]+)?)",
        text,
    ):
        if stem_of(match["part"]) in BODY_PARTS and stem_of(match["next"] or "") not in TECHNIQUE_AFTER:
            return match["part"]
    return None


def _read(text: str, context: Context) -> Reading | None:
    follow_up = re.match(r"(?:(?:ok|and|but|so|then)[ ,]+)*(?:what about|how about|and)\b|(?:and|but)\b", text)
    asked = Words(text)
    reading = _Reader(asked, context).read()
    if reading is not None and context.previous is not None and _names_only_a_time(reading, text):
        return _followed_up(Words(text), context, context.previous) or reading
    if follow_up is not None and context.previous is not None:
        rest = Words(text[follow_up.end() :])
        return _followed_up(rest, context, context.previous) or reading
    if reading is None and context.previous is not None and len(text.split()) <= SHORT:
        return _followed_up(Words(text), context, context.previous)
    return reading


def _names_only_a_time(reading: Reading, text: str) -> bool:
    """Whether a question is no more than "in October?"."""
    return (
        reading.kind == "summary"
        and reading.where == NOTHING
        and len(text.split()) <= SHORT
        and re.match(r"(?:how|what|show|tell|which|list|summar|recap|review|overview)", text) is None
    )


def _with_names(text: str, context: Context) -> str:
    """The question with the athlete's name replaced by NAME."""
    parts = [part for part in plain_question(context.athlete).split() if len(part) > 1]
    for part in sorted(parts, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(part)}(?![\w-])", "NAME", text)
    return re.sub(r"NAME(?: NAME)+", "NAME", text)


def _followed_up(asked: Words, context: Context, previous: Reading) -> Reading | None:
    """The question before, over another period or with another filter, if that is all that was said."""
    reader = _Reader(asked, context)
    if asked.take(
        r"(?:which|show|list|what)(?: me)?(?: (?:ones|them|those|sessions|entries|days))?(?: were (?:they|those|that))?"
    ):
        if reader.is_used_up() and previous.kind in ("total", "average", "rate", "share"):
            return previous._replace(kind="summary")
        return None
    reader.read_numbers()
    reader.read_weekdays(frequent=True)
    mentions = reader.read_periods()
    worn = reader.read_worn()
    terms = reader.read_terms()
    if terms is None or not (mentions or worn or terms or reader.filters):
        return None
    if previous.kind in ("compare", "worn", "trend") or len(mentions) > 1:
        return None
    where = previous.where._replace(**reader.filters)
    if worn:
        where = where._replace(worn=worn)
    if terms:
        where = where._replace(terms=terms)
    periods = tuple(each.period for each in mentions) or previous.periods
    return previous._replace(periods=periods, where=where)


class _Reader:
    def __init__(self, asked: Words, context: Context) -> None:
        self.asked = asked
        self.context = context
        self.filters: dict[str, Any] = {}
        self.said = asked.text
        self.hard_words = False

    def read(self) -> Reading | None:
        asked = self.asked
        by = self._read_comments()
        if by is not None:
            return by.reading
        asked.take(r"^\s*(?:please|hey|hi|ok|so|well|and)\b")
        asks_how = (
            not asks_for_a_number(asked.text)
            and re.match(r"[ |]*how (?:is|are|was|were|has|have|had|did|do|does) ", asked.text) is not None
        )
        advice = asked.take(
            r"what (?:should i|could i|must i|do i need to) (?:work on|focus on|improve|practi[sc]e|train|drill|do"
            r" better"
            r"|change)(?: next| more| most| better)?|what (?:are|is) my (?:weak(?:nesse?s?|est|est point| points?|"
            r" spots?)?"
            r"|biggest (?:weakness|problem|mistake)s?|common mistakes)|where do i struggle(?: most)?"
            r"|what do i struggle with(?: most)?"
        )
        frame = Frame(asked)
        goal = self._read_goal(frame)
        self._read_parts_of_time(frame)
        frame.read_early()
        self.read_numbers(frame)
        self.read_weekdays(frequent=frame.is_frequent)
        frame.read()
        anchor_text = self._take_anchor()
        mentions = self.read_periods(frame.compares)
        anchor = self._anchor(anchor_text)
        if anchor_text is not None and anchor is None:
            return None
        worn_pair = self._read_worn_pair()
        worn = None if worn_pair else self.read_worn()
        frame.read_late(len(mentions))
        pain = self._read_pain()
        self._read_hard_words(frame)
        terms = self.read_terms()
        if terms is None or (terms and self._counts_another_verb(frame)):
            return None
        if worn:
            self.filters["worn"] = worn
        if terms:
            self.filters["terms"] = terms
        where = Filter(**self.filters)
        periods = self._periods(mentions, frame)
        if periods is None:
            return None
        base = Reading(
            "total", measure=frame.measure or "sessions", periods=periods, where=where, anchor=anchor,
            hard_words=self.hard_words, least=frame.least, number=frame.number, unit=frame.unit or "week",
            current=frame.current, average=frame.average, newest=frame.newest, asks_how=asks_how,
            goal=goal,
        )  # fmt: skip
        if advice is not None:
            return base._replace(kind="advice") if where == NOTHING and not frame.kinds else None
        return decided(base, frame, mentions, worn_pair=worn_pair, pain=pain, asked=asked)

    def _read_goal(self, frame: Frame) -> Bounds | None:
        """A number that a total should reach: "did I train more than 100 hours this year?"."""
        asked = self.asked
        if re.match(rf"[ |]*(?:did|have|has|do|does) {SUBJECT} ", asked.text) is None or asked.has("ever|how"):
            return None
        number = rf"(?P<goal>\d{{1,5}}|{'|'.join(NUMBERS)})"
        nouns = r"(?P<what>hours|minutes|rounds|sessions|times|days|trainings|classes)"
        match = asked.take(
            rf"(?:{_COMPARED}|(?P<reach>reach(?:ed)?|pass(?:ed)?|hit|get to|got to|make it to)) {number} {nouns}"
            r"(?: of (?:training|mat time|bjj)| on the mats?)?"
        )
        if match is None:
            return None
        if match["what"] in ("hours", "minutes", "rounds") and asked.has(SESSIONS):
            self.asked = Words(self.said)
            frame.asked = self.asked
            return None
        exact = _number(match["goal"]) * (60 if match["what"] == "hours" else 1)
        measures: dict[str, Measure] = {"hours": "minutes", "minutes": "minutes", "rounds": "rounds", "days": "days"}
        frame.measure = measures.get(match["what"], "sessions")
        if match["more"]:
            return Bounds(exact + 1, None, is_open=True)
        if match["less"]:
            return Bounds(None, exact - 1, is_open=True)
        return Bounds(None, exact) if match["atmost"] else Bounds(exact, None)

    def _read_parts_of_time(self, frame: Frame) -> None:
        """Weekdays against weekends, and the time of day: as a filter, or set against each other."""
        asked = self.asked
        link = r"\s*,? ?(?:or|vs\.?|versus|than|and|compared (?:to|with))\s*"
        week, weekend = r"(?:on |during )?(?:the )?week(?:days|day|s)?", r"(?:on |at |during )?(?:the )?weekends?"
        day = r"(?:in |during )?(?:the )?(?:morning|afternoon|evening)s?"
        unit: Unit | None = None
        if asked.take(rf"{week}{link}{weekend}|{weekend}{link}{week}"):
            unit = "part of the week"
        elif asked.take(rf"{day}(?:{link}{day})+") or asked.take(
            r"(?:at )?(?:what|which) (?:time|part) of (?:the )?day"
        ):
            unit = "time of day"
        if unit is not None:
            frame.kinds.add("groups")
            frame.unit = unit
            how = asked.take(r"(?:more|most|mostly|usually)(?: often)?|(?P<hard>harder)|(?P<long>longer)")
            if how is not None and how["hard"]:
                frame.measure, frame.average = "intensity", True
            elif how is not None and how["long"]:
                frame.measure, frame.average = "minutes", True
            asked.take("when")
            return
        match = asked.take(rf"(?P<time>morning|afternoon|evening)(?= {SESSIONS})") or asked.take(
            r"(?:in (?:the )?|during the )(?P<time>morning|afternoon|evening)s?"
            r"|(?:on )?(?P<times>morning|afternoon|evening)s"
        )
        if match is not None:
            groups = match.groupdict()
            self.filters["time"] = groups["time"] or groups.get("times")

    def _counts_another_verb(self, frame: Frame) -> bool:
        """Whether hours or rounds of something else than training are asked for: "how many hours did I sleep"."""
        if frame.measure in (None, "sessions"):
            return False
        verb = re.search(rf"(?:did|do|does|have|has) {SUBJECT} (?P<verb>[a-z]+)", self.asked.text)
        return verb is not None and verb["verb"] not in IGNORED

    def is_used_up(self) -> bool:
        return self.read_terms() == ()

    # --- comments -----------------------------------------------------------------------------------------------------

    def _read_comments(self) -> _ByComments | None:
        """A question about what coaches said; `_ByComments(None)` if it is one that cannot be read."""
        asked, context = self.asked, self.context
        names = {part: name for name in context.coaches for part in plain_question(name).split() if len(part) > 1}
        if not context.is_own:
            names |= {"i": context.reader, "my": context.reader, "me": context.reader}
        asked.take("coach(?= (?:" + "|".join(map(re.escape, names)) + r")\b)") if names else None
        who = "|".join(
            [*map(re.escape, names), r"(?:my |the |her |his |their )?coach(?:es)?", "(?:any|every)(?:one|body)"]
        )
        said = (
            r"(?:say|says|said|write|writes|wrote|written|think|thinks|thought|comment(?:ed)?|tell|told|advise[ds]?"
            r"|recommend(?:ed|s)?|suggest(?:ed|s)?|mention(?:ed|s)?|remark(?:ed)?|note[ds]?"
            r"|(?:keeps?|kept) (?:telling|saying|writing|repeating)|always (?:say|says|tell|tells|write|writes))"
        )
        nouns = r"(?:comments?|feedback|advice|notes?|tips?|remarks?|opinion|suggestions?)"
        count = asked.take(
            rf"how many comments(?: did| has| have| do i have| were there| are there)?(?: (?:from|by))?(?: "
            rf"(?P<who>{who}))?"
            rf"(?: 's)?(?: (?:{said}|made|make|left|leave|get|got|received))?"
            rf"|how (?:often|many times) (?:did|has|have|does|do) (?P<who2>{who}) (?:{said}|left a comment)(?: on|"
            rf" about)?"
        )
        match = count or asked.take(
            rf"(?:what|when)(?: all)? (?:did|does|do|has|have|was|were)(?: the)?(?P<last> last)?(?: thing)? "
            rf"(?P<who>{who})"
            rf"(?P<last2> last)?(?: recently| ever)? {said}(?: to)?(?: me| NAME| her| him| them)?(?: to)?"
            rf"|(?:what|which)(?: (?:was|is|were|are))?(?: the| my)?(?P<last3> last| latest| most recent)?"
            rf" (?:(?P<who2>{who})(?: 's)? )?{nouns}(?: (?:did|has|have|was|were))?(?: i)?(?: (?:get|got|received?"
            rf"|gotten))?"
            rf"(?: (?:from|by|of) (?P<who3>{who}))?(?: {said}| give| gave| given| leave| left| make| made)?(?: me|"
            rf" NAME)?"
            rf"|(?P<who4>{who})(?: 's)? (?P<last4>last |latest |most recent )?{nouns}"
            rf"|(?:did|has|have|does|do) (?P<who6>{who}) (?:ever )?{said}(?: to)?(?: me| NAME| her| him| them)?"
            rf"(?: (?:any|some)thing)?"
            rf"|{nouns} (?:from|by|of) (?P<who5>{who})|(?P<last5>last |latest |most recent ){nouns}"
            rf"|(?:show|list|find|any|all)(?: me)?(?: the| all| all the| my)? {nouns}"
        )
        if match is None:
            return None
        groups = match.groupdict()
        said_by = next((groups[key] for key in groups if key.startswith("who") and groups[key]), "")
        if not context.is_own and not said_by and re.search(rf"\bmy (?:\w+ ){{0,2}}{nouns}", match[0]):
            said_by = "my"
        asked.take("lately|recently|so far|ever|these days|keep|always|newest first")
        mentions = self.read_periods()
        last = any(groups[key] for key in groups if key.startswith("last")) or asked.take(
            "most recently|last time|last|latest"
        )
        if not said_by and (found := asked.take(rf"(?:from|by) (?P<who>{who})|(?:did|has) (?P<other>{who})")):
            said_by = found["who"] or found["other"]
        asked.take(rf"(?:did|has|does) (?:{who})")
        asked.take(rf"(?:give|gave|leave|left|make|made|{said})(?: me| NAME)?")
        asked.take("how many|how often")
        worn = self.read_worn()
        terms = self.read_terms()
        if terms is None or worn or len(mentions) > 1:
            return _ByComments(None)
        return _ByComments(
            Reading(
                "comment count" if count else "comments",
                periods=tuple(each.period for each in mentions),
                where=Filter(terms=terms),
                by=names.get(said_by),
                number=1 if last else 0,
            )
        )

    # --- filters ------------------------------------------------------------------------------------------------------

    def read_numbers(self, frame: Frame | None = None) -> None:
        """Bounds on intensity, length and rounds."""
        asked = self.asked
        if match := (
            asked.take(rf"(?:with |at |of |an? )*{_LEVEL}(?: (?:was|is|were|of|at|being|rated))* {_TWO}{_OF_TEN}")
            or asked.take(rf"{_COMPARED}(?: an?)? {_LEVEL}(?: of| at)? {_N}{_OF_TEN}")
            or asked.take(rf"(?:with |at |of )*{_TWO}{_OF_TEN} (?:in |of )?{_LEVEL}")
            or asked.take(
                rf"(?:with |at |of |an? )*{_LEVEL}(?: (?:was|is|were|of|at|being|rated))*"
                rf" {_BEFORE}{_N}{_OF_TEN}{_AFTER}"
            )
            or asked.take(rf"(?:with |at |of |an? )*{_BEFORE}{_N}{_OF_TEN}{_AFTER} (?:in |of )?{_LEVEL}")
            or asked.take(rf"{_RATED} (?:as )?{_BEFORE}{_N}{_OF_TEN}{_AFTER}")
            or asked.take(rf"(?:with |at |of |an? )*{_BEFORE}{_N}\s*(?:/|out of|of)\s*(?:10|ten){_AFTER}")
        ):
            self.filters["intensity"] = _bounds(match, _number)
        if match := asked.take(
            r"(?:between|from) (?P<low>\d{1,3})(?: minutes?| mins?)? (?:and|to) (?P<high>\d{1,3})[\s-]?(?:minutes?"
            r"|mins?)"
            r"(?: long)?"
        ):
            self.filters["minutes"] = _bounds(match, _number)
        elif match := asked.take(
            rf"(?:between|from) (?P<low>{_SMALL})(?: hours?)? (?:and|to) (?P<high>{_SMALL}) (?:hours|hrs)(?: long)?"
        ):
            low, high = (_number(match[key]) for key in ("low", "high"))
            self.filters["minutes"] = Bounds(60 * low, 60 * high)
        elif match := asked.take(
            rf"(?:that )?(?:(?:were |was )?(?:lasted|lasting|took|last|for) )?{_BEFORE}{_LENGTH}{_AFTER}(?: (?:long"
            rf"|or longer))?"
        ):
            self.filters["minutes"] = _bounds(match, None)
        if match := asked.take(rf"(?:with |of )?{_TWO} rounds") or asked.take(
            rf"(?:with |of )?{_BEFORE}{_N}{_AFTER} rounds{_AFTER_UNIT}"
        ):
            self.filters["rounds"] = _bounds(match, _number)
        elif asked.take("(?:with no|without|with zero|without any) rounds"):
            self.filters["rounds"] = Bounds(0, 0)

    def read_weekdays(self, frequent: bool) -> None:
        asked = self.asked
        names = "|".join(WEEKDAYS)
        found: list[int] = []
        while True:
            match = asked.take(rf"(?:on |every |each |and )*(?P<day>{names})s(?: and)?") or asked.take(
                rf"(?:and )?(?:on an?|every|each) (?P<day>{names})"
            )
            if match is None and (frequent or found) and not asked.has(rf"(?:last|this|past|since|from) (?:{names})"):
                match = asked.take(rf"(?:and )?on (?P<day>{names})(?! \d)")
            if match is None:
                match = asked.take(rf"(?P<day>{names}) {SESSIONS}")
            if match is None:
                break
            found.append(WEEKDAYS.index(match["day"]))
        if asked.take(
            r"(?:on|at|over)(?: the)? weekends?(?= |$)(?! of)|(?:every|each) weekend|weekend (?:sessions|trainings)"
        ):
            found += [5, 6]
        elif asked.take(
            r"(?:on|during)(?: the)? weekdays|(?:every|each) weekday|weekday (?:sessions|trainings)|during the week"
        ):
            found += [0, 1, 2, 3, 4]
        if found:
            self.filters["weekdays"] = tuple(sorted(set(found)))

    def read_worn(self) -> Literal["gi", "no-gi", "both"] | None:
        asked = self.asked
        if asked.take(r"(?:in |with )?both(?: the)?(?: gi)?(?: and|,|/)? ?(?:no-gi)?"):
            return "both"
        if asked.take(
            r"(?:in |with |were |was )*(?:the )?no-gi(?: only)?|without(?: the| a| my)? gi"
            r"|(?:were |was |are |is )?not (?:in |with |wearing )?(?:the |a |my )?gi"
        ):
            return "no-gi"
        if asked.take(r"(?:in |with |were |was )*(?:the |a |my )?gi(?: only)?"):
            return "gi"
        return None

    def _read_worn_pair(self) -> bool:
        """Both gi and no-gi, set against each other."""
        asked = self.asked
        gi, link = (
            r"(?:in )?(?:the )?gi",
            r"(?:\s*(?:sessions )?(?:or|vs\.?|versus|and|to|than|compared (?:to|with)|against|/|-|\|)(?: in)?\s*)",
        )
        if asked.has(r"both"):
            return False
        return (
            asked.take(rf"(?:{gi}{link}(?:the )?no-gi|(?:in )?no-gi{link}(?:the )?{gi})(?: (?:split|ratio|sessions))?")
            or asked.take(r"gi (?:split|ratio|share|breakdown)")
        ) is not None

    def _read_pain(self) -> bool:
        """Pain, and the part of the body it is in."""
        asked = self.asked
        stems = {stem_of(word) for word in re.findall(r"[a-z]+", asked.text)}
        state = _part_in(asked.text) is not None and (
            re.match(r"[ |]*(?:how )?(?:is|are|was|were|has|have|been) ", self.said) is not None
            or re.search(rf"\b{_STATE}\b", asked.text) is not None
        )
        if not stems & PAIN_STEMS and not state:
            return False
        while asked.take(rf"{_STATE}(?: again)?"):
            pass
        for word in re.findall(r"[a-z]+", asked.text):
            if stem_of(word) in PAIN_STEMS or word == "injuries":
                asked.take(re.escape(word))
        asked.take("feel|felt|feeling|bother|bothered|problems?|issues?")
        parts = [word for word in re.findall(r"[a-z]+", asked.text) if stem_of(word) in BODY_PARTS]
        self.filters["pain"] = True
        if len(parts) == 1:
            asked.take(rf"(?:left |right |lower |upper )?{parts[0]}")
            self.filters |= {"part": parts[0], "part_stem": stem_of(parts[0])}
        return True

    def _read_hard_words(self, frame: Frame) -> None:
        """Hard is 8 or more, easy 4 or less; the answer says so."""
        asked = self.asked
        noun = rf"(?= (?:\| )?(?:no-gi |gi )?(?:\| )?{SESSIONS}| \||\s+(?:days|weeks))"
        if "intensity" in self.filters:
            # "Easy sessions (intensity 4 or less)" says itself what it means.
            asked.take(rf"(?:really |very )?(?:hard|tough|intense|easy|light){noun}")
        elif asked.take(rf"(?:really |very )?(?:hard|tough|intense|high intensity|high-intensity){noun}"):
            self.filters["intensity"], self.hard_words = Bounds(8, None), True
        elif asked.take(rf"(?:really |very )?(?:easy|light|low intensity|low-intensity){noun}"):
            self.filters["intensity"], self.hard_words = Bounds(None, 4), True
        elif frame.kinds & {"total"} and asked.take(
            r"(?<=train )hard|(?<=trained )hard|(?<=roll )hard|(?<=rolled )hard"
        ):
            self.filters["intensity"], self.hard_words = Bounds(8, None), True

    # --- time ---------------------------------------------------------------------------------------------------------

    def read_periods(self, compares: bool = False) -> list[Mention]:
        asked = self.asked
        today = self.context.today
        asked.text = _with_both_halves(asked.text)
        mentions = periods_in(asked.text, today)
        if compares and len(mentions) != 2:
            apart = periods_in(asked.text, today, ranges=False)
            mentions = apart if len(apart) == 2 else mentions
        asked.text = outside_with_gap(asked.text, mentions)
        return mentions

    def _periods(self, mentions: list[Mention], frame: Frame) -> tuple[Period, ...] | None:
        """One period, or those to compare or to add up; None if they do not go together."""
        periods = [each.period for each in mentions]
        if len(periods) == 2 and not frame.compares:
            one, other = sorted(periods, key=lambda period: period.first)
            bounded = one.first == EARLIEST or other.last == self.context.today
            if one.first == EARLIEST and other.last <= one.last and other.first > EARLIEST:
                return (Period(other.first, min(one.last, other.last)),)
            if bounded and one.first <= other.first <= one.last and one.first == EARLIEST:
                return (Period(other.first, one.last),)
            # "On Mondays in March this year": one within the other says no more than the smaller.
            if all(one.first <= day <= one.last for day in other):
                return (other,)
            if all(other.first <= day <= other.last for day in one):
                return (one,)
            return (periods[0], periods[1]) if one.last < other.first else None
        return (
            tuple(periods)
            if len(periods) <= 2
            else (tuple(periods) if frame.compares is False and len(periods) <= 4 else None)
        )

    def _take_anchor(self) -> re.Match[str] | None:
        asked = self.asked
        text = asked.text
        match = re.search(
            r"(?<![\w-])(?P<side>since|after|before)(?: (?:my|the|our|her|his|their|NAME 's))?(?: (?P<which>last"
            r"|latest|most recent))?"
            r" (?P<what>(?!i |we |she |he |they |last |it |the |my )[a-z][a-z' -]*?)\s*(?=[|?.,]|$)",
            text,
        )
        if match is None or periods_in(match[0], self.context.today) or re.search(r"\d", match["what"]):
            return None
        asked.text = f"{text[: match.start()]}{GAP}{text[match.end() :]}"
        return match

    def _anchor(self, match: re.Match[str] | None) -> Anchor | None:
        if match is None:
            return None
        inner = _Reader(Words(match["what"]), self.context)
        worn = inner.read_worn()
        inner._read_pain()
        terms = inner.read_terms()
        if terms is None or not (terms or worn or inner.filters):
            return None
        return Anchor(
            "before" if match["side"] == "before" else "after", Filter(worn=worn, terms=terms, **inner.filters)
        )

    # --- what is left -------------------------------------------------------------------------------------------------

    def read_terms(self) -> tuple[Term, ...] | None:
        """What is left as things to look for in the entries; None if something has no place."""
        asked = self.asked
        terms: list[Term] = []
        while match := asked.take(r"(?:tagged|tag|tags)(?: as| with| of)? (?P<tag>[a-z][\w' -]*?)(?= \||\s*$|,)"):
            words = [word for word in match["tag"].split() if word not in ("in", "the", "sessions", "and")]
            if not words or any(word in UNPLACED for word in words):
                return None
            terms.append(Term((phrase_of(words),), " ".join(words), tag_only=True))
        runs: list[list[str]] = [[]]
        before: dict[int, str] = {}
        after: dict[int, str] = {}
        said = ""
        alternative: set[int] = set()
        for word in re.findall(r"\||[\w'+%<>=/-]+|[.,]", asked.text):
            bare = word.strip("-'")
            if word == "or" and runs[-1]:
                runs.append([])
                alternative.add(len(runs) - 1)
            elif (
                (bare in PART_OF_A_NAME and runs[-1])
                or bare == "half"
                or (bare not in IGNORED and bare not in UNPLACED and re.fullmatch(r"[^\W\d_][\w'-]*", bare))
            ):
                if not runs[-1]:
                    before[len(runs) - 1] = said
                runs[-1].append(bare)
            elif word in "|.," or bare in IGNORED or not bare:
                if runs[-1]:
                    after[len(runs) - 1] = bare
                    runs.append([])
            else:
                return None
            said = bare or word
        found: list[Term] = []
        for number, run in enumerate(runs):
            if not run:
                continue
            if run == ["half"] or not _can_be_looked_for(run):
                return None
            clear = before[number] not in NOT_BEFORE_A_NOUN or bool(re.fullmatch(SESSIONS, after.get(number, "")))
            term = Term((phrase_of(run),), " ".join(run), is_clear=clear and not run[-1].endswith("ly"))
            if number in alternative and found:
                term = Term((*found[-1].phrases, *term.phrases), f"{found[-1].words}” or “{term.words}")
                found.pop()
            found.append(term)
        return (*terms, *found)


def _can_be_looked_for(words: list[str]) -> bool:
    """Whether not finding the words says something: an abbreviation or a number would be denied by mistake."""
    named = [word for word in words if word not in SHORT_IN_A_NAME]
    return bool(named) and all(len(word) > 2 and word not in NUMBERS for word in named)


class _ByComments(NamedTuple):
    reading: Reading | None


def _with_both_halves(text: str) -> str:
    """ "The first half of the year or the second" with the year said twice."""
    half, year = r"(first|second|1st|2nd)", r"(of (?:this year|last year|the year|(?:19|20)\d\d))"
    text = re.sub(
        rf"\b{half} half {year}(?P<mid> .*?\b(?:the )?){half}(?: half| one)?(?= *\||\s*$)",
        r"\1 half \2\g<mid>\4 half \2",
        text,
    )
    return re.sub(
        rf"\b{half}(?: half)? (or|and|vs|versus|than|to|with) (in )?(?:the )?{half} half {year}",
        r"\1 half \5 \2 \4 half \5",
        text,
    )


def outside_with_gap(text: str, mentions: list[Mention]) -> str:
    for mention in reversed(mentions):
        text = f"{text[: mention.start]}{GAP}{text[mention.end :]}"
    return text


def _number(said: str) -> int:
    return NUMBERS.get(said) or int(said)


def _bounds(match: re.Match[str], number: Any) -> Bounds:
    groups = match.groupdict()
    if groups.get("low"):
        low, high = _number(groups["low"]), _number(groups["high"])
        return Bounds(min(low, high), max(low, high))
    exact = number(groups["n"]) if number is not None else _minutes(groups)
    if groups.get("atleast") or groups.get("ormore") or groups.get("ormore2"):
        return Bounds(exact, None)
    if groups.get("atmost") or groups.get("orless") or groups.get("orless2"):
        return Bounds(None, exact)
    if groups.get("more"):
        return Bounds(exact + 1, None, is_open=True)
    if groups.get("less"):
        return Bounds(None, exact - 1, is_open=True)
    return Bounds(exact, exact)


def _minutes(groups: Mapping[str, str | None]) -> int:
    if groups["halfhour"]:
        return 30
    if groups["hourhalf"]:
        return 90
    if (minutes := groups["minutes"]) is not None:
        return _number(minutes)
    said = groups["hours"] or "1"
    hours = 1.0 if said == "an" else float(NUMBERS.get(said) or said)
    return round(60 * hours) + (30 if groups["half"] else int(groups["rest"] or 0))
