"""Apps that are made for a test."""

from collections.abc import Sequence
from typing import Any

from potluck.streams import Consumer
from potluck.web.app import App

__all__ = ["app_with"]


def app_with(name: str, *, context: Any = None, consumers: Sequence[Consumer] = (), **given: Any) -> type[App]:
    """An app as a test needs it: attributes, and functions in place of its methods."""
    methods = {key: staticmethod(value) if callable(value) else value for key, value in given.items()}
    made = {"name": name, "make_context": lambda _: context, "consumers": lambda _: consumers, **methods}
    return type(name.capitalize(), (App,), made)
