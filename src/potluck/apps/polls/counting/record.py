"""The record of a count: every step, by candidate number, in exact numbers.

Amounts are integers, in units of the last decimal that the method carries: with five decimals, 1.5 votes are 150000.
The same votes give the same record, byte for byte, whatever their order.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from potluck.apps.polls.counting.rules import Method, Rules

Cause = Literal[
    "exhaustedChoices", "overvotes", "skippedRankings", "repeatedRankings", "finalRoundSurplus", "notElected"
]

# What breaks a tie that votes do not: lots drawn beforehand, an order given for the count, the order in which the
# candidates are listed, or draws from a seed.
TieOrder = Literal["lots", "given", "listed", "seed"]

# What happened in a round; `sentences` puts it into words.
Reason = Literal[
    "majority",
    "only-one-left",
    "most-of-two",
    "tied-at-the-end",
    "write-ins-leave",
    "minimum",
    "batch",
    "below-share",
    "fewest",
    # Only in `in_steps` of the results page, which merges several rounds.
    "no-votes",
    "last-two",
    "quota",
    "seats-for-all",
    "share-for-all",
    "seats-filled",
    "first-preferences",
    "surplus",
    "exclusion",
    "sure-losers",
    "left-over",
    "converged",
    "paths",
    "pairs",
    "points",
    "most-first-preferences",
]


class TieStep(Struct, frozen=True, array_like=True):
    """An earlier round that separated some of the tied, and who was left."""

    round: int
    left: tuple[int, ...]


class Tie(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Equal votes where one candidate had to be chosen, and what decided."""

    # "pairs": which of equally strong majorities are locked first.
    over: Literal["elimination", "election", "surplus", "pairs"]
    candidates: tuple[int, ...]
    chosen: tuple[int, ...]
    # What each of them had; None where methods compare no single number.
    votes: int | None = None
    steps: tuple[TieStep, ...] = ()
    # Who was left after the tied were compared head to head; empty if that did not separate them, or was not done.
    head_to_head: tuple[int, ...] = ()
    # Votes did not separate them: the record's `tie_order` did.
    by_lot: bool = False


class Transfer(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The votes that one candidate gave up, and where they went."""

    source: int
    to: dict[int, int] = {}
    exhausted: dict[Cause, int] = {}
    # What truncation to the last decimal cut off, and so is lost.
    residual: int = 0

    @property
    def total(self) -> int:
        return sum(self.to.values()) + sum(self.exhausted.values()) + self.residual


class Round(Struct, frozen=True, omit_defaults=True, kw_only=True):
    number: int
    reason: Reason
    tallies: dict[int, int]
    threshold: int | None = None
    elected: tuple[int, ...] = ()
    eliminated: tuple[int, ...] = ()
    # So far, not in this round alone.
    exhausted: dict[Cause, int] = {}
    residual: int = 0
    transfers: tuple[Transfer, ...] = ()
    ties: tuple[Tie, ...] = ()
    # The seat that this round is about, where seats are filled one after the other.
    seat: int = 1
    # Meek: each elected candidate's keep factor, the part they keep of every vote that reaches them.
    keep: dict[int, int] = {}


class LockedPair(Struct, frozen=True, array_like=True):
    """A majority of one candidate over another, in the order of their strength."""

    winner: int
    loser: int
    votes: int
    against: int
    # False if it would have closed a cycle with stronger ones.
    locked: bool


class CountOutcome(Struct, frozen=True, kw_only=True):
    """The outcome by one method; the fields are the record's."""

    winners: tuple[int, ...] = ()
    rounds: tuple[Round, ...] = ()
    decimals: int = 0
    tallies_after_transfers: bool = False
    order: tuple[int, ...] = ()
    paths: tuple[tuple[int, ...], ...] = ()
    pairs: tuple[LockedPair, ...] = ()


class CountRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    method: Method
    rules: Rules
    candidates: int
    lot_order: tuple[int, ...]
    tie_order: TieOrder = "lots"
    votes: int
    # Ballots without a ranking; they are in `votes`, but in no round.
    blank: int = 0
    decimals: int = 0
    winners: tuple[int, ...] = ()
    rounds: tuple[Round, ...] = ()
    # Whether a round's tallies are those before its transfers (as in RCTab's reports) or after (as in Scottish ones).
    tallies_after_transfers: bool = False
    # pairwise[a - 1][b - 1]: how many prefer a to b.
    pairwise: tuple[tuple[int, ...], ...] = ()
    condorcet_winner: int | None = None
    # First to last, if the method ranks all candidates.
    order: tuple[int, ...] = ()
    # Schulze: the strength of the strongest path from a to b.
    paths: tuple[tuple[int, ...], ...] = ()
    # Ranked Pairs: every majority, strongest first.
    pairs: tuple[LockedPair, ...] = ()
    other_methods: dict[Method, tuple[int, ...]] = {}


def as_bytes(record: CountRecord) -> bytes:
    """The record as it is stored; equal for equal votes."""
    # Maps by candidate or cause are sorted, so that the order of the votes does not matter.
    return msgspec.msgpack.encode(record)


def from_bytes(stored: bytes) -> CountRecord:
    return msgspec.msgpack.decode(stored, type=CountRecord)
