"""Builds the Reading of a question, by its shape."""

from __future__ import annotations

from collections.abc import Callable

from potluck.apps.journal.assistant.bag import Bag
from potluck.apps.journal.assistant.reading import NOTHING, Bounds, Filter, Kind, Reading, Side, merged

# The part follows these verbs: "the share of my no-gi sessions that were in May".
PREDICATES = frozenset(["was", "were", "are", "is", "had", "have", "did", "that", "happened", "took", "fell"])
AVERAGED = ("minutes", "rounds", "intensity")
SHORT = 5


def _streak(bag: Bag) -> Reading | None:
    if bag.one("adj", ("minutes", False)) not in (("minutes", False), ("best", False), ("sessions", False)):
        return None
    return bag.reading("streak", unit=bag.one("streak"), current="current" in bag)


def _run(bag: Bag) -> Reading | None:
    number, unit = bag.one("run")
    return bag.reading("streak", unit=unit, goal=Bounds(number, None))


def _gap(bag: Bag) -> Reading | None:
    if bag.one("adj", ("minutes", False)) != ("minutes", False) and bag.one("adj") != ("sessions", False):
        return None
    if not bag.values.keys() & {"adj", "top", "near"} and "long" not in bag.asks:
        return None
    _place_near(bag)
    return bag.reading("gap", current="current" in bag)


def _pause(bag: Bag) -> Reading | None:
    _place_near(bag)
    return bag.reading("gap", goal=bag.one("pause"), asks_whether="whether" in bag.asks)


def _place_near(bag: Bag) -> None:
    """ "Around Christmas": breaks are never cut, so the day itself selects the break."""
    bag.values.setdefault("period", []).extend(bag.values.pop("near", ()))


def _off(bag: Bag) -> Reading | None:
    return bag.reading("days off") if bag.where._replace(weekdays=()) == NOTHING else None


def _share(bag: Bag) -> Reading | None:
    """The part is named after the verb, the whole before it."""
    begins = next(phrase.end for phrase in bag.phrases if phrase.key == "share")
    nouns = [phrase for phrase in bag.phrases if phrase.key == "noun"]
    after = max([begins, *(phrase.end for phrase in nouns[:1])])
    split = next((place for place in range(after, len(bag.words)) if bag.words[place] in PREDICATES), len(bag.words))
    filters = [
        phrase
        for phrase in bag.phrases
        if phrase.key in ("where", "hard", "every", "amount", "weekday", "topic", "hurts", "part")
    ]
    last = [phrase for phrase in filters if phrase.start >= split]
    first = [phrase for phrase in filters if phrase.start < split]
    periods = [phrase for phrase in bag.phrases if phrase.key == "period"]
    if bag.noun == "days" and not filters:
        return bag.reading("share")
    if not filters:
        return None
    measure = bag.measure if bag.measure in ("sessions", "minutes", "rounds") else None
    if measure is None or len(periods) > 1:
        return None
    if not last or not first:
        return bag.reading("share", measure)
    base = Bag(first, bag.words, bag.today)
    part = Bag(last, bag.words, bag.today)
    if not base.settled() or not part.settled() or base.values or part.values:
        return None
    return bag.reading("share", measure, sides=(Side(base.where),))


def _ranked(bag: Bag) -> Reading | None:
    """ "My second longest session", "the third busiest month", "the tag that I use second most"."""
    if "rank_best" in bag:
        number, (measure, least), unit = bag.one("rank_best")
        return bag.reading(
            "groups",
            "sessions" if measure == "best" else measure,
            unit=unit,
            least=least,
            average=measure == "intensity",
            number=number,
        )
    number, (measure, least) = bag.one("rank_adj") or bag.one("rank_top")
    unit = bag.one("group")
    if unit == "tag" or bag.noun == "tags" or "topics" in bag:
        return bag.reading("tags", least=least, number=number, nth=True) if measure is None else None
    if unit is not None:
        if measure is None:
            measure = bag.measure
        unit = "weekday" if unit == "day" and measure == "sessions" else unit
        return bag.reading("groups", measure, unit=unit, least=least, average=measure == "intensity", number=number)
    if measure not in AVERAGED or bag.noun not in (None, "sessions", measure):
        return None
    return bag.reading("extreme", measure, least=least, number=number, nth=True)


def _idle(bag: Bag) -> Reading | None:
    """ "Was there a week without training?", "did I train every week?"."""
    unit = bag.one("idle") or bag.one("lacking") or bag.one("per")
    if "not_done" in bag:
        bag.where = merged([bag.where, bag.one("not_done")]) or bag.where
    if unit not in ("week", "month"):
        return None
    every = "per" in bag
    if every and not {"every", "each"} & {*bag.words}:
        return None
    asks = "whether" in bag.asks
    return bag.reading("having", "sessions", unit=unit, goal=Bounds(0, 0), asks_whether=asks, every=every)


def _tags(bag: Bag) -> Reading | None:
    every = 20 if "top" not in bag and "top_number" not in bag else 1
    return bag.reading("tags", least=bag.one("top", (None, False))[1], number=bag.one("top_number", every))


