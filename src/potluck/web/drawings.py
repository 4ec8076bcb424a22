"""Where the shapes of a drawing go. Pure: numbers in, places out; templates/components/drawings.html draws them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple
from unicodedata import combining, east_asian_width

# Drawings are this wide in their own units, so that on a phone a unit is about a pixel and type keeps its size.
WIDTH = 340.0
# Between signs that are drawn as one.
JOINERS = "\u200c\u200d\ufe0f"


class Mark(NamedTuple):
    """A label in a drawing."""

    x: float
    y: float
    text: str


# ---------- heat map: a day is a cell, a week is a column ----------


class Day(NamedTuple):
    x: float
    y: float
    level: int
    title: str
    date: date


class HeatMap(NamedTuple):
    width: float
    height: float
    cell: float
    days: list[Day]
    months: list[Mark]
    weekdays: list[Mark]
    today: Day | None


HEAT_TOP = 14.0
HEAT_LEFT = 24.0
HEAT_GAP = 2.0
MONTH_NAME_WEEKS = 3


def heat_map(levels: Mapping[date, int], titles: Mapping[date, str], today: date, weeks: int = 26) -> HeatMap:
    """The weeks up to and including today's, Monday on top; a day without a level is a rest day."""
    pitch = (WIDTH - HEAT_LEFT + HEAT_GAP) / weeks
    monday = today - timedelta(days=today.weekday(), weeks=weeks - 1)
    days: list[Day] = []
    months: list[Mark] = []
    for week in range(weeks):
        x = round(HEAT_LEFT + week * pitch, 2)
        starts = monday + timedelta(weeks=week)
        # A month is named over its first whole week, unless there is no room for the name.
        if starts.day <= 7 and week <= weeks - MONTH_NAME_WEEKS + 1:
            months.append(Mark(x, HEAT_TOP, f"{starts:%b}"))
        for weekday in range(7):
            day = starts + timedelta(days=weekday)
            if day <= today:
                title = titles.get(day, f"{day:%A} {day.day} {day:%B}: rest")
                days.append(Day(x, round(HEAT_TOP + weekday * pitch, 2), levels.get(day, 0), title, day))
    weekdays = [
        Mark(0, round(HEAT_TOP + row * pitch + 8, 2), name) for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))
    ]
    height = round(HEAT_TOP + 7 * pitch, 2)
    return HeatMap(WIDTH, height, round(pitch - HEAT_GAP, 2), days, months, weekdays, days[-1] if days else None)


# ---------- columns over time ----------


