"""The chapters of the script, in the order in which they are played, and the settings each is played with."""

from typing import Any

from tests.differential.chapters.files import files
from tests.differential.chapters.front import front, openapi
from tests.differential.chapters.journal import journal
from tests.differential.chapters.journal_pages import journal_pages
from tests.differential.chapters.library import library
from tests.differential.chapters.library_pages import library_pages
from tests.differential.chapters.notes import notes, notes_pages
from tests.differential.chapters.people import closed, invited_only, people, people_pages
from tests.differential.chapters.polls import polls, polls_pages
from tests.differential.chapters.shareables import shareables
from tests.differential.chapters.shareables_pages import shareables_pages
from tests.differential.chapters.shopping import shopping
from tests.differential.chapters.shopping_pages import shopping_pages
from tests.differential.script import Chapter

__all__ = ["CHAPTERS"]

CHAPTERS: dict[str, tuple[Chapter, dict[str, Any]]] = {
    "front": (front, {}),
    "files": (files, {}),
    "openapi": (openapi, {}),
    "people": (people, {}),
    "people_pages": (people_pages, {}),
    "invited_only": (invited_only, {"registration": "invited"}),
    "closed": (closed, {"registration": "closed"}),
    "shopping": (shopping, {}),
    "shopping_pages": (shopping_pages, {}),
    "polls": (polls, {}),
    "polls_pages": (polls_pages, {}),
    "shareables": (shareables, {}),
    "shareables_pages": (shareables_pages, {}),
    "journal": (journal, {}),
    "journal_pages": (journal_pages, {}),
    "library": (library, {"open_library": "https://books.example", "tmdb_key": "a key"}),
    "library_pages": (library_pages, {"open_library": "https://books.example", "tmdb_key": "a key"}),
    "notes": (notes, {}),
    "notes_pages": (notes_pages, {}),
}
