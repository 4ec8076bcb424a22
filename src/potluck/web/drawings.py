"""Where the shapes of a drawing go. Pure: numbers in, places out; templates/components/drawings.html draws them."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

__all__ = ["Chart", "Flow", "HeatMap", "Move", "columns", "flow", "heat_map"]

# Drawings are this wide in their own units, so that on a phone a unit is about a pixel and type keeps its size.
WIDTH = 340.0


class Mark(NamedTuple):
    """A word beside a drawing."""

    x: float
    y: float
    text: str


# ---------- heat map: a day is a cell, a week is a column ----------


class Day(NamedTuple):
    x: float
    y: float
    level: int
    title: str


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
    """The weeks up to and with today's, Monday on top; a day without a level is a rest."""
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
                days.append(Day(x, round(HEAT_TOP + weekday * pitch, 2), levels.get(day, 0), title))
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


# ---------- flow: how ballots move from round to round ----------


class Move(NamedTuple):
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

# A name stands between the first two nodes, with its votes; a letter of it is about so wide.
NAME_LENGTH = 18
LETTER_WIDTH = 5.8
VOTES_WIDTH = 31.0


def flow(rounds: Sequence[Mapping[str, int]], moves: Sequence[Sequence[Move]], lead: str) -> Flow:
    """Rounds from left to right; a candidate's votes are the height of its node. moves[i] leads to rounds[i + 1]."""
    order = sorted(rounds[0], key=lambda name: (name != lead, -rounds[0][name]))
    ballots = sum(rounds[0].values())
    unit = (FLOW_PLOT - FLOW_GAP * (len(order) - 1)) / ballots
    pitch = (WIDTH - FLOW_RIGHT - NODE_WIDTH) / max(len(rounds) - 1, 1)

    letters = min(NAME_LENGTH, int((pitch - VOTES_WIDTH) / LETTER_WIDTH))

    nodes: list[Node] = []
    placed: list[dict[str | None, Node]] = []
    for index, tally in enumerate(rounds):
        x, y = round(index * pitch, 2), FLOW_TOP
        votes: dict[str | None, int] = {name: tally[name] for name in order if name in tally}
        if exhausted := ballots - sum(tally.values()):
            votes[None] = exhausted
        column: dict[str | None, Node] = {}
        for name, count in votes.items():
            kind = "rest" if name is None else "lead" if name == lead else ""
            shown = shortened(name, letters) if index == 0 and name else ""
            column[name] = Node(x, round(y, 2), round(count * unit, 2), kind, count, shown)
            y += count * unit + FLOW_GAP
        placed.append(column)
        nodes += column.values()

    ribbons: list[Ribbon] = []
    for index, arriving in enumerate(moves):
        left, right = placed[index], placed[index + 1]
        moved = list(arriving) + [Move(name, name, node.votes) for name, node in left.items() if name in right]
        places: list[str | None] = [*order, None]
        leaves = {name: node.y for name, node in left.items()}
        arrives = {name: node.y for name, node in right.items()}
        for move in sorted(moved, key=lambda move: (places.index(move.source), places.index(move.target))):
            kind = "rest" if move.target is None else "lead" if move.target == lead else ""
            height = move.ballots * unit
            start, end = left[move.source], right[move.target]
            ribbons.append(
                Ribbon(_ribbon(start.x + NODE_WIDTH, leaves[move.source], end.x, arrives[move.target], height), kind)
            )
            leaves[move.source] += height
            arrives[move.target] += height

    headings = [Mark(round(n * pitch, 2), 0, str(n + 1) if n else "Round 1") for n in range(len(rounds))]
    height = max(node.y + node.height for node in nodes) + 4
    return Flow(WIDTH, round(height, 2), NODE_WIDTH, nodes, ribbons, headings)


def shortened(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1].rstrip()}…"


def _ribbon(x1: float, y1: float, x2: float, y2: float, height: float) -> str:
    """A band of even height from one side to the other, level at both ends."""
    middle = (x1 + x2) / 2
    return (
        f"M{x1:.1f} {y1:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        f"V{y2 + height:.1f}C{middle:.1f} {y2 + height:.1f} {middle:.1f} {y1 + height:.1f} {x1:.1f} {y1 + height:.1f}Z"
    )
