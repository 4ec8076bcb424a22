"""Draws from a seed that was published beforehand, identical to those of java.util.Random, and so to RCTab's."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

# The linear congruential generator that java.util.Random is specified to be.
MULTIPLIER, INCREMENT, BITS = 0x5DEECE66D, 0xB, 48
MASK = (1 << BITS) - 1


class SeededDraws:
    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) & MASK

    def below(self, many: int) -> int:
        """A number from 0 to `many` - 1, from a fraction of 53 bits."""
        bits = (self._next(26) << 27) + self._next(27)
        return bits * many >> 53

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """All of them in a random order."""
        mixed = list(things)
        for place in range(len(mixed) - 1, 0, -1):
            other = self._whole_below(place + 1)
            mixed[place], mixed[other] = mixed[other], mixed[place]
        return mixed

    def _next(self, bits: int) -> int:
        self._state = (self._state * MULTIPLIER + INCREMENT) & MASK
        return self._state >> (BITS - bits)

    def _whole_below(self, many: int) -> int:
        if many & (many - 1) == 0:
            return many * self._next(31) >> 31
        while True:
            bits = self._next(31)
            value = bits % many
            # The last, incomplete run of values would favour the small ones.
            if bits - value + many - 1 < 1 << 31:
                return value
