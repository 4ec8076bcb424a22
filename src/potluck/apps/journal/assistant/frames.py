"""What a question is after: the phrases that ask for a number, a date, a comparison or a list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from potluck.apps.journal.assistant.reading import NOTHING, Bounds, Kind, Measure, Reading, Unit
from potluck.apps.journal.periods import NUMBERS, Mention

GAP = " | "
"""Takes the place of a recognised phrase, so that the words around it do not become neighbours."""

SUBJECT = r"(?:i|we|she|he|they|you|NAME)"
SESSIONS = (
    r"(?:(?:training |bjj |jiu-?jitsu )?(?:sessions?|trainings?|class(?:es)?|workouts?|practices?|rolls)|open mats?)"
)
ENTRIES = r"(?:(?:journal |diary )?(?:entr(?:y|ies)|notes))"
TRAIN = (
    r"(?:train(?:ed|ing)?|roll(?:ed|ing)?|spar(?:red|ring)?|practi[sc](?:e|ed|ing)|work(?:ed)? out|exercis(?:e|ed|ing)"
    r"|on the mats?|active)"
)
SMALL = rf"(?:\d{{1,2}}|{'|'.join(list(NUMBERS)[:12])})"
GROUP = r"(?P<group>month|week|weekday|days? of the week|day|year|quarter)s?"
LONGEST: dict[str, tuple[Measure, bool]] = {
    "longest": ("minutes", False),
    "shortest": ("minutes", True),
    "hardest": ("intensity", False),
    "toughest": ("intensity", False),
    "most intense": ("intensity", False),
    "highest intensity": ("intensity", False),
    "easiest": ("intensity", True),
    "lightest": ("intensity", True),
    "least intense": ("intensity", True),
    "lowest intensity": ("intensity", True),
    "most rounds": ("rounds", False),
    "fewest rounds": ("rounds", True),
    "least rounds": ("rounds", True),
}
BUSIEST: dict[str, tuple[Measure, bool]] = {
    "busiest": ("sessions", False),
    "best": ("sessions", False),
    "most active": ("sessions", False),
    "biggest": ("sessions", False),
    "quietest": ("sessions", True),
    "least active": ("sessions", True),
    "laziest": ("sessions", True),
    "slowest": ("sessions", True),
    "hardest": ("intensity", False),
    "toughest": ("intensity", False),
    "most intense": ("intensity", False),
    "easiest": ("intensity", True),
    "lightest": ("intensity", True),
    "longest": ("minutes", False),
}


class Words:
    """The words of a question that nothing has taken yet."""

    def __init__(self, text: str) -> None:
        self.text = f" {' '.join(text.split())} "

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match of the pattern as whole words, which are then gone."""
        match = re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", self.text)
        if match is not None:
            self.text = " ".join(f"{self.text[: match.start()]}{GAP}{self.text[match.end() :]}".split())
            self.text = f" {self.text} "
        return match

    def has(self, pattern: str) -> bool:
        return re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", self.text) is not None


