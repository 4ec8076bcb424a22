"""Reviews a table design by its declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from potluck.table.lint.findings import Finding
from potluck.table.lint.growth import crowded_partitions, shared_rows, unbounded_rows
from potluck.table.lint.keys import (
    code_point_order,
    shared_keys,
    split_groups,
    time_keys,
    unpadded_numbers,
    unreachable_alternatives,
)
from potluck.table.lint.reads import (
    alternatives,
    filters,
    open_prefixes,
    overlaps,
    scans,
    unread_entities,
    unread_indexes,
)
from potluck.table.tables import Table

__all__ = ["Finding", "lint"]

RULES: tuple[Callable[[Table], Iterable[Finding]], ...] = (
    open_prefixes,
    shared_keys,
    time_keys,
    split_groups,
    unreachable_alternatives,
    overlaps,
    alternatives,
    filters,
    unpadded_numbers,
    code_point_order,
    crowded_partitions,
    shared_rows,
    unbounded_rows,
    scans,
    unread_indexes,
    unread_entities,
)


def lint(table: Table) -> list[Finding]:
    """All findings on a table; accepted ones have the author's reason."""
    findings = {finding.label: finding for rule in RULES for finding in rule(table)}
    weighed = [
        replace(finding, accepted=table.accepted.get(label, "").strip() or None) for label, finding in findings.items()
    ]
    return weighed + [_accepted_nothing(table, label) for label in table.accepted if label not in findings]


def _accepted_nothing(table: Table, label: str) -> Finding:
    return Finding(
        "accepted-nothing",
        "warning",
        table.name,
        label,
        f"{label!r} is accepted, but there is no such finding",
        "it would hide a future finding for an unrelated reason",
        "Remove it from `accepted`",
    )
