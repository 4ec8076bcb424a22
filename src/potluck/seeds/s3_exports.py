"""Tables that DynamoDB exported to S3, or `potluck export` to a folder: their items, since an export has no keys."""

from pathlib import Path

from potluck.moving.export_files import FILES, SUMMARY, ExportDamaged, exports_in
from potluck.seeds.contents import Contents, SeedError, SeedItems

MANIFESTS = frozenset({f"{SUMMARY}.json", f"{FILES}.json"})


def read_exports(folder: Path) -> Contents:
    """The exports in a folder or below it; every file is checked before the first item is read."""
    try:
        exports = exports_in(folder)
        files = [(export, file) for export in exports for file in export.files]
        for _, file in files:
            file.check()
    except ExportDamaged as error:
        raise SeedError(str(error)) from error
    return [SeedItems(file.path, export.table, file.rows()) for export, file in files]
