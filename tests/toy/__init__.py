"""A toy app, notes in shared books, that uses every part of the contract that apps build on."""

from tests.toy.app import notes_app

__all__ = ["notes_app"]