def _having(bag: Bag) -> Reading | None:
    unit = (
        bag.one("per")
        or bag.one("group")
        or bag.one("lacking")
        or {"weeks": "week", "months": "month", "days": "day"}.get(bag.noun or "")
    )
    measure, goal = bag.one("amount", ("sessions", Bounds(1, None)))
    if unit not in ("day", "week", "month", "quarter", "year") or len(bag.values.get("amount", ())) > 1:
        return None
    if "whether" in bag.asks and goal.low == goal.high and goal.low:
        goal = Bounds(goal.low, None)
    return bag.reading("having", measure, unit=unit, goal=goal, asks_whether="whether" in bag.asks)


def _groups(bag: Bag) -> Reading | None:
    if "best" in bag:
        (measure, least), unit = bag.one("best")
        if measure == "best":
            measure = "sessions"
        if bag.noun in ("minutes", "rounds", "intensity", "load"):
            measure = bag.measure
        if unit == "day" and measure in ("intensity", "minutes") and "group" not in bag:
            # "My hardest day" is the day of the hardest session.
            return bag.reading("groups", measure, unit="day", least=least, average=measure == "intensity")
        return bag.reading("groups", measure, unit=unit, least=least, average=measure == "intensity")
    unit = bag.one("group") or bag.one("per")
    if unit == "tag":
        return None
    least = next((bag.one(key)[1] for key in ("top", "adj", "cmp") if key in bag), False)
    measure = bag.measure
    if bag.one("adj", (None, None))[0] == "best" or bag.noun not in (None, "sessions", "length", measure):
        return None
    if unit == "day" and "per" not in bag:
        unit = "weekday" if measure in ("sessions", "days") else "day"
    if measure == "days":
        measure = "sessions"
    average = measure == "intensity" or "avg" in bag or "single" in bag
    return bag.reading("groups", measure, unit=unit, least=bool(least), average=average)


def _extreme(bag: Bag) -> Reading | None:
    number, adj = bag.one("adjs", (bag.one("top_number", 1), bag.one("adj")))
    if adj is None:
        adj = bag.one("top")
    if adj == ("sessions", True) and bag.of_sessions and "laziest" in bag.words:
        adj = ("intensity", True)
    if adj[0] not in AVERAGED:
        return None
    if (
        bag.noun not in (None, "sessions", adj[0], "length")
        and not (bag.noun == "days" and adj[0] == "intensity")
        and not (bag.noun in AVERAGED and bag.of_sessions)
    ):
        return None
    return bag.reading("extreme", adj[0], least=adj[1], number=number)


def _last(kind: Kind) -> Callable[[Bag], Reading | None]:
    def build(bag: Bag) -> Reading | None:
        number = bag.one(kind)
        if bag.noun in ("minutes", "rounds", "intensity", "load", "length") or "hard" in bag.asks or "long" in bag.asks:
            if number != 1:
                return None
            return bag.reading("total", **{"newest" if kind == "last" else "oldest": 1})
        if (
            "summary" in bag.asks | ({"summary"} & bag.asks)
            and "when" not in bag.asks
            and bag.of_sessions
            and number == 1
        ):
            return bag.reading(kind)
        return bag.reading(kind, number=number, nth=number > 1)

    return build


def _nth(bag: Bag) -> Reading | None:
    number = bag.one("nth") or bag.one("which_nth")
    return bag.reading("first", number=number, nth=number > 1)


def _reached(bag: Bag) -> Reading | None:
    """ "When did I reach 100 sessions?" asks for the hundredth."""
    measure, bounds = bag.one("amount")
    if measure != "sessions" or bounds.low != bounds.high or not {"reach", "reached", "complete"} & {*bag.words}:
        return None
    return bag.reading("first", number=bounds.low, nth=True)


def _rate(bag: Bag) -> Reading | None:
    unit = bag.one("per")
    if bag.measure == "intensity":
        return bag.reading("breakdown", unit=unit)
    return bag.reading("rate", unit=unit)


def _average(bag: Bag) -> Reading | None:
    if bag.measure not in AVERAGED or (bag.measure == "intensity" and bag.asks & {"count", "often"}):
        return None
    return bag.reading("average")


def _total(bag: Bag) -> Reading | None:
    if bag.measure == "intensity":
        return bag.reading("average")
    if bag.noun == "length":
        return bag.reading("average", "minutes")
    if bag.noun in ("tags", "comments", "weeks", "months"):
        return None
    # Injuries are not sessions.
    if bag.where.pain and "count" in bag.asks and not bag.of_sessions and bag.noun is None:
        return None
    # "How long are my sessions?" asks for an average.
    if "long" in bag.asks and bag.of_sessions and {"are", "is", "were", "was"} & {*bag.words}:
        return bag.reading("average", "minutes")
    often = bag.asks == {"often"} and not bag.values.keys() & {"period", "anchor", "newest", "oldest", "ever", "total"}
    if often and {"do", "does", "am", "is"} & {*bag.words} and not bag.where.by_text:
        return bag.reading("rate", unit="week")
    return bag.reading("total")


