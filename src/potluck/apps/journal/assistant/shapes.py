"""Turns the phrases of a question into a Reading, by the first shape that accepts all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from potluck.apps.journal.assistant.bag import Bag
from potluck.apps.journal.assistant.builders import BUILD
from potluck.apps.journal.assistant.chart import Phrase
from potluck.apps.journal.assistant.comparisons import compared
from potluck.apps.journal.assistant.reading import Reading
from potluck.apps.journal.assistant.sides import sides_of

JOINED = frozenset(["where", "hard", "amount", "topic", "weekday", "every", "period", "anchor"])


class QuestionShape(NamedTuple):
    needs: tuple[str, ...]
    """Required phrases, by key or by key and values."""
    allows: tuple[str, ...]
    """Other phrases that are allowed."""
    kind: str

    def fits(self, bag: Bag) -> bool:
        if not all(key in bag for key in self.needs):
            return False
        values: dict[str, set[str]] = {}
        for item in (*self.needs, *self.allows):
            key, _, some = item.partition(":")
            values.setdefault(key, set()).update(some.split("/") if some else ["*"])
        if "*" not in values.get("ask", ()) and not bag.asks <= values.get("ask", set()):
            return False
        return all(
            key in values and ("*" in values[key] or {str(value) for value in some} <= values[key])
            for key, some in bag.values.items()
        )


def _table(text: str) -> list[QuestionShape]:
    rows = [line.split(";") for line in re.sub(r"\n {4}", " ", text).strip("\n").splitlines()]
    return [
        QuestionShape(tuple(_items(needs)), tuple(_items(allows.replace("$", "period anchor ever"))), kind.strip())
        for needs, allows, kind in rows
    ]


def _items(text: str) -> list[str]:
    """The items of a list separated by spaces, where the value "time of day" contains spaces."""
    return re.findall(r"\w+(?::time of day|:\S+)?", text)


# Required phrases; allowed phrases; the kind of reading. $ is a period and a filter.
SHAPES = _table("""
advice ; period ; advice
who says ; noun:comments/sessions top cmp period total ; commenters
who noun:comments ; says top cmp period by said total ; commenters
who ; top period total ; commenters
said_last ; period ask:when/summary/list/quotes noun:comments ever lately ; comments
said ; by noun:comments period last newest of_newest ask:count/often/when/summary/list/quotes/whether/which/how ever
    lately total ; comments
noun:comments ; by says period last newest of_newest ask:count/often/when/summary/list/quotes/whether/which/how ever
    lately total ; comments
