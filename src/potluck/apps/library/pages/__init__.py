"""The pages: libraries and their shelves, one book or video, adding, loans, search, and sharing."""

from potluck.apps.library.pages import collections, importing, items, loans, searching, shelves, titles
from potluck.apps.library.pages.adding import adding, drawings
from potluck.apps.library.pages.collections import volumes
from potluck.apps.library.pages.rows import shelf
from potluck.apps.library.pages.sharing import sharing

__all__ = ["ENDPOINTS", "PAGES"]

# Imported because they register pages on the rules' subjects.
_ = (collections, importing, items, loans, searching, shelves, titles)

PAGES = (shelf, volumes, adding, sharing)
ENDPOINTS = (drawings,)
