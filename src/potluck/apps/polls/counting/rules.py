"""By which rules a count is made; the defaults are those of a poll."""

from typing import Literal, get_args

from msgspec import Struct

__all__ = ["METHODS", "CannotCount", "Method", "OvervoteRule", "RepeatRule", "Rules", "TieRule"]

Method = Literal["irv", "stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality"]
METHODS: tuple[Method, ...] = get_args(Method)

OvervoteRule = Literal["exhaust", "skip", "exhaust-if-several"]
RepeatRule = Literal["ignore", "exhaust"]
TieRule = Literal["previous-rounds", "lot"]

MOST_DECIMALS = 20
SCOTTISH_DECIMALS = 5


class CannotCount(ValueError):
    """These ballots cannot be counted by these rules; the message says why."""


class Rules(Struct, frozen=True, kw_only=True, rename="camel"):
    method: Method = "irv"
    seats: int = 1
    # Only with one seat: go on after somebody has a majority, until two are left.
    continue_to_two: bool = False
    # Only with one seat: eliminate at once all who could not catch up even with each other's votes.
    batch_elimination: bool = False
    # A rank with several names: the ballot ends there, or the rank is passed over, or it ends there only if several of
    # those named are still in the count when the ballot gets there; a single one has the vote.
    overvote: OvervoteRule = "exhaust"
    # How many ranks in a row may be left empty before the ballot ends; None: any number.
    skipped_ranks: int | None = None
    repeats: RepeatRule = "ignore"
    # Candidates who stand for names nobody declared: they leave first and cannot win.
    undeclared: tuple[int, ...] = ()
    ties: TieRule = "previous-rounds"
    # What `stv` carries votes to, everything beyond being cut off; Scottish rules say five.
    decimals: int = 4
    # Only `stv`: a quota to these decimals, not in whole votes.
    fractional_quota: bool = False
    # Only `stv`: elect whoever has most, and the others who reach the quota in later rounds.
    one_winner_per_round: bool = False

    def check(self, candidates: int) -> None:
        """Refuse rules that contradict each other or that no count could follow."""
        if self.method not in METHODS:
            raise CannotCount(f"there is no method {self.method}; there are {', '.join(METHODS)}")
        if self.seats < 1:
            raise CannotCount("at least one seat must be filled")
        if self.method == "irv" and self.seats > 1:
            raise CannotCount("irv elects one; for more seats there are stv and scottish-stv")
        if self.skipped_ranks is not None and self.skipped_ranks < 0:
            raise CannotCount("the number of ranks that may be skipped is 0 or more")
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise CannotCount(f"votes are carried to 0 to {MOST_DECIMALS} decimals")
        one_seat = self.method == "irv" or (self.method == "stv" and self.seats == 1)
        if self.continue_to_two and not one_seat:
            raise CannotCount("only a count for one seat, by irv, can go on until two are left")
        if self.batch_elimination and not one_seat:
            raise CannotCount("only a count for one seat, by irv, can eliminate several at once")
        if (self.fractional_quota or self.one_winner_per_round) and self.method != "stv":
            raise CannotCount("a fractional quota and one winner a round are for stv")
        if len(set(self.undeclared)) >= candidates:
            raise CannotCount("at least one candidate must have been declared")
        for number in self.undeclared:
            if not 1 <= number <= candidates:
                raise CannotCount(f"there is no candidate {number} to be undeclared")
