"""Turns: within a process, callers who do the same to the same thing wait for each other instead of conflicting."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary


class Turns:
    """A lock for each rule and its path parameters, which exists only while a call holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Any, asyncio.Lock] = WeakValueDictionary()

    def turn(self, rule: Callable[..., Any], ids: Mapping[str, Any]) -> asyncio.Lock:
        return self._locks.setdefault((rule, *sorted(ids.items())), asyncio.Lock())
