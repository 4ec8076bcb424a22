"""The rules of a count; the defaults are those of a poll."""

from typing import Literal, get_args

from msgspec import Struct, structs

Method = Literal[
    "irv",
    "sequential-irv",
    "bottoms-up",
    "stv",
    "scottish-stv",
    "minneapolis-stv",
    "wigm",
    "meek",
    "schulze",
    "ranked-pairs",
    "borda",
    "plurality",
]
METHODS: tuple[Method, ...] = get_args(Method)
# Methods that count in rounds; the others count all at once.
IN_ROUNDS: frozenset[Method] = frozenset(
    {"irv", "sequential-irv", "bottoms-up", "stv", "scottish-stv", "minneapolis-stv", "wigm", "meek"}
)

OvervoteRule = Literal["exhaust", "skip", "exhaust-if-several"]
RepeatRule = Literal["ignore", "exhaust"]
# What breaks a tie before lot: the rounds before and then the tied head to head, the rounds before alone, or nothing.
TieRule = Literal["head-to-head", "previous-rounds", "lot"]
Quota = Literal["droop", "hare"]

MOST_DECIMALS = 20
# Fixed by a law or a reference rule, so not configurable.
FIXED_DECIMALS: dict[Method, int] = {"scottish-stv": 5, "minneapolis-stv": 4}
USUAL_DECIMALS: dict[Method, int] = {**FIXED_DECIMALS, "stv": 4, "wigm": 4, "meek": 9}
# What a law or a reference rule says about ties; for the other methods we choose.
USUAL_TIES: dict[Method, TieRule] = {
    "scottish-stv": "previous-rounds",
    "minneapolis-stv": "lot",
    "wigm": "lot",
    "meek": "lot",
}
# Methods that eliminate and transfer round by round, as in RCTab's reports.
ELIMINATING: frozenset[Method] = frozenset({"irv", "sequential-irv", "bottoms-up", "stv"})


class CannotCount(ValueError):
    """These ballots cannot be counted by these rules; the message says why."""


