"""`potluck design`: table designs printed, or reviewed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from potluck.commands.refusal import CommandError
from potluck.commands.table_modules import apps_with_tables, suite_tables, table_module, tables_of
from potluck.settings import Settings
from potluck.table.design import markdown, with_section
from potluck.table.design.cloudformation import cloudformation
from potluck.table.design.diagram import mermaid
from potluck.table.lint import lint
from potluck.table.tables import Table

FORMATS = {"markdown": markdown, "mermaid": mermaid, "cloudformation": cloudformation}


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument(
        "apps", nargs="*", metavar="APP", help="an app, people, or a module by its dotted name; without one, all apps"
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--format", choices=FORMATS, default="markdown", help="the output format (%(default)s)")
    output.add_argument(
        "--lint", action="store_true", help="print what a reviewer would find; fails if a finding is not accepted"
    )
    output.add_argument(
        "--write", action="store_true", help="write the markdown between the markers in each module's README.md"
    )


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Print table designs as they are declared, or what a reviewer would ask about them."""
    modules = [table_module(name) for name in chosen.apps or apps_with_tables()]
    tables = [table for module in modules for table in tables_of(module)]
    if chosen.format == "cloudformation" and not chosen.apps:
        # The table of leases and positions has no entities to describe, but must be created like the others.
        tables = suite_tables()
    if chosen.lint:
        return _lint(tables)
    if chosen.write:
        for module in modules:
            _write(module)
        return 0
    print(FORMATS[chosen.format](tables), end="")
    return 0


def _write(module: ModuleType) -> None:
    assert module.__file__ is not None
    readme = Path(module.__file__).with_name("README.md")
    try:
        readme.write_text(with_section(readme.read_text(), markdown(tables_of(module))))
    except ValueError as problem:
        raise CommandError(f"{readme}: {problem}") from problem
    print(f"Wrote {readme}")


def _lint(tables: Sequence[Table]) -> int:
    findings = [finding for table in tables for finding in lint(table)]
    unexplained = [finding for finding in findings if finding.accepted is None]
    for finding in sorted(findings, key=lambda finding: finding.accepted is not None):
        print(finding)
    accepted = len(findings) - len(unexplained)
    print(f"{len(unexplained) or 'no'} finding{'' if len(unexplained) == 1 else 's'}, {accepted} accepted")
    return 1 if unexplained else 0
