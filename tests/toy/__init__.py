"""A toy app, notes in shared books, that uses every part of the contract that apps build on."""

from tests.toy.app import NotesApp

__all__ = ["NotesApp"]
