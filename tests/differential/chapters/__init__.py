"""The chapters of the script, in the order in which they are played, and the settings each is played with."""

from typing import Any

from tests.differential.chapters.front import front, openapi
from tests.differential.chapters.notes import notes, notes_pages
from tests.differential.chapters.people import closed, invited_only, people, people_pages
from tests.differential.chapters.polls import polls, polls_pages
from tests.differential.chapters.shopping import shopping
from tests.differential.chapters.shopping_pages import shopping_pages
from tests.differential.script import Chapter

__all__ = ["CHAPTERS"]

CHAPTERS: dict[str, tuple[Chapter, dict[str, Any]]] = {
    "front": (front, {}),
    "openapi": (openapi, {}),
    "people": (people, {}),
    "people_pages": (people_pages, {}),
    "invited_only": (invited_only, {"registration": "invited"}),
    "closed": (closed, {"registration": "closed"}),
    "shopping": (shopping, {}),
    "shopping_pages": (shopping_pages, {}),
    "polls": (polls, {}),
    "polls_pages": (polls_pages, {}),
    "notes": (notes, {}),
    "notes_pages": (notes_pages, {}),
}