class Frame:
    """The recognised phrases; `kinds` has one name for each sort of answer that was asked for."""

    def __init__(self, asked: Words) -> None:
        self.asked = asked
        self.kinds: set[str] = set()
        self.measure: Measure | None = None
        self.unit: Unit | None = None
        self.least = False
        self.number = 1
        self.newest = 0
        self.streak = 0
        """How many days or weeks in a row were asked for."""
        self.current = False
        self.average = False
        self.compares = False
        self.lists = False
        self.judges = False
        self.asks_how_often = asked.has("how often|how frequently|how regularly")
        self.is_frequent = asked.has(
            r"how often|how many|how frequently|how regularly|how much|number of|average|usually|do i|does NAME|always"
            r"|percent|percentage|share|proportion|hours|rounds"
        )

    def read_early(self) -> None:
        """Phrases with numbers or days in them that mean something else by them."""
        asked = self.asked
        if asked.take(
            r"how long(?: is it| has it been| was it| have passed)? since|how long ago"
            r"|how many (?:days|weeks|months) ago"
            r"|how many (?:days|weeks|months)(?: is it| has it been| have passed| has passed| have gone by)? since"
            r"|(?:number of |the )?(?:days|weeks|time) since"
        ):
            self.kinds.add("since")
        if asked.take(rf"how long (?:have|has) {SUBJECT} been (?:training|rolling|doing (?:bjj|this)|at it)(?: for)?"):
            self.kinds.add("first")
        if asked.take(
            r"twice (?:a|in a|in one|in the same|on one|on the same|on a|per) (?:single )?day"
            r"|two-a-days?|double sessions"
            r"|(?:two|2|multiple|several) (?:sessions|times|trainings|classes) (?:in|on|per)? ?(?:a|one|the same)"
            r" (?:single )?day"
            r"|more than (?:once|one session) (?:a|in a|in one|on one|on the same|per) (?:single )?day"
        ):
            self.kinds.add("doubles")
            asked.take("how often|how many (?:times|days)|on how many days|which days?|what days?|when")
        self._read_streak()
        self._read_days_off()
        if match := asked.take(r"(?:per|a|each|every|in an?|/)\s*(?P<unit>day|week|month|quarter|year)(?! ago)"):
            self._rate(match["unit"])
        elif match := asked.take(r"weekly|monthly|daily|yearly"):
            self._rate({"weekly": "week", "monthly": "month", "daily": "day", "yearly": "year"}[match[0]])
        if asked.take(r"(?:per|a|each|every) (?:session|training|class|time)"):
            self.average, self.unit = True, "session"
        if match := asked.take(
            rf"(?:my |the |her |his |their |NAME 's )?(?:last|latest|previous|past|most recent) (?P<n>{SMALL}) "
            rf"(?:{SESSIONS}|{ENTRIES})"
        ):
            self.newest = _number(match["n"])
            self.kinds.add("newest")
        if match := asked.take(rf"(?:my |the )?(?:top |first )(?P<n>{SMALL})") or asked.take(
            rf"(?:my |the )?(?P<n>{SMALL})(?= (?:longest|shortest|hardest|toughest|easiest|lightest|most))"
        ):
            self.number = _number(match["n"])
            if "first" in match[0]:
                self.kinds.add("first")

    def _rate(self, unit: str) -> None:
        self.kinds.add("rate")
        self.unit = unit  # type: ignore[assignment]

    def _read_streak(self) -> None:
        asked = self.asked
        if goal := asked.take(
            rf"(?P<n>{SMALL}) (?:(?:consecutive|straight) (?P<u>days|weeks)"
            r"|(?P<v>days|weeks)(?: of training)? (?:in a row|straight|running|consecutively))(?: or more)?"
        ):
            self.kinds.add("streak")
            self.streak = _number(goal["n"])
            self.unit = "week" if "week" in goal[0] else "day"
            asked.take("at least")
            asked.take("when was the last time|when|on what days?")
            return
        match = asked.take(
            r"(?:longest |best |biggest |current |record )?(?:training |daily |weekly |(?P<u>day|week) )?streak"
            r"(?: of (?:training )?(?P<v>days|weeks))?(?: in (?P<w>days|weeks))?"
        ) or asked.take(
            r"(?:how many |most |the most |longest (?:run|series) of )?(?:training )?(?:consecutive (?P<u>days|weeks)"
            r"|(?P<v>days|weeks)(?: of training| that)?(?= .*\bin a row\b))"
        )
        if match is None:
            return
        self.kinds.add("streak")
        self.current = "current" in match[0] or asked.take(r"right now|currently|at the moment|am i on|now") is not None
        self.unit = "week" if "week" in match[0] or asked.take("weeks?") else "day"
        asked.take("in a row|straight|consecutively")
        asked.take("how long|how many|longest|most|the longest|maximum|current")

    def _read_days_off(self) -> None:
        asked = self.asked
        if asked.take(
            r"(?:longest|biggest|largest) (?:break|gap|pause|lay-?off|time off|rest|(?:time|stretch|period|run) without"
            r"(?: training| a session| any training)?)(?: (?:from|in|between|of|without)(?: my| any)?(?: training|"
            r" sessions))?"
            rf"|how long was (?:my|the) longest (?:break|gap|pause)|longest (?:{SUBJECT} )?(?:have |has |did )?"
            rf"(?:{SUBJECT} )?"
            r"(?:gone|went|go) without (?:training|a session)"
        ):
            self.kinds.add("gap")
        pattern = (
            rf"(?:how many |which |what |on which |on what |on how many |the |number of )?days(?: that| when| on"
            rf" which)?"
            rf"(?: (?:did|do|does|have|has|was|were) {SUBJECT} not| {SUBJECT} (?:did|do|does|have|has|was|were|am|is)"
            rf" not"
            rf"| (?:did|do|have|has) not {SUBJECT})(?: been)? {TRAIN}(?: at all)?"
            r"|(?:how many |which |what |number of )?(?:rest days|days off|off days|training-free days"
            r"|days (?:without|with no) (?:a |any )?(?:training|sessions?))"
        )
        if match := asked.take(pattern):
            self.kinds.add("days off")
            self.lists = "which" in match[0] or "what" in match[0]
            asked.take(rf"(?:did|do|have|had) {SUBJECT}(?: have| take| had)?")

    def read(self) -> None:
        """Everything that may be said before, between and after the days and filters."""
        asked = self.asked
        if asked.take(
            rf"when do(?:es)? {SUBJECT} (?:usually |normally |mostly )?{TRAIN}(?: (?:the )?most)?(?: often)?"
        ):
            self.kinds.add("groups")
            self.unit = "weekday"
        if asked.take(r"on average|average|avg\.?|mean|typical(?:ly)?|usual(?:ly)?|normally|in general"):
            self.average = True
        if asked.take(
            r"(?:what |how many |which )?(?:percentage|percent|share|proportion|fraction|part|%)(?: of)?(?: all)?(?:"
            r" my)?"
        ):
            self.kinds.add("share")
        self._read_comparison()
        self._read_tags()
        self._read_groups()
        for words, (measure, least) in LONGEST.items():
            if "groups" not in self.kinds and asked.take(rf"(?:the )?{words}"):
                self.kinds.add("extreme")
                self.measure, self.least = measure, least
                asked.take(r"how (?:long|hard)|which|when")
                asked.take("intensity")
                break
        self._read_measure()
        if asked.take(
            rf"what (?:did|do|does|have|has) {SUBJECT} (?:do|done|train|trained|work on|worked on|practi[sc]ed?|drill"
            rf"(?:ed)?"
            rf"|writ(?:e|ten)|wrote|note|noted|say|said|learn(?:ed|t)?|know|think|thought)(?: about| on)?"
            r"|what happened|how (?:was|were|is|are|has|have|did)|tell me (?:something |anything )?about|summar(?:ise"
            r"|ize|y)(?: of)?|recap(?:"
            r" of)?"
            r"|overview(?: of)?|show(?: me)?|list|which sessions|what sessions|anything(?: about| on)?"
            r"|is there (?:anything|something)(?: about| on)?|what (?:was|were|is|about)|review(?: of)?"
        ):
            self.kinds.add("summary")

    def _read_comparison(self) -> None:
        asked = self.asked
        if asked.take(
            r"compare|comparison(?: of| between)?|compared (?:to|with)|versus|vs\.?|(?:what is the )?difference between"
        ):
            self.compares = True
        if self.compares:
            asked.take("how (?:does|do|did|is|are)")
        if match := asked.take(
            r"(?P<how>more|less|harder|longer)(?: often)? than (?:before|usual|earlier|i used to|normal)"
        ):
            self.kinds.add("trend")
            if match["how"] == "harder":
                self.measure = "intensity"
            return
        if asked.take(r"(?:what is )?(?:the |my )?ratio(?: of| between)?"):
            self.compares = True
        if asked.has("than") or asked.has("or"):
            match = asked.take(
                r"(?P<how>more|less|fewer|harder|longer|easier|shorter|higher|lower|better|worse)(?: often"
                r"| frequently)?(?= .*\b"
                r"(?:than|or)\b)"
            )
            if match is not None:
                self.compares = True
                self.kinds.add("than")
                how = match["how"]
                if how in ("better", "worse"):
                    self.measure, self.judges = "much", True
                elif how in ("harder", "easier"):
                    self.measure, self.average = "intensity", True
                elif how in ("longer", "shorter"):
                    self.measure = "minutes"
                asked.take("than")
        if asked.take(
            r"(?:which|what) (?:one )?(?:do i |did i )?(?:do |train |use )?more(?: often)?|which (?:is|was) more"
        ):
            self.compares = True
        if not self.compares and asked.take(
            r"trend(?: of| in)?|trending(?: up| down)?|over time|going (?:up|down)|(?:has |have )?(?:increas|decreas"
            r"|ris|fall)(?:ed|ing|en)"
            r"|getting (?P<a>harder|easier|longer|shorter|more intense)|more or less"
            r"|(?:more|less|(?P<b>harder|longer))(?: often)? (?:lately|recently|these days|now)"
            rf"|(?:am|is|are) {SUBJECT} (?:training|rolling) (?:more|less|(?P<c>harder|longer))(?: often)?"
        ):
            self.kinds.add("trend")
            asked.take("lately|recently|these days|now")

    def _read_tags(self) -> None:
        asked = self.asked
        match = asked.take(
            rf"(?:which|what)(?: (?:are|is|were|was))?(?: my| the)?(?: (?P<n>{SMALL}))?(?P<order> (?:most (?:used"
            rf"|common|frequent)"
            rf"|least (?:used|common|frequent)|top|favou?rite|main))?(?: {SMALL})? (?:tags?)"
            rf"(?: (?:do|did|does|have|has|are|were) {SUBJECT}(?: use[ds]?)?)?(?: used)?(?: the)?(?P<after> most|"
            rf" least)?(?: often)?"
            r"|(?:most used|most common|most frequent|top|favou?rite|least used) (?:tags?|topics?|themes?|positions?"
            r"|techniques?)"
            rf"|what (?:do|did|does|have|has) {SUBJECT} (?:train|trained|work on|worked on|practi[sc]ed?|drill"
            rf"|drilled|focus on|do) (?:the )?most"
            r"(?: often)?|(?:what|which) (?:topics?|positions?|techniques?) (?:do|did) i (?:train|work on|practi[sc]e"
            r"|drill) (?:the )?most(?: often)?"
        )
        if match is not None and (
            match[0].endswith(("most", "most often", "least", "tags", "tag"))
            or match.groupdict().get("order")
            or re.search("tag|topic|theme|position|technique", match[0])
        ):
            self.kinds.add("tags")
            self.least = "least" in match[0]
            asked.take(r"most(?: often)?|use|used|do i")

    def _read_groups(self) -> None:
        asked = self.asked
        best = "|".join(BUSIEST)
        most = "rate" in self.kinds and asked.take(
            r"(?:the )?(?P<order>most|fewest|least) (?P<what>sessions|times|trainings|hours|minutes|rounds)"
        )
        if most:
            self.kinds.remove("rate")
            self.kinds.add("groups")
            self.least = most["order"] != "most"
            self.measure = {"hours": "minutes", "minutes": "minutes", "rounds": "rounds"}.get(most["what"], "sessions")  # type: ignore[assignment]
            return
        if match := asked.take(rf"(?:the |my |which (?:was|is) (?:my |the )?)?(?P<best>{best})(?: training)? {GROUP}"):
            self.kinds.add("groups")
            self.unit = _unit(match["group"])
            self.measure, self.least = BUSIEST[match["best"]]
            self.average = self.measure == "intensity"
            return
        if match := asked.take(rf"(?:in |on |at |during )?(?:which|what) {GROUP}"):
            self.kinds.add("groups")
            self.unit = _unit(match["group"])
            if self.unit == "day":
                self.unit = "weekday"
            if order := asked.take(
                r"(?:the )?(?P<order>most|least|fewest|highest|lowest|hardest|easiest|longest|more|best)(?: often|"
                r" frequently)?"
            ):
                self.lists = False
                self.least = order["order"] in ("least", "fewest", "lowest", "easiest")
                if order["order"] in ("hardest", "easiest"):
                    self.measure, self.average = "intensity", True
                elif order["order"] == "longest":
                    self.measure = "minutes"
            else:
                self.lists = True

    def _read_measure(self) -> None:
        asked = self.asked
        nouns = r"(?:sessions?|trainings?|class(?:es)?|workouts?|entries|times|notes|open mats)"
        counted = rf"how many(?= (?:[\w'|-]+ ){{0,6}}?{nouns})"
        found: Measure | None = None
        if (
            asked.take("how much (?:training|bjj|rolling)")
            or asked.take(
                rf"how much(?: (?:did|do|have|has|does) {SUBJECT}(?: been)? {TRAIN})?(?= \||\s*$| (?:in|on|during|since"
                rf"|this|last) )"
            )
            or asked.take(rf"how much (?:did|do|have|has|does) {SUBJECT}(?: been)? {TRAIN}")
        ):
            found = "much"
        elif asked.take(
            rf"how long (?:is|are|was|were)(?: my| the| her| his| their| NAME 's)?(?= {SESSIONS}| \| {SESSIONS})"
        ):
            found = "minutes"
            self.average = self.average or asked.has("sessions|trainings|classes")
            self.kinds.add("total")
        elif asked.take(
            r"how many (?:hours|minutes|mins|hrs)|(?:how much |total )?(?:mat )?time on the mats?|how much (?:mat"
            r" )?time"
            r"|mat time|total (?:time|hours|minutes)|hours|minutes|how long|duration|length"
        ):
            found = "minutes"
            while asked.take("hours|minutes|total|long"):
                pass
        elif asked.take(r"how many rounds|(?:total |number of )?rounds"):
            found = "rounds"
            asked.take("rounds")
        elif asked.take(r"how (?:hard|intense|tough)|intensit(?:y|ies)|effort|rpe"):
            found = "intensity"
        elif asked.take(r"(?:training )?load"):
            found = "load"
        elif asked.take(
            r"(?:on )?how many (?:different |separate |distinct |training )?days|number of (?:training )?days"
            r"|training days"
        ) or ("rate" in self.kinds and asked.take("days")):
            found = "days"
        elif (
            asked.take(
                rf"how often|how many times|how frequently|how regularly|number of (?:{SESSIONS}|times|{ENTRIES})"
            )
            or asked.take(counted)
            or asked.take(rf"how many(?= \||\s*$| (?:did|do|have|has) {SUBJECT})")
            or asked.take(rf"{SESSIONS} count")
        ) or asked.take(rf"count(?: all)?(?: of)?(?: my| the)?(?= {SESSIONS})"):
            found = "sessions"
        elif "share" in self.kinds and asked.take("days"):
            found = "days"
        if found is not None:
            self.kinds.add("total")
            if self.measure is None or found != "sessions":
                self.measure = found
            if "groups" in self.kinds or "extreme" in self.kinds:
                self.average = self.average or found == "intensity"
            asked.take("often") if found == "sessions" else None
        if "rate" in self.kinds and asked.take("times|often|frequently"):
            self.measure = self.measure or "sessions"

    def read_late(self, periods: int) -> None:
        """Words that are part of a period where they name one: "last", "first"."""
        asked = self.asked
        if asked.take(r"last time|most recently|most recent|latest|last"):
            self.kinds.add("last")
        if asked.take(r"first time|first ever|very first|first|earliest") or asked.take(
            rf"when did {SUBJECT} (?:start|begin)(?: training| rolling| with)?"
        ):
            self.kinds.add("first")
        if self.compares and asked.take("than|and|or|with|to|more|most|which|better") and periods < 2:
            asked.take("more|most|often|which")
        if self.compares:
            asked.take("most|more|often")
        if periods and not self.kinds and asked.take(r"how"):
            self.kinds.add("summary")