run ; $ ask:whether/when/count/often/summary last ; run
streak ; $ ask:long/count/summary/when/which/whether/list/how adj top current in_a_row total noun:days ; streak
pause ; $ near ask:count/often/whether/when/list/which/summary noun:sessions ever total ; pause
gap ; $ near ask:long/summary/when/which/count/how/list adj top current noun:sessions/days ; gap
off ; period ask:count/which/list/when/summary/how total ever noun:days ; days off
not_train noun:days ; period ask:count/which/list/when/how total ; days off
not_train group:day ; period ; days off
ask:when not_train ; period ; days off
idle ; $ ask:count/which/list/when/whether total ; idle
not_train lacking ; $ ask:count/which/list/when/whether total ; idle
not_done lacking ; $ ask:count/which/list/when/whether total ; idle
ask:whether per ; $ noun:sessions ; idle
rank_best ; $ noun ask:summary/which/when/list ; ranked
rank_adj ; $ noun group ask:summary/which/when/list/long/hard/how ; ranked
rank_top ; $ noun group topics ask:summary/which/when/list ; ranked
doubles ; $ ask:count/often/whether/when/which/list noun:days/sessions last total group ; doubles
ask:since ; last noun:sessions ; since
share ; $ noun total of_newest ask:count/much/summary ; share
ask:count/often per amount ; $ noun:sessions ; having
group:tag top ; $ noun:tags top_number single ask:summary ; tags
noun:tags ; $ top top_number ask:list/which/summary/count group ; tags
group:tag noun:tags ; $ ; tags
group:tag ; period ; tags
topics top ; $ ; tags
ask:whether per amount ; $ noun:sessions ; ever
group amount ; $ noun:sessions ask:which/list/when ; having
ask:whether group amount ; $ noun:sessions ; having
ask:whether lacking amount ; $ noun:sessions ; having
noun:weeks/months/days amount ; $ ask:count/list/which/often/whether/when total ; having
noun:weeks/months ask:count ; $ total ; having
best ; $ noun ask:summary/which/when/list/how total ; groups
group:time of day ; $ avg top noun:sessions ; groups
group:weekday/day avg ; $ noun:sessions/days ; groups
group top ; $ noun avg single ask:which/when total ; groups
group adj ; $ noun avg ask:which/when ; groups
group cmp ; $ noun ; groups
group last ; $ noun:sessions ; last
per top ; $ noun ask:summary/which/when ; groups
each ; $ noun single ask:count/often/much/list/summary/long/hard avg total ; breakdown
nth ; $ ask:when/summary/which/list/how ; nth
which_nth noun:sessions ; $ ask:when/summary/which/list/how ; nth
ask:when amount ; $ ; reached
adj ; $ noun ask:when/which/list/summary/long/hard/how/count/much within top_number newest of_newest oldest ; extreme
adjs ; $ noun:sessions/days ask:when/which/list/summary ; extreme
top ; $ noun ask:when/which/list/summary/count/much within newest of_newest ; extreme
part ask:how/whether/summary ; period trend ; part
ask:how trend ; period ; state
trend period ; noun ask:how/summary avg ; by month
trend ; noun ask:whether/how/summary cmp avg ; trend
ask:whether cmp ; noun ; trend now
cmp lately ; noun ask:whether ; trend
trend lately ; noun ask:whether/how/summary cmp avg ; trend
per ; $ noun ask:count/often/much/long/summary/hard/how avg total ; rate
last ; $ noun:sessions/days/minutes/rounds/intensity/length/load group
    ask:when/summary/list/which/count/much/long/hard/how total ; last
first ; $ noun:sessions/days/minutes/rounds/intensity/length/load ask:when/summary/list/which/count/much/long/hard
    total ; first
avg ; $ noun single newest of_newest oldest ask:count/often/much/long/hard/summary/how total ; average
single ; $ noun newest of_newest ask:count/much/long/hard/summary ; average
ask:whether amount ; $ noun:sessions/minutes/rounds total ; goal
ask:whether ; $ noun:sessions within ; whether
ask:count ; $ noun newest of_newest oldest total ask:count/whether ; total
ask:often ; $ noun:sessions newest of_newest oldest total ask:often/whether ; total
ask:much ; $ noun newest of_newest oldest total ; total
ask:long ; $ noun newest of_newest oldest total ; total
ask:hard ; $ noun:sessions newest of_newest oldest total ; total
noun:minutes/rounds/intensity/load/days/length ; $ newest of_newest oldest total ask:summary/how/list ; bare total
ask:quotes ; $ noun:sessions newest of_newest oldest trend ; quotes
 ; $ noun:sessions/days newest of_newest oldest group total ask:list/summary/how/when/which ; summary
""")


def shaped(phrases: Sequence[Phrase], words: Sequence[str], today: date) -> Reading | None:
    """The reading of all phrases together; None if no shape accepts all of them."""
    phrases = [phrase for phrase in phrases if phrase.key != "follow"]
    sides = sides_of(phrases, words, today)
    if sides is not None:
        return compared(sides.rest, words, today, sides.sides, sides.link)
    for one, other in pairwise(phrases):
        # "How long since my last no-gi session" asks for days, not for hours after that session.
        if (
            other.key == "anchor"
            and one.end == other.start
            and (one.value == "long" or one.value in ("days", "weeks", "months"))
        ):
            return None
    for one, other in pairwise(phrases):
        # "And" joins filters and periods; before anything else it may have a meaning.
        if (one.key, one.value) == ("link", "and") and other.key not in JOINED:
            return None
    rest = [phrase for phrase in phrases if (phrase.key, phrase.value) != ("link", "and")]
    if any(phrase.key in ("link", "relative") for phrase in rest):
        return None
    bag = Bag(rest, words, today)
    if len(bag.asks - {"summary"}) > 1 and bag.asks != {"whether", "often"}:
        return None
    if not bag.settled():
        return None
    for shape in SHAPES:
        if shape.fits(bag):
            reading = BUILD[shape.kind](bag)
            if reading is not None:
                return reading
    return None
