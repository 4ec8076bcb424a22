"""The ballot form: one field with a rank for each candidate, whether the voter typed, chose or dragged it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from potluck.apps.polls.access import AtBallot
from potluck.apps.polls.counting.sentences import listed
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.votes import NewVote, VoteChange
from potluck.validation import FieldError, ValidationError, decode_tree
from potluck.web import VERSION_CONFLICT, FormOf, Line, ProblemError

NUMBER = re.compile(r"[1-9][0-9]{0,2}")
RANK = re.compile(r"[0-9]{1,3}")
# With more ranks than this, a drop-down beside each candidate would be longer than the ballot: voters type a number.
MOST_PLACES_LISTED = 20


class CandidatesChanged(
    ProblemError,
    detail="The candidates were changed after you opened the ballot. Look at them again, and rank them anew",
):
    """The numbers on the ballot mean other candidates now, as they may until the first vote."""

    problem = VERSION_CONFLICT


@dataclass(frozen=True, slots=True)
class Ballot:
    """A filled-in ballot: the text beside each candidate, by number; the ranking it gives; and the error in it."""

    written: Mapping[int, str] = field(default_factory=dict)
    ranking: Sequence[int] = ()
    wrong: str = ""


class ChangedBallotForm(FormOf[VoteChange]):
    """The ballot of someone who has voted."""

    rank: dict[str, Line] = {}  # noqa: RUF012 - copied by msgspec
    """What is written beside each candidate, by number."""
    ballot: Line = ""
    """A hash of the candidates when the ballot was shown."""

    errors_at = {"rankings": "rank"}  # noqa: RUF012 - declared in FormOf

    def as_input(self, at: AtBallot) -> VoteChange:
        return decode_tree(VoteChange, {"rankings": self.rankings(at.poll.candidates)})

    def rankings(self, candidates: Sequence[str]) -> list[str]:
        """The candidates in the order of their ranks; ValidationError if they have none."""
        ballot = read_ballot(self.rank, candidates)
        if ballot.wrong:
            raise ValidationError(FieldError("rank", ballot.wrong))
        return [candidates[number - 1] for number in ballot.ranking]


class BallotForm(FormOf[NewVote]):
    """The ballot of someone who has not voted yet."""

    rank: dict[str, Line] = {}  # noqa: RUF012 - copied by msgspec
    ballot: Line = ""
    code: Line = ""

    errors_at = ChangedBallotForm.errors_at

    def as_input(self, at: AtBallot) -> NewVote:
        if self.ballot not in ("", ballot_of(at.poll.candidates)):
            raise CandidatesChanged
        rankings = ChangedBallotForm(rank=self.rank).rankings(at.poll.candidates)
        return decode_tree(NewVote, {"rankings": rankings, "code": self.code.strip() or None})


def ranked_in(candidates: Sequence[str], rankings: Sequence[str]) -> Ballot:
    """The ballot filled in with a vote that was cast, for its voter to change."""
    numbers = {name: number for number, name in enumerate(candidates, 1)}
    ranking = [numbers[name] for name in rankings if name in numbers]
    return Ballot({number: str(place) for place, number in enumerate(ranking, 1)}, ranking)


def ballot_of(candidates: Sequence[str]) -> str:
    """A hash of the candidates that a ballot's numbers refer to: they may change until the first vote."""
    return sha256("\n".join(candidates).encode()).hexdigest()[:16]


def read_ballot(ranks: Mapping[str, str], candidates: Sequence[str]) -> Ballot:
    """Reads a submitted ballot. Gaps between ranks are ignored; two candidates at one rank are an error."""
    written = {
        int(number): text.strip()
        for number, text in ranks.items()
        if NUMBER.fullmatch(number) and int(number) <= len(candidates) and text.strip()
    }
    unreadable = [number for number, text in written.items() if not RANK.fullmatch(text) or int(text) == 0]
    if unreadable:
        who = listed(candidates[number - 1] for number in sorted(unreadable))
        return Ballot(written, (), f"Give {who} a whole number from 1 to {len(candidates)}, or none")
    by_rank: dict[int, list[int]] = {}
    for number, text in written.items():
        by_rank.setdefault(int(text), []).append(number)
    for rank, numbers in sorted(by_rank.items()):
        if len(numbers) > 1:
            who = listed(candidates[number - 1] for number in sorted(numbers))
            together = "both" if len(numbers) == 2 else "all"
            return Ballot(written, (), f"{who} are {together} at {rank}. Give each a number of its own")
    return Ballot(written, [number for _, (number,) in sorted(by_rank.items())])


def on_ballot(poll: Poll, ranked: Ballot) -> dict[str, Any]:
    """Template values of polls/ballot_form.html for this poll and filled-in ballot."""
    candidates = poll.candidates
    most = min(poll.max_rankings or len(candidates), len(candidates))
    chosen = list(ranked.ranking)
    return {
        "written": ranked.written,
        "order": [*chosen, *(number for number in range(1, len(candidates) + 1) if number not in chosen)],
        "ranked": len(chosen),
        "ballot": ballot_of(candidates),
        "most": most,
        "places": [(str(place), ordinal(place)) for place in range(1, most + 1)] if most <= MOST_PLACES_LISTED else [],
    }


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
