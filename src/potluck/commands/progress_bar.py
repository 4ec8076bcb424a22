"""A progress bar for long operations in a terminal."""

import time
from typing import TextIO

BAR = 30
REDRAWN_EVERY = 0.1


class ProgressBar:
    """Shows progress, if there is a terminal to show it in."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen
        self._seen = screen.isatty()
        self._shown = False
        self._last = 0.0

    def show(self, what: str, part: float) -> None:
        now = time.monotonic()
        if not self._seen or (not self._shown and part == 1.0) or (self._shown and now - self._last < REDRAWN_EVERY):
            return
        self._shown, self._last = True, now
        done = round(BAR * part)
        self._screen.write(f"\r{what:>9} [{'#' * done}{'.' * (BAR - done)}] {part:4.0%}")
        self._screen.flush()

    def clear(self) -> None:
        if self._shown:
            self._screen.write("\r\033[K")
            self._screen.flush()
