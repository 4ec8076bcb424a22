"""Shopping's own scripts and style sheet."""

from pathlib import Path

from potluck.web.app_files import AppFiles

__all__ = ["FILES", "WORKER_SCRIPT", "file_address"]

FOLDER = Path(__file__).parent / "static"
# The service worker has a URL of its own.
WORKER_SCRIPT = FOLDER / "worker.js"
FILES = AppFiles(FOLDER, "/shopping/files", frozenset({WORKER_SCRIPT.name}))

file_address = FILES.address