def _bare_total(bag: Bag) -> Reading | None:
    """A measure without a question word counts if the question says more, or can mean nothing else."""
    has_more = bag.asks - {"summary"} or bag.where != NOTHING or bag.values.keys() - {"noun"}
    return _total(bag) if has_more or (len(bag.words) < SHORT and bag.noun != "days") else None


def _goal(bag: Bag) -> Reading | None:
    measure, goal = bag.one("amount")
    if len(bag.values["amount"]) > 1:
        return None
    if "ever" in bag and measure in ("sessions", "days"):
        return None
    if goal.low == goal.high:
        goal = Bounds(goal.low, None)
    return bag.reading("total", measure, goal=goal)


def _whether(bag: Bag) -> Reading | None:
    if bag.where.pain and not bag.where.terms:
        return bag.reading("pain", asks_whether=True)
    if bag.where.by_text:
        return bag.reading("quotes", asks_whether=True)
    if not (bag.values.keys() & {"period", "anchor"} or bag.where != NOTHING):
        return None
    return bag.reading("total", asks_whether=True)


def _summary(bag: Bag) -> Reading | None:
    how = "how" in bag.asks
    if bag.where.pain:
        return (
            bag.reading("pain", asks_how=how)
            if bag.where == Filter(pain=True, part=bag.where.part, part_stem=bag.where.part_stem)
            else bag.reading("quotes")
        )
    if bag.where.by_text:
        if not bag.asks and not bag.values.keys() & {"period", "anchor", "newest", "oldest"} and not bag.of_sessions:
            return None
        return bag.reading("total") if bag.of_sessions and not bag.asks else bag.reading("quotes", asks_how=how)
    if how and bag.where.terms:
        return bag.reading("quotes", asks_how=True)
    if "period" in bag or "newest" in bag or "oldest" in bag or "anchor" in bag or bag.where != NOTHING:
        if bag.asks & {"list", "summary", "how", "when", "quotes", "which"} or not bag.of_sessions:
            return bag.reading("summary")
        return bag.reading("total")
    if bag.of_sessions and "total" in bag:
        return bag.reading("total")
    return None


def _part(bag: Bag) -> Reading | None:
    part, stem = bag.one("part")
    bag.where = merged([bag.where, Filter(pain=True, part=part, part_stem=stem)]) or bag.where
    return bag.reading("pain", asks_how=True)


def _trend(bag: Bag) -> Reading | None:
    if bag.one("cmp", (None, False))[0] == "better":
        return None
    trend = bag.one("trend")
    measure = trend if trend in ("minutes", "intensity") else bag.measure
    if measure == "minutes" and (bag.noun == "length" or bag.of_sessions or trend == "minutes"):
        return bag.reading("trend", measure, average=True)
    return bag.reading("trend", measure)


def _comments(bag: Bag) -> Reading | None:
    where = bag.where
    if where != Filter(terms=where.terms, commented=where.commented) or any(term.tag_only for term in where.terms):
        return None
    by = (
        next(
            (name for key in ("said", "said_last", "by") if (name := bag.one(key)) and name != "anyone"),
            where.commented,
        )
        or None
    )
    bag.where = Filter(terms=where.terms)
    if bag.asks & {"count", "often"}:
        return bag.reading("comment count", by=by)
    return bag.reading("comments", by=by, number=1 if "last" in bag or "said_last" in bag else 0)


def _commenters(bag: Bag) -> Reading | None:
    where = bag.where
    if where != Filter(terms=where.terms, commented=where.commented):
        return None
    if where.commented is None and "says" not in bag and "noun" not in bag:
        return None
    bag.where = Filter(terms=where.terms)
    return bag.reading("commenters", least=bag.one("top", (None, False))[1])


BUILD: dict[str, Callable[[Bag], Reading | None]] = {
    "advice": lambda bag: bag.reading("advice") if bag.where == NOTHING else None,
    "commenters": _commenters, "comments": _comments, "run": _run, "streak": _streak, "gap": _gap, "pause": _pause,
    "days off": _off,
    "doubles": lambda bag: bag.reading("doubles"), "since": lambda bag: bag.reading("since"), "share": _share,
    "tags": _tags, "having": _having, 
    "ever": lambda bag: _having(bag) if {"ever", "have", "has"} & {*bag.words} or "period" in bag else None,
    "idle": _idle, "ranked": _ranked, "groups": _groups, "last": _last("last"), "first": _last("first"), "nth": _nth,
    "reached": _reached, "extreme": _extreme,
    "breakdown": lambda bag: bag.reading("breakdown", unit=bag.one("each"), average="avg" in bag or "single" in bag),
    "by month": lambda bag: bag.reading("breakdown", unit="month", average=bag.of_sessions or bag.noun == "length"),
    "part": _part,
    "state": lambda bag: _summary(bag) if bag.where.pain else None, "trend": _trend,
    "trend now": lambda bag: _trend(bag) if "am" in bag.words[:2] else None, "rate": _rate, "average": _average,
    "goal": _goal, "whether": _whether, "total": _total, "bare total": _bare_total, "summary": _summary,
    "quotes": lambda bag: _summary(bag) if bag.where.by_text or "period" in bag else None,
}  # fmt: skip