class Column(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    value: str
    name: str
    unfinished: bool


class Chart(NamedTuple):
    width: float
    height: float
    plot_width: float
    columns: list[Column]
    marks: list[Mark]


CHART_TOP = 14.0
CHART_PLOT = 100.0
CHART_FOOT = 18.0
CHART_RIGHT = 30.0


def columns(
    values: Sequence[float], names: Mapping[int, str], said: Mapping[int, str], step: float, unit: str
) -> Chart:
    """Columns from left to right, the last one unfinished; marks every step, some columns named or said in numbers."""
    most = max([*values, step])
    marks_needed = int(-(-most // step))
    scale = CHART_PLOT / (marks_needed * step)
    base = CHART_TOP + CHART_PLOT
    plot_width = WIDTH - CHART_RIGHT
    pitch = plot_width / max(len(values), 1)
    drawn = [
        Column(
            x=round(index * pitch + pitch * 0.15, 2),
            y=round(base - value * scale, 2),
            width=round(pitch * 0.7, 2),
            height=round(value * scale, 2),
            value=said.get(index, ""),
            name=names.get(index, ""),
            unfinished=index == len(values) - 1,
        )
        for index, value in enumerate(values)
    ]
    marks = [Mark(0, round(base - n * step * scale, 2), f"{n * step:g} {unit}") for n in range(marks_needed + 1)]
    return Chart(WIDTH, base + CHART_FOOT, plot_width, drawn, marks)


# ---------- trend: a line over time, in a band from the least to the most ----------


class Point(NamedTuple):
    x: float
    y: float


class Trend(NamedTuple):
    width: float
    height: float
    plot_width: float
    line: str
    band: str
    points: list[Point]
    marks: list[Mark]
    names: list[Mark]


class Spark(NamedTuple):
    """A line that is read as a shape; what it says is in its name."""

    width: float
    height: float
    base: float
    line: str
    now: Point


# Room for a dot at both ends.
TREND_EDGE = 6.0
SPARK_WIDTH = 96.0
SPARK_HEIGHT = 32.0
SPARK_EDGE = 4.0

Range = tuple[float, float, float]
"""The least, the average and the most of a time."""


def trend(values: Sequence[Range | None], names: Mapping[int, str], marks: Sequence[int]) -> Trend:
    """From left to right; where there is no value the line has a gap. `marks` are numbers next to it, lowest first."""
    plot_width = WIDTH - CHART_RIGHT
    pitch = (plot_width - 2 * TREND_EDGE) / max(len(values) - 1, 1)
    scale = CHART_PLOT / (marks[-1] - marks[0])

    def across(index: int) -> float:
        # A single one is placed where the last one would be.
        return round(plot_width - TREND_EDGE if len(values) == 1 else TREND_EDGE + index * pitch, 2)

    def down(value: float) -> float:
        return round(CHART_TOP + (marks[-1] - value) * scale, 2)

    runs: list[list[tuple[float, Range]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((across(index), value))
    runs = [run for run in runs if run]
    return Trend(
        WIDTH,
        CHART_TOP + CHART_PLOT + CHART_FOOT,
        plot_width,
        "".join(_path([(x, down(average)) for x, (_, average, _) in run]) for run in runs if len(run) > 1),
        "".join(
            _path([*((x, down(most)) for x, (*_, most) in run), *((x, down(least)) for x, (least, *_) in run[::-1])])
            + "Z"
            for run in runs
            if len(run) > 1
        ),
        [Point(x, down(average)) for run in runs for x, (_, average, _) in run],
        [Mark(0, down(number), str(number)) for number in marks],
        [Mark(across(index), CHART_TOP + CHART_PLOT + CHART_FOOT - 4, name) for index, name in names.items()],
    )


def spark(values: Sequence[float]) -> Spark:
    """A line on its own scale, from zero to the largest value; the last value is the current one."""
    most = max([*values, 0.0]) or 1.0
    room = SPARK_HEIGHT - 2 * SPARK_EDGE
    pitch = (SPARK_WIDTH - 2 * SPARK_EDGE) / max(len(values) - 1, 1)
    points = [
        Point(round(SPARK_EDGE + index * pitch, 2), round(SPARK_HEIGHT - SPARK_EDGE - value / most * room, 2))
        for index, value in enumerate(values)
    ]
    return Spark(SPARK_WIDTH, SPARK_HEIGHT, SPARK_HEIGHT - 2, _path(points), points[-1])


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if place else 'M'}{x:g} {y:g}" for place, (x, y) in enumerate(points))


# ---------- flow: how ballots move from round to round ----------


class VoteMove(NamedTuple):
    """Ballots that counted for one candidate and count for another in the next round; None is exhausted."""

    source: str | None
    target: str | None
    ballots: int


class Node(NamedTuple):
    x: float
    y: float
    height: float
    kind: str
    votes: int
    said: str
    name: str


class Ribbon(NamedTuple):
    path: str
    kind: str


class Flow(NamedTuple):
    width: float
    height: float
    node_width: float
    nodes: list[Node]
    ribbons: list[Ribbon]
    rounds: list[Mark]


FLOW_TOP = 18.0
FLOW_RIGHT = 24.0
FLOW_PLOT = 250.0
FLOW_GAP = 14.0
NODE_WIDTH = 8.0

# A name is between the first two nodes, with its votes; a letter of it is about this wide.
NAME_LENGTH = 18
LETTER_WIDTH = 5.8
NODE_GAP = 5.0
SPACE_WIDTH = 3.0
# As much of a ribbon as is to be seen between a number and the next node.
RIBBON_SEEN = 14.0


def flow(
    rounds: Sequence[Mapping[str, int]],
    moves: Sequence[Sequence[VoteMove]],
    *leads: str,
    names: Mapping[str, str] | None = None,
    said: Callable[[int], str] = str,
) -> Flow:
    """Rounds from left to right; a candidate's votes are the height of its node. moves[i] leads to rounds[i + 1].

    `leads` are drawn in colour. `names` has what candidates are called, if not by their keys; `said` writes votes.
    """
    order = sorted(rounds[0], key=lambda name: (name not in leads, -rounds[0][name]))
    ballots = sum(rounds[0].values())
    unit = (FLOW_PLOT - FLOW_GAP * (len(order) - 1)) / ballots
    votes_width = NODE_GAP + LETTER_WIDTH * max(len(said(votes)) for tally in rounds for votes in tally.values())
    called = [(names or {}).get(name, name) for name in order]
    # Names stand between the first two columns, which so are further apart than the others if need be.
    plot = WIDTH - max(FLOW_RIGHT, votes_width) - NODE_WIDTH
    beside_names = NODE_WIDTH + votes_width + SPACE_WIDTH
    labels_width = beside_names + LETTER_WIDTH * min(NAME_LENGTH, max(map(letters_of, called)))
    even = plot / max(len(rounds) - 1, 1)
    least = NODE_WIDTH + votes_width + RIBBON_SEEN
    first = max(even, min(labels_width, plot - least * (len(rounds) - 2)))
    pitch = (plot - first) / max(len(rounds) - 2, 1)
    across = [first + (index - 1) * pitch if index else 0.0 for index in range(len(rounds))]
    letters = min(NAME_LENGTH, int((first - beside_names) / LETTER_WIDTH))
    labels = dict(zip(order, told_apart(called, letters), strict=True))

    nodes: list[Node] = []
    placed: list[dict[str | None, Node]] = []
    for index, tally in enumerate(rounds):
        x, y = round(across[index], 2), FLOW_TOP
        votes: dict[str | None, int] = {name: tally[name] for name in order if name in tally}
        if exhausted := ballots - sum(tally.values()):
            votes[None] = exhausted
        column: dict[str | None, Node] = {}
        for name, count in votes.items():
            kind = "rest" if name is None else "lead" if name in leads else ""
            shown = labels[name] if index == 0 and name else ""
            # A zero is written only in the first round.
            number = said(count) if count or index == 0 else ""
            column[name] = Node(x, round(y, 2), round(count * unit, 2), kind, count, number, shown)
            y += count * unit + FLOW_GAP
        placed.append(column)
        nodes += column.values()

    ribbons: list[Ribbon] = []
    places: list[str | None] = [*order, None]
    for index, arriving in enumerate(moves):
        left, right = placed[index], placed[index + 1]
        passed_on = Counter(dict.fromkeys(left, 0))
        for move in arriving:
            passed_on[move.source] += move.ballots
        # Candidates who stay keep their votes, less any surplus passed on.
        staying = [VoteMove(name, name, node.votes - passed_on[name]) for name, node in left.items() if name in right]
        leaves = {name: node.y for name, node in left.items()}
        arrives = {name: node.y for name, node in right.items()}
        moved = sorted([*arriving, *staying], key=lambda move: (places.index(move.source), places.index(move.target)))
        for move in moved:
            if not move.ballots:
                continue
            kind = "rest" if move.target is None else "lead" if move.target in leads else ""
            height = move.ballots * unit
            start, end = left[move.source], right[move.target]
            ribbons.append(
                Ribbon(_ribbon(start.x + NODE_WIDTH, leaves[move.source], end.x, arrives[move.target], height), kind)
            )
            leaves[move.source] += height
            arrives[move.target] += height

    headings = [Mark(round(across[n], 2), 0, str(n + 1) if n else "Round 1") for n in range(len(rounds))]
    height = max(node.y + node.height for node in nodes) + 4
    return Flow(WIDTH, round(height, 2), NODE_WIDTH, nodes, ribbons, headings)


def letters_of(name: str) -> int:
    """Its width in letters; wide characters of some scripts count for two."""
    return sum(map(_broad, name))


def shortened(name: str, letters: int) -> str:
    """The name, cut to this many letters."""
    return name if letters_of(name) <= letters else f"{_begin(name, letters - 1)}…"


def told_apart(names: Sequence[str], letters: int) -> list[str]:
    """The names, each cut to this many letters; those that begin alike also keep their ends."""
    cut = [shortened(name, letters) for name in names]
    alike = {short for short, many in Counter(cut).items() if many > 1}
    ending = max(1, letters // 3)
    return [
        f"{_begin(name, letters - 1 - ending)}…{_end(name, ending)}" if short in alike and short != name else short
        for name, short in zip(names, cut, strict=True)
    ]


def _begin(name: str, letters: int) -> str:
    end = 0
    while end < len(name) and letters_of(name[: end + 1]) <= letters:
        end += 1
    # A trailing joiner would join the ellipsis to the last character.
    return name[:end].rstrip(JOINERS).rstrip()


def _end(name: str, letters: int) -> str:
    start = len(name)
    while start and letters_of(name[start - 1 :]) <= letters:
        start -= 1
    while start < len(name) and (combining(name[start]) or name[start] in JOINERS):
        start += 1
    return name[start:].lstrip()


def _broad(sign: str) -> int:
    return 0 if combining(sign) or sign in JOINERS else 2 if east_asian_width(sign) in "WF" else 1


def _ribbon(x1: float, y1: float, x2: float, y2: float, height: float) -> str:
    """A band of constant height from one side to the other, level at both ends."""
    middle = (x1 + x2) / 2
    return (
        f"M{x1:.1f} {y1:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        f"V{y2 + height:.1f}C{middle:.1f} {y2 + height:.1f} {middle:.1f} {y1 + height:.1f} {x1:.1f} {y1 + height:.1f}Z"
    )
