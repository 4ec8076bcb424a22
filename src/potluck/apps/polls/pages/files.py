"""The polls' own scripts and style sheet."""

from pathlib import Path

from litestar.types import ControllerRouterHandler

from potluck.web.app_files import AppFiles

__all__ = ["PAGES", "file_address"]

FILES = AppFiles(Path(__file__).parent.parent / "static", "/polls/files")

file_address = FILES.address
PAGES: list[ControllerRouterHandler] = [FILES.handler()]