class Rules(Struct, frozen=True, kw_only=True, rename="camel"):
    """The options of a count. None means the method's own default, which `settled` fills in."""

    method: Method = "irv"
    seats: int = 1
    # Only with one seat: continue after a candidate has a majority, until two are left.
    continue_to_two: bool = False
    # Eliminate at once all who could not catch up even with each other's votes; in `bottoms-up` to a share of the
    # votes, all who are below it.
    batch_elimination: bool = False
    # A rank with several names exhausts the ballot, or is skipped, or exhausts it only if several of those named are
    # still in the count when the ballot gets there; if only one is, they get the vote.
    overvote: OvervoteRule = "exhaust"
    # How many ranks in a row may be left empty before the ballot is exhausted; None for any number.
    skipped_ranks: int | None = None
    repeats: RepeatRule = "ignore"
    # Undeclared write-ins: they are eliminated first and cannot win.
    undeclared: tuple[int, ...] = ()
    ties: TieRule | None = None
    # Votes are truncated to this many decimals.
    decimals: int | None = None
    # Whether the quota has these decimals too, or is in whole votes.
    fractional_quota: bool | None = None
    # Only `stv`: elect the candidate with the most votes, and others who reach the quota in later rounds.
    one_winner_per_round: bool = False
    # Only `stv`: votes divided by seats (Hare), or by seats plus one (Droop).
    quota: Quota = "droop"
    # Ranks beyond this one are ignored; None for no limit.
    max_rankings: int | None = None
    # Candidates with fewer are eliminated first, all at once.
    minimum_votes: int = 0
    # The majority is of the first round's votes, in every round; if no candidate reaches it, the last two are compared.
    first_round_threshold: bool = False
    # Only `bottoms-up`: eliminate until all that are left have this share of the votes, in percent, whatever the seats.
    share_percent: int | None = None
    # Only `meek`: the total surplus below which iteration stops, as a negative power of ten (6 is a millionth).
    omega: int | None = None
    # The count ends after this round, whether or not the seats are filled.
    stop_after: int | None = None
    # Ties are drawn one by one, as RCTab draws them from this seed.
    seed: int | None = None

    def settled(self) -> "Rules":
        """These rules with the method's defaults filled in."""
        reference = self.method in ("wigm", "meek")
        return structs.replace(
            self,
            ties=self.ties or ("lot" if self.seed is not None else USUAL_TIES.get(self.method, "head-to-head")),
            decimals=USUAL_DECIMALS.get(self.method, 4) if self.decimals is None else self.decimals,
            fractional_quota=reference if self.fractional_quota is None else self.fractional_quota,
            omega=6 if self.omega is None and self.method == "meek" else self.omega,
        )

    def check(self, candidates: int) -> None:
        """Refuse rules that contradict each other or that no count could follow."""
        for forbidden, why in self._contradictions():
            if forbidden:
                raise CannotCount(why)
        if len(set(self.undeclared)) >= candidates:
            raise CannotCount("at least one candidate must have been declared")
        for number in self.undeclared:
            if not 1 <= number <= candidates:
                raise CannotCount(f"there is no candidate {number} to be undeclared")

    def _contradictions(self) -> list[tuple[bool, str]]:
        method = self.method
        one_seat = method in ("irv", "sequential-irv") or (method == "stv" and self.seats == 1)
        to_a_share = method == "bottoms-up" and self.share_percent is not None
        batches = one_seat or to_a_share or method == "wigm"
        several = method == "stv" and self.seats > 1
        fixed = FIXED_DECIMALS.get(method)
        return [
            (method not in METHODS, f"there is no method {method}; there are {', '.join(METHODS)}"),
            (self.seats < 1, "at least one seat must be filled"),
            (method == "irv" and self.seats > 1, "irv elects one; for more seats there are stv and scottish-stv"),
            (_negative(self.skipped_ranks), "the number of ranks that may be skipped is 0 or more"),
            (_below_one(self.max_rankings), "at least one rank must be read"),
            (self.minimum_votes < 0, "the least number of votes is 0 or more"),
            (_below_one(self.stop_after), "the count ends after round 1 or later"),
            (
                self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS,
                f"votes are carried to 0 to {MOST_DECIMALS} decimals",
            ),
            (
                fixed is not None and self.decimals not in (None, fixed),
                f"{method} carries votes to {fixed} decimals, as its law says",
            ),
            (
                self.omega is not None and not 0 <= self.omega <= MOST_DECIMALS,
                f"omega is 0 to {MOST_DECIMALS}, a power of ten",
            ),
            (self.omega is not None and method != "meek", "omega is for meek"),
            (
                self.continue_to_two and not one_seat,
                "only a count for one seat, by irv, can go on until two are left",
            ),
            (
                self.batch_elimination and not batches,
                "several can be eliminated at once by irv, by wigm, and by bottoms-up to a share",
            ),
            (
                bool(self.fractional_quota) and method not in ("stv", "wigm", "meek"),
                "a fractional quota is for stv, wigm and meek",
            ),
            (self.one_winner_per_round and method != "stv", "one winner a round is for stv"),
            (self.quota == "hare" and not several, "the Hare quota is for stv with several seats"),
            (
                self.first_round_threshold and not (one_seat or to_a_share),
                "a threshold of the first round's votes is for irv, and for bottoms-up to a share",
            ),
            (self.share_percent is not None and not to_a_share, "a share of the votes is for bottoms-up"),
            (to_a_share and not 1 <= (self.share_percent or 0) <= 100, "the share is 1 to 100 percent"),
            (
                bool(self.minimum_votes) and method not in ELIMINATING,
                "a least number of votes is for irv, sequential-irv, bottoms-up and stv",
            ),
            (
                self.stop_after is not None and method not in ELIMINATING,
                "irv, sequential-irv, bottoms-up and stv can be ended after a round",
            ),
            (
                self.seed is not None and method not in ELIMINATING,
                "ties are drawn from a seed by irv, sequential-irv, bottoms-up and stv",
            ),
        ]


def _negative(number: int | None) -> bool:
    return number is not None and number < 0


def _below_one(number: int | None) -> bool:
    return number is not None and number < 1