def _unit(said: str) -> Unit:
    if "of the week" in said:
        return "weekday"
    return said  # type: ignore[return-value]


def _number(said: str) -> int:
    return NUMBERS.get(said) or int(said)


# Of these, a question asks for one.
_ONE_OF = (
    "since",
    "streak",
    "gap",
    "days off",
    "doubles",
    "share",
    "tags",
    "groups",
    "extreme",
    "trend",
    "last",
    "first",
)


def decided(
    base: Reading, frame: Frame, mentions: Sequence[Mention], *, worn_pair: bool, pain: bool, asked: Words
) -> Reading | None:
    """The reading that all recognised phrases together make; None if they contradict each other."""
    kinds = frame.kinds
    where, periods = base.where, base.periods
    asked_for = [kind for kind in _ONE_OF if kind in kinds]
    if "since" in asked_for and "last" in asked_for:
        asked_for.remove("last")
    if "since" in asked_for and "first" in asked_for:
        return base._replace(kind="first")
    if frame.streak:
        if kinds - {"streak", "last"} or len(periods) > 1 or frame.average or frame.compares:
            return None
        return base._replace(kind="streak", goal=Bounds(frame.streak, None))
    if len(asked_for) > 1 or (asked_for and len(periods) > 1):
        return None
    if base.goal is not None:
        return base if kinds <= {"total"} and len(periods) <= 1 and not frame.average and not frame.compares else None
    # "Per session" and "on average" say something about these measures only, and about no streak, tag or date.
    averaged = base.measure in ("minutes", "rounds", "intensity")
    if frame.average and not averaged and ("rate" not in kinds or frame.compares or worn_pair or len(periods) > 1):
        return None
    if frame.average and {*asked_for} & {"since", "streak", "gap", "days off", "share", "tags", "extreme"}:
        return None
    if worn_pair:
        return (
            base._replace(kind="worn")
            if len(periods) <= 1 and set(asked_for) <= {"share"} and "rate" not in kinds
            else None
        )
    if frame.compares and len(where.weekdays) > 1 and len(periods) <= 1:
        return base._replace(kind="groups", unit="weekday") if kinds <= {"total", "than"} else None
    if frame.compares:
        return _compared(base, frame, mentions)
    if "rate" in kinds and asked_for and asked_for != ["trend"]:
        return None
    kind: Kind
    match asked_for:
        case ["share"]:
            return base._replace(kind="share") if where != NOTHING or base.measure == "days" else None
        case ["groups"]:
            if frame.lists and periods and base.measure == "sessions":
                return base._replace(kind="summary")
            if frame.lists and frame.unit != "weekday":
                return None
            return base._replace(kind="groups")
        case ["extreme"] if "rate" in kinds:
            return None
        case ["last" | "first"] if frame.average or frame.measure in ("rounds", "intensity", "much", "load", "days"):
            # "How many rounds in my last session?"
            return (
                base._replace(kind="total", newest=1)
                if asked_for == ["last"] and not frame.average and frame.measure != "days"
                else None
            )
        case [
            (
                "since" | "streak" | "gap" | "days off" | "doubles" | "tags" | "extreme" | "trend" | "last" | "first"
            ) as kind
        ]:
            return base._replace(kind=kind)
    if len(periods) > 1:
        return base._replace(kind="compare") if kinds <= {"total"} and kinds and base.measure != "days" else None
    if "rate" in kinds:
        return (
            base._replace(kind="rate", measure=frame.measure or "sessions")
            if frame.measure != "intensity"
            else base._replace(kind="breakdown")
        )
    if frame.average or (base.measure == "intensity" and "total" in kinds):
        return base._replace(kind="average") if base.measure in ("minutes", "rounds", "intensity") else None
    if "total" in kinds:
        present = re.search(rf"\b(?:do|does|am|is) {SUBJECT}\b", asked.text)
        if frame.asks_how_often and present and not periods and not base.anchor and not where.by_text:
            return base._replace(kind="rate", unit="week")
        return base
    if frame.newest:
        return base._replace(kind="summary")
    if pain:
        return base._replace(kind="pain")
    whether = re.match(rf" (?:\| )*(?:did|do|does|have|has|was|were|is|are|am) (?:{SUBJECT}|there)\b", asked.text)
    if base.anchor is not None:
        return None
    if where.by_text:
        return base._replace(kind="quotes") if "summary" in kinds or periods or whether else None
    if whether and (periods or where != NOTHING):
        return base._replace(asks_whether=True)
    if periods or where != NOTHING:
        bare = asked.has(SESSIONS) and "summary" not in kinds
        return (
            base._replace(kind="total") if bare and not asked.has("which|what|show") else base._replace(kind="summary")
        )
    return None


def _compared(base: Reading, frame: Frame, mentions: Sequence[Mention]) -> Reading | None:
    """Two periods set against each other; one of them may be the present one, left unsaid."""
    if frame.kinds - {"total", "than", "summary"}:
        return None
    reading = base._replace(
        kind="compare", judges=frame.judges, measure=frame.measure or ("sessions" if "than" in frame.kinds else "much")
    )
    if len(base.periods) == 2:
        return reading
    if len(base.periods) == 1 and "than" in frame.kinds and len(mentions) == 1:
        return reading._replace(current=True)
    return None
