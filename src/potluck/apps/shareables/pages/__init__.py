"""The pages: creating one and its card, opening by id, unlocking, the list or the poll, and administration."""

from potluck.apps.shareables.pages import admin, creation, opening, shareable, voting

__all__ = ["admin", "creation", "opening", "shareable", "voting"]
