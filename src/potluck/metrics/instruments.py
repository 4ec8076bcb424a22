"""Counters, gauges and histograms: what a metric is, how it is counted, and how those of several processes add up.

Counting is a dictionary entry, without a lock: each series is counted by one thread. All processes declare the same
metrics, so a sample is sent between them as its labels and numbers, and its metric says how to combine it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Literal

Labels = tuple[str, ...]
Numbers = list[float]
"""One number; of a histogram one per bucket, the last for what is longer than all bounds, and then the sum."""
Samples = dict[str, list[tuple[Labels, Numbers]]]
"""What one process has counted, by the name of the metric."""
Combined = Literal["sum", "max", "min"]

_declared: dict[str, Metric] = {}


class Metric:
    """A named number, or one for each combination of label values. Label values come from the code or from a table's
    declaration, never from what people send."""

    kind: str

    def __init__(self, name: str, meaning: str, *labels: str, combined: Combined = "sum") -> None:
        if name in _declared:
            raise ValueError(f"{name} is declared twice")
        _declared[name] = self
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self.combined = combined

    def samples(self) -> list[tuple[Labels, Numbers]]:
        raise NotImplementedError

    def combine(self, one: Numbers, other: Numbers) -> Numbers:
        """The numbers of two processes as one."""
        if self.combined == "sum":
            return [a + b for a, b in zip(one, other, strict=True)]
        return [(max if self.combined == "max" else min)(one[0], other[0])]

    def lines(self, labels: Labels, numbers: Numbers) -> Iterable[str]:
        """A sample in Prometheus's text format."""
        yield f"{self.name}{_in_braces(self.labels, labels)} {_number(numbers[0])}"


class Counter(Metric):
    """How often something has happened since the process started."""

    kind = "counter"

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        super().__init__(name, meaning, *labels)
        # Without labels it is there from the start, so that the first increase is seen as one.
        self._series: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        self._series[labels] = self._series.get(labels, 0.0) + amount

    def value(self, *labels: str) -> float:
        return self._series.get(labels, 0.0)

    def samples(self) -> list[tuple[Labels, Numbers]]:
        return [(labels, [value]) for labels, value in [*self._series.items()]]


class Gauge(Metric):
    """What something is now, set shortly before it is read."""

    kind = "gauge"

    def __init__(self, name: str, meaning: str, *labels: str, combined: Combined = "sum") -> None:
        super().__init__(name, meaning, *labels, combined=combined)
        self._series: dict[Labels, float] = {}

    def set(self, value: float, *labels: str) -> None:
        self._series[labels] = value

    def value(self, *labels: str) -> float | None:
        return self._series.get(labels)

    def samples(self) -> list[tuple[Labels, Numbers]]:
        return [(labels, [value]) for labels, value in [*self._series.items()]]


class Histogram(Metric):
    """How many were at most so long or so large; its count says how often it happened."""

    kind = "histogram"

    def __init__(self, name: str, meaning: str, *labels: str, bounds: Sequence[float]) -> None:
        super().__init__(name, meaning, *labels)
        self.bounds = tuple(bounds)
        self._series: dict[Labels, Numbers] = {}

    def observe(self, value: float, labels: Labels = ()) -> None:
        numbers = self._series.get(labels)
        if numbers is None:
            numbers = self._series[labels] = [0] * (len(self.bounds) + 2)
        numbers[bisect_left(self.bounds, value)] += 1
        numbers[-1] += value

    def count(self, labels: Labels = ()) -> int:
        return int(sum(self._series.get(labels, [0.0])[:-1]))

    def samples(self) -> list[tuple[Labels, Numbers]]:
        return [(labels, [*numbers]) for labels, numbers in [*self._series.items()]]

    def lines(self, labels: Labels, numbers: Numbers) -> Iterable[str]:
        total = 0.0
        for bound, count in zip((*self.bounds, float("inf")), numbers, strict=False):
            total += count
            braces = _in_braces((*self.labels, "le"), (*labels, _number(bound)))
            yield f"{self.name}_bucket{braces} {_number(total)}"
        braces = _in_braces(self.labels, labels)
        yield f"{self.name}_sum{braces} {_number(numbers[-1])}"
        yield f"{self.name}_count{braces} {_number(total)}"


def declared() -> list[Metric]:
    """Every metric, in the order of declaration."""
    return [*_declared.values()]


def samples_here() -> Samples:
    """What this process has counted."""
    return {metric.name: samples for metric in declared() if (samples := metric.samples())}


def combined(processes: Iterable[Samples]) -> Samples:
    """What several processes have counted, as if they were one."""
    together: dict[str, dict[Labels, Numbers]] = {}
    for process in processes:
        for name, samples in process.items():
            series = together.setdefault(name, {})
            for labels, numbers in samples:
                before = series.get(labels)
                series[labels] = numbers if before is None else _declared[name].combine(before, numbers)
    return {name: [*series.items()] for name, series in together.items()}


def counted(samples: Samples) -> Samples:
    """The samples that stay true after their process exits: its counts, not its gauges."""
    return {name: numbers for name, numbers in samples.items() if _declared[name].kind != "gauge"}


def as_text(samples: Samples) -> str:
    """The samples in Prometheus's text format, version 0.0.4."""
    lines: list[str] = []
    for metric in declared():
        if metric.name in samples:
            lines += (f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} {metric.kind}")
            for labels, numbers in samples[metric.name]:
                lines += metric.lines(labels, numbers)
    return "".join(f"{line}\n" for line in lines)


def _in_braces(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
