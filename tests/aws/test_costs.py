"""What docs/aws.md says about costs is what the benchmark computed, from a model that can be computed again."""

from pathlib import Path

from benchmarks.aws_costs import USAGE, Measured, month

ROOT = Path(__file__).parent.parent.parent
HEADING = "| for | 100 people | 10,000 people | 1,000,000 people |"


def table(file: str) -> list[str]:
    lines = (ROOT / file).read_text().splitlines()
    start = lines.index(HEADING)
    return lines[start : lines.index("", start)]


def test_the_page_has_the_table_of_the_last_results():
    assert table("docs/aws.md") == table("benchmarks/results/aws_costs.md")


def test_twice_as_many_people_cost_at_most_twice_as_much():
    calls = [Measured(app, what, 3, 4.0, 6.0, "", 0.0) for app, what in USAGE]
    for people in (50, 5_000, 500_000):
        once, twice = (month(number, calls, 10.0, 10.0, 100) for number in (people, 2 * people))
        # The first fan-out is an addition.
        assert once.total < twice.total <= 2 * once.total + 7
        assert twice["writes"] == 2 * once["writes"]
