"""What is counted, how processes add up, and how Prometheus reads it."""

import msgspec
import pytest

from potluck.metrics import instruments
from potluck.metrics.instruments import Counter, Gauge, Histogram, Samples, as_text, combined, counted, samples_here


@pytest.fixture(autouse=True)
def only_these(monkeypatch):
    monkeypatch.setattr(instruments, "_declared", {})


def lines() -> list[str]:
    return [line for line in as_text(samples_here()).splitlines() if not line.startswith("#")]


def test_a_counter_without_labels_is_there_before_anything_has_happened():
    cakes = Counter("cakes_total", "Cakes")
    Counter("pies_total", "Pies", "kind")
    assert as_text(samples_here()) == "# HELP cakes_total Cakes\n# TYPE cakes_total counter\ncakes_total 0\n"
    cakes.add()
    cakes.add(amount=0.5)
    assert lines() == ["cakes_total 1.5"]


def test_labels_are_named_and_escaped():
    pies = Counter("pies_total", "Pies", "kind", "of")
    pies.add('"big"', "a\\b\nc")
    assert lines() == [r'pies_total{kind="\"big\"",of="a\\b\nc"} 1']


def test_a_histogram_counts_up_to_each_bound_and_adds_up():
    waits = Histogram("wait_seconds", "Waits", "who", bounds=(0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 3.0):
        waits.observe(seconds, ("ada",))
    assert lines() == [
        'wait_seconds_bucket{who="ada",le="0.1"} 2',
        'wait_seconds_bucket{who="ada",le="1"} 3',
        'wait_seconds_bucket{who="ada",le="+Inf"} 4',
        'wait_seconds_sum{who="ada"} 3.65',
        'wait_seconds_count{who="ada"} 4',
    ]
    assert waits.count(("ada",)) == 4
    assert waits.count(("leo",)) == 0


def sent(samples: Samples) -> Samples:
    """As another process gets them."""
    return msgspec.json.decode(msgspec.json.encode(samples), type=Samples)


def test_processes_are_added_up_except_for_what_they_share():
    pies, waits = Counter("pies_total", "Pies", "kind"), Histogram("wait_seconds", "Waits", bounds=(1.0,))
    open_now, size = Gauge("open", "Open"), Gauge("size_bytes", "Size", combined="max")
    since = Gauge("start_seconds", "Start", combined="min")
    pies.add("big")
    waits.observe(0.5)
    open_now.set(2)
    size.set(100)
    since.set(50)
    first = sent(samples_here())
    pies.add("small")
    waits.observe(5)
    open_now.set(1)
    size.set(90)
    since.set(60)
    assert [line for line in as_text(combined((first, sent(samples_here())))).splitlines() if line[0] != "#"] == [
        'pies_total{kind="big"} 2',
        'pies_total{kind="small"} 1',
        'wait_seconds_bucket{le="1"} 2',
        'wait_seconds_bucket{le="+Inf"} 3',
        "wait_seconds_sum 6",
        "wait_seconds_count 3",
        "open 3",
        "size_bytes 100",
        "start_seconds 50",
    ]
    assert set(counted(first)) == {"pies_total", "wait_seconds"}


def test_a_name_is_declared_once():
    Counter("pies_total", "Pies")
    with pytest.raises(ValueError, match="pies_total is declared twice"):
        Gauge("pies_total", "Pies")
